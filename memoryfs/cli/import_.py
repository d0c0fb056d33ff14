"""In: paths of transcripts or of other tools' memory folders. Out: threads and topics in the store, and a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from memoryfs.cli.context import emit_json, open_store, report_problems, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_FAILED, EXIT_PARTIAL
from memoryfs.model import Problem
from memoryfs.render import table


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--format", "format_", default="auto", show_default=True, help="The format, instead of recognising it.")
@click.pass_context
def import_command(ctx: click.Context, paths: tuple[str, ...], format_: str) -> None:
    """Copy transcripts, or other tools' memory folders, into the store; secrets are redacted first."""
    from memoryfs import notes
    from memoryfs.importers import find_transcripts

    store = open_store(ctx, create=True)
    given = [Path(p) for p in paths]
    found = [n for n in notes.find(given) if format_ in ("auto", n[1])]
    taken = {os.path.realpath(path) for path, _ in found}
    problems: list[Problem] = []
    rows: list[tuple[str, ...]] = []
    answer: dict[str, Any] = {}
    if found:
        noted = store.import_notes(found)
        problems += noted.problems
        answer |= noted.to_dict()
        rows += [(i.topic, i.status, i.source) for i in noted.imported]
    if format_ not in notes.KINDS:
        # Folders are listed here only to leave the notes out; what does not exist is named by the import itself.
        files = [p for p in given if not p.exists()] + [p for p in find_transcripts(p for p in given if p.exists())
                                                        if os.path.realpath(p) not in taken]
        if files or not found:
            report = store.import_transcripts(files or given, format=format_)
            problems += report.problems
            answer |= report.to_dict()
            rows += [(o.thread, o.status, f"{o.added} added, {o.total} events") for o in report.outcomes]
    report_problems(ctx, problems)
    failed = any(p.severity == "error" for p in problems)
    code = EXIT_DONE if not failed else EXIT_PARTIAL if rows else EXIT_FAILED
    if wants_json(ctx):
        emit_json({**answer, "problems": [p.to_dict() for p in problems], "exit_code": code})
    elif rows:
        click.echo(table(rows))
    ctx.exit(code)
