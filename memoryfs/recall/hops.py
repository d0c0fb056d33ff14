"""In: the best events of a first search. Out: further query terms: identifiers they hold that open a second search.

A question about a consequence often names only the cause. Identifiers, paths and quoted values that stand in the best
spans but not in the question, and are rare in the store, are searched for once more; what they find joins behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from memoryfs.recall.query import Query
from memoryfs.text import scan

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.recall.retrieve import Found

MOST = 4  # terms of the second hop
RARE = 40  # documents at most
HOP_WEIGHT = 0.5
KEPT, AHEAD, JOINED = 120, 7, 2  # events of the first hop kept; those that stay ahead; at most joined from the second


def join(first: Found, second: Found) -> Found:
    """The first search's ranking; the best that only the second found comes behind its first `AHEAD` events."""
    known = {item.doc for item in first.events[:KEPT]}
    fresh = [item for item in second.events[:KEPT] if item.doc not in known][:JOINED]
    if not fresh or len(first.events) <= AHEAD:
        return first
    floor = first.events[AHEAD - 1].score
    for place, item in enumerate(fresh):
        item.score = min(item.score, floor - 1e-6 * (place + 1))
    events = sorted([*first.events[:KEPT], *fresh], key=lambda item: (-item.score, item.doc))
    return replace(first, events=events, weights={**second.weights, **first.weights})


def openings(index: Index, query: Query, texts: Iterable[str]) -> tuple[tuple[str, float], ...]:
    """(term, weight) of the identifiers in `texts` that are rare, new to the query, and stand in more than one document."""
    asked = {term for term, _ in query.terms}
    found: dict[str, int] = {}
    for text in texts:
        for term, kind in scan(text):
            if kind != "whole" or len(term) < 4 or term in asked or term in found or term.replace(".", "").isdigit():
                continue
            count = index.lexicon.documents(term)
            if 2 <= count <= RARE:
                found[term] = count
            if len(found) >= 24:
                break
    rarest = sorted(found, key=lambda term: (found[term], term))[:MOST]
    return tuple((term, HOP_WEIGHT) for term in rarest)
