"""In: memories of one topic file that belong into another one. Out: they stand there with ids, footnotes and history; pointers follow.

As with a single move, the ledger is told first, then they are added there, then taken out here: a kill between leaves a line
in both, and doing it again finishes it. What a person changed or moved meanwhile is left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs import ledger, topic_edit
from memoryfs.config import Config
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import MemoryfsError, NotFoundError, ReadOnlyError
from memoryfs.files import is_episode, raw_ids, topic_paths
from memoryfs.ledger import Entry
from memoryfs.model import EMPTY, Problem
from memoryfs.notation import fold
from memoryfs.textfile import digest_of
from memoryfs.thread import ARCHIVE
from memoryfs.topic import Topic, render


def bring_over(
    root: Path, config: Config, source: str, target: str, ids: Sequence[str], *, actor: str, now: datetime, why: str,
    extra: Mapping[str, Any] = EMPTY, create: Callable[[], Topic] | None = None,
) -> tuple[str, ...]:
    """Moves the memories `ids` from the topic file `source` to `target`, made by `create` if need be; those that stand in
    `target` now. Ids that stand in neither are passed over.

    Raises NotFoundError, UnwritableFileError, ChangedMeanwhileError, ReadOnlyError.
    """
    here, _ = read_topic(root, source, config)
    standing = [m.id for m in here.memories if m.id in ids]
    _without(here, standing, {m.id: fold(m.summary) for m in here.memories})  # raises here what would otherwise leave them in both files
    known = ledger.state(ledger.read(root)[0])
    ledger.append(root, [
        Entry(now.isoformat(timespec="seconds"), actor, "move", id, target, why=why, extra={"from": source, **extra})
        for id in standing if id not in known or known[id].topic != target
    ])

    def add(there: Topic) -> Topic:
        have = {m.id for m in there.memories}
        for id in standing:
            if id not in have:
                there = topic_edit.bring(here, there, id)
        return there

    try:
        there = edit_topic(root, target, add, config=config, create=create if standing else None)
    except NotFoundError:
        if standing:
            raise
        return ()
    said = {m.id: fold(m.summary) for m in there.memories}

    edit_topic(root, source, lambda topic: _without(topic, standing, said), config=config)
    return tuple(id for id in ids if id in said)


def _without(topic: Topic, ids: Sequence[str], said: Mapping[str, str]) -> Topic:
    """The topic without those of its memories `ids` that say what `said` (id → folded words) tells. Raises UnwritableFileError."""
    for memory in topic.memories:
        if memory.id in ids and said.get(memory.id) == fold(memory.summary):
            topic = topic_edit.withdraw(topic, memory.id)
    return topic


def follow(root: Path, config: Config, homes: Mapping[str, str], *, now: datetime) -> tuple[Problem, ...]:
    """The program's own pointers to the memories `homes` (id → path), in every topic, session page and archived topic, lead there.

    A file that cannot be changed is a problem; its pointers still name the right id. Raises ReadOnlyError.
    """
    problems = []
    for path in (*topic_paths(root, config), *_archived(root)):
        if not raw_ids(root / path) & homes.keys():
            continue
        try:
            topic, digest = read_topic(root, path, config)
            new = topic_edit.repoint(topic, homes)
            if new.text == topic.text:
                continue
            if is_episode(path):
                _page_changes(root, path, digest, digest_of(render(new)), now)
            edit_topic(root, path, lambda there: topic_edit.repoint(there, homes), config=config)
        except ReadOnlyError:
            raise
        except MemoryfsError as error:
            problems.append(Problem(path, f"pointers not changed: {error.message}", error.remedy, severity="warning"))
    return tuple(problems)


def _archived(root: Path) -> Iterator[str]:
    for folder, _, names in sorted(os.walk(root / ARCHIVE)):
        yield from (Path(folder, name).relative_to(root).as_posix() for name in sorted(names) if name.endswith(".md"))


def _page_changes(root: Path, path: str, before: str, after: str, now: datetime) -> None:
    """A session's page that stands as the organizer wrote it still counts as its own afterwards. Told before the page is
    written, so that a kill between the two is made good by doing it again."""
    last = next((e for e in reversed(ledger.read(root)[0]) if e.action == "organize" and e.extra.get("page") == path), None)
    if last is not None and last.extra.get("page_digest") == before:
        ledger.append(root, [replace(last, time=now.isoformat(timespec="seconds"), why="pointers follow what moved",
                                     extra={**last.extra, "page_digest": after})])


def homes_of(topics: Iterable[Topic]) -> dict[str, str]:
    """Where the memories of these topics stand: id → path."""
    return {m.id: t.path for t in topics for m in t.memories if m.metadata.get("adopted", True)}
