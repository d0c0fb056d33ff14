"""In: ranked units. Out: the k events that evidence is quoted from, best first.

Units are gathered into events; the same text twice counts once; what has been replaced ranks lower; a place that holds
a value of the kind asked for ranks higher; no thread fills the list; and the best memories keep a place each for the
event they were made from.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memoryfs.index.units import NO_TIME, SHIFT
from memoryfs.model import Event, Memory
from memoryfs.recall import fuse, history, kinds, outdated
from memoryfs.recall.events import Candidate
from memoryfs.recall.query import Query
from memoryfs.text import scan, similarity_key

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.index.units import ThreadMap
    from memoryfs.recall.retrieve import Found

JOINT = " · "  # between the sentences of a session page's line: the first stands in the event that it tells of
PLACES = (3, 5, 8)  # where at the latest (from 0) the source of the first, second and third memory stands
NARROW = 3  # events; a memory made from more does not say which of them answers
LOOKED_AT = 40  # events in which values of the kind asked for are looked for
RIVALS, CLOSE = 7, 0.3  # the next events that may restate the first, and the share of its words they must hold
SUPPORT, LEADS = 0.1, 0.5  # share of the question's weight that a memory's own words must cover, or how well it and its sources must fit (the best: 1), to keep a place


@dataclass(frozen=True, slots=True)
class Chosen:
    """An event with those of its units that are candidates, best first, and what replaced what it states.

    `values`: where it holds values of the kind that is asked for.
    """

    event: Event
    items: tuple[Candidate, ...]
    score: float
    replaced: str
    values: tuple[tuple[int, int], ...] = ()

    def spans(self, index: Index) -> tuple[tuple[int, int], ...]:
        """Its two best units."""
        thread = index.thread(self.items[0].number)
        return tuple((thread.start[i.nth], thread.end[i.nth]) for i in self.items[:2])

    def quoted(self, index: Index) -> str:
        """The text of its best unit."""
        start, end = self.spans(index)[0]
        return self.event.text[start:end]


def events(index: Index, query: Query, found: Found, k: int) -> list[Chosen]:
    """The k best events."""
    units: dict[tuple[int, int], list[Candidate]] = {}
    for item in found.events:
        thread = index.thread(item.number)
        units.setdefault((item.number, thread.event[item.nth]), []).append(item)
    kept = list(_of_memories(index, found, units))
    past = history.History(index)
    wanted = kinds.asked(query.text)
    listed: list[Chosen] = []
    seen: set[str] = set()
    threads: set[int] = set()
    for (number, position), items in units.items():
        full = len(listed) >= 3 * k + 5 and (number in threads or len(listed) >= 5 * k + 5)
        if full and (number, position) not in kept:
            continue
        event = index.sources.event(index.thread(number), position)
        if event is None or (len(event.text) > 40 and event.text in seen):
            continue
        seen.add(event.text)
        threads.add(number)
        replaced = past.replaced_by(event) if past else ""
        score = items[0].score * (history.DEMOTION if replaced else 1.0)
        values = _values(index, event, items, wanted) if wanted and len(listed) < LOOKED_AT else ()
        listed.append(Chosen(event, tuple(items), score, replaced, values))
    holding = sum(bool(c.values) for c in listed)
    if holding:  # what most places hold tells nothing
        bonus = fuse.VALUE * (1 - holding / min(LOOKED_AT, len(listed)))
        listed = [replace(c, score=c.score + bonus) if c.values else c for c in listed]
    listed.sort(key=lambda c: (-c.score, c.items[0].doc))
    scored = [(c.score, c.items[0].number) for c in listed]
    chosen = [listed[place] for place in fuse.spread(scored, k, across=query.asks_across)]
    if query.asks_now:
        chosen = _latest_first(index, chosen, dict(query.terms))
    return outdated.settle(index, query, found, _with_places(index, chosen, listed, kept, k), listed, k)


def _latest_first(index: Index, chosen: list[Chosen], weights: Mapping[str, float]) -> list[Chosen]:
    """The first event behind the latest of the next few that restates it."""
    if not chosen:
        return chosen
    first = chosen[0]
    said = first.quoted(index)
    enough = CLOSE * _covered(said, weights)
    newer = [
        c for c in chosen[1:RIVALS] if _when(index, c) > _when(index, first)
        and _covered(text := c.quoted(index), weights) >= enough and history.restates(text, said)
    ]
    if not newer:
        return chosen
    latest = max(newer, key=lambda c: _when(index, c))
    return [replace(latest, score=first.score), *(c for c in chosen if c is not latest)]


def _covered(text: str, weights: Mapping[str, float]) -> float:
    """The weight of the question's words that the text holds."""
    return sum(weights.get(term, 0.0) for term in {term for term, _ in scan(text)})


def _when(index: Index, chosen: Chosen) -> tuple[int, int]:
    item = chosen.items[0]
    thread = index.thread(item.number)
    return thread.at[thread.event[item.nth]], item.doc


def _with_places(
    index: Index, chosen: list[Chosen], listed: list[Chosen], kept: list[tuple[int, int]], k: int
) -> list[Chosen]:
    """The chosen, in which the memories' source events stand at their places at the latest."""
    by_key = {(c.items[0].number, index.thread(c.items[0].number).event[c.items[0].nth]): c for c in listed}
    for place, key in zip(PLACES, kept, strict=False):
        own = by_key.get(key)
        if own is None or own.replaced or own in chosen[: place + 1] or place >= k:
            continue
        rest = [c for c in chosen if c is not own]
        if place < len(rest):
            own = replace(own, score=max(own.score, rest[place].score))
        chosen = [*rest[:place], own, *rest[place:]][:k]
    return chosen


def _of_memories(
    index: Index, found: Found, units: dict[tuple[int, int], list[Candidate]]
) -> Iterator[tuple[int, int]]:
    """(thread number, position) of the source event of each of the best memories that was made from few events."""
    seen: set[tuple[int, int]] = set()
    for item in found.memories[:8]:
        if len(seen) == len(PLACES):
            return
        key = _source(index, item.crumb.memory, units, found.until) if item.coverage >= SUPPORT or item.crumb.why.get("together", 0.0) >= LEADS else None
        if key and key not in seen:
            seen.add(key)
            yield key


def _source(
    index: Index, memory: Memory, units: dict[tuple[int, int], list[Candidate]], until: int | None
) -> tuple[int, int] | None:
    """The event that holds the memory's words, though no word led to it; else the best ranked one of its ranges."""
    quoted = similarity_key(memory.quote or memory.summary.split(JOINT)[0])
    best: tuple[float, tuple[int, int]] | None = None
    for source in memory.source_range:
        number = index.thread_number(source.thread)
        thread = index.thread(number) if number is not None else None
        if thread is None or source.end - source.start >= NARROW:
            continue
        for position, event_number in enumerate(thread.index):
            key = (number, position)
            if not source.start <= event_number <= source.end or (until is not None and NO_TIME != thread.at[position] > until):
                continue
            if quoted:
                event = index.sources.event(thread, position)
                if event is not None and quoted in similarity_key(event.text):
                    if key not in units:
                        units[key] = [_holding(thread, number, position, event.text, memory)]
                    return key
            if key not in units:
                continue
            score = units[key][0].score
            if best is None or score > best[0]:
                best = (score, key)
    return best[1] if best else None


def _holding(thread: ThreadMap, number: int, position: int, text: str, memory: Memory) -> Candidate:
    """The unit of an event in which the memory's words stand, as a candidate that only the memory led to."""
    at = max(0, text.find(memory.quote or memory.summary.split(JOINT)[0]))
    first = bisect_left(thread.event, position)
    last = bisect_left(thread.event, position + 1) - 1
    nth = next((unit for unit in range(first, last) if at < thread.end[unit]), last)
    return Candidate(number << SHIFT | nth, memory=1.0)


def _values(index: Index, event: Event, items: Sequence[Candidate], wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Where the event's best units hold values of the kinds asked for."""
    thread = index.thread(items[0].number)
    spans = [(thread.start[item.nth], thread.end[item.nth]) for item in items[:2]]
    return tuple(value for start, end in spans for value in kinds.values(event.text, wanted, start, end))
