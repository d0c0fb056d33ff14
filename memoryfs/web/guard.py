"""In: every request to the local page. Out: only those of the person who holds the token reach it, each answer locked down.

Four doors, all of which must open: the Host header names this server (a name that an attacker's DNS points here does
not); an Origin, if sent, is our own, and the browser does not call the request one from elsewhere (another port of
this machine is elsewhere too); the cookie proves that the token's address was opened in this browser; a request that
changes something carries the form's own token as well.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl

MAX_BODY = 4_000_000  # bytes of one form; the largest topic file is far below
SAFE = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: with that, browsers send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Keys:
    """The secrets of one server: `token` opens the page, `session` is the cookie's value, `form` stands in every form."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def form(self) -> str:
        return hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest()

    @property
    def cookie(self) -> str:
        """Named after the port: cookies are shared by all ports of a host."""
        return f"memoryfs_{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset((f"127.0.0.1:{self.port}", f"localhost:{self.port}"))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class Guard:
    """ASGI middleware around `app`; `scope["form"]` holds the fields of a POST that it let through."""

    def __init__(self, app: Any, keys: Keys) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # web sockets and the like are not served
        locked = _locking(send)
        given = _headers(scope)
        refusal = self._refusal(scope, given)
        if refusal:
            await _plain(locked, *refusal)
            return
        if self._opens(scope):
            await self._open(locked)
            return
        if not _equal(_cookie(given.get("cookie", ""), self.keys.cookie), self.keys.session):
            await _plain(locked, 403, "Open the address that `memoryfs web` printed; it carries the token of this run.")
            return
        if scope["method"] not in SAFE:
            body = await _body(receive)
            if body is None:
                await _plain(locked, 413, "Too much at once.")
                return
            fields = _fields(body)
            if not _equal(fields.get("csrf", ""), self.keys.form):
                await _plain(locked, 403, "This form is not one of ours, or it is from an earlier run: load the page again.")
                return
            scope = {**scope, "form": fields}
        await self.app(scope, receive, locked)

    def _refusal(self, scope: Mapping[str, Any], given: Mapping[str, str]) -> tuple[int, str] | None:
        if given.get("host", "").lower() not in self.keys.hosts:
            return 421, "This server answers only to its own address."
        method = scope["method"]
        if method not in (*SAFE, "POST"):
            return 405, "Not a method of this page."
        origin, site = given.get("origin"), given.get("sec-fetch-site")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self.keys.hosts}:
            return 403, "Another origin may not ask."
        if method == "POST" and origin is None and site != "same-origin":
            return 403, "A form must say where it comes from."
        if site in ("cross-site", "same-site") and (method == "POST" or given.get("sec-fetch-mode") != "navigate"):
            return 403, "Another site may not ask."
        return None

    def _opens(self, scope: Mapping[str, Any]) -> bool:
        if scope["path"] != "/" or scope["method"] not in SAFE:
            return False
        try:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20)
        except ValueError:
            return False
        return any(_equal(value, self.keys.token) for value in query.get("token", ()))

    async def _open(self, send: Send) -> None:
        cookie = f"{self.keys.cookie}={self.keys.session}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _locking(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def locked(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return locked


def _headers(scope: Mapping[str, Any]) -> dict[str, str]:
    """Header values by lower-case name; one sent twice is joined, and thus equals nothing that is expected."""
    out: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        out[key] = f"{out[key]};{text}" if key in out else text
    return out


def _cookie(header: str, name: str) -> str:
    for part in header.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


def _equal(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


async def _body(receive: Any) -> bytes | None:
    """The whole body; None if it is larger than `MAX_BODY`."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _fields(body: bytes) -> dict[str, str]:
    """The fields of an url-encoded form; none for anything else."""
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=50, encoding="utf-8")
    except ValueError:
        return {}
    return dict(pairs)


async def _plain(send: Send, status: int, text: str) -> None:
    body = f"{text}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
