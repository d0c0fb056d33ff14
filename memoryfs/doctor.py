"""In: a store. Out: findings, each with its place, severity and remedy; `fix` mends only what is certain.

The checks are a list of functions, each over the same `Context`, so that one broken thing turns one line red.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memoryfs import checks, files, ledger, scope
from memoryfs.briefing.phrase import target_of
from memoryfs.errors import MemoryfsError
from memoryfs.model import CURRENT, Problem
from memoryfs.notation import pointers as pointers_in
from memoryfs.textfile import StoreLock, clean_litter, write_atomic

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore
    from memoryfs.topic import Topic

MIN_FREE_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True)
class Context:
    """What the checks share: the store, its topics parsed once, the ids they hold, the environment; `with_models`: whether
    models may be loaded, which takes seconds."""

    store: MemoryStore
    topics: dict[str, Topic]
    ids: dict[str, list[str]] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    with_models: bool = True


@dataclass(frozen=True)
class Check:
    """One line of the report: `problems` empty means green."""

    name: str
    problems: tuple[Problem, ...]
    detail: str = ""
    fixed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        return {"check": self.name, "ok": self.ok, "detail": self.detail, "fixed": list(self.fixed),
                "problems": [p.to_dict() for p in self.problems]}


Found = Iterator[Problem]


def settings(context: Context) -> Found:
    """memoryfs.toml is valid, and its routes lead to stores."""
    yield from context.store.config_problems
    yield from scope.route_problems(context.store.root, context.store.config.routes, context.environ)


def folder(context: Context) -> Found:
    """The store's folder can be written, and has room: a real write, read and removal."""
    root = context.store.root
    probe = root / ".memoryfs" / f"probe-{os.getpid()}"
    try:
        probe.parent.mkdir(exist_ok=True)
        write_atomic(probe, b"probe")
        if probe.read_bytes() != b"probe":
            yield Problem(str(root), "what was written does not read back", "Check the disk.")
        probe.unlink()
        space = os.statvfs(root)
        if space.f_bavail * space.f_frsize < MIN_FREE_BYTES:
            yield Problem(str(root), "less than 50 MB are free on this disk", "Make room.", severity="warning")
    except (OSError, MemoryfsError) as error:
        yield Problem(str(root), f"cannot be written: {error}", "Check its permissions and free space.")


def lock(context: Context) -> Found:
    """The organizer's lock can be taken (a crashed run never holds it)."""
    try:
        with StoreLock(context.store.root, "organize"):
            return
    except MemoryfsError as error:
        yield Problem(".memoryfs", error.message, error.remedy, severity="warning")


def topic_files(context: Context) -> Found:
    """Every topic file can be read as a whole and would survive a rewrite."""
    for topic in context.topics.values():
        yield from topic.problems
    known = {p.path for t in context.topics.values() for p in t.problems}
    for problem in files.scan(context.store.root, context.store.config).problems:
        if problem.path not in known:
            yield problem


def duplicate_ids(context: Context) -> Found:
    """Every memory id stands in one place."""
    for memory_id, places in context.ids.items():
        if len(set(places)) > 1:
            yield Problem(places[1], f"^{memory_id} stands in {places[0]} too",
                          "Delete one of the two, or its id: the next run gives it a new one.")


def pointers(context: Context) -> Found:
    """Every `[[…#^m-…]]` leads to a memory that exists, here or in the store that it moved to."""
    from memoryfs.edits import moved_to

    for path, topic in context.topics.items():
        for number, line in enumerate(topic.lines, start=1):
            for _, target in pointers_in(line):
                if target not in context.ids and not moved_to(context.store.root, target):
                    yield Problem(path, f"points to ^{target}, which is nowhere", "Correct or delete the pointer.",
                                  line=number, severity="warning")


def sources(context: Context) -> Found:
    """Every memory that was extracted says where it was said, and that place exists."""
    from memoryfs import thread

    threads = set(thread.list_threads(context.store.root))
    for path, topic in context.topics.items():
        for memory in topic.memories:
            if memory.stated_by == "organizer" and memory.status == "active" and not memory.source_range \
                    and memory.metadata.get("adopted", True):
                yield Problem(path, f"^{memory.id} has no source", "State it yourself, or delete it.", line=memory.line,
                              severity="warning")
            for place in memory.source_range:
                if place.thread not in threads:
                    yield Problem(path, f"^{memory.id} comes from {place.label}, a thread that is not here",
                                  "Import the transcript again.", line=memory.line, severity="warning")


def size(context: Context) -> Found:
    """No topic file is larger than the setting allows."""
    most = context.store.config.organize.topic_max_bytes
    for path, topic in context.topics.items():
        length = len(topic.text.encode("utf-8", "surrogateescape"))
        if length > most:
            yield Problem(path, f"{length:,} bytes, more than {most:,}", "Split it: move some memories to another topic.",
                          severity="warning")


def hints(context: Context) -> Found:
    """Hints add something to the title."""
    for path, topic in context.topics.items():
        title = topic.title.casefold()
        if topic.query_hints and all(h.casefold() == title for h in topic.query_hints):
            yield Problem(path, "its query_hints only repeat the title", "Add words that a search would use.",
                          severity="warning")


def briefing(context: Context) -> Found:
    """MEMORY.md is within its cap, and each of its lines leads to a file."""
    store = context.store
    path = store.root / files.BRIEFING
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        yield Problem(files.BRIEFING, "is missing", "`memoryfs brief` writes it.", severity="warning")
        return
    caps = store.config.briefing
    lines = data.decode("utf-8", "replace").splitlines()
    if len(data) > caps.max_bytes or len(lines) > caps.max_lines:
        yield Problem(files.BRIEFING, f"{len(data):,} bytes and {len(lines)} lines are over the cap",
                      "`memoryfs brief` brings it back under it.")
    for number, line in enumerate(lines, start=1):
        target = target_of(line)
        if target and not (store.root / target).is_file():
            yield Problem(files.BRIEFING, f"points to {target}, which is gone", "`memoryfs brief` compiles it anew.",
                          line=number, severity="warning")


def ledger_file(context: Context) -> Found:
    """Every line of the ledger can be read."""
    yield from ledger.read(context.store.root)[1]


def thread_files(context: Context) -> Found:
    """Every line of every thread is an event."""
    from memoryfs import thread

    for name in thread.list_threads(context.store.root):
        yield from thread.check_thread(context.store.root, name)


def index(context: Context) -> Found:
    """The index is sound, in step with the files, and recall finds a memory by its own words."""
    from memoryfs import index as indexes

    sound = True
    try:
        with indexes.open(context.store.root) as opened:
            report = opened.sync(now=context.store.clock())
            if opened.made_anew:
                yield Problem(".memoryfs/index.db", f"was made anew from the files: {opened.made_anew}",
                              "It is whole again; if this comes back, check the disk.", severity="warning")
            told = {(p.path, p.message) for t in context.topics.values() for p in t.problems}
            for problem in opened.check():
                sound = False
                if (problem.path, problem.message) not in told:
                    yield problem
            yield from (p for p in report.problems if "index" in p.path)
            off = opened.vectors_ready()
            if off:
                yield Problem(".memoryfs/index.db", f"vectors are off: {off}", "Search by words works meanwhile.",
                              severity="warning")
            yield from opened.take_failures()
        if sound:
            yield from _recalled(context)
    except MemoryfsError as error:
        yield Problem(".memoryfs/index.db", error.message, error.remedy)


def _recalled(context: Context) -> Found:
    current = [m for topic in context.topics.values() if topic.status in CURRENT for m in topic.memories
               if m.status in CURRENT and m.metadata.get("adopted", True)]
    if not current:
        return
    memory = max(current[:50], key=lambda m: len(m.summary))
    found = context.store.recall(memory.summary, k=50, level=0, vectors=False)
    if memory.id not in {crumb.memory.id for crumb in found.memories}:
        yield Problem(".memoryfs/index.db", f"recall does not find ^{memory.id} by its own words", "`memoryfs index --rebuild`")


def sessions(context: Context) -> Found:
    """Every session can be organized; none was set aside."""
    from memoryfs import __version__, runs

    for failure in runs.failures(context.store.root, __version__).values():
        if failure.set_aside:
            yield Problem(f"thread {failure.thread}", f"set aside after {failure.count} failures: {failure.message}",
                          "`memoryfs organize --retry` tries it again; its transcript is kept.", severity="warning")


def last_run(context: Context) -> Found:
    """The last run of the organizer did not fail."""
    from memoryfs import runs
    from memoryfs.errors import EXIT_FAILED

    run = runs.last(context.store.root)
    if run is not None and run.exit_code == EXIT_FAILED:
        many = f"; {run.failures} in a row since {run.failing_since}" if run.failures > 1 else ""
        yield Problem(".memoryfs", f"the run of {run.time} failed: {run.message or 'no reason given'}{many}",
                      "Mend that and run `memoryfs organize`.", severity="error" if run.failures >= runs.ALARM else "warning")


def schedule(context: Context) -> Found:
    """Where runs are scheduled, they happen."""
    from memoryfs import runs

    missed, since = runs.overdue(context.store.root, context.store.clock())
    if missed:
        yield Problem(".memoryfs", f"{missed} scheduled runs have not happened since {since}",
                      "See `memoryfs schedule status`; if the machine was off, the next run makes up for it.",
                      severity="warning")


CHECKS: tuple[Callable[[Context], Found], ...] = (
    settings, folder, lock, topic_files, duplicate_ids, pointers, sources, size, hints, briefing, ledger_file,
    thread_files, index, checks.vectors, checks.models, checks.permissions, checks.secrets, sessions, last_run, schedule,
)


def examine(
    store: MemoryStore, *, fix: bool = False, with_models: bool = True, more: Sequence[Callable[[Context], Found]] = (),
    environ: Mapping[str, str] = os.environ,
) -> tuple[Check, ...]:
    """Run every check, `more` after them; with `fix` first mend what is safe: our own litter, the briefing, a damaged index."""
    fixed = mend(store) if fix else {}
    topics = store.topics()
    ids: dict[str, list[str]] = {}
    for path, topic in topics.items():
        for memory in topic.memories:
            ids.setdefault(memory.id, []).append(path)
    context = Context(store, topics, ids, environ, with_models)
    results = []
    for check in (*CHECKS, *more):
        problems = tuple(dict.fromkeys(check(context)))
        about = (check.__doc__ or "").strip().splitlines()[0] + _told(check, context)
        results.append(Check(check.__name__.replace("_", " "), problems, about, fixed.get(check.__name__, ())))
    return tuple(results)


def _told(check: Callable[[Context], Found], context: Context) -> str:
    """What a line says beside what it stands for."""
    return _last_run_told(context) if check is last_run else _stale_told(context) if check is sources else ""


def _stale_told(context: Context) -> str:
    """How many memories should be checked again: no fault of the store's, and no reason to call it ill."""
    from memoryfs import staleness

    counts = staleness.counts((m for t in context.topics.values() for m in t.memories), context.store.clock().date())
    told = ", ".join(f"{name}: {count}" for name, count in counts.items())
    return f" To check again: {sum(counts.values())} ({told}); `memoryfs list --stale`." if counts else ""


def _last_run_told(context: Context) -> str:
    """When the last run and the last scheduled one ended, and how."""
    from memoryfs import runs

    run = runs.last(context.store.root)
    if run is None:
        return " No run is known yet."
    return f" Last: {run.time}, exit code {run.exit_code}; last scheduled: {run.scheduled or 'none'}."


def mend(store: MemoryStore) -> dict[str, tuple[str, ...]]:
    """Remove stale temporary files, rebuild an index that fails its check, compile the briefing anew."""
    from memoryfs import index as indexes

    done: dict[str, tuple[str, ...]] = {}
    removed = clean_litter(store.root)
    if removed:
        done["folder"] = (f"removed {removed} stale temporary file{'' if removed == 1 else 's'}",)
    with indexes.open(store.root) as opened:
        opened.sync(now=store.clock())
        if any("damaged" in p.message for p in opened.check()):
            opened.rebuild()
            done["index"] = ("rebuilt from the files",)
        elif opened.made_anew:
            done["index"] = (f"made anew from the files: {opened.made_anew}",)
    if store.refresh():
        done["briefing"] = ("compiled anew",)
    return done
