"""In: statements of a session or a topic. Out: the words that tell what they are about, weighed; and names made of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from memoryfs.text import is_stopword, normalise, stem
from organizer import words as lists
from organizer.rules import hints

# Words of every software project, and those that only carry a sentence on: they tell no two topics apart.
GENERIC = lists.listed("generic") | lists.listed("filler")
_WORD = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:[._/-][A-Za-z0-9]+)*|[\u30a1-\u30fa\u30fc]{2,}|[\u4e00-\u9fff]{2,8}|[\uac00-\ud7a3]{2,}"
)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_KO_TAIL = re.compile("(?:에서|에게|으로|라고|까지|부터|처럼|보다|하고|은|는|이|가|을|를|의|에|도|만|로|와|과)$")


class Said(Protocol):
    """Anything with words: a candidate, a memory."""

    @property
    def summary(self) -> str: ...


@dataclass(frozen=True, slots=True)
class About:
    """What a session is about: its repository's name ("" outside of one), its title, its users' words, the names of its
    git branch, of the files it dealt with, and of those it edited, most often first."""

    repo: str = ""
    title: str = ""
    text: str = ""
    branch: str = ""
    files: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()


def terms(text: str) -> list[str]:
    """The words of `text` that can tell subjects apart, folded and stemmed, identifiers split; with repetitions."""
    return [key for key, _ in written(text)]


def written(text: str) -> Iterable[tuple[str, str]]:
    """(key, display form) of each telling word."""
    for match in _WORD.finditer(text):
        word = match[0]
        if not word.isascii():
            shown = _KO_TAIL.sub("", word) if "\uac00" <= word[0] <= "\ud7a3" else word
            if len(shown) > 1 and shown not in GENERIC and not is_stopword(shown):
                yield normalise(shown), shown
            continue
        for atom in re.split(r"[._/-]", word):
            pieces = _CAMEL.findall(atom) if not atom.islower() else [atom]
            for piece in pieces if len(pieces) <= 6 else ():
                folded = piece.lower()
                if len(folded) < 3 or folded in GENERIC or is_stopword(folded) or folded.isdigit():
                    continue
                yield stem(folded), folded


class Frequency:
    """In how many sessions and topics a term occurs: what is everywhere names nothing."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.total = 0
        self._counts: Counter[str] = Counter()
        for text in texts:
            self.learn(text)

    def learn(self, text: str) -> None:
        self.total += 1
        self._counts.update(set(terms(text)))

    def weight(self, term: str) -> float:
        """ln((N + 1) / (n + ½)), an inverse document frequency that falls to almost nothing for words that are everywhere."""
        return max(0.05, math.log((self.total + 1.0) / (self._counts[term] + 0.5)))

    def weigh(self, text: str) -> dict[str, float]:
        """The distinct terms of a text with their weights, in order."""
        return {term: self.weight(term) for term in dict.fromkeys(terms(text))}


def fits(wanted: Mapping[str, float], words: Mapping[str, int]) -> float:
    """The share of a text's term weight (`Frequency.weigh`) that a topic's words cover, 0 to 1; words said once there
    count half."""
    total = sum(wanted.values())
    said = sum(weight * (1.0 if words[t] > 1 else 0.5) for t, weight in wanted.items() if words.get(t))
    return said / total if total else 0.0


def subject(candidates: Sequence[Said], about: About, frequency: Frequency, limit: int = 2) -> list[str]:
    """The one or two words or word pairs that set these statements apart, most telling first, as they are written.

    Words that also name a file of the session or its branch count more: they are what the project itself calls things.
    """
    repo = set(terms(about.repo))
    score: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    shown: dict[str, Counter[str]] = {}
    branch = about.branch.rpartition("/")[2]  # what stands before is a person's or a kind's name
    sources = [(c.summary, 2) for c in candidates] + [(about.title, 5), (about.text, 1), (branch, 2)]
    for text, times in sources:
        listed = [(k, d) for k, d in written(text) if k not in repo]
        for key, display in listed:
            shown.setdefault(key, Counter())[display] += 1
        for key in {k for k, _ in listed}:
            score[key] += times
        pairs.update({(a[0], b[0]) for a, b in pairwise(listed) if a[0] != b[0]})
    named = {t for f in about.files for t in terms(f.rsplit("/", 2)[-1])} | set(terms(branch))
    weight = {
        k: n * frequency.weight(k) * (2.0 if k in named else 1.0) * (0.4 if is_action(shown[k]) else 1.0)
        for k, n in score.items()
    }
    within = Counter(k for c in candidates for k in set(terms(c.summary)))
    often = max(2, len(candidates) // 4)
    titled = set(terms(about.title))  # what the session is called after needs no second statement to name a topic
    ranked = sorted((k for k in weight if within[k] + (k in titled) >= 2 and within[k]), key=lambda k: (-weight[k], k))[:8]
    ranked = ranked or sorted(weight, key=lambda k: (-weight[k], k))[:1]
    names: list[str] = []
    used: set[str] = set()
    for key in ranked:
        if key in used or len(names) == limit or (
            names and (weight[key] < weight[ranked[0]] * 0.5 or within[key] < often)
        ):
            continue
        group = [key]
        near = sorted((-n, p) for p, n in pairs.items() if key in p and n >= 3 and not used & set(p))
        if near and not names and -near[0][0] >= 0.3 * len(candidates):
            other = next(k for k in near[0][1] if k != key)
            # One name in two words only where the first seldom stands without the second: not `deploy key` for deploys.
            if weight[other] >= weight[key] * 0.6 and -near[0][0] * 2 > shown[key].total():
                group = list(near[0][1])
        used.update(group)
        names.append(" ".join(spelled(shown[k]) for k in group))
        if len(group) > 1:
            break
    return names


# Forms of verbs and other words that say what was done, not what it was done to.
_ACTION = re.compile(r"\w{3}(?:ing|ed|ly|able|ize|ise)$|^(?:enable|disable|include|exist|invoke|construct|handle|replace|contain|display|print|ask|say|find|give|keep)s?$")


def is_action(forms: Counter[str]) -> bool:
    """A word that is only ever said in its -ing form names a thing (staging, billing, routing), not a deed."""
    noun = len(forms) == 1 and forms.total() >= 3 and next(iter(forms)).endswith("ing")
    return not noun and bool(_ACTION.search(spelled(forms)))


def spelled(forms: Counter[str]) -> str:
    return min(forms, key=lambda f: (-forms[f], len(f), f))


def repository(cwd: str | None) -> str:
    """The name of the repository a session ran in, from its directory: worktrees and dated copies count as the one."""
    return re.sub(r"^\d{4}-?\d{2}-?\d{2}[-_]", "", hints.repository(cwd))
