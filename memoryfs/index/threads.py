"""In: a thread file, and the columns of what is indexed of it. Out: its new events' units, written in short transactions."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from hashlib import md5, sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING

from memoryfs.index.scan import Known, Seen, thread_of
from memoryfs.index.schema import transaction
from memoryfs.index.units import SHIFT, ThreadMap
from memoryfs.model import Problem
from memoryfs.text import index_terms
from memoryfs.thread import decode_event

if TYPE_CHECKING:
    import apsw

_NUMBERS = 1 << 35  # a vector's key, the thread's, the unit's and the passage's number together, stays below 2^63
BATCH_UNITS = 4000  # a transaction holds about this many documents: well under a second


def drop(db: apsw.Connection, name: str) -> None:
    """Remove a thread's rows, that of its file too; inside the caller's transaction."""
    row = db.execute("SELECT number, units, path FROM threads WHERE name = ?", (name,)).fetchall()
    if not row:
        return
    number, units, path = row[0]
    documents = [(number << SHIFT | unit,) for unit in range(units)]
    db.executemany("DELETE FROM terms WHERE rowid = ?", documents)
    if has_table(db, "vectors"):
        db.executemany("INSERT OR IGNORE INTO stale VALUES(?)", documents)
    db.execute("DELETE FROM threads WHERE number = ?", (number,))
    db.execute("DELETE FROM files WHERE path = ?", (path,))


def _number(db: apsw.Connection, name: str) -> int:
    """The thread's number: from its name, so that an index made anew ranks equals in the same order as one that grew."""
    number = int.from_bytes(sha256(name.encode()).digest()[:8]) % _NUMBERS + 1
    while db.execute("SELECT 1 FROM threads WHERE number = ?", (number,)).fetchall():
        number = number % _NUMBERS + 1
    return number


def has_table(db: apsw.Connection, name: str) -> bool:
    return bool(db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).fetchall())


def load(db: apsw.Connection, name: str) -> ThreadMap | None:
    rows = db.execute("SELECT number, name, path, names, packed FROM threads WHERE name = ?", (name,)).fetchall()
    return ThreadMap.unpack(*rows[0]) if rows else None


def _open(path: Path) -> IO[bytes]:
    if path.suffix != ".zst":
        return open(path, "rb")
    import zstandard

    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(open(path, "rb"), closefd=True))


def _lines(file: IO[bytes], offset: int) -> Iterator[tuple[int, bytes]]:
    for line in file:
        yield offset, line
        offset += len(line)


def sync_thread(db: apsw.Connection, root: Path, seen: Seen, known: Known | None, now_ns: int) -> tuple[Problem, ...]:
    """Index what the file holds beyond `known`; all of it anew if its beginning changed. Raises OSError."""
    path = root / seen.path
    name = thread_of(seen.path)
    with _open(path) as file:
        thread = load(db, name)
        hasher = md5(usedforsecurity=False)
        done = 0
        if thread is not None and known is not None and known.done and thread.path == seen.path:
            left = known.done
            while left and (block := file.read(min(left, 1 << 20))):
                hasher.update(block)
                left -= len(block)
            if not left and hasher.hexdigest() == known.digest:
                done = known.done
            else:
                hasher = md5(usedforsecurity=False)
                file.seek(0)
        start_over = done == 0
        if thread is None or start_over:
            with transaction(db):
                drop(db, name)
                number = _number(db, name)
                db.execute(
                    "INSERT INTO threads VALUES(?, ?, ?, 0, 0, 0, 0, '[\"\"]', ?)",
                    (number, name, seen.path, ThreadMap(number, name, seen.path).pack()),
                )
                db.execute("DELETE FROM files WHERE path = ?", (seen.path,))
            thread = ThreadMap(number, name, seen.path)
        problems: list[Problem] = []
        rows: list[tuple[int, str]] = []
        before = len(thread.index)
        for offset, line in _lines(file, done):
            event = decode_event(line) if line.strip() else None
            if event is None and not line.endswith(b"\n"):
                break  # still being written; the next sync reads it
            hasher.update(line)
            done = offset + len(line)
            if event is None:
                if line.strip():
                    message = "not an event (torn or foreign line)"
                    problems.append(Problem(seen.path, message, "The other events are read.", severity="warning"))
                continue
            if not isinstance(event.text, str) or not isinstance(event.index, int) or event.index < 0:
                continue
            rows.extend(thread.add(event.to_dict(), offset, index_terms))
            if len(rows) >= BATCH_UNITS:
                if not _write(db, thread, rows, before, seen, hasher.hexdigest(), done, now_ns, False, problems):
                    return tuple(problems)
                rows, before = [], len(thread.index)
        _write(db, thread, rows, before, seen, hasher.hexdigest(), done, now_ns, True, problems)
    return tuple(problems)


def _write(
    db: apsw.Connection, thread: ThreadMap, rows: list[tuple[int, str]], before: int, seen: Seen, digest: str, done: int,
    now_ns: int, final: bool, problems: list[Problem],
) -> bool:
    """One batch: documents, columns and the file's state together. False if another process was faster."""
    with transaction(db):
        state = db.execute("SELECT events FROM threads WHERE number = ?", (thread.number,)).fetchall()
        if not state or state[0][0] != before:
            return False  # and nothing is written
        db.executemany("INSERT INTO terms(rowid, body) VALUES(?, ?)", rows)
        db.execute(
            "UPDATE threads SET events = ?, units = ?, total_terms = ?, names = ?, packed = ? WHERE number = ?",
            (len(thread.index), len(thread), thread.total_terms, json.dumps(thread.names), thread.pack(), thread.number),
        )
        size = seen.size if final else -1
        db.execute(
            "INSERT OR REPLACE INTO files VALUES(?, 'thread', ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (seen.path, size, seen.mtime_ns, seen.ctime_ns, digest, now_ns, done,
             json.dumps([p.to_dict() for p in problems]) if problems else "", len(thread)),
        )
    return True


