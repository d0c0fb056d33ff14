"""In: the command line. Out: the local page of a store, served until interrupted, and its address on stdout."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, notice, open_store, wants_json
from memoryfs.errors import MemoryfsError


@click.command("web")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="Port on 127.0.0.1; a free one if not given.")
@click.option("--open", "browse", is_flag=True, help="Open the page in the browser.")
@click.pass_context
def web_command(ctx: click.Context, port: int, browse: bool) -> None:
    """See and correct the memory in a browser, on this machine only."""
    store = open_store(ctx)
    try:
        from memoryfs.web import app
        from memoryfs.web.guard import Keys
    except ImportError as error:
        raise MemoryfsError(f"the page needs starlette, uvicorn and jinja2 ({error})",
                            remedy="pip install 'memoryfs[web]'") from error
    door = app.listen(port)
    keys = Keys(door.getsockname()[1])
    if wants_json(ctx):
        emit_json({"url": keys.url, "port": keys.port})
    else:
        click.echo(keys.url)
    notice(ctx, "only this address opens the page; Ctrl-C ends it")
    if browse:
        import webbrowser

        webbrowser.open(keys.url)
    app.serve(store, door, keys)
