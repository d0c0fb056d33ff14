"""In: a `Stores`. Out: a server of the official SDK over its tools, run on stdio or on the loopback interface.

Over stdio the SDK keeps file descriptor 1 for the protocol and points Python's and native code's stdout at stderr. Work is
done in threads, so that one slow call holds up no other, and a cancelled one is left behind.
"""

from __future__ import annotations

import functools
import os
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memoryfs import __version__
from memoryfs.errors import MemoryfsError
from memoryfs.mcp_server import answers, tools
from memoryfs.mcp_server.fields import schema
from memoryfs.mcp_server.tools import Stores

PARENT_POLL_SECONDS = 5.0
PARALLEL = 8
BRIEFING = "memory://briefing"
TOPIC = "memory://topic/"
PROMPT = "exact_values"
_EFFECTS = {
    "read": {"read_only_hint": True, "idempotent_hint": True},
    "write": {"read_only_hint": False, "destructive_hint": False, "idempotent_hint": True},
    "remove": {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": True},
}


def build(stores: Stores) -> Server[Any]:
    """The server; the caller runs it."""
    limiter: list[anyio.CapacityLimiter] = []

    async def in_thread(work: Callable[[], Any]) -> Any:
        if not limiter:
            limiter.append(anyio.CapacityLimiter(PARALLEL))
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter[0])

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[
            types.Tool(
                name=tool.name, description=tool.about, input_schema=schema(tool.fields),
                annotations=types.ToolAnnotations(open_world_hint=False, **_EFFECTS[tool.effect]),
            )
            for tool in tools.available(stores)
        ])

    async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            text = await in_thread(functools.partial(tools.call, stores, params.name, params.arguments or {}))
        except MemoryfsError as error:
            return _result(f"{error.message} {error.remedy}", error=True)
        except Exception as error:  # one failed call must not end the session
            return _result(f"{type(error).__name__}: {error}. `memoryfs doctor` may say more.", error=True)
        return _result(text)

    async def list_resources(_ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        start = int(params.cursor) if params and params.cursor and params.cursor.isdigit() else 0
        paths = await in_thread(lambda: _topic_paths(stores))
        rows = [types.Resource(uri=BRIEFING, name="briefing", description="What a session starts with.", mime_type="text/markdown")]
        rows += [types.Resource(uri=TOPIC + _quoted(path), name=path, mime_type="text/markdown") for path in paths]
        following = str(start + 200) if start + 200 < len(rows) else None
        return types.ListResourcesResult(resources=rows[start : start + 200], next_cursor=following)

    async def list_templates(_ctx: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[types.ResourceTemplate(
            uri_template=TOPIC + "{name}", name="topic", mime_type="text/markdown",
            description="A topic file; `/` in its path is written as %2F.")])

    async def read_resource(_ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await in_thread(lambda: _resource(stores, uri))
        except MemoryfsError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=f"{error.message} {error.remedy}", data={"uri": uri}) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)])

    async def list_prompts(_ctx: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name=PROMPT, description="The rule for exact values.")])

    async def get_prompt(_ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(code=types.INVALID_PARAMS, message=f"there is no prompt {params.name[:60]!r}; there is {PROMPT}")
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=tools.EXACT_RULE))
        return types.GetPromptResult(description="The rule for exact values.", messages=[message])

    return Server(
        "memoryfs", version=__version__, instructions=tools.INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool,
        on_list_resources=list_resources, on_list_resource_templates=list_templates, on_read_resource=read_resource,
        on_list_prompts=list_prompts, on_get_prompt=get_prompt,
    )


def _result(text: str, *, error: bool = False) -> types.CallToolResult:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return types.CallToolResult(content=[types.TextContent(type="text", text=clean)], is_error=error)


def _topic_paths(stores: Stores) -> list[str]:
    from memoryfs.files import topic_paths

    try:
        store = stores.nearest()
    except MemoryfsError:
        return []
    return sorted(topic_paths(store.root, store.config))


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe="")


def _resource(stores: Stores, uri: str) -> str:
    from urllib.parse import unquote

    from memoryfs.errors import NotFoundError

    if uri == BRIEFING:
        return stores.nearest().brief()
    if not uri.startswith(TOPIC):
        raise NotFoundError(f"the resource {uri[:200]}", remedy=f"Resources: {BRIEFING}, {TOPIC}projects%2Fx.md.")
    text = stores.nearest().read(unquote(uri.removeprefix(TOPIC), errors="replace")).text
    cut = text.encode("utf-8", "replace")[: answers.MAX_BYTES].decode("utf-8", "ignore")
    return cut if len(cut) == len(text) else f"{cut}\n… cut; read_memory reads on from offset {len(cut)}\n"


# -- running ------------------------------------------------------------------------------------------------------


def serve_stdio(stores: Stores) -> None:
    """Run until the client closes stdin, or dies without closing it. Ends the process at once: no write is half done."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_SECONDS)
        os._exit(0)

    threading.Thread(target=watch, daemon=True, name="parent-watch").start()
    anyio.run(_stdio, build(stores))
    os._exit(0)  # calls that are still at work have nobody to answer


async def _stdio(server: Server[Any]) -> None:
    import io
    import sys

    wire = os.dup(0)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    os.set_inheritable(wire, False)
    stdin = _Mended(io.TextIOWrapper(os.fdopen(wire, "rb"), encoding="utf-8", errors="replace"))
    async with stdio_server(stdin=anyio.wrap_file(stdin)) as (read, write):  # type: ignore[arg-type]
        await server.run(read, write, server.create_initialization_options())
    sys.stderr.flush()


_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.S)


class _Mended:
    """A text file whose lines have no lone surrogates, which the SDK's JSON reader refuses without an answer."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def readline(self) -> str:
        line: str = self.file.readline()
        return _ESCAPE.sub(_mend, line) if "\\u" in line else line

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def _mend(match: re.Match[str]) -> str:
    lone = match[1] is None and len(match[0]) == 6 and match[0][2] in "dD"
    return "\\ufffd" if lone else match[0]


def serve_http(stores: Stores, port: int, token: str) -> None:
    """Streamable HTTP on 127.0.0.1; every request needs `Authorization: Bearer TOKEN`."""
    import uvicorn

    app = build(stores).streamable_http_app(host="127.0.0.1")
    uvicorn.run(guarded(app, token), host="127.0.0.1", port=port, log_level="warning")


def guarded(app: Any, token: str) -> Any:
    """`app`, answering 401 without the token."""
    import secrets

    wanted = f"Bearer {token}".encode()

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, wanted):
                await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
                await send({"type": "http.response.body", "body": b"a token is needed\n"})
                return
        await app(scope, receive, send)

    return guard
