"""In: the chosen events and the other likely ones. Out: the chosen, those that state what was given up since marked with
what shows it, and that before them.

The evidence itself tells what holds: a later statement of a change, an edit that took the very line away, or the updated
form of an earlier summary. Looked for among the likely events and, for names in the first few, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memoryfs.index.units import MASK, MESSAGE, ROLE_MASK, SHIFT
from memoryfs.model import Breadcrumb, Event, Memory, SourceRange
from memoryfs.patterns import lazy
from memoryfs.recall import changes
from memoryfs.recall.changes import Change
from memoryfs.recall.events import Candidate
from memoryfs.recall.history import DEMOTION, History
from memoryfs.text import scan

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.recall.choose import Chosen
    from memoryfs.recall.query import Query
    from memoryfs.recall.retrieve import Found

LOOKED_AT = 24  # likely events in which changes are looked for
FIRST, NAMES, RARE, READ = 3, 3, 40, 12  # the first events, names in each, documents that hold one, and places read for them
SHORTEST = 20  # characters of a line of a file that is known again
ALIKE = 0.4  # share of an earlier summary's words that its updated form must hold (of two long messages of a session, mostly .22)
_PAST = lazy(
    r"\b(?:used to|originally|previous(?:ly)?|formerly|before|at first|initial(?:ly)?|old|once|history|was .{1,30} called)\b"
    r"|以前|元々|もともと|最初|当初|旧|이전|원래|처음|예전|옛|之前|原来|原先|最初|以前|旧", re.I,
)  # fmt: skip
_NUMBERED = lazy(r"^\s*\d+(?:→|\t|:|\s{2})")

When = tuple[int, int]  # of a unit: its time and, among equals, its place


@dataclass(frozen=True, slots=True)
class Shown:
    """What one event shows: `statements` it makes, or lines that an edit took away (`gone`) and put in (`come`).

    `whole`: it wrote the file anew, and `come` is all that the file holds.
    """

    event: Event
    doc: int
    when: When
    statements: tuple[Change, ...] = ()
    gone: frozenset[str] = frozenset()
    come: frozenset[str] = frozenset()
    whole: bool = False

    @property
    def ref(self) -> str:
        return f"{self.event.thread}:{self.event.index}"


def settle(
    index: Index, query: Query, found: Found, chosen: Sequence[Chosen], likely: Sequence[Chosen], k: int
) -> list[Chosen]:
    """The chosen with marks; unless the question is about the past, what shows a change stands before what it replaced."""
    shown = found.shown = gather(index, found, chosen, likely)
    if not shown:
        return list(chosen)
    asks_past = bool(_PAST.search(query.text))
    by_ref = {_ref(c.event): c for c in (*likely, *chosen)}
    out: list[Chosen] = []
    placed: set[str] = set()
    for c in chosen:
        by = None if c.replaced else _replacing(index, c, shown, found.weights)
        if by is not None:
            c = replace(c, replaced=by.ref)
            later = by_ref.get(by.ref) or replace(c, event=by.event, items=(Candidate(by.doc),), replaced="", values=())
            if not asks_past and by.ref not in placed and by.event != c.event and not later.replaced:
                out.append(replace(later, score=max(c.score, later.score)))
                placed.add(by.ref)
        if _ref(c.event) not in placed:
            out.append(c)
            placed.add(_ref(c.event))
    return out[:k]


def memories(index: Index, found: Found, crumbs: Sequence[Breadcrumb]) -> tuple[Breadcrumb, ...]:
    """The memories, behind the others those that state what was given up after they were learned, marked like events.

    What an episode tells of is past once what was learned from the same events was replaced. What a person wrote is the
    person's to take back, and stays as it is.
    """
    holding: list[Breadcrumb] = []
    given_up: list[Breadcrumb] = []
    past = History(index) if any(crumb.memory.kind == "event" for crumb in crumbs) else None
    for crumb in crumbs:
        memory, by = crumb.memory, ""
        if not memory.superseded_by and memory.stated_by != "person":
            by = _showing(index, memory, found.shown)
            if not by and past and memory.kind == "event":
                by = past.told(memory)
        if not by:
            holding.append(crumb)
            continue
        why = {**crumb.why, "superseded": round(crumb.score * (DEMOTION - 1), 4)}
        given_up.append(replace(crumb, memory=replace(memory, superseded_by=by), score=crumb.score * DEMOTION, why=why))
    return (*holding, *given_up)


def _showing(index: Index, memory: Memory, shown: Sequence[Shown]) -> str:
    """The latest event, later than all that the memory was learned from, that says that what it states was given up; or ""."""
    said = [when for source in memory.source_range if (when := _learned(index, source)) is not None]
    later = [
        one for one in shown if said and one.when > max(said)
        and any(changes.given_up(change, memory.summary) and not _back(change, one, shown) for change in one.statements)
    ]
    return max(later, key=lambda one: one.when).ref if later else ""


def _learned(index: Index, source: SourceRange) -> When | None:
    number = index.thread_number(source.thread)
    thread = index.thread(number) if number is not None else None
    if thread is None:
        return None
    units = (unit for unit, position in enumerate(thread.event) if source.start <= thread.index[position] <= source.end)
    return max((_when(index, number << SHIFT | unit) for unit in units), default=None)


def gather(index: Index, found: Found, chosen: Sequence[Chosen], likely: Sequence[Chosen]) -> list[Shown]:
    """What the likely events show of changes, and what other events do that hold the names in the first of the chosen."""
    out: dict[str, Shown] = {}
    for c in likely[:LOOKED_AT]:
        _show(index, c.event, [item.doc for item in c.items[:2]], out)
    for doc in _elsewhere(index, found, chosen[:FIRST]):
        thread = index.thread(doc >> SHIFT)
        event = index.sources.event(thread, thread.event[doc & MASK])
        if event is not None:
            _show(index, event, [doc], out)
    return list(out.values())


def _show(index: Index, event: Event, docs: Sequence[int], out: dict[str, Shown]) -> None:
    ref = _ref(event)
    if ref in out or event.role == "system":
        return
    if event.kind == "file_edit":
        parts = tuple(event.text[a:b] for a, b in event.metadata.get("parts") or ())
        whole = changes.written(parts)
        gone, come = (frozenset(), whole) if whole else changes.edited(parts)
        if gone or come:
            out[ref] = Shown(event, docs[0], _when(index, docs[0]), gone=gone, come=come, whole=bool(whole))
        return
    said = [change for doc in docs for change in changes.stated(_text(index, event, doc), event.role)]
    if said or (event.kind == "message" and changes.updates(event.text, event.text)):
        out[ref] = Shown(event, docs[0], _when(index, docs[0]), tuple(said))


def _elsewhere(index: Index, found: Found, first: Sequence[Chosen]) -> list[int]:
    """Later messages and edits that hold a rare name of the first events; none later than all that was found."""
    latest = max((_when(index, item.doc)[0] for item in found.events), default=0)
    held: dict[int, int] = {}
    for c in first:
        names = {term for term, kind in scan(c.quoted(index)) if kind == "whole" and len(term) > 3}
        counted = sorted((count, name) for name in names if 1 < (count := index.lexicon.documents(name)) <= RARE)
        own = (c.items[0].number, index.thread(c.items[0].number).event[c.items[0].nth])
        since = _when(index, c.items[0].doc)
        for _, name in counted[:NAMES]:
            docs = [doc for doc in index.lexicon.postings(name) if doc >> SHIFT]
            index.load_threads({doc >> SHIFT for doc in docs})
            for doc in docs:
                thread = index.thread(doc >> SHIFT)
                if thread is None or (doc & MASK) >= len(thread) or (doc >> SHIFT, thread.event[doc & MASK]) == own:
                    continue
                flags = thread.flags[doc & MASK]
                said = flags & MESSAGE and flags & ROLE_MASK < 2
                if (said or flags & ROLE_MASK == 1) and since < (when := _when(index, doc)) and when[0] <= latest:
                    held[doc] = held.get(doc, 0) + 1
    return sorted(held, key=lambda doc: (-held[doc], doc))[:READ]


def _failed(index: Index, event: Event, doc: int) -> bool:
    """Whether the tool refused the edit: its answer stands among the next few events."""
    thread = index.thread(doc >> SHIFT)
    position = thread.event[doc & MASK]
    for near in range(position + 1, min(position + 4, len(thread.index))):
        answer = index.sources.event(thread, near)
        if answer is not None and answer.kind == "tool_result" and answer.metadata.get("call") == event.metadata.get("call"):
            return bool(answer.metadata.get("error") or answer.metadata.get("rejected"))
    return False


def _replacing(index: Index, c: Chosen, shown: Sequence[Shown], weights: Mapping[str, float]) -> Shown | None:
    """The latest event that shows that what `c` states was given up, unless a later one brings it back."""
    when = max(_when(index, item.doc) for item in c.items[:2])
    texts = [_text(index, c.event, item.doc) for item in c.items[:2]]
    lines: list[str] | None = None
    best: Shown | None = None
    for one in shown:
        same = one.event == c.event
        if one.when <= when and not same:
            continue
        stale = any(changes.given_up(change, "\n".join(texts)) and not _back(change, one, shown) for change in one.statements) \
            if not same else False
        anew = one.whole and not same and _same_file(one.event, c.event)
        if not stale and (anew or any(line in text for text in texts for line in one.gone)):
            lines = [line for text in texts if (line := _answering(text, weights))] if lines is None else lines
            stale = bool(lines) and all(
                (line not in one.come if anew else line in one.gone)
                and not any(later.when > one.when and line in later.come for later in shown) for line in lines
            ) and not _failed(index, one.event, one.doc)
        stale = stale or (not same and _updates(one, c))
        if stale and (best is None or one.when > best.when):
            best = one
    return best


def _same_file(one: Event, other: Event) -> bool:
    return other.kind == "file_edit" and bool(set(one.metadata.get("files") or ()) & set(other.metadata.get("files") or ()))


def _back(change: Change, one: Shown, shown: Sequence[Shown]) -> bool:
    """Whether a later statement makes the value that was given up the present one again (A, B, A)."""
    return any(
        later.when > one.when and other.new.lower() == change.old.lower() for later in shown for other in later.statements
    )


def _updates(one: Shown, c: Chosen) -> bool:
    """Whether the later message is the updated form of the earlier one: it says so, and holds most of its words."""
    if one.event.thread != c.event.thread or one.event.role != c.event.role or c.event.kind != "message":
        return False
    if len(c.event.text) < 4 * SHORTEST or not changes.updates(one.event.text, c.event.text):
        return False
    before = {term for term, _ in scan(c.event.text)}
    return len(before & {term for term, _ in scan(one.event.text)}) >= ALIKE * len(before)


def _answering(text: str, weights: Mapping[str, float]) -> str:
    """The line that holds most of the question, as it stands in its file; "" if it is too short to be known again."""
    def held(line: str) -> float:
        return sum(weights.get(term, 0.0) for term in {term for term, _ in scan(line)})

    line = max((_NUMBERED.sub("", line).strip() for line in text.splitlines()), key=held, default="")
    return line if len(line) >= SHORTEST and held(line) > 0 else ""


def _text(index: Index, event: Event, doc: int) -> str:
    thread = index.thread(doc >> SHIFT)
    return event.text[thread.start[doc & MASK] : thread.end[doc & MASK]]


def _when(index: Index, doc: int) -> When:
    thread = index.thread(doc >> SHIFT)
    return thread.at[thread.event[doc & MASK]], doc


def _ref(event: Event) -> str:
    return f"{event.thread}:{event.index}"
