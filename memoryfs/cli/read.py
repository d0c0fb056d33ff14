"""In: a reference. Out: the text that stands there; on a terminal with control characters escaped."""

from __future__ import annotations

import sys

import click

from memoryfs.cli.context import emit_json, open_store, wants_json
from memoryfs.render import safe


@click.command("read")
@click.argument("ref")
@click.pass_context
def read_command(ctx: click.Context, ref: str) -> None:
    """Print projects/x.md, 'projects/x.md#Facts', ^m-7c01d2 or THREAD:128-146."""
    reading = open_store(ctx).read(ref)
    if wants_json(ctx):
        emit_json(reading.to_dict())
        return
    text = safe(reading.text) if sys.stdout.isatty() else reading.text
    click.echo(text, nl=not text.endswith("\n"))
