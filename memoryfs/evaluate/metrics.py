"""In: a question, an arm's answer and the corpus. Out: an `Outcome`; from many outcomes, the metrics of DESIGN §9.

Ranks count from 1 and None means not among what was returned, so Hit@k is `rank <= k`. Where a question has several
pieces of evidence (multi-hop), a hit is any of them; `all_rank` is where the last of them is reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoryfs.evaluate.arms import Answer
from memoryfs.evaluate.corpus import Corpus
from memoryfs.evaluate.golden import Place, Question
from memoryfs.evaluate.stats import rate, spread

KS = (1, 5, 10)
WIDE = 5  # a memory that points to more events than this does not say where its source is: no Source Hit


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one answer fared. None: the metric does not apply to this question."""

    id: str
    type: str
    language: str
    tags: tuple[str, ...]
    abstained: bool
    tokens: int
    milliseconds: float
    anchored: bool  # the question has evidence, so hits can be counted
    rank: int | None = None
    all_rank: int | None = None
    near_rank: int | None = None  # within the tolerance
    near_all_rank: int | None = None
    memory_rank: int | None = None
    exact: bool | None = None
    wrong: bool | None = None
    verbatim: int = 0  # pieces of evidence equal to their event's text, of `pieces`
    pieces: int = 0


def distinct(evidence: Iterable[Mapping[str, Any]], unit: str = "event") -> list[list[Mapping[str, Any]]]:
    """Evidence in rank order, grouped by event (or, with `unit="thread"`, by thread)."""
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for item in evidence:
        key = item["thread"] if unit == "thread" else (item["thread"], item["index"])
        groups.setdefault(key, []).append(item)
    return list(groups.values())


def place_ranks(
    places: Sequence[Place], groups: Sequence[Sequence[Mapping[str, Any]]], tolerance: int = 0
) -> tuple[int | None, int | None]:
    """The rank of the first place that is found, and of the last one if all are."""
    found: list[int | None] = []
    for place in places:
        ranks = (
            rank for rank, group in enumerate(groups, start=1)
            if any(place.holds(item["source"], item["line"], tolerance) for item in group)
        )
        found.append(next(ranks, None))
    hits = [rank for rank in found if rank is not None]
    return (min(hits) if hits else None), (max(hits) if hits and len(hits) == len(found) else None)


def _covers(memory: Mapping[str, Any], keys: frozenset[tuple[str, int]], widest: int | None = None) -> bool:
    for part in memory.get("source_range", ()):
        if widest is not None and part["end"] - part["start"] + 1 > widest:
            continue
        if any(part["thread"] == thread and part["start"] <= index <= part["end"] for thread, index in keys):
            return True
    return False


def memory_ranks(
    places: Sequence[Place], memories: Sequence[Mapping[str, Any]], corpus: Corpus,
    tolerance: int = 0, widest: int | None = None,
) -> tuple[int | None, int | None]:
    """As `place_ranks`, for memories whose source range holds the place's event."""
    found: list[int | None] = []
    for place in places:
        keys = corpus.at(place, tolerance)
        ranks = (rank for rank, memory in enumerate(memories, start=1) if _covers(memory, keys, widest))
        found.append(next(ranks, None))
    hits = [rank for rank in found if rank is not None]
    return (min(hits) if hits else None), (max(hits) if hits and len(hits) == len(found) else None)


def exact_value(question: Question, answer: Answer) -> bool | None:
    """Whether the answer stands verbatim in one piece of evidence (of summaries only: in one summary)."""
    if question.type not in ("exact", "superseded") or not question.answer:
        return None
    if answer.summaries_only:
        return any(question.answer in memory["summary"] for memory in answer.memories)
    return any(question.answer in item["text"] for item in answer.evidence)


def wrong_memory(question: Question, answer: Answer) -> bool | None:
    """Whether the superseded value comes back as current.

    It does when an active memory holds the old value and not the new one, and the new one stands neither in a memory
    nor in evidence of the same rank or a better one; or when the first event of the evidence holds only the old value
    while the first memory does not say the new one. What is marked as superseded is history, not an error.
    """
    old, new = question.superseded_value, question.answer
    if not old:
        return None
    events = ["\n".join(item["text"] for item in group) for group in distinct(answer.evidence)]
    summaries = [memory["summary"] for memory in answer.memories]
    ranks = [rank for texts in (summaries, events) for rank, text in enumerate(texts) if new and new in text]
    new_rank = min(ranks, default=len(summaries) + len(events))
    for rank, memory in enumerate(answer.memories):
        active = memory.get("status", "active") == "active" and not memory.get("superseded_by")
        if active and rank < new_rank and old in memory["summary"]:
            return True
    if not events or answer.evidence[0].get("superseded_by") or old not in events[0]:
        return False
    return new_rank > 0


def judge(question: Question, answer: Answer, corpus: Corpus, *, tolerance: int = 2, unit: str = "event") -> Outcome:
    """One question's outcome. An arm of summaries only is judged by where its memories point."""
    places = question.current if question.answerable else ()
    rank = all_rank = near = near_all = memory = None
    if places:
        memory, _ = memory_ranks(places, answer.memories, corpus)
        if not answer.summaries_only:
            groups = distinct(answer.evidence, unit)
            rank, all_rank = place_ranks(places, groups)
            near, near_all = place_ranks(places, groups, tolerance)
        else:
            rank, all_rank = memory_ranks(places, answer.memories, corpus, 0, WIDE)
            near, near_all = memory_ranks(places, answer.memories, corpus, tolerance, WIDE)
    verbatim = 0
    for item in answer.evidence:
        event = corpus.get(item["thread"], item["index"])
        verbatim += event is not None and event.text[item["start"]: item["end"]] == item["text"]
    return Outcome(
        id=question.id, type=question.type, language=question.language, tags=question.tags,
        abstained=answer.abstained, tokens=answer.tokens, milliseconds=answer.milliseconds, anchored=bool(places),
        rank=rank, all_rank=all_rank, near_rank=near, near_all_rank=near_all, memory_rank=memory,
        exact=exact_value(question, answer), wrong=wrong_memory(question, answer),
        verbatim=verbatim, pieces=len(answer.evidence),
    )


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def measure(outcomes: Sequence[Outcome], ks: Sequence[int] = KS) -> dict[str, Any]:
    """All metrics over some outcomes: each a `Rate` or a `Spread`, under a stable name."""
    anchored = [o for o in outcomes if o.anchored]
    table: dict[str, Any] = {}
    for name, field in (
        ("source_hit", "rank"), ("source_hit_near", "near_rank"), ("source_all", "all_rank"),
        ("source_all_near", "near_all_rank"), ("memory_hit", "memory_rank"),
    ):
        for k in ks:
            table[f"{name}@{k}"] = rate(_within(getattr(o, field), k) for o in anchored)
    judged = [o for o in outcomes if o.exact is not None]
    table["exact_value"] = rate(bool(o.exact) for o in judged)
    table["exact_value_of_hits"] = rate(bool(o.exact) for o in judged if o.near_rank is not None)
    table["wrong_memory"] = rate(bool(o.wrong) for o in outcomes if o.wrong is not None)
    table["abstain_precision"] = rate(o.type == "abstain" for o in outcomes if o.abstained)
    table["abstain_recall"] = rate(o.abstained for o in outcomes if o.type == "abstain")
    table["refused_answerable"] = rate(o.abstained for o in outcomes if o.type != "abstain")
    table["verbatim"] = rate(i < o.verbatim for o in outcomes for i in range(o.pieces))
    table["tokens"] = spread(o.tokens for o in outcomes)
    table["warm_ms"] = spread(o.milliseconds for o in outcomes)
    return table


def groups(outcomes: Sequence[Outcome]) -> dict[str, dict[str, list[Outcome]]]:
    """Outcomes by type, by language and by tag, each sorted by name."""
    out: dict[str, dict[str, list[Outcome]]] = {"type": {}, "language": {}, "tag": {}}
    for outcome in outcomes:
        out["type"].setdefault(outcome.type, []).append(outcome)
        out["language"].setdefault(outcome.language, []).append(outcome)
        for tag in outcome.tags:
            out["tag"].setdefault(tag, []).append(outcome)
    return {name: dict(sorted(members.items())) for name, members in out.items()}
