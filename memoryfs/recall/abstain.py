"""In: what was retrieved. Out: "" or why it does not support an answer.

Signs each of which says no by itself; constants from LoCoMo conv-26, 30, 41 and the coding sets, chosen so that less
than 3 % of the answerable questions are refused. The words of a question tell little about whether it can be answered,
and nothing at all where the answer may stand in another language: what tells is who is asked about, and technical
names that the store has never seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memoryfs.recall import fuse
from memoryfs.recall.query import Query
from memoryfs.text import scan, script_of

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.recall.retrieve import Found

WEAK = 0.05  # share of the query's weight that some place must cover, where words can be compared at all
MISMATCH, DENSE_MISMATCH = 0.58, 0.8  # by how much what others said may fit better than all that the person asked
# about said: by words, and with vectors, whose similarity adds to the score
LOOKED_AT = 60
_TECHNICAL = re.compile(r"\b(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*|[a-z]+[A-Z]\w+|\w+_\w+|[A-Za-z]+\d+\w*)\b")


def weak(index: Index, query: Query, found: Found) -> str:
    """Why nothing found supports an answer, as a sentence; "" if something does."""
    if not found.events and not found.memories:
        return "Nothing in this store matches the question."
    best_memory = max((item.coverage for item in found.memories[:5]), default=0.0)
    covered = max(found.coverage, best_memory)
    if covered < WEAK and _speaks_only(index, script_of(query.text)):
        return "Almost none of the question's words occur together anywhere in this store."
    unknown = [m[0] for m in _TECHNICAL.finditer(query.text) if not _known(index, m[0])]
    if unknown and best_memory < 0.5:
        return f"This store never mentions {', '.join(dict.fromkeys(unknown))}."
    if _someone_else(found) and best_memory < 0.5:
        return "What fits the question was said by someone else than the person it asks about."
    return ""


# Words that stand in nearly every text of a language: how much of the store is written in it.
_COMMON = {
    "latin": ("the", "and", "to"), "kana": ("した", "して", "です", "ます"), "hangul": ("니다", "하고", "하는", "습니"),
    "han": ("的", "了"),
}
ALONE = 0.9


def _speaks_only(index: Index, script: str) -> bool:
    """Whether nearly all of the store is written as the question is, so that its words would be found if they were there."""
    counts = {name: max(map(index.lexicon.documents, words)) for name, words in _COMMON.items()}
    return counts[script] > ALONE * sum(counts.values())


def _known(index: Index, name: str) -> bool:
    return any(index.lexicon.documents(term) for term, _ in scan(name, query=True))


def _someone_else(found: Found) -> bool:
    """Whether the person named in the question said nothing that fits nearly as well as what others said."""
    if not found.asked_speaker:
        return False
    own = [item.score - fuse.WEIGHTS["speaker"] for item in found.events[:LOOKED_AT] if item.speaker]
    others = [item.score for item in found.events[:LOOKED_AT] if not item.speaker]
    limit = DENSE_MISMATCH if found.dense else MISMATCH
    return bool(others) and max(others) - max(own, default=0.0) > limit
