"""In: paths of transcripts or of other tools' memory folders. Out: threads and topics in the store, and a report."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, open_store, report_problems, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_FAILED, EXIT_PARTIAL


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--format", "format_", default="auto", show_default=True, help="The format, instead of recognising it.")
@click.pass_context
def import_command(ctx: click.Context, paths: tuple[str, ...], format_: str) -> None:
    """Copy transcripts (files or folders) into the store; secrets are redacted first."""
    store = open_store(ctx, create=True)
    report = store.import_transcripts(paths, format=format_)
    report_problems(ctx, report.problems)
    failed = any(p.severity == "error" for p in report.problems)
    code = EXIT_DONE if not failed else EXIT_PARTIAL if report.outcomes else EXIT_FAILED
    if wants_json(ctx):
        emit_json({**report.to_dict(), "exit_code": code})
    else:
        for outcome in report.outcomes:
            click.echo(f"{outcome.thread}  {outcome.status}  {outcome.added} added, {outcome.total} events")
    ctx.exit(code)
