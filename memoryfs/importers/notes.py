"""In: any Markdown note. Out: its sections as events, cut at headings outside code fences, and at blank
lines when long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memoryfs.importers import injected
from memoryfs.importers.base import Item, Turn, physical_lines
from memoryfs.importers.mdtext import Fence, block

NAME = "notes"
LONG = 4000  # characters of a section from which it is cut at its next blank line
_HEADING = re.compile(r"^#{1,6}(?:\s|$)")
_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


def parse(path: Path, source: str) -> Iterator[Item]:
    """The note's sections; `line` is where a section's text begins. The date is taken from the file's name
    if it has one."""
    day = _DATE.search(path.name)
    about = {"harness": NAME, **({"date": day[1]} if day else {})}
    lines: list[tuple[int, str]] = []
    size, only_headings, started, fence = 0, True, False, Fence()

    def finish() -> Iterator[Turn]:
        nonlocal lines, size, only_headings, started
        found = block(lines, "user")
        lines, size, only_headings = [], 0, True
        if found is None:
            return
        extra: dict[str, object] = {"skip": injected.RECALLED} if injected.is_recalled(found.text) else {}
        if not started:
            started = True
            extra["session"] = about
        yield Turn("", found.noting(extra))

    for number, line in physical_lines(path):
        inside = fence.feed(line)
        heading = not inside and bool(_HEADING.match(line))
        if (heading and not only_headings) or (size > LONG and not inside and not line.strip()):
            yield from finish()
        lines.append((number, line))
        size += len(line)
        only_headings = only_headings and (heading or not line.strip())
    yield from finish()
