"""In: an opened store and what someone asks about: a topic, a folder of topics, a memory's id, or a question. Out: its `Audit`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs import ledger, thread
from memoryfs.audit.grounds import Audit, OpenReview, ReadEvents, audit, statement
from memoryfs.errors import MemoryfsError
from memoryfs.ledger import Entry
from memoryfs.model import CURRENT, STATUSES, Event
from memoryfs.staleness import all_marked
from memoryfs.textfile import inside, read_file
from memoryfs.topic import parse

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore
    from memoryfs.topic import Topic

K = 10  # memories that a question brings up
_ID = re.compile(r"\[{0,2}(?:[^\[\]#]*#)?\^?(m-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*)\]{0,2}\Z")


def examine(
    store: MemoryStore, subject: str, *, history: bool = False, since: str = "", k: int = K, vectors: bool = True
) -> Audit:
    """What `store` believes about `subject`; an empty `Audit` if nothing. For an id: with the context of its sources
    and its history. `since`: an ISO 8601 date. Raises UsageError for an empty question."""
    topics = store.topics()
    entries = ledger.read(store.root)[0]
    id = memory_id(subject)
    if id:
        wanted: Sequence[str] = [id]
    else:
        wanted = _of_topic(subject, topics, entries) or _of_question(store, subject, k, vectors)
    topics |= _archived(store.root, wanted, topics, entries)
    today = store.clock().date()
    topics = {path: replace(t, memories=all_marked(t.memories, today)) for path, t in topics.items()}
    return audit(
        subject, wanted, topics, entries, reader(store), context=bool(id), history=history or bool(id), since=since,
        store=str(store.root),
    )


def open_reviews(store: MemoryStore) -> tuple[OpenReview, ...]:
    """Every contradiction that waits for a person, in file order, with the grounds of its statements."""
    topics = store.topics()
    places = {memory.id: (memory, topic) for topic in topics.values() for memory in topic.memories}
    read = reader(store)
    return tuple(
        OpenReview(review, path, tuple(
            statement(*places[id], topics, (), read, context=True) for id in review.memory_ids if id in places))
        for path, topic in sorted(topics.items()) for review in topic.reviews
    )


def memory_id(subject: str) -> str:
    """The id in `^m-…`, `m-…` or `[[projects/x#^m-…]]`; "" for anything else."""
    match = _ID.match(subject.strip())
    return match[1] if match else ""


def _of_topic(subject: str, topics: Mapping[str, Topic], entries: Sequence[Entry]) -> list[str]:
    """The ids in a topic file or a folder of them, what was withdrawn from it last; [] if the subject names neither."""
    name = subject.strip().removeprefix("./").rstrip("/")
    paths = [p for p in sorted(topics) if name and (p in (name, f"{name}.md") or p.startswith(f"{name}/"))]
    if not paths:
        titled = [p for p, t in sorted(topics.items()) if t.title.casefold() == name.casefold()]
        paths = titled if len(titled) == 1 else []
    here = [memory.id for path in paths for memory in topics[path].memories]
    known = ledger.state(entries).values() if paths else ()
    left = [*paths, *(f"{thread.ARCHIVE}/{path}" for path in paths)]
    return here + [k.id for k in known if k.status in ("withdrawn", "archived") and k.topic in left]


def _archived(
    root: Path, wanted: Sequence[str], topics: Mapping[str, Topic], entries: Sequence[Entry]
) -> dict[str, Topic]:
    """The topic files of archive/ that hold what is wanted and stands nowhere else, their memories marked as archived."""
    here = {memory.id for topic in topics.values() for memory in topic.memories}
    known = ledger.state(entries)
    paths = {known[id].topic for id in wanted if id not in here and id in known and known[id].status == "archived"}
    out = {}
    for path in sorted(paths):
        try:
            topic = parse(read_file(inside(root, path)).data, path)
        except (OSError, MemoryfsError):
            continue  # it is told from the ledger alone
        out[path] = replace(topic, memories=tuple(
            replace(m, status="archived") if m.status in CURRENT else m for m in topic.memories))
    return out


def _of_question(store: MemoryStore, question: str, k: int, vectors: bool) -> list[str]:
    """The ids of the memories that match it, current or not; [] where recall abstains."""
    found = store.recall(question, k=k, level=0, status=STATUSES, vectors=vectors)
    if found.abstained:
        return []
    direct = [c for c in found.memories if {"fts", "vector"} & set(c.why)]  # not only through its topic
    return [crumb.memory.id for crumb in direct or found.memories]


def reader(store: MemoryStore) -> ReadEvents:
    """Events by thread and range, each range read once; a name that is no thread's has none."""
    read: dict[tuple[str, int, int], Sequence[Event]] = {}

    def events(name: str, start: int, end: int) -> Sequence[Event]:
        key = (name, start, end)
        if key not in read:
            full = thread.resolve(store.root, name)
            read[key] = thread.read_events(store.root, full, start, end) if full else ()
        return read[key]

    return events
