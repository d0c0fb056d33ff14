"""In: ranked memories, the best events, the query's postings. Out: the memories once more, by what they lead to as well.

A memory is a map: what it is worth to a question is told by its own words and by those of the few events that it rests on.
Both are scored as one text (BM25, the memory's words and its sources' together, divided by the best), beside what it
scored alone. A memory that no word led to is added where it rests on one of the best events; one that leads only to where
better ones lead steps back, so that the first few show different places.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memoryfs.index.lexical import Term, idf
from memoryfs.index.units import NO_TIME, SHIFT
from memoryfs.model import Breadcrumb, Memory
from memoryfs.recall.memories import CANDIDATES, Ranked, memory_of, rows_of, standing, topics_of
from memoryfs.recall.query import Query

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.recall.events import Candidate

K1, B = 1.2, 0.75
USUAL = 4  # units: the length of a memory and its sources that counts as usual
LOOKED_AT = 80  # memories of those that words or vectors led to
PLACES = 60  # best events
EVENTS = 40  # of one range that are read
TOGETHER, PLACE, ALONE = 1.0, 0.15, 0.35  # weights: words and sources as one text; the best event; the memory by itself
WIDE = 0.05  # by which each further event of a range makes it say less about where
AGAIN = 0.8  # for leading only to where better ones lead
LIKELY = 0.15  # worth of an event, 0..1, from which it counts as a place where the answer may stand


def led_to(
    index: Index, ranked: list[Ranked], best: Sequence[Candidate], query: Query, terms: Sequence[Term], *,
    status: Collection[str], now: float, until: int | None,
) -> list[Ranked]:
    """The memories in their final order. `best` are the events in order, `ranked` the memories by themselves."""
    places = _places(index, best)
    held = _holding(index, places)
    found = list(ranked[:LOOKED_AT])
    known = {item.doc for item in found}
    rest = [item for item in ranked[LOOKED_AT:] if item.doc in held]
    found += rest
    known.update(item.doc for item in rest)
    rows = rows_of(index, held.keys() - known)
    topics = topics_of(index) if rows else {}
    for doc, row in rows.items():
        path, id, _kind, state, _text, _terms, at, _importance, data = row
        if (status and state not in status) or (until is not None and at != NO_TIME and at > until):
            continue
        why = standing(row, topics.get(path, ()), query, now)
        found.append(Ranked(Breadcrumb(memory_of(id, state, path, data, now), sum(why.values()), why), 0.0, doc))
    together = _together(index, found, terms)
    scored = []
    for item in found:
        memory = item.crumb.memory
        why = {name: value * ALONE if name in _BY_ITSELF else value for name, value in item.crumb.why.items()}
        if together.get(item.doc):
            why["together"] = TOGETHER * together[item.doc]
        if item.doc in held:
            why["place"] = PLACE * held[item.doc]
        scored.append((-sum(why.values()), memory.topic, memory.id, item.doc, item, why))
    scored.sort(key=lambda row: row[:4])
    out = [
        replace(item, crumb=replace(item.crumb, score=-score, why={name: round(value, 4) for name, value in why.items()}))
        for score, _, _, _, item, why in scored[:CANDIDATES]
    ]
    return _spread(out[:LOOKED_AT], places) + out[LOOKED_AT:]


_BY_ITSELF = ("fts", "vector", "topic", "tag")


def _places(index: Index, best: Sequence[Candidate]) -> dict[tuple[str, int], float]:
    """The best events as (thread, index), each with its score between that of the last one looked at, 0, and the best, 1."""
    scores: dict[tuple[str, int], float] = {}
    for item in best:
        thread = index.thread(item.number)
        if thread is not None:
            scores.setdefault((thread.name, thread.index[thread.event[item.nth]]), item.score)
        if len(scores) == PLACES:
            break
    top, low = max(scores.values(), default=0.0), min(scores.values(), default=0.0)
    return {place: (score - low) / (top - low) for place, score in scores.items()} if top > low else {}


def _holding(index: Index, places: Mapping[tuple[str, int], float]) -> dict[int, float]:
    """Each memory that rests on one of the places, with the worth of the best of them."""
    by_thread: dict[str, list[tuple[int, float]]] = {}
    for (name, at), worth in places.items():
        by_thread.setdefault(name, []).append((at, worth))
    out: dict[int, float] = {}
    marks = ",".join("?" * len(by_thread))
    for doc, name, first, last in index.db.execute(
        f"SELECT doc, thread, first, last FROM sources WHERE thread IN ({marks})", tuple(by_thread)
    ):
        worth = max((w for at, w in by_thread[name] if first <= at <= last), default=0.0) / (1 + WIDE * (last - first))
        if worth:
            out[doc] = max(out.get(doc, 0.0), worth)
    return out


def _together(index: Index, found: Sequence[Ranked], terms: Sequence[Term]) -> dict[int, float]:
    """BM25 of each memory's words and its sources' as one text, relative to the best."""
    units, total, _ = index.totals()
    if not units:
        return {}
    docs = [item.doc for item in found]
    own = dict(index.db.execute(f"SELECT doc, terms FROM memories WHERE doc IN ({','.join('?' * len(docs))})", docs))
    of: dict[int, list[int]] = {}  # unit → memories that rest on it
    length: dict[int, int] = {}
    for item in found:
        length[item.doc] = own.get(item.doc, 0)
        for doc, size in _units(index, item.crumb.memory):
            of.setdefault(doc, []).append(item.doc)
            length[item.doc] += size
        of.setdefault(item.doc, []).append(item.doc)
    usual = USUAL * total / units
    score: dict[int, float] = {}
    for term in terms:
        counts: dict[int, int] = {}
        for doc in of.keys() & term.postings.keys():
            for memory in of[doc]:
                counts[memory] = counts.get(memory, 0) + term.postings[doc]
        weight = term.weight * idf(term.documents, units)
        for memory, count in counts.items():
            norm = K1 * (1 - B + B * length[memory] / usual)
            score[memory] = score.get(memory, 0.0) + weight * count / (count + norm)
    top = max(score.values(), default=0.0)
    return {memory: value / top for memory, value in score.items()} if top else {}


def _units(index: Index, memory: Memory) -> list[tuple[int, int]]:
    """The units of a memory's sources, each with its length in terms."""
    out: dict[int, int] = {}
    for source in memory.source_range:
        number = index.thread_number(source.thread)
        thread = index.thread(number) if number is not None else None
        if thread is None:
            continue
        first = bisect_left(thread.index, source.start)
        last = bisect_right(thread.index, min(source.end, source.start + EVENTS))
        for unit in range(bisect_left(thread.event, first), bisect_left(thread.event, last)):
            out[number << SHIFT | unit] = thread.terms[unit]
    return list(out.items())


def _spread(ranked: list[Ranked], places: Mapping[tuple[str, int], float]) -> list[Ranked]:
    """The same, where each counts for less by the share of its likely events that better ones have named before it."""
    named: set[tuple[str, int]] = set()
    out: list[Ranked] = []
    late: list[tuple[float, int, Ranked, set[tuple[str, int]]]] = []

    def take(item: Ranked, events: set[tuple[str, int]]) -> None:
        named.update(events)
        out.append(item)

    for number, item in enumerate(ranked):
        while late and -late[0][0] >= item.crumb.score:
            take(*heapq.heappop(late)[2:])
        events = {(r.thread, at) for r in item.crumb.memory.source_range for at in range(r.start, min(r.end, r.start + EVENTS) + 1)}
        likely = {event for event in events if places.get(event, 0.0) >= LIKELY} or events
        again = round(AGAIN * len(likely & named) / len(likely), 4) if likely else 0.0
        if not again:
            take(item, events)
            continue
        score = item.crumb.score - again
        crumb = replace(item.crumb, score=score, why={**item.crumb.why, "again": -again})
        heapq.heappush(late, (-score, number, replace(item, crumb=crumb), events))
    while late:
        take(*heapq.heappop(late)[2:])
    return out
