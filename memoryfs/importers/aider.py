"""In: Aider's `.aider.chat.history.md`. Out: its turns; each `# aider chat started at` begins a session of
its own.

A prompt's lines begin with `#### ` and end with two spaces (a heading in an answer does not); lines with `>
` are Aider's own words. What Aider prints before the first prompt, and its slash commands, are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memoryfs.importers import injected
from memoryfs.importers.base import Item, Turn, physical_lines, timestamp
from memoryfs.importers.mdtext import Fence, block
from memoryfs.thread import EventDraft

NAME = "aider"
_START = re.compile(r"^# aider chat started at (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})\s*$")
_HEAD = re.compile(r"^# aider chat started at \d{4}-", re.M)
_COMMAND = re.compile(
    r"^/(?:add|drop|run|test|lint|git|clear|reset|tokens|exit|quit|ls|diff|undo|commit|model|models|editor-model|weak-model"
    r"|help|settings|read-only|load|save|map|map-refresh|paste|report|voice|copy|chat-mode|multiline-mode|think-tokens)\b"
)
_MODEL = re.compile(r"^> (?:Main model|Model): (\S+)")
_PREFIX = {"user": "#### ", "tool": "> "}


def sniff(text: str) -> bool:
    """Whether the text begins with a session of Aider."""
    return bool(_HEAD.search(text[:2000]))


def _stripped(role: str, text: str) -> str:
    prefix = _PREFIX[role]
    text = text[len(prefix) :] if text.startswith(prefix) else text[1:] if role == "tool" else text
    return text[:-2] if text.endswith("  ") else text


class _Reader:
    def __init__(self, marked: bool) -> None:
        self.marked = marked  # prompts are marked by trailing spaces in this file
        self._begin("", None)

    def _begin(self, session: str, time: str | None) -> None:
        self.session, self.time = session, time
        self.model = ""
        self.started = self.asked = False
        self.role = "assistant"
        self.lines: list[tuple[int, str]] = []
        self.fence = Fence()
        self.blank = True

    def role_of(self, line: str) -> str:
        bare = line.rstrip("\r\n")
        marked = bare.endswith("  ") or not self.marked
        if marked and bare.startswith("#### ") and (self.blank or self.role == "user"):
            return "user"
        if self.fence.mark:
            return "assistant"
        if bare.startswith("> ") or bare.rstrip() == ">":
            return "tool"
        return "assistant" if bare.strip() or self.role == "assistant" else self.role

    def feed(self, number: int, line: str) -> Iterator[Item]:
        start = _START.match(line)
        if start and self.blank:
            yield from self.finish()
            self._begin(f"aider/{start[1]}", timestamp(start[1]))
            return
        role = self.role_of(line)
        if role == "user":
            self.fence = Fence()
        elif role == "assistant":
            self.fence.feed(line)
        if role == "tool" and not self.model and (match := _MODEL.match(line)):
            self.model = match[1]
        if role != self.role:
            yield from self.finish()
            self.role = role
        self.lines.append((number, line))
        self.blank = not line.strip()

    def finish(self) -> Iterator[Turn]:
        role, lines, self.lines = self.role, self.lines, []
        strip = (lambda text: _stripped(role, text)) if role in _PREFIX else None
        kind = "tool_result" if role == "tool" else "message"
        found = block(lines, role, kind, strip=strip)
        if found is None:
            return
        about = dict(found.metadata)
        if role == "user":
            self.asked = True
            if _COMMAND.match(found.text):
                about["skip"] = injected.COMMAND
        elif role == "tool" and not self.asked:
            about["skip"] = injected.INJECTED
        if not self.started:
            self.started = True
            known = {
                "id": self.session,
                "harness": NAME,
                "date": (self.time or "")[:10],
                "started": self.time,
            }
            about["session"] = {k: v for k, v in known.items() if v}
        if self.model and role == "assistant":
            about["model"], self.model = self.model, ""
        yield Turn(self.session, EventDraft(role, kind, found.text, found.line, self.time, about))


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns of all sessions of the file; `line` is where a turn's text begins. Times are those of the
    session."""
    marked = any(
        line.rstrip("\r\n").endswith("  ") for _, line in physical_lines(path) if line.startswith("#### ")
    )
    reader = _Reader(marked)
    for number, line in physical_lines(path):
        yield from reader.feed(number, line)
    yield from reader.finish()
