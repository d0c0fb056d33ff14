"""In: a prompt, and the stores that apply where it was typed. Out: the few memories that matter for it, or none.

Words only (no vectors, no model), at level 0. A memory counts when its words cover enough of the prompt's weight: a
large share of a short prompt, or a few rare words of a long one. What is not supported is not said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.model import Memory
from memoryfs.scope import Scope

if TYPE_CHECKING:
    from memoryfs.index.core import Index

SHARE, RARE_SHARE = 0.3, 0.12  # of the prompt's weight that a memory's words must cover; the less, the rarer they must be
RARITY = 0.8  # and how rare they must be together: times ln(1 + memories), about one word that no other memory has
SHORT_TERMS = 3  # a prompt with fewer weighty words is read together with the last turns
BUSY_MS = 100
FILLER = """yes no yep nope ok okay sure right thanks thank you please go on ahead continue proceed next again more do it
that this good great nice perfect cool hi hello hey well done looks lgtm fix it try now はい いいえ お願い ありがとう 続けて 次 了解
네 아니요 계속 좋아 고마워 好 好的 是 不 继续 谢谢 请 下一步"""
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)


@dataclass(frozen=True)
class Match:
    """A memory with its score, after the penalty for its store's distance."""

    memory: Memory
    score: float
    root: Path
    distance: int


def wants_context(prompt: str) -> bool:
    """Whether a prompt says too little by itself ("go on", "yes, do that")."""
    from memoryfs.text import query_terms

    return len(set(query_terms(prompt[:2000])) - _filler()) < SHORT_TERMS


@lru_cache(maxsize=1)
def _filler() -> frozenset[str]:
    from memoryfs.text import query_terms

    return frozenset(query_terms(FILLER))


def question(prompt: str, context: str) -> str:
    """What to look for: the prompt's words without long code blocks, and those of the last turns if it says little."""
    words = _FENCE.sub(lambda m: m[0][:400], prompt)[:4000]
    return f"{words}\n{context}" if context else words


def relevant(
    scopes: Sequence[Scope], query: str, *, limit: int, now: datetime, seconds: float, penalty: float
) -> list[Match]:
    """At most `limit` memories, best first; each store's index is brought up to date for at most `seconds`."""
    found: list[Match] = []
    for scope in scopes:
        found += _in_store(scope, query, now=now, seconds=seconds, penalty=penalty)
    found.sort(key=lambda match: -match.score)
    out: list[Match] = []
    said: set[str] = set()
    for match in found:
        words = " ".join(match.memory.summary.casefold().split())
        if words not in said:
            said.add(words)
            out.append(match)
    return out[:limit]


def _in_store(scope: Scope, query: str, *, now: datetime, seconds: float, penalty: float) -> list[Match]:
    from dataclasses import replace

    import apsw

    from memoryfs import index as indexes
    from memoryfs.recall.query import analyse
    from memoryfs.recall.retrieve import retrieve

    asked = analyse(query)
    asked = replace(asked, terms=tuple(term for term in asked.terms if term[0] not in _filler()))
    if not asked.terms:
        return []
    with indexes.open(scope.root) as index:
        index.db.set_busy_timeout(BUSY_MS)
        with suppress(apsw.BusyError):  # another process writes: what is indexed already must do
            index.sync(now=now, seconds=seconds)
        found = index.guarded(lambda: retrieve(
            index, asked, status=("active", "conflicted"), now=now.timestamp(), until=None, ranges=[], want_events=False,
        ), seconds=seconds)
        rarity = _rarity(index, asked.terms)
    out = []
    for item in found.memories[:50]:
        memory = item.crumb.memory
        if item.coverage < RARE_SHARE or (memory.metadata.get("prose") and memory.topic.startswith("episodes/")):
            continue
        needed = 1.0 if item.coverage >= SHARE else 2.0
        if rarity(item.doc) >= needed:
            out.append(Match(memory, item.crumb.score - penalty * scope.distance, scope.root, scope.distance))
    return out


def _rarity(index: Index, wanted: Sequence[tuple[str, float]]) -> Callable[[int], float]:
    """How rare the words that a memory shares with the prompt are together; 1 is as rare as is needed."""
    from memoryfs.index.lexical import idf
    from memoryfs.index.units import SHIFT

    total = index.db.execute("SELECT count(*) FROM memories").fetchall()[0][0]
    held: list[tuple[float, set[int]]] = []
    for text, weight in wanted:
        docs = {doc for doc in index.lexicon.postings(text) if not doc >> SHIFT}
        if docs:
            held.append((min(weight, 1.0) * idf(len(docs), total), docs))
    needed = RARITY * math.log(1 + total)
    return lambda doc: sum(worth for worth, docs in held if doc in docs) / needed
