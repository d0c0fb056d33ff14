"""In: a question, and the store it is asked of. Out: the question, with its matters named in the languages of the store too.

Without vectors a question in Japanese shares no word with a session in English. Where the store is written in another
language than the question, what the question speaks of is looked up in a small glossary (`data/glossary.tsv`) and searched
for by its names there. The question's own words stay, and weigh more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from memoryfs.recall.query import Query
from memoryfs.text import normalise, script_of, stem, weighted_terms

if TYPE_CHECKING:
    from memoryfs.index.core import Index

FOREIGN, SPOKEN = 0.25, 0.1  # share of the store up to which a language is foreign to it, and from which it is spoken there
WEIGHT = 0.7  # of a word of the glossary, beside one of the question

# Words that stand in nearly every text of a language: how much of the store is written in it.
_COMMON = {
    "latin": ("the", "and", "to"), "kana": ("した", "して", "です", "ます"), "hangul": ("니다", "하고", "하는", "습니"),
    "han": ("的", "了"),
}
_COLUMNS = ("latin", "kana", "hangul", "han")
_HAN, _HANGUL = "一-鿿", "가-힣"
_PARTICLES = "은|는|이|가|을|를|에|의|로|도|와|과"


def shares(index: Index) -> dict[str, float]:
    """Which share of the store is written in each script (0..1 together; all 0 in an empty store)."""
    counts = {name: max(map(index.lexicon.documents, words)) for name, words in _COMMON.items()}
    total = sum(counts.values())
    return {name: count / total if total else 0.0 for name, count in counts.items()}


def widened(index: Index, query: Query) -> Query:
    """The query with terms of the store's languages, if it is asked in a language that is foreign to the store."""
    asked = script_of(query.text)
    spoken = shares(index)
    wanted = [name for name, share in spoken.items() if name != asked and share >= SPOKEN]
    if spoken[asked] > FOREIGN or not wanted:
        return query
    terms = dict(query.terms)
    for term, weight in translations(query.text, asked, wanted):
        terms.setdefault(term, weight)
    return replace(query, terms=tuple(terms.items())) if len(terms) > len(query.terms) else query


def translations(text: str, script: str, wanted: list[str]) -> Iterator[tuple[str, float]]:
    """(term, weight) of what the text speaks of, in the wanted scripts."""
    plain = normalise(text)
    words = frozenset(stem(word) for word in re.findall(r"[a-z]+", plain))
    for row in _rows():
        if any(_stands(form, plain, words) for form in row[_COLUMNS.index(script)]):
            for name in wanted:
                forms = row[_COLUMNS.index(name)]
                for form in forms:
                    yield from ((term, WEIGHT * weight / len(forms) ** 0.5) for term, weight in weighted_terms(form))


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[tuple[str, ...], ...], ...]:
    from importlib.resources import files  # at first use: few questions are asked in a foreign language

    text = files("memoryfs.recall").joinpath("data/glossary.tsv").read_text(encoding="utf-8")
    return tuple(
        tuple(tuple(form for form in normalise(cell).split(",") if form) for cell in line.split("\t"))
        for line in text.splitlines() if not line.startswith("#")
    )


def _stands(form: str, plain: str, words: frozenset[str]) -> bool:
    """Whether a form stands in the text: English by its stems, one Han or Hangul character only as a word of its own."""
    if form.isascii():
        return words.issuperset(stem(word) for word in re.findall(r"[a-z]+", form))
    if len(form) > 1:
        return form in plain
    if re.match(f"[{_HANGUL}]", form):
        return bool(re.search(f"(?<![{_HANGUL}]){form}(?:{_PARTICLES})?(?![{_HANGUL}])", plain))
    return bool(re.search(f"(?<![{_HAN}]){form}(?![{_HAN}])", plain))
