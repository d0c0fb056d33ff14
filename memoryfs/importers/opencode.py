"""In: an OpenCode session as JSON (`opencode export`). Out: its turns; `line` is the message's position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memoryfs.importers import injected, jsonstream
from memoryfs.importers.base import Item, Turn, draft, each_record, timestamp, tool_call, tool_result
from memoryfs.model import Problem
from memoryfs.thread import EventDraft

NAME = "opencode"
_HEAD = re.compile(r'\A[\s\ufeff]*\{\s*"(?:info|messages)"\s*:')


def sniff(text: str) -> bool:
    """Whether the document begins as an export of OpenCode does."""
    return bool(_HEAD.match(text)) and ('"ses_' in text or '"sessionID"' in text or '"parts"' in text)


class _Reader:
    def __init__(self) -> None:
        self.info: dict[str, Any] = {}
        self.started = False
        self.cwd = self.model = ""

    def message(self, position: int, message: dict[str, Any]) -> Iterator[Item]:
        info = message.get("info") or message
        session = self.info.get("id") or info.get("sessionID") or ""
        for found in self._parts(position, info, message.get("parts") or ()):
            extra = self._changes(info)
            if not self.started:
                self.started = True
                known = {
                    "id": session,
                    "harness": NAME,
                    "cwd": self.info.get("directory"),
                    "title": self.info.get("title"),
                    "version": self.info.get("version"),
                    "parent": self.info.get("parentID"),
                    **extra,
                }
                extra = {"session": {k: v for k, v in known.items() if v}}
            if extra:
                found = found.noting(extra)
            yield Turn(session, found)

    def _changes(self, info: dict[str, Any]) -> dict[str, Any]:
        changed = {}
        cwd = (info.get("path") or {}).get("cwd") or ""
        if cwd and cwd != self.cwd:
            changed["cwd"] = self.cwd = cwd
        model = info.get("modelID") or ""
        if model and model != self.model:
            changed["model"] = self.model = model
        return changed

    def _parts(self, position: int, info: dict[str, Any], parts: Any) -> Iterator[EventDraft]:
        role = info.get("role")
        sent = (info.get("time") or {}).get("created")
        for part in parts:
            kind = part.get("type")
            span = part.get("time") or {}
            time = timestamp(span.get("start") or sent)
            if kind == "text":
                if role == "user":
                    skip = injected.INJECTED if part.get("synthetic") or part.get("ignored") else None
                    yield from injected.user_message(part.get("text") or "", position, time, skip=skip)
                else:
                    found = draft("assistant", "message", part.get("text") or "", position, time)
                    if found:
                        yield found
            elif kind == "reasoning":
                found = draft(
                    "assistant",
                    "message",
                    part.get("text") or "",
                    position,
                    time,
                    {"skip": injected.THINKING},
                )
                if found:
                    yield found
            elif kind == "subtask":
                found = draft("assistant", "message", part.get("prompt") or "", position, time)
                if found:
                    yield found
            elif kind == "tool":
                yield from self._tool(position, part, time)

    @staticmethod
    def _tool(position: int, part: dict[str, Any], time: str | None) -> Iterator[EventDraft]:
        state = part.get("state") or {}
        span = state.get("time") or {}
        name, arguments, call = str(part.get("tool") or "tool"), state.get("input"), part.get("callID")
        own = injected.own_call(name, arguments)
        recalled = own or injected.reads_memory(name, arguments)
        asked = tool_call(
            name,
            arguments,
            position,
            timestamp(span.get("start")) or time,
            call=call,
            skip=injected.RECALLED if own else None,
        )
        if asked:
            yield asked
        failed = state.get("status") == "error"
        output = state.get("error") if failed else state.get("output")
        if output:
            if isinstance(output, str) and injected.is_recalled(output):
                recalled = True
            found = tool_result(
                output,
                position,
                timestamp(span.get("end")) or time,
                tool=name,
                call=call,
                error=failed or None,
                skip=injected.RECALLED if recalled else None,
            )
            if found:
                yield found


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns of an export, and problems, in the order of its messages."""
    reader = _Reader()

    def messages() -> Iterator[tuple[int, dict[str, Any]] | Problem]:
        position = 0
        try:
            for key, value in jsonstream.stream(path, ("messages",)):
                if key == "info" and isinstance(value, dict):
                    reader.info = value
                elif key in ("messages", "") and isinstance(value, dict):
                    yield position, value
                    position += 1
        except jsonstream.Unfinished as error:
            yield Problem(
                source,
                f"the JSON document breaks off after {position} messages ({error})",
                "Export the session again; what stands before was read.",
            )

    yield from each_record(messages(), reader.message, source)
