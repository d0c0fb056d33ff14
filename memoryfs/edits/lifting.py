"""In: a memory of one store and another store. Out: it stands in the other, with its id, sources and history; a link stays.

Order, so that a kill between two steps loses nothing and calling again finishes: the events it cites are copied, the other
store's file is written, then its ledger (what was decided about the memory, then the move); only then the memory leaves
its own file, where a line under *Moved* names the new place, and last its own ledger. There the id rests as a
tombstone: the same words are not extracted into the old store again.

Of a cited thread only the cited events are copied, so that nothing else of a session becomes readable in a shared store.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from memoryfs import ledger, thread, topic_edit
from memoryfs.config import Config
from memoryfs.edits import unfinished
from memoryfs.edits.plan import Change
from memoryfs.edits.verbs import find_places, standing, topic_path
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError
from memoryfs.ledger import Entry
from memoryfs.model import CURRENT, Event, Memory, SourceRange
from memoryfs.textfile import read_file, write_atomic
from memoryfs.topic import Topic

MAX_EVENTS = 2_000  # of one cited range
_HISTORY = ("add", "adopt", "edit", "reinforce", "restore")


def lift(
    root: Path, config: Config, id: str, target: Path, target_config: Config, *, actor: str, now: datetime
) -> Change:
    """Moves the memory `id` from the store `root` to the store `target`, into the topic file of the same name.

    Where the other store holds the same words already, that memory is given the sources instead. Raises NotFoundError,
    UsageError (an open review, the same store, an id taken there), UnwritableFileError, ReadOnlyError.
    """
    if os.path.realpath(root) == os.path.realpath(target):
        raise UsageError(f"^{id} is in that store already", remedy="Name another store, or a topic such as projects/x.md.")
    unfinished.complete(root, config)
    entries, _ = ledger.read(root)
    path = find_places(root, config, id, ledger.state(entries))[0]
    source, _ = read_topic(root, path, config)
    memory = next(m for m in source.memories if m.id == id)
    review = next((r for r in source.reviews if id in r.memory_ids), None)
    if review is not None or memory.status == "conflicted":
        raise UsageError(f"^{id} is contradicted; that must be settled first",
                         remedy=f"`memoryfs review accept ^{review.id}`, or reject, or keep-both." if review else "`memoryfs review`")
    if not source.writable:
        raise UnwritableFileError(path, next((p.message for p in source.problems if p.severity == "error"), "it is damaged"))
    place = topic_path(target, path, target_config)
    twin = _twin(target, target_config, place, memory)
    _must_have_room(target, target_config, place, memory, twin)
    for wanted in memory.source_range:
        _copy_events(root, target, wanted, now)
    stamp = now.isoformat(timespec="seconds")
    if twin is None:
        _arrive(target, target_config, place, source, memory, now)
    else:
        place = twin.topic
        _reinforce(target, target_config, source, memory, twin)
    _told_there(root, target, entries, memory, twin, path, place, actor, stamp)
    kept = twin.id if twin else id
    link = Path(os.path.relpath(target / place, (root / path).parent)).as_posix()
    words = f"[{id}](<{link}#^{kept}>) moved on {stamp[:10]} to {PurePosixPath(place).as_posix()} of another store"

    def leave(topic: Topic) -> Topic:
        if all(m.id != id for m in topic.memories):
            return topic
        return topic_edit.leave_note(topic_edit.withdraw(topic, id), "Moved", words)

    edit_topic(root, path, leave, config=config)
    labels = tuple(r.label for r in memory.source_range)
    ledger.append(root, (Entry(
        stamp, actor, "move", id, path, memory.summary, memory.kind, labels, "moved to another store",
        {"status": "withdrawn", "to_store": str(target), "to": f"{place}#^{kept}"},
    ),))
    return Change("move", kept, place, f"from {root / path}: {memory.summary}")


def _twin(target: Path, config: Config, place: str, memory: Memory) -> Memory | None:
    """A current memory of the other store with the same words: known there before, or arrived before a kill."""
    found = standing(target, config, ledger.state(ledger.read(target)[0]), memory.summary, place)
    return found if memory.status in CURRENT else None


def _must_have_room(target: Path, config: Config, place: str, memory: Memory, twin: Memory | None) -> None:
    try:
        topic, _ = read_topic(target, twin.topic if twin else place, config)
    except NotFoundError:
        topic = None
    if topic is not None and not topic.writable:
        raise UnwritableFileError(topic.path, next((p.message for p in topic.problems if p.severity == "error"), "it is damaged"))
    known = ledger.state(ledger.read(target)[0]).get(memory.id)
    if known and known.status != "withdrawn" and known.key != ledger.text_key(memory.summary):
        raise UsageError(f"^{memory.id} is the id of something else in {target}", remedy="Remember it there and forget it here.")


def _arrive(target: Path, config: Config, place: str, source: Topic, memory: Memory, now: datetime) -> None:
    def add(topic: Topic) -> Topic:
        if any(m.id == memory.id for m in topic.memories):
            return topic
        grown = topic_edit.bring(source, topic, memory.id)
        made = next(m for m in grown.memories if m.id == memory.id)
        if set(made.source_range) == set(memory.source_range):
            return grown
        # A footnote names a thread by its hash; its date, which makes that the whole name, then stands in the front matter.
        listed = [r.to_dict() for r in dict.fromkeys((*topic.source_range, *memory.source_range))]
        return topic_edit.bring(source, topic_edit.set_meta(topic, "source_range", listed), memory.id)

    title = str(source.meta.get("title") or PurePosixPath(place).stem.replace("-", " "))
    edit_topic(
        target, place, add, config=config,
        create=lambda: topic_edit.new_topic(place, title=title, created_at=now.date().isoformat()),
    )


def _reinforce(target: Path, config: Config, source: Topic, memory: Memory, twin: Memory) -> None:
    def add(topic: Topic) -> Topic:
        held = next(m for m in topic.memories if m.id == twin.id)
        for wanted in memory.source_range:
            if wanted not in held.source_range:
                topic = topic_edit.add_source(topic, twin.id, wanted, date=memory.date, hints=memory.query_hints, quote=memory.quote)
        return topic

    edit_topic(target, twin.topic, add, config=config)


def _told_there(
    root: Path, target: Path, entries: Sequence[Entry], memory: Memory, twin: Memory | None, path: str, place: str,
    actor: str, stamp: str,
) -> None:
    """The other ledger gets what this one knows of the memory, and the move; once."""
    id = twin.id if twin else memory.id
    there = ledger.read(target)[0]
    last = next((e for e in reversed(there) if e.id == id), None)
    if last and last.action == "move" and last.extra.get("from_store") == str(root) and last.extra.get("from_id") == memory.id:
        return
    copied = id != memory.id or any(e.id == id and e.extra.get("store") == str(root) for e in there)
    history = [] if copied else [
        replace(e, topic=place, extra={**e.extra, "store": str(root)})
        for e in entries if e.id == memory.id and e.action in _HISTORY
    ]
    labels = tuple(r.label for r in memory.source_range)
    more = {} if memory.status in CURRENT else {"status": memory.status}
    if twin is None and not history:
        history = [Entry(stamp, actor, "adopt", id, place, memory.summary, memory.kind, labels, "stood in another store", {
            "stated_by": memory.stated_by})]
    if twin is None and memory.done:
        more = more | {"done": True}
    ledger.append(target, (*history, Entry(
        stamp, actor, "move", id, place, memory.summary, memory.kind, labels, "moved from another store",
        {"from_store": str(root), "from_topic": path, "from_id": memory.id, **more},
    )))


def _copy_events(root: Path, target: Path, wanted: SourceRange, now: datetime) -> None:
    """Puts the cited events into the other store's thread of that name, each at its index, marked as an excerpt.

    Its ledger says first that the thread is organized: nothing else is to be learned from the excerpt there.
    """
    end = min(wanted.end, wanted.start + MAX_EVENTS - 1)
    cited = thread.read_events(root, wanted.thread, wanted.start, end)
    if not cited:
        return  # its source is gone here too
    there = {e.index: e for e in thread.read_events(target, wanted.thread, wanted.start, end)}
    if any(e.index in there and there[e.index].id != e.id for e in cited):
        raise UsageError(f"{wanted.thread} in {target} is another version of the session",
                         remedy="Remember it there, and forget it here.")
    missing = [replace(e, metadata={**e.metadata, "excerpt": True}) for e in cited if e.index not in there]
    if not missing:
        return
    path = thread.thread_path(target, wanted.thread)
    if path.suffix == ".zst":
        raise UsageError(f"{wanted.thread} is archived in {target} and cannot grow", remedy="Unpack it there first.")
    try:
        digest = read_file(path).digest
        held: Sequence[Event] = list(thread.iter_file(path))
    except FileNotFoundError:
        digest, held = "", []
    if any(not e.metadata.get("excerpt") for e in held):
        raise UsageError(f"{target} holds a shorter version of the session {wanted.thread}", remedy="Import the transcript there first.")
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = sorted((*held, *missing), key=lambda e: e.index)
    ledger.append(target, (Entry(now.isoformat(timespec="seconds"), "organizer", "organize", "", why="an excerpt from another store", extra={
        "thread": wanted.thread, "events": rows[-1].index + 1, "bytes": 0}),))
    write_atomic(path, b"".join(map(thread.encode_event, rows)), expect=digest)
