"""In: a Claude Code session (`~/.claude/projects/…/*.jsonl`). Out: its turns, side chains as sessions of
their own.

Thinking is kept but skipped; signatures, progress of shell commands, file snapshots and copies of tool output
(`toolUseResult`) are not kept. A prompt that was queued and then slipped into a running turn has no record
of its own: it is taken from the queue when it leaves it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
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

NAME = "claude-code"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REFUSED = re.compile(r"\AThe user doesn't want to (?:proceed with this tool use|take this action right now)")
_SAID = re.compile(r"(?:the user said|user provided the following reason[^:]*):\n")
_ANSWERED = re.compile(
    r"\AUser has answered your questions?: (?P<answer>\".*\")\. You can now continue", re.S
)
_TYPES = {
    "user",
    "assistant",
    "summary",
    "system",
    "progress",
    "file-history-snapshot",
    "queue-operation",
    "attachment",
}
QUEUE_MEMORY = 64


def sniff(records: list[dict[str, Any]]) -> bool:
    """Whether the first records are those of a Claude Code session."""
    return any(
        r.get("type") in _TYPES
        and ("sessionId" in r or "leafUuid" in r or "snapshot" in r or "parentUuid" in r)
        for r in records
    )


@dataclass
class _Chain:
    """What is known so far about one thread: the session, or one of its side chains."""

    key: str
    started: bool = False
    cwd: str = ""
    branch: str = ""
    model: str = ""
    calls: dict[str, tuple[str, bool]] = field(default_factory=dict)


class _Reader:
    def __init__(self, path: Path) -> None:
        stem = path.stem.lower()
        self.session = stem if _UUID.fullmatch(stem) else ""
        self.early: list[EventDraft] = []  # what stands before the first record that names the session
        self.chains: dict[str, _Chain] = {}
        self.roots: dict[str, str] = {}
        self.queue: deque[tuple[str, int, str | None]] = deque()
        self.said: deque[str] = deque(maxlen=QUEUE_MEMORY)

    def handle(self, line: int, record: dict[str, Any]) -> Iterator[Item]:
        if not self.session and isinstance(record.get("sessionId"), str):
            self.session = record["sessionId"]
        drafts = list(self._drafts(line, record))
        if not self.session:
            self.early.extend(d for _, d in drafts)
            return
        drafts = [("", d) for d in self.early] + drafts
        self.early = []
        for side, found in drafts:
            yield self._turn(side, found, record)

    def rest(self) -> Iterator[Item]:
        for found in self.early:
            yield Turn("", found)

    def _turn(self, side: str, found: EventDraft, record: dict[str, Any]) -> Turn:
        chain = self._chain(side)
        extra = self._changes(chain, record)
        if not chain.started:
            chain.started = True
            known = {
                "id": chain.key,
                "harness": NAME,
                "cwd": chain.cwd,
                "branch": chain.branch,
                "version": record.get("version"),
            }
            if side:
                known |= {"parent": self.session}
                if record.get("type") == "progress":
                    known["partial"] = True
            extra = {"session": {k: v for k, v in known.items() if v}}
            model = (
                (record.get("message") or {}).get("model")
                if isinstance(record.get("message"), dict)
                else None
            )
            if model:
                extra["session"]["model"] = chain.model = model
        return Turn(chain.key, found.noting(extra) if extra else found)

    def _chain(self, side: str) -> _Chain:
        if side not in self.chains:
            self.chains[side] = _Chain(f"{self.session}/{side}" if side else self.session)
        return self.chains[side]

    @staticmethod
    def _changes(chain: _Chain, record: dict[str, Any]) -> dict[str, Any]:
        """Folder, branch and model where they differ from the thread's last event."""
        message = record.get("message")
        now = {
            "cwd": record.get("cwd"),
            "branch": record.get("gitBranch"),
            "model": message.get("model") if isinstance(message, dict) else None,
        }
        changed = {}
        for key, value in now.items():
            if isinstance(value, str) and value and value != "<synthetic>" and value != getattr(chain, key):
                setattr(chain, key, value)
                changed[key] = value
        return changed

    def _side(self, record: dict[str, Any]) -> str:
        agent = record.get("agentId")
        if (
            isinstance(agent, str)
            and agent
            and (record.get("isSidechain") or record.get("type") == "progress")
        ):
            return agent
        if not record.get("isSidechain"):
            return ""
        uuid, parent = str(record.get("uuid") or ""), str(record.get("parentUuid") or "")
        root = self.roots.get(parent, uuid or "side")
        self.roots[uuid] = root
        return root

    def _drafts(self, line: int, record: dict[str, Any]) -> Iterator[tuple[str, EventDraft]]:
        kind, time = record.get("type"), timestamp(record.get("timestamp"))
        if kind in ("user", "assistant"):
            side = self._side(record)
            for found in self._message(self._chain(side), line, time, record, record["message"], bool(side)):
                yield side, found
        elif kind == "progress":
            data = record.get("data") or {}
            if data.get("type") == "agent_progress" and isinstance(data.get("message"), dict):
                inner = data["message"]
                side = self._side(
                    {"type": "progress", "agentId": data.get("agentId") or record.get("parentToolUseID")}
                )
                when = timestamp(inner.get("timestamp")) or time
                if isinstance(inner.get("message"), dict):
                    for found in self._message(self._chain(side), line, when, inner, inner["message"], True):
                        yield side, found
        elif kind == "queue-operation":
            yield from (("", d) for d in self._queued(line, time, record))
        elif kind == "attachment":
            note = record.get("attachment") or {}
            if note.get("type") == "queued_command":
                prompt = note.get("prompt")
                texts = (
                    [prompt]
                    if isinstance(prompt, str)
                    else [b["text"] for b in prompt or () if b.get("text")]
                )
                for text in texts:
                    yield from (("", d) for d in self._prompt(text, line, time))
        else:
            found = self._marker(line, time, record)
            if found:
                yield "", found

    def _marker(self, line: int, time: str | None, record: dict[str, Any]) -> EventDraft | None:
        kind = record.get("type")
        if kind == "summary":
            return draft(
                "system", "message", record.get("summary") or "", line, time, {"skip": injected.SUMMARY}
            )
        if kind == "system" and isinstance(record.get("content"), str):
            subtype = record.get("subtype")
            skip = {
                "compact_boundary": injected.SUMMARY,
                "microcompact_boundary": injected.SUMMARY,
                "local_command": injected.COMMAND,
            }.get(str(subtype), injected.INJECTED)
            return draft("system", "message", record["content"], line, time, {"skip": skip, "type": subtype})
        if kind == "pr-link" and isinstance(record.get("prUrl"), str):
            return draft("system", "message", record["prUrl"], line, time, {"type": "pr-link"})
        return None

    def _queued(self, line: int, time: str | None, record: dict[str, Any]) -> Iterator[EventDraft]:
        operation = record.get("operation")
        if operation == "enqueue" and isinstance(record.get("content"), str):
            self.queue.append((record["content"], line, time))
        elif operation == "popAll":
            self.queue.clear()
        elif operation in ("remove", "dequeue") and self.queue:
            text, at, when = self.queue.popleft()
            if operation == "remove":
                yield from self._prompt(text, at, when)

    def _prompt(self, text: str, line: int, time: str | None) -> Iterator[EventDraft]:
        """A queued prompt; the same text is not taken again when a record of it follows."""
        if text not in self.said:
            self.said.append(text)
            yield from injected.user_message(text, line, time, queued=True)

    def _message(
        self,
        chain: _Chain,
        line: int,
        time: str | None,
        record: dict[str, Any],
        message: dict[str, Any],
        side: bool,
    ) -> Iterator[EventDraft]:
        role, content = message.get("role") or record.get("type"), message.get("content")
        skip = None
        if record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly"):
            skip = injected.SUMMARY
        elif record.get("isMeta") or record.get("isApiErrorMessage"):
            skip = injected.INJECTED
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
            kind = block.get("type") or ""
            if kind == "text" and role == "user":
                if skip is None and block["text"] in self.said:
                    self.said.remove(block["text"])
                    continue
                # The prompt of a side chain was written by the assistant that started it.
                yield from injected.user_message(
                    block["text"], line, time, role="assistant" if side else "user", skip=skip
                )
            elif kind == "text":
                found = draft("assistant", "message", block.get("text") or "", line, time, {"skip": skip})
                if found:
                    yield found
            elif kind == "thinking":
                found = draft(
                    "assistant",
                    "message",
                    block.get("thinking") or "",
                    line,
                    time,
                    {"skip": injected.THINKING},
                )
                if found:
                    yield found
            elif kind.endswith("tool_use"):
                yield from self._call(chain, line, time, block)
            elif kind.endswith("tool_result"):
                yield from self._result(chain, line, time, block)

    def _call(
        self, chain: _Chain, line: int, time: str | None, block: dict[str, Any]
    ) -> Iterator[EventDraft]:
        name, arguments = str(block.get("name") or "tool"), block.get("input")
        own = injected.own_call(name, arguments)
        chain.calls[str(block.get("id"))] = (name, own or injected.reads_memory(name, arguments))
        found = tool_call(
            name, arguments, line, time, call=block.get("id"), skip=injected.RECALLED if own else None
        )
        if found:
            yield found

    def _result(
        self, chain: _Chain, line: int, time: str | None, block: dict[str, Any]
    ) -> Iterator[EventDraft]:
        call = block.get("tool_use_id")
        name, recalled = chain.calls.pop(str(call), ("", False))
        about = {"tool": name, "call": call, "error": True if block.get("is_error") else None}
        content = block.get("content")
        if not isinstance(content, str):
            skip = injected.RECALLED if recalled or _any_recalled(content) else None
            found = tool_result(content, line, time, **about, skip=skip)
            if found:
                yield found
            return
        answered = _ANSWERED.match(content)
        if answered:
            yield from injected.user_message(answered["answer"], line, time, answers=call)
            return
        said = _SAID.search(content) if _REFUSED.match(content) else None
        body, tail = (content[: said.end()], "") if said else injected.split_trailer(content)
        skip = injected.RECALLED if recalled or injected.is_recalled(body) else None
        if _REFUSED.match(content):
            skip, about["rejected"] = injected.INJECTED, True
        for found in (
            tool_result(body, line, time, **about, skip=skip),
            draft("system", "message", tail, line, time, {"skip": injected.INJECTED}),
        ):
            if found:
                yield found
        if said:
            yield from injected.user_message(content[said.end() :], line, time, rejects=call)


def _any_recalled(content: Any) -> bool:
    return any(injected.is_recalled(b.get("text") or "") for b in content or () if isinstance(b, dict))


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns of a session, and problems, in the order of the file."""
    reader = _Reader(path)
    yield from each_record(json_lines(path, source), reader.handle, source)
    yield from reader.rest()
