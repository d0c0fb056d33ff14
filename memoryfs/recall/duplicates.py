"""In: a statement. Out: whether the store holds it already: exact, possible, new, or unknown when it cannot be told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memoryfs.recall.query import analyse
from memoryfs.recall.retrieve import retrieve
from memoryfs.text import query_terms, similarity_key

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.models.protocols import Embedder

POSSIBLE = 82.0  # rapidfuzz token-set similarity of the normalised texts
NEARBY = 0.93  # cosine; e5 puts unrelated short statements at .75 to .85
LIMIT = 5
_OPEN = ("active", "conflicted")


def dedupe(index: Index, text: str, *, embedder: Embedder | None = None, limit: int = LIMIT) -> dict[str, Any]:
    """`{"verdict": …, "matches": [{id, summary, topic, similarity, why}…]}`, the likeliest match first.

    exact: equal once case, punctuation and width are folded. possible: one contains the other, or they are alike by words
    or by meaning, with the same exact values. unknown: nothing is indexed though the store has topic files that failed.
    """
    from rapidfuzz import fuzz

    key = similarity_key(text)
    if not key:
        return {"verdict": "unknown", "matches": []}
    vector = None
    if embedder is not None and not index.vectors_ready() and index.vectors_match(embedder):
        vector = embedder.embed_query(text[:1200])
    now = datetime.now(UTC).timestamp()
    found = retrieve(index, analyse(text), status=_OPEN, now=now, until=None, ranges=[], vector=vector, want_events=False)
    terms = set(query_terms(text))
    matches: list[tuple[float, dict[str, Any]]] = []
    verdict = "new"
    for item in found.memories[:40]:
        memory = item.crumb.memory
        other = similarity_key(memory.summary)
        if not other:
            continue
        if other == key:
            similarity, why = 100.0, "equal"
        elif len(min(key, other, key=len)) >= 12 and (f" {key} " in f" {other} " or f" {other} " in f" {key} "):
            similarity, why = 95.0, "one contains the other"
        else:
            common = terms & set(query_terms(memory.summary))
            similarity = max(fuzz.token_sort_ratio(key, other), 100.0 * 2 * len(common) / max(1, len(terms) + len(
                set(query_terms(memory.summary)))))
            why = "alike by words"
        if similarity < POSSIBLE:
            continue
        if similarity == 100.0 and why == "equal":
            verdict = "exact"
        elif verdict != "exact":
            verdict = "possible"
        matches.append((similarity, {
            "id": memory.id, "summary": memory.summary, "topic": memory.topic, "status": memory.status,
            "similarity": round(similarity / 100, 3), "why": why,
        }))  # fmt: skip
    if vector is not None:
        matches_by_id = {m["id"] for _, m in matches}
        for doc, similarity in _nearest(index, vector):
            if similarity < NEARBY:
                continue
            row = index.db.execute(
                "SELECT id, path, status, text FROM memories WHERE doc = ? AND kind != 'topic'", (doc,)
            ).fetchall()
            if row and row[0][0] not in matches_by_id and row[0][2] in _OPEN:
                verdict = "possible" if verdict == "new" else verdict
                matches.append((100 * similarity - 10, {
                    "id": row[0][0], "summary": row[0][3].split("\n")[0], "topic": row[0][1], "status": row[0][2],
                    "similarity": round(similarity, 3), "why": "alike in meaning",
                }))  # fmt: skip
    if verdict == "new" and index.db.execute("SELECT 1 FROM files WHERE kind = 'topic' AND error LIKE '!%'").fetchall():
        verdict = "unknown"
    matches.sort(key=lambda match: (-match[0], match[1]["id"]))
    return {"verdict": verdict, "matches": [match for _, match in matches[:limit]]}


def _nearest(index: Index, vector: Any) -> list[tuple[int, float]]:
    from memoryfs.index import dense

    found = dense.search(index.db, vector, dense.MEMORIES, LIMIT)
    return sorted(found.items(), key=lambda item: -item[1])
