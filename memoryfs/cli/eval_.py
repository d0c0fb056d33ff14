"""In: golden questions. Out: the comparison of DESIGN §9 as a table, JSON or a page; or new questions, by --label."""

from __future__ import annotations

from pathlib import Path

import click

from memoryfs.cli.context import emit_json, notice, open_store, report_problems, wants_json


@click.command("eval")
@click.argument("golden", type=click.Path(dir_okay=False), nargs=-1, required=True)
@click.option("--arms", default="raw,summary,breadcrumb,floor", show_default=True, help="Which ways of searching.")
@click.option("-k", default=10, show_default=True, type=click.IntRange(min=1, max=100))
@click.option("--max-tokens", default=1500, show_default=True, type=click.IntRange(min=1))
@click.option("--tolerance", default=2, show_default=True, type=click.IntRange(min=0),
              help="Physical lines by which a near hit may miss.")
@click.option("--unit", type=click.Choice(["event", "thread"]), default="event", show_default=True,
              help="What counts as one result.")
@click.option("--no-vectors", is_flag=True, help="Words only.")
@click.option("--html", type=click.Path(dir_okay=False), help="Also write a page with charts.")
@click.option("--label", is_flag=True, help="Add questions to the file, from your own threads, by hand.")
@click.pass_context
def eval_command(
    ctx: click.Context, golden: tuple[str, ...], arms: str, k: int, max_tokens: int, tolerance: int, unit: str,
    no_vectors: bool, html: str | None, label: bool,
) -> None:
    """Measure recall on golden questions, beside plainer ways of searching."""
    from memoryfs import evaluate
    from memoryfs.errors import ReadOnlyError, UsageError
    from memoryfs.evaluate import history

    store = open_store(ctx)
    if label:
        added = evaluate.label_store(store, Path(golden[0]), lambda prompt: click.prompt(prompt, prompt_suffix="", default="",
                                     show_default=False, err=True), lambda text: click.echo(text, err=True))
        notice(ctx, f"{added} questions added to {golden[0]}")
        return
    questions = []
    for path in golden:
        if not Path(path).is_file():
            raise UsageError(f"no file {path}")
        found, problems = evaluate.load(path)
        report_problems(ctx, problems)
        questions += found
    result = evaluate.evaluate(store, questions, arms=[a.strip() for a in arms.split(",") if a.strip()], k=k,
                               max_tokens=max_tokens, tolerance=tolerance, unit=unit, vectors=not no_vectors)
    try:
        history.keep(store.root, result, now=store.clock())
    except ReadOnlyError as error:
        notice(ctx, f"the figures were not kept: {error.message}")
    if html:
        from memoryfs.textfile import write_atomic

        write_atomic(Path(html), evaluate.page(result).encode())
        notice(ctx, f"page written to {html}")
    if wants_json(ctx):
        emit_json(result.to_dict())
    else:
        click.echo(evaluate.table(result), nl=False)
