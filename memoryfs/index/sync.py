"""In: an open index and the store's files as they are now. Out: the index brought up to them, and a report.

Files are read and parsed outside of any transaction; each is then written in a short one. Nothing about a file is
recorded before its rows are, so a crash or an error leaves it to be read again.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoryfs.errors import IndexDamagedError
from memoryfs.index import memories, scan, schema, threads
from memoryfs.model import Problem

if TYPE_CHECKING:
    from memoryfs.index.core import Index


@dataclass(frozen=True)
class SyncReport:
    """What one pass did, in files, and what stands in the way; `seconds` of wall time."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "added": self.added, "changed": self.changed, "removed": self.removed, "unchanged": self.unchanged,
            "problems": [p.to_dict() for p in self.problems], "notices": list(self.notices),
            "seconds": round(self.seconds, 3),
        }


def run(index: Index, *, seconds: float | None = None) -> SyncReport:
    """One pass. A store that cannot be written is served from memory if anything changed."""
    begun = time.perf_counter()
    seen, found = scan.walk(index.root, index.config)
    known = index.known_files()
    todo = sorted(s for path, s in seen.items() if not scan.settled(s, known.get(path)))
    gone = [k for path, k in known.items() if path not in seen]
    problems = list(found)
    counts = {"added": 0, "changed": 0}
    if (todo or gone) and not index.writable:
        changed = [s for s in todo if s.path not in known or _differs(index, s, known[s.path])]
        if changed or gone:
            index.serve_from_memory("the store is read-only and has changed")
            return run(index, seconds=seconds)
        todo = []
    for path in gone:
        _remove(index, path.path, path.kind)
    failed: set[str] = set()
    if seconds is not None:
        todo.sort(key=lambda file: file.kind == "thread")
    for file in todo:
        if seconds is not None and time.perf_counter() - begun > seconds:
            index.notice("The index is not up to date yet; the next call goes on.")
            break
        before = known.get(file.path)
        try:
            if before is not None and not before.error.startswith("!") and not _differs(index, file, before):
                problems.extend(noted(before))
                continue
            notes = _read(index, file, before)
        except OSError as error:
            failed.add(file.path)
            problems.append(_failure(index, file, error))
            continue
        problems.extend(notes)
        counts["changed" if before else "added"] += 1
    read = {file.path for file in todo}
    for path, old in known.items():
        if old.error and path in seen and path not in read:
            problems.extend(noted(old))
    return SyncReport(
        **counts, removed=len(gone), unchanged=len(seen) - sum(counts.values()) - len(failed),
        problems=tuple(problems), seconds=time.perf_counter() - begun,
    )


def noted(known: scan.Known) -> list[Problem]:
    try:
        return [Problem(**p) for p in json.loads(known.error.lstrip("!"))] if known.error else []
    except (ValueError, TypeError) as error:
        raise IndexDamagedError(f"what was noted of {known.path} cannot be read") from error


def _differs(index: Index, file: scan.Seen, before: scan.Known) -> bool:
    """Whether the bytes are others than those indexed; if not, the new times are noted."""
    if file.size == before.size or file.kind == "topic":
        now = time.time_ns()
        limit = before.done if file.kind == "thread" else None
        digest, size = scan.digest(index.root / file.path, limit)
        if digest == before.digest and file.size == before.size and (limit is None or size == limit):
            if (index.writable and (file.mtime_ns, file.ctime_ns) != (before.mtime_ns, before.ctime_ns)) or (
                index.writable and now - before.synced_ns > scan.RACY_NS
            ):
                index.db.execute(
                    "UPDATE files SET mtime_ns = ?, ctime_ns = ?, synced_ns = ? WHERE path = ?",
                    (file.mtime_ns, file.ctime_ns, now, file.path),
                )
            return False
    return True


def _read(index: Index, file: scan.Seen, before: scan.Known | None) -> tuple[Problem, ...]:
    now = time.time_ns()
    if file.kind == "thread":
        return threads.sync_thread(index.db, index.root, file, before, now)
    from memoryfs.textfile import read_file
    from memoryfs.topic import parse

    data = read_file(index.root / file.path).data
    topic = parse(data, file.path)
    rows = memories.rows_of(topic)
    from hashlib import md5

    digest = md5(data, usedforsecurity=False).hexdigest()
    error = json.dumps([p.to_dict() for p in topic.problems]) if topic.problems else ""
    db = index.db
    with schema.transaction(db):
        places = memories.replace(db, file.path, rows)
        db.execute(
            "INSERT OR REPLACE INTO files VALUES(?, 'topic', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (file.path, len(data), file.mtime_ns, file.ctime_ns, digest, now, len(data), error, len(rows), places),
        )
    return topic.problems


def _remove(index: Index, path: str, kind: str) -> None:
    db = index.db
    with schema.transaction(db):
        if kind == "thread":
            if db.execute("SELECT 1 FROM threads WHERE name = ? AND path = ?", (scan.thread_of(path), path)).fetchall():
                threads.drop(db, scan.thread_of(path))
        else:
            memories.drop(db, path)
        db.execute("DELETE FROM files WHERE path = ?", (path,))


def _failure(index: Index, file: scan.Seen, error: OSError) -> Problem:
    problem = Problem(file.path, f"cannot be read: {error.strerror or error}", "It is tried again at the next use.")
    if index.writable:
        index.db.execute(
            "INSERT INTO files VALUES(?, ?, -1, 0, 0, '', ?, 0, ?, 0, 0) ON CONFLICT(path) DO UPDATE SET "
            "size = -1, mtime_ns = 0, ctime_ns = 0, synced_ns = excluded.synced_ns, error = excluded.error",
            (file.path, file.kind, time.time_ns(), "!" + json.dumps([problem.to_dict()])),
        )
    return problem
