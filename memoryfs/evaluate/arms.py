"""In: a store (or its corpus) and a question. Out: an `Answer`, from one of the four arms that are compared.

breadcrumb is the system as it is; raw searches the past log alone; summary answers from the memories alone; floor is
one plain FTS5 table (`porter unicode61`) over whole events, the question's words but the stop words joined with OR.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoryfs.evaluate.corpus import Corpus
from memoryfs.evaluate.golden import Question

ARMS = ("raw", "summary", "breadcrumb", "floor")
NO_MEMORIES = ("none",)  # a status that no memory has (an empty list would ask for all of them)

# Snowball's English stop words, shortened to what questions are made of; the floor has no business being clever.
_STOP = """
a about after all am an and any are as at be because been before being but by can could did do does doing for from had
has have he her his how i if in into is it its me my no not of on or our out she should so some such than that the their
them then there these they this to too up us use used was we were what when where which while who whom why will with
would you your
"""
STOP = frozenset(_STOP.split())


@dataclass(frozen=True, slots=True)
class Answer:
    """What an arm returned: `memories` and `evidence` as in the recall JSON, in rank order."""

    memories: tuple[Mapping[str, Any], ...] = ()
    evidence: tuple[Mapping[str, Any], ...] = ()
    abstained: bool = False
    tokens: int = 0
    milliseconds: float = 0.0
    summaries_only: bool = False  # the arm never goes to the source: it is judged by its memories


Arm = Callable[[Question], Answer]


def recall_arm(store: Any, *, k: int = 10, max_tokens: int = 1500, **options: Any) -> Arm:
    """An arm that asks `store.recall`; `options` are passed on, and so is the question's own `as_of`."""

    def ask(question: Question) -> Answer:
        extra = {**options, "as_of": question.as_of} if question.as_of else options
        started = time.perf_counter()
        found = store.recall(question.question, k=k, max_tokens=max_tokens, **extra).to_dict()
        elapsed = (time.perf_counter() - started) * 1000
        return Answer(tuple(found["memories"]), tuple(found["evidence"]), found["abstained"], found["tokens"], elapsed)

    return ask


def breadcrumb(store: Any, *, k: int = 10, max_tokens: int = 1500, level: int | str = 2, **options: Any) -> Arm:
    """The whole system."""
    return recall_arm(store, k=k, max_tokens=max_tokens, level=level, **options)


def raw(store: Any, *, k: int = 10, max_tokens: int = 1500, **options: Any) -> Arm:
    """The past log searched as it is: a status is asked for that no memory has."""
    return recall_arm(store, k=k, max_tokens=max_tokens, **{**options, "level": 2, "status": NO_MEMORIES})


def summary(store: Any, *, k: int = 10, max_tokens: int = 1500, **options: Any) -> Arm:
    """Summaries only: what they say and where they point, never the source itself."""
    from memoryfs.text import estimate_tokens

    inner = recall_arm(store, k=k, max_tokens=max_tokens, **{**options, "level": 0})

    def ask(question: Question) -> Answer:
        answer = inner(question)
        tokens = sum(estimate_tokens(memory["summary"]) for memory in answer.memories)
        return replace(answer, evidence=(), tokens=tokens, summaries_only=True)

    return ask


def floor_terms(text: str) -> list[str]:
    """The words of a question that are no stop words, lower-cased, each once."""
    words = re.findall(r"\w+", text.lower())
    return list(dict.fromkeys(word for word in words if word not in STOP)) or list(dict.fromkeys(words))


def fit(text: str, tokens: int) -> str:
    """The head of `text` that fits in `tokens`."""
    from memoryfs.text import estimate_tokens

    text = text[: tokens * 6]
    while text and estimate_tokens(text) > tokens:
        text = text[: len(text) * 4 // 5]
    return text


def floor(corpus: Corpus, *, k: int = 10, max_tokens: int = 1500) -> Arm:
    """Plain FTS5 in memory. It returns whole events best first; text beyond the token budget is cut off."""
    import apsw

    from memoryfs.text import estimate_tokens

    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE floor USING fts5(text, tokenize = 'porter unicode61')")
    events = [event for event in corpus.events if not event.metadata.get("skip")]
    with db:
        db.executemany("INSERT INTO floor(rowid, text) VALUES (?, ?)", ((i, e.text) for i, e in enumerate(events)))

    def ask(question: Question) -> Answer:
        started = time.perf_counter()
        terms = floor_terms(question.question)
        query = " OR ".join(f'"{term}"' for term in terms)
        rows = db.execute("SELECT rowid FROM floor WHERE floor MATCH ? ORDER BY rank LIMIT ?", (query, k)) if terms else ()
        evidence, left = [], max_tokens
        for (row,) in rows:
            event = events[row]
            text = fit(event.text, left)
            left -= estimate_tokens(text) if text else 0
            evidence.append({
                "thread": event.thread, "index": event.index, "start": 0, "end": len(text), "text": text,
                "event_id": event.id, "role": event.role, "time": event.time, "source": event.source, "line": event.line,
            })
        elapsed = (time.perf_counter() - started) * 1000
        return Answer((), tuple(evidence), not evidence, max_tokens - left, elapsed)

    return ask
