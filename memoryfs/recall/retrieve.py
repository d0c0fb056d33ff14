"""In: an analysed question. Out: `Found`: ranked memories and ranked source events, with what they were ranked by."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memoryfs.index.lexical import Term, idf
from memoryfs.index.units import MASK, MESSAGE, NO_TIME, ROLE_MASK, SHIFT
from memoryfs.recall import events, fuse, leads, memories
from memoryfs.recall.events import Candidate
from memoryfs.recall.memories import Ranked
from memoryfs.recall.query import Query
from memoryfs.recall.time import nearness

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.recall.outdated import Shown

DENSE_K = 120
BESIDE = 0.5  # of what was said next to it is a tool call's or result's similarity
USUAL = 0.4  # similarity, 0..1, of a message found by words
RANGE_EVENTS = 40  # of a memory's source range that are boosted
RANGE_MEMORIES = 8
DAY = 86_400
FEW_DAYS, DAY_THREADS, DAY_UNITS = 8 * DAY, 40, 400
ALIKE = 16  # units that are taken to speak of what is asked: of them the later ones count more, for the present state


@dataclass
class Found:
    """`weights`: term → weight × idf, for extraction. `mass`: their sum over the whole query, absent terms too."""

    memories: list[Ranked] = field(default_factory=list)
    events: list[Candidate] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    mass: float = 0.0
    coverage: float = 0.0
    similarity: float = 0.0
    dense: bool = False
    asked_speaker: bool = False  # the question names someone who speaks in the threads found
    until: int | None = None  # epoch seconds: nothing later is shown
    shown: list[Shown] = field(default_factory=list)  # what the chosen events and the likely ones show of changes


def retrieve(
    index: Index, query: Query, *, status: Collection[str], now: float, until: int | None, ranges: list[tuple[int, int]],
    vector: object | None = None, want_events: bool = True, most: int = events.CANDIDATES,
) -> Found:
    """Both lists for one query. `vector`: the query's embedding, or None for words alone."""
    units, _, _ = index.totals()
    count = index.db.execute("SELECT count(*) FROM memories").fetchall()[0][0]
    total = max(1, units + count)
    short = len(query.terms) <= 2
    terms = index.lexicon.terms(query.terms, total, prefix=short, explicit=query.prefixes)
    mass = sum(w * idf(index.lexicon.documents(t), total) for t, w in query.terms)
    found = Found(weights={t.text: t.weight * idf(t.documents, total) for t in terms}, mass=mass, until=until)
    near_memories: dict[int, float] = {}
    near_events: dict[int, float] = {}
    raw: dict[int, float] = {}
    mean = 0.0
    if vector is not None:
        from memoryfs.index import dense

        mean = dense.mean_similarity(index.db, vector)
        near_memories = _above(dense.search(index.db, vector, dense.MEMORIES, 60, until=until), mean)
        raw = dense.search(index.db, vector, dense.EVENTS, DENSE_K, until=until) if want_events else {}
        found.similarity = max(raw.values(), default=0.0) - mean
        near_events = _above(raw, mean)
    found.memories = memories.rank(
        index, query, terms, similar=near_memories, status=status, now=now, until=until, mass=mass
    )
    if not want_events:
        return found
    boosts = _range_boosts(index, found.memories)
    spoken_of = _of_days(index, ranges) if ranges else {}
    items = events.candidates(index, terms, similar=near_events, until=until, extra={**spoken_of, **boosts}, most=most)
    if vector is not None and items:
        _fill_dense(index, items, vector, raw, mean)
    for doc, item in items.items():
        item.memory = boosts.get(doc, 0.0)
        if ranges:
            thread = index.thread(doc >> SHIFT)
            at = thread.at[thread.event[doc & MASK]]
            item.when = nearness(at, ranges) if at != NO_TIME else 0.0
    found.asked_speaker = _speakers(index, items, query)
    found.dense = vector is not None
    if query.asks_now:
        _lateness(index, fuse.rank(items.values(), query, dense=found.dense)[:ALIKE])
    likely = heapq.nlargest(30, items.values(), key=lambda c: c.unit + c.small)
    found.coverage = _coverage(likely, terms, mass, total)
    found.events = fuse.rank(items.values(), query, dense=found.dense)
    found.memories = leads.led_to(index, found.memories, found.events, query, terms, status=status, now=now, until=until)
    return found


def _above(similar: dict[int, float], mean: float) -> dict[int, float]:
    """Similarity above the store's mean, the best scaled to 1 (RECALL-NOTES: clip at the median).

    Where a filter left nothing above the mean, what is left counts from its own least.
    """
    if not similar:
        return {}
    top = max(similar.values())
    if top <= mean:
        mean = min(similar.values()) - 0.01
    return {doc: (s - mean) / (top - mean) for doc, s in similar.items() if s > mean}


def _fill_dense(index: Index, items: dict[int, Candidate], vector: object, raw: dict[int, float], mean: float) -> None:
    """Exact similarities of the lexical candidates too, and of neighbours and threads, all on one scale."""
    from memoryfs.index import dense

    missing = [doc for doc in items if doc not in raw]
    scale = _above({**raw, **dense.search(index.db, vector, dense.EVENTS, 0, only=missing)}, mean)
    done, share = dense.waiting(index.db, sorted({doc >> SHIFT for doc in items}))
    late = {d for d, item in items.items() if item.message and item.role < 2 and d & MASK >= done.get(d >> SHIFT, 0)}
    if late:  # a message that has no vector yet is worth as much as other messages found by words
        known = sorted(scale.get(d, 0.0) for d in missing if d not in late and items[d].message and items[d].role < 2)
        usual = known[len(known) // 2] if known else USUAL
        scale.update((doc, usual) for doc in late)
    trust = share * share  # until most is embedded, vectors add candidates rather than decide
    for doc, item in items.items():
        item.dense = trust * scale.get(doc, 0.0)
        item.dense_near = trust * max(scale.get(doc - 1, 0.0), scale.get(doc + 1, 0.0))
        if not item.message or item.role >= 2:  # has no vector: judged by what was said next to it
            item.dense = BESIDE * item.dense_near
    by_thread: dict[int, list[float]] = {}
    for doc, item in items.items():
        by_thread.setdefault(doc >> SHIFT, []).append(item.dense)
    best = {number: sum(sorted(values)[-3:]) / min(3, len(values)) for number, values in by_thread.items()}
    for doc, item in items.items():
        item.dense_thread = best[doc >> SHIFT]


def _of_days(index: Index, ranges: list[tuple[int, int]]) -> dict[int, float]:
    """Messages of the days the question speaks of, where these are few: what was said then need not share its words."""
    out: dict[int, float] = {}
    for start, end in ranges:
        if end - start > FEW_DAYS:
            continue
        low, high = (datetime.fromtimestamp(at, UTC).date().isoformat() for at in (start - DAY, end + DAY))
        numbers = [n for (n,) in index.db.execute(
            "SELECT number FROM threads WHERE name >= ? AND name < ? ORDER BY name DESC LIMIT ?", (low, high + "~", DAY_THREADS)
        )]
        index.load_threads(numbers)
        for number in numbers:
            thread = index.thread(number)
            for unit, position in enumerate(thread.event):
                flags = thread.flags[unit]
                if start <= thread.at[position] < end and flags & MESSAGE and flags & ROLE_MASK < 2:
                    out[number << SHIFT | unit] = 0.0
            if len(out) >= DAY_UNITS:
                return out
    return out


def _range_boosts(index: Index, ranked: list[Ranked]) -> dict[int, float]:
    """Units of the best memories' source ranges: the memory's score, relative to the best one's. A line of a session's page only
    says again what its events say."""
    out: dict[int, float] = {}
    ranked = [item for item in ranked if not item.crumb.memory.metadata.get("prose")]
    if not ranked:
        return out
    best = max(r.crumb.score for r in ranked)
    for item in ranked[:RANGE_MEMORIES]:
        if best <= 0 or item.coverage < 0.15:
            continue
        share = item.crumb.score / best * min(1.0, 0.3 + item.coverage)
        for source in item.crumb.memory.source_range:
            number = index.thread_number(source.thread)
            thread = index.thread(number) if number is not None else None
            if thread is None:
                continue
            width = source.end - source.start + 1
            for unit, position in enumerate(thread.event):
                if source.start <= thread.index[position] <= source.end:
                    doc = number << SHIFT | unit
                    out[doc] = max(out.get(doc, 0.0), share / (1 + 0.05 * min(width, RANGE_EVENTS)))
    return out


def _speakers(index: Index, items: dict[int, Candidate], query: Query) -> bool:
    """Mark what a person named in the question said; whether such a person speaks in one of the candidates' threads."""
    if not query.names:
        return False
    asked: dict[int, set[int]] = {}  # thread → codes of the speakers named
    for number in {doc >> SHIFT for doc in items}:
        names = index.thread(number).names
        asked[number] = {
            code for code, name in enumerate(names)
            if name and ((folded := name.lower()) in query.names or folded.split()[0] in query.names)
        }
    for doc, item in items.items():
        codes = asked[doc >> SHIFT]
        if codes and index.thread(doc >> SHIFT).speaker[doc & MASK] in codes:
            item.speaker = 1.0
    return any(asked.values())


def _lateness(index: Index, best: list[Candidate]) -> None:
    """The best candidates' places in time, 1 for the latest; by thread and position where times are missing."""
    def key(item: Candidate) -> tuple[int, int]:
        thread = index.thread(item.number)
        return thread.at[thread.event[item.nth]], item.doc

    for place, item in enumerate(sorted(best, key=key), start=1):
        item.late = place / len(best)


def _coverage(best: list[Candidate], terms: list[Term], mass: float, total: int) -> float:
    """The largest share of the query's weight that stands in one of the best units or its direct neighbours."""
    if not mass:
        return 0.0
    top = 0.0
    for item in best:
        share = 0.0
        for term in terms:
            if any(item.doc + step in term.postings for step in (0, -1, 1)):
                share += term.weight * idf(term.documents, total)
        top = max(top, share / mass)
    return min(1.0, top)
