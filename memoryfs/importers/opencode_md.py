"""In: an OpenCode session exported as Markdown. Out: its turns; a poorer copy of the JSON export.

Turns are numbered; a heading counts only if it bears the next number, so that quoted exports do not mislead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memoryfs.importers.base import Item, Turn, physical_lines, timestamp
from memoryfs.importers.mdtext import block, turn_parts

NAME = "opencode"
_HEAD = re.compile(r"^## OpenCode Chat Export\s*$", re.M)
_FIELD = re.compile(r"^- (Session ID|Title|Project directory|OpenCode version|Created): (.*?)\s*$")
_TURN = re.compile(r"^### (\d+)\. (user|assistant|system|tool) \(([^)]*)\)\s*$")
_FIELDS = {"Session ID": "id", "Title": "title", "Project directory": "cwd", "OpenCode version": "version"}


def sniff(text: str) -> bool:
    """Whether the text begins as an export of OpenCode does."""
    return bool(_HEAD.search(text[:300]))


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns of the session; `line` is where a turn's text begins."""
    about: dict[str, object] = {"harness": NAME, "partial": True}
    expected, started = 1, False
    role, time, lines = "", None, []

    def finish() -> Iterator[Turn]:
        nonlocal started
        for piece in turn_parts(block(lines, role, time=time)):
            if not started:
                started = True
                piece = piece.noting({"session": dict(about)})
            yield Turn(str(about.get("id") or ""), piece)

    for number, line in physical_lines(path):
        match = _TURN.match(line)
        if match and int(match[1]) == expected:
            if expected > 1:
                yield from finish()
            expected += 1
            role, time, lines = match[2], timestamp(match[3]), []
        elif expected == 1:
            field = _FIELD.match(line)
            if field and field[1] in _FIELDS and field[2]:
                about[_FIELDS[field[1]]] = field[2]
        else:
            lines.append((number, line))
    if expected > 1:
        yield from finish()
