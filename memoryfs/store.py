"""In: a store directory and the arguments of a verb. Out: `MemoryStore`, the verbs that CLI, MCP and Python share.

Clock, embedder and generator are passed in or opened lazily from the settings; nothing here prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs import config as settings
from memoryfs.errors import NoStoreError, NotFoundError, ReadOnlyError, UsageError
from memoryfs.files import is_episode
from memoryfs.model import CURRENT, MEMORY_KINDS, Memory, Problem, Recall, SourceRange

if TYPE_CHECKING:
    from memoryfs.edits import Change
    from memoryfs.importers import ImportReport
    from memoryfs.index import SyncReport
    from memoryfs.models.protocols import Embedder, Generator
    from memoryfs.notes import NotesReport
    from memoryfs.reading import Reading
    from memoryfs.topic import Topic

Clock = Callable[[], datetime]
PLACE_SECONDS = 0.5  # that `remember` spends on finding a topic
GITIGNORE = "# derived; memoryfs rebuilds it\n.memoryfs/\n"


def system_clock() -> datetime:
    """Now, aware, in the machine's zone."""
    return datetime.now(UTC).astimezone()


class MemoryStore:
    """One store. Open it with `MemoryStore.open(dir)`, make one with `MemoryStore.init(dir)`."""

    def __init__(self, root: Path, *, clock: Clock = system_clock) -> None:
        self.root = root
        self.clock = clock
        self.config, self.config_problems = settings.load(root)
        self._embedder: Embedder | bool | None = False  # False: not opened yet

    # -- opening --------------------------------------------------------------------------------------------------

    @classmethod
    def init(cls, directory: str | os.PathLike[str], *, clock: Clock = system_clock) -> MemoryStore:
        """Make `directory` a store (what is there already stays) and open it. Raises ReadOnlyError."""
        from memoryfs import briefing
        from memoryfs.textfile import write_atomic

        root = Path(os.path.abspath(directory))
        try:
            root.mkdir(parents=True, exist_ok=True)
            (root / ".memoryfs").mkdir(exist_ok=True)
        except OSError as error:
            raise ReadOnlyError(str(root), error.strerror or error) from error
        if not (root / ".gitignore").exists():
            write_atomic(root / ".gitignore", GITIGNORE.encode(), expect="")
        store = cls(root, clock=clock)
        briefing.refresh(root, store.config, now=clock())
        return store

    @classmethod
    def open(cls, directory: str | os.PathLike[str], *, clock: Clock = system_clock) -> MemoryStore:
        """Open the store in `directory`. Raises NoStoreError."""
        root = Path(os.path.abspath(directory))
        if not root.is_dir():
            raise NoStoreError(str(directory))
        return cls(root, clock=clock)

    def embedder(self) -> Embedder | None:
        """The embedder that the settings name, opened once; None when there is none."""
        if self._embedder is False:
            from memoryfs.models import open_embedder

            self._embedder = open_embedder(self.config.models)
        return self._embedder or None  # type: ignore[return-value]

    # -- in -------------------------------------------------------------------------------------------------------

    def import_transcripts(
        self, paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, format: str = "auto"
    ) -> ImportReport:
        """Copy transcripts (files or folders) into threads/; secrets are redacted first. Importing again adds nothing."""
        from memoryfs.importers import import_paths

        listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        return import_paths(self.root, listed, format=format)

    def import_notes(self, found: Iterable[tuple[Path, str]]) -> NotesReport:
        """Copy other tools' notes, as `memoryfs.notes.find` names them, into topic files with their provenance."""
        from memoryfs.notes import import_notes

        report = import_notes(self.root, found, now=self.clock())
        self.refresh()
        return report

    def remember(
        self, text: str, *, topic: str | None = None, kind: str = "fact", source: str | SourceRange | None = None,
        actor: str = "person", hints: Sequence[str] = (),
    ) -> Change:
        """Write one memory into a topic file. Secrets in `text` and `hints` are redacted. Raises UsageError for bad arguments."""
        from memoryfs import edits
        from memoryfs import topic as topics
        from memoryfs.redact import redact

        clean = redact(" ".join(text.split())).text
        if not clean:
            raise UsageError("there is nothing to remember: the text is empty")
        if kind not in MEMORY_KINDS:
            raise UsageError(f"kind must be one of {', '.join(MEMORY_KINDS)}, not {kind!r}")
        ranges = (self._source(source),) if source else ()
        now = self.clock()
        memory = Memory(
            id=topics.memory_id(clean), summary=clean, kind=kind, status="active", topic=topic or self._place(clean, kind),
            line=0, source_range=ranges, stated_by=actor, date=now.date().isoformat(), query_hints=tuple(redact(hint).text for hint in hints),
        )
        change = edits.remember(self.root, self.config, memory, actor=actor, now=now)
        self.refresh()
        return change

    def forget(self, ref: str, *, purge: bool = False, actor: str = "person") -> Change:
        """Withdraw the memory `^m-…`; with `purge` its text leaves the ledger too. Raises NotFoundError."""
        from memoryfs import edits

        id = self._written(ref)
        change = edits.forget(self.root, self.config, id, purge=purge, actor=actor, now=self.clock())
        self.refresh()
        return change

    def _written(self, ref: str) -> str:
        """The id that `ref` names. A bullet that a person has only just typed gets its id written down first."""
        from memoryfs import edits
        from memoryfs.reading import memory_ref

        id = memory_ref(ref)
        if any(m.id == id and not m.metadata.get("adopted", True) for m in self.list()):
            edits.adopt(self.root, self.config, now=self.clock())
        return id

    def move(self, ref: str, to: str, *, actor: str = "person", cwd: Path | None = None) -> Change:
        """Move the memory `^m-…` to the topic file `to`, or to the store that `to` names (`profile:NAME`, a directory).

        To another store it goes with its id, sources and history, and leaves a link. Raises NotFoundError,
        NoStoreError, OutsideStoreError, UsageError.
        """
        from memoryfs import edits, scope

        id = self._written(ref)
        other = scope.named(to, cwd or Path.cwd())
        if other is not None:
            target = MemoryStore.open(other, clock=self.clock)
            change = edits.lift(self.root, self.config, id, target.root, target.config, actor=actor, now=self.clock())
            target.refresh()
            self.refresh()
            return change
        change = edits.move(self.root, self.config, id, to=to, actor=actor, now=self.clock())
        self.refresh()
        return change

    def resolve(self, review_id: str, choice: str, *, text: str = "", actor: str = "person") -> Change:
        """Settle the open contradiction `r-…`: accept, reject, keep-both, or edit with the words `text`.

        Raises UsageError, NotFoundError.
        """
        from memoryfs import edits
        from memoryfs.redact import redact

        change = edits.resolve(self.root, self.config, review_id, choice, actor=actor, now=self.clock(), text=redact(text).text)
        self.refresh()
        return change

    def judge(self, ref: str, verdict: str, *, actor: str = "person") -> Change:
        """Record that the memory `^m-…` was useful or wrong. Raises UsageError, NotFoundError."""
        from memoryfs import edits
        from memoryfs.reading import memory_ref

        change = edits.judge(self.root, self.config, memory_ref(ref), verdict, actor=actor, now=self.clock())
        self.refresh()
        return change

    def undo(self, ref: str, *, actor: str = "person") -> Change:
        """Take back the last choice about the review `^r-…`, or the last judgement of the memory `^m-…`. Raises NotFoundError."""
        from memoryfs import edits

        id = ref.strip().lstrip("^")
        verb = edits.unjudge if id.startswith("m-") else edits.undo
        change = verb(self.root, self.config, id, actor=actor, now=self.clock())
        self.refresh()
        return change

    def refresh(self) -> bool:
        """Bring MEMORY.md up to date with the topic files; whether that changed it."""
        from memoryfs import briefing

        return briefing.refresh(self.root, self.config, now=self.clock())

    def _source(self, source: str | SourceRange) -> SourceRange:
        from memoryfs import thread

        wanted = source if isinstance(source, SourceRange) else SourceRange.parse(source)
        if wanted is None:
            raise UsageError(f"{source!r} is not a source range", remedy="Write THREAD:A-B, as recall shows it.")
        full = thread.resolve(self.root, wanted.thread)
        if full is None:
            raise NotFoundError(f"thread {wanted.thread}", remedy="`memoryfs list --threads` names them.")
        if not thread.read_events(self.root, full, wanted.start, wanted.start):
            raise NotFoundError(f"event {wanted.start} of thread {full}")
        return SourceRange(full, wanted.start, wanted.end)

    def _place(self, text: str, kind: str) -> str:
        """The topic of the memory most like `text`, else a topic of the kind's own."""
        for memory in self._nearest(text):
            if memory.kind == kind and not memory.metadata.get("prose") and not is_episode(memory.topic):
                return memory.topic
        own = {"instruction": "preferences/general.md", "task": "tasks/general.md"}
        return own.get(kind, "notes/general.md")

    def _nearest(self, text: str) -> tuple[Memory, ...]:
        """The memories most like `text`, as far as they are indexed within PLACE_SECONDS: remembering does not wait."""
        import apsw

        from memoryfs import index as indexes
        from memoryfs.recall import recall

        with indexes.open(self.root) as index:
            index.db.set_busy_timeout(int(PLACE_SECONDS * 1000))
            with suppress(apsw.BusyError):  # another process writes: what is indexed already must do
                index.sync(now=self.clock(), seconds=PLACE_SECONDS)
            found = recall(index, text, k=3, level="0", now=self.clock())
        return () if found.abstained else tuple(crumb.memory for crumb in found.memories)

    # -- out ------------------------------------------------------------------------------------------------------

    def recall(
        self, query: str = "", *, k: int = 10, level: str | int = "auto", max_tokens: int | None = None,
        status: Sequence[str] = CURRENT, as_of: str | None = None, file: str | None = None, cwd: Path | None = None,
        vectors: bool = True, generator: Generator | None = None, answer: bool = False, **options: Any,
    ) -> Recall:
        """The memories and verbatim evidence that answer `query`; see DESIGN §3. Raises UsageError.

        With `answer` also one checked sentence, where a model (`generator`, or the settings') is trusted to write it.
        With `file`, a path read from `cwd`, only what concerns that file, and all of it where `query` is empty. With
        `inbox` among the statuses also what waits in inbox.md, in at most half of the places.
        """
        from memoryfs import index as indexes
        from memoryfs.recall import recall

        if answer and str(level) == "auto":
            level = "2"  # an answer is written from the source
        if str(level) == "3" and generator is None:
            from memoryfs.models import open_generator

            generator = open_generator(self.config.models)
            if generator is not None:
                with closing(generator):
                    return self.recall(query, k=k, level=level, max_tokens=max_tokens, status=status, as_of=as_of, file=file,
                                       cwd=cwd, vectors=vectors, generator=generator, answer=answer, **options)
        expansion = options.pop("expansion", None)  # scoped recall has one for all stores
        if expansion is None and self.config.recall.expand:
            from memoryfs.recall.expand import expansion as expand

            expansion = expand(self.root, self.config, query, level=level, generator=generator)
        with indexes.borrowed(self.root) as index:
            now = self.clock()
            report = index.sync(now=now)
            embedder = self.embedder() if vectors and index.has_vectors() else None
            bounds: dict[str, Any] = {
                "k": k, "level": str(level), "max_tokens": max_tokens or self.config.recall.max_tokens,
                "status": tuple(s for s in status if s != "inbox") or ("withdrawn",), "as_of": as_of,
                "embedder": embedder, "generator": generator, "now": now, "expansion": expansion.text if expansion else "", **options,
            }
            if file is not None:
                from memoryfs import filewise

                found = index.guarded(lambda: filewise.recall(
                    index, self.root, self.config, query, file, cwd=cwd or Path.cwd(), **bounds))
            else:
                found = recall(index, query, **bounds)
        if "inbox" in status:
            found = _with_waiting(found, self.root, query, k if tuple(status) == ("inbox",) else max(1, k // 2), k)
        notices = (*report.notices, *index.take_notices(), *([expansion.notice] if expansion and expansion.notice else ()))
        found = _with_problems(found, (*self.config_problems, *report.problems), notices)
        return self.answered(found, generator) if answer else found

    def answered(self, found: Recall, generator: Generator | None = None) -> Recall:
        """`found` with an answer from its evidence, or with a notice why there is none."""
        from memoryfs.recall.answer import answered

        return answered(self.root, self.config.models, found, generator, seconds=self.config.recall.answer_seconds)

    def read(self, ref: str) -> Reading:
        """A topic, `topic#Section`, `^m-…` or `THREAD:A-B`, as it stands. Raises NotFoundError, OutsideStoreError."""
        from memoryfs.reading import read

        return read(self.root, self.config, ref)

    def topics(self) -> dict[str, Topic]:
        """Every topic file of the store by its relative path, parsed; unreadable ones carry problems."""
        from memoryfs import edits

        return edits.load_topics(self.root, self.config)

    def list(
        self, *, topic: str | None = None, kind: str | None = None, status: str | None = None
    ) -> tuple[Memory, ...]:
        """Memories in file order. `topic` is a relative path, or the start of one; `status` "all" or None means all."""
        from memoryfs.staleness import all_marked

        return all_marked(select(self.topics(), topic=topic, kind=kind, status=status), self.clock().date())

    def dedupe(self, text: str, *, vectors: bool = True) -> dict[str, Any]:
        """Is `text` remembered already? `{"verdict": exact|possible|new|unknown, "matches": […]}`."""
        from memoryfs import index as indexes
        from memoryfs.recall import dedupe

        with indexes.borrowed(self.root) as index:
            index.sync(now=self.clock())
            embedder = self.embedder() if vectors and index.has_vectors() else None
            return dedupe(index, text, embedder=embedder)

    def brief(self) -> str:
        """The text of MEMORY.md, compiled anew first if a topic file changed."""
        from memoryfs import briefing_cache

        return briefing_cache.read_fresh(self.root, self.config)

    def index(
        self, *, rebuild: bool = False, embed_seconds: float = 0.0, reembed: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Indexed:
        """Bring the index up to date, from nothing with `rebuild`; then embed for at most `embed_seconds`.

        Vectors of another model are replaced only with `reembed`; `progress(done, of)` is called while embedding.
        """
        from memoryfs import index as indexes

        with indexes.open(self.root) as index:
            report = index.rebuild() if rebuild else index.sync(now=self.clock(), thorough=True)
            embedder = self.embedder() if embed_seconds > 0 and not index.in_memory else None
            embedded, pending = 0, 0
            if embedder is not None:
                embedded, pending = index.embed_pending(embedder, embed_seconds, reembed=reembed, progress=progress)
            notices = () if index.in_memory else tuple(dict.fromkeys((*report.notices, *index.take_notices())))
            report = replace(report, problems=(*report.problems, *index.take_failures()))
        return Indexed(report, embedded, pending, notices, not index.in_memory)


@dataclass(frozen=True)
class Indexed:
    """What `index` did: the files synchronised, documents embedded now and still without a vector; whether it is on the disk."""

    sync: SyncReport
    embedded: int
    pending: int
    notices: tuple[str, ...]
    kept: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {**self.sync.to_dict(), "embedded": self.embedded, "pending": self.pending, "notices": list(self.notices)}

    def line(self) -> str:
        sync = self.sync
        text = f"{sync.added} added, {sync.changed} changed, {sync.removed} removed, {sync.unchanged} unchanged"
        if self.embedded or self.pending:
            text += f"; {self.embedded} embedded, {self.pending} waiting"
        return text


def select(
    topics: Mapping[str, Topic], *, topic: str | None = None, kind: str | None = None, status: str | None = None
) -> tuple[Memory, ...]:
    """The memories of parsed topics, as `MemoryStore.list` chooses them."""
    wanted = None if status in (None, "all") else set(str(status).split(","))
    return tuple(
        memory
        for path, parsed in sorted(topics.items())
        if topic is None or path == topic or path.removesuffix(".md") == topic or path.startswith(topic.rstrip("/") + "/")
        for memory in parsed.memories
        if (kind is None or memory.kind == kind) and (wanted is None or memory.status in wanted)
    )


def _with_waiting(found: Recall, root: Path, query: str, most: int, k: int) -> Recall:
    """The answer with what waits in the inbox behind its memories, `k` in all."""
    from memoryfs import inbox
    from memoryfs.model import Breadcrumb

    waiting = tuple(Breadcrumb(memory, score, {"words": score}) for score, memory in inbox.search(root, query, most))
    return replace(found, memories=(*found.memories[: k - len(waiting)], *waiting))


def _with_problems(found: Recall, problems: tuple[Problem, ...], notices: tuple[str, ...]) -> Recall:
    return replace(found, problems=(*found.problems, *problems), notices=(*found.notices, *notices))
