"""In: a store's folder and a thread's packed columns. Out: events, read from the thread file at their byte offsets."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

from memoryfs.index.units import ThreadMap
from memoryfs.model import Event
from memoryfs.thread import decode_event, iter_file

_KEPT_EVENTS = 4096


class Sources:
    """Reads events; keeps the last few thousand decoded ones, by (thread number, position in the file)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._events: OrderedDict[tuple[int, int], Event] = OrderedDict()

    def forget(self) -> None:
        """Drop what is kept, after a sync that changed a thread."""
        self._events.clear()

    def events(self, thread: ThreadMap, positions: Iterable[int]) -> dict[int, Event]:
        """The events at these positions; one whose line cannot be read any more is missing from the answer."""
        found: dict[int, Event] = {}
        wanted: list[int] = []
        for position in dict.fromkeys(positions):
            event = self._events.get((thread.number, position))
            if event is None:
                wanted.append(position)
            else:
                found[position] = event
        if wanted:
            try:
                read = self._read(thread, sorted(wanted))
            except OSError:
                return found
            for position, event in read.items():
                found[position] = event
                self._events[thread.number, position] = event
            while len(self._events) > _KEPT_EVENTS:
                self._events.popitem(last=False)
        return found

    def event(self, thread: ThreadMap, position: int) -> Event | None:
        return self.events(thread, (position,)).get(position)

    def _read(self, thread: ThreadMap, positions: list[int]) -> dict[int, Event]:
        path = self.root / thread.path
        found: dict[int, Event] = {}
        if thread.path.endswith(".zst"):
            numbers = {thread.index[p]: p for p in positions}
            for event in iter_file(path):
                if event.index in numbers:
                    found[numbers[event.index]] = event
            return found
        with open(path, "rb", buffering=1 << 16) as file:
            for position in positions:
                file.seek(thread.offset[position], os.SEEK_SET)
                event = decode_event(file.readline())
                if event is not None and event.index == thread.index[position]:
                    found[position] = event
        return found
