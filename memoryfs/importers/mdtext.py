"""In: lines of a Markdown transcript. Out: verbatim event texts from line ranges, and a tracker of code
fences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoryfs.importers import injected
from memoryfs.importers.base import draft
from memoryfs.model import EMPTY
from memoryfs.thread import EventDraft

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")

Lines = Sequence[tuple[int, str]]  # (physical line, its text with line end)


class Fence:
    """Whether the current line is inside a code fence, by CommonMark's rules for fences that are not
    indented."""

    def __init__(self) -> None:
        self.mark = ""

    def feed(self, line: str) -> bool:
        """Takes one line; True if it is inside a fence or is one's first or last line."""
        match = _FENCE.match(line.rstrip("\r\n"))
        if not self.mark:
            if match and not (match[1][0] == "`" and "`" in match[2]):
                self.mark = match[1]
                return True
            return False
        if match and match[1][0] == self.mark[0] and len(match[1]) >= len(self.mark) and not match[2].strip():
            self.mark = ""
        return True


def block(
    lines: Lines,
    role: str,
    kind: str = "message",
    time: str | None = None,
    metadata: Mapping[str, Any] = EMPTY,
    strip: Callable[[str], str] | None = None,
) -> EventDraft | None:
    """The event of these lines, blank ones at both ends left out; its `line` is the first that is left.

    The text is a verbatim slice. Where `strip` takes a prefix off each line, or lines end in CRLF, the text
    is put together from pieces of lines, and `parts` holds their offsets.
    """
    first, last = 0, len(lines)
    bare = (lambda text: text) if strip is None else strip
    while first < last and not bare(lines[first][1].rstrip("\r\n")).strip():
        first += 1
    while last > first and not bare(lines[last - 1][1].rstrip("\r\n")).strip():
        last -= 1
    if first == last:
        return None
    chosen = lines[first:last]
    if strip is None and not any(text.endswith("\r\n") for _, text in chosen):
        text = "".join(text for _, text in chosen)
        return draft(role, kind, text.rstrip(), chosen[0][0], time, metadata)
    pieces = [text.rstrip("\r\n") if strip is None else strip(text.rstrip("\r\n")) for _, text in chosen]
    parts, position = [], 0
    for piece in pieces:
        if piece.strip():
            parts.append([position, position + len(piece)])
        position += len(piece) + 1
    about = {**metadata, "parts": parts} if len(parts) > 1 else metadata
    return draft(role, kind, "\n".join(pieces), chosen[0][0], time, about)


def turn_parts(found: EventDraft | None) -> Iterator[EventDraft]:
    """A user's turn in its parts, injected ones marked, each with the line it begins on; another's as it is."""
    if found is None:
        return
    if found.role != "user" or "parts" in found.metadata:
        yield found
        return
    for part in injected.user_message(found.text, found.line, found.time):
        above = found.text.count("\n", 0, max(found.text.find(part.text), 0))
        yield replace(part, line=found.line + above)
