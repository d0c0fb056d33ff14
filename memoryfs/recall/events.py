"""In: the query's terms with their postings, and its vector. Out: candidate units with the features that rank them.

Four lexical views of one place, all BM25 and all from the same postings: the unit itself, a window of about 40 and one
of about 120 index terms around it in its thread, and the whole thread. Windows are measured in terms, not in turns, so
that they mean the same in a chat of one-liners and in an agent's log. Each view is divided by its best value, so that
their sum does not depend on the query's length.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memoryfs.index.lexical import Term, idf
from memoryfs.index.units import COUNTED, MASK, MESSAGE, NO_TIME, QUESTION, ROLE_MASK, SHIFT, TIMED

if TYPE_CHECKING:
    from memoryfs.index.core import Index

K1, B = 1.2, 0.75
SMALL, LARGE = 40, 120  # window sizes in index terms (RECALL-NOTES)
FIRST = 600  # documents scored exactly, of those that hold most of the query's weight
CANDIDATES = 160  # of them looked at with their windows
NEIGHBOURS_OF = 40  # of them whose neighbours are candidates too: the answer often follows the words asked for


@dataclass(slots=True)
class Candidate:
    """One unit and its features. unit, small, large, thread, near, dense and so on are 0..1, relative to the best one."""

    doc: int
    unit: float = 0.0
    small: float = 0.0
    large: float = 0.0
    thread: float = 0.0
    near: float = 0.0  # the better of the two neighbours' `unit`
    peak: float = 0.0  # of its thread's units: the best,
    peaks: float = 0.0  # the three best together,
    said: float = 0.0  # and the best that the user said
    dense: float = 0.0
    dense_near: float = 0.0
    dense_thread: float = 0.0
    when: float = 0.0
    speaker: float = 0.0
    memory: float = 0.0
    late: float = 0.0  # place in time among the candidates, 1 for the latest
    length: float = 0.0  # ln(1 + terms)
    message: bool = True
    question: bool = False
    timed: bool = False
    counted: bool = False
    role: int = 0
    score: float = 0.0

    @property
    def number(self) -> int:
        return self.doc >> SHIFT

    @property
    def nth(self) -> int:
        return self.doc & MASK


def candidates(
    index: Index, terms: list[Term], *, similar: Mapping[int, float], until: int | None, extra: Mapping[int, float],
    most: int = CANDIDATES,
) -> dict[int, Candidate]:
    """Candidates by document with their lexical views filled in: the `most` best by words, and the neighbours of some.

    `similar` (doc → similarity) and `extra` (doc → boost) put further documents among the candidates. Events later
    than `until` (epoch seconds) are left out before anything is counted.
    """
    units, total_terms, thread_count = index.totals()
    if not units:
        return {}
    postings = [_of_events(term.postings) for term in terms]
    if until is not None:
        index.load_threads({doc >> SHIFT for found in (*postings, similar, extra) for doc in found})
        postings = [{d: n for d, n in found.items() if _before(index, d, until)} for found in postings]
        similar = {d: s for d, s in similar.items() if _before(index, d, until)}
        extra = {d: s for d, s in extra.items() if _before(index, d, until)}
    weights = [term.weight * idf(len(found), units) for term, found in zip(terms, postings, strict=True)]
    chosen = _first(postings, weights)
    index.load_threads({doc >> SHIFT for doc in (*chosen, *similar, *extra)})
    scores = _units(index, chosen, postings, weights, max(1.0, total_terms / units))
    best = heapq.nlargest(most, scores, key=scores.__getitem__)
    out: dict[int, Candidate] = dict.fromkeys(best)
    for place, doc in enumerate(best[:NEIGHBOURS_OF]):
        for near in (-1, 1, -2, 2) if place < NEIGHBOURS_OF // 2 else (-1, 1):
            out.setdefault(doc + near)
    out.update(dict.fromkeys((*similar, *extra)))
    threads = _threads(index, postings, weights, thread_count, total_terms, {doc >> SHIFT for doc in out})
    peaks = _peaks(index, scores)
    for doc in list(out):
        thread = index.thread(doc >> SHIFT)
        if thread is None or (doc & MASK) >= len(thread.terms) or (until is not None and not _before(index, doc, until)):
            del out[doc]
            continue
        flags = thread.flags[doc & MASK]
        small, large = _windows(doc, thread.terms, postings, weights)
        peak, three, said = peaks.get(doc >> SHIFT, (0.0, 0.0, 0.0))
        out[doc] = Candidate(
            doc, unit=scores.get(doc, 0.0), small=small, large=large, thread=threads.get(doc >> SHIFT, 0.0),
            length=math.log1p(thread.terms[doc & MASK]), message=bool(flags & MESSAGE), question=bool(flags & QUESTION),
            timed=bool(flags & TIMED), counted=bool(flags & COUNTED), role=flags & ROLE_MASK,
            peak=peak, peaks=three, said=said,
        )  # fmt: skip
    _relative(out)
    for doc, item in out.items():
        before, after = out.get(doc - 1), out.get(doc + 1)
        item.near = max(before.unit if before else 0.0, after.unit if after else 0.0)
    return out


def _of_events(postings: dict[int, int]) -> dict[int, int]:
    low = next(iter(postings), 0)  # postings come in order of documents, memories' first
    return postings if low >> SHIFT else {doc: count for doc, count in postings.items() if doc >> SHIFT}


def _first(postings: list[dict[int, int]], weights: list[float]) -> list[int]:
    """The documents that hold most of the query's weight, however often: cheap, and all that is scored exactly."""
    sums: dict[int, float] = {}
    get = sums.get
    for found, weight in zip(postings, weights, strict=True):
        for doc in found:
            sums[doc] = get(doc, 0.0) + weight
    return list(sums) if len(sums) <= FIRST else heapq.nlargest(FIRST, sums, key=sums.__getitem__)


def _units(
    index: Index, docs: list[int], postings: list[dict[int, int]], weights: list[float], average: float
) -> dict[int, float]:
    scale, base = K1 * B / average, K1 * (1 - B)
    pairs = list(zip(postings, weights, strict=True))
    out: dict[int, float] = {}
    for doc in docs:
        thread = index.thread(doc >> SHIFT)
        if thread is None or (doc & MASK) >= len(thread.terms):
            continue
        norm = base + scale * thread.terms[doc & MASK]
        total = 0.0
        for found, weight in pairs:
            count = found.get(doc)
            if count:
                total += weight * count / (count + norm)
        out[doc] = total
    return out


def _peaks(index: Index, scores: Mapping[int, float]) -> dict[int, tuple[float, float, float]]:
    """Of each thread: the best unit's score, that of its three best together, and of the best that the user said."""
    by_thread: dict[int, list[float]] = {}
    said: dict[int, float] = {}
    for doc, score in scores.items():
        number = doc >> SHIFT
        by_thread.setdefault(number, []).append(score)
        if score > said.get(number, 0.0):
            flags = index.thread(number).flags[doc & MASK]
            if flags & MESSAGE and not flags & ROLE_MASK:
                said[number] = score
    return {
        number: (best[0], sum(best), said.get(number, 0.0))
        for number, values in by_thread.items() if (best := heapq.nlargest(3, values))
    }


def _relative(items: Mapping[int, Candidate]) -> None:
    for view in ("unit", "small", "large", "thread", "peak", "peaks", "said"):
        top = max((getattr(item, view) for item in items.values()), default=0.0)
        if top > 0:
            for item in items.values():
                setattr(item, view, getattr(item, view) / top)


def _before(index: Index, doc: int, until: int) -> bool:
    thread = index.thread(doc >> SHIFT)
    if thread is None or (doc & MASK) >= len(thread):
        return False
    at = thread.at[thread.event[doc & MASK]]
    return at == NO_TIME or at <= until


def _windows(doc: int, lengths: array, postings: list[dict[int, int]], weights: list[float]) -> tuple[float, float]:
    """BM25 of the two windows around a unit: each grows by one unit behind, one before, in turn, until it is full."""
    low = high = doc
    first, last = doc - (doc & MASK), doc - (doc & MASK) + len(lengths) - 1
    size = lengths[doc & MASK]
    small = None if size < SMALL else _window(low, high, size, SMALL, postings, weights)
    behind = True
    while size < LARGE and high - low < 24 and (low > first or high < last):
        if (behind and high < last) or low == first:
            high += 1
            size += lengths[high & MASK]
        else:
            low -= 1
            size += lengths[low & MASK]
        behind = not behind
        if small is None and size >= SMALL:
            small = _window(low, high, size, SMALL, postings, weights)
    large = _window(low, high, size, LARGE, postings, weights)
    return (large if small is None else small), large


def _window(
    low: int, high: int, size: int, usual: int, postings: list[dict[int, int]], weights: list[float]
) -> float:
    norm = K1 * (1 - B + B * size / usual)
    total = 0.0
    docs = range(low, high + 1)
    for found, weight in zip(postings, weights, strict=True):
        count = 0
        for doc in docs:
            if doc in found:
                count += found[doc]
        if count:
            total += weight * count / (count + norm)
    return total


def _threads(
    index: Index, postings: list[dict[int, int]], weights: list[float], thread_count: int, total_terms: int, wanted: set[int]
) -> dict[int, float]:
    """BM25 of whole threads, with the terms' frequency in threads."""
    average = max(1.0, total_terms / max(1, thread_count))
    norms: dict[int, float] = {}
    out: dict[int, float] = {}
    shift = SHIFT.__rrshift__
    for found, weight in zip(postings, weights, strict=True):
        if not found or not weight:
            continue
        by_thread = Counter(map(shift, found))
        rarity = idf(len(by_thread), thread_count)
        for number in wanted & by_thread.keys():
            norm = norms.get(number)
            if norm is None:
                thread = index.thread(number)
                norm = norms[number] = K1 * (1 - B + B * (thread.total_terms if thread else 0) / average)
            count = by_thread[number]
            out[number] = out.get(number, 0.0) + rarity * count / (count + norm)
    return out
