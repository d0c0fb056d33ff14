"""In: a statement and the memories there are. Out: whether it is known already: exact, possible or new, and which.

Normalised equality, then one containing the other, then similarity of words (rapidfuzz) and, where an embedder has
supplied vectors, of meaning. Of two that are one, the one with all the other's words and more of its own is the fuller. Whatever the score, two statements that differ in a number, a value, a name, the sign
or the scope are never taken for one (`compare.why_different`). Candidates for comparison come from an inverted
index over content words, rarest first, so that the cost of a look-up does not grow with the store.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memoryfs.model import CURRENT, Memory, SourceRange
from memoryfs.text import similarity_key
from organizer.compare import why_different
from organizer.statement import Statement, analyse

EXACT = "exact"
POSSIBLE = "possible"
NEW = "new"

SAME_WORDS = 90.0  # rapidfuzz ratio of sorted content words, 0-100, from which two statements are one
SAME_SPELLING = 85.0  # rapidfuzz ratio of two single words: colour / color, not upload / download
CONTAINED_EXTRA = 3  # a statement containing another may have this many content words more and still be the same
SAME_MEANING = 0.955  # cosine of e5-small, whose unrelated sentences already reach .80
LIGHT = frozenset({"get", "use", "call", "take", "make", "know", "known"})  # stems that say little: gets it, uses the known one
LIGHT_AMONG = 6  # content words that two statements must share before a light word does not count
# What a statement only sets itself off from; its own sign is that of the rest: "looks at HEAD, not at older commits".
_SET_OFF = re.compile(
    r"\s*(?:[,;(\u2014\u2013]|\s-)\s*(?:and |but )?not\s[^.;)]*\)?|[，、,]?\s*而(?:不是|非)[^，。；,;]*|[\w./@$:-]+?(?:이|가)?\s*(?:아니라|말고)\s*", re.IGNORECASE
)
_NONE = re.compile(r"\bno(?=\s+\w)(?! longer| more| doubt| matter)", re.IGNORECASE)  # "hands out no cameras", not "No, it does"
_LOOKUP_WORDS = 10
_NEAR = 16
_QUOTE = 60  # folded characters of a quote that identify it within one source


@dataclass(frozen=True, slots=True)
class Match:
    """The outcome for one statement. `score` is 0 to 1; `difference` says what kept a near one from being the same."""

    outcome: str
    memory: Memory | None = None
    score: float = 0.0
    difference: str = ""
    fuller: bool = False  # the new statement says all that the memory says, and more


class Known:
    """The memories of a store, ready to be compared with; grows as a run adds to it."""

    def __init__(
        self, memories: Iterable[Memory] = (), similarity: Callable[[str, str], float] | None = None
    ) -> None:
        """`similarity` is the cosine of two texts' vectors, or None where there are none."""
        self._memories: dict[str, Memory] = {}
        self._statements: dict[str, Statement] = {}
        self._by_key: dict[str, list[str]] = defaultdict(list)
        self._by_word: dict[str, list[str]] = defaultdict(list)
        self._by_source: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.similarity = similarity
        for memory in memories:
            self.add(memory)

    def __len__(self) -> int:
        return len(self._memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self._memories.values())

    def get(self, memory_id: str) -> Memory | None:
        return self._memories.get(memory_id)

    def statement(self, memory_id: str) -> Statement:
        return self._statements[memory_id]

    def add(self, memory: Memory) -> None:
        """Add a memory, or put a changed one in the place of the old."""
        if memory.id in self._memories:
            self.remove(memory.id)
        statement = analyse(memory.summary)
        self._memories[memory.id] = memory
        self._statements[memory.id] = statement
        self._by_key[statement.key].append(memory.id)
        for word in statement.content:
            self._by_word[word].append(memory.id)
        for place in _places(memory):
            self._by_source[place].append(memory.id)

    def remove(self, memory_id: str) -> None:
        memory = self._memories.pop(memory_id, None)
        if memory is None:
            return
        for place in _places(memory):
            self._by_source[place].remove(memory_id)
        statement = self._statements.pop(memory_id)
        self._by_key[statement.key].remove(memory_id)
        for word in statement.content:
            self._by_word[word].remove(memory_id)

    def same_key(self, text: str) -> list[Memory]:
        """Memories of every status whose normalised text equals that of `text`."""
        return [self._memories[i] for i in self._by_key.get(analyse(text).key, ())]

    def learned_from(self, source: SourceRange, quote: str) -> Memory | None:
        """The memory of whatever status that was learned from this quote of this source."""
        key = fold_quote(quote)
        for memory_id in self._by_source.get((source.thread, key), ()) if key else ():
            memory = self._memories[memory_id]
            if any(r.start <= source.end and source.start <= r.end for r in memory.source_range if r.thread == source.thread):
                return memory
        return None

    def near(self, statement: Statement, limit: int = _NEAR) -> list[tuple[Memory, Statement]]:
        """Memories that share the statement's rarest words, most shared weight first; ties by id."""
        total = len(self._memories) + 1
        frequency = {w: len(self._by_word[w]) for w in statement.content if w in self._by_word}
        words = sorted((n, w) for w, n in frequency.items() if n)
        weight: Counter[str] = Counter()
        for rank, (count, word) in enumerate(words):
            if rank >= _LOOKUP_WORDS or (rank >= 3 and count > max(50, total // 4)):
                break
            gain = math.log(1 + total / count)
            for memory_id in self._by_word[word]:
                weight[memory_id] += gain  # type: ignore[assignment]
        best = sorted(weight, key=lambda i: (-weight[i], i))[:limit]
        return [(self._memories[i], self._statements[i]) for i in best]

    def find(self, text: str) -> Match:
        """What `text` is to the memories that hold now: the one it equals, the nearest, or new."""
        statement = analyse(text)
        for memory_id in self._by_key.get(statement.key, ()):
            memory = self._memories[memory_id]
            if memory.status in CURRENT and not why_different(self._statements[memory_id], statement):
                return Match(EXACT, memory, 1.0)
        best = Match(NEW)
        for memory, other in self.near(statement):
            if memory.status not in CURRENT:
                continue
            score = likeness(other, statement, self.similarity)
            if score <= 0.0:
                continue
            difference = differing(other, statement)
            if not difference:
                if best.outcome != POSSIBLE or score > best.score:
                    best = Match(POSSIBLE, memory, score, fuller=says_more(other, statement))
            elif best.outcome == NEW and score > best.score:
                best = Match(NEW, memory, score, difference)
        return best


def fold_quote(quote: str) -> str:
    """The beginning of a quote without case, marks and punctuation; a footnote may hold it cut or escaped."""
    return similarity_key(quote)[:_QUOTE]


def _places(memory: Memory) -> list[tuple[str, str]]:
    quotes = memory.metadata.get("quotes") or (memory.quote,)
    keys = {fold_quote(q) for q in quotes} - {""}
    return sorted((thread, key) for thread in {r.thread for r in memory.source_range} for key in keys)


def differing(a: Statement, b: Statement) -> str:
    """`why_different`, but for a sign that stands only in what one of them sets itself off from; and `no` counts as one."""
    difference = why_different(a, b)
    if difference == "negation":
        plain = tuple(analyse(_SET_OFF.sub("", s.text)) for s in (a, b))
        if all(s.content for s in plain) and (plain[0].text, plain[1].text) != (a.text, b.text):
            difference = why_different(*plain)
    return difference or ("negation" if bool(_NONE.search(a.text)) != bool(_NONE.search(b.text)) else "")


def says_more(old: Statement, new: Statement) -> bool:
    """Whether `new` has every content word of `old`, and words of its own that tell something."""
    return old.content < new.content and bool(new.content - old.content - LIGHT)


def likeness(a: Statement, b: Statement, similarity: Callable[[str, str], float] | None = None) -> float:
    """How alike two statements are, 0 to 1; 0.0 where they are too far apart to be one statement."""
    from rapidfuzz import fuzz

    shorter, longer = sorted((a, b), key=lambda s: len(s.content))
    if not shorter.content:
        return 0.0
    extra = len(longer.content) - len(shorter.content)
    most = max(CONTAINED_EXTRA, len(shorter.content)) if _stands_in(shorter, longer) else CONTAINED_EXTRA
    if shorter.content <= longer.content and len(shorter.content) >= 3 and extra <= most:
        return max(0.5, 1.0 - 0.05 * extra)
    score = fuzz.ratio(" ".join(sorted(a.content)), " ".join(sorted(b.content)))
    light = LIGHT if len(shorter.content & longer.content) >= LIGHT_AMONG else frozenset()
    if score >= SAME_WORDS and _same_but_for_spelling(shorter.content - longer.content - light, longer.content - shorter.content - light):
        return score / 100.0
    # Vectors of small models put "importer" beside "exporter" (.99): they are asked only whether what one statement says
    # in more words is the same, never whether one word stands for another.
    if similarity is not None and shorter.content <= longer.content and len(shorter.content) >= 3:
        cosine = similarity(a.text, b.text)
        if cosine >= SAME_MEANING:
            return cosine
    return 0.0


def _stands_in(shorter: Statement, longer: Statement) -> bool:
    """Whether the shorter one stands in the longer one word for word."""
    n = len(shorter.words)
    return any(longer.words[i : i + n] == shorter.words for i in range(len(longer.words) - n + 1))


def _same_but_for_spelling(a: frozenset[str], b: frozenset[str]) -> bool:
    """Each word that only the shorter statement has is a spelling of one that only the longer has; one may be extra."""
    from rapidfuzz import fuzz

    rest = set(b)
    for word in sorted(a):
        if not word.isalpha():  # names of things: media-eu, media-us
            return False
        twin = max(sorted(rest), key=lambda w: fuzz.ratio(word, w), default="")
        if not twin or fuzz.ratio(word, twin) < SAME_SPELLING:
            return False
        rest.discard(twin)
    return len(rest) <= 1


def vector_similarity(embed: Callable[[list[str]], object]) -> Callable[[str, str], float]:
    """A cosine over an embedder's passages, each text embedded once per run."""
    seen: dict[str, object] = {}

    def vector(text: str) -> object:
        if text not in seen:
            seen[text] = embed([text])[0]  # type: ignore[index]
        return seen[text]

    def cosine(a: str, b: str) -> float:
        return float(vector(a) @ vector(b))  # type: ignore[operator]

    return cosine
