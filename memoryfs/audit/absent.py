"""In: an opened store, a memory's id and a question. Out: `WhyNot`: where the memory ranks for it, or at which stage it is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoryfs import ledger
from memoryfs.model import CURRENT, STATUSES, Breadcrumb, Memory

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore

# The stages at which a memory is lost, in the order of recall; `listed` is the one at which it is not.
STAGES = ("unknown", "withdrawn", "archived", "not retrieved", "filtered by status", "below k", "abstained", "listed")
_ALL = 200  # as many as recall ranks


@dataclass(frozen=True)
class WhyNot:
    """`stage` is one of `STAGES`; `rank` counts from 1 among the memories of wanted status (of any status where that is
    what lost it), 0 where it has none; `why` are the parts of its score; `above` what ranks before it, best first."""

    id: str
    query: str
    stage: str
    reason: str
    remedy: str = ""
    rank: int = 0
    of: int = 0
    k: int = 0
    score: float = 0.0
    why: tuple[tuple[str, Any], ...] = ()
    shared: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    above: tuple[Breadcrumb, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id, "query": self.query, "stage": self.stage, "reason": self.reason, "remedy": self.remedy,
            "rank": self.rank, "of": self.of, "k": self.k, "score": round(self.score, 6), "why": dict(self.why),
            "shared": list(self.shared), "lacking": list(self.lacking), "above": [c.to_dict() for c in self.above]}


def why_not(store: MemoryStore, id: str, query: str, *, k: int = 0, vectors: bool = True) -> WhyNot:
    """How the memory `id` fares when `query` is asked with recall's defaults. Raises UsageError for an empty query."""
    k = k or store.config.recall.k
    memory = next((m for t in store.topics().values() for m in t.memories if m.id == id), None)
    if memory is None:
        known = ledger.state(ledger.read(store.root)[0]).get(id)
        if known is None:
            return WhyNot(id, query, "unknown", "This store has never held it.", "`memoryfs list` shows the ids.", k=k)
        if known.status == "archived":
            return WhyNot(id, query, "archived", f"It stands in {known.topic}; recall looks for memories outside of archive/.",
                          "Move its line back into a topic file to bring it back.", k=k)
        return WhyNot(id, query, "withdrawn", f"It was withdrawn ({known.withdrawn_by or 'it stands in no file'}).",
                      "Write it again, with `memoryfs remember` or into the file, to bring it back.", k=k)
    wanted = store.recall(query, k=_ALL, level=0, vectors=vectors)
    place = _place(wanted.memories, id)
    shared, lacking = _words(memory, store, query)
    more = {"k": k, "shared": shared, "lacking": lacking}
    if place is None:
        anyhow = store.recall(query, k=_ALL, level=0, status=STATUSES, vectors=vectors)
        rank = _place(anyhow.memories, id)
        if rank is not None and (status := anyhow.memories[rank].memory.status) not in CURRENT:
            crumb = anyhow.memories[rank]
            return WhyNot(
                id, query, "filtered by status", f"It is {status}; recall answers with what holds now.",
                f"`memoryfs recall --status all` shows it, `memoryfs audit ^{id}` what replaced it.",
                rank + 1, len(anyhow.memories), score=crumb.score, why=tuple(crumb.why.items()), **more)
        return WhyNot(id, query, "not retrieved", _unmatched(shared, len(wanted.memories)),
                      "Add the words one would ask with to its topic's query_hints.", of=len(wanted.memories), **more)
    crumb = wanted.memories[place]
    more |= {"rank": place + 1, "of": len(wanted.memories), "score": crumb.score, "why": tuple(crumb.why.items())}
    if place >= k:
        return WhyNot(id, query, "below k", f"{place} memories rank above it, and {k} are returned.",
                      f"Ask with -k {place + 1}, or with words that are its own.", above=wanted.memories[:k], **more)
    if wanted.abstained:
        return WhyNot(id, query, "abstained", "It is only the nearest: " + " ".join(wanted.notices),
                      "Ask with words that stand in it, or add hints to its topic.", above=wanted.memories[:place], **more)
    return WhyNot(id, query, "listed", f"It comes back at rank {place + 1}.", above=wanted.memories[:place], **more)


def _place(crumbs: tuple[Breadcrumb, ...], id: str) -> int | None:
    return next((n for n, crumb in enumerate(crumbs) if crumb.memory.id == id), None)


def _words(memory: Memory, store: MemoryStore, query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The question's words that the memory or its topic holds, and those that they lack, in the question's order."""
    from memoryfs.text import query_terms, scan

    topic = store.topics()[memory.topic]
    about = (topic.title, topic.summary, topic.retrieve_when, *topic.tags, *topic.query_hints)
    held = {term for text in (memory.summary, memory.quote, *memory.query_hints, *about) for term, _ in scan(text)}
    asked = set(query_terms(query))
    own: dict[str, bool] = {}
    for word in query.split():
        terms = [term for term, _ in scan(word, query=True) if term in asked]
        names = [word.strip("?!.,;:。？！、「」\"'()")] if word.isascii() else terms  # CJK text has no blanks between words
        for name in names if terms else ():
            own[name] = any(term in held for term in (terms if word.isascii() else [name]))
    return tuple(n for n, has in own.items() if has), tuple(n for n, has in own.items() if not has)


def _unmatched(shared: tuple[str, ...], others: int) -> str:
    if not shared:
        return "Neither it nor its topic holds a word of the question, and no vector places it near."
    return f"It shares only {', '.join(shared)} with the question; {others} other memories match it better."
