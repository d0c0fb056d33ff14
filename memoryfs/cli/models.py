"""In: nothing, a model's name, or a store. Out: the models that are known, one fetched, or how far each is trusted."""

from __future__ import annotations

import click

from memoryfs.cli.context import add_global_options, emit_json, notice, open_store, wants_json
from memoryfs.render import table


class _Group(click.Group):
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            add_global_options(command)
        return command


@click.group("models", cls=_Group, invoke_without_command=True)
@click.pass_context
def models_command(ctx: click.Context) -> None:
    """List, fetch or check the local models."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_models)


@models_command.command("list")
@click.pass_context
def list_models(ctx: click.Context) -> None:
    """Every known model: size, licence, whether it is here, how to get it."""
    from memoryfs.models.catalog import listing

    rows = listing()
    if wants_json(ctx):
        emit_json({"models": rows})
        return
    click.echo(table([("model", "kind", "size", "licence", "here", "about / how to get it")] + [
        (r["name"], r["kind"], f"{r['size'] / 1e6:,.0f} MB", r["licence"],
         "yes" if r["installed"] and r["runtime"] else "no runtime" if r["installed"] else "no",
         r["about"] if r["installed"] else r["install"]) for r in rows]))


@models_command.command("fetch")
@click.argument("name")
@click.pass_context
def fetch_model(ctx: click.Context, name: str) -> None:
    """Bring a model from its hub; resumes, and checks the SHA-256."""
    from memoryfs.models.fetch import fetch_named

    def progress(done: int, total: int) -> None:
        if not ctx.obj.quiet:
            click.echo(f"\r{done / 1e6:,.0f} of {total / 1e6:,.0f} MB", nl=False, err=True)

    fetched = fetch_named(name, progress)
    if wants_json(ctx):
        emit_json(fetched.to_dict())
    else:
        click.echo(f"{fetched.status}: {fetched.path}")


@models_command.command("check")
@click.pass_context
def check_models(ctx: click.Context) -> None:
    """Calibrate the models on known answers; organizer and recall trust only what passes."""
    from importlib.metadata import entry_points

    from memoryfs.models import check, open_embedder, open_generator
    from memoryfs.recall import answer, judged

    store = open_store(ctx)
    results = []
    generator = open_generator(store.config.models)
    if generator is None:
        notice(ctx, "no generator is installed; the organizer works by rules")
    else:
        for entry in entry_points(group="memoryfs.calibrations"):
            results += entry.load()(generator)
        results.append(judged.measure(store.root, generator))
        results.append(answer.measure(generator))
        generator.close()
    embedder = open_embedder(store.config.models)
    if embedder is None:
        notice(ctx, "no embedder is installed; recall works by words")
    else:
        results.append(check.check_embedder(embedder))
    check.record(store.root, results)
    if wants_json(ctx):
        emit_json({"calibrations": [r.to_dict() for r in results]})
        return
    click.echo(table([("task", "verdict", "AUC or share", "examples")] + [
        (r.task, "trusted" if r.trusted else "not trusted", f"{r.auc:.3f}", str(r.n)) for r in results]))
