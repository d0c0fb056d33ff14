"""In: a Codex rollout (`~/.codex/sessions/…/rollout-*.jsonl`) or `history.jsonl`. Out: its turns, each
message once.

Codex writes a message both as `response_item` and as `event_msg`; whichever comes first is kept. Developer
messages, AGENTS.md and environment blocks are marked as injected; encrypted reasoning is not kept at all.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memoryfs.importers import injected
from memoryfs.importers.base import (
    Item,
    Turn,
    draft,
    each_record,
    json_lines,
    timestamp,
    tool_call,
    tool_result,
)
from memoryfs.thread import EventDraft

NAME = "codex"
TWIN_WINDOW = 200  # how many records apart the two copies of one message may stand
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.M)
_ITEMS = {
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
}


def sniff(records: list[dict[str, Any]]) -> bool:
    """Whether the first records are those of a Codex rollout, of today's form or the bare one of 2025."""
    if any(isinstance(r.get("payload"), dict) and "type" in r for r in records):
        return True
    return bool(records) and "instructions" in records[0] and "id" in records[0] and "timestamp" in records[0]


def sniff_history(records: list[dict[str, Any]]) -> bool:
    """Whether the records are prompts of Codex's `history.jsonl`."""
    return bool(records) and all({"session_id", "ts", "text"} <= r.keys() for r in records)


class _Reader:
    def __init__(self) -> None:
        self.session: dict[str, Any] = {}
        self.early: list[EventDraft] = []
        self.started = False
        self.count = 0
        self.waiting: OrderedDict[tuple[str, str], list[tuple[int, str]]] = OrderedDict()
        self.calls: dict[str, tuple[str, bool]] = {}
        self.changed: dict[str, str] = {}
        self.now: dict[str, str] = {}

    def handle(self, line: int, record: dict[str, Any]) -> Iterator[Item]:
        self.count += 1
        kind, payload, time = record.get("type"), record.get("payload"), timestamp(record.get("timestamp"))
        if not isinstance(payload, dict):
            if kind in _ITEMS:
                kind, payload = "response_item", record
            elif "instructions" in record and not self.session:
                kind, payload = "session_meta", record
            else:
                return
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            for key in ("cwd", "model"):
                value = payload.get(key)
                if isinstance(value, str) and value != self.now.get(key):
                    self.now[key] = self.changed[key] = value
        for found in self._drafts(str(kind), payload, line, time):
            yield from self._turns(found)

    def _meta(self, payload: dict[str, Any]) -> None:
        if self.session or not isinstance(payload.get("id"), str):
            return
        git = payload.get("git") or {}
        known = {
            "id": payload["id"],
            "harness": NAME,
            "cwd": payload.get("cwd"),
            "branch": git.get("branch"),
            "version": payload.get("cli_version"),
            "parent": payload.get("forked_from_id"),
        }
        self.session = {k: v for k, v in known.items() if v}
        if payload.get("cwd"):
            self.now["cwd"] = payload["cwd"]

    def _turns(self, found: EventDraft) -> Iterator[Turn]:
        if not self.session and len(self.early) < 1000:
            self.early.append(found)
            return
        for each in (*self.early, found):
            extra: dict[str, Any] = dict(self.changed)
            self.changed = {}
            if not self.started:
                self.started = True
                extra = {"session": {"harness": NAME, **self.session, **extra}}
            if extra:
                each = each.noting(extra)
            yield Turn(self.session.get("id", ""), each)
        self.early = []

    def rest(self) -> Iterator[Turn]:
        early, self.early = self.early, []
        for each in early:
            yield Turn("", each)

    def _twin(self, role: str, text: str, kind: str) -> bool:
        """Whether this text is the second copy of a message; the first one then waits no more."""
        key = (role, text.strip())
        for at, other in self.waiting.get(key, ()):
            if other != kind and self.count - at <= TWIN_WINDOW:
                self.waiting[key].remove((at, other))
                if not self.waiting[key]:
                    del self.waiting[key]
                return True
        self.waiting.setdefault(key, []).append((self.count, kind))
        while self.waiting:
            oldest = next(iter(self.waiting))
            if self.count - self.waiting[oldest][-1][0] <= TWIN_WINDOW:
                break
            del self.waiting[oldest]
        return False

    def _drafts(
        self, kind: str, payload: dict[str, Any], line: int, time: str | None
    ) -> Iterator[EventDraft]:
        what = payload.get("type")
        if kind == "event_msg":
            if what == "user_message":
                yield from self._said("user", [payload.get("message") or ""], "event", line, time)
            elif what == "agent_message":
                yield from self._said("assistant", [payload.get("message") or ""], "event", line, time)
            elif what == "agent_reasoning":
                yield from self._thought([payload.get("text") or ""], "event", line, time)
            elif what == "item_completed" and isinstance((payload.get("item") or {}).get("text"), str):
                yield from self._said("assistant", [payload["item"]["text"]], "item", line, time)
        elif kind == "response_item":
            if what == "message":
                texts = [b.get("text") or "" for b in payload.get("content") or () if isinstance(b, dict)]
                yield from self._said(str(payload.get("role")), texts, "item", line, time)
            elif what == "reasoning":
                blocks = [*(payload.get("summary") or ()), *(payload.get("content") or ())]
                yield from self._thought(
                    [b.get("text") or "" for b in blocks if isinstance(b, dict)], "item", line, time
                )
            elif what in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
                yield from self._call(payload, line, time)
            elif what in ("function_call_output", "custom_tool_call_output"):
                yield from self._result(payload, line, time)
        elif kind == "compacted":
            found = draft(
                "system", "message", payload.get("message") or "", line, time, {"skip": injected.SUMMARY}
            )
            if found:
                yield found

    def _said(
        self, role: str, texts: list[str], kind: str, line: int, time: str | None
    ) -> Iterator[EventDraft]:
        for text in texts:
            if not text.strip() or (role in ("user", "assistant") and self._twin(role, text, kind)):
                continue
            if role == "user":
                yield from injected.user_message(text, line, time)
            else:
                skip = None if role == "assistant" else injected.INJECTED
                found = draft(
                    "assistant" if role == "assistant" else "system",
                    "message",
                    text,
                    line,
                    time,
                    {"skip": skip},
                )
                if found:
                    yield found

    def _thought(self, texts: list[str], kind: str, line: int, time: str | None) -> Iterator[EventDraft]:
        for text in texts:
            if text.strip() and not self._twin("thinking", text, kind):
                found = draft("assistant", "message", text, line, time, {"skip": injected.THINKING})
                if found:
                    yield found

    def _call(self, payload: dict[str, Any], line: int, time: str | None) -> Iterator[EventDraft]:
        name = str(payload.get("name") or payload["type"].removesuffix("_call"))
        raw = next((payload[k] for k in ("arguments", "input", "action") if payload.get(k) is not None), None)
        arguments = _unwrapped(raw)
        if payload["type"] == "web_search_call" and isinstance(arguments, dict):
            arguments = {
                k: v
                for k, v in arguments.items()
                if k != "type" and (k != "queries" or "query" not in arguments)
            }
        call = payload.get("call_id")
        own = injected.own_call(name, arguments)
        self.calls[str(call)] = (name, own or injected.reads_memory(name, arguments))
        found = tool_call(name, arguments, line, time, call=call, skip=injected.RECALLED if own else None)
        if found:
            yield found

    def _result(self, payload: dict[str, Any], line: int, time: str | None) -> Iterator[EventDraft]:
        call = payload.get("call_id")
        name, recalled = self.calls.pop(str(call), ("", False))
        output = _unwrapped(payload.get("output"))
        failed = None
        if isinstance(output, dict) and "output" in output:
            meta = output.get("metadata")
            failed = bool(meta.get("exit_code")) if isinstance(meta, dict) else None
            output = output["output"]
        if isinstance(output, str):
            code = _EXIT.search(output, 0, 400)
            failed = failed or bool(code and code[1] != "0")
            recalled = recalled or injected.is_recalled(output)
        found = tool_result(
            output,
            line,
            time,
            tool=name,
            call=call,
            error=failed or None,
            skip=injected.RECALLED if recalled else None,
        )
        if found:
            yield found


def _unwrapped(value: Any) -> Any:
    """A JSON object that was written as text, decoded; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            inner = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return value
        return inner if isinstance(inner, dict) else value
    return value


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns of a rollout, and problems, in the order of the file."""
    reader = _Reader()
    yield from each_record(json_lines(path, source), reader.handle, source)
    yield from reader.rest()


def parse_history(path: Path, source: str) -> Iterator[Item]:
    """The prompts of `history.jsonl`, one session an id; a poorer record of sessions that may also have a
    rollout."""
    started: set[str] = set()

    def handle(line: int, record: dict[str, Any]) -> Iterator[Item]:
        session = str(record["session_id"])
        for found in injected.user_message(str(record["text"]), line, timestamp(record.get("ts"))):
            if session not in started:
                started.add(session)
                found = found.noting({"session": {"id": session, "harness": NAME, "partial": True}})
            yield Turn(session, found)

    yield from each_record(json_lines(path, source), handle, source)
