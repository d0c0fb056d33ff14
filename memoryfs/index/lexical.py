"""In: query terms. Out: their postings, document by document, out of the FTS5 table.

Scores are computed from the postings, not by FTS5's `rank`: neighbouring units and whole threads are scored from the same
lists (see `recall.events`), which one pass of bm25() could not do. fts5vocab reads postings by exact term, so nothing
of the query is ever parsed as FTS5 syntax.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

POSTINGS_BUDGET = 7_000  # rows one query reads at most, about 2 ms; commoner terms are left out (see `choose`)
PREFIX_TERMS = 12
PREFIX_WEIGHT = 0.35


@dataclass(frozen=True, slots=True)
class Term:
    """A query term with its weight, the number of documents that hold it, and its postings (document → frequency)."""

    text: str
    weight: float
    documents: int
    postings: dict[int, int] = field(default_factory=dict)


class Lexicon:
    """Reads the postings of one connection. Document frequencies are kept until the data changes."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self._frequency: dict[str, int] = {}

    def forget(self) -> None:
        self._frequency.clear()

    def documents(self, term: str) -> int:
        """How many documents hold the term."""
        known = self._frequency.get(term)
        if known is None:
            rows = self.db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchall()
            known = rows[0][0] if rows else 0
            if len(self._frequency) < 100_000:
                self._frequency[term] = known
        return known

    def prefixed(self, prefix: str, limit: int = PREFIX_TERMS) -> list[tuple[str, int]]:
        """Terms that begin with `prefix` (and are longer), the commonest first."""
        rows = self.db.execute(
            "SELECT term, doc FROM vocabulary WHERE term > ? AND term < ? LIMIT 400", (prefix, prefix + "\U0010ffff")
        ).fetchall()
        rows.sort(key=lambda row: (-row[1], row[0]))
        return rows[:limit]

    def postings(self, term: str, limit: int = POSTINGS_BUDGET) -> dict[int, int]:
        """Document → how often it holds the term, in order of documents."""
        rows = self.db.execute("SELECT doc FROM postings WHERE term = ? LIMIT ?", (term, limit))
        return Counter(chain.from_iterable(rows))

    def terms(
        self, wanted: Iterable[tuple[str, float]], total: int, *, budget: int = POSTINGS_BUDGET, prefix: bool = False,
        explicit: frozenset[str] = frozenset(),
    ) -> list[Term]:
        """The wanted terms with postings, rarest first, within `budget` rows; at least one if any occurs at all.

        A term that no document holds is looked up as a prefix (`auth` finds `authentication`), at a lower weight;
        with `prefix` every plain word is, and those in `explicit` (written `authen*`) at full weight.
        """
        chosen: list[tuple[int, str, float]] = []
        for text, weight in wanted:
            count = self.documents(text)
            if count:
                chosen.append((count, text, weight))
            wide = text in explicit
            if (wide or prefix or not count) and len(text) >= 3 and text[0].isalnum():
                scale = 1.0 if wide else PREFIX_WEIGHT
                chosen.extend((n, longer, weight * scale) for longer, n in self.prefixed(text))
        best: dict[str, tuple[int, float]] = {}
        for count, text, weight in chosen:
            best[text] = (count, max(weight, best.get(text, (0, 0.0))[1]))
        out: list[Term] = []
        used = 0
        for text, (count, weight) in sorted(best.items(), key=lambda item: (item[1][0], item[0])):
            if out and used + count > budget:
                break
            out.append(Term(text, weight, count, self.postings(text)))
            used += count
        return out


def idf(documents: int, total: int) -> float:
    """Inverse document frequency, Lucene's variant of BM25: ln(1 + (N - n + ½)/(n + ½)), never negative."""
    return math.log(1.0 + max(0.0, total - documents + 0.5) / (documents + 0.5))
