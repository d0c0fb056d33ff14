"""In: the command line. Out: the MCP server over the stores that apply here."""

from __future__ import annotations

import gc
from pathlib import Path

import click

from memoryfs.cli.context import notice, store_root
from memoryfs.errors import MemoryfsError, NoStoreError


@click.command("mcp")
@click.option("--http", "port", type=click.IntRange(1, 65535), metavar="PORT", help="Serve on 127.0.0.1:PORT instead of stdio.")
@click.option("--token", envvar="MEMORYFS_TOKEN", help="With --http: what clients must send; made up and shown if not given.")
@click.option("--memory-tool", is_flag=True, help="Also offer `memory`, the file commands of the Anthropic memory tool.")
@click.pass_context
def mcp_command(ctx: click.Context, port: int | None, token: str | None, memory_tool: bool) -> None:
    """Serve the store to an agent over stdio, with the official MCP SDK."""
    named = None
    if ctx.obj.store or ctx.obj.profile:
        named = store_root(ctx).absolute()
        if not named.is_dir():
            raise NoStoreError(str(named))
    gc.disable()  # the SDK's import makes thousands of types and no garbage: a tenth of the time to the first answer
    try:
        from memoryfs.mcp_server import wire
    except ImportError as error:
        raise MemoryfsError(f"the MCP server needs the package mcp ({error})",
                            remedy="pip install 'memoryfs[mcp]'") from error
    finally:
        gc.enable()
    stores = wire.Stores(Path.cwd(), named, memory_tool=memory_tool)
    if port is None:
        wire.serve_stdio(stores)
        return
    if not token:
        from secrets import token_urlsafe

        token = token_urlsafe(24)
        notice(ctx, f"http://127.0.0.1:{port}/mcp with the header Authorization: Bearer {token}")
    wire.serve_http(stores, port, token)
