"""In: what was retrieved. Out: "" or why it does not support an answer.

Signs each of which says no by itself; constants from LoCoMo conv-26, 30, 41 and the coding sets, chosen so that less
than 3 % of the answerable questions are refused. The words of a question tell little about whether it can be answered,
and nothing at all where the answer may stand in another language: what tells is who is asked about, and technical
names that the store has never seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoryfs.patterns import lazy
from memoryfs.recall import fuse, glossary, kinds, whose
from memoryfs.recall.query import Query
from memoryfs.text import scan, script_of, stem

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.recall.events import Candidate
    from memoryfs.recall.retrieve import Found

WEAK = 0.05  # share of the query's weight that some place must cover, where words can be compared at all
# What others said must cover more of the question than what the person said of himself, by this much; the ranking's own
# difference, which sees neighbours and whole threads too, adds a little. On LoCoMo conv-26, 30, 41 .12 refuses .021 of the
# answerable questions; unseen conversations refuse nearly twice as many, so the line is where half of 3 % is refused
# (the curve stands in tests/benchmarks/README.md).
ELSE, RANKED = 0.16, 0.1
# A value of the class asked for (a price, a percentage …) must stand where at least this share of the question's words stands
# that the best place holds; in a memory, where this share of the question's weight does.
NEAR, HELD = 0.6, 0.3
LOOKED_AT = 40  # places whose sentences are read for that (120 tell nothing more)
_TECHNICAL = lazy(r"\b(?:[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*|[a-z]+[A-Z]\w+|\w+_\w+|[A-Za-z]+\d+\w*)\b")


def weak(index: Index, query: Query, found: Found) -> str:
    """Why nothing found supports an answer, and what was searched, in two sentences; "" if something does."""
    why = _why(index, query, found)
    return f"{why} {searched(index, found)}" if why else ""


def searched(index: Index, found: Found) -> str:
    """What the answer was looked for in: by which views, how many threads of which days, how many memories."""
    threads, first, last = index.db.execute(
        "SELECT count(*), min(CASE WHEN name < ':' THEN name END), max(CASE WHEN name < ':' THEN name END) FROM threads"
    ).fetchall()[0]  # names begin with their day; those of unknown day, with a letter
    ((memories,),) = index.db.execute("SELECT count(*) FROM memories WHERE kind = 'memory'").fetchall()
    days = f" ({first[:10]} to {last[:10]})" if first else ""
    views = "words and meaning" if found.dense else "words"
    return (f"Searched by {views}: {threads} thread{'s' * (threads != 1)}{days}, "
            f"{memories} {'memory' if memories == 1 else 'memories'}.")


def _why(index: Index, query: Query, found: Found) -> str:
    if not found.events and not found.memories:
        return "Nothing in this store matches the question."
    best_memory = max((item.coverage for item in found.memories[:5]), default=0.0)
    covered = max(found.coverage, best_memory)
    if covered < WEAK and _speaks_only(index, script_of(query.text)):
        return "Almost none of the question's words occur together anywhere in this store."
    unknown = [m[0] for m in _TECHNICAL.finditer(query.text) if not _known(index, m[0])]
    if unknown and best_memory < 0.5:
        return f"This store never mentions {', '.join(dict.fromkeys(unknown))}."
    missing = _missing(index, query, found)
    if missing:
        return f"This store speaks of it, but says no {missing}."
    if found.asked_speaker and best_memory < 0.5 and _someone_else(index, query, found) > ELSE:
        return "What fits the question was said of someone else than the person it asks about."
    return ""


ALONE = 0.9


def _speaks_only(index: Index, script: str) -> bool:
    """Whether nearly all of the store is written as the question is, so that its words would be found if they were there."""
    return glossary.shares(index)[script] > ALONE


_PIECES = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _known(index: Index, name: str) -> bool:
    """Whether the store holds a name whole, or every piece of it (`SIAC_GEE` as two words; of OAuth, `auth` is not enough)."""
    terms = list(scan(name, query=True))
    if any(index.lexicon.documents(term) for term, kind in terms if kind != "part"):
        return True
    pieces = _PIECES.findall(name)
    return all(len(piece) > 1 and index.lexicon.documents(stem(piece.lower())) for piece in pieces)


def _missing(index: Index, query: Query, found: Found) -> str:
    """The class of values that the question asks for, if none stands near its subject; "" otherwise."""
    asked = kinds.amount(query.text)
    if asked is None or not found.events or not found.mass:
        return ""
    name, values = asked
    if any(item.coverage >= HELD and values.search(item.crumb.memory.summary) for item in found.memories[:5]):
        return ""
    nearest = holding = 0.0
    for item in found.events[:LOOKED_AT]:
        text = _around(index, item)
        held = sum(found.weights.get(term, 0.0) for term in {term for term, _ in scan(text)}) / found.mass
        nearest = max(nearest, held)
        if held > holding and values.search(text):
            holding = held
    return name if holding < NEAR * nearest else ""


def _around(index: Index, item: Candidate) -> str:
    """The text of a place and of its neighbours."""
    thread = index.thread(item.number)
    out = []
    for unit in range(max(0, item.nth - 1), min(len(thread), item.nth + 2)):
        event = index.sources.event(thread, thread.event[unit])
        if event is not None:
            out.append(event.text[thread.start[unit] : thread.end[unit]])
    return "\n".join(out)


def _someone_else(index: Index, query: Query, found: Found) -> float:
    """By how much better what was said of others fits than what was said of the one person whom the question names."""
    ranked = sorted(found.events, key=lambda item: -_plain(item))[:LOOKED_AT]
    threads = {item.number: index.thread(item.number) for item in ranked}
    speakers = {name for thread in threads.values() for name in thread.names if name}
    named = whose.persons(query.text, speakers)
    if len(named) != 1:
        return 0.0
    (person,) = named
    said, own, other = [], 0.0, 0.0
    for item in ranked:
        thread = threads[item.number]
        if person not in thread.names:
            continue
        speaker = thread.names[thread.speaker[item.nth]]
        if speaker == person:
            own = max(own, _plain(item))
        else:
            other = max(other, _plain(item))
        event = index.sources.event(thread, thread.event[item.nth])
        if event is not None:
            said.append((speaker, event.text[thread.start[item.nth] : thread.end[item.nth]]))
    return whose.mismatch(query.text, person, said, found.weights, found.mass, speakers) + RANKED * (other - own)


def _plain(item: Candidate) -> float:
    """Its score without what it got for who says it."""
    return item.score - fuse.WEIGHTS["speaker"] * item.speaker
