"""In: documents without a vector, and an embedder; or a query's vector. Out: int8 vectors in vec0; similarities.

Only memories and what people and agents said are embedded (RECALL-NOTES: tool output costs much and adds noise): memories
first, then a batch of every thread in turn, so that no thread waits for another's end. A unit has a vector for each of
its passages, under `document << 3 | passage`, and is as near as the nearest of them. A vector is kept twice: its signs
(less a fixed centre, because all vectors of such models lean one way) in vec0, for a first pass over everything, and as
int8 in `codes`, from which the best of that pass are scored. A small store is compared vector by vector. The fingerprint
of the embedder and of the cutting into passages stands in `meta`; with another one the vectors are not used, and
`Index.embed_pending` starts over only when told to. The mean of all vectors is kept, so that a query knows how similar just anything is to it.
"""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memoryfs.errors import IndexDamagedError
from memoryfs.index.passages import CONTEXT_CHARS, PASSAGE_CHARS, PASSAGES, passages, wanted
from memoryfs.index.schema import transaction
from memoryfs.index.threads import has_table
from memoryfs.index.units import SHIFT, UNIT_CHARS

if TYPE_CHECKING:
    import apsw
    import numpy as np

    from memoryfs.index.core import Index
    from memoryfs.index.units import ThreadMap
    from memoryfs.models.protocols import Embedder

CHUNKING = f"passages={PASSAGE_CHARS}+{CONTEXT_CHARS};3"
BATCH = 16
MAX_K = 4096  # vec0 refuses more
SMALL_STORE = 4096  # vectors that are simply all compared
FIRST_PASS = 240  # of vec0's search by signs, whose time grows with k: 18 ms here over 72,000 vectors, 120 ms with 1,500
MEMORIES, EVENTS = 0, 1
PIECE = PASSAGES.bit_length() - 1  # bits of a vector's key that say which passage of its document it is


def load_extension(db: apsw.Connection) -> str:
    """Load sqlite-vec into the connection; "" or why it cannot be."""
    try:
        import sqlite_vec
    except ImportError as error:
        return f"sqlite-vec is not installed ({error})"
    import apsw

    try:
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
        db.enable_load_extension(False)
        db.execute("SELECT vec_version()").fetchall()
    except (apsw.Error, OSError) as error:
        return f"sqlite-vec cannot be loaded ({error})"
    return ""


def purge(db: apsw.Connection) -> None:
    """Delete the vectors of documents that are gone; the sync that dropped them need not have had the extension."""
    if not db.execute("SELECT 1 FROM stale LIMIT 1").fetchall():
        return
    with transaction(db):
        gone = f"SELECT key FROM stale JOIN codes ON key BETWEEN doc << {PIECE} AND (doc << {PIECE}) + {PASSAGES - 1}"
        if has_table(db, "vectors"):
            db.execute(f"DELETE FROM vectors WHERE rowid IN ({gone})")
        db.execute(f"DELETE FROM codes WHERE key IN ({gone})")
        db.execute("DELETE FROM stale")


def full_fingerprint(embedder: Embedder) -> str:
    return f"{embedder.fingerprint}|{embedder.dim}|{CHUNKING}"


def stored_fingerprint(db: apsw.Connection) -> str:
    rows = db.execute("SELECT value FROM meta WHERE key = 'vectors'").fetchall()
    return rows[0][0] if rows else ""


def quantise(vectors: Any) -> Any:
    """float32 rows as int8, each scaled so that its largest value is 127: only their directions are compared."""
    import numpy as np

    return np.rint(vectors * (127.0 / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9))).astype(np.int8)


def _bits(vectors: Any, centre: Any) -> Any:
    """Rows of signs, packed to bytes (padded with zeros to whole bytes)."""
    import numpy as np

    return np.packbits(np.atleast_2d(vectors) > centre, axis=1)


def reset(db: apsw.Connection, embedder: Embedder) -> None:
    """Drop all vectors and begin a table for this embedder."""
    with transaction(db):
        db.execute("DROP TABLE IF EXISTS vectors")
        db.execute("DELETE FROM codes")
        db.execute(
            f"CREATE VIRTUAL TABLE vectors USING vec0(kind integer partition key, at integer, "
            f"embedding bit[{-(-int(embedder.dim) // 8) * 8}])"
        )
        db.execute("UPDATE threads SET embedded = 0")
        db.execute("UPDATE memories SET embedded = 0")
        db.execute("DELETE FROM meta WHERE key IN ('mean', 'mean_count', 'centre')")
        db.execute("INSERT OR REPLACE INTO meta VALUES('vectors', ?)", (full_fingerprint(embedder),))


def _centre(db: apsw.Connection) -> Any:
    import numpy as np

    rows = db.execute("SELECT value FROM meta WHERE key = 'centre'").fetchall()
    return np.asarray(_numbers(rows[0][0]), dtype=np.float32) if rows else None


def _store(
    db: apsw.Connection, rows: Sequence[tuple[int, int, int]], vectors: np.ndarray, done: Sequence[tuple[str, tuple]],
) -> None:
    """Vectors, bookkeeping and the running mean of one batch, in one transaction; delete + insert (no upsert in vec0)."""
    import numpy as np

    codes = quantise(vectors)
    with transaction(db):
        centre = _centre(db)
        if centre is None:
            centre = np.round(np.asarray(vectors, dtype=np.float32).mean(axis=0), 6)
            db.execute("INSERT INTO meta VALUES('centre', ?)", (json.dumps([round(float(x), 6) for x in centre]),))
        for (key, kind, at), bits, code in zip(rows, _bits(vectors, centre), codes, strict=True):
            db.execute("DELETE FROM vectors WHERE rowid = ?", (key,))
            db.execute(
                "INSERT INTO vectors(rowid, kind, at, embedding) VALUES(?, ?, ?, vec_bit(?))", (key, kind, at, bits.tobytes())
            )
            db.execute("INSERT OR REPLACE INTO codes VALUES(?, ?)", (key, code.tobytes()))
        mean, count = _mean(db)
        total = np.asarray(vectors, dtype=np.float64).sum(axis=0) + (np.asarray(mean) * count if count else 0.0)
        count += len(rows)
        db.execute("INSERT OR REPLACE INTO meta VALUES('mean', ?)", (json.dumps([round(x, 6) for x in total / count]),))
        db.execute("INSERT OR REPLACE INTO meta VALUES('mean_count', ?)", (count,))
        for sql, values in done:
            db.execute(sql, values)


def _mean(db: apsw.Connection) -> tuple[list[float], int]:
    values = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('mean', 'mean_count')").fetchall())
    return (_numbers(values["mean"]), int(values.get("mean_count", 0))) if "mean" in values else ([], 0)


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in json.loads(text)]
    except (ValueError, TypeError) as error:
        raise IndexDamagedError("what is kept of all vectors cannot be read") from error


def embedding(
    index: Index, embedder: Embedder, budget_seconds: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[int]:
    """Embed until done or out of time; how many, batch by batch. No transaction is open while the model works."""
    db = index.db
    deadline = clock() + budget_seconds
    rows = db.execute("SELECT doc, text, at FROM memories WHERE NOT embedded AND kind != 'topic' ORDER BY doc").fetchall()
    for begin in range(0, len(rows), BATCH):
        if clock() >= deadline:
            return
        batch = rows[begin : begin + BATCH]
        vectors = embedder.embed_passages([text[:UNIT_CHARS] for _, text, _ in batch])
        done = [("UPDATE memories SET embedded = 1 WHERE doc = ? AND text = ?", (doc, text)) for doc, text, _ in batch]
        _store(db, [(doc << PIECE, MEMORIES, at) for doc, _, at in batch], vectors, done)
        yield len(batch)
    rows = db.execute("SELECT number, embedded FROM threads WHERE embedded < units ORDER BY name DESC").fetchall()
    starts: dict[int, int] = dict(rows)
    while starts and clock() < deadline:
        for number, start in list(starts.items()):
            if clock() >= deadline:
                return
            thread = index.thread(number)
            if thread is None or start >= len(thread):
                del starts[number]
                continue
            embedded, starts[number] = _embed_batch(index, embedder, thread, start)
            yield embedded


def _embed_batch(index: Index, embedder: Embedder, thread: ThreadMap, start: int) -> tuple[int, int]:
    """Embed the next batch of a thread from unit `start` on; (units embedded, the unit to go on from)."""
    chosen: list[int] = []
    stop = start
    while stop < len(thread) and len(chosen) < BATCH:
        if wanted(thread, stop):
            chosen.append(stop)
        stop += 1
    done = [("UPDATE threads SET embedded = ? WHERE number = ?", (stop, thread.number))]
    texts, keys = [], []
    for unit, nth, text in passages(index.sources, thread, chosen):
        texts.append(text)
        keys.append(((thread.number << SHIFT | unit) << PIECE | nth, EVENTS, thread.at[thread.event[unit]]))
    if texts:
        _store(index.db, keys, embedder.embed_passages(texts), done)
    else:
        index.db.execute(*done[0])
    return len({key >> PIECE for key, _, _ in keys}), stop


def waiting(db: apsw.Connection, numbers: Sequence[int]) -> tuple[dict[int, int], float]:
    """Of these threads: how many units have had their turn; and the share of the store's units that have."""
    done: dict[int, int] = {}
    for begin in range(0, len(numbers), 500):
        part = numbers[begin : begin + 500]
        marks = ",".join("?" * len(part))
        done.update(db.execute(f"SELECT number, embedded FROM threads WHERE number IN ({marks})", part).fetchall())
    some, all_ = db.execute("SELECT coalesce(sum(embedded), 0), coalesce(sum(units), 0) FROM threads").fetchall()[0]
    return done, some / all_ if all_ else 1.0


def pending(db: apsw.Connection) -> int:
    """Documents that may still need a vector (an upper bound: tool output is passed over when its turn comes)."""
    memories = db.execute("SELECT count(*) FROM memories WHERE NOT embedded AND kind != 'topic'").fetchall()[0][0]
    units = db.execute("SELECT coalesce(sum(units - embedded), 0) FROM threads").fetchall()[0][0]
    return memories + units


def search(
    db: apsw.Connection, query: Any, kind: int, k: int, *, until: int | None = None, only: Sequence[int] | None = None,
) -> dict[int, float]:
    """The k nearest documents of a kind, doc → cosine. `only`: exact similarities of just these (the filter is a set).

    `until` (epoch seconds) filters inside the search, not after it. k is clamped to what vec0 takes.
    """
    if not has_table(db, "vectors"):
        return {}
    if only is not None:
        return _exact(db, query, only)
    k = max(0, min(int(k), MAX_K))
    if not k:
        return {}
    if db.execute("SELECT count(*) FROM (SELECT 1 FROM codes LIMIT ?)", (SMALL_STORE + 1,)).fetchall()[0][0] <= SMALL_STORE:
        border = 1 << SHIFT + PIECE  # keys of memories are below it, those of events above
        where = "key >= ?" if kind == EVENTS else "key < ?"
        keys = [key for (key,) in db.execute(f"SELECT key FROM codes WHERE {where}", (border,))]
        if until is not None:
            keys = [key for (key,) in db.execute("SELECT rowid FROM vectors WHERE kind = ? AND at <= ?", (kind, until))]
    else:
        sql = "SELECT rowid FROM vectors WHERE embedding MATCH vec_bit(?) AND k = ? AND kind = ?"
        bits = _bits(query, _centre(db))[0].tobytes()
        values: tuple = (bits, min(MAX_K, max(2 * k, FIRST_PASS)), kind)
        if until is not None:
            sql += " AND at <= ?"
            values += (until,)
        keys = [key for (key,) in db.execute(sql, values)]
    return dict(heapq.nlargest(k, _cosines(db, query, keys).items(), key=lambda item: item[1]))


def _exact(db: apsw.Connection, query: Any, docs: Sequence[int]) -> dict[int, float]:
    """The similarities of these documents, those without a vector left out."""
    return _cosines(db, query, [doc << PIECE | nth for doc in docs for nth in range(PASSAGES)])


def _cosines(db: apsw.Connection, query: Any, keys: Sequence[int]) -> dict[int, float]:
    """Of each document among the keys, the best cosine."""
    import numpy as np

    out: dict[int, float] = {}
    length = float(np.linalg.norm(query))
    for begin in range(0, len(keys), 500):
        part = list(keys[begin : begin + 500])
        rows = db.execute(f"SELECT key, code FROM codes WHERE key IN ({','.join('?' * len(part))})", part).fetchall()
        if rows:
            codes = np.frombuffer(b"".join(code for _, code in rows), dtype=np.int8)
            if codes.size != len(rows) * len(query):
                raise IndexDamagedError("vectors are not of their length")
            codes = codes.reshape(len(rows), -1).astype(np.float32)
            cosines = codes @ query / (np.linalg.norm(codes, axis=1) * length + 1e-9)
            for (key, _), cosine in zip(rows, cosines.tolist(), strict=True):
                out[key >> PIECE] = max(cosine, out.get(key >> PIECE, -1.0))
    return out


def mean_similarity(db: apsw.Connection, query: Any) -> float:
    """The query's similarity to the mean vector: about the median similarity over the store."""
    mean, count = _mean(db)
    return float(sum(a * b for a, b in zip(mean, query.tolist(), strict=True))) if count else 0.0
