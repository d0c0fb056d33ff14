"""In: a question that names one of the people who speak, and what was said. Out: by how much it fits another's life better.

Two people talk: "I" and "my" are the speaker's, "you" and "your" the other's, and a sentence with neither is mostly about
the one who says it. So every sentence is put down to a person, and the words of the question are counted on both sides.
Who speaks does not decide: "your bowl is lovely" says something of the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from memoryfs.patterns import lazy
from memoryfs.text import normalise, scan

# How much a sentence tells of its speaker and of the other. On LoCoMo conv-26, 30, 41 the split of answerable and
# misplaced questions hardly depends on them (AUC .882 to .889 for .15 to .3 and .5 to .8).
OWN, LITTLE, NEUTRAL = 1.0, 0.25, 0.6
ASKER, ASKED = 0.3, 0.5  # of a question without either pronoun: "How was the race?" is about the other's race
BEST = 3  # turns of each side that are compared; one alone may be chance (AUC .870 for 1, .886 for 3, .887 for 5)
CATEGORY = 0.5  # weight of the words between "which" and the verb: "which countries" is answered by "Spain"

_FIRST = lazy(
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself|we|our|us|ours|we're|we've)\b|私|わたし|僕|ぼく|俺|おれ|うち[のはも]|自分"
    r"|(?<![가-힣])(?:나|내|난|저|제|우리)[는도를의가]?(?![가-힣])|我|咱",
    re.I,
)
_SECOND = lazy(
    r"\b(?:you|your|yours|you're|you've|you'd|you'll|yourself)\b|あなた|君[のはがを]|きみ|お前|そちら|さん[のはがも]"
    r"|(?<![가-힣])(?:너|넌|네|니|당신)[는도를의가]?(?![가-힣])|[님씨][은는이가의도](?![가-힣])|你|您",
    re.I,
)
_SPLIT = lazy(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_CATEGORY = lazy(
    r"\b(?:what|which)\s+((?:[\w'-]+\s+){1,4}?)(?:did|does|do|is|are|was|were|has|have|had|can|could|would|will|should)\b"
    r"|(?:どんな|どの|何の|어떤|무슨|어느|什么样的|哪个|哪种|什么)\s*([^\s、。？?のをはがにでは은는이가을를]{1,6})",
    re.I,
)


def persons(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """The speakers that the question names, by their whole or first name (CJK: the name stands in it)."""
    plain = normalise(question)
    return frozenset(name for name in speakers if name and any(_stands(part, plain) for part in _parts(name)))


def _parts(name: str) -> tuple[str, ...]:
    folded = normalise(name).strip()
    first = folded.split()[0] if folded else ""
    return tuple(part for part in dict.fromkeys((folded, first)) if len(part) > 1)


def _stands(part: str, plain: str) -> bool:
    if part.isascii():
        return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", plain) is not None
    return part in plain


def mismatch(
    question: str, person: str, said: Iterable[tuple[str, str]], weights: Mapping[str, float], mass: float,
    names: Collection[str],
) -> float:
    """By how much (−1..1) what tells of others covers the question better than what tells of `person`.

    `said`: (speaker, text) of the likeliest places; `weights`: search term → weight × idf; `mass`: the weight of the
    whole question, words that the store has never seen too; `names`: of all who speak, which do not count as words.
    """
    dropped = {term for name in names for term, _ in scan(name)}
    left = max(mass - sum(weight for term, weight in weights.items() if term in dropped), 1e-6)
    category = _CATEGORY.search(question)
    light = {term for part in (category.groups() if category else ()) if part for term, _ in scan(part)}
    wanted = {
        term: weight * (CATEGORY if term in light else 1.0) for term, weight in weights.items() if term not in dropped
    }
    covered: tuple[list[float], list[float]] = ([], [])  # of the person, of others
    for speaker, text in said:
        for side, held in enumerate(_sides(text, speaker == person, wanted)):
            if held:
                covered[side].append(sum(wanted[term] * share for term, share in held.items()) / left)
    own, other = (sum(sorted(side, reverse=True)[:BEST]) / BEST for side in covered)
    return other - own


def _sides(text: str, own: bool, wanted: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """How surely each wanted term of one turn is said of the person, and of the other."""
    out: tuple[dict[str, float], dict[str, float]] = ({}, {})
    for terms, speaker, other in _sentences(text):
        for term in terms & wanted.keys():
            for side, share in zip(out, (speaker, other) if own else (other, speaker), strict=True):
                if share:
                    side[term] = max(side.get(term, 0.0), share)
    return out


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[tuple[frozenset[str], float, float], ...]:
    """Of each sentence of a turn its terms, and how much it tells of the speaker and of the other."""
    out = []
    for sentence in _SPLIT.split(text):
        first, second = (len(words.findall(sentence)) for words in (_FIRST, _SECOND))
        if first and first >= second:
            shares = OWN, LITTLE
        elif second:
            shares = LITTLE, OWN
        else:
            shares = (ASKER, ASKED) if sentence.rstrip().endswith(("?", "？")) else (NEUTRAL, 0.0)
        out.append((frozenset(term for term, _ in scan(sentence)), *shares))
    return tuple(out)
