"""In: topic files. Out: of each, the little that a briefing may say, kept in `.memoryfs/brief-topics.json` until the file changes.

With it one remembered line costs the parse of one file, not of the whole store. Derived and disposable.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs.config import Config
from memoryfs.errors import ReadOnlyError
from memoryfs.files import Scan, TopicFile, scan
from memoryfs.model import CURRENT

if TYPE_CHECKING:
    from memoryfs.topic import Topic

FILE = ".memoryfs/brief-topics.json"
VERSION = 2  # of what is kept; raise it when the parser or this module reads more
MAX_RECENT = 12  # facts and events kept of one topic; no briefing shows more of all topics together


@dataclass(frozen=True, slots=True)
class Said:
    """One memory. `person`: a person or the session's user said it; `told`: it was remembered, not extracted. `changed` and
    `recheck`: since when it is stale, or will be (`memoryfs.staleness`); "" for neither."""

    id: str
    summary: str
    kind: str
    conflicted: bool
    person: bool
    told: bool
    date: str
    line: int
    importance: float
    changed: str = ""
    recheck: str = ""


@dataclass(frozen=True, slots=True)
class Gist:
    """One topic. `day` is the newest date in it, `created` its own; `reviews` are the open ones, (id, text)."""

    path: str
    title: str
    about: str
    status: str
    importance: float
    day: str
    created: str
    memories: tuple[Said, ...]
    reviews: tuple[tuple[str, str], ...]


def day_of(value: Any) -> str:
    """The ISO 8601 date at the start of `value`; "" if there is none."""
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        return ""


def gist_of(topic: Topic) -> Gist:
    """What a briefing may say of `topic`: its line, instructions a person said, open tasks, its newest facts and events."""
    current = [m for m in topic.memories if m.status in CURRENT and m.summary.strip()]
    said = [
        Said(
            m.id, m.summary, m.kind, m.status == "conflicted", m.from_person, m.stated_by in ("person", "agent"),
            day_of(m.date), m.line, topic.importance, day_of(m.metadata.get("source_changed")), day_of(m.metadata.get("recheck")),
        )
        for m in current
        if not m.done
    ]
    recent = sorted((s for s in said if s.kind in ("fact", "event") and s.date), key=lambda s: (s.date, s.told, s.line))
    kept = {s.id for s in recent[-MAX_RECENT:]}
    days = [day_of(topic.meta.get("updated_at")), day_of(topic.meta.get("created_at")), *(day_of(m.date) for m in topic.memories)]
    return Gist(
        topic.path, topic.title or topic.path.rpartition("/")[2].removesuffix(".md"),
        topic.summary or next((m.summary for m in current if m.kind != "instruction"), ""),
        topic.status, topic.importance, max(days), day_of(topic.meta.get("created_at")),
        tuple(s for s in said if s.id in kept or s.kind == "task" or (s.kind == "instruction" and s.person)),
        tuple((r.id, r.text) for r in topic.reviews if not r.ticked),
    )


def _from_row(row: Any, file: TopicFile) -> Gist | None:
    """The kept gist, if the file still is as it was; None too for a row that is not one of ours."""
    try:
        status, (*head, memories, reviews) = row
        if tuple(status) != file.stat:
            return None
        return Gist(*head, tuple(Said(*said) for said in memories), tuple((id, text) for id, text in reviews))
    except (TypeError, ValueError):
        return None


def _read(root: Path) -> Mapping[str, Any]:
    try:
        data = json.loads((root / FILE).read_bytes())
        topics = data["topics"] if data["version"] == VERSION else {}
        return topics if isinstance(topics, dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def read_gists(root: Path, config: Config) -> tuple[list[Gist], Scan]:
    """The gist of every topic file that can be read, and the walk; only files that changed are parsed."""
    started = time.time_ns()
    found = scan(root, config)
    kept = _read(root)
    gists: list[Gist] = []
    rows: dict[str, Any] = {}
    for file in found.files:
        row = kept.get(file.path)
        gist = _from_row(row, file)
        if gist is None:
            row, gist = None, _parse(root, file.path)
        if gist is None:
            continue
        gists.append(gist)
        if not file.changed_about(started):
            rows[file.path] = row or [list(file.stat), astuple(gist)]
    if rows != kept:
        _write(root, rows)
    return gists, found


def _parse(root: Path, path: str) -> Gist | None:
    from memoryfs.textfile import read_file
    from memoryfs.topic import parse

    try:
        data = read_file(root / path).data
    except OSError:  # named by the walk or by `doctor`; a briefing goes on without it
        return None
    return gist_of(parse(data, path))


def _write(root: Path, rows: Mapping[str, Any]) -> None:
    from memoryfs.textfile import write_atomic

    text = json.dumps({"version": VERSION, "topics": rows})
    with contextlib.suppress(ReadOnlyError):  # without it the next briefing parses every file again
        write_atomic(root / FILE, text.encode("utf-8"))
