"""In: candidates that narrowly failed the gate, and the statements that wait. Out: which wait from now on, and which are learned,
being said again in another session, with the sources of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memoryfs import inbox, ledger
from memoryfs.inbox import FULL, Waiting
from organizer.dedupe import EXACT, POSSIBLE, Known
from organizer.nouns import Candidate, Decision

if TYPE_CHECKING:
    from organizer.apply import Planner

DETAILS = ("topic_key", "quote", "quote_start", "event_index", "retrieve_when", "importance", "when", "language", "by", "score")


class Waiters:
    """The statements that wait or had to make room, ready to be compared with; grows as a run adds to it."""

    def __init__(
        self, entries: Iterable[ledger.Entry] = (), similarity: Callable[[str, str], float] | None = None
    ) -> None:
        self.items: dict[str, Waiting] = {}
        self._known = Known((), similarity)
        self.take(entries)

    def take(self, entries: Iterable[ledger.Entry]) -> None:
        """Take in the ledger's lines about the inbox, those of the others pass by."""
        for entry in entries:
            if entry.action != inbox.ACTION:
                continue
            settled, id = entry.extra.get("settled"), str(entry.extra.get("item"))
            if not isinstance(settled, str):
                for item in inbox.waiting([entry]).values():
                    self.items[item.id] = item
                    self._known.add(item.as_memory())
            elif id in self.items:
                self.items[id] = replace(self.items[id], settled=settled)
                if settled != FULL:
                    self._known.remove(id)

    @property
    def open(self) -> list[Waiting]:
        """What waits now, the oldest first."""
        return [i for i in self.items.values() if not i.settled]

    def find(self, candidate: Candidate) -> Waiting | None:
        """The statement of the inbox that the candidate says again, whether it still waits or had to make room."""
        match = self._known.find(candidate.summary)
        if match.outcome not in (EXACT, POSSIBLE) or match.memory is None:
            return None
        return self.items.get(match.memory.id)


def as_waiting(candidate: Candidate, repo: str) -> Waiting:
    """A candidate as it waits."""
    from memoryfs.topic import memory_id

    details = {k: getattr(candidate, k) for k in DETAILS} | {
        "hints": list(candidate.query_hints), "said_by": candidate.stated_by, "role": candidate.role, "repo": repo,
        "time": candidate.time,
    }
    return Waiting(
        memory_id(candidate.summary, candidate.source.label), candidate.summary, candidate.kind, (candidate.time or "")[:10],
        (candidate.source,), "", {k: v for k, v in details.items() if v not in (None, "", [])},
    )


def promoted(candidate: Candidate, item: Waiting) -> Candidate:
    """The candidate as it is learned at its second sighting: with the sources of both."""
    ranges = tuple(dict.fromkeys((*item.ranges, candidate.source)))
    user = "user" in (candidate.stated_by, item.details.get("said_by"))
    return replace(
        candidate, gate="keep", stated_by="user" if user else candidate.stated_by,
        metadata={**candidate.metadata, "ranges": ranges}, why=(*candidate.why, "said again"),
    )


def said_again(candidate: Candidate, decision: Decision, waiters: Waiters) -> tuple[Decision, Waiting | None]:
    """What becomes of a decision `inbox` in view of what waits: it goes there, it is there already (`ignore`), or it is learned
    (the item it promotes)."""
    item = waiters.find(candidate)
    if item is None:
        return decision, None
    if any(r.thread.partition("~")[0] == candidate.source.thread.partition("~")[0] for r in item.ranges):
        return replace(decision, action="ignore", why="waits in the inbox already"), None
    if candidate.stated_by not in ("user", "assistant") or candidate.kind != item.kind:
        return replace(decision, action="ignore", why="near to what waits in the inbox"), None
    return decision, item


def fill(planner: Planner, waiters: Waiters, found: Sequence[tuple[Candidate, str]], *, most: int, time: str) -> None:
    """Puts the candidates (with their repository) into the plan; the oldest lines make room beyond `most` in all."""
    new = {(item := as_waiting(c, repo)).id: item for c, repo in found}
    settled = {str(e.extra["item"]) for e in planner.settled}
    stands = [i for i in waiters.open if i.id not in settled and i.id not in new]
    for item in stands[: max(0, len(stands) + len(new) - max(most, len(new)))]:
        planner.settled.append(inbox.went(item, FULL, time=time, why="it made room for newer ones"))
    planner.waiting += [
        inbox.came(item, time=time, why="not certain enough to keep") for item in new.values() if item.id not in waiters.items
    ]
