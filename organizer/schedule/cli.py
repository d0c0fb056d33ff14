"""In: the command line of `memoryfs schedule`. Out: the store's unattended runs installed, shown or removed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memoryfs.runs import Timetable


@click.command("schedule")
@click.argument("action", type=click.Choice(["install", "status", "remove"]), default="status")
@click.option("--every", type=click.IntRange(min=1), metavar="MINUTES", help="How often (default: the setting, 60).")
@click.option("--active", metavar="HOURS", help="Only between these hours, as in 8-20.")
@click.option("--with", "name", type=click.Choice(["cron", "systemd", "launchd"]), help="Which scheduler to use.")
@click.option("--dry-run", is_flag=True, help="Show what would be installed or removed; change nothing.")
@click.pass_context
def schedule(ctx: click.Context, action: str, every: int | None, active: str | None, name: str | None, dry_run: bool) -> None:
    """Let cron (or systemd, launchd) organize new sessions: install, status or remove."""
    from dataclasses import replace

    from memoryfs import runs
    from memoryfs.cli.context import notice, open_store
    from memoryfs.render import safe
    from organizer.schedule.install import choose, schedulers
    from organizer.schedule.plan import job as job_of

    store = open_store(ctx)
    root = Path(os.path.abspath(store.root))
    usual = store.config.schedule
    job = job_of(
        root, os.path.abspath(sys.executable), usual.every_minutes if every is None else every,
        usual.active_hours if active is None else active, os.environ,
    )
    there = schedulers(os.environ)
    if action == "status":
        _status(ctx, root, {n: s.installed(job) for n, s in there.items()}, now=store.clock())
        return
    if action == "remove":
        held = {n: s for n, s in there.items() if s.installed(job) and name in (None, n)}
        for scheduler in held.values():
            click.echo(safe(scheduler.installed(job)), nl=False)
            if not dry_run:
                scheduler.remove(job)
        if not dry_run and not any(s.installed(job) for s in there.values()):
            runs.set_timetable(root, None)
        if not held:
            notice(ctx, "nothing is scheduled for this store")
        elif not dry_run:
            notice(ctx, f"removed from {', '.join(held)}")
        return
    if dry_run and name is None and not there:
        from organizer.schedule.install import Cron

        click.echo(safe(Cron("crontab").text(job)), nl=False)
        return
    scheduler = choose(there, name)
    click.echo(safe(scheduler.text(job)), nl=False)
    if dry_run:
        return
    same = scheduler.installed(job) == scheduler.text(job)
    if not same:
        scheduler.install(job)
    for other in there.values():
        if other.name != scheduler.name and other.installed(job):
            other.remove(job)
    since = store.clock().isoformat(timespec="seconds")
    known = runs.timetable(root)
    if not same or known is None or known.by != scheduler.name:
        runs.set_timetable(root, replace(job.table, by=scheduler.name, since=since))
    notice(ctx, f"{'it was installed already' if same else 'installed'} with {scheduler.name}: {_when(job.table)}")


def _status(ctx: click.Context, root: Path, installed: dict[str, str], *, now: object) -> None:
    from datetime import datetime

    from memoryfs import runs
    from memoryfs.cli.context import emit_json, wants_json
    from memoryfs.errors import EXIT_DONE, EXIT_NOTHING
    from memoryfs.render import safe

    assert isinstance(now, datetime)
    held = {name: text for name, text in installed.items() if text}
    table, last = runs.timetable(root), runs.last(root)
    missed, since = runs.overdue(root, now)
    due = table.next_after(now) if table and held else None
    code = EXIT_DONE if held else EXIT_NOTHING
    if wants_json(ctx):
        emit_json({
            "installed": sorted(held), "next": due.isoformat(timespec="minutes") if due else None, "missed": missed,
            "last": {"time": last.time, "exit_code": last.exit_code, "message": last.message, "failures": last.failures,
                     "scheduled": last.scheduled} if last else None,
        })
        ctx.exit(code)
    click.echo(f"scheduled with {', '.join(held)}" if held else "not scheduled: `memoryfs schedule install`")
    for text in held.values():
        click.echo(safe(text), nl=False)
    if due:
        click.echo(f"next run: {due:%Y-%m-%d %H:%M}")
    if last:
        said = f": {last.message}" if last.message else ""
        click.echo(safe(f"last run: {last.time}, exit code {last.exit_code}{said}"))
        click.echo(f"last scheduled run: {last.scheduled or 'none yet'}")
    if missed:
        click.echo(f"overdue: {missed} runs have not happened since {since}")
    ctx.exit(code)


def _when(table: Timetable) -> str:
    count = len(table.hours) * len(table.minutes)
    if len(table.hours) == 24:
        return f"{count} runs a day"
    return f"{count} runs a day, in the hours {', '.join(map(str, sorted(table.hours)))}"
