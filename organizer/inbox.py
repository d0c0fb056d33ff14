"""In: inbox.md as a person left it, and what the ledger says waits there. Out: the person's answers, and the work to carry them out.

A statement that a person ticked or reworded is learned as the person's; one whose line is gone is never learned again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memoryfs import inbox, ledger
from memoryfs.exact import exact_values
from memoryfs.files import INBOX
from memoryfs.inbox import DROPPED, LEARNED, Line, Waiting
from memoryfs.model import Problem, SourceRange
from memoryfs.notation import fold
from organizer.apply import ADDING, Outcome, Planner
from organizer.journal import Work
from organizer.nouns import Candidate
from organizer.reconcile import decide
from organizer.shelf import Library
from organizer.subject import About
from organizer.topics import Place, place
from organizer.waiting import DETAILS

CLEAN = "clean"  # a line that was settled before: only the line has to go
_NO_SOURCE = SourceRange("inbox", 0, 0)

@dataclass(frozen=True, slots=True)
class Answer:
    """What a person made of one line: learned (as `text`, `kind`), dropped, or clean (nothing but the line's end)."""

    what: str
    text: str
    kind: str = "fact"
    item: Waiting | None = None
    line: Line | None = None


def answers(root: Path, entries: Sequence[ledger.Entry]) -> tuple[list[Answer], list[Problem]]:
    """What a person did in inbox.md since the last run. Raises ReadOnlyError."""
    text, _ = inbox.read(root)
    if inbox.in_conflict(text):
        return [], [Problem(INBOX, "git's conflict markers stand in it; it is neither read nor written",
                            "Settle the conflict; the next run goes on.", severity="warning")]
    items = inbox.waiting(entries)
    lines = inbox.lines(text)
    if not items and not lines:
        return [], []
    found = [a for line in lines if (a := _answer(line, items.get(line.id))) is not None]
    placed = {line.id for line in lines}
    gone = [i for i in items.values() if not i.settled and i.id not in placed]
    known = ledger.state(entries) if gone else {}
    for item in gone:
        moved = item.id in known and known[item.id].status != "withdrawn"  # its line went into a topic file
        found.append(Answer(LEARNED if moved else DROPPED, item.text, item.kind, item))
    return found, []


def _answer(line: Line, item: Waiting | None) -> Answer | None:
    kind = line.kind or (item.kind if item else "fact")
    reworded = item is not None and line.text != fold(item.text)
    if line.struck and (item is not None or line.ticked):
        return Answer(DROPPED, line.text, kind, item, line)
    if (line.ticked and not (item and item.settled)) or reworded:
        return Answer(LEARNED, line.text, kind, item, line)
    if item is not None and item.settled:
        return Answer(CLEAN, line.text, kind, item, line)
    return None


def settle(library: Library, found: Sequence[Answer], *, now: datetime) -> tuple[Work, list[Outcome]]:
    """The work that carries out a person's answers, and what became of those that are learned."""
    time = now.isoformat(timespec="seconds")
    planner = Planner(
        library.known, taken={m.id for m in library.known} | {e.id for e in library.entries if e.id}, now=now,
    )
    outcomes = []
    for number, answer in enumerate(found):
        id = answer.item.id if answer.item else (answer.line.id if answer.line else "") or f"#{number}"
        item = answer.item or Waiting(id, answer.text, answer.kind, "", answer.line.ranges if answer.line else ())
        words = answer.text if answer.line else item.text
        topic = ""
        if answer.what == LEARNED and answer.line is not None:
            outcome = _learn(library, planner, answer, item, now)
            outcomes.append(outcome)
            topic = outcome.topic
        elif answer.what == DROPPED:
            planner.entries.append(ledger.Entry(
                time, "person", "withdraw", item.id if answer.item else _own_id(answer), INBOX, item.text, item.kind,
                tuple(r.label for r in item.ranges), "taken out of the inbox",
            ))
        planner.settled.append(inbox.went(item, item.settled or DROPPED if answer.what != LEARNED else LEARNED, time=time,
                                          actor="person", topic=topic, text=words))
    return Work("", 0, 0, 0, time, planner.plan()), outcomes


def _own_id(answer: Answer) -> str:
    from memoryfs.topic import memory_id

    return memory_id(answer.text, INBOX)


def _learn(library: Library, planner: Planner, answer: Answer, item: Waiting, now: datetime) -> Outcome:
    candidate = _candidate(answer, item, now)
    repo = str(item.details.get("repo") or "")
    # Compared without its source: a person may say the same place's statement anew.
    bare = replace(candidate, source=_NO_SOURCE, quote="")
    decision = replace(decide(bare, library.known, scope=repo, scope_of=library.repo_of), candidate=candidate)
    if decision.action == "reinforce" and not item.ranges:
        decision = replace(decision, action="ignore", why="known already")
    where = Place("", "")
    if decision.action in ADDING:
        about = About(repo, "", candidate.summary)
        where = place([candidate], about, library.shelves, library.frequency, categories=library.config.categories,
                      max_bytes=library.config.organize.topic_max_bytes)[0]
    return planner.take(decision, where)


def _candidate(answer: Answer, item: Waiting, now: datetime) -> Candidate:
    details: Mapping[str, object] = item.details
    kept = {k: details[k] for k in DETAILS if k in details and k != "by"}
    source = item.ranges[0] if item.ranges else _NO_SOURCE
    hints = details.get("hints")
    fields: dict[str, object] = {
        "topic_key": "", "quote": answer.text if item.ranges else "", "event_index": source.start, **kept,
        "kind": answer.kind, "summary": answer.text, "source": source,
        "query_hints": tuple(map(str, hints)) if isinstance(hints, list) else (),
        "role": "user", "stated_by": "user", "time": str(details.get("time") or item.date or now.isoformat()), "gate": "keep",
        "values": tuple(exact_values(answer.text)), "why": ("a person kept it",),
        "metadata": {"ranges": item.ranges, "approved": now.date().isoformat(), "said_by": details.get("said_by", "")},
    }
    return Candidate(**fields)  # type: ignore[arg-type]
