"""In: the query's postings and vector. Out: breadcrumbs (memories and prose), best first, each with the parts of its rank.

score = fused + tag + importance + recency − stale − staged (learned on an unmerged git branch) − unchecked (source changed, or its
day to be checked again has passed). `fused` adds the memory's
own BM25 (divided by the best), its vector similarity above the mean, and a share of its topic's BM25 (title, summary, tags, hints, retrieve_when).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from memoryfs.index.lexical import Term, idf
from memoryfs.index.memories import memory_from_json, tags_from_json
from memoryfs.index.units import NO_TIME, SHIFT
from memoryfs.model import Breadcrumb, Memory
from memoryfs.patterns import lazy
from memoryfs.recall.query import Query
from memoryfs.text import normalise

if TYPE_CHECKING:
    from memoryfs.index.core import Index

K1, B = 1.2, 0.5
TOPIC_SHARE, DENSE, TAG, IMPORTANCE, RECENCY, STALE, STAGED = 0.35, 0.4, 0.08, 0.06, 0.04, 0.3, 0.1
CHANGED, OVERDUE = 0.1, 0.04  # of what should be checked again: its source changed, or its day has passed
HALF_LIFE_DAYS = 60.0
CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class Ranked:
    """A breadcrumb, and the share of the query's weight its words cover (0..1): how well it is supported."""

    crumb: Breadcrumb
    coverage: float
    doc: int


def rank(
    index: Index, query: Query, terms: list[Term], *, similar: Mapping[int, float], status: Collection[str], now: float,
    until: int | None, mass: float,
) -> list[Ranked]:
    """Memories of the wanted status (all if empty). `similar`: doc → similarity 0..1 above the mean; `mass`: the query's."""
    total = index.db.execute("SELECT count(*), coalesce(sum(terms), 0) FROM memories").fetchall()[0]
    if not total[0]:
        return []
    average = max(1.0, total[1] / total[0])
    weighted = [(t, [d for d in t.postings if not d >> SHIFT]) for t in terms]
    docs = {d for _, held in weighted for d in held} | {d for d in similar if not d >> SHIFT}
    rows = rows_of(index, docs)
    topics = topics_of(index)
    lexical: dict[int, float] = {}
    covered: dict[int, float] = {}
    for term, held in weighted:
        weight = term.weight * idf(len(held), total[0])
        share = term.weight * idf(term.documents, max(1, index.totals()[0] + total[0]))
        for doc in held:
            if doc in rows:
                count = term.postings[doc]
                norm = K1 * (1 - B + B * rows[doc][5] / average)
                lexical[doc] = lexical.get(doc, 0.0) + weight * count * (K1 + 1) / (count + norm)
                covered[doc] = covered.get(doc, 0.0) + share
    topic_score = {rows[doc][0]: score for doc, score in lexical.items() if rows[doc][2] == "topic"}
    wanted_topics = [path for path, _ in sorted(topic_score.items(), key=lambda i: (-i[1], i[0]))[:8]]
    for path in wanted_topics:
        for row in index.db.execute(_SELECT + "path = ? AND kind != 'topic' ORDER BY id LIMIT 100", (path,)):
            rows.setdefault(row[0], row[1:])
    best = max((s for d, s in lexical.items() if rows[d][2] != "topic"), default=0.0)
    best_topic = max(topic_score.values(), default=0.0)
    scored: list[tuple[float, int, dict[str, float]]] = []
    for doc, (path, _id, kind, state, _text, _terms, at, _importance, _data) in rows.items():
        if kind == "topic" or (status and state not in status) or (until is not None and at != NO_TIME and at > until):
            continue
        why: dict[str, float] = {}
        if doc in lexical:
            why["fts"] = lexical[doc] / best
        if doc in similar:
            why["vector"] = DENSE * similar[doc]
        if path in topic_score:
            why["topic"] = TOPIC_SHARE * topic_score[path] / max(best_topic, best)
        if not why:
            continue
        why |= standing(rows[doc], topics.get(path, ()), query, now)
        scored.append((sum(why.values()), doc, why))
    scored.sort(key=lambda item: (-item[0], *rows[item[1]][:2]))  # equals by path and id: a document's number tells nothing
    out: list[Ranked] = []
    topic_cover: dict[str, float] = {}
    for doc, share in covered.items():
        if rows[doc][2] == "topic":
            topic_cover[rows[doc][0]] = max(share, topic_cover.get(rows[doc][0], 0.0))
    for score, doc, why in scored[:CANDIDATES]:
        path, id, _kind, state, _text, _terms, _at, _importance, data = rows[doc]
        memory = memory_of(id, state, path, data, now)
        coverage = min(1.0, (covered.get(doc, 0.0) + 0.8 * topic_cover.get(path, 0.0)) / mass) if mass else 0.0
        out.append(Ranked(Breadcrumb(memory, score, {k: round(v, 4) for k, v in why.items()}), coverage, doc))
    return out


def standing(row: tuple, about: tuple[str, ...], query: Query, now: float) -> dict[str, float]:
    """The parts of a score that do not depend on how well the words fit; `row` as from `rows_of`, `about` its topic's tags."""
    path, id, _kind, state, _text, _terms, at, importance, data = row
    why: dict[str, float] = {}
    if about and any(tag and tag in query.plain for tag in about):
        why["tag"] = TAG
    why["importance"] = IMPORTANCE * importance
    if at != NO_TIME:
        why["recency"] = RECENCY * math.exp2(-max(0.0, now - at) / 86400 / HALF_LIFE_DAYS)
    if state in ("superseded", "archived", "withdrawn"):
        why["stale"] = -STALE
    if _MARKED.search(data) and (reason := memory_of(id, state, path, data, now).metadata.get("stale")):
        from memoryfs import staleness

        why["unchecked"] = -(CHANGED if reason.startswith(staleness.SOURCE) else OVERDUE)
    if '"branch"' in data and memory_from_json(id, state, path, data).metadata.get("branch"):
        why["branch"] = -STAGED
    return why


_MARKED = lazy(r'"(?:recheck|source_changed)"')


def memory_of(id: str, state: str, path: str, data: str, now: float) -> Memory:
    """The memory of a row, with the reason under `stale` of its metadata if it should be checked again."""
    memory = memory_from_json(id, state, path, data)
    if not _MARKED.search(data):
        return memory
    from memoryfs import staleness  # at first use: it reads the ledger

    return staleness.marked(memory, date.fromtimestamp(now))


_SELECT = "SELECT doc, path, id, kind, status, text, terms, at, importance, data FROM memories WHERE "


def rows_of(index: Index, docs: Collection[int]) -> dict[int, tuple]:
    """The columns of each document but its number: path, id, kind, status, text, terms, at, importance, data."""
    out: dict[int, tuple] = {}
    listed = sorted(docs)
    for begin in range(0, len(listed), 500):
        part = listed[begin : begin + 500]
        marks = ",".join("?" * len(part))
        for row in index.db.execute(_SELECT + f"doc IN ({marks})", part):
            out[row[0]] = row[1:]
    return out


def topics_of(index: Index) -> dict[str, tuple[str, ...]]:
    """Normalised tags by topic path."""
    return {
        path: tuple(normalise(tag) for tag in tags_from_json(path, data))
        for path, data in index.db.execute("SELECT path, data FROM memories WHERE kind = 'topic'")
    }
