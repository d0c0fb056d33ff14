"""In: the store as a run sees it, and memories that came or changed. Out: a plan by which of two that say the same one stays. Pure.

Sessions are compared with what is known as they are read; here what came otherwise is: by a person's hand, by a merging of topics,
from before a rule was learned. The fuller wording stays, a person's before any other, with the sources of both; the other moves to
History and points to it. What a person wrote, or brought back, is never moved, and nothing that only one of the two says is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memoryfs.model import Memory
from organizer.apply import Plan, Planner
from organizer.dedupe import EXACT, POSSIBLE, says_more
from organizer.shelf import Library

CAME = ("add", "adopt", "edit", "restore", "move")  # of a memory: it is to be compared


def joined(library: Library, ids: Iterable[str], *, now: datetime) -> Plan:
    """The plan for `ids`, in their order; an empty one where nothing says the same."""
    known = library.known
    planner = Planner(known, now=now)
    asked = {id for topic in library.topics.values() for review in topic.reviews for id in review.memory_ids}
    brought_back = {e.id for e in library.entries if e.actor == "person" and e.action == "restore"}

    def usable(memory: Memory) -> bool:
        return memory.status == "active" and memory.id not in asked and memory.topic in library.topics \
            and library.topics[memory.topic].writable and memory.metadata.get("adopted", True)

    for id in dict.fromkeys(ids):
        memory = known.get(id)
        if memory is None or not usable(memory):
            continue
        known.remove(id)
        match = known.find(memory.summary)
        known.add(memory)
        other = match.memory if match.outcome in (EXACT, POSSIBLE) else None
        if other is None or not usable(other) or other.kind != memory.kind or other.done != memory.done:
            continue
        if library.repo_of(other.topic) != library.repo_of(memory.topic):
            continue
        keep, go = sorted((memory, other), key=lambda m: _rank(library, m, other if m is memory else memory))
        if go.stated_by == "person" or {go.id, keep.id} & brought_back or (go.from_person and not keep.from_person):
            continue
        if says_more(known.statement(keep.id), known.statement(go.id)):
            continue  # the fuller one may not stay: both do
        planner.merge(go, keep, why="says the same" if match.outcome == EXACT else f"says the same in other words ({match.score:.2f})")
    return planner.plan()


def _rank(library: Library, memory: Memory, other: Memory) -> tuple[object, ...]:
    """What stays comes first: a person's words, then the fuller ones, then what was said more often, then earlier."""
    fuller = says_more(library.known.statement(other.id), library.known.statement(memory.id))
    return memory.stated_by != "person", not memory.from_person, not fuller, -len(memory.source_range), memory.date or "9999", memory.id
