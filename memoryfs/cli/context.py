"""In: the global options. Out: what commands share: the opened store, JSON and text output, error reports."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memoryfs.errors import MemoryfsError, UsageError
from memoryfs.model import Problem
from memoryfs.render import safe

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore


@dataclass
class Settings:
    """The global options, as given before or after the command's name."""

    store: str | None = None
    profile: str | None = None
    json: bool = False
    quiet: bool = False


def _remember_option(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value not in (None, False):
        if ctx.obj is None:
            ctx.obj = Settings()
        setattr(ctx.obj, str(param.name).removeprefix("global_"), value)


def add_global_options(command: click.Command) -> None:
    """Give `command` --store, --profile, --json and --quiet unless it has them."""
    if any(p.name == "global_store" for p in command.params):
        return
    shared: dict[str, Any] = {"expose_value": False, "callback": _remember_option}
    taken = {opt for p in command.params for opt in p.opts}
    options = [
        click.Option(["--store", "global_store"], metavar="DIR", help="Work on the store in DIR.", **shared),
        click.Option(["--profile", "global_profile"], metavar="NAME", help="Work on the profile NAME.", **shared),
        click.Option(["--json", "global_json"], is_flag=True, help="JSON on stdout, nothing else.", **shared),
        click.Option(["--quiet", "global_quiet"], is_flag=True, help="No notices on stderr.", **shared),
    ]
    command.params.extend(o for o in options if not taken & set(o.opts))


def store_root(ctx: click.Context) -> Path:
    """The store directory that the options and the working directory name; NoStoreError if there is none."""
    from memoryfs import scope

    settings: Settings = ctx.obj
    given = Path(settings.store).expanduser() if settings.store else None
    return scope.locate(given, settings.profile, Path.cwd())


def open_store(ctx: click.Context, *, create: bool = False) -> MemoryStore:
    """The store to work on; with `create`, one named by --store or --profile is made when it is not there yet."""
    from memoryfs.store import MemoryStore

    settings: Settings = ctx.obj
    root = store_root(ctx)
    if create and (settings.store or settings.profile) and not _has_content(root):
        store = MemoryStore.init(root)
        notice(ctx, f"created a store in {root}")
    else:
        store = MemoryStore.open(root)
    report_problems(ctx, store.config_problems)
    return store


def stores_in_scope(ctx: click.Context, scope_name: str | None) -> list[tuple[MemoryStore, int]]:
    """The stores to ask, nearest first, with their distances; UsageError for a scope beside --store or --profile."""
    if ctx.obj.store or ctx.obj.profile:
        if scope_name not in (None, "here"):
            raise UsageError("--scope looks around the working directory; it does not go with --store or --profile")
        return [(open_store(ctx), 0)]
    from memoryfs import scoped
    from memoryfs.store import MemoryStore

    found = scoped.stores_for(scope_name or "up", Path.cwd())
    return [(open_store(ctx), 0), *((MemoryStore.open(s.root), s.distance) for s in found[1:])]


def _has_content(root: Path) -> bool:
    try:
        return any(True for _ in os.scandir(root))
    except FileNotFoundError:
        return False


def wants_json(ctx: click.Context) -> bool:
    return bool(ctx.obj.json)


def emit_json(data: Any) -> None:
    """One JSON document on stdout; ASCII only where stdout is not UTF-8, so that it always parses."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    text = json.dumps(data, ensure_ascii=encoding != "utf8", indent=2)
    click.echo(text)


def notice(ctx: click.Context, message: str) -> None:
    """One line on stderr, unless --quiet."""
    if not ctx.obj.quiet:
        click.echo(f"memoryfs: {safe(message)}", err=True)


def report_problems(ctx: click.Context, problems: Iterable[Problem]) -> None:
    """Each problem on a line of stderr (errors also with --quiet), with its place and remedy."""
    for problem in problems:
        if ctx.obj.quiet and problem.severity != "error":
            continue
        click.echo(f"memoryfs: {problem_line(problem)}", err=True)


def problem_line(problem: Problem) -> str:
    """`PATH:LINE:COLUMN: message (remedy)`, safe for a terminal."""
    place = ":".join([problem.path, *(str(n) for n in (problem.line, problem.column) if n)])
    remedy = f" ({problem.remedy})" if problem.remedy else ""
    return safe(f"{place}: {problem.severity}: {problem.message}{remedy}")


def report_error(error: MemoryfsError, settings: Settings) -> None:
    """Message and remedy on stderr; with --json also as an object on stdout."""
    if settings.json:
        emit_json({"error": {"type": type(error).__name__, "message": error.message, "remedy": error.remedy,
                             "exit_code": error.exit_code}})
    click.echo(f"memoryfs: {safe(error.message)}\n  {safe(error.remedy)}", err=True)


@contextmanager
def progress_bar(ctx: click.Context, what: str) -> Iterator[Callable[[int, int], None]]:
    """A callable(done, of): a bar on stderr where that is a terminal, nothing elsewhere or with --quiet."""
    if ctx.obj.quiet or not sys.stderr.isatty():
        yield lambda done, of: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
