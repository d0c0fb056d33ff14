"""In: a store's threads. Out: a `Corpus`: its events by place in the transcripts, and their texts for checking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from memoryfs.evaluate.golden import Place, components
from memoryfs.model import Event


@dataclass(frozen=True)
class Corpus:
    """Events in the order of their threads, with two ways in: (thread, index), and (source, line)."""

    events: tuple[Event, ...]
    _by_key: dict[tuple[str, int], Event] = field(default_factory=dict, repr=False)
    _by_name: dict[str, list[Event]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Corpus:
        listed = tuple(events)
        by_name: dict[str, list[Event]] = {}
        for event in listed:
            by_name.setdefault((components(event.source) or ("",))[-1], []).append(event)
        return cls(listed, {(event.thread, event.index): event for event in listed}, by_name)

    @classmethod
    def from_store(cls, root: Path) -> Corpus:
        from memoryfs import thread

        return cls.of(event for name in thread.list_threads(root) for event in thread.iter_events(root, name))

    def get(self, thread: str, index: int) -> Event | None:
        return self._by_key.get((thread, index))

    def at(self, place: Place, tolerance: int = 0) -> frozenset[tuple[str, int]]:
        """The (thread, index) of every event that a place names."""
        name = (components(place.source) or ("",))[-1]
        return frozenset(
            (event.thread, event.index) for event in self._by_name.get(name, ())
            if place.holds(event.source, event.line, tolerance)
        )
