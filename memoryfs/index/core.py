"""In: a store's folder. Out: `Index`: its connection, one synchronising pass, packed columns, status, health.

The index is a cache. What is wrong with its file (deleted, swapped, damaged, of an older version, not writable) is healed
by making it anew from the Markdown and thread files, or in memory where the disk refuses, with one notice; only a newer
version's index is refused, and left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from memoryfs import config as settings
from memoryfs.index import schema, trouble
from memoryfs.index.counts import check_counts
from memoryfs.index.lexical import Lexicon
from memoryfs.index.scan import Known
from memoryfs.index.sources import Sources
from memoryfs.index.sync import SyncReport, run
from memoryfs.index.units import ThreadMap
from memoryfs.model import Problem

if TYPE_CHECKING:
    import apsw

    from memoryfs.models.protocols import Embedder

T = TypeVar("T")
_SYNCING = Lock()
_TURNS: dict[str, Lock] = {}  # of each store's folder


class Index:
    """One store's index; use it as a context manager, from one thread at a time."""

    def __init__(self, root: Path, *, embedder: Embedder | None = None, extension: Callable[[Any], str] | None = None):
        self.root = Path(root)
        self.embedder = embedder
        self.config, _ = settings.load(self.root)
        self.path = schema.path_of(self.root)
        self.sources = Sources(self.root)
        self._extension = extension
        self._extension_state: str | None = None  # None: not tried; "": loaded; else why not
        self._notices: list[str] = []
        self._threads: dict[int, ThreadMap] = {}
        self._numbers: dict[str, int] | None = None
        self._data_version = -1
        self._totals: tuple[int, int, int] | None = None
        self._known: dict[str, Known] | None = None
        self._known_at = (-1, -1)
        self._inode: tuple[int, int] | None = None
        self.writable = True
        self.made_anew = ""  # why, if the file was
        self._failures: list[Problem] = []
        self.db: apsw.Connection = self._open()
        self.lexicon = Lexicon(self.db)

    # -- the connection -------------------------------------------------------------------------------------------

    def _open(self) -> apsw.Connection:
        import apsw

        self._extension_state = None
        self.writable = True
        if not self.root.is_dir():
            return self._in_memory("the store's folder is gone")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = schema.connect(self.path)
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.FullError, apsw.IOError, OSError) as error:
            return self._read_only(error)
        except trouble.errors() as error:
            return self._anew(trouble.damage(error))
        self._remember_inode()
        if not os.access(self.path, os.W_OK):
            db.close()
            return self._read_only(OSError("read-only"))
        return db

    def _anew(self, why: str) -> apsw.Connection:
        import apsw

        self.notice(f"The index was made anew: {why}.")
        self.made_anew = why
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{self.path}{suffix}")
            db = schema.connect(self.path)
        except (apsw.Error, OSError) as error:
            return self._in_memory(trouble.reason(error, self.root))
        self._remember_inode()
        return db

    def _read_only(self, error: Exception) -> apsw.Connection:
        import apsw

        if self.path.exists():
            try:
                db = schema.connect(self.path, readonly=True)
                if db.pragma("user_version") == schema.SCHEMA and schema.same_text(db):
                    self.writable = False
                    self._remember_inode()
                    return db
                db.close()
            except (*trouble.errors(), apsw.Error, OSError):
                pass
        return self._in_memory(trouble.reason(error, self.root))

    def _in_memory(self, why: str) -> apsw.Connection:
        self.notice(f"The index cannot be written ({why}); this answer comes from one made in memory.")
        self._failures.append(trouble.unkept("the index cannot be written", why))
        self._inode = None
        return schema.connect(":memory:")

    def serve_from_memory(self, why: str) -> None:
        """Leave the file alone and go on with an index in memory."""
        self.close()
        self.db = self._in_memory(why)
        self.writable = True
        self._extension_state = None
        self.lexicon = Lexicon(self.db)
        self._forget()

    def _remember_inode(self) -> None:
        status = os.stat(self.path)
        self._inode = (status.st_dev, status.st_ino)

    def reopen(self, why: str = "") -> None:
        """Close and open again; with a reason the file is made anew."""
        self.close()
        self.db = self._anew(why) if why else self._open()
        self.lexicon = Lexicon(self.db)
        self._forget()

    @property
    def in_memory(self) -> bool:
        """Whether it has no file and is gone when it is closed."""
        return self._inode is None

    @property
    def kept_on_disk(self) -> bool:
        """Whether it is an index file that can be written, not one in memory or read-only."""
        return self.writable and not self.in_memory

    def _forget(self) -> None:
        self._threads.clear()
        self._numbers = None
        self._totals = None
        self._known = None
        self.lexicon.forget()
        self.sources.forget()

    def close(self) -> None:
        import apsw

        with suppress(apsw.Error):
            self.db.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def notice(self, text: str) -> None:
        """Say something once."""
        if text not in self._notices:
            self._notices.append(text)

    def take_notices(self) -> tuple[str, ...]:
        """What was noticed since the last call."""
        out, self._notices = tuple(self._notices), []
        return out

    def take_failures(self) -> tuple[Problem, ...]:
        """What could not be kept on the disk since the last call."""
        out, self._failures = tuple(dict.fromkeys(self._failures)), []
        return out

    def guarded(self, work: Callable[[], T], *, seconds: float | None = None) -> T:
        """Run `work`; if the file turns out damaged or emptied, make it anew, synchronise, and run it once more.

        Where the disk takes nothing more the file is left alone, and the same is done in memory.
        """
        def again() -> T:
            run(self, seconds=seconds)
            return work()

        for attempt in (work, again):
            try:
                return attempt()
            except trouble.errors() as error:
                self._recover(error)
        return again()

    def _recover(self, error: BaseException) -> None:
        """An index that can be used again, empty: a new file, or in memory."""
        if trouble.refused(error):
            self.serve_from_memory(trouble.reason(error, self.root))
        else:
            self.reopen(trouble.damage(error))

    def fresh(self) -> None:
        """Drop what is remembered if another process or a sync has written; reopen if the file was swapped."""
        if self._inode is not None:
            try:
                status = os.stat(self.path)
                same = (status.st_dev, status.st_ino) == self._inode
            except OSError:
                same = False
            if not same:
                self.notice("The index file was replaced or deleted; it was opened anew.")
                self.reopen()
        version = self.db.pragma("data_version")
        if version != self._data_version:
            self._data_version = version
            self._forget()

    # -- synchronising --------------------------------------------------------------------------------------------

    def sync(
        self, *, now: datetime | None = None, seconds: float | None = None, thorough: bool = False
    ) -> SyncReport:
        """One pass over the store's files: what changed is read again. Milliseconds when nothing changed.

        A `thorough` one also reads every row of the index, which takes longer, and mends what cannot be read.
        With `seconds` it takes topics first, and starts on no further file after that time; the next pass goes on.
        Raises NewerSchemaError. A file that cannot be read costs only itself and is tried again next time. Of the threads
        of a process one synchronises a store at a time; the others wait for it, at most `seconds`.
        """
        with _SYNCING:
            turn = _TURNS.setdefault(str(self.root), Lock())
        if not turn.acquire(timeout=-1 if seconds is None else seconds):
            self.notice("The index is not up to date yet; the next call goes on.")
            return SyncReport(notices=self.take_notices())
        try:
            report = self.guarded(lambda: self._pass(seconds, thorough), seconds=seconds)
        finally:
            turn.release()
        if report.added or report.changed or report.removed:
            self._forget()
        return replace(report, notices=self.take_notices())

    def _pass(self, seconds: float | None, thorough: bool) -> SyncReport:
        self.fresh()
        if thorough:
            from memoryfs.index.health import read_all

            read_all(self.db)
        return run(self, seconds=seconds)

    def rebuild(self) -> SyncReport:
        """Drop everything, vectors too, and read every file again."""
        try:
            self.fresh()
            if self.writable:
                schema.create(self.db, anew=True)
                self._forget()
        except trouble.errors() as error:
            self._recover(error)
        return self.sync()

    def known_files(self) -> dict[str, Known]:
        """What the index knows of each file, by path; read once until something is written. Raises IndexDamagedError."""
        version, changes = self.db.pragma("data_version"), self.db.total_changes()
        if self._known is None or self._known_at != (version, changes):
            check_counts(self.db)
            self._known = {row[0]: Known._make(row) for row in self.db.execute("SELECT * FROM files")}
            self._known_at = (version, changes)
        return self._known

    # -- reading --------------------------------------------------------------------------------------------------

    def thread(self, number: int) -> ThreadMap | None:
        """The packed columns of a thread, kept after the first use."""
        known = self._threads.get(number)
        if known is None:
            rows = self.db.execute(
                "SELECT number, name, path, names, packed FROM threads WHERE number = ?", (number,)
            ).fetchall()
            if not rows:
                return None
            known = self._threads[number] = ThreadMap.unpack(*rows[0])
        return known

    def load_threads(self, numbers: Sequence[int] | set[int]) -> None:
        """Read the columns of many threads in one go."""
        missing = [n for n in numbers if n not in self._threads]
        for begin in range(0, len(missing), 500):
            part = missing[begin : begin + 500]
            marks = ",".join("?" * len(part))
            for row in self.db.execute(
                f"SELECT number, name, path, names, packed FROM threads WHERE number IN ({marks})", part
            ):
                self._threads[row[0]] = ThreadMap.unpack(*row)

    def thread_number(self, name: str) -> int | None:
        """The number of the thread of this name."""
        if self._numbers is None:
            self._numbers = dict(self.db.execute("SELECT name, number FROM threads"))
        return self._numbers.get(name)

    def totals(self) -> tuple[int, int, int]:
        """(units, their index terms, threads) of the whole store."""
        if self._totals is None:
            row = self.db.execute("SELECT sum(units), sum(total_terms), count(*) FROM threads").fetchall()[0]
            self._totals = (row[0] or 0, row[1] or 0, row[2])
        return self._totals

    # -- vectors --------------------------------------------------------------------------------------------------

    def vectors_ready(self) -> str:
        """"" if vectors can be stored and searched, else why not (said once as a notice by recall)."""
        from memoryfs.index import dense

        if self._extension_state is None:
            self._extension_state = (self._extension or dense.load_extension)(self.db)
        if self._extension_state or not self.writable:
            return self._extension_state
        try:
            dense.purge(self.db)
        except trouble.errors() as error:
            if not trouble.refused(error):
                raise
            return trouble.reason(error, self.root)  # those of documents that are gone would be found
        return ""

    def has_vectors(self) -> bool:
        """Whether anything is embedded, without loading a thing."""
        return bool(self.db.execute("SELECT 1 FROM meta WHERE key = 'mean_count'").fetchall())

    def vectors_match(self, embedder: Embedder) -> bool:
        """Whether the stored vectors are this embedder's."""
        from memoryfs.index import dense

        return dense.stored_fingerprint(self.db) == dense.full_fingerprint(embedder)

    def embed_pending(
        self, embedder: Embedder, budget_seconds: float, *, reembed: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[int, int]:
        """Embed what has no vector yet, for at most `budget_seconds`; (embedded, pending).

        Vectors of another model are left alone (0 embedded, a notice) unless `reembed`: they are then replaced.
        """
        from memoryfs.index import dense

        why = self.vectors_ready()
        if why or not self.writable:
            self.notice(f"Vectors are off: {why or 'the index is read-only'}.")
            return 0, dense.pending(self.db)
        stored = dense.stored_fingerprint(self.db)
        other = stored != dense.full_fingerprint(embedder)
        if other and stored and not reembed:
            self.notice(MISMATCH)
            return 0, dense.pending(self.db)
        count = 0
        try:
            if other:
                dense.reset(self.db, embedder)
            for embedded in dense.embedding(self, embedder, budget_seconds):
                count += embedded
                if progress and embedded:
                    progress(count, 0)
        except trouble.errors() as error:
            if not trouble.refused(error):
                raise
            self._failures.append(trouble.unkept("vectors cannot be written", trouble.reason(error, self.root)))
        return count, dense.pending(self.db)

    # -- health ---------------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """Counts and versions, for `doctor`."""
        from memoryfs.index.health import status

        return status(self)

    def check(self) -> tuple[Problem, ...]:
        """Damage that the files' own integrity checks show; the remedy is always a rebuild."""
        from memoryfs.index.health import check

        return check(self)


MISMATCH = (
    "Vectors are off: they were made by another embedding model or with other settings. "
    "`memoryfs index --reembed` replaces them."
)
