"""In: a store. Out: a line for each check, green or with its faults and their remedies."""

from __future__ import annotations

import sys

import click

from memoryfs.cli.context import emit_json, open_store, problem_line, wants_json
from memoryfs.errors import EXIT_DAMAGED, EXIT_DONE, EXIT_PARTIAL
from memoryfs.render import paper, wrap


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what is certain: litter, a damaged index, the briefing.")
@click.option("--no-model", is_flag=True, help="Load no model: quicker, and says nothing of models and vectors.")
@click.pass_context
def doctor_command(ctx: click.Context, fix: bool, no_model: bool) -> None:
    """Check the store and what surrounds it, and say how to mend what is wrong."""
    from memoryfs.doctor import examine
    from memoryfs.harness.health import CHECKS

    checks = examine(open_store(ctx), fix=fix, with_models=not no_model, more=CHECKS)
    errors = [p for c in checks for p in c.problems if p.severity == "error"]
    damaged = any(c.name in ("index", "folder") and not c.ok for c in checks if any(
        p.severity == "error" for p in c.problems))
    code = EXIT_DAMAGED if damaged else EXIT_PARTIAL if errors else EXIT_DONE
    if wants_json(ctx):
        emit_json({"checks": [c.to_dict() for c in checks], "exit_code": code})
        ctx.exit(code)
    on = paper(sys.stdout)
    wide = max(len(check.name) for check in checks)
    for check in checks:
        state = on.good("ok  ") if check.ok else on.bad("look")
        rows = wrap(check.detail, on.width - 6, " " * (wide + 8), f"{check.name:{wide}}  ")
        click.echo("\n".join([f"{state}  {rows[0]}", *rows[1:]]))
        for line in check.fixed:
            click.echo(f"        mended: {line}")
        for problem in check.problems:
            click.echo("\n".join(wrap(problem_line(problem), on.width if on.terminal else 0, "          ", "        ")))
    ctx.exit(code)
