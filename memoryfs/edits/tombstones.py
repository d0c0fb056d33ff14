"""In: the ledger's state and a statement. Out: whether it is one that was withdrawn, so that it never comes back.

Equal after normalisation, contained, or very similar (rapidfuzz), each only with the same numbers, identifiers and
negations: `allowed` and `not allowed`, 8080 and 8081, prod-a and prod-b are different statements. From the same source a looser
likeness is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memoryfs.ledger import Known, key_hash, text_key
from memoryfs.model import SourceRange

# Per cent of rapidfuzz's ratio; set where one changed word of an eight-word sentence is still another statement.
SIMILAR, SIMILAR_FROM_SAME_SOURCE, SAME_WORD = 88.0, 70.0, 75.0
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"[\w$@]+(?:[-_./@:\\]+[\w$]+)+", re.ASCII)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|don't|doesn't|didn't|won't|isn't|aren't|wasn't|weren't|can't"
    r"|shouldn't|mustn't|avoid|instead)\b|ない|ません|なし|禁止|不可|やめ|않|못|없|금지|안 |말고|不|没|沒|勿|别|別|無|无"
)


def values_of(key: str) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """What two statements must share to be one: numbers, identifiers, the count of negations. `key` is a `text_key`."""
    plain = key.replace("’", "'")
    return tuple(sorted(_NUMBER.findall(key))), tuple(sorted(_NAME.findall(key))), len(_NEGATION.findall(plain))


def _same(a: str, b: str, same_source: bool) -> bool:
    """Whether two text keys say the same, by the rules above. Symmetric."""
    if not a or not b:
        return False
    if a == b:
        return True
    if values_of(a) != values_of(b):
        return False
    short, long = sorted((a, b), key=lambda key: (len(key), key))
    if len(short) >= 12 and len(short) * 2 >= len(long) and re.search(rf"(?<!\w){re.escape(short)}(?!\w)", long):
        return True
    from rapidfuzz import fuzz

    ratio = max(fuzz.ratio(a, b), fuzz.token_sort_ratio(a, b))
    return ratio >= (SIMILAR_FROM_SAME_SOURCE if same_source else SIMILAR) and (same_source or _same_words(a, b))


def _same_words(a: str, b: str) -> bool:
    """Every word that stands in only one of them has a look-alike in the other, or is a stop word."""
    from rapidfuzz import fuzz

    from memoryfs.text import is_stopword

    left, right = ({w for w in re.findall(r"[\w']+", key) if not is_stopword(w)} for key in (a, b))
    only = (left - right, right - left)
    return all(
        any(fuzz.ratio(word, other) >= SAME_WORD for other in only[1 - side])
        for side in (0, 1) for word in only[side]
    )


@dataclass(frozen=True)
class _Grave:
    known: Known
    key: str
    ranges: tuple[SourceRange, ...]


def _ranges(labels: Iterable[str]) -> tuple[SourceRange, ...]:
    return tuple(found for label in labels if (found := SourceRange.parse(label)))


def _overlap(a: Iterable[SourceRange], b: tuple[SourceRange, ...]) -> bool:
    return any(x.short == y.short and x.start <= y.end and y.start <= x.end for x in a for y in b)


class Tombstones:
    """The withdrawn memories of a state, prepared once for many questions."""

    def __init__(self, state: Mapping[str, Known]) -> None:
        self._graves = [
            _Grave(known, known.key, _ranges(known.sources)) for known in state.values() if known.status == "withdrawn"
        ]
        self._hashes = {known.text_hash: known for known in state.values() if known.text_hash and known.status == "withdrawn"}

    def find(self, text: str, sources: Iterable[SourceRange | str] = ()) -> Known | None:
        """The withdrawn memory that `text` (from `sources`) would bring back; None if it is new."""
        if not self._graves:
            return None
        key = text_key(text)
        ranges = [r for s in sources if (r := SourceRange.parse(s) if isinstance(s, str) else s)]
        for grave in self._graves:
            if grave.key and _same(key, grave.key, _overlap(ranges, grave.ranges)):
                return grave.known
        if self._hashes:
            return self._hashes.get(key_hash(key))
        return None


def is_tombstoned(state: Mapping[str, Known], text: str, sources: Iterable[SourceRange | str] = ()) -> bool:
    """Whether `text` is, or says the same as, a memory that was withdrawn. For many texts use `Tombstones`."""
    return Tombstones(state).find(text, sources) is not None
