"""In: a store, the clock, the settings. Out: what has had its time moved to `archive/`, and cold threads compressed there.

To the archive go what was replaced, tasks that are done, and what matters little and was not said again (an event whose
session has its own page; what was judged wrong). Instructions, open tasks, what a person stated, open questions and what is pinned
(`pinned: true` in a topic's front matter, `#pinned` in a line) stay. A thread is cold when it was organized long ago
and has not grown since; its events read as before.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from memoryfs import ledger, usage
from memoryfs import thread as threads
from memoryfs.config import Config
from memoryfs.edits.archive import archive
from memoryfs.edits.load import load_topics
from memoryfs.errors import ChangedMeanwhileError, MemoryfsError, ReadOnlyError
from memoryfs.files import is_episode
from memoryfs.model import Memory, Problem
from memoryfs.textfile import read_file, write_atomic
from memoryfs.topic import Topic
from organizer.shelf import DONE

MATTERS = 0.4  # importance (`memoryfs.usage`) from which nothing fades by age alone
LEVEL = 10  # of zstd
STAMP = ".memoryfs/aged.json"


@dataclass(frozen=True, slots=True)
class Aged:
    """What one run moved: memories archived (id, why), threads compressed, and what could not be."""

    archived: tuple[tuple[str, str], ...] = ()
    compressed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def age(root: Path, config: Config, entries: Sequence[ledger.Entry], *, now: datetime) -> Aged:
    """One pass over the store, once a day. A file that cannot be edited now is a problem, and waits for the next day. Raises
    ReadOnlyError."""
    if not _anything_old(entries, config, now.date()) or _stamp(root) == now.date().isoformat():
        return Aged()
    archived: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for path, ids in due(load_topics(root, config), entries, config, today=now.date()).items():
        try:
            archived += [(c.id, c.detail) for c in archive(root, config, path, ids, now=now)]
        except ReadOnlyError:
            raise
        except MemoryfsError as error:
            problems.append(Problem(path, f"nothing archived: {error.message}", error.remedy, severity="warning"))
    compressed = tuple(name for name in cold(root, entries, config, now=now) if compress(root, name))
    write_atomic(root / STAMP, json.dumps({"day": now.date().isoformat()}).encode())
    return Aged(tuple(archived), compressed, tuple(problems))


def _anything_old(entries: Sequence[ledger.Entry], config: Config, today: date) -> bool:
    """Whether the store is old enough for anything to be due: ages count from when it was learned here."""
    limits = config.organize
    shortest = min((n for n in (limits.archive_after_days, limits.fade_after_days, limits.cold_after_days) if n > 0), default=0)
    return any(_older(e.time, shortest, today) for e in entries)


def _stamp(root: Path) -> str:
    try:
        return str(json.loads((root / STAMP).read_bytes())["day"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def due(
    topics: Mapping[str, Topic], entries: Iterable[ledger.Entry], config: Config, *, today: date
) -> dict[str, dict[str, str]]:
    """By topic, the memories that have had their time, each with why. Pure. Ages count from what the ledger last recorded of
    a memory, so that an old transcript that is imported today is not archived today."""
    entries = list(entries)
    given = ledger.judgements(entries)
    touched = {e.id: e.time[:10] for e in entries if e.id and e.action != "stale"}
    asked = {id for topic in topics.values() for review in topic.reviews for id in review.memory_ids}
    out: dict[str, dict[str, str]] = {}
    for path, topic in sorted(topics.items()):
        if is_episode(path) or not topic.writable or pinned(topic):
            continue
        for memory in topic.memories:
            if memory.id in asked or not memory.metadata.get("adopted", True) or "#pinned" in memory.summary.split():
                continue
            why = _why(memory, touched.get(memory.id, ""), given.get(memory.id, ()), config, today)
            if why:
                out.setdefault(path, {})[memory.id] = why
    return out


def pinned(topic: Topic) -> bool:
    """Whether the topic's front matter says `pinned: true`."""
    return str(topic.meta.get("pinned") or "").strip().casefold() in ("true", "yes", "on", "1")


def _why(memory: Memory, touched: str, given: Sequence[str], config: Config, today: date) -> str:
    limits = config.organize
    if memory.status == "superseded":
        return f"superseded since {touched}" if _older(touched, limits.archive_after_days, today) else ""
    if memory.status != "active" or memory.kind == "instruction":
        return ""
    if memory.kind == "task":
        return f"done since {touched}" if memory.done and _older(touched, limits.archive_after_days, today) else ""
    if memory.stated_by != "organizer" or usage.importance(memory, given) >= MATTERS:
        return ""
    return f"not said again since {touched}" if _older(touched, limits.fade_after_days, today) else ""


def _older(day: str, limit: int, today: date) -> bool:
    """Whether an ISO 8601 date lies more than `limit` days back; a limit of 0 means never."""
    with contextlib.suppress(ValueError):
        return limit > 0 and (today - date.fromisoformat(day[:10])).days > limit
    return False


def cold(root: Path, entries: Iterable[ledger.Entry], config: Config, *, now: datetime) -> list[str]:
    """The threads that were organized to their end longer than `cold_after_days` ago and stand uncompressed."""
    last: dict[str, tuple[str, object]] = {}
    for entry in entries:
        if entry.action == DONE and isinstance(entry.extra.get("thread"), str):
            last[str(entry.extra["thread"])] = (entry.time, entry.extra.get("bytes"))
    found = []
    for name, (time, size) in sorted(last.items()):
        if not threads.is_thread_name(name) or not _older(time, config.organize.cold_after_days, now.date()):
            continue
        with contextlib.suppress(OSError):  # no live file: compressed before, or gone
            if os.stat(threads.live_path(root, name)).st_size == size:
                found.append(name)
    return found


def compress(root: Path, thread: str) -> bool:
    """Writes the thread to `archive/threads/…jsonl.zst`, reads it back, and only if it is the same takes the live file away;
    False if it changed meanwhile. Raises ReadOnlyError."""
    import zstandard

    live = threads.live_path(root, thread)
    relative = live.relative_to(root / threads.FOLDER)
    target = root / threads.ARCHIVE / threads.FOLDER / relative.with_name(f"{relative.name}.zst")
    try:
        file = read_file(live)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, zstandard.ZstdCompressor(level=LEVEL).compress(file.data))
        same = b"".join(threads.raw_lines(target)) == file.data and read_file(live).digest == file.digest
        if not same:
            target.unlink()
            return False
        live.unlink()
    except ChangedMeanwhileError:
        return False
    except OSError as error:
        raise ReadOnlyError(str(error.filename or live), error.strerror or str(error)) from error
    for folder in (live.parent, live.parent.parent):
        with contextlib.suppress(OSError):  # other threads stand there
            folder.rmdir()
    return True
