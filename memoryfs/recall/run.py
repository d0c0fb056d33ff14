"""In: an index, a question and its bounds. Out: `Recall`. The stages in order; nothing else happens here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.index.core import MISMATCH
from memoryfs.model import Evidence, Recall
from memoryfs.recall import (
    abstain,
    choose,
    decide,
    extract,
    fuse,
    glossary,
    history,
    hops,
    judged,
    outdated,
    time,
)
from memoryfs.recall.events import CANDIDATES
from memoryfs.recall.query import Query, analyse
from memoryfs.recall.retrieve import Found, retrieve
from memoryfs.text import estimate_tokens

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.models.protocols import Embedder, Generator

LEVELS = ("auto", "0", "1", "2", "3")
MAX_K = 200
NOTHING = "Nothing in this store answers the question."
INDEX_TOKENS = 25  # of each event at level 1
HOP_CANDIDATES = 40  # events of it
HOP_FROM = 3  # units whose identifiers open the second hop
STRONG = 0.5  # share of the query's weight that a memory must cover for level 0 to be enough


def recall(
    index: Index, query: str, *, k: int = 10, level: str = "auto", max_tokens: int = 1500,
    status: Sequence[str] = ("active", "conflicted"), as_of: str | None = None, file: str | None = None,
    embedder: Embedder | None = None, generator: Generator | None = None, now: datetime | None = None, expansion: str = "",
) -> Recall:
    """The memories and verbatim spans that answer `query`.

    At most `k` memories, and evidence from at most `k` distinct events, best first, in at most `max_tokens` estimated
    tokens. `as_of` (ISO date or time): nothing later is returned, and relative dates count from it. `file`: a path whose
    name joins the query. `expansion`: a passage (`expand`) that helps to rank. Raises UsageError for an empty query or a bad
    `level`, `k` or `as_of`.
    """
    level = str(level)
    if level not in LEVELS:
        raise UsageError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
    k = _count(k)
    now = now or datetime.now(UTC)
    until = None
    if as_of:
        try:
            until = time.parse_moment(as_of, now.tzinfo)
        except ValueError:
            raise UsageError(f"{as_of!r} is not a date", remedy="Write 2026-05-14 or 2026-05-14T10:00:00+09:00.") from None
        now = datetime.fromtimestamp(until, now.tzinfo)
    asked = analyse(f"{query} {file}" if file else query)
    if not asked.plain:
        raise UsageError("the query is empty")
    said = index.take_notices()
    found = index.guarded(lambda: _answer(
        index, query, asked, k=k, level=level, max_tokens=max_tokens, status=tuple(status), until=until, embedder=embedder,
        generator=generator, now=now, expansion=expansion,
    ))
    return replace(found, notices=(*said, *index.take_notices(), *found.notices))


def _answer(
    index: Index, query: str, asked: Query, *, k: int, level: str, max_tokens: int, status: tuple[str, ...], until: float | None,
    embedder: Embedder | None, generator: Generator | None, now: datetime, expansion: str,
) -> Recall:
    """The stages, from an index that is taken to be whole."""
    notices: list[str] = []
    vector = _vector(index, query, embedder, notices)
    decision = decide.decide(asked)

    def find(query: Query, vector: object | None, most: int = CANDIDATES) -> Found:
        return retrieve(
            index, query, status=status, now=now.timestamp(), until=until, ranges=time.spans(query.text, now),
            vector=vector, want_events=level != "0", most=most,
        )

    asked = glossary.widened(index, asked)
    found = find(asked, vector)
    why_not = abstain.weak(index, asked, found)
    chosen = _level(level, decision, found)
    if expansion:  # it ranks; what the question needs, and whether it is answered, its own words told
        from memoryfs.recall import expand

        wider = expand.widened(asked, vector, expansion, embedder)
        found = find(*wider)
    memories = tuple(item.crumb for item in found.memories[:k])
    evidence: tuple[Evidence, ...] = ()
    if chosen >= 2 and found.events:
        second = hops.openings(index, asked, _texts(index, found))
        if second:
            found = hops.join(found, find(replace(asked, terms=second, text=""), None, HOP_CANDIDATES))
    if chosen >= 1 and found.events:
        evidence = tuple(_evidence(index, asked, found, k, max_tokens, decision == decide.EXACT, chosen))
        memories = outdated.memories(index, found, memories)
    if chosen == 3:
        evidence, notice = judged.in_order(index.root, query, evidence, generator)
        if notice:
            chosen = 2
            notices.append(notice)
    abstained = bool(why_not) or not (memories or evidence)
    if abstained:
        notices.append(f"{why_not or NOTHING} What is listed is only the nearest." if memories or evidence else why_not or NOTHING)
    tokens = sum(estimate_tokens(e.text) for e in evidence)
    return Recall(
        query=query, decision=decision, level=chosen, abstained=abstained, tokens=tokens, memories=memories,
        evidence=evidence, notices=tuple(notices),
    )


def _count(k: int) -> int:
    try:
        return max(1, min(int(k), MAX_K))
    except (TypeError, ValueError):
        raise UsageError(f"k must be a number, not {k!r}") from None


def _vector(index: Index, query: str, embedder: Embedder | None, notices: list[str]) -> object | None:
    """The query's vector, or None and, where vectors exist but cannot serve, a notice why."""
    if embedder is None or not index.has_vectors():
        return None
    why = index.vectors_ready()
    if why:
        notices.append(f"Vectors are off: {why}. This answer is from words alone.")
        return None
    if not index.vectors_match(embedder):
        notices.append(MISMATCH)
        return None
    try:
        return embedder.embed_query(query[:2000])
    except ModelUnavailableError as error:
        notices.append(f"Vectors are off: {error.message}")
        return None


def _level(asked: str, decision: str, found: Found) -> int:
    if asked != "auto":
        return int(asked)
    strong = bool(found.memories) and found.memories[0].coverage >= STRONG
    return 0 if decision == decide.SUMMARY and strong else 2


def _evidence(
    index: Index, query: Query, found: Found, k: int, max_tokens: int, exact: bool, level: int
) -> list[Evidence]:
    """Spans of the k best events: a few words of each at level 1, what answers at level 2."""
    chosen = choose.events(index, query, found, k)
    wanted = [extract.Wanted(c.event, c.spans(index), c.score, c.values) for c in chosen]
    room = min(max_tokens, INDEX_TOKENS * len(wanted)) if level == 1 else max_tokens
    out: list[Evidence] = []
    for item, spans in zip(chosen, extract.extract(wanted, found.weights, room, exact=exact), strict=True):
        event, best = item.event, item.items[0]
        why = {name: round(value, 4) for name, value in fuse.parts(best, query, dense=found.dense).items()}
        if item.replaced:
            why["superseded"] = history.DEMOTION
        for start, end in spans:
            out.append(Evidence(
                thread=event.thread, index=event.index, start=start, end=end, text=event.text[start:end],
                event_id=event.id, role=event.role, time=event.time, source=event.source, line=event.line,
                score=item.score, why=why, superseded_by=item.replaced or None,
            ))  # fmt: skip
    return out


def _texts(index: Index, found: Found) -> list[str]:
    """The text of the best units, which a second hop starts from."""
    out: list[str] = []
    for item in found.events[:HOP_FROM]:
        thread = index.thread(item.number)
        event = index.sources.event(thread, thread.event[item.nth])
        if event is not None:
            out.append(event.text[thread.start[item.nth] : thread.end[item.nth]])
    return out
