"""In: a question as typed. Out: `Query`: its weighted terms, literals, prefixes and quoted phrases, normalised once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryfs.patterns import lazy
from memoryfs.text import normalise, scan, weighted_terms

MAX_CHARS = 20_000
_PREFIX = lazy(r"(?<![\w*])(\w{2,})\*(?!\w)")
_LITERAL = lazy(r"`([^`\n]{2,120})`|\"([^\"\n]{2,120})\"|「([^」\n]{1,60})」|“([^”\n]{2,120})”")
_WHEN = lazy(r"\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|year|month|time)\b|いつ|何[年月日時曜]|언제|몇\s?[년월일시]|什么时候|何时|哪[年天月]", re.I)
_COUNT = lazy(r"\bhow (?:many|much|often|old)\b|いくつ|何[個人回件本枚台匹]|몇|얼마|多少|几[个次人]", re.I)
_NOW = lazy(
    r"\b(?:now|nowadays|today|these days|currently|current|at present|any ?more|latest|newest|still|in the end|final(?:ly)?)\b"
    r"|今は|いまは?|現在|最新|最終|지금|현재|요즘|최신|이제|现在|目前|当前|最新|如今", re.I,
)
_ACROSS = lazy(
    r"\bhow many (?!tokens|bytes|seconds|minutes)\w+|\b(?:in total|altogether|order of|so far|list (?:all|every)|each of|most recent(?:ly)?|earliest"
    r"|more than once|how (?:much|many \w+) (?:more|less|fewer|older|younger)|total (?:of|number|amount|distance|cost)|on average|average age"
    r"|percentage|compared (?:to|with)|combined|more (?:frequently|often)|(?:weeks|months|years|days) (?:have passed|between|before|after|passed)|before or after|(?:which|who) .{1,60} first)\b"
    r"|全部で|合計|順番|すべて|総数|모두|전부|합계|순서|一共|总共|顺序|所有", re.I,
)
_NAME = lazy(r"\b[A-Z][a-z]{2,}\b")


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are (term, weight); `whole` the identifiers among them; `literals` normalised exact strings; `names`
    capitalised words, folded; `prefixes` what was written as `authen*`.
    """

    text: str
    plain: str
    terms: tuple[tuple[str, float], ...]
    whole: frozenset[str]
    literals: tuple[str, ...]
    names: frozenset[str]
    prefixes: frozenset[str]
    asks_when: bool = False
    asks_count: bool = False
    asks_now: bool = False
    asks_across: bool = False  # counts, sums, orders or compares: its evidence stands in several sessions


def analyse(text: str) -> Query:
    """The query's parts. Only its first 20,000 characters count."""
    text = text[:MAX_CHARS].replace("\0", " ")
    prefixes = frozenset(normalise(m[1]) for m in _PREFIX.finditer(text))
    whole = frozenset(term for term, kind in scan(text, query=True) if kind == "whole" and len(term) > 2)
    literals = [next(g for g in m.groups() if g) for m in _LITERAL.finditer(text)]
    plain = " ".join(normalise(text).split())
    terms = dict(weighted_terms(text))
    for prefix in prefixes:
        terms.setdefault(prefix, 1.0)
    return Query(
        text=text, plain=plain, terms=tuple(terms.items()), whole=whole,
        literals=tuple(" ".join(normalise(value).split()) for value in literals),
        names=frozenset(normalise(m[0]) for m in _NAME.finditer(text)), prefixes=prefixes,
        asks_when=bool(_WHEN.search(text)), asks_count=bool(_COUNT.search(text)), asks_now=bool(_NOW.search(text)), asks_across=bool(_ACROSS.search(text)),
    )
