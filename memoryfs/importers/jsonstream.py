"""In: a JSON document too large to hold. Out: its top-level values and the elements of its long lists, one
at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memoryfs.importers.base import open_text

CHUNK = 1 << 16


class Unfinished(ValueError):
    """The document ends, or breaks, before it is whole; what came before was read."""


class _Buffer:
    def __init__(self, path: Path) -> None:
        self.handle = open_text(path)
        self.text = ""
        self.position = 0
        self.ended = False
        self.decoder = json.JSONDecoder(strict=False)

    def more(self) -> bool:
        if self.ended:
            return False
        read = self.handle.read(max(CHUNK, len(self.text) - self.position))
        self.ended = not read
        self.text = self.text[self.position :] + read
        self.position = 0
        return bool(read)

    def peek(self) -> str:
        while True:
            while self.position < len(self.text):
                if self.text[self.position] not in " \t\r\n\ufeff\0":
                    return self.text[self.position]
                self.position += 1
            if not self.more():
                return ""

    def take(self, wanted: str) -> None:
        if self.peek() != wanted:
            raise Unfinished(f"{wanted!r} expected")
        self.position += 1

    def value(self) -> Any:
        if not self.peek():
            raise Unfinished("the document ends")
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.position)
            except RecursionError:
                raise Unfinished("nested too deeply") from None
            except ValueError as error:
                if not self.more():
                    raise Unfinished(str(error)) from None
                continue
            if end == len(self.text) and self.more():  # a number may go on in the next block
                continue
            self.position = end
            return value

    def elements(self) -> Iterator[Any]:
        self.take("[")
        if self.peek() == "]":
            self.position += 1
            return
        while True:
            yield self.value()
            if self.peek() == "]":
                self.position += 1
                return
            self.take(",")


def stream(path: Path, lists: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """(key, value) for each key of a top-level object, and (key, element) for each element of the named
    `lists`.

    A top-level list gives ("", element). Raises Unfinished where the document breaks off, after what could
    be read.
    """
    buffer = _Buffer(path)
    with buffer.handle:
        if buffer.peek() == "[":
            for element in buffer.elements():
                yield "", element
            if buffer.peek():
                raise Unfinished("another document follows the first")
            return
        buffer.take("{")
        while buffer.peek() != "}":
            key = buffer.value()
            buffer.take(":")
            if key in lists and buffer.peek() == "[":
                for element in buffer.elements():
                    yield key, element
            else:
                yield str(key), buffer.value()
            if buffer.peek() != "}":
                buffer.take(",")
        buffer.take("}")
        if buffer.peek():
            raise Unfinished("another document follows the first")
