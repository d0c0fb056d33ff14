"""In: topics, the ledger and events that were read already. Out: `Audit`: what is believed about a subject, and on what grounds.

Pure: no file is read here but through `events`, which the caller passes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoryfs.ledger import Entry, judgements
from memoryfs.model import CURRENT, Event, Memory, SourceRange
from memoryfs.notation import stated
from memoryfs.topic import Review, Topic

ReadEvents = Callable[[str, int, int], Sequence[Event]]  # thread, first, last (both included)

AROUND = 1  # events shown before and after a source
MOST = 8  # events of one source that are shown in full
UNSOURCED, GONE, WEAK = "no source", "source missing", "no person said it"


@dataclass(frozen=True)
class Said:
    """One source of a memory: its range (None for a person's or an agent's own statement), quote, date, who said it.

    `context` holds the events around it where they were asked for; `missing` is set when the thread is not here.
    """

    label: str
    range: SourceRange | None
    date: str | None
    quote: str
    by: str  # user | assistant | tool | person | agent | ""
    missing: bool = False
    context: tuple[Event, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"label": self.label, "date": self.date, "quote": self.quote, "by": self.by}
        if self.range:
            out["source_range"] = self.range.to_dict()
        if self.missing:
            out["missing"] = True
        if self.context:
            out["context"] = [
                {"thread": e.thread, "index": e.index, "role": e.role, "kind": e.kind, "time": e.time, "text": e.text,
                 "source": e.source, "line": e.line,
                 "cited": bool(self.range and self.range.start <= e.index <= self.range.end)}
                for e in self.context]
        return out


@dataclass(frozen=True)
class Statement:
    """A memory with its grounds: `confirmed` counts the separate times it was said; `marks` name what is weak about it;
    `reviews` the open contradictions it stands in; `changes` what the ledger tells of it, oldest first."""

    memory: Memory
    said: tuple[Said, ...]
    confirmed: int
    marks: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    replaced_by: Memory | None = None
    changes: tuple[Entry, ...] = ()
    judged: tuple[str, ...] = ()  # `useful` or `wrong`, oldest first

    def to_dict(self) -> dict[str, Any]:
        memory = self.memory
        out = memory.to_dict() | {
            "stated_by": memory.stated_by, "date": memory.date, "said": [s.to_dict() for s in self.said],
            "confirmed": self.confirmed, "marks": list(self.marks), "reviews": list(self.reviews), "judged": list(self.judged),
            "changes": [c.to_dict() for c in self.changes]}
        if memory.superseded_by:
            out["superseded_by"] = memory.superseded_by
        if self.replaced_by:
            out["replaced_by"] = {"id": self.replaced_by.id, "summary": self.replaced_by.summary,
                                  "date": self.replaced_by.date}
        return out


@dataclass(frozen=True)
class OpenReview:
    """A contradiction that waits for a person: its line, and the statements it is about with their grounds."""

    review: Review
    topic: str
    sides: tuple[Statement, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.review.id, "topic": self.topic, "line": self.review.line, "text": self.review.text,
                "memories": [s.memory.to_dict() | {"date": s.memory.date, "said": [x.to_dict() for x in s.said]}
                             for s in self.sides]}


@dataclass(frozen=True)
class Audit:
    """What one store believes about `subject`. `superseded` holds what was archived too. `withdrawn`: the last ledger entry of what was taken out, by id."""

    subject: str
    current: tuple[Statement, ...]
    superseded: tuple[Statement, ...]
    conflicts: tuple[OpenReview, ...]
    withdrawn: tuple[tuple[Entry, ...], ...] = ()
    store: str = ""

    @property
    def found(self) -> bool:
        return bool(self.current or self.superseded or self.withdrawn)

    def to_dict(self) -> dict[str, Any]:
        return {
            "subject": self.subject, "store": self.store, "current": [s.to_dict() for s in self.current],
            "superseded": [s.to_dict() for s in self.superseded], "conflicts": [c.to_dict() for c in self.conflicts],
            "withdrawn": [{"id": told[-1].id, "text": next((e.text for e in reversed(told) if e.text), ""),
                           "changes": [e.to_dict() for e in told]} for told in self.withdrawn]}


def audit(
    subject: str, wanted: Sequence[str], topics: Mapping[str, Topic], entries: Sequence[Entry], events: ReadEvents, *,
    context: bool = False, history: bool = False, since: str = "", store: str = "",
) -> Audit:
    """What is believed of the memories `wanted` (ids, in the order to show them), and what they contradict or replace.

    `context`: with the events around each source; `history`: with every change, else only a withdrawn one's. `since`: an
    ISO 8601 date; what was neither said nor changed on or after it is left out.
    """
    places = {memory.id: (topic, memory) for topic in topics.values() for memory in topic.memories}
    told = _by_id(entries)
    given = judgements(entries)
    ids = _with_replaced(list(dict.fromkeys(wanted)), places)
    statements = []
    for id in ids:
        if id in places:
            topic, memory = places[id]
            made = statement(memory, topic, topics, told.get(id, ()), events, context=context)
            made = replace(made, judged=given.get(id, ()))
            statements.append(made if history else _without_history(made))
    if since:
        statements = [s for s in statements if _latest(s, told.get(s.memory.id, ())) >= since[:10]]
    conflicts = tuple(
        OpenReview(review, path, tuple(
            _without_history(statement(places[id][1], places[id][0], topics, told.get(id, ()), events))
            for id in review.memory_ids if id in places))
        for path, topic in sorted(topics.items()) for review in topic.reviews if set(review.memory_ids) & set(ids)
    )
    gone = tuple(tuple(told[id]) for id in ids if id not in places and id in told
                 and (not since or told[id][-1].time >= since))
    return Audit(
        subject, tuple(s for s in statements if s.memory.status in CURRENT),
        tuple(s for s in statements if s.memory.status not in CURRENT), conflicts, gone, store)


def statement(
    memory: Memory, topic: Topic, topics: Mapping[str, Topic], changes: Sequence[Entry], events: ReadEvents, *,
    context: bool = False,
) -> Statement:
    """One memory with its grounds."""
    said = tuple(_said(memory, topic, events, context))
    reviews = tuple(r.id for t in topics.values() for r in t.reviews if memory.id in r.memory_ids)
    replacing = next((m for t in topics.values() for m in t.memories if m.id == memory.superseded_by), None) \
        if memory.superseded_by else None
    return Statement(memory, said, len({(s.range.thread, s.range.start) if s.range else s.label for s in said}),
                     weaknesses(memory, said), reviews, replacing, tuple(changes))


def _without_history(made: Statement) -> Statement:
    return replace(made, changes=())


def _by_id(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """What the ledger tells of each memory; a conflict and its resolution belong to all memories they name."""
    out: dict[str, list[Entry]] = {}
    for entry in entries:
        named = [m for m in entry.extra.get("memories") or () if isinstance(m, str)] if entry.id else []
        for id in dict.fromkeys([entry.id, *named]):
            if id:
                out.setdefault(id, []).append(entry)
    return out


def _with_replaced(ids: list[str], places: Mapping[str, tuple[Topic, Memory]]) -> list[str]:
    """`ids`, and what they replaced or were replaced by, however many steps away."""
    replaced: dict[str, list[str]] = {}
    for id, (_, memory) in places.items():
        if memory.superseded_by:
            replaced.setdefault(memory.superseded_by, []).append(id)
    out = dict.fromkeys(ids)
    waiting = list(ids)
    while waiting:
        id = waiting.pop(0)
        after = places[id][1].superseded_by if id in places else None
        for other in (*replaced.get(id, ()), *((after,) if after else ())):
            if other not in out and other in places:
                out[other] = None
                waiting.append(other)
    return list(out)


def _said(memory: Memory, topic: Topic, events: ReadEvents, context: bool) -> Iterator[Said]:
    notes = {d.label: d.note for d in topic.definitions}
    ranges = {r.label: r for r in memory.source_range}
    for label in memory.metadata.get("labels", ()):
        note = notes.get(label)
        quote = note.of(memory.id)[1] if note else ""
        own = stated(label)
        if own:
            yield Said(label, None, own[1], quote, own[0])
        elif label in ranges:
            yield said_in(label, ranges[label], note.date if note else None, quote, events, context)


def said_in(
    label: str, source: SourceRange, date: str | None, quote: str, events: ReadEvents, context: bool
) -> Said:
    """One source in a thread; with `context`, the events around it."""
    read = events(source.thread, source.start, min(source.end, source.start + 200))
    if not read:
        return Said(label, source, date, quote, "", missing=True)
    holder = next((e for e in read if quote and _plain(quote) in _plain(e.text)), None)
    holder = holder or next((e for e in read if e.role == "user"), read[0])
    around: tuple[Event, ...] = ()
    if context:
        if source.end - source.start < MOST:
            first, last = source.start, source.end
        else:  # a wide range: what stands around the quote
            first, last = max(source.start, holder.index - MOST // 2), min(source.end, holder.index + MOST // 2)
        around = tuple(events(source.thread, max(0, first - AROUND), last + AROUND))
    return Said(label, source, (holder.time or "")[:10] or date, quote, holder.role, context=around)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def weaknesses(memory: Memory, said: Sequence[Said]) -> tuple[str, ...]:
    """What is weak: it should be checked again, nothing is behind it, a thread is gone, or no person said the words."""
    if not said:
        return (UNSOURCED,) if memory.metadata.get("adopted", True) else ()
    out = [str(memory.metadata["stale"])] if memory.metadata.get("stale") else []
    if any(s.missing for s in said):
        out.append(GONE)
    if {s.by for s in said if not s.missing} <= {"assistant", "tool", "system", "agent", ""} \
            and any(not s.missing for s in said):
        out.append(WEAK)
    return tuple(out)


def _latest(made: Statement, changes: Sequence[Entry]) -> str:
    """The last day on which something about it was said or changed, as ISO 8601; "" if nothing is known."""
    return max([*((s.date or "")[:10] for s in made.said), *(e.time[:10] for e in changes)], default="")
