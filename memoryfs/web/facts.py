"""In: a store's ledger, run reports and topics. Out: what the dashboard and the timelines show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.ledger import Entry
from memoryfs.runs import REPORTS
from memoryfs.textfile import STATE
from memoryfs.topic import Topic

RUNS = 10  # newest reports shown


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


def reports(root: Path) -> tuple[dict[str, Any], ...]:
    """The newest run reports, newest first; one that cannot be read is left out."""
    out = []
    for path in sorted((root / STATE / REPORTS).glob("2*.json"), reverse=True)[:RUNS]:
        try:
            data = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(data, dict):
            out.append(data)
    return tuple(out)


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
