"""In: a memory that somebody confirmed. Out: its footnote without marks that call it stale, and the lines for the ledger.

A day to check it again that has passed moves to the next one, as its kind has it; one that is to come stays.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from memoryfs import topic_edit, volatile
from memoryfs.config import Config
from memoryfs.edits.write import edit_topic
from memoryfs.errors import MemoryfsError, ReadOnlyError
from memoryfs.ledger import Entry
from memoryfs.topic import Topic


def renew(root: Path, config: Config, path: str, id: str, *, now: datetime) -> tuple[Entry, ...]:
    """Edits the topic file at `path` if it marks the memory as stale. A file that cannot be edited is left to the organizer's
    next run. Raises ReadOnlyError."""
    found: dict[str, Entry] = {}
    stamp = now.isoformat(timespec="seconds")

    def edit(topic: Topic) -> Topic:
        found.clear()
        memory = next((m for m in topic.memories if m.id == id), None)
        if memory is None:
            return topic
        held, day = str(memory.metadata.get("recheck") or ""), ""
        if held > now.date().isoformat():
            day = held
        elif held:
            day = volatile.after(now.date(), volatile.interval(volatile.kinds(memory.summary), config.recheck))
        if (day, "") == (held, str(memory.metadata.get("source_changed") or "")):
            return topic
        if day != held:
            found["recheck"] = Entry(stamp, "organizer", "recheck", "", extra={"dates": {id: day}})
        if memory.metadata.get("source_changed"):
            found["stale"] = Entry(stamp, "organizer", "stale", id, path, why="it was confirmed", extra={"lifted": True})
        return topic_edit.set_marks(topic, {id: (day, ("", ()))})

    try:
        edit_topic(root, path, edit, config=config)
    except ReadOnlyError:
        raise
    except MemoryfsError:
        return ()
    return tuple(found.values())
