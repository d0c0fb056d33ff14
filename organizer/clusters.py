"""In: the memories of one topic. Out: the group of them that is a subject of its own, and the word that names it. Pure.

A subject is a word that a fair part of the topic's memories say, whose sayers also share other words among themselves
more than with the rest: words that happen to occur everywhere, or in unrelated statements, gather no such group.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memoryfs.model import Memory
from organizer.subject import is_action, spelled, terms, written

LEAST = 5  # memories that are worth a file of their own; fewer (3) where topics are kept very small
MOST = 0.6  # of a topic's memories: a larger one is what the topic itself is about
APART = 0.06  # by how much more the members resemble each other than the rest, mean cosine of their words


@dataclass(frozen=True, slots=True)
class Group:
    """`word` as it is mostly written; `ids` in the order in which the memories stand."""

    word: str
    ids: tuple[str, ...]
    apart: float


def find_group(
    memories: Sequence[Memory], movable: Collection[str], *, most: int, without: Collection[str] = ()
) -> Group | None:
    """The group that is most a subject of its own among `memories` (those that hold now), of ids in `movable`; None if none is.

    `most` is how many memories a topic may hold; `without` are words (`subject.terms`) that name no group: what the topic is
    about, and what named one before.
    """
    said = {m.id: set(terms(m.summary)) for m in memories}
    words = {m.id: said[m.id] | {t for hint in m.query_hints for t in terms(hint)} for m in memories}
    vectors = _vectors(words)
    shown: dict[str, Counter[str]] = {}
    for memory in memories:
        for key, form in written(memory.summary):
            shown.setdefault(key, Counter())[form] += 1
    best: Group | None = None
    worth = 0.0
    for word in sorted(shown):
        if word in without or is_action(shown[word]):
            continue
        ids = tuple(m.id for m in memories if m.id in movable and word in said[m.id])
        if not max(3, min(LEAST, most // 4)) <= len(ids) <= min(most, MOST * len(memories)):
            continue
        apart = _apart(ids, vectors, word)
        if apart >= APART and apart * len(ids) > worth:
            best, worth = Group(spelled(shown[word]), ids, apart), apart * len(ids)
    return best


def _vectors(words: Mapping[str, set[str]]) -> dict[str, dict[str, float]]:
    """The words of each memory weighed by how few of the others have them; what only one has compares with nothing."""
    counts = Counter(term for found in words.values() for term in found)
    rare = {t: math.log((len(words) + 1) / (n + 0.5)) for t, n in counts.items() if n > 1}
    return {id: {t: rare[t] for t in sorted(found) if t in rare} for id, found in words.items()}


def _apart(ids: Sequence[str], vectors: Mapping[str, Mapping[str, float]], word: str) -> float:
    """Mean likeness of the members to each other, less that to the rest; the word that gathers them is not counted."""
    inside = set(ids)
    units = {id: _unit({t: w for t, w in vector.items() if t != word}) for id, vector in vectors.items()}
    near, far = (_sum(units[id] for id in units if (id in inside) == side) for side in (True, False))
    others = len(units) - len(inside)
    total = 0.0
    for id in ids:
        own = units[id]
        within = (_dot(own, near) - _dot(own, own)) / (len(ids) - 1)
        total += within - (_dot(own, far) / others if others else 0.0)
    return total / len(ids)


def _unit(vector: dict[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(w * w for w in vector.values()))
    return {t: w / length for t, w in vector.items()} if length else {}


def _sum(vectors: object) -> dict[str, float]:
    out: dict[str, float] = {}
    for vector in vectors:  # type: ignore[attr-defined]
        for term, weight in vector.items():
            out[term] = out.get(term, 0.0) + weight
    return out


def _dot(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    return sum(weight * b.get(term, 0.0) for term, weight in a.items())
