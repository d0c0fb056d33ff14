"""In: the command line of `memoryfs organize`. Out: one run per store that sessions belong to, and the exit code of the run.

Progress goes to stderr: a bar on a terminal, plain lines elsewhere, nothing with --quiet. The report goes to stdout.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore
    from organizer.pipeline import Progress
    from organizer.report import RunReport
    from organizer.scan import Found, Session


@click.command("organize")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--no-model", is_flag=True, help="Rules only: no generator, no embedder.")
@click.option("--budget-seconds", type=click.FloatRange(min=0), help="Stop cleanly after this time.")
@click.option("--max-sessions", type=click.IntRange(min=0), help="At most this many sessions.")
@click.option("--retry", is_flag=True, help="Also try the sessions again that failed and were set aside.")
@click.option("--dry-run", is_flag=True, help="Say what would be learned; write nothing.")
@click.option("--audit", metavar="N", type=click.IntRange(min=1), help="Organize nothing; judge N kept and N dropped statements.")
@click.option("--verdicts", metavar="FILE", type=click.File("r", encoding="utf-8"),
              help="Organize nothing; take in verdicts on audited items, as JSON lines (- for stdin).")
@click.pass_context
def organize(
    ctx: click.Context, paths: tuple[str, ...], no_model: bool, budget_seconds: float | None, max_sessions: int | None,
    retry: bool, dry_run: bool, audit: int | None, verdicts: TextIO | None,
) -> None:
    """Learn from finished sessions: those in PATH, or all that this machine's harnesses have finished."""
    from memoryfs.cli.context import emit_json, notice, open_store, report_problems, wants_json
    from memoryfs.harness import queue
    from organizer.report import merged_exit_code

    if audit or verdicts is not None:
        from organizer.cli_audit import audit_command

        return audit_command(ctx, audit, verdicts)
    wanted = _Wanted(no_model, budget_seconds, max_sessions, retry, dry_run)
    reports: list[RunReport] = []
    if paths:
        store = open_store(ctx, create=not dry_run)
        reports.append(_run(ctx, store, list(map(Path, paths)), [], wanted))
    else:
        for store, sessions in _stores(ctx):
            files = [s.path for s in sessions if s.stored is None]
            stored = [s.stored for s in sessions if s.stored is not None]
            reports.append(_run(ctx, store, files, stored, wanted))
            if not dry_run:
                queue.remove(store.root, files)
    code = merged_exit_code(reports)
    if wants_json(ctx):
        data = [r.to_dict() for r in reports]
        emit_json(data[0] if len(data) == 1 else {"stores": data, "exit_code": code})
    else:
        for report in reports:
            if len(reports) > 1:
                click.echo(report.store)
            click.echo((report.to_text() if dry_run else report.summary_text() + "\n"), nl=False)
            report_problems(ctx, report.problems)
    if not reports:
        notice(ctx, "nothing to organize")
    ctx.exit(code)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options of the command; None where the store's settings apply."""

    no_model: bool
    budget_seconds: float | None
    max_sessions: int | None
    retry: bool
    dry_run: bool


def _run(ctx: click.Context, store: MemoryStore, paths: list[Path], stored: list[Any], wanted: _Wanted) -> RunReport:
    from memoryfs.cli.context import notice
    from memoryfs.errors import ModelUnavailableError
    from memoryfs.runs import SCHEDULED
    from organizer.pipeline import Budget, run

    usual = store.config.organize
    budget = Budget(
        usual.budget_seconds if wanted.budget_seconds is None else wanted.budget_seconds,
        usual.max_sessions if wanted.max_sessions is None else wanted.max_sessions,
    )
    generator = embedder = None
    if not wanted.no_model:
        from memoryfs.models import open_generator

        try:
            generator = open_generator(store.config.models)
            embedder = store.embedder()
        except ModelUnavailableError as error:
            notice(ctx, f"{error.message}; working by rules. {error.remedy}")
    scheduled = bool(os.environ.get(SCHEDULED))
    if scheduled:
        os.nice(10)
    try:
        with _progress(ctx) as progress, _own_run():
            return run(
                store.root, config=store.config, now=store.clock(), paths=paths, stored=stored, generator=generator,
                embedder=embedder, budget=budget, dry_run=wanted.dry_run, progress=progress, scheduled=scheduled, retry=wanted.retry,
            )
    finally:
        for model in (generator, embedder):
            if model is not None:
                model.close()


@contextmanager
def _own_run() -> Iterator[None]:
    """Marks whatever is started meanwhile as ours, so that our own hooks do nothing in it."""
    from memoryfs.harness.runner import OWN_RUN

    before = os.environ.get(OWN_RUN)
    os.environ[OWN_RUN] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[OWN_RUN]
        else:
            os.environ[OWN_RUN] = before


def _stores(ctx: click.Context) -> Iterator[tuple[MemoryStore, list[Session]]]:
    """The stores to work on with the finished sessions of each; the store named by --store or --profile alone if given."""
    from memoryfs import scope
    from memoryfs.cli.context import notice, open_store, report_problems
    from memoryfs.errors import NoStoreError
    from memoryfs.store import MemoryStore

    named = open_store(ctx) if ctx.obj.store or ctx.obj.profile else None
    found = _scan(named)
    report_problems(ctx, found.problems)
    if found.running:
        notice(ctx, f"{found.running} sessions are still running; they are organized when they have been quiet for a while")
    if found.homeless:
        places = sorted({s.cwd or "an unknown folder" for s in found.homeless})
        notice(ctx, f"{len(found.homeless)} sessions belong to no store (run in {places[0]}"
                    f"{' and other folders' if len(places) > 1 else ''}); `memoryfs init` there, or `memoryfs init ~/.memory`")
    roots: dict[str, list[Session]] = {}
    for session in found.sessions:
        roots.setdefault(os.path.realpath(session.store or ""), []).append(session)
    if named is not None:
        yield named, roots.get(os.path.realpath(named.root), [])
        return
    here = scope.store_for(Path.cwd())
    if here is not None:
        roots.setdefault(os.path.realpath(here), [])
    if not roots and not found.homeless:
        raise NoStoreError(f"or above {Path.cwd()}")
    for root, sessions in sorted(roots.items()):
        yield MemoryStore.open(root), sessions


def _scan(named: MemoryStore | None) -> Found:
    import time

    from memoryfs.config import Organize
    from organizer.scan import scan

    idle = named.config.organize.idle_minutes if named is not None else Organize().idle_minutes
    return scan(os.environ, now=time.time(), idle_minutes=idle, store=named.root if named is not None else None)


@contextmanager
def _progress(ctx: click.Context) -> Iterator[Progress]:
    """A bar on a terminal, a line a step elsewhere, nothing with --quiet."""
    if ctx.obj.quiet:
        yield lambda stage, done, total, detail: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _bar() as progress:
            yield progress
    else:
        yield _line


def _line(stage: str, done: int, total: int, detail: str) -> None:
    from memoryfs.render import one_line

    if detail and (total <= 50 or done % 10 == 0):
        click.echo(f"memoryfs: {stage} {done + 1}/{total} {one_line(detail, 60)}", err=True)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    from memoryfs.render import one_line

    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("{task.fields[detail]}", markup=False))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int, detail: str) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total, detail="")
            bar.update(tasks[stage], completed=done, total=total, detail=one_line(detail, 50))

        yield progress
