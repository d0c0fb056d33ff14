"""In: a memory tool's arguments, a file's text. Out: the arguments checked, and text as the tool shows it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memoryfs.errors import MemoryfsError

WIDTH = 6  # of a line number


class MemoryToolError(MemoryfsError):
    """{0}"""

    remedy = ""


def text_of(command: Mapping[str, Any], key: str, *, empty: bool = False, default: str | None = None) -> str:
    """An argument that must be text, without NUL and lone surrogates."""
    value = command.get(key, default)
    if not isinstance(value, str) or (not value and not empty):
        raise MemoryToolError(f"Parameter `{key}` is required and must be text.")
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def given(command: Mapping[str, Any], key: str, *, default: str | None = None) -> str:
    """Text to be written, without its secrets."""
    from memoryfs.redact import redact

    return redact(text_of(command, key, empty=True, default=default)).text


def plain(text: str) -> str:
    """For comparing statements: case and blanks folded."""
    return " ".join(text.casefold().split())


def lines_of(text: str) -> list[str]:
    """Lines with their ends, split at `\\n` only."""
    pieces = text.split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def places_of(text: str, wanted: str) -> list[int]:
    """Every place where `wanted` begins."""
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def numbered(lines: list[str], first: int) -> str:
    """Lines as the tool shows them: number, tab, text."""
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def bytes_below(folder: Path) -> int:
    """The size of all files in a folder, links not followed."""
    return sum(os.path.getsize(os.path.join(base, name)) for base, _, names in os.walk(folder) for name in names
               if not os.path.islink(os.path.join(base, name)))


def size(count: int) -> str:
    """As `du -h` shows it."""
    value = float(count)
    units = ["B", "K", "M", "G"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        del units[0]
    unit = units[0]
    return f"{int(value)}{unit}" if value == int(value) else f"{value:.1f}{unit}"
