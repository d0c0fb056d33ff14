"""In: the Markdown text of a message. Out: its sentences and list items as exact spans, with what they stand under.

Code blocks, tables, headings, quotations and markup are left out: they are data, or say nothing alone. Spans are verbatim:
`text[unit.start:unit.end] == unit.quote`. Works line by line, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from organizer.rules.cues import shows
from organizer.rules.passed_on import passed_on

MAX_UNIT = 700  # characters; longer pieces are no sentences
MAX_TEXT = 200_000  # characters of one message that are read


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence or list item: its span, its text without Markdown marks, the heading and the lead-in over it, and
    whether it is someone else's words (`data`)."""

    start: int
    end: int
    quote: str
    clean: str
    item: bool = False
    heading: str = ""
    lead: str = ""
    data: bool = False


_FENCE = re.compile(r"[ \t]*(?P<mark>`{3,}|~{3,})")
_ITEM = re.compile(r"(?P<lead>[ \t]*)(?:[-*+•‣◦]|\(?\d{1,3}[.)]|[①-⑳])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(?P<text>.*)")
_BOLD_LINE = re.compile(r"[ \t]*(?:\d+[.)][ \t]+)?(?:\*\*|__)(?P<text>[^*]{1,120})(?:\*\*|__)[:：]?[ \t]*")
_SKIP_LINE = re.compile(r"[ \t]*(?:\||>|</?[A-Za-z!][^>]*>?[ \t]*$|<!--|[-=*_]{3,}[ \t]*$|[│├└╭╰┌┐┘┤┬┴┼─]|⎿|!\[)")
# Pasted output or code without a fence: tracebacks, test reports, shell prompts, assignments and calls.
_OUTPUT = re.compile(
    r"[ \t]*(?:E {2,}\S|File \"|Traceback \(|>>> |\.\.\. |\$ \S|\([\w.-]+\)\s?\S*[$>#%]|[\w.-]+@[\w.-]+[:~ ]\S*[$#>%]|(?:_ ){4,}|_{4,}|={4,}|-{4,}|\*{4,}|"
    r"(?:FAILED|PASSED|ERROR|ok|FAIL|PASS|WARN|INFO|DEBUG)[ :]\S|[\w./-]+\.\w{1,5}:\d+: |\d+ \+ |[+-]{1}\s{2,}\S|[\w.\[\]]+ = [\[{(\"'\w].*[\]})\"';]\s*$|"
    r"(?:import|from|def|class|return|const|let|var|func|raise|assert|export|public|private) [\w{(\"'].*[({:;)\]]\s*$|[\w.]+\(.*\)[;,]?\s*$)"
)
_SYMBOLS = re.compile(r"[(){}\[\]=;<>\\|\"_$&^~]")
SYMBOL_SHARE = 0.16  # of a line's characters outside code spans, from which it is output or code rather than prose
_PIECE = re.compile(r"`[^`\n]{1,400}`|[.!?…]+[\"'”’)\]*_]*(?=\s)|[。！？]+[」』）)”]*")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|fig|approx|cf|incl|esp|resp|al|eq|sec|ver|ca)|\b[A-Z]|^\W*\d+)\.$", re.I)
_MARKS = re.compile(r"(`[^`]*`)|\*\*|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_CODE_SPAN = re.compile(r"`[^`]*`|\]\([^)]*\)")
_BLANKS = re.compile(r"\s+")
_EDGE = re.compile(r"^(?:[-*+•‣◦]\s+|\(?\d{1,3}[.)]\s+|\[[ xX]\]\s+|#{1,6}\s+|>\s*)+")
INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]")


def clean(text: str) -> str:
    """A sentence as one line without Markdown marks; code spans stay as they are."""
    body = _EDGE.sub("", text.strip())
    body = _MARKS.sub(lambda m: m[1] or "", body)
    return _BLANKS.sub(" ", body).strip()


def is_output(line: str) -> bool:
    """Whether a line is pasted output or code rather than something that somebody wrote."""
    if _OUTPUT.match(line):
        return True
    bare = _CODE_SPAN.sub("", line[:2000])
    return len(bare) >= 24 and len(_SYMBOLS.findall(bare)) > SYMBOL_SHARE * len(bare)


def _blocks(text: str) -> Iterator[tuple[int, int, bool, str, int]]:
    """(start, end, item, heading, indent) of each paragraph or list item; hard-wrapped lines are joined."""
    heading, fence, at = "", "", 0
    block: list[int] | None = None  # start, end, item, indent
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        body = line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        opened = _FENCE.match(body)
        if fence or opened:
            if block:
                yield block[0], block[1], bool(block[2]), heading, block[3]
                block = None
            if opened and not fence:
                fence = opened["mark"]
            elif opened and opened["mark"].startswith(fence) and not body.strip(" \t`~"):
                fence = ""
            continue
        new_heading = _HEADING.match(body) or _BOLD_LINE.fullmatch(body)
        if not body.strip() or new_heading or _SKIP_LINE.match(body) or is_output(body):
            if block:
                yield block[0], block[1], bool(block[2]), heading, block[3]
                block = None
            if new_heading:
                heading = clean(new_heading["text"])
            continue
        item = _ITEM.match(body)
        lead = len(body) - len(body.lstrip())
        if block and not item and _continues(text[block[0]:block[1]], body, lead, block[3], bool(block[2])):
            block[1] = start + len(body)
            continue
        if block:
            yield block[0], block[1], bool(block[2]), heading, block[3]
        block = [start + (item.end() if item else lead), start + len(body), bool(item), lead]
    if block:
        yield block[0], block[1], bool(block[2]), heading, block[3]


def _continues(before: str, line: str, lead: int, indent: int, item: bool) -> bool:
    """Whether a line goes on with the sentence of the line before it, as hard-wrapped text does."""
    last = before.rsplit("\n", 1)[-1].rstrip()
    if len(before) > MAX_UNIT or last.endswith((":", "：")):
        return False
    if item and lead > indent:
        return not last.endswith((".", "。", "!", "?"))
    first = line.lstrip()[:1]
    return len(last) >= 50 and not last.endswith((".", "。", "!", "?", ";")) and (first.islower() or first in "(`\"'")


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _PIECE.finditer(text, start, end):
        if match.group().startswith("`"):
            continue
        stop = match.end()
        if match.group().startswith(".") and _ABBREVIATION.search(text, begin, match.start() + 1):
            continue
        if stop < end:
            yield begin, stop
            begin = stop
    yield begin, end


def units(text: str, *, role: str = "assistant") -> list[Unit]:
    """The sentences and list items of a message, in order. In a user's message, what somebody else wrote (module `passed_on`)
    and what follows the announcement of other words ("the page says:") is marked as data."""
    found: list[Unit] = []
    lead, lead_indent, data_until = "", 0, -1
    text = text[:MAX_TEXT]
    foreign = passed_on(text) if role == "user" else ()
    for start, end, item, heading, indent in _blocks(text):
        for a, b in _sentences(text, start, end):
            while a < b and text[a].isspace():
                a += 1
            while b > a and text[b - 1].isspace():
                b -= 1
            quote = text[a:b]
            if not quote or len(quote) > MAX_UNIT:
                continue
            if lead and not item and a > start:
                lead = ""
            body = clean(quote)
            if not body:
                continue
            under = lead if item and indent >= lead_indent else ""
            announced = role == "user" and quote.endswith((":", "：")) and shows(body, "quotation")
            if announced:
                data_until = len(text)
            is_data = (a < data_until and not announced) or any(x <= a < y for x, y in foreign)
            found.append(Unit(a, b, quote, body, item, heading, under, is_data or bool(INVISIBLE.search(quote))))
            if quote.endswith((":", "：")) or (not item and quote.endswith(("**", "following"))):
                lead, lead_indent = body, indent
            elif not item:
                lead = ""
    return found
