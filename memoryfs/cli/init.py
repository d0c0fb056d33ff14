"""In: a directory. Out: a store in it."""

from __future__ import annotations

from pathlib import Path

import click

from memoryfs import scope
from memoryfs.cli.context import emit_json, report_problems, wants_json


@click.command("init")
@click.argument("directory", required=False, type=click.Path(file_okay=False))
@click.pass_context
def init_command(ctx: click.Context, directory: str | None) -> None:
    """Create a store in DIRECTORY (default: .memory here); what is there already stays."""
    from memoryfs.store import MemoryStore

    settings = ctx.obj
    if directory is None and settings.profile:
        target = scope.profile_root(settings.profile)
    else:
        target = Path(directory or settings.store or scope.FOLDER).expanduser()
    store = MemoryStore.init(target)
    report_problems(ctx, store.config_problems)
    if wants_json(ctx):
        emit_json({"store": str(store.root)})
    else:
        click.echo(f"Store in {store.root}")
