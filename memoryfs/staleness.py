"""In: a memory and a day, or the ledger. Out: why the memory should be checked again, if it should; who stood by it, and when.

Pure. The marks stand in the memory's footnote (`memoryfs.notation`): `recheck 2026-08-01`, and `source changed 2026-06-03: …`, which
the organizer writes when what a memory names has left its repository. A sighting after such a day makes the mark void.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime

from memoryfs import ledger
from memoryfs.model import CURRENT, Memory

SOURCE, RECHECK = "source changed", "to be checked again since"
_BY_HAND = ("add", "adopt", "reinforce", "edit", "restore", "useful")  # of a person's or an agent's: it stands by the memory


def why(memory: Memory, today: date) -> str:
    """`source changed 2026-06-03: src/auth.ts is gone`, `to be checked again since 2026-08-01`, or "" for a memory that is fresh."""
    if memory.status not in CURRENT or memory.done:
        return ""
    metadata = memory.metadata
    return reason((memory.date or "")[:10], str(metadata.get("source_changed") or ""), str(metadata.get("recheck") or ""), today)


def reason(said: str, changed: str, recheck: str, today: date) -> str:
    """`why` from its parts: the ISO dates on which it was said last, its source changed (what is gone may follow), it is to be checked."""
    if changed and said <= changed[:10] <= today.isoformat():
        return f"{SOURCE} {changed}"
    return f"{RECHECK} {recheck}" if recheck and said < recheck <= today.isoformat() else ""


def marked(memory: Memory, today: date) -> Memory:
    """The memory, with the reason under `stale` of its metadata if it is stale."""
    reason = why(memory, today)
    return replace(memory, metadata={**memory.metadata, "stale": reason}) if reason else memory


def all_marked(memories: Iterable[Memory], today: date) -> tuple[Memory, ...]:
    """`marked` of each."""
    return tuple(marked(memory, today) for memory in memories)


def counts(memories: Iterable[Memory], today: date) -> dict[str, int]:
    """How many are stale, by what made them so: `source changed`, `recheck`."""
    reasons = [reason for memory in memories if (reason := why(memory, today))]
    changed = sum(reason.startswith(SOURCE) for reason in reasons)
    return {name: count for name, count in ((SOURCE, changed), ("recheck", len(reasons) - changed)) if count}


def confirmed(entries: Iterable[ledger.Entry]) -> dict[str, datetime]:
    """When a person or an agent last wrote, repeated, reworded, chose or found useful each memory. What the organizer sees
    again counts by its own date, which stands in the file."""
    times: dict[str, list[datetime]] = {}
    useful: dict[str, list[datetime]] = {}
    for entry in entries:
        moment = _moment(entry.time)
        if moment is None or entry.actor not in ("person", "agent"):
            continue
        if entry.action == "resolve":
            for id in entry.extra.get("memories") or ():
                times.setdefault(str(id), []).append(moment)
        elif entry.action == "useful":
            given = useful.setdefault(entry.id, [])
            if not entry.extra.get("undone"):
                given.append(moment)
            elif given:
                given.pop()
        elif entry.action in _BY_HAND and (entry.action != "edit" or entry.text):
            times.setdefault(entry.id, []).append(moment)
    return {id: max([*times.get(id, ()), *useful.get(id, ())]) for id in {*times, *useful} if times.get(id) or useful.get(id)}


def own_dates(entries: Iterable[ledger.Entry]) -> dict[str, str]:
    """By memory, the day of its next check that was last written by us; what else stands in the file is a person's."""
    out: dict[str, str] = {}
    for entry in entries:
        dates = entry.extra.get("dates") if entry.action == "recheck" else None
        if isinstance(dates, Mapping):
            out |= {str(id): str(day) for id, day in dates.items()}
    return out


def told(entries: Iterable[ledger.Entry]) -> dict[str, datetime]:
    """By memory, when it was last marked as changed at its source, unless that was lifted since."""
    out: dict[str, datetime] = {}
    for entry in entries:
        if entry.action == "stale":
            moment = _moment(entry.time)
            if entry.extra.get("lifted") or moment is None:
                out.pop(entry.id, None)
            else:
                out[entry.id] = moment
    return out


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.astimezone()
