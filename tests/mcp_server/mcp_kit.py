"""A store, and a session with the server over it, through the official client."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

TOPIC = """---
title: School auth
tags: [auth]
created_at: 2026-05-12
updated_at: 2026-05-14
---
# School auth

## Facts
- teacher.example.ed.jp is an allowed mail domain. ^m-7c01d2
- The session cookie lives 14 days. ^m-52e9f8
- The session cookie lives 7 days. ^m-52e9f7

## Needs review
- [ ] [[#^m-52e9f7]] says 7 days (2026-05-12); [[#^m-52e9f8]] says 14 days (2026-05-14). ^r-4410aa
"""
THREAD = [
    {"role": "user", "content": "Use /^[a-z]+@teacher\\.example\\.ed\\.jp$/ for the e-mail check.", "time": "2026-05-12T10:00:00Z"},
    {"role": "assistant", "content": "Done: the validator uses that regex now.", "time": "2026-05-12T10:01:00Z"},
]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "memoryfs", *arguments, "mcp"]


@asynccontextmanager
async def session(cwd: Path, *arguments: str, env: dict[str, str] | None = None, option: str | None = None):
    """A `ClientSession` of the SDK with the server as a real process in `cwd`."""
    import os

    from mcp import ClientSession, StdioServerParameters, stdio_client

    first, *rest = command(*arguments)
    server = StdioServerParameters(command=first, args=[*rest, *([option] if option else [])], cwd=str(cwd), env={**os.environ, **(env or {})})
    with open(cwd / "server.log", "w") as log:
        async with stdio_client(server, errlog=log) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            yield client


class Raw:
    """The server as a process, spoken to line by line."""

    def __init__(self, cwd: Path, env: dict[str, str] | None = None, stdin=subprocess.PIPE) -> None:
        import os

        self.process = subprocess.Popen(
            command(), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd, env={**os.environ, **(env or {})},
        )
        self.lines: list[bytes] = []

    def send(self, message: dict | bytes) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        assert self.process.stdout is not None
        self.lines.append(self.process.stdout.readline())
        return json.loads(self.lines[-1])

    def handshake(self) -> dict:
        self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        answer = self.receive()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, number: int, tool: str, **arguments: object) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()
