"""In: a store. Out: its search index brought up to date, rebuilt, or kept so while files change."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, notice, open_store, progress_bar, report_problems, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_FAILED, EXIT_PARTIAL, MemoryfsError


@click.command("index")
@click.option("--rebuild", is_flag=True, help="From nothing; loses nothing, the files are the truth.")
@click.option("--watch", is_flag=True, help="Stay, and follow changes of the files until interrupted.")
@click.option("--embed-seconds", type=click.FloatRange(min=0),
              help="Spend at most this long on vectors.  [default: the settings']")
@click.option("--reembed", is_flag=True, help="Replace the vectors of another model.")
@click.pass_context
def index_command(
    ctx: click.Context, rebuild: bool, watch: bool, embed_seconds: float | None, reembed: bool
) -> None:
    """Synchronise, rebuild or watch the search index."""
    store = open_store(ctx)
    seconds = store.config.recall.embed_seconds if embed_seconds is None else embed_seconds
    with progress_bar(ctx, "embedding") as progress:
        done = store.index(rebuild=rebuild, embed_seconds=seconds, reembed=reembed, progress=progress)
    for line in done.notices:
        notice(ctx, line)
    report_problems(ctx, done.sync.problems)
    failed = any(p.severity == "error" for p in done.sync.problems)
    code = EXIT_FAILED if not done.kept else EXIT_PARTIAL if failed else EXIT_DONE
    if wants_json(ctx):
        emit_json({**done.to_dict(), "exit_code": code})
    else:
        click.echo(done.line())
    if watch:
        _watch(ctx, store)
    ctx.exit(code)


def _watch(ctx: click.Context, store) -> None:
    try:
        from watchfiles import watch
    except ImportError as error:
        raise MemoryfsError("watching needs the package watchfiles",
                            remedy="pip install 'memoryfs[watch]'") from error
    notice(ctx, f"watching {store.root}; Ctrl-C ends it")
    for changes in watch(store.root, watch_filter=lambda _, path: ".memoryfs" not in path, raise_interrupt=False):
        done = store.index(embed_seconds=store.config.recall.embed_seconds)
        store.refresh()
        report_problems(ctx, done.sync.problems)
        notice(ctx, f"{len(changes)} changes: {done.line()}")
