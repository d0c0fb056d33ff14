"""In: an open index. Out: its counts and versions, and what is wrong inside the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memoryfs.index import schema
from memoryfs.index.threads import has_table
from memoryfs.model import Problem
from memoryfs.text import VERSION

if TYPE_CHECKING:
    from memoryfs.index.core import Index

_REMEDY = "Run `memoryfs index --rebuild`: the index is made anew from the files, which are untouched."


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
    """SQLite's quick check, FTS5's integrity check, and whether every document that should be in FTS5 is, and no other."""
    import apsw

    db = index.db
    found: list[str] = []
    try:
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
    except apsw.Error as error:
        found.append(str(error))
    problems = [Problem(str(index.path), f"the index is damaged: {text}", _REMEDY) for text in found]
    for (error,) in db.execute("SELECT error FROM files WHERE error != ''"):
        problems.extend(Problem(**p) for p in json.loads(error.lstrip("!")))
    return tuple(problems)
