"""In: a target and a layout. Out: the store's memories as another tool's files."""

from __future__ import annotations

from pathlib import Path

import click

from memoryfs.cli.context import emit_json, open_store, report_problems, wants_json

BY_SUFFIX = {".jsonl": "jsonl", ".md": "book"}


@click.command("export")
@click.argument("target", type=click.Path())
@click.option("--format", "layout", help="claude-code, openclaw, jsonl or book.  [default: by the target's name]")
@click.pass_context
def export_command(ctx: click.Context, target: str, layout: str | None) -> None:
    """Write the memories to TARGET: a folder (claude-code, openclaw) or a file (jsonl, book)."""
    from memoryfs.exporters import export

    store = open_store(ctx)
    topics = store.topics()
    report_problems(ctx, [p for t in topics.values() for p in t.problems])
    path = Path(target)
    written = export(topics, path, layout or BY_SUFFIX.get(path.suffix.lower(), "claude-code"))
    if wants_json(ctx):
        emit_json({"written": [str(p) for p in written]})
    else:
        click.echo(f"{len(written)} file{'s' if len(written) != 1 else ''} in {path}")
