"""In: MEMORY.md as it stands and as we last wrote it. Out: the person's own words in it, and where to part them if they are too long.

Everything is the person's but the lines that we compiled. Those are known exactly while the checksum in the last line fits;
else by comparison with what we last wrote; else (a fresh clone, and edited) by their form. A file without our marker
is the person's from end to end. Nothing that is not ours is ever dropped: it ends up under Notes, in its order.
"""

from __future__ import annotations

import hashlib
import re

from memoryfs.briefing.phrase import target_of
from memoryfs.runs import ALARM_START

TITLE = "# Memory"
MARKER = "<!-- memoryfs:"
HEADING = "## Notes"
POINTER = "- more notes → notes.md"
EMPTY_HINT = "- Nothing here yet: `memoryfs organize` learns from past sessions, `memoryfs remember TEXT` adds a line."
_SECTION = re.compile(
    r"## (?:Instructions|Projects|Open tasks|Recent|Contacts|Infrastructure|Topics|Needs review \(\d+\))\Z"
)
_TRAILER = re.compile(r"<!-- (?:exact values \(|\d+ more )[^\n]*?(?: · #(?P<sum>[0-9a-f]{8}))? -->\Z")
_GIT = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?: |\Z)")
_FENCE = re.compile(r"[ \t>]*(?:[-+*] +|\d+[.)] +)*(`{3,}|~{3,})([^\n]*)")
_RAW_HTML = re.compile(r"<(script|pre|style|textarea)\b|<!--|<\?|<!\[CDATA\[|<![A-Za-z]", re.IGNORECASE)


def checksum(lines: list[str]) -> str:
    """Of the compiled lines before Notes: 8 hex digits of SHA-256."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _is_chrome(line: str) -> bool:
    return bool(
        line in (TITLE, HEADING, POINTER, EMPTY_HINT) or line.startswith(ALARM_START) or (line.startswith(MARKER) and line.endswith("-->"))
        or _SECTION.match(line) or _TRAILER.match(line) or _GIT.match(line)
    )


def _has_our_form(line: str) -> bool:
    return not line.strip() or _is_chrome(line) or (line.startswith("- ") and target_of(line) is not None)


def _parts(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Head (up to and with the heading Notes), notes, and our last line if it stands at the end."""
    bare = [_bare(line) for line in lines]
    at = bare.index(HEADING) + 1 if HEADING in bare else len(lines)
    end = len(lines)
    while end > at and not bare[end - 1].strip():
        end -= 1
    if end > at and _TRAILER.match(bare[end - 1]):
        return lines[:at], lines[at : end - 1], lines[end - 1 :]
    return lines[:at], lines[at:], []


def parts(text: str) -> tuple[list[str], str, str]:
    """A compiled text in three: its lines up to and with the heading Notes, the Notes, our last line ("" if elsewhere)."""
    head, words, tail = _parts(_split(text))
    return [_bare(line) for line in head], "".join(words), _bare("".join(tail[:1]))


def _untouched(head: list[str], tail: list[str]) -> bool:
    """Whether the checksum in the last line (or in the head, where it stands if Notes leave a fence open) fits."""
    bare = [_bare(line) for line in head]
    ends = [_bare(line) for line in tail[:1]] or [line for line in bare if _TRAILER.match(line)]
    match = _TRAILER.match(ends[0]) if len(ends) == 1 else None
    return bool(match and match["sum"] and match["sum"] == checksum([line for line in bare if line != ends[0]]))


def persons_text(old: str, last: str | None) -> str:
    """The person's words in `old`; `last` is the text that we last wrote, None where that is not known."""
    old = old.removeprefix("\ufeff")
    lines = _split(old)
    if last is None and not any(_bare(line).startswith(MARKER) for line in lines):
        return old
    head, notes, tail = _parts(lines)
    if old == last or _untouched(head, tail):
        words = notes
    elif last is not None:
        words = _inserted(_split(last), lines)
    else:
        words = _joined([line for line in head if not _has_our_form(_bare(line))], notes)
    return "".join(line for line in words if _bare(line) != POINTER)


def _split(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _joined(typed: list[str], notes: list[str]) -> list[str]:
    """Lines typed elsewhere, then the notes, a blank line between them."""
    if not typed or not any(line.strip() for line in notes):
        return typed + notes
    if not typed[-1].endswith("\n"):
        typed = [*typed[:-1], typed[-1] + "\n"]
    return [*typed, "\n", *notes]


def _loose(line: str) -> str:
    return re.sub(r"[\W_]+", "", line)


def _inserted(last: list[str], old: list[str]) -> list[str]:
    """The lines of `old` that are not ours, told by comparison with what we last wrote."""
    from difflib import SequenceMatcher

    head, notes, _ = _parts(last)
    first_note, after_notes = len(head), len(head) + len(notes)
    ours = {_loose(line) for line in (*head, *last[after_notes:])} - {""}
    matcher = SequenceMatcher(None, [_bare(line) for line in last], [_bare(line) for line in old], autojunk=False)
    before: list[str] = []
    words: list[str] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            words += [old[c + k] for k in range(b - a) if first_note <= a + k < after_notes]
        elif kind in ("insert", "replace"):
            in_notes = first_note <= a and (a < after_notes or a == b == after_notes)
            chunk = old[c:d] if in_notes else [
                line for line in old[c:d] if not (_loose(line) in ours or _GIT.match(_bare(line)))
            ]
            if in_notes:
                words += chunk
            elif any(line.strip() for line in chunk):
                (before if a < first_note else words).extend(chunk)
    return _joined(before, words)


def leaves_open(text: str) -> bool:
    """Whether `text` may end inside a code fence or raw HTML, so that what follows it would be swallowed.

    Errs on the side of yes."""
    return _scan_fences(_split(text))[1]


def _scan_fences(lines: list[str]) -> tuple[list[bool], bool]:
    """For each line, whether it begins inside a fence or raw HTML; and whether the text ends in one."""
    inside: list[bool] = []
    fence, raw = "", ""
    for line in lines:
        inside.append(bool(fence or raw))
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
            continue
        if not raw and match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            continue
        rest = line.lower()
        while rest:
            if raw:
                at = rest.find(raw)
                if at < 0:
                    break
                rest, raw = rest[at + len(raw):], ""
            else:
                html = _RAW_HTML.search(rest)
                if not html:
                    break
                tag = html[1]
                raw = f"</{tag}>" if tag else {"<!--": "-->", "<?": "?>", "<![cdata[": "]]>"}.get(html[0], ">")
                rest = rest[html.end():]
    return inside, bool(fence or raw)


def part(text: str, max_bytes: int, max_lines: int) -> tuple[str, str]:
    """`text` in two: a beginning of at most `max_bytes` and `max_lines`, and the rest. Parted only between blocks or
    top-level list items, never inside a fence or raw HTML, never between a link and its definition."""
    lines = _split(text)
    inside, _ = _scan_fences(lines)
    starts = [
        number for number, line in enumerate(lines)
        if number and not inside[number] and line.strip() and not line[0].isspace()
        and (not lines[number - 1].strip() or re.match(r"[-+*] |\d+[.)] |#{1,6} ", line))
    ]
    best = 0
    size = 0
    position = 0
    for cut in starts:
        size += sum(len(line.encode("utf-8", "surrogatepass")) for line in lines[position:cut])
        position = cut
        if size > max_bytes or cut > max_lines:
            break
        best = cut
    while best and _refers_over(lines[:best], lines[best:]):
        best = max((cut for cut in starts if cut < best), default=0)
    return "".join(lines[:best]), "".join(lines[best:])


def _refers_over(head: list[str], tail: list[str]) -> bool:
    defined = {m[1].casefold() for line in tail if (m := re.match(r" {0,3}\[([^\]]+)\]:", line))}
    return bool(defined) and any(
        m[1].casefold() in defined for line in head for m in re.finditer(r"\[([^\[\]]+)\]", line)
    )
