"""In: the path of an index file. Out: an open apsw connection with this version's tables, or a clear refusal.

Tables: `files` (what was read, its state, and how many documents and sources the other tables hold of it), `threads` (packed columns of each thread's events and units, byte offsets
into the thread file among them; see `units`), `memories` (memories, prose blocks and topic headings), `sources` (the events
that each of them rests on), `terms` (the one
FTS5 table; contentless, documents of all kinds; the text itself stays in the files) with two fts5vocab views of its
postings; `vectors` (vec0: signs; made when the first vectors are), `codes` (the same vectors as int8) and `stale`
(documents whose vector is to go as soon as the extension is loaded). The text of every document is normalised by
`memoryfs.text` before it reaches FTS5, whose tokenizer therefore splits on blanks only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.errors import IndexDamagedError, NewerSchemaError
from memoryfs.index import trouble
from memoryfs.text import VERSION as TEXT_VERSION

if TYPE_CHECKING:
    import apsw

SCHEMA = 11
NAMES = frozenset(
    "meta files threads memories sources codes stale terms terms_data terms_idx terms_docsize terms_config postings vocabulary"
    " threads_counts memories_path memories_id sources_thread sources_doc".split()
)
BUSY_MS = 10_000
FOLDER = ".memoryfs"
FILE = "index.db"

_TABLES = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files(path TEXT PRIMARY KEY, kind TEXT, size INT, mtime_ns INT, ctime_ns INT, digest TEXT,
  synced_ns INT, done INT, error TEXT, documents INT DEFAULT 0, places INT DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS threads(number INTEGER PRIMARY KEY, name TEXT UNIQUE, path TEXT, events INT, units INT,
  total_terms INT, embedded INT DEFAULT 0, names TEXT, packed BLOB);
CREATE TABLE IF NOT EXISTS memories(doc INTEGER PRIMARY KEY, path TEXT, id TEXT, kind TEXT, status TEXT, text TEXT,
  terms INT, at INT, importance REAL, embedded INT DEFAULT 0, data TEXT);
CREATE TABLE IF NOT EXISTS sources(doc INT, thread TEXT, first INT, last INT);
CREATE TABLE IF NOT EXISTS codes(key INTEGER PRIMARY KEY, code BLOB);
CREATE TABLE IF NOT EXISTS stale(doc INTEGER PRIMARY KEY);
CREATE INDEX IF NOT EXISTS threads_counts ON threads(units, total_terms, embedded);
CREATE INDEX IF NOT EXISTS memories_path ON memories(path);
CREATE INDEX IF NOT EXISTS memories_id ON memories(id);
CREATE INDEX IF NOT EXISTS sources_thread ON sources(thread);
CREATE INDEX IF NOT EXISTS sources_doc ON sources(doc);
CREATE VIRTUAL TABLE IF NOT EXISTS terms USING fts5(body, content='', contentless_delete=1,
  tokenize="unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'");
CREATE VIRTUAL TABLE IF NOT EXISTS postings USING fts5vocab(terms, instance);
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab(terms, row);
"""


def path_of(root: Path) -> Path:
    """Where a store's index stands: `.memoryfs/index.db`, which the store's .gitignore leaves out."""
    return root / FOLDER / FILE


def connect(path: Path | str, *, readonly: bool = False) -> apsw.Connection:
    """Open and prepare the database. Raises NewerSchemaError, IndexDamagedError; apsw.Error (CorruptError, NotADBError, …) passes through.

    WAL where the file system allows it, else a rollback journal. An older schema, or terms made by another normaliser,
    is dropped and made anew: everything in it comes from the files. A lock is waited for, at most ten seconds.
    """
    import apsw

    if readonly:
        uri = "file:" + _quoted(str(path)) + "?mode=ro"
        if not os.access(os.path.dirname(path), os.W_OK):
            uri += "&immutable=1"
        db = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        db.set_busy_timeout(BUSY_MS)
        if check_version(db) == SCHEMA:
            check_complete(db)
        return db
    db = apsw.Connection(str(path))
    try:
        db.set_busy_timeout(BUSY_MS)
        version = check_version(db)
        if path != ":memory:":
            try:
                _use_wal(db)
                db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            except (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError):
                db.close()
                db = apsw.Connection(str(path))
                db.set_busy_timeout(BUSY_MS)
                db.pragma("journal_mode", "delete")
        db.pragma("synchronous", "normal")
        if version == SCHEMA:
            check_complete(db)
        if version != SCHEMA or not same_text(db):
            create(db)
        return db
    except BaseException:
        db.close()
        raise


def _use_wal(db: apsw.Connection) -> None:
    """Switch to WAL; SQLite does not wait by itself while another connection opens the same new file."""
    import apsw

    for _ in range(BUSY_MS // 20):
        try:
            if db.pragma("journal_mode") == "wal" or db.pragma("journal_mode", "wal"):
                return
        except apsw.BusyError:
            time.sleep(0.02)
    db.pragma("journal_mode", "wal")


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def check_version(db: apsw.Connection) -> int:
    """The schema version in the file (0: none yet). Raises NewerSchemaError."""
    version = db.pragma("user_version")
    if version > SCHEMA:
        raise NewerSchemaError(f"schema {version}", f"schema {SCHEMA}")
    return version


def check_complete(db: apsw.Connection) -> None:
    """Raises IndexDamagedError where a table or an index of this version is missing."""
    missing = NAMES.difference(name for (name,) in db.execute("SELECT name FROM sqlite_schema"))
    if missing:
        raise IndexDamagedError(f"no {', '.join(sorted(missing))}")


def same_text(db: apsw.Connection) -> bool:
    """Whether the terms in the file were made by this version of the normaliser."""
    row = db.execute("SELECT value FROM meta WHERE key = 'text'").fetchall()
    return bool(row) and row[0][0] == TEXT_VERSION


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """What is written within is kept as a whole or not at all; an error is passed on as it was raised.

    SQLite ends the transaction by itself where the disk is full or fails: there is nothing to roll back then. Where it is
    nearly full the index takes none of what is left: apsw.FullError.
    """
    import apsw

    if db.filename and trouble.no_room(os.path.dirname(db.filename)):
        raise apsw.FullError(trouble.FULL)
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):
            if db.in_transaction:
                db.execute("ROLLBACK")
        raise


def create(db: apsw.Connection, *, anew: bool = False) -> None:
    """Drop an older version's tables (with `anew`, this one's too) and make ours, in one transaction."""
    with transaction(db):
        if db.pragma("user_version") > SCHEMA:
            raise NewerSchemaError(f"schema {db.pragma('user_version')}", f"schema {SCHEMA}")
        if not anew and db.pragma("user_version") == SCHEMA and same_text(db):
            return  # another process made it while we waited
        drop_all(db)
        db.execute(_TABLES)
        db.execute("INSERT OR REPLACE INTO meta VALUES('text', ?)", (TEXT_VERSION,))
        db.pragma("user_version", SCHEMA)


def drop_all(db: apsw.Connection) -> None:
    """Drop every table that is ours. vec0's table needs its extension; without it its shadow tables are dropped."""
    import apsw

    names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()]
    for name in ("postings", "vocabulary", "terms", "vectors"):
        if name in names:
            try:
                db.execute(f"DROP TABLE IF EXISTS {name}")
            except apsw.SQLError:
                if name != "vectors":
                    raise
                drop_without_extension(db, name)
    for name in ("meta", "files", "threads", "memories", "sources", "codes", "stale"):
        db.execute(f"DROP TABLE IF EXISTS {name}")


def drop_without_extension(db: apsw.Connection, name: str) -> None:
    """Remove a virtual table whose module is not loaded: its shadow tables, then its schema row."""
    shadows = db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ? ESCAPE '\\'", (name + "\\_%",)
    ).fetchall()
    for (shadow,) in shadows:
        db.execute(f'DROP TABLE IF EXISTS "{shadow}"')
    db.pragma("writable_schema", 1)
    db.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
    db.pragma("writable_schema", "reset")  # and forget the table in this connection too
