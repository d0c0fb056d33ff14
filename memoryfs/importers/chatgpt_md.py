"""In: a note of Obsidian's ChatGPT MD plug-in. Out: its turns; the settings in its front matter are left
out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memoryfs.importers.base import Item, Turn, physical_lines
from memoryfs.importers.mdtext import block
from memoryfs.thread import EventDraft

NAME = "chatgpt-md"
_BREAK = re.compile(r'^<hr class="__chatgpt_plugin">\s*$')
_BREAK_LINE = re.compile(_BREAK.pattern, re.M)
_ROLE = re.compile(r"^(?:#{1,6} )?role::(user|assistant|system)\b.*$")
_FIELD = re.compile(r"^(title|date created|model): *(.*?)\s*$")
_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}")
_SETTINGS = re.compile(r"^system_commands:", re.M)


def sniff(text: str) -> bool:
    """Whether the note has the plug-in's turn breaks or settings."""
    return bool(_BREAK_LINE.search(text)) or (text.startswith("---") and bool(_SETTINGS.search(text[:1000])))


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns of the note; `line` is where a turn's text begins."""
    about: dict[str, object] = {"harness": NAME}
    front: list[tuple[int, str]] = []
    role, lines, state, started = "user", [], "start", False

    def turn(found: EventDraft | None) -> Iterator[Turn]:
        nonlocal started
        if found is None:
            return
        if not started:
            started = True
            found = found.noting({"session": dict(about)})
        yield Turn("", found)

    for number, line in physical_lines(path):
        if state == "start":
            state = "front" if line.rstrip() == "---" else "body"
            if state == "front":
                front.append((number, line))
                continue
        if state == "front":
            front.append((number, line))
            field = _FIELD.match(line)
            if field and field[2]:
                if field[1] == "date created" and _DATE.match(field[2]):
                    about["date"] = field[2][:10]
                elif field[1] != "date created":
                    about[field[1]] = field[2]
            if line.rstrip() == "---":
                state = "body"
            continue
        if _BREAK.match(line):
            yield from turn(block(lines, role))
            role, lines, state = "user", [], "turn"
            continue
        match = _ROLE.match(line) if state == "turn" and line.strip() else None
        if match:
            role = match[1]
        else:
            lines.append((number, line))
        if line.strip():
            state = "body"
    if state == "front":  # front matter that never ends is text
        lines = front
    yield from turn(block(lines, role))
