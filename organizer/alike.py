"""In: the topics of a store and its ledger. Out: pairs of them that look like one topic, to be proposed to a person. Pure.

Topics are compared within one repository and one folder, by their titles, tags, hints and the words of their memories, and by
meaning where there are vectors. Never proposed: what was split off the other, what a person was asked about before, topics of two
repositories, two people, and a pair that would be too large for one file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits.merged import hand_written, proposal_id
from memoryfs.edits.merging import PROPOSE
from memoryfs.files import NOTES, is_episode
from memoryfs.model import CURRENT
from memoryfs.topic import Topic
from organizer.lifecycle import pinned
from organizer.shelf import shelf_of
from organizer.split import WORD
from organizer.subject import terms
from organizer.topics import ROOM

ALIKE = 0.4  # score from which two topics are proposed as one
PERHAPS = 0.3  # ... with vectors that place them as near as NEAR
NEAR = 0.93  # cosine of e5-small between title and weightiest words; unrelated topics of one project reach .88
WEIGHTS = {"title": 0.3, "tags": 0.2, "hints": 0.15, "memories": 0.35}
MOST = 3  # open proposals in a store: a person is asked little at a time


@dataclass(frozen=True, slots=True)
class Pair:
    """`other` would go into `keep`; `words` are what both speak of most, `score` is 0 to 1."""

    keep: str
    other: str
    words: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class _Words:
    """A topic's telling words by where they stand; `memories` weighed by how few topics have them."""

    title: frozenset[str]
    tags: frozenset[str]
    hints: frozenset[str]
    memories: Mapping[str, float]


def alike(
    topics: Mapping[str, Topic], entries: Sequence[ledger.Entry], config: Config,
    similarity: Callable[[str, str], float] | None = None,
) -> list[Pair]:
    """The pairs to propose, most alike first, so many that at most `MOST` are open; a topic is in one pair at most."""
    reviews = ledger.reviews(entries)
    asked = {e.id for e in entries if e.action == PROPOSE}
    room = MOST - sum(1 for id in asked if reviews[id].open)
    apart = asked | _parted(entries)
    open_now = {path for e in entries if e.action == PROPOSE and reviews[e.id].open for path in (e.topic, str(e.extra.get("merge")))}
    usable = {p: t for p, t in sorted(topics.items()) if _usable(t) and p not in open_now}
    words = _words(usable)
    found = []
    for a, b in combinations(usable, 2):
        if proposal_id(a, b) in apart or not _may_be_one(usable[a], usable[b], config):
            continue
        score = _score(words[a], words[b])
        if score >= ALIKE or (similarity and score >= PERHAPS and similarity(_said(usable[a]), _said(usable[b])) >= NEAR):
            keep, other = sorted((a, b), key=lambda p: _standing(usable[p], entries))
            found.append(Pair(keep, other, _shared(usable[a], usable[b], words), score))
    chosen: list[Pair] = []
    for pair in sorted(found, key=lambda p: (-p.score, p.keep, p.other)):
        if len(chosen) < room and not any({pair.keep, pair.other} & {c.keep, c.other} for c in chosen):
            chosen.append(pair)
    return chosen


def _parted(entries: Iterable[ledger.Entry]) -> set[str]:
    """The ids of the pairs of which one was split off the other."""
    return {proposal_id(str(e.extra.get("from")), e.topic) for e in entries if e.action == "move" and WORD in e.extra}


def _usable(topic: Topic) -> bool:
    return topic.writable and topic.status in CURRENT and not is_episode(topic.path) and topic.path != NOTES \
        and not pinned(topic) and any(m.status in CURRENT for m in topic.memories)


def _may_be_one(a: Topic, b: Topic, config: Config) -> bool:
    folder = a.path.rpartition("/")[0]
    if folder != b.path.rpartition("/")[0] or shelf_of(a).repo != shelf_of(b).repo:
        return False
    if folder == "contacts" and sorted(_name(a)) != sorted(_name(b)):
        return False
    most = config.organize.topic_split_memories
    held = sum(m.status in CURRENT for t in (a, b) for m in t.memories)
    return (not most or held <= most) and len(a.text) + len(b.text) < config.organize.topic_max_bytes * ROOM


def _name(topic: Topic) -> list[str]:
    """A person's name in parts, whole: `Alex Chen` and `Alex Park` are two people, `Alex` may be either."""
    return topic.title.casefold().replace(",", " ").split()


def _words(topics: Mapping[str, Topic]) -> dict[str, _Words]:
    said = {p: Counter(t for m in topic.memories if m.status in CURRENT for t in set(terms(m.summary))) for p, topic in topics.items()}
    held = Counter(term for counts in said.values() for term in counts)
    out = {}
    for path, topic in topics.items():
        own = set(terms(shelf_of(topic).repo))
        weighed = {t: n * math.log((len(topics) + 1) / (held[t] + 0.5)) for t, n in said[path].items() if t not in own}
        out[path] = _Words(
            *(frozenset(t for text in texts for t in terms(text) if t not in own) for texts in ([topic.title], topic.tags, topic.query_hints)),
            {t: w for t, w in weighed.items() if w > 0})
    return out


def _score(a: _Words, b: _Words) -> float:
    """0 to 1: what the titles, the tags, the hints and the memories have in common."""
    dot = sum(w * b.memories.get(t, 0.0) for t, w in a.memories.items())
    size = math.sqrt(sum(w * w for w in a.memories.values()) * sum(w * w for w in b.memories.values()))
    parts = {"title": _share(a.title, b.title), "tags": _share(a.tags, b.tags), "hints": _share(a.hints, b.hints),
             "memories": dot / size if size else 0.0}
    return sum(WEIGHTS[name] * share for name, share in parts.items())


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


def _shared(a: Topic, b: Topic, words: Mapping[str, _Words]) -> tuple[str, ...]:
    """The words that both speak of, as they are written in the first one, weightiest first."""
    from organizer.subject import spelled, written

    one, two = words[a.path], words[b.path]
    forms: dict[str, Counter[str]] = {}
    for text in (a.title, *a.tags, *(m.summary for m in a.memories)):
        for key, form in written(text):
            forms.setdefault(key, Counter())[form] += 1
    both = {t: w * two.memories[t] for t, w in one.memories.items() if t in two.memories}
    both |= {t: both.get(t, 0.0) + 1.0 for t in (one.title & two.title) | (one.tags & two.tags)}
    return tuple(spelled(forms[t]) for t in sorted(both, key=lambda t: (-both[t], t)) if t in forms)[:3]


def _said(topic: Topic) -> str:
    return ". ".join((topic.title, topic.summary, ", ".join(topic.tags)))


def _standing(topic: Topic, entries: Sequence[ledger.Entry]) -> tuple[object, ...]:
    """What stays comes first: the topic in which a person wrote, then the larger, the older one."""
    own = ledger.own_meta(entries).get(topic.path)
    by_hand = bool(hand_written(topic)) or not own or any(m.stated_by == "person" for m in topic.memories)
    held = sum(m.status in CURRENT for m in topic.memories)
    return not by_hand, -held, str(topic.meta.get("created_at") or "9999"), len(topic.path), topic.path
