"""In: a harness's name. Out: its settings connected to the store, or as they were; each change shown."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, notice, store_root, wants_json


@click.command("setup")
@click.argument("harness")
@click.option("--remove", is_flag=True, help="Disconnect it: give its settings back as they were.")
@click.option("--dry-run", is_flag=True, help="Show the change; write nothing.")
@click.option("--auto-memory", is_flag=True, help="claude-code: make the store the folder of its own memory too.")
@click.option("--edits", is_flag=True, help="claude-code: also say what is known of a file before it is changed.")
@click.option("--instructions", metavar="FILE", type=click.Path(dir_okay=False),
              help="A CLAUDE.md or AGENTS.md that shall name the store's MEMORY.md in one line.")
@click.pass_context
def setup_command(
    ctx: click.Context, harness: str, remove: bool, dry_run: bool, auto_memory: bool, edits: bool,
    instructions: str | None,
) -> None:
    """Connect HARNESS (claude-code, codex, cursor, openclaw or opencode) to the store: its hooks and its MCP settings."""
    import os
    from pathlib import Path

    from memoryfs.harness import setup
    from memoryfs.render import safe

    folder = named = None
    if auto_memory or instructions:
        root = store_root(ctx).absolute()
        folder = root if auto_memory else None
        named = (Path(instructions).absolute(), root) if instructions else None
    changes = setup.plan(harness, os.environ, remove=remove, memory_folder=folder, instructions=named, edits=edits)
    if not dry_run:
        for change in changes:
            setup.apply(change)
    if wants_json(ctx):
        emit_json({"harness": harness, "dry_run": dry_run, "files": [
            {"path": str(c.path), "changed": c.changed, "diff": c.diff()} for c in changes]})
        return
    for change in changes:
        click.echo("\n".join(safe(line) for line in change.diff().split("\n")), nl=False)
    paths = ", ".join(str(c.path) for c in changes if c.changed)
    if not paths:
        notice(ctx, f"nothing to change: {harness} is {'not connected' if remove else 'connected already'}")
    elif not dry_run:
        notice(ctx, f"changed {paths}; it counts from the next session on")
    if not remove:
        _what_is_left(ctx, harness)


def _what_is_left(ctx: click.Context, harness: str) -> None:
    from pathlib import Path

    from memoryfs import scope
    from memoryfs.harness.hosts import AFTER

    if harness in AFTER:
        notice(ctx, AFTER[harness])
    if not (ctx.obj.store or ctx.obj.profile or scope.cascade(Path.cwd())):
        notice(ctx, "there is no store here yet: `memoryfs init` in a project gives it one, `memoryfs init ~/.memory` all of them")
