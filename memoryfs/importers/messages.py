"""In: the neutral `messages` format, `{"role", "content", "name"?, "time"?}` as JSON lines or one list.
Out: its turns.

`line` is the physical line of JSON lines, and the message's position in a list. Contents may be text or a
list of blocks (`text`, `tool_use`, `tool_result`); OpenAI's `tool_calls` and role `tool` are understood too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from memoryfs.importers import injected, jsonstream
from memoryfs.importers.base import (
    Item,
    Turn,
    draft,
    each_record,
    json_lines,
    open_text,
    timestamp,
    tool_call,
    tool_result,
)
from memoryfs.model import Problem
from memoryfs.thread import EventDraft

NAME = "messages"
_LIST = re.compile(r'\A[\s\ufeff]*(?:\[\s*\{|\{.*?"(?:messages|conversation)"\s*:\s*\[)', re.S)
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
_TIMES = ("time", "timestamp", "created_at", "date")


def sniff(text: str, records: list[dict[str, Any]]) -> bool:
    """Whether the records, or the first elements of the list, are messages."""
    if records and any("role" in r and ("content" in r or "tool_calls" in r) for r in records):
        return True
    return bool(_LIST.match(text)) and '"role"' in text and '"content"' in text


class _Reader:
    def __init__(self) -> None:
        self.started: set[str] = set()

    def handle(self, line: int, record: dict[str, Any]) -> Iterator[Item]:
        if "role" not in record:
            raise KeyError("role")
        session = record.get("session_id") or record.get("session") or ""
        session = session if isinstance(session, str) else ""
        for found in self._drafts(line, record):
            if session not in self.started:
                self.started.add(session)
                about = {"session": {k: v for k, v in {"id": session, "harness": NAME}.items() if v}}
                found = replace(found, metadata={**about, **found.metadata})
            yield Turn(session, found)

    def _drafts(self, line: int, record: dict[str, Any]) -> Iterator[EventDraft]:
        role = _ROLES.get(str(record["role"]).lower(), "user")
        time = next((t for k in _TIMES if (t := timestamp(record.get(k)))), None)
        about = {"name": record.get("name") if isinstance(record.get("name"), str) else None}
        content = record.get("content")
        if role == "tool":
            text = content if isinstance(content, str) else None
            skip = injected.RECALLED if text and injected.is_recalled(text) else None
            found = tool_result(
                content, line, time, tool=about["name"], call=record.get("tool_call_id"), skip=skip
            )
            if found:
                yield found
            return
        for block in [content] if isinstance(content, (str, dict)) else content or ():
            yield from self._block(
                role, {"type": "text", "text": block} if isinstance(block, str) else block, line, time, about
            )
        for call in record.get("tool_calls") or ():
            function = call.get("function") or call
            arguments = function.get("arguments")
            if isinstance(arguments, str):
                try:
                    arguments = json.loads(arguments, strict=False)
                except ValueError:
                    arguments = [arguments]
            found = tool_call(str(function.get("name") or "tool"), arguments, line, time, call=call.get("id"))
            if found:
                yield found

    @staticmethod
    def _block(
        role: str, block: dict[str, Any], line: int, time: str | None, about: dict[str, Any]
    ) -> Iterator[EventDraft]:
        kind = block.get("type") or "text"
        found: EventDraft | None = None
        if kind == "tool_use":
            found = tool_call(
                str(block.get("name") or "tool"), block.get("input"), line, time, call=block.get("id")
            )
        elif kind == "tool_result":
            found = tool_result(block.get("content"), line, time, call=block.get("tool_use_id"))
        elif kind == "thinking":
            found = draft(
                "assistant", "message", block.get("thinking") or "", line, time, {"skip": injected.THINKING}
            )
        elif isinstance(block.get("text"), str):
            if role == "user":
                yield from injected.user_message(block["text"], line, time, **about)
                return
            skip = injected.INJECTED if role == "system" else None
            found = draft(role, "message", block["text"], line, time, {**about, "skip": skip})
        if found:
            yield found


def _list(path: Path, source: str) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    position = 0
    try:
        for key, value in jsonstream.stream(path, ("messages", "conversation")):
            if key not in ("", "messages", "conversation"):
                continue
            if isinstance(value, dict):
                yield position, value
            else:
                yield Problem(
                    source, f"element {position} of the list is no message", "The others were read."
                )
            position += 1
    except jsonstream.Unfinished as error:
        yield Problem(
            source,
            f"the JSON document breaks off after {position} messages ({error})",
            "Write the file again; what stands before was read.",
        )


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns, and problems, in the order of the file."""
    with open_text(path) as handle:
        whole = bool(_LIST.match(handle.read(4096)))
    records = _list(path, source) if whole else json_lines(path, source)
    yield from each_record(records, _Reader().handle, source)
