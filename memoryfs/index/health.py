"""In: an open index. Out: its counts and versions, and what is wrong inside the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memoryfs.errors import IndexDamagedError
from memoryfs.index import schema, trouble
from memoryfs.index.dense import PIECE
from memoryfs.index.memories import memory_from_json, tags_from_json
from memoryfs.index.scan import Known
from memoryfs.index.sync import noted
from memoryfs.index.threads import has_table
from memoryfs.index.units import ThreadMap
from memoryfs.model import Problem
from memoryfs.text import VERSION

if TYPE_CHECKING:
    import apsw

    from memoryfs.index.core import Index

def status(index: Index) -> dict[str, Any]:
    """Counts of files, events, memories, documents and vectors; versions; bytes on disk."""
    import apsw

    from memoryfs.index import dense

    db = index.db

    def one(sql: str) -> Any:
        return db.execute(sql).fetchall()[0][0]

    out: dict[str, Any] = {
        "path": str(index.path), "writable": index.writable, "schema": schema.SCHEMA, "text_version": VERSION,
        "sqlite": apsw.sqlite_lib_version(), "journal": db.pragma("journal_mode"),
        "topics": one("SELECT count(*) FROM files WHERE kind = 'topic'"), "threads": one("SELECT count(*) FROM threads"),
        "events": one("SELECT coalesce(sum(events), 0) FROM threads"),
        "units": one("SELECT coalesce(sum(units), 0) FROM threads"),
        "memories": one("SELECT count(*) FROM memories WHERE kind = 'memory'"),
        "prose": one("SELECT count(*) FROM memories WHERE kind = 'prose'"),
        "failed": [path for (path,) in db.execute("SELECT path FROM files WHERE substr(error, 1, 1) = '!'")],
        "pending": dense.pending(db), "vectors": 0, "fingerprint": dense.stored_fingerprint(db), "vectors_off": "",
        "bytes": index.path.stat().st_size if index.path.exists() else 0,
    }
    why = index.vectors_ready()
    if why:
        out["vectors_off"] = why
    else:
        out["sqlite_vec"] = one("SELECT vec_version()")
        if has_table(db, "vectors"):
            out["vectors"] = one("SELECT count(*) FROM codes")
    return out


def check(index: Index) -> tuple[Problem, ...]:
    """SQLite's quick check, FTS5's integrity check; whether every row can be read, every document that should be in FTS5 is,
    and no other, and no vector is missing."""
    db = index.db
    found: list[str] = []
    told: list[Problem] = []
    try:
        read_all(db)
        for row in db.execute("SELECT * FROM files WHERE error != ''"):
            told.extend(noted(Known._make(row)))
        answer = db.execute("PRAGMA quick_check(3)").fetchall()
        if answer != [("ok",)]:
            found.append("; ".join(str(row[0]) for row in answer))
        if index.kept_on_disk:
            db.execute("INSERT INTO terms(terms) VALUES('integrity-check')")
        want = db.execute(
            "SELECT (SELECT count(*) FROM memories) + (SELECT coalesce(sum(units), 0) FROM threads)"
        ).fetchall()[0][0]
        have = db.execute("SELECT count(*) FROM terms_docsize").fetchall()[0][0]
        if want != have:
            found.append(f"the full-text table holds {have} documents, the files give {want}")
        if lost := _lost_vectors(db):
            found.append(f"{lost} vectors are missing")
    except trouble.errors() as error:
        if not trouble.refused(error):
            found.append(str(error.args[0] if isinstance(error, IndexDamagedError) else error))
    return (*(Problem(str(index.path), f"the index is damaged: {text}", IndexDamagedError.remedy) for text in found), *told)


def read_all(db: apsw.Connection) -> None:
    """Read every memory, topic and thread as recall does. Raises IndexDamagedError, UnicodeDecodeError."""
    for id, kind, status, path, data, _ in db.execute("SELECT id, kind, status, path, data, text FROM memories"):
        if kind == "topic":
            tags_from_json(path, data)
        else:
            memory_from_json(id, status, path, data)
    for row in db.execute("SELECT number, name, path, names, packed FROM threads"):
        ThreadMap.unpack(*row)


def _lost_vectors(db: apsw.Connection) -> int:
    """How many vectors stand in only one of the two tables, and memories that are said to have one have none."""
    if not has_table(db, "vectors_rowids"):
        return 0
    return db.execute(
        "SELECT abs((SELECT count(*) FROM codes) - (SELECT count(*) FROM vectors_rowids)) + (SELECT count(*) FROM memories "
        f"WHERE embedded AND kind != 'topic' AND doc << {PIECE} NOT IN (SELECT key FROM codes))"
    ).fetchall()[0][0]
