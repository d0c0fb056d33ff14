"""In: the text of one list item or footnote. Out: its parts (id, sources, checkbox, strike-through …), and back.

The small grammar inside a line of a topic file; what a line *is* (an item, a heading, code) is decided elsewhere,
from Markdown tokens. `read_summary(write_summary(text)) == fold(text)` for every text, and
`read_note(write_note(…))` gives every field back, so nothing a model or a transcript says can act as notation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memoryfs.model import SourceRange

_PUNCTUATION = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_OPAQUE = re.compile(rf"\\[{_PUNCTUATION}]|(?<!`)(`+)(?!`)(?:.*?[^`])?\1(?!`)", re.S)
_CODE = re.compile(rf"\\[{_PUNCTUATION}]|((?<!`)(`+)(?!`)(?:.*?[^`])?\2(?!`))", re.S)
_BLANK = re.compile(r"[ \t\r\n\f\v\x1c-\x1f\x85\u2028\u2029]+")
_BREAK = re.compile(r"[\t\r\n\f\v\x1c-\x1f\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

ID = r"m-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*"
ANY_ID = re.compile(r"(?<!\S)\^([mr]-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*)")
_REFERENCE = re.compile(r"\[\^([^\s\[\]]+)\]")
_CHECKBOX = re.compile(r"\[(.)\](?:[ \t]+|$)")
_POINTER = re.compile(rf"\[\[([^\[\]|#]*)#\^({ID})(?:\|[^\[\]]*)?\]\]")
_SUPERSEDED = re.compile(
    rf"superseded by \[\[([^\[\]|#]*)#\^({ID})(?:\|[^\[\]]*)?\]\](?: on (\d{{4}}-\d\d-\d\d))?", re.I
)
_STRUCK = re.compile(r"~~(?=\S)(.+?)(?<=\S)~~", re.S)
SAID_BY_USER = "said by the user"  # a footnote's text: words of a session's user, not the assistant's
_STATED = re.compile(r"(person|agent):(\d{4}-\d\d-\d\d)\Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")


def fold(text: str) -> str:
    """One line: runs of blanks and line ends become one space, other control characters their pictures (␛)."""
    return pictured(_BLANK.sub(" ", text)).strip()


def pictured(text: str) -> str:
    """One line: each tab and line end becomes a space, every other control character its picture (␛), nothing else changes."""
    return text if text.isprintable() else _CONTROL.sub(_picture, _BREAK.sub(" ", text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def mask(text: str) -> str:
    """The text with code spans and backslash escapes blotted out, of equal length, for finding notation in it."""
    return _OPAQUE.sub(lambda match: "\ufffe" * len(match[0]), text)


def is_source_label(label: str) -> bool:
    """True for the footnote labels this program writes: `3f9a21:128-146`, `person:2026-11-29`, `agent:2026-11-29`."""
    return bool(_STATED.match(label)) or SourceRange.parse(label) is not None


def stated(label: str) -> tuple[str, str] | None:
    """(`person` or `agent`, date) of such a label; None for any other."""
    match = _STATED.match(label)
    return (match[1], match[2]) if match else None


@dataclass(frozen=True, slots=True)
class ItemText:
    """The parts of an item's own text. `struck`: all of it is struck out. `checkbox`: the character in `[ ]`, or ""."""

    summary: str
    id: str = ""
    labels: tuple[str, ...] = ()
    checkbox: str = ""
    struck: bool = False
    superseded_by: str | None = None
    superseded_path: str = ""
    superseded_on: str | None = None
    other_ids: tuple[str, ...] = ()


def read_item(text: str, defined: Iterable[str] = ()) -> ItemText:
    """Splits an item's text. Footnote references count when their label is in `defined` or one of ours."""
    joined = " ".join(line.strip() for line in text.split("\n")).strip()
    checkbox = _CHECKBOX.match(joined)
    mark = checkbox[1] if checkbox else ""
    joined = joined[checkbox.end():] if checkbox else joined
    masked = mask(joined)
    known = set(defined)
    ids = list(ANY_ID.finditer(masked))
    refs = [m for m in _REFERENCE.finditer(masked) if m[1] in known or is_source_label(m[1])]
    rest = _without(joined, [m.span() for m in (*ids, *refs)])
    gone = superseded = None
    masked = mask(rest)
    superseded = _SUPERSEDED.search(masked)
    before = rest[: superseded.start()].rstrip(" ,;:–—-") if superseded else rest
    gone = _whole_strike(before)
    if gone is not None:
        run = len(gone) - len(gone.rstrip("\\"))
        summary = gone[:len(gone) - run // 2]  # doubled before the closing marks
    else:
        summary = _without(rest, [m.span() for m in _STRUCK.finditer(masked)]) or rest
    labels = tuple(dict.fromkeys(m[1] for m in refs))
    found = superseded if gone is not None else None
    return ItemText(
        summary=read_summary(summary),
        id=ids[-1][1] if ids else "",
        labels=labels,
        checkbox=mark,
        struck=gone is not None,
        superseded_by=found[2] if found else None,
        superseded_path=found[1] if found else "",
        superseded_on=found[3] if found else None,
        other_ids=tuple(m[1] for m in ids[:-1] if m[1] != ids[-1][1]),
    )


def raw_text(text: str, parts: ItemText) -> str:
    """An item's words as written on one line: without checkbox, footnotes of `parts` and ids, escapes kept."""
    joined = " ".join(line.strip() for line in text.split("\n")).strip()
    box = _CHECKBOX.match(joined)
    joined = joined[box.end():] if box else joined
    masked = mask(joined)
    refs = [m.span() for m in _REFERENCE.finditer(masked) if m[1] in parts.labels]
    return _without(joined, [*refs, *(m.span() for m in ANY_ID.finditer(masked))])


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    out, last = [], 0
    for start, end in sorted(spans):
        out.append(text[last:start].rstrip(" \t"))
        last = end
    out.append(text[last:])
    return "".join(out).strip()


def _whole_strike(text: str) -> str | None:
    """The struck words, if the text starts struck out and at least half of its letters are."""
    masked = mask(text)
    if not masked.startswith("~~"):
        return None
    spans = [m.span(1) for m in _STRUCK.finditer(masked)]
    struck = " ".join(text[start:end] for start, end in spans)
    return struck if spans and len(struck) * 2 >= len(text) - 4 * len(spans) else None


def pointers(text: str) -> tuple[tuple[str, str], ...]:
    """The (path or "", id) of each `[[path#^m-…]]` in the text, outside code."""
    masked = mask(text)
    return tuple((text[m.start(1):m.end(1)], m[2]) for m in _POINTER.finditer(masked))


def repoint(text: str, aim: Callable[[str, str], str | None]) -> str:
    """The text with each pointer outside code leading to the file that `aim(path or "", id)` says; None leaves it."""
    masked = mask(text)
    out, last = [], 0
    for match in _POINTER.finditer(masked):
        start, end = match.span(1)
        path = aim(text[start:end], match[2])
        if path is not None:
            out += [text[last:start], path]
            last = end
    return "".join([*out, text[last:]])


_LABEL = r"\^(?:[0-9a-z][0-9a-z~-]*:\d+(?:-\d+)?|(?:person|agent):\d{4}-\d\d-\d\d)\]"
_TOKEN = re.compile(rf"(?<!\\)(\\*)(?=\[{_LABEL})|(?<!\S)(\\*)(?=\^[mr]-[0-9A-Za-z])")
_TILDE = re.compile(r"(\\*)~")
_LEAD = re.compile(
    r"[-+*](?=\s|$)|#{1,6}(?=\s|$)|>|<(?=[A-Za-z/?]|!(?!--))|`{3,}[^`]*$|\[.?\](?=\s|$)|\[[^\]]*\]:"
    rf"|\\[{_PUNCTUATION}]|(?:-[ ]?){{3,}}$|(?:\*[ ]?){{3,}}$|(?:_[ ]?){{3,}}$"
)
_NUMBER = re.compile(r"(\d{1,9}\\*)(?=[.)](?:\s|$))")
_COMMENT = re.compile(r"<!--|&(amp;)*lt;!--")


def write_summary(text: str) -> str:
    """The text as one line that reads back the same and means nothing but itself in a list item."""
    line = fold(text)
    if _LEAD.match(line):
        line = "\\" + line
    elif number := _NUMBER.match(line):
        line = number[1] + "\\" + line[number.end():]
    return _outside_code(line, _escape)


def read_summary(text: str) -> str:
    """Undoes `write_summary`."""
    line = _outside_code(text, _unescape)
    if re.match(rf"\\[{_PUNCTUATION}]", line):
        return line[1:]
    return re.sub(r"^(\d{1,9}\\*)\\(?=[.)](?:\s|$))", r"\1", line)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    out, last = [], 0
    for match in _CODE.finditer(text):
        if match[1] is not None:
            out += [change(text[last:match.start()]), match[0]]
            last = match.end()
    out.append(change(text[last:]))
    return "".join(out)


def _escape(piece: str) -> str:
    def double(match: re.Match[str]) -> str:
        return "\\" * (2 * len(match[0]) + 1)

    def tilde(match: re.Match[str]) -> str:
        start, end = match.span()
        alone = not match[1] and piece[start - 1:start] != "~" and piece[end:end + 1] != "~"
        return match[0] if alone else "\\" * (2 * len(match[1]) + 1) + "~"

    def comment(match: re.Match[str]) -> str:
        return "&lt;!--" if match[0] == "<!--" else "&amp;" + match[0][1:]

    piece = _TILDE.sub(tilde, piece)
    piece = _TOKEN.sub(double, piece)
    return _COMMENT.sub(comment, piece)


def _unescape(piece: str) -> str:
    def halve(match: re.Match[str]) -> str:
        run = match[0].count("\\")
        return "\\" * ((run - 1) // 2 if run % 2 else run)

    def comment(match: re.Match[str]) -> str:
        if match[0] == "<!--":
            return match[0]
        return "<!--" if match[1] is None else "&" + match[0][5:]

    piece = _COMMENT.sub(comment, piece)
    piece = _TOKEN.sub(halve, piece)
    return _TILDE.sub(lambda match: halve(match) + "~", piece)


@dataclass(frozen=True, slots=True)
class Note:
    """What a footnote of ours says: the thread's date, its full name where the date does not give it, the git branch that
    it was learned on while that is not merged, and the rest.

    Several memories may have one source range, and with it one footnote: `others` holds (id, hints, quote) of those
    whose hints and quote differ from the first one's. `recheck` holds (id, day to check it again), `changed` (id, day, what
    is gone from its repository); the id is "" where it holds for every memory of the footnote that has none of its own.
    """

    date: str | None = None
    thread: str | None = None
    hints: tuple[str, ...] = ()
    quote: str = ""
    text: str = ""
    others: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    branch: str = ""
    recheck: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    def of(self, id: str) -> tuple[tuple[str, ...], str]:
        """The hints and the quote that hold for one memory."""
        return next(((hints, quote) for owner, hints, quote in self.others if owner == id), (self.hints, self.quote))

    def recheck_of(self, id: str) -> str:
        """The day to check one memory again; "" for none."""
        held = dict(self.recheck)
        return held.get(id) or held.get("", "")

    def changed_of(self, id: str) -> tuple[str, tuple[str, ...]]:
        """The day on which its repository changed, and what is gone there; ("", ()) if nothing is."""
        held = {owner: (day, what) for owner, day, what in self.changed}
        return held.get(id) or held.get("", ("", ()))


# Characters that some Markdown reader acts on; a text with any of them goes into a code span.
_ACTIVE = re.compile(r"[`*\[\]<>&\\~|$%=#{}^\u202a-\u202e\u2066-\u2069]|(?<![^\W_])_|_(?![^\W_])|://")


def write_note(note: Note) -> str:
    """One line: `2026-05-12; hints: a, b; "quote"; m-90aa17: hints: c; "another quote"`."""
    thread = note.thread and f"thread {note.thread}"
    branch = note.branch and f"on branch {_as_hint(fold(note.branch))}"
    marks = [f"{_RECHECK} {day}{_owned(owner)}" for owner, day in note.recheck]
    for owner, day, what in note.changed:
        told = ", ".join(_as_hint(fold(part)) for part in what if fold(part))
        marks.append(f"{_CHANGED} {day}{_owned(owner)}" + (f": {told}" if told else ""))
    parts = [part for part in (note.date, thread, branch, *marks, note.text and fold(note.text)) if part]
    parts += _evidence(note.hints, note.quote)
    for id, hints, quote in note.others:
        own = _evidence(hints, quote)
        parts.append(f"{id}: {'; '.join(own)}" if own else f"{id}:")
    return "; ".join(parts)


_RECHECK, _CHANGED = "recheck", "source changed"
_MARK = re.compile(rf"({_RECHECK}|{_CHANGED}) (\d{{4}}-\d\d-\d\d)(?: \(({ID})\))?(?:\Z|:(?=\s))", re.I)


def _owned(owner: str) -> str:
    return f" ({owner})" if owner else ""


def _evidence(hints: Iterable[str], quote: str) -> list[str]:
    parts = [_as_hint(hint) for hint in map(fold, hints) if hint]
    out = ["hints: " + ", ".join(parts)] if parts else []
    quote = fold(quote)
    if quote:
        out.append(f'"{_as_code(quote) if _ACTIVE.search(quote) or chr(34) in quote else quote}"')
    return out


def _as_hint(hint: str) -> str:
    return _as_code(hint) if _ACTIVE.search(hint) or re.search(r'[,;"]', hint) else hint


def _as_code(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _from_code(text: str) -> str:
    match = re.fullmatch(r"(`+)(?!`)(.*?[^`])\1", text, re.S)
    if not match or re.search(rf"(?<!`){match[1]}(?!`)", match[2]):
        return text
    inner = match[2]
    padded = (len(inner) > 2 and inner.startswith(" `")) or inner.endswith("` ")
    return inner.strip(" ") if padded else inner


def read_note(content: str) -> Note:
    """Reads a footnote's content; what is in none of our fields is its `text`."""
    rest = " ".join(line.strip() for line in content.split("\n")).strip()
    date = thread = branch = None
    texts: list[str] = []
    groups: list[tuple[str, list[str], list[str]]] = [("", [], [])]  # of (owner, hints, quotes)
    recheck: list[tuple[str, str]] = []
    changed: list[tuple[str, str, tuple[str, ...]]] = []
    while rest:
        if owner := _OWNER.match(rest):
            groups.append((owner[1], [], []))
            rest = rest[owner.end():].lstrip()
        elif rest.startswith('"'):
            quote, rest = _quote(rest)
            groups[-1][2].append(quote)
        else:
            field, rest = _cut(rest, ";")
            if _DATE.match(field) and date is None:
                date = field
            elif field.startswith("thread ") and thread is None:
                thread = field[7:].strip()
            elif field.startswith("on branch ") and branch is None:
                branch = _from_code(field[10:].strip())
            elif (mark := _MARK.match(field)) and mark[1].lower() == _CHANGED:
                changed.append((mark[3] or "", mark[2], tuple(_hints(field[mark.end():]))))
            elif mark and mark.end() == len(field):
                recheck.append((mark[3] or "", mark[2]))
            elif field.startswith("hints:"):
                groups[-1][1].extend(_hints(field[6:]))
            elif field:
                texts.append(field)
    (_, hints, quotes), *others = groups
    return Note(date, thread, tuple(hints), quotes[0] if quotes else "", "; ".join(texts),
                tuple((id, tuple(own), said[0] if said else "") for id, own, said in others), branch or "",
                tuple(recheck), tuple(changed))


_OWNER = re.compile(rf"({ID}):(?=[\s;]|$);?")
_PLAIN_QUOTE = re.compile(r'"(.*?)"[ \t]*(?:;|$)')
_CODE_QUOTE = re.compile(r'"((?P<run>`+)(?!`)(?:.*?[^`])?(?P=run)(?!`))"[ \t]*(?:;|$)')


def _quote(text: str) -> tuple[str, str]:
    """The quote at the start of the text, and the text behind it."""
    match = _CODE_QUOTE.match(text) or _PLAIN_QUOTE.match(text)
    if not match:
        return text[1:].strip(), ""
    return _from_code(match[1]), text[match.end():].strip()


def _cut(text: str, mark: str) -> tuple[str, str]:
    """The text up to the first `mark` outside code, and the text behind it; both stripped."""
    place = _CODE.sub(lambda match: "\ufffe" * len(match[0]), text).find(mark)
    return (text.strip(), "") if place < 0 else (text[:place].strip(), text[place + 1:].strip())


def _hints(text: str) -> Iterable[str]:
    rest = text.strip()
    while rest:
        hint, rest = _cut(rest, ",")
        if hint:
            yield _from_code(hint)
