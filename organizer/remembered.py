"""In: what agents wrote by `remember` since the last run. Out: the work to write: duplicates joined, contradictions asked about;
and what does not stand in its source.

`remember` writes at once and is readable at once; nothing in it waits for a model or a search through the sources. What it
wrote is checked here, once: a statement that was known before moves to History and points to the older one, which is given
its sources (or the older one to it, if it says more); one that contradicts another becomes a question for a person; an exact value that its cited source does not hold
is reported. What a person wrote is theirs and not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memoryfs import ledger
from memoryfs import thread as threads
from memoryfs.exact import exact_values
from memoryfs.model import CURRENT, Memory, Problem, SourceRange
from organizer.apply import Planner
from organizer.journal import Work
from organizer.nouns import Candidate
from organizer.reconcile import decide
from organizer.shelf import DONE, Library

CHECKED = "checked"  # the ledger line's key: the ids that were checked
_NO_SOURCE = SourceRange("agent", 0, 0)
MAX_EVENTS = 400  # of one cited range


@dataclass
class Checked:
    """What the check found: `work` to carry out, then `line` for the ledger, so that nothing is checked twice."""

    work: Work
    line: ledger.Entry
    problems: list[Problem] = field(default_factory=list)
    joined: int = 0
    asked: int = 0

    def summary(self) -> str:
        ids = self.line.extra[CHECKED]
        told = [f"{self.joined} known before" if self.joined else "", f"{self.asked} to review" if self.asked else "",
                f"{len(self.problems)} not in the source" if self.problems else ""]
        rest = ", ".join(t for t in told if t)
        return f"remembered by agents: {len(ids)} checked" + (f" ({rest})" if rest else "")


def unchecked(entries: Iterable[ledger.Entry]) -> tuple[str, ...]:
    """The ids of what agents remembered and no run has checked, in the order they were written."""
    found: dict[str, None] = {}
    for entry in entries:
        if entry.actor == "agent" and entry.action == "add":
            found[entry.id] = None
        elif entry.id in found and (entry.action == "withdraw" or (entry.actor == "person" and entry.action == "edit")):
            del found[entry.id]
        elif entry.action == DONE:
            for id in entry.extra.get(CHECKED) or ():
                found.pop(id, None)
    return tuple(found)


def check(library: Library, ids: Sequence[str], *, now: datetime) -> Checked:
    """The check of `ids`, the newest first, so that of two that say the same the older one stays."""
    time = now.isoformat(timespec="seconds")
    planner = Planner(library.known, now=now)
    out = Checked(Work("", 0, 0, 0, time, planner.plan()), ledger.Entry(time, "organizer", DONE, "", extra={CHECKED: list(ids)}))
    for id in reversed(ids):
        memory = library.known.get(id)
        if memory is None or memory.status not in CURRENT:
            continue
        out.problems += _not_in_source(library.root, memory)
        library.known.remove(id)
        decision = decide(_candidate(memory), library.known, scope=library.repo_of(memory.topic), scope_of=library.repo_of)
        library.known.add(memory)
        target = library.known.get(decision.target_id) if decision.target_id else None
        if target is None or target.status not in CURRENT or not library.topics[target.topic].writable:
            continue
        if decision.action == "reinforce" and memory.status == "active":
            planner.merge(memory, target, why=f"remembered by an agent; {decision.why}")
            out.joined += 1
        elif decision.action == "merge" and memory.status == "active":
            planner.merge(target, memory, why=f"remembered by an agent; {decision.why}")
            out.joined += 1
        elif decision.action in ("supersede", "conflict"):
            planner.ask(memory, target, why=f"remembered by an agent; {decision.why}")
            out.asked += 1
    out.work = Work("", 0, 0, 0, time, planner.plan())
    return out


def _candidate(memory: Memory) -> Candidate:
    """The memory as the reconciling step takes it, without its source: the same place may be remembered in other words."""
    return Candidate(
        kind=memory.kind, summary=memory.summary, topic_key="", quote="", event_index=0, source=_NO_SOURCE,
        stated_by="assistant", time=memory.date, values=tuple(exact_values(memory.summary)), gate="keep",
    )


def _not_in_source(root: Path, memory: Memory) -> list[Problem]:
    """A problem for the exact values that no event of the cited ranges holds; none where nothing is cited or kept here."""
    events = [
        e for r in memory.source_range for e in threads.read_events(root, r.thread, r.start, min(r.end, r.start + MAX_EVENTS - 1))
    ]
    if not events:
        return []
    said = "\n".join(e.text for e in events)
    missing = [v.text for v in exact_values(memory.summary) if v.text not in said]
    if not missing:
        return []
    label = ", ".join(r.label for r in memory.source_range)
    return [Problem(
        memory.topic, f"^{memory.id}: {', '.join(map(repr, missing[:3]))} does not stand in its source {label}",
        f"Look at it with `memoryfs read {memory.source_range[0].thread}:{memory.source_range[0].start}`, and forget or mend it.",
        memory.line, severity="warning",
    )]
