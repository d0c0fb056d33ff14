"""In: a file descriptor that may never speak, never close, or not exist. Out: the JSON object on it, or {}; in bounded time.

Hosts leave stdin open, close it, hand over a terminal, or write in pieces. Reading ends at the end of the file, as soon
as what was read is one whole JSON object, at the deadline, or at MAX_BYTES. Bytes are UTF-8 whatever the locale says.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

MAX_BYTES = 64 << 20
_BLOCK = 1 << 20


def read_object(fd: int, *, silence: float, total: float) -> dict[str, Any]:
    """The object, or {} where there is none, only half of one, or no readable descriptor. Never raises for bad input."""
    return parse(read_bytes(fd, silence=silence, total=total))


def read_bytes(fd: int, *, silence: float, total: float) -> bytes:
    """What comes until nothing comes for `silence` seconds or `total` have passed; b"" for a terminal or no descriptor."""
    deadline = time.monotonic() + total
    data = bytearray()
    whole_at = -1  # length at which the data was found to be one whole object
    try:
        if os.isatty(fd):
            return b""
        while len(data) < MAX_BYTES:
            left = min(silence, deadline - time.monotonic())
            ends = data[-64:].rstrip().endswith(b"}") and whole_at != len(data)
            ready, _, _ = select.select([fd], [], [], 0.005 if ends else max(0.0, left))
            if not ready:
                if not ends or parse(bytes(data)):
                    break
                whole_at = len(data)
                continue
            block = os.read(fd, _BLOCK)
            if not block or left <= 0:
                break
            data += block
    except (OSError, ValueError):
        pass
    return bytes(data)


def parse(data: bytes) -> dict[str, Any]:
    """The JSON object in `data`: UTF-8 (a byte-order mark is passed over), else UTF-16 by its mark; {} for anything else."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
