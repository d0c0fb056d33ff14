"""In: an event's name and a harness's JSON on stdin. Out: the harness's JSON on stdout; exit 0 whatever happens."""

from __future__ import annotations

import click


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.argument("event", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def hook_command(ctx: click.Context, event: tuple[str, ...]) -> None:
    """Answer a harness's EVENT: session-start, user-prompt-submit, pre-compact, session-end or stop.

    A host takes exit code 2 for a veto, so even a wrong EVENT ends with 0.
    """
    import os
    from pathlib import Path

    from memoryfs.errors import MemoryfsError
    from memoryfs.harness import runner

    store = None
    if ctx.obj.store:
        store = Path(os.path.abspath(Path(ctx.obj.store).expanduser()))
    elif ctx.obj.profile:
        from memoryfs import scope

        try:
            store = scope.profile_root(ctx.obj.profile)
        except MemoryfsError as error:
            click.echo(f"memoryfs: {error.message}", err=True)
            return
    runner.run(event[0] if event else "", os.environ, store=store)
