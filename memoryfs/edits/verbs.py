"""In: a wish (remember, forget, move, resolve a review) and who has it. Out: the topic files changed and the ledger told.

Files first, then the ledger, but for a move: see `memoryfs.ledger` for why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from memoryfs import ledger, topic_edit
from memoryfs.config import Config
from memoryfs.edits import merging, unfinished
from memoryfs.edits.diff import Place, settle
from memoryfs.edits.echoes import record, without_echo
from memoryfs.edits.load import load_topics
from memoryfs.edits.moved import moved_to
from memoryfs.edits.plan import Change, Step
from memoryfs.edits.regroup import follow, homes_of
from memoryfs.edits.steps import take_steps
from memoryfs.edits.takeback import hunks
from memoryfs.edits.tombstones import Tombstones
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError
from memoryfs.files import BRIEFING, INBOX, OWN_FOLDERS, raw_ids, topic_paths
from memoryfs.ledger import Entry, Known
from memoryfs.model import CURRENT, Memory
from memoryfs.notation import fold
from memoryfs.textfile import inside
from memoryfs.topic import Topic, memory_id

CHOICES = ("accept", "reject", "keep-both")


def topic_path(root: Path, name: str, config: Config) -> str:
    """`name` as the relative path of a topic file: `.md` added, checked to be a place for one.

    Raises UsageError for our own files and folders and for a name that holds a secret, OutsideStoreError for what leads out
    of the store.
    """
    from memoryfs.redact import redact

    if redact(name).spans:
        raise UsageError("the topic's name holds what looks like a secret", remedy="Name a file such as projects/x.md.")
    clean = name.strip().removeprefix("./")
    clean = clean if clean.lower().endswith(".md") else f"{clean}.md"
    inside(root, clean, follow_links_outside=config.follow_links_outside)
    parts = PurePosixPath(clean.replace("\\", "/")).parts
    if parts[0] in OWN_FOLDERS or clean.casefold() in (BRIEFING.casefold(), INBOX) or any(
        part.startswith(".") or any(ord(char) < 32 for char in part) for part in parts
    ):
        raise UsageError(f"{name!r} is not a place for a topic", remedy="Name a file such as projects/x.md.")
    return "/".join(parts)


def _state(root: Path) -> dict[str, Known]:
    return ledger.state(ledger.read(root)[0])


def _stamp(now: datetime) -> str:
    return now.isoformat(timespec="seconds")


def remember(
    root: Path, config: Config, memory: Memory, *, actor: str, now: datetime, topic_title: str = "", why: str = ""
) -> Change:
    """Writes `memory` into the topic file `memory.topic`, made if need be, titled `topic_title`.

    What is known already is not written twice (`exists`). What was withdrawn is brought back for a person (`restore`)
    and not for anyone else (`ignored`). Raises UsageError, OutsideStoreError, UnwritableFileError, ReadOnlyError.
    """
    path = topic_path(root, memory.topic, config)
    known = _state(root)
    same = standing(root, config, known, memory.summary, path)
    if same:
        return Change("exists", same.id, same.topic, same.summary)
    grave = Tombstones(known).find(memory.summary, memory.source_range)
    if grave and actor != "person":
        place = moved_to(root, grave.id)
        return Change("ignored", grave.id, grave.topic,
                      f"it moved to {place}" if place else "it was withdrawn; only a person brings it back")
    restored = grave is not None and grave.key == ledger.text_key(memory.summary)
    id = grave.id if restored and grave else _free_id(memory, path, known)
    new = replace(memory, id=id, topic=path, stated_by=actor, date=memory.date or now.date().isoformat())
    title = topic_title or PurePosixPath(path).stem.replace("-", " ")

    def add(topic: Topic) -> Topic:
        return topic if any(m.id == id for m in topic.memories) else topic_edit.add_memory(topic, new)

    edit_topic(
        root, path, add, config=config,
        create=lambda: topic_edit.new_topic(path, title=title, created_at=now.date().isoformat()),
    )
    action = "restore" if restored else "add"
    ledger.append(root, (Entry(
        _stamp(now), actor, action, id, path, new.summary, new.kind, tuple(r.label for r in new.source_range), why,
        {"stated_by": actor} | ({"done": True} if new.done else {}),
    ),))
    return Change(action, id, path, new.summary)


def standing(root: Path, config: Config, known: Mapping[str, Known], text: str, path: str) -> Memory | None:
    """A current memory with the same words, in the topic itself or where the ledger knows it."""
    key = ledger.text_key(text)
    paths = [path, *sorted({k.topic for k in known.values() if k.status in CURRENT and k.key == key} - {path})]
    for place in paths:
        try:
            topic, _ = read_topic(root, place, config)
        except NotFoundError:
            continue
        for memory in topic.memories:
            if memory.status in CURRENT and ledger.text_key(memory.summary) == key:
                return memory
    return None


def _free_id(memory: Memory, path: str, known: Mapping[str, Known]) -> str:
    id, number = memory.id or memory_id(memory.summary, path), 1
    while id in known:
        number += 1
        id = memory_id(memory.summary, f"{path}#{number}")
    return id


def find_places(root: Path, config: Config, id: str, known: Mapping[str, Known]) -> list[str]:
    """The topic files that hold the memory; the ledger's place is tried first. Raises NotFoundError with look-alikes."""
    first = known[id].topic if id in known else ""
    paths = list(topic_paths(root, config))
    paths.sort(key=lambda path: path != first)
    found = [path for path in paths if id in raw_ids(root / path)]
    found = [path for path in found if any(m.id == id for m in read_topic(root, path, config)[0].memories)]
    if found:
        return found
    from difflib import get_close_matches

    near = get_close_matches(id, [k.id for k in known.values() if k.status != "withdrawn"], n=3, cutoff=0.6)
    gone = " (it was withdrawn)" if id in known and known[id].status == "withdrawn" else ""
    close = f"Did you mean {', '.join(f'^{n}' for n in near)}?" if near and not gone else None
    raise NotFoundError(f"^{id}{gone}", remedy=close)


def forget(root: Path, config: Config, id: str, *, actor: str, now: datetime, purge: bool = False, why: str = "") -> Change:
    """Withdraws a memory: it leaves its file and never comes back from the same or an equivalent source.

    With `purge` its words leave the ledger too, only a hash stays; this also works on what was withdrawn before.
    Raises NotFoundError, UnwritableFileError, ReadOnlyError.
    """
    unfinished.complete(root, config)
    ledgered = ledger.read(root)[0]
    known, own = ledger.state(ledgered), ledger.own_meta(ledgered)
    if purge and id in known and known[id].status == "withdrawn":
        ledger.purge(root, id)
        return Change("withdraw", id, known[id].topic, "purged")
    entries: list[Entry] = []
    places = find_places(root, config, id, known)
    for path in places:
        topic, _ = read_topic(root, path, config)
        memory = next(m for m in topic.memories if m.id == id)
        reviews = tuple(r for r in topic.reviews if id in r.memory_ids)
        steps = (*(Step("unreview", r.id) for r in reviews), Step("withdraw", id))
        entries += _take(root, config, path, steps, (memory,), own.get(path, {}), now)
        sources = known[id].sources if id in known else tuple(r.label for r in memory.source_range)
        entries.append(Entry(_stamp(now), actor, "withdraw", id, path, memory.summary, memory.kind, sources, why))
        entries += [
            Entry(_stamp(now), actor, "resolve", r.id, path, why=f"^{id} was withdrawn", extra={
                "choice": "withdrawn", "memories": list(r.memory_ids)})
            for r in reviews
        ]
    ledger.append(root, entries)
    if purge:
        ledger.purge(root, id)
    return Change("withdraw", id, places[0], "purged" if purge else memory.summary)


def _take(
    root: Path, config: Config, path: str, steps: tuple[Step, ...], gone: Iterable[Memory], own: Mapping[str, Any], now: datetime,
    changed: list[dict[str, Any]] | None = None,
) -> tuple[Entry, ...]:
    """Takes the steps in one file, and the organizer's copies of what is gone out of its front matter (what it wrote
    there is `own`); returns what the ledger must know of the latter. `changed` gets the lines that undo needs."""
    told: tuple[Entry, ...] = ()
    texts = ("", "")

    def edit(topic: Topic) -> Topic:
        nonlocal told, texts
        taken = done = take_steps(topic, steps, day=now.date().isoformat())
        for memory in gone:
            done = without_echo(done, own, memory)
        told = record(taken, done, _stamp(now))
        texts = (topic.text, done.text)
        return done

    edit_topic(root, path, edit, config=config)
    if changed is not None:
        changed.append({"topic": path, "hunks": hunks(*texts)})
    return told


def move(root: Path, config: Config, id: str, to: str, *, actor: str, now: datetime, topic_title: str = "") -> Change:
    """Moves a memory, with its footnotes, to the topic file `to`, made if need be; id and history stay, and the program's own
    pointers to it lead there.

    Raises NotFoundError, UsageError, OutsideStoreError, UnwritableFileError, ReadOnlyError.
    """
    path = topic_path(root, to, config)
    unfinished.complete(root, config)
    known = _state(root)
    source = find_places(root, config, id, known)[0]
    if source == path:
        return Change("nothing", id, path, "it stands there already")
    topic, _ = read_topic(root, source, config)
    for place in (source, path):
        _must_be_writable(root, config, place)
    memory = next(m for m in topic.memories if m.id == id)
    title = topic_title or PurePosixPath(path).stem.replace("-", " ")
    ledger.append(root, (Entry(_stamp(now), actor, "move", id, path, extra={"from": source}),))

    def add(target: Topic) -> Topic:
        if any(m.id == id for m in target.memories):
            return target
        return topic_edit.bring(topic, target, id)

    edit_topic(
        root, path, add, config=config,
        create=lambda: topic_edit.new_topic(path, title=title, created_at=now.date().isoformat()),
    )
    own = ledger.own_meta(ledger.read(root)[0]).get(source, {})
    ledger.append(root, _take(root, config, source, (Step("withdraw", id),), (memory,), own, now))
    follow(root, config, homes_of([topic]) | {id: path}, now=now)
    return Change("move", id, path, f"from {source}: {memory.summary}")


def _must_be_writable(root: Path, config: Config, path: str) -> None:
    try:
        topic, _ = read_topic(root, path, config)
    except NotFoundError:
        return
    if not topic.writable:
        reason = next((p.message for p in topic.problems if p.severity == "error"), "it is damaged")
        raise UnwritableFileError(path, reason)


def resolve(
    root: Path, config: Config, review_id: str, choice: str, *, actor: str, now: datetime, text: str = ""
) -> Change:
    """Resolves a line under *Needs review*: `accept` keeps the newest statement, `reject` the oldest, `keep-both` both;
    `edit` keeps the newest one in the words `text`, as the person's.

    What is not kept moves to History with a pointer. `memoryfs.edits.takeback` takes it back. A proposal to make one topic of
    two is answered by `memoryfs.edits.merging`. Raises UsageError,
    NotFoundError, UnwritableFileError.
    """
    if choice not in CHOICES and not (choice == "edit" and text.strip()):
        raise UsageError(f"{choice!r} is not a choice", remedy=f"Choices: {', '.join(CHOICES)}.")
    done, _ = unfinished.complete(root, config, asked=review_id)
    if done is not None and done.id == review_id and done.verb != "undo":
        if done.verb == ("accept" if choice == "accept" else "reject"):
            return done.change
        raise NotFoundError(f"the review ^{review_id}: {done.verb}, which was interrupted, has just been completed",
                            remedy=f"`memoryfs review undo ^{review_id}` takes it back.")
    topics = load_topics(root, config)
    found = next(((p, r) for p, t in sorted(topics.items()) for r in t.reviews if r.id == review_id), None)
    if found is None:
        raise NotFoundError(f"the review ^{review_id}", remedy="`memoryfs review` lists what is open.")
    path, review = found
    if merging.proposed(review, path):
        return merging.answer(root, config, path, review, choice, actor=actor, now=now)
    places: dict[str, Place] = {}
    for place, topic in sorted(topics.items()):
        for memory in topic.memories:
            if memory.id in review.memory_ids:
                places.setdefault(memory.id, (place, memory))
    found_entries, found_steps = settle(
        review, path, places, "accept" if choice == "edit" else choice, _stamp(now), actor, why="by command")
    entries, steps = list(found_entries), dict(found_steps)
    if choice == "edit":
        entries, steps = _reworded(entries, steps, places, text, _stamp(now))
    for place in steps:
        _must_be_writable(root, config, place)
    own = ledger.own_meta(ledger.read(root)[0])
    changed: list[dict[str, Any]] = []
    # The line itself goes last, so that a kill before it leaves a review that can be resolved again.
    for place in sorted(steps, key=lambda p: (p == path, p)):
        gone = [places[step.id][1] for step in steps[place] if step.kind == "supersede"]
        entries += _take(root, config, place, steps[place], gone, own.get(place, {}), now, changed)
    entries[0] = replace(entries[0], extra={**entries[0].extra, "choice": choice, "undo": changed})
    ledger.append(root, entries)
    return Change("resolve", review_id, path, choice)


def _reworded(
    entries: list[Entry], steps: dict[str, tuple[Step, ...]], places: Mapping[str, Place], text: str, stamp: str
) -> tuple[list[Entry], dict[str, tuple[Step, ...]]]:
    """What `settle` found, and new words for the statement that it keeps."""
    gone = {step.id for listed in steps.values() for step in listed if step.kind == "supersede"}
    kept = next((id for id, (_, memory) in places.items() if memory.status in CURRENT and id not in gone), None)
    if kept is None:
        raise NotFoundError("a statement to reword", remedy="Both have ended; `memoryfs remember` writes a new one.")
    home, memory = places[kept]
    words = fold(text)
    if words == fold(memory.summary):
        return entries, steps
    steps = {**steps, home: (*steps.get(home, ()), Step("reword", kept, words), Step("person", kept))}
    entry = Entry(stamp, "person", "edit", kept, home, text=words, why="reworded in a review", extra={"old": memory.summary})
    return [*entries, entry], steps
