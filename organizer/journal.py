"""In: the plan of one session, before it is written. Out: a file from which a killed run is completed by the next one.

`.memoryfs/journal.json` holds one session's plan while it is carried out. Carrying a plan out twice writes nothing the
second time, so the next run simply does it again. A journal that cannot be read was torn before anything was written
(it is replaced atomically) and is dropped: its session is then organized anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memoryfs import ledger
from memoryfs.model import Memory, SourceRange
from memoryfs.textfile import STATE, write_atomic
from organizer.apply import Plan, Question, Replaced, SeenAgain, TopicPlan
from organizer.split import Part

FILE = "journal.json"
VERSION = 4


@dataclass(frozen=True, slots=True)
class Page:
    """An episode page to write: `expect` is the digest of the page it replaces ("" for a new one)."""

    path: str
    text: str
    expect: str


@dataclass(frozen=True, slots=True)
class Work:
    """Everything one session will write: the plan, its episode page, and that `events` events (`size` bytes) are done.
    `thread` is empty for work that no session gave: a person's answers in the inbox, topics to split (`parts`)."""

    thread: str
    events: int
    size: int
    start: int
    time: str
    plan: Plan
    page: Page | None = None
    parts: tuple[Part, ...] = ()


def path_of(root: Path) -> Path:
    return root / STATE / FILE


def begin(root: Path, work: Work) -> None:
    """Keep what is about to be written."""
    data = {"version": VERSION, **asdict(work)}
    for part in ("entries", "settled", "waiting"):
        data["plan"][part] = [e.to_dict() for e in getattr(work.plan, part)]
    for topic in data["plan"]["topics"]:
        for memory in topic["added"]:
            memory["metadata"] = dict(memory["metadata"])
    write_atomic(path_of(root), json.dumps(data, ensure_ascii=True).encode())


def end(root: Path) -> None:
    """The work is done; forget it."""
    path_of(root).unlink(missing_ok=True)


def pending(root: Path) -> Work | None:
    """The work that a killed run left, or None."""
    try:
        data = json.loads(path_of(root).read_bytes())
        return _work(data) if data.get("version") == VERSION else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _range(data: Mapping[str, Any]) -> SourceRange:
    return SourceRange(data["thread"], data["start"], data["end"])


def _memory(data: Mapping[str, Any]) -> Memory:
    fields = dict(data)
    fields["source_range"] = tuple(_range(r) for r in data["source_range"])
    fields["query_hints"] = tuple(data["query_hints"])
    if "labels" in data["metadata"]:
        fields["metadata"] = {**data["metadata"], "labels": tuple(data["metadata"]["labels"])}
    return Memory(**fields)


def _work(data: Mapping[str, Any]) -> Work:
    plan = data["plan"]
    topics = tuple(
        TopicPlan(
            t["path"], t["title"], t["new"], t["repo"], tuple(t["files"]), t["created"], tuple(t["terms"]),
            tuple(map(_memory, t["added"])),
            tuple(Replaced(**r) for r in t["replaced"]),
            tuple(SeenAgain(s["id"], _range(s["source"]), s["date"], tuple(s["hints"]), s["quote"]) for s in t["seen"]),
            tuple(Question(q["id"], q["text"], tuple(q["memories"])) for q in t["questions"]),
        )
        for t in plan["topics"]
    )
    entries, settled, waiting = (
        tuple(e for e in (ledger.decode(json.dumps(line)) for line in plan[part]) if e is not None)
        for part in ("entries", "settled", "waiting")
    )
    page = Page(**data["page"]) if data["page"] else None
    return Work(
        data["thread"], data["events"], data["size"], data["start"], data["time"],
        Plan(topics, entries, settled, waiting), page,
        tuple(Part(**{**p, "ids": tuple(p["ids"])}) for p in data["parts"]),
    )
