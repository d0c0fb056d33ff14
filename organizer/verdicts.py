"""In: the ledger. Out: what a person thinks of single statements, the gate that has learned from it, and the junk rate.

A verdict is an answer in `organize --audit`, `review useful|wrong`, or an answer in the inbox. The last one about a
statement counts. Verdicts live in the ledger, so they outlast the derived files and travel with the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memoryfs import inbox, ledger
from organizer import gate as gates
from organizer.rules.features import features
from organizer.rules.sentences import clean

ACTION = "audit"  # of the ledger's lines that hold an answer; `extra`: item, kept (what the gate did), worth, role
MOST = 300  # verdicts that the gate learns from, the latest ones


@dataclass(frozen=True, slots=True)
class Verdict:
    """One statement, who said it (user or assistant), whether the gate kept it, and whether it was worth keeping.
    `audited` marks the answers in an audit, of which alone rates are made: the others are no random sample."""

    item: str
    text: str
    role: str
    kept: bool
    worth: bool
    audited: bool = False


@dataclass(frozen=True, slots=True)
class Rates:
    """Of the audited statements: how many were kept and how many of these are junk; dropped, and of these missed."""

    kept: int
    junk: int
    dropped: int
    missed: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "kept": self.kept, "junk": self.junk, "junk_rate": round(self.junk / self.kept, 3) if self.kept else None,
            "dropped": self.dropped, "missed": self.missed,
            "missed_rate": round(self.missed / self.dropped, 3) if self.dropped else None,
        }

    def to_text(self) -> str:
        if not self.kept + self.dropped:
            return "nothing judged yet"
        parts = [f"junk: {self.junk} of {self.kept} kept ({self.junk / self.kept:.0%})"] if self.kept else []
        parts += [f"missed: {self.missed} of {self.dropped} dropped ({self.missed / self.dropped:.0%})"] if self.dropped else []
        return "; ".join(parts)


def entry(verdict: Verdict, *, time: str) -> ledger.Entry:
    """The ledger's line of an audit's answer."""
    return ledger.Entry(time, "person", ACTION, "", "", verdict.text, extra={
        "item": verdict.item, "kept": verdict.kept, "worth": verdict.worth, "role": verdict.role})


def verdicts(entries: Iterable[ledger.Entry]) -> list[Verdict]:
    """Every verdict that stands, in the order in which they were given. A purged statement has no words and is left out."""
    entries = list(entries)
    found: dict[str, Verdict] = {}
    said: dict[str, tuple[str, str]] = {}
    waited = inbox.waiting(entries)

    def give(verdict: Verdict) -> None:
        found.pop(verdict.item, None)
        if verdict.text:
            found[verdict.item] = verdict

    for e in entries:
        extra = e.extra
        if e.action == "add" and e.actor == "organizer" and e.text:
            said[e.id] = (e.text, "user" if extra.get("said_by") == "user" else "assistant")
        elif e.action == ACTION and isinstance(extra.get("worth"), bool):
            give(Verdict(str(extra.get("item")), e.text, str(extra.get("role") or "assistant"), bool(extra.get("kept")),
                         extra["worth"], True))
        elif e.action == inbox.ACTION and e.actor == "person":
            item = waited.get(str(extra.get("item")))
            if item is not None and extra.get("settled") in (inbox.LEARNED, inbox.DROPPED):
                give(Verdict(item.id, item.text, str(item.details.get("role") or "assistant"), False,
                             extra["settled"] == inbox.LEARNED))
    audited = {v.text for v in found.values() if v.audited}
    for id, given in ledger.judgements(entries).items():
        if id in said and said[id][0] not in audited:
            give(Verdict(id, *said[id], True, given[-1] == "useful"))
    return list(found.values())


def rates(found: Iterable[Verdict]) -> Rates:
    """The rates of the audited ones among `found`."""
    audited = [v for v in found if v.audited]
    kept = [v for v in audited if v.kept]
    dropped = [v for v in audited if not v.kept]
    return Rates(len(kept), sum(not v.worth for v in kept), len(dropped), sum(v.worth for v in dropped))


def learned(gate: gates.Gate, entries: Iterable[ledger.Entry]) -> gates.Gate:
    """The gate as this store's verdicts have moved it; the gate itself without any."""
    rows: list[tuple[Mapping[str, float], bool]] = [
        (features(clean(v.text), v.role), v.worth) for v in verdicts(entries)[-MOST:]
    ]
    return gates.learn(gate, rows)
