"""In: nothing. Out: the nouns that every stage passes on, as frozen dataclasses.

Offsets count Unicode code points in an event's text; indexes and physical lines count from 0; ranges are
inclusive at both ends; times are RFC 3339 text, dates ISO 8601 text, or None where nothing is known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoryfs.patterns import lazy

MEMORY_KINDS = ("fact", "event", "instruction", "task")
STATUSES = ("active", "superseded", "archived", "conflicted", "withdrawn")
CURRENT = ("active", "conflicted")  # the statuses of what holds now

EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Problem:
    """Trouble with one file or session, as data: it costs only itself and is named.

    `line` and `column` count from 1, as editors show them; 0 where unknown.
    """

    path: str
    message: str
    remedy: str = ""
    line: int = 0
    column: int = 0
    severity: str = "error"  # error: not (wholly) read; warning: read, but someone should look

    def to_dict(self) -> dict[str, Any]:
        out = {"path": self.path, "message": self.message, "severity": self.severity}
        if self.remedy:
            out["remedy"] = self.remedy
        if self.line:
            out["line"] = self.line
        if self.column:
            out["column"] = self.column
        return out


def event_id(thread: str, role: str, text: str) -> str:
    """The first 128 bits of SHA-256 over thread, role and text, as 32 hex digits; equal messages share it."""
    data = "\0".join((thread, role, text)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a thread; (thread, index) is its key.

    `role` is user, assistant, tool or system; `kind` is message, tool_call, tool_result or file_edit.
    `text` consists only of verbatim pieces of the transcript. Where it was put together from several
    (the arguments of a tool call), `metadata["parts"]` holds their [start, end) offsets and evidence never
    crosses them. `metadata["skip"]` names why an event stays out of search and extraction
    (thinking, injected, encrypted, recalled, command).
    """

    thread: str
    index: int
    id: str
    role: str
    kind: str
    time: str | None
    text: str
    source: str
    line: int
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "thread": self.thread, "index": self.index, "id": self.id, "role": self.role, "kind": self.kind,
            "time": self.time, "text": self.text, "source": self.source, "line": self.line,
            "metadata": dict(self.metadata),
        }


_RANGE = lazy(r"^(?P<thread>[0-9a-z][0-9a-z~-]*):(?P<start>\d+)(?:-(?P<end>\d+))?$")


@dataclass(frozen=True, slots=True, order=True)
class SourceRange:
    """Events `start` to `end`, both included, of one thread."""

    thread: str
    start: int
    end: int

    @property
    def short(self) -> str:
        """The thread's hash without its date, as used in footnote labels: `3f9a21`, or `3f9a21~2` for a branch."""
        return short_thread(self.thread)

    @property
    def label(self) -> str:
        """The footnote label, `3f9a21:128-146` (one event: `3f9a21:128`)."""
        return f"{self.short}:{self.start}" + (f"-{self.end}" if self.end != self.start else "")

    def to_dict(self) -> dict[str, Any]:
        return {"thread": self.thread, "start": self.start, "end": self.end}

    @classmethod
    def parse(cls, text: str) -> SourceRange | None:
        """`THREAD:A-B` or `THREAD:A`; None if it is neither."""
        match = _RANGE.match(text.strip())
        if not match:
            return None
        start = int(match["start"])
        end = int(match["end"]) if match["end"] else start
        return cls(match["thread"], min(start, end), max(start, end))


def short_thread(thread: str) -> str:
    """The part of a thread's name after its date: its hash, with the branch mark if it has one."""
    return re.sub(r"^(?:\d{4}-\d{2}-\d{2}|undated)-", "", thread)


@dataclass(frozen=True, slots=True)
class Memory:
    """One list item of a topic file. `line` counts from 1; `summary` is the item's text without ids and footnotes."""

    id: str
    summary: str
    kind: str
    status: str
    topic: str
    line: int
    source_range: tuple[SourceRange, ...] = ()
    stated_by: str = "organizer"  # person | agent | organizer
    date: str | None = None
    query_hints: tuple[str, ...] = ()
    quote: str = ""
    superseded_by: str | None = None
    done: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def from_person(self) -> bool:
        """Whether a person wrote it, or the user of its session said it."""
        return self.stated_by == "person" or self.metadata.get("role") == "user"

    @property
    def said_by(self) -> str:
        """Whose words it is: person (written in the file), user, agent (`remember`), or assistant."""
        if self.stated_by in ("person", "agent"):
            return self.stated_by
        return "user" if self.from_person else "assistant"

    def to_dict(self) -> dict[str, Any]:
        """What every JSON answer says of a memory (DESIGN §8)."""
        return {
            "id": self.id, "summary": self.summary, "kind": self.kind, "status": self.status, "topic": self.topic,
            "line": self.line, "source_range": [r.to_dict() for r in self.source_range],
        } | ({"stale": self.metadata["stale"]} if self.metadata.get("stale") else {})


@dataclass(frozen=True, slots=True)
class Breadcrumb:
    """A memory as recall returns it: its place, its score and why it ranks there."""

    memory: Memory
    score: float
    why: Mapping[str, Any]
    scope: int = 0
    store: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)  # a recall about a file: how it is concerned, the age, whether it changed since

    def to_dict(self) -> dict[str, Any]:
        out = self.memory.to_dict() | {"score": round(self.score, 6), "why": dict(self.why), "scope": self.scope}
        if self.memory.superseded_by:
            out["superseded_by"] = self.memory.superseded_by
        if self.memory.metadata.get("branch"):
            out["branch"] = self.memory.metadata["branch"]
        if self.store:
            out["store"] = self.store
        if self.about:
            out["file"] = dict(self.about)
        return out


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim span of an event: `text == event.text[start:end]`, character for character."""

    thread: str
    index: int
    start: int
    end: int
    text: str
    event_id: str
    role: str
    time: str | None
    source: str
    line: int
    score: float = 0.0
    why: Mapping[str, Any] = field(default_factory=dict)
    superseded_by: str | None = None
    store: str = ""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "thread": self.thread, "index": self.index, "start": self.start, "end": self.end, "text": self.text,
            "event_id": self.event_id, "role": self.role, "time": self.time, "source": self.source, "line": self.line,
            "score": round(self.score, 6), "why": dict(self.why),
        }
        if self.superseded_by:
            out["superseded_by"] = self.superseded_by
        if self.store:
            out["store"] = self.store
        return out


@dataclass(frozen=True, slots=True)
class Inserted:
    """An exact value of an answer as it stands in the evidence `number`: characters `start` to `end` of the event's text,
    or, where `of` is "time", of its time."""

    text: str
    number: int
    thread: str
    index: int
    start: int
    end: int
    of: str = "text"

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text, "evidence": self.number, "thread": self.thread, "index": self.index, "start": self.start,
            "end": self.end, "of": self.of,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """One sentence that a model wrote from evidence. `[n]` in it, and `citations`, count `Recall.evidence` from 1."""

    text: str
    citations: tuple[int, ...]
    values: tuple[Inserted, ...]
    model: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text, "citations": list(self.citations), "values": [v.to_dict() for v in self.values],
            "model": self.model,
        }


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer of recall. `notices` say what did not work (vectors off, index behind), never silently."""

    query: str
    decision: str  # summary_ok | exact_value_needed | ambiguous
    level: int
    abstained: bool
    tokens: int
    memories: tuple[Breadcrumb, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    file: Mapping[str, Any] = field(default_factory=dict)  # the file that was asked about: `path`, `exists`
    answer: Answer | None = None  # only where one was asked for and passed its checks

    def to_dict(self) -> dict[str, Any]:
        return ({"file": dict(self.file)} if self.file else {}) | ({"answer": self.answer.to_dict()} if self.answer else {}) | {
            "query": self.query, "decision": self.decision, "level": self.level, "abstained": self.abstained,
            "tokens": self.tokens, "memories": [m.to_dict() for m in self.memories],
            "evidence": [e.to_dict() for e in self.evidence], "notices": list(self.notices),
            "problems": [p.to_dict() for p in self.problems],
        }
