"""In: JSON-RPC on stdin. Out: the MCP server over one store."""

from __future__ import annotations

import click

from memoryfs.cli.context import store_root
from memoryfs.errors import MemoryfsError, NoStoreError


@click.command("mcp")
@click.pass_context
def mcp_command(ctx: click.Context) -> None:
    """Serve the store to an agent over stdio, with the official MCP SDK."""
    root = store_root(ctx)
    if not root.is_dir():
        raise NoStoreError(str(root))
    try:
        from memoryfs import mcp_server
    except ImportError as error:
        raise MemoryfsError(f"the MCP server needs the package mcp ({error})",
                            remedy="pip install 'memoryfs[mcp]'") from error
    mcp_server.serve(root)
