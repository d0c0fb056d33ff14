"""In: the query's terms with their postings, and its vector. Out: candidate units with the features that rank them.

Four lexical views of one place, all BM25 and all from the same postings: the unit itself, a window of about 40 and one
of about 120 index terms around it in its thread, and the whole thread. Windows are measured in terms, not in turns, so
that they mean the same in a chat of one-liners and in an agent's log. Each view is divided by its best value, so that
their sum does not depend on the query's length.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memoryfs.index.lexical import Term, idf
from memoryfs.index.units import MASK, MESSAGE, NO_TIME, QUESTION, ROLE_MASK, SHIFT

if TYPE_CHECKING:
    from memoryfs.index.core import Index

K1, B = 1.2, 0.75
SMALL, LARGE = 40, 120  # window sizes in index terms (RECALL-NOTES)
CANDIDATES = 400
NEIGHBOURS_OF = 120


@dataclass(slots=True)
class Candidate:
    """One unit. `lexical` holds unit, small, large, thread, each 0..1; `similarity` 0..1 above the store's mean."""

    doc: int
    unit: float = 0.0
    small: float = 0.0
    large: float = 0.0
    thread: float = 0.0
    dense: float = 0.0
    dense_near: float = 0.0
    when: float = 0.0
    speaker: float = 0.0
    memory: float = 0.0
    literal: float = 0.0
    message: bool = True
    question: bool = False
    role: int = 0
    terms: int = 0
    score: float = 0.0
    why: dict[str, float] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return self.doc >> SHIFT

    @property
    def nth(self) -> int:
        return self.doc & MASK


def candidates(
    index: Index, terms: list[Term], *, similar: Mapping[int, float] = {}, until: int | None = None,
    extra: Mapping[int, float] = {},
) -> dict[int, Candidate]:
    """Candidates by document with their lexical views filled in.

    `similar` (doc → similarity) and `extra` (doc → boost) put further documents among the candidates. Events later
    than `until` (epoch seconds) are left out before anything is counted.
    """
    units, total_terms, thread_count = index.totals()
    if not units:
        return {}
    average = max(1.0, total_terms / units)
    numbers = {doc >> SHIFT for term in terms for doc in term.postings if doc >> SHIFT}
    numbers |= {doc >> SHIFT for doc in similar} | {doc >> SHIFT for doc in extra}
    index.load_threads(numbers)
    held: dict[int, list[tuple[int, int]]] = {}  # doc → (term number, frequency)
    frequency: list[dict[int, int]] = []  # term number → thread → frequency
    holders: list[int] = []  # term number → how many units hold it
    for number, term in enumerate(terms):
        by_thread: dict[int, int] = {}
        holders.append(sum(1 for doc in term.postings if doc >> SHIFT))
        for doc, count in term.postings.items():
            thread = doc >> SHIFT
            if not thread:
                continue
            held.setdefault(doc, []).append((number, count))
            by_thread[thread] = by_thread.get(thread, 0) + count
        frequency.append(by_thread)
    if until is not None:
        held = {doc: hits for doc, hits in held.items() if _before(index, doc, until)}
        similar = {doc: s for doc, s in similar.items() if _before(index, doc, until)}
        extra = {doc: s for doc, s in extra.items() if _before(index, doc, until)}
    weights = [term.weight * idf(counts, units) for term, counts in zip(terms, holders, strict=True)]
    scores: dict[int, float] = {}
    lengths: dict[int, array] = {n: t.terms for n in numbers if (t := index.thread(n)) is not None}
    scale, base = K1 * B / average, K1 * (1 - B)
    for doc, hits in held.items():
        column = lengths.get(doc >> SHIFT)
        if column is None or (doc & MASK) >= len(column):
            continue
        norm = base + scale * column[doc & MASK]
        total = 0.0
        for number, count in hits:
            total += weights[number] * count * (K1 + 1) / (count + norm)
        scores[doc] = total
    best = sorted(scores, key=lambda d: (-scores[d], d))[:CANDIDATES]
    chosen = dict.fromkeys(best)
    for doc in best[:NEIGHBOURS_OF]:
        column = lengths[doc >> SHIFT]
        for near in (-2, -1, 1, 2):
            if 0 <= (doc & MASK) + near < len(column):
                chosen.setdefault(doc + near)
    for doc in (*similar, *extra):
        if (doc >> SHIFT) in lengths and (doc & MASK) < len(lengths[doc >> SHIFT]):
            chosen.setdefault(doc)
    if until is not None:
        chosen = {doc: None for doc in chosen if _before(index, doc, until)}
    out = {doc: Candidate(doc, unit=scores.get(doc, 0.0)) for doc in chosen}
    threads = _thread_scores(index, weights, frequency, thread_count, total_terms)
    for doc, item in out.items():
        thread = index.thread(doc >> SHIFT)
        item.thread = threads.get(doc >> SHIFT, 0.0)
        flags = thread.flags[doc & MASK]
        item.message, item.question, item.role = bool(flags & MESSAGE), bool(flags & QUESTION), flags & ROLE_MASK
        item.terms = thread.terms[doc & MASK]
        item.small, item.large = _windows(doc, thread.terms, held, weights)
    for view in ("unit", "small", "large", "thread"):
        top = max((getattr(c, view) for c in out.values()), default=0.0)
        if top > 0:
            for item in out.values():
                setattr(item, view, getattr(item, view) / top)
    return out


def _before(index: Index, doc: int, until: int) -> bool:
    thread = index.thread(doc >> SHIFT)
    if thread is None or (doc & MASK) >= len(thread):
        return False
    at = thread.at[thread.event[doc & MASK]]
    return at == NO_TIME or at <= until


def _windows(doc: int, lengths: array, held: Mapping[int, list[tuple[int, int]]], weights: list[float]) -> tuple[float, float]:
    """BM25 of the two windows around a unit: it grows by one unit after the other, before and behind in turn."""
    unit = doc & MASK
    first = doc - unit
    low = high = unit
    size = lengths[unit]
    counts: dict[int, int] = {}
    for number, count in held.get(doc, ()):
        counts[number] = counts.get(number, 0) + count
    small = -1.0
    behind = True
    end = len(lengths)
    while True:
        if small < 0 and size >= SMALL:
            small = _bm25(counts, size, SMALL, weights)
        if size >= LARGE or high - low > 24:
            break
        if low == 0 and high == end - 1:
            break
        if (behind and high < end - 1) or low == 0:
            high += 1
            grown = high
        else:
            low -= 1
            grown = low
        behind = not behind
        size += lengths[grown]
        for number, count in held.get(first + grown, ()):
            counts[number] = counts.get(number, 0) + count
    large = _bm25(counts, size, LARGE, weights)
    return (large if small < 0 else small), large


def _bm25(counts: Mapping[int, int], size: int, usual: int, weights: list[float]) -> float:
    norm = K1 * (1 - B + B * size / usual)
    return sum(weights[n] * c * (K1 + 1) / (c + norm) for n, c in counts.items())


def _thread_scores(
    index: Index, weights: list[float], frequency: list[dict[int, int]], thread_count: int, total_terms: int
) -> dict[int, float]:
    average = max(1.0, total_terms / max(1, thread_count))
    lengths: dict[int, float] = {}
    out: dict[int, float] = {}
    for number, by_thread in enumerate(frequency):
        if not by_thread:
            continue
        weight = idf(len(by_thread), thread_count)
        for thread, count in by_thread.items():
            size = lengths.get(thread)
            if size is None:
                columns = index.thread(thread)
                size = lengths[thread] = K1 * (1 - B + B * (columns.total_terms if columns else 0) / average)
            out[thread] = out.get(thread, 0.0) + weight * count * (K1 + 1) / (count + size)
    return out
