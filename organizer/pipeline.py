"""In: a store, transcripts, models, a budget. Out: the store organized, and a RunReport; read it as a list of stages.

One run: complete what a killed run left · take in transcripts · understand hand edits and answers in the inbox · check what agents remembered · for each session with new
events: segment, extract, verify, gate, place, reconcile, write · mark unmerged branches, and what should be checked again · put topics in order · synchronise the index · compile MEMORY.md. A session is
recorded as done after its writes; one that fails costs only itself; the budget is looked at between sessions.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs import ledger, runs
from memoryfs import thread as threads
from memoryfs.config import Config
from memoryfs.errors import EXIT_FAILED, ChangedMeanwhileError, LockedError, MemoryfsError, ReadOnlyError
from memoryfs.model import Problem
from memoryfs.textfile import StoreLock, clean_litter, digest_of, write_atomic
from organizer import (
    apply,
    attempts,
    branches,
    inbox,
    intake,
    journal,
    lifecycle,
    opencode,
    remembered,
    split,
    staleness,
    tidy,
)
from organizer.dedupe import vector_similarity
from organizer.judges import Judges, open_judges
from organizer.report import FAILED, RunReport, SessionReport, save
from organizer.session import organize_session
from organizer.shelf import Library, done_entry, open_library, pending, read_session, sessions_done, spoken

if TYPE_CHECKING:
    from memoryfs.models.protocols import Embedder, Generator

Progress = Callable[[str, int, int, str], None]
LOOK_AHEAD = 200  # sessions whose words are counted before the first is organized


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of one run; 0 means none. Looked at between sessions, so a run may end one session late."""

    seconds: float = 0.0
    sessions: int = 0
    tokens: int = 0


@dataclass
class _Run:
    root: Path
    config: Config
    now: datetime
    budget: Budget
    progress: Progress
    report: RunReport
    begun: float
    scheduled: bool = False
    retry: bool = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self.report.stages[name] = self.report.stages.get(name, 0.0) + spent

    def left(self) -> float:
        """Seconds left of the budget; infinite without one."""
        return self.budget.seconds - (time.perf_counter() - self.begun) if self.budget.seconds else float("inf")


def run(
    root: Path, *, config: Config, now: datetime, paths: Sequence[Path] | None = None,
    stored: Sequence[opencode.Stored] = (), generator: Generator | None = None, embedder: Embedder | None = None,
    budget: Budget | None = None, dry_run: bool = False, progress: Progress | None = None, judges: Judges | None = None,
    scheduled: bool = False, retry: bool = False,
) -> RunReport:
    """One run over the store at `root`. `paths` are transcripts or folders of them, `stored` sessions of OpenCode's store.

    `judges` replaces the rules and models that usually find and weigh candidates. `scheduled` says that a timetable
    started it; `retry` tries the sessions too that failed before and wait or were set aside.
    With `dry_run` the run happens on a copy of the store that is thrown away. Raises LockedError when another run holds
    the store, ReadOnlyError when it cannot be written.
    """
    if dry_run:
        with _copy_of(root) as copy:
            report = run(copy, config=config, now=now, paths=paths, stored=stored, generator=generator, embedder=embedder,
                         budget=budget, progress=progress, judges=judges, retry=retry)
            report.dry_run, report.store = True, str(root)
            return report
    report = RunReport(
        store=str(root), started=now.isoformat(timespec="seconds"), generator=generator.name if generator else "",
        embedder=embedder.fingerprint if embedder else "",
    )
    this = _Run(root, config, now, budget or _budget(config), progress or (lambda *_: None), report, time.perf_counter(),
                scheduled, retry)
    try:
        with StoreLock(root, "organize"):
            _stages(this, paths, stored, generator, embedder, judges)
            _record(this, report.exit_code, report.trouble())
    except LockedError:
        raise
    except Exception as error:
        with contextlib.suppress(MemoryfsError, OSError):
            _record(this, EXIT_FAILED, attempts.said(error))
        raise
    return report


def _stages(
    run: _Run, paths: Sequence[Path] | None, stored: Sequence[opencode.Stored], generator: Generator | None,
    embedder: Embedder | None, judges: Judges | None,
) -> None:
    root, config, report = run.root, run.config, run.report
    clean_litter(root)
    _complete(run)
    taken = _take_in(run, paths, stored)
    _adopt(run)
    entries = list(ledger.read(root)[0])
    _answered(run, entries)
    _remembered(run, entries)
    done = sessions_done(entries)
    unfinished = pending(root, done)
    report.unchanged = len(set(done) - set(unfinished))
    waiting, report.held = attempts.hold_back(root, unfinished, now=run.now, retry=run.retry)
    if waiting:  # else there is nothing to read the topics or to open a model for
        with run.stage("models"):
            judges = judges or open_judges(root, generator=generator, embedder=embedder, more=lambda: run.left() > 0)
        _sessions(run, open_library(root, config, entries, similarity=judges.similarity), waiting, judges)
        report.tokens, report.judged = judges.tokens(), judges.judged
        report.notices += judges.notices
    _branches(run)
    _stale(run)
    _age(run)
    _tidy(run, embedder)
    _index(run, embedder)
    _brief(run)
    report.nothing_found = bool(paths) and not taken.threads
    report.seconds = time.perf_counter() - run.begun
    save(root, report, stamp=run.now.strftime("%Y%m%d-%H%M%S"))


def _record(run: _Run, exit_code: int, message: str) -> None:
    """Keep the run's result; where that raises or ends the alarm, MEMORY.md says so at once."""
    before = runs.alarm(run.root)
    ended = run.now + timedelta(seconds=time.perf_counter() - run.begun)
    runs.record(run.root, now=ended, exit_code=exit_code, message=message, failed=exit_code == EXIT_FAILED,
                scheduled=run.scheduled)
    if runs.alarm(run.root) != before:
        _brief(run)


def _budget(config: Config) -> Budget:
    return Budget(config.organize.budget_seconds, config.organize.max_sessions)


def _complete(run: _Run) -> None:
    """Carry out what a killed run had planned and perhaps not finished; a session that it died of counts as failed."""
    attempts.count_death(run.root, now=run.now)
    work = journal.pending(run.root)
    if work is not None:
        try:
            run.report.problems += write(run.root, run.config, work, list(ledger.read(run.root)[0]))
        except ReadOnlyError:
            raise
        except Exception as error:  # else this journal would stop every run to come; its session is organized anew
            journal.end(run.root)
            said = attempts.said(error)
            run.report.problems.append(Problem(f"thread {work.thread}", f"an interrupted run could not be completed: {said}"))
            return
        run.report.notices.append(f"completed the session {work.thread} of an interrupted run")


def _take_in(run: _Run, paths: Sequence[Path] | None, stored: Sequence[opencode.Stored]) -> intake.Taken:
    with run.stage("import"):
        taken = intake.take_in(run.root, paths or (), stored, progress=run.progress)
    run.report.problems += taken.problems
    run.report.imported = taken.to_dict()
    return taken


def _adopt(run: _Run) -> None:
    """Understand what a person changed in the files since the last run, before anything is decided on them."""
    from memoryfs import edits

    with run.stage("adopt"):
        adopted = edits.adopt(run.root, run.config, now=run.now)
        moved = {c.id: c.topic for c in adopted.changes if c.action == "move"}
        run.report.problems += edits.follow(run.root, run.config, moved, now=run.now) if moved else ()
    run.report.problems += adopted.problems
    run.report.adopted += [_change(c) for c in adopted.changes]


def _answered(run: _Run, entries: list[ledger.Entry]) -> None:
    """Carry out what a person did in inbox.md since the last run."""
    with run.stage("inbox"):
        found, problems = inbox.answers(run.root, entries)
        run.report.problems += problems
        if not found:
            return
        work, outcomes = inbox.settle(open_library(run.root, run.config, entries), found, now=run.now)
        journal.begin(run.root, work)
        run.report.problems += write(run.root, run.config, work, entries)
    run.report.adopted += [
        {"action": o.decision.action, "id": o.id, "topic": o.topic, "detail": f"from the inbox: {o.decision.candidate.summary}"}
        for o in outcomes
    ] + [{"action": e.action, "id": e.id, "topic": e.topic, "detail": e.text} for e in work.plan.entries if e.action == "withdraw"]


def _remembered(run: _Run, entries: list[ledger.Entry]) -> None:
    """Check what agents wrote by `remember` since the last run: against its source, and against what was known."""
    with run.stage("remembered"):
        fresh = remembered.unchecked(entries)
        if not fresh:
            return
        checked = remembered.check(open_library(run.root, run.config, entries), fresh, now=run.now)
        problems = []
        if checked.work.plan.entries:
            journal.begin(run.root, checked.work)
            problems = write(run.root, run.config, checked.work, entries)
        run.report.problems += [*problems, *checked.problems]
        if not problems:
            ledger.append(run.root, [checked.line])
            entries.append(checked.line)
    run.report.remembered += [{"action": e.action, "id": e.id, "topic": e.topic, "detail": e.why} for e in checked.work.plan.entries]
    run.report.notices.append(checked.summary())


def _change(change: Any) -> dict[str, Any]:
    return {k: v for k, v in change.to_dict().items() if v}


def _sessions(run: _Run, library: Library, waiting: Sequence[str], judges: Judges) -> None:
    for thread in waiting[:LOOK_AHEAD]:
        library.frequency.learn(spoken(read_session(run.root, thread)))
    for number, thread in enumerate(waiting):
        stop = _out_of_budget(run, number, judges)
        if stop:
            run.report.stopped = f"{stop}; {len(waiting) - number} sessions wait for the next run"
            return
        run.progress("organize", number, len(waiting), thread)
        with run.stage("sessions"):
            run.report.sessions.append(_session(run, library, thread, judges))
    run.progress("organize", len(waiting), len(waiting), "")


def _out_of_budget(run: _Run, done: int, judges: Judges) -> str:
    budget = run.budget
    if budget.sessions and done >= budget.sessions:
        return f"the budget of {budget.sessions} sessions is spent"
    if run.left() <= 0:
        return f"the budget of {budget.seconds:g} s is spent"
    if budget.tokens and judges.tokens() >= budget.tokens:
        return f"the budget of {budget.tokens:,} tokens is spent"
    return ""


def _session(run: _Run, library: Library, thread: str, judges: Judges) -> SessionReport:
    """One session, worked through and written. Whatever fails in it is told in its report, and the others go on."""
    size = threads.thread_path(run.root, thread).stat().st_size
    try:
        with attempts.at_work(run.root, thread, size):
            result = organize_session(library, thread, judges, now=run.now)
            journal.begin(run.root, result.work)
            run.report.problems += write(run.root, run.config, result.work, library.entries)
    except ReadOnlyError:
        raise  # the disk is full or the store read-only: no other session would fare better
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        failure = attempts.failed(run.root, thread, size, attempts.said(error), now=run.now)
        run.report.problems.append(Problem(f"thread {thread}", f"not organized: {failure.message}", attempts.remedy(failure)))
        library.reload()
        return SessionReport(thread, status=FAILED, message=f"{failure.message} ({Path(place.filename).name}:{place.lineno})")
    attempts.done(run.root, thread)
    library.advance(result.work)
    return result.report


def write(root: Path, config: Config, work: journal.Work, entries: list[ledger.Entry]) -> list[Problem]:
    """Writes one session's work: topic files, ledger, page, and last the line that it is done. Doing it again after a
    kill at any point ends in the same files. `entries` is the ledger as it stands; what is written is added to it."""
    problems = list(apply.carry_out(root, config, work.plan, entries=entries))
    for part in work.parts:
        problems += split.carry_out(root, config, part, entries, now=datetime.fromisoformat(work.time))
    digest = ""
    if work.page is not None:
        data = work.page.text.encode("utf-8", "surrogatepass")
        try:
            write_atomic(root / work.page.path, data, expect=work.page.expect)
            digest = digest_of(data)
        except ChangedMeanwhileError:
            pass  # a person saved the page in this instant: it is theirs
    # A file that could not be written keeps its session open: it is tried again until someone has mended the file.
    line = done_entry(work, digest)
    if work.thread and not problems and sessions_done([line]).get(work.thread) != sessions_done(entries).get(work.thread):
        ledger.append(root, [line])
        entries.append(line)
    journal.end(root)
    return problems


def _tidy(run: _Run, embedder: Embedder | None) -> None:
    """Put the topics in order after what was learned and changed."""
    def carried_out(work: journal.Work, entries: list[ledger.Entry]) -> list[Problem]:
        journal.begin(run.root, work)
        return write(run.root, run.config, work, entries)

    with run.stage("tidy"):
        similarity = vector_similarity(embedder.embed_passages) if embedder is not None else None
        done = tidy.tidy(run.root, run.config, now=run.now, write=carried_out, similarity=similarity, left=run.left)
    run.report.problems += done.problems
    run.report.notices += done.notices


def _branches(run: _Run) -> None:
    """Mark what was learned on a git branch that is not merged, and what has been merged since no longer."""
    with run.stage("branches"):
        organized = [s.thread for s in run.report.sessions if s.status != FAILED]
        marked, merged, problems = branches.stage(run.root, run.config, organized)
    run.report.problems += problems
    if marked:
        run.report.notices.append(f"on branches that are not merged: {marked} sources, marked and ranked lower until they are")
    if merged:
        run.report.notices.append(f"branch merged or gone: {merged} sources count fully now")


def _stale(run: _Run) -> None:
    """Mark what names things that left their repository, and give what passes a day to check it again."""
    with run.stage("stale"):
        found = staleness.stage(run.root, run.config, ledger.read(run.root)[0], now=run.now, left=run.left)
    run.report.problems += found.problems
    run.report.stale += [marked.to_dict() for marked in found.marked]
    run.report.stale_counts = found.counts
    run.report.dated = found.dated
    run.report.notices += found.notices()


def _age(run: _Run) -> None:
    """Move what has had its time to archive/."""
    with run.stage("age"):
        aged = lifecycle.age(run.root, run.config, ledger.read(run.root)[0], now=run.now)
    run.report.problems += aged.problems
    for found, words in ((aged.archived, "memories moved to archive/"), (aged.compressed, "threads compressed")):
        if found:
            run.report.notices.append(f"{len(found)} {words}")


def _index(run: _Run, embedder: Embedder | None) -> None:
    from memoryfs import index as indexes

    with run.stage("index"), indexes.open(run.root) as index:
        synced = index.sync(now=run.now)
        run.report.problems += [p for p in synced.problems if p not in run.report.problems]
        run.report.notices += [] if index.in_memory else synced.notices
        if embedder is not None and not index.in_memory:
            seconds = max(0.0, min(run.config.recall.embed_seconds, run.left()))
            with run.stage("embed"):
                index.embed_pending(embedder, seconds)
        run.report.problems += index.take_failures()


def _brief(run: _Run) -> None:
    from memoryfs import briefing

    with run.stage("brief"):
        run.report.briefing_changed = briefing.refresh(run.root, run.config, now=run.now)
    path = run.root / "MEMORY.md"
    run.report.briefing_bytes = path.stat().st_size if path.exists() else 0


@contextmanager
def _copy_of(root: Path) -> Iterator[Path]:
    """A copy of the store to try things on; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="memoryfs-dry-") as folder:
        copy = Path(folder) / root.name
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns("*.lock"))
        yield copy
