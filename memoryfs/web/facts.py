"""In: a store's ledger, run reports and topics. Out: what the dashboard, the timeline and the review queue show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.ledger import Entry
from memoryfs.model import CURRENT, Memory
from memoryfs.textfile import STATE
from memoryfs.topic import Review, Topic

RUNS = 10  # newest reports shown


@dataclass(frozen=True)
class Side:
    """One of the statements that a review sets against each other, and the file it stands in."""

    memory: Memory
    topic: str


@dataclass(frozen=True)
class Waiting:
    """An open review; `sides` from the oldest statement to the newest, as the choices order them."""

    review: Review
    topic: str
    sides: tuple[Side, ...]


def waiting(topics: Mapping[str, Topic]) -> tuple[Waiting, ...]:
    """Every open review of the store, by file."""
    places: dict[str, Side] = {}
    for path, topic in sorted(topics.items()):
        for memory in topic.memories:
            places.setdefault(memory.id, Side(memory, path))
    out = []
    for path, topic in sorted(topics.items()):
        for review in topic.reviews:
            order = {id: number for number, id in enumerate(review.memory_ids)}
            sides = [places[id] for id in order if id in places and places[id].memory.status in CURRENT]
            sides.sort(key=lambda side: (side.memory.date or "", order[side.memory.id]))
            out.append(Waiting(review, path, tuple(sides)))
    return tuple(out)


@dataclass(frozen=True)
class Moment:
    """One line of a timeline: when it was said (ISO date; "" unknown), when it was recorded, what happened."""

    said: str
    recorded: str
    action: str
    actor: str
    id: str
    text: str
    why: str
    sources: tuple[str, ...]
    replaced_by: str = ""


def timeline(entries: Iterable[Entry], path: str, topic: Topic) -> tuple[Moment, ...]:
    """What the ledger tells of the topic at `path`, oldest saying first; what was moved away or withdrawn too.

    When something was said is the date of the memory's source; a withdrawn one's is unknown but for its record.
    """
    listed = tuple(entries)
    here = {memory.id: memory for memory in topic.memories}
    ids = set(here) | {e.id for e in listed if e.topic == path and e.id}
    texts: dict[str, str] = {id: memory.summary for id, memory in here.items()}
    for entry in listed:
        if entry.text and entry.id in ids:
            texts.setdefault(entry.id, entry.text)
    out = []
    for entry in listed:
        if entry.id not in ids or entry.action in ("organize", "import"):
            continue
        memory = here.get(entry.id)
        first = entry.action in ("add", "adopt", "reinforce", "restore")
        said = memory.date if memory and first and memory.date else ""
        out.append(Moment(
            said or entry.time[:10], entry.time, entry.action, entry.actor, entry.id, entry.text or texts.get(entry.id, ""),
            entry.why, entry.source, str(entry.extra.get("by") or "") if entry.action == "supersede" else "",
        ))
    out.sort(key=lambda moment: (moment.said, moment.recorded))
    return tuple(out)


def about(entries: Iterable[Entry], id: str) -> tuple[Entry, ...]:
    """What the ledger tells of one memory, oldest first."""
    return tuple(e for e in entries if e.id == id or id in (e.extra.get("memories") or ()))


def runs(root: Path) -> tuple[dict[str, Any], ...]:
    """The newest run reports, newest first; one that cannot be read is left out."""
    out = []
    for path in sorted((root / STATE / "reports").glob("2*.json"), reverse=True)[:RUNS]:
        try:
            data = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(data, dict):
            out.append(data)
    return tuple(out)


def inbox(reports: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Statements that the last runs were not certain enough of to keep, each once; `thread` is where it was said."""
    out: dict[str, Mapping[str, Any]] = {}
    for report in reports:
        for session in report.get("sessions") or ():
            for item in session.get("items") or ():
                if item.get("action") == "inbox" and item.get("text"):
                    out.setdefault(item["text"], {**item, "thread": session.get("thread", "")})
    return tuple(out.values())


def numbers(topics: Mapping[str, Topic], entries: Iterable[Entry]) -> dict[str, Any]:
    """Counts for the dashboard. `junk`: the share of what the organizer added that a person withdrew; None with nothing added."""
    memories = [memory for topic in topics.values() for memory in topic.memories]
    listed = tuple(entries)
    added = {e.id for e in listed if e.action == "add" and e.actor == "organizer"}
    withdrawn = {e.id for e in listed if e.action == "withdraw" and e.actor == "person"}
    return {
        "topics": len(topics),
        "memories": len(memories),
        "status": dict(Counter(memory.status for memory in memories)),
        "kinds": dict(Counter(memory.kind for memory in memories)),
        "unsourced": sum(1 for m in memories if not m.source_range and m.stated_by == "organizer"),
        "growth": dict(Counter(e.time[:10] for e in listed if e.action in ("add", "adopt", "restore") and e.id)),
        "junk": len(added & withdrawn) / len(added) if added else None,
    }


def middle(values: Iterable[float]) -> float | None:
    """The median, or None of nothing."""
    from statistics import median

    listed = list(values)
    return median(listed) if listed else None
