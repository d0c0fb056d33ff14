"""In: a memory with its topic, and the ledger. Out: what stands in the file of its being stale, what is ours of that, and the day on which
a passing fact is to be checked again."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memoryfs import ledger, staleness, volatile
from memoryfs.config import Config
from memoryfs.model import CURRENT, Memory
from memoryfs.notation import is_source_label
from memoryfs.topic import Topic
from organizer import deadlines

KINDS = ("fact", "instruction", "task")  # an event happened, whatever became of it
Changed = tuple[str, tuple[str, ...]]  # the day, and what is gone; ("", ()) for nothing


class Told:
    """What the ledger knows: who stood by a memory and when, the days that are ours, the marks that stand."""

    def __init__(self, entries: Sequence[ledger.Entry]) -> None:
        self.confirmed = staleness.confirmed(entries)
        self.dates = staleness.own_dates(entries)
        self.marked = staleness.told(entries)


@dataclass(frozen=True, slots=True)
class Claim:
    """A memory that may be stale."""

    memory: Memory
    topic: Topic
    path: str

    @property
    def recheck(self) -> str:
        return str(self.memory.metadata.get("recheck") or "")

    @property
    def changed(self) -> Changed:
        for label in self.memory.metadata["labels"][::-1]:
            for definition in self.topic.definitions:
                if definition.label == label and definition.note.changed_of(self.memory.id)[0]:
                    return definition.note.changed_of(self.memory.id)
        return "", ()

    @property
    def markable(self) -> bool:
        """Whether it has a footnote to write in."""
        defined = [d.label for d in self.topic.definitions]
        return any(defined.count(label) == 1 and is_source_label(label) for label in self.memory.metadata["labels"])

    def lends(self, told: Told) -> bool:
        """Whether a mark of ours without an id, written when the footnote was this memory's alone, now seems to be of others too."""
        id, labels = self.memory.id, set(self.memory.metadata["labels"])
        shared = {label for m in self.topic.memories if m.id != id for label in labels & set(m.metadata["labels"])}
        for note in (d.note for d in self.topic.definitions if d.label in shared):
            day = dict(note.recheck).get("")
            if (day and told.dates.get(id) == day) or (id in told.marked and any(not owner for owner, _, _ in note.changed)):
                return True
        return False


def watched(memory: Memory) -> bool:
    return memory.status in CURRENT and memory.kind in KINDS and not memory.done and memory.metadata.get("adopted", True) \
        and bool(memory.metadata.get("labels"))  # its footnotes


def recheck(claim: Claim, told: Told, config: Config, now: datetime) -> str:
    """The day to check the memory again that should stand in the file; "" for none."""
    memory, held, own = claim.memory, claim.recheck, told.dates.get(claim.memory.id, "")
    if held and own != held and held in _dates_of_others(claim, told):
        held = ""  # inherited from a footnote that was another's alone
    next_day = due(claim, told, config, now)
    if not held:
        return "" if own else next_day  # a person took ours out
    if held == own:
        return next_day
    passed = held <= now.date().isoformat() and _verified(memory, told, now).isoformat() >= held
    return next_day if passed and next_day > held else held


def due(claim: Claim, told: Told, config: Config, now: datetime) -> str:
    """The day on which the memory is to be checked again, as its kind has it and it was last confirmed; "" for one that lasts."""
    return _due(claim.memory, _verified(claim.memory, told, now), config)


def _dates_of_others(claim: Claim, told: Told) -> set[str]:
    labels = set(claim.memory.metadata["labels"])
    unowned = {day for d in claim.topic.definitions if d.label in labels for id, day in d.note.recheck if not id}
    return unowned & {told.dates.get(m.id, "") for m in claim.topic.memories if m.id != claim.memory.id and labels & set(m.metadata["labels"])}


def _verified(memory: Memory, told: Told, now: datetime) -> date:
    days = [told.confirmed[memory.id].astimezone(now.tzinfo).date()] if memory.id in told.confirmed else []
    with contextlib.suppress(ValueError):
        days.append(date.fromisoformat((memory.date or "")[:10]))
    return max(days, default=now.date())


def _due(memory: Memory, verified: date, config: Config) -> str:
    """By the kinds of passing facts in it. Instructions and what is pinned don't pass."""
    if memory.kind == "instruction" or "#pinned" in memory.summary.split():
        return ""
    last = deadlines.deadline(memory.summary, memory.date) if config.recheck.deadline_days > 0 else None
    dates = [volatile.after(last, config.recheck.deadline_days)] if last else []
    if memory.kind == "fact":
        dates.append(volatile.after(verified, volatile.interval(volatile.kinds(memory.summary), config.recheck)))
    return min((day for day in dates if day and day > verified.isoformat()), default="")
