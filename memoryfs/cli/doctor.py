"""In: a store. Out: a line for each check, green or with its faults and their remedies."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, open_store, problem_line, wants_json
from memoryfs.errors import EXIT_DAMAGED, EXIT_DONE, EXIT_PARTIAL


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what is certain: litter, a damaged index, the briefing.")
@click.pass_context
def doctor_command(ctx: click.Context, fix: bool) -> None:
    """Check the store and say how to mend what is wrong."""
    from memoryfs.doctor import examine

    checks = examine(open_store(ctx), fix=fix)
    errors = [p for c in checks for p in c.problems if p.severity == "error"]
    damaged = any(c.name in ("index", "folder") and not c.ok for c in checks if any(
        p.severity == "error" for p in c.problems))
    code = EXIT_DAMAGED if damaged else EXIT_PARTIAL if errors else EXIT_DONE
    if wants_json(ctx):
        emit_json({"checks": [c.to_dict() for c in checks], "exit_code": code})
        ctx.exit(code)
    for check in checks:
        state = "ok  " if check.ok else "look"
        click.echo(f"{state}  {check.name:14}  {check.detail}")
        for line in check.fixed:
            click.echo(f"        mended: {line}")
        for problem in check.problems:
            click.echo("        " + problem_line(problem))
    ctx.exit(code)
