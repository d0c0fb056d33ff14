"""In: memories of one topic file that are to leave it. Out: the same lines in `archive/` under the topic's own path, the ledger told.

As with a move, the ledger is told first, then the line is added there, then taken out here: a kill between leaves a
line in both, and archiving it again finishes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memoryfs import ledger, topic_edit
from memoryfs.config import Config
from memoryfs.edits.plan import Change, Step
from memoryfs.edits.regroup import homes_of
from memoryfs.edits.steps import take_steps
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import UnwritableFileError
from memoryfs.ledger import Entry
from memoryfs.thread import ARCHIVE
from memoryfs.topic import Topic


def archive(root: Path, config: Config, path: str, ids: Mapping[str, str], *, now: datetime) -> tuple[Change, ...]:
    """Moves the memories `ids` (id → why) of the topic `path` to `archive/`. Ids that do not stand there are passed over.

    Raises NotFoundError, UnwritableFileError, ChangedMeanwhileError, ReadOnlyError.
    """
    topic, _ = read_topic(root, path, config)
    moving = [m for m in topic.memories if m.id in ids]
    if not moving:
        return ()
    if not topic.writable:
        raise UnwritableFileError(path, "it is damaged")
    target = f"{ARCHIVE}/{path}"
    stamp = now.isoformat(timespec="seconds")
    ledger.append(root, [
        Entry(stamp, "organizer", "move", m.id, target, why=ids[m.id], extra={"from": path, "status": "archived"}) for m in moving
    ])

    homes = homes_of([topic]) | {m.id: target for m in moving}

    def add(there: Topic) -> Topic:
        have = {m.id for m in there.memories}
        for memory in moving:
            if memory.id not in have:
                there = topic_edit.bring(topic, there, memory.id)
        return topic_edit.repoint(there, homes)

    def blank() -> Topic:
        made = topic_edit.new_topic(target, title=topic.title or path, created_at=now.date().isoformat())
        return topic_edit.set_meta(made, "status", "archived")

    edit_topic(root, target, add, config=config, create=blank)
    steps = tuple(Step("withdraw", m.id) for m in moving)
    edit_topic(root, path, lambda here: take_steps(here, steps, day=stamp[:10]), config=config)
    return tuple(Change("move", m.id, target, ids[m.id]) for m in moving)
