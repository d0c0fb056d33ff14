"""In: a store and the secrets of a run. Out: the ASGI application, and a server for it on the loopback address."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from memoryfs.errors import (
    ChangedMeanwhileError,
    LockedError,
    MemoryfsError,
    NotFoundError,
    OutsideStoreError,
    UsageError,
)
from memoryfs.web import desk, find, shelf
from memoryfs.web.guard import Guard, Keys
from memoryfs.web.site import Site

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore

Handler = Callable[[Site, Request], Response]
PAGES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", desk.front),
    ("GET", "/search", find.search),
    ("GET", "/threads", find.threads),
    ("GET", "/threads/{name}", find.show_thread),
    ("GET", "/source/{label}", find.source),
    ("GET", "/memory/{id}", find.memory),
    ("POST", "/memory/{id}/forget", find.forget),
    ("POST", "/memory/{id}/judge", find.judge),
    ("GET", "/topics", shelf.listing),
    ("GET", "/topics/{path:path}", shelf.show),
    ("GET", "/timeline/{path:path}", shelf.timeline),
    ("GET", "/edit/{path:path}", shelf.edit),
    ("POST", "/edit/{path:path}", shelf.save),
    ("POST", "/check", shelf.check),
    ("GET", "/graph", shelf.picture),
    ("GET", "/review", desk.queue),
    ("POST", "/review/{id}", desk.settle),
)
STATIC = {"style.css": "text/css", "memoryfs.js": "text/javascript", "icon.svg": "image/svg+xml"}
_STATUS = ((NotFoundError, 404), (OutsideStoreError, 404), (UsageError, 400), (ChangedMeanwhileError, 409), (LockedError, 503))


def build(store: MemoryStore, keys: Keys) -> Guard:
    """The application, guarded; `keys.port` is the port it will be served on."""
    site = Site(store, keys)
    routes = [Route(path, _endpoint(site, handler), methods=[method]) for method, path, handler in PAGES]
    routes.append(Route("/static/{name}", _static))

    async def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return site.page("error.html", code=status, message="There is no such page.", remedy="")

    return Guard(Starlette(routes=routes, exception_handlers={404: missing, 405: missing}), keys)


def _endpoint(site: Site, handler: Handler) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        try:
            return await run_in_threadpool(handler, site, request)
        except MemoryfsError as error:
            status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
            return site.page("error.html", code=status, message=error.message, remedy=error.remedy)

    return endpoint


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return PlainTextResponse("no such file\n", status_code=404)
    data = (resources.files("memoryfs.web") / "static" / name).read_bytes()
    return Response(data, media_type=STATIC[name])


def listen(port: int = 0) -> socket.socket:
    """A socket on 127.0.0.1 only; port 0 takes a free one. Raises MemoryfsError when the port is taken."""
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind(("127.0.0.1", port))
    except OSError as error:
        door.close()
        raise MemoryfsError(f"port {port} cannot be opened: {error.strerror}", remedy="Name another with --port, or none.") from error
    return door


def serve(store: MemoryStore, door: socket.socket, keys: Keys) -> None:
    """Serves until it is interrupted. No access log: the first address holds the token."""
    import uvicorn

    settings = uvicorn.Config(build(store, keys), log_level="warning", access_log=False, server_header=False, lifespan="off", ws="none")
    uvicorn.Server(settings).run(sockets=[door])
