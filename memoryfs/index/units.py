"""In: the events of one thread, in order. Out: search units (spans of at most 1,200 characters) in packed columns.

A unit is what the index scores: a message, or a piece of a long one, cut at paragraphs, lines or sentences and at the
borders in `metadata["parts"]`. Its document number is `thread number << 24 | unit number`, so that a posting alone says
which thread it is in and which units are its neighbours. Columns are packed per thread (about 30 bytes a unit): a store
of 100,000 events is read into memory in milliseconds, where as many rows would take a tenth of a second.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from memoryfs.errors import IndexDamagedError
from memoryfs.patterns import lazy

SHIFT = 24
MASK = (1 << SHIFT) - 1
UNIT_CHARS = 1200  # RECALL-NOTES: events cut at 1,200 characters
MAX_UNITS = 900  # of one event: about 1 MB of text; the rest is reached through read, not search
NO_TIME = -(1 << 62)

ROLE_CODES = {"user": 0, "assistant": 1, "tool": 2, "system": 3}
ROLE_MASK, MESSAGE, QUESTION, CONTINUED, TIMED, COUNTED = 3, 4, 8, 16, 32, 64

# Words that answer "when" and "how many": a unit that holds one is preferred for such a question.
_TIMED = lazy(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|week(?:end)?s?|months?|years?|days?|mon|tues|wednes|thurs|fri|satur|sun"
    r"|january|february|march|april|june|july|august|september|october|november|december|(?:19|20)\d\d|recently|since|soon|just"
    r"|summer|winter|spring|fall|morning|evening|night)(?:day)?\b|\d[年月日년월일]|昨|今[日週月年]|明日|先[週月]|来[週月]|어제|오늘|내일"
    r"|지난|다음|[上下]个?[周月]",
    re.I,
)
_COUNTED = lazy(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|few|several|dozens?)\b|[一二三四五六七八九十百千]",
    re.I,
)

_CUT = re.compile(r"\n\s*\n|\n|(?<=[.!?。！？])\s*|\s")


def epoch(time: str | None) -> int:
    """RFC 3339 text as seconds since 1970 (UTC where no zone is given); NO_TIME if it is none."""
    if not time:
        return NO_TIME
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return NO_TIME
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp())


def pieces(text: str, start: int, end: int, size: int = UNIT_CHARS) -> Iterator[tuple[int, int]]:
    """[start, end) cut into spans of at most `size` characters, at the best border in the last third of each."""
    while end - start > size:
        low, high = start + size * 2 // 3, start + size
        best, rank = high, 9
        for match in _CUT.finditer(text, low, high):
            if not match.group() and not match.start():
                continue
            kind = 0 if match.group().count("\n") > 1 else 1 if "\n" in match.group() else 3 if text[match.start() - 1].isalnum() else 2
            if kind <= rank and match.end() > start:
                best, rank = match.end(), kind
        yield start, best
        start = best
    if end > start:
        yield start, end


def cut(text: str, parts: Sequence[Sequence[int]] | None = None) -> list[tuple[int, int]]:
    """The [start, end) spans of an event's units; never across a border between parts."""
    spans: list[tuple[int, int]] = []
    borders = [(int(a), int(b)) for a, b in parts] if parts else [(0, len(text))]
    merged: list[tuple[int, int]] = []
    for start, end in borders:
        merged.append((max(0, start), min(len(text), end)))
    for start, end in merged:
        for span in pieces(text, start, end):
            if text[span[0] : span[1]].strip():
                spans.append(span)
            if len(spans) >= MAX_UNITS:
                return spans
    return spans


@dataclass
class ThreadMap:
    """The packed columns of one thread: events by position in the file, units by number."""

    number: int
    name: str
    path: str
    names: list[str] = field(default_factory=lambda: [""])  # speakers
    index: array = field(default_factory=lambda: array("I"))  # event number of each event line
    offset: array = field(default_factory=lambda: array("Q"))  # its byte offset in the file
    at: array = field(default_factory=lambda: array("q"))  # its time, epoch seconds
    event: array = field(default_factory=lambda: array("I"))  # of each unit: position of its event
    start: array = field(default_factory=lambda: array("I"))
    end: array = field(default_factory=lambda: array("I"))
    terms: array = field(default_factory=lambda: array("H"))  # length in index terms
    flags: array = field(default_factory=lambda: array("B"))
    speaker: array = field(default_factory=lambda: array("B"))

    _COLUMNS = ("index", "offset", "at", "event", "start", "end", "terms", "flags", "speaker")

    total_terms: int = 0

    def __len__(self) -> int:
        return len(self.event)

    def pack(self) -> bytes:
        """All columns as one blob behind their sizes and a checksum; `unpack` is its inverse on machines of the same byte order."""
        columns = [getattr(self, name).tobytes() for name in self._COLUMNS]
        rest = b"".join(columns)
        return json.dumps([crc32(rest), *(len(c) for c in columns)]).encode() + b"\n" + rest

    @classmethod
    def unpack(cls, number: int, name: str, path: str, names: str, blob: bytes) -> ThreadMap:
        """A thread from its row. Raises IndexDamagedError."""
        try:
            out = cls(number, name, path, json.loads(names))
            head, _, rest = blob.partition(b"\n")
            checksum, *sizes = json.loads(head)
            if crc32(rest) != checksum:
                raise ValueError("checksum")
            position = 0
            for column, size in zip(cls._COLUMNS, sizes, strict=True):
                getattr(out, column).frombytes(rest[position : position + size])
                position += size
        except (ValueError, TypeError, AttributeError) as error:
            raise IndexDamagedError(f"the columns of {name} cannot be read") from error
        out.total_terms = sum(out.terms)
        return out

    def add(self, record: dict[str, Any], offset: int, terms_of: Callable[[str], str]) -> list[tuple[int, str]]:
        """Take in one event line; return (document number, index terms) of its new units."""
        text = record.get("text") or ""
        metadata = record.get("metadata") or {}
        position = len(self.index)
        self.index.append(int(record["index"]))
        self.offset.append(offset)
        self.at.append(epoch(record.get("time")))
        if metadata.get("skip") or not isinstance(text, str):
            return []
        kind = record.get("kind", "message")
        flags = ROLE_CODES.get(record.get("role", "user"), 0) | (MESSAGE if kind == "message" else 0)
        if kind == "message" and text.rstrip()[-1:] in ("?", "？"):
            flags |= QUESTION
        speaker = str(metadata.get("name") or "")
        if speaker not in self.names and len(self.names) < 255:
            self.names.append(speaker)
        code = self.names.index(speaker) if speaker in self.names else 0
        out: list[tuple[int, str]] = []
        for number, (start, end) in enumerate(cut(text, metadata.get("parts"))):
            terms = terms_of(text[start:end])
            document = self.number << SHIFT | len(self.event)
            self.event.append(position)
            self.start.append(start)
            self.end.append(end)
            self.terms.append(min(65535, terms.count(" ") + 1))
            self.total_terms += self.terms[-1]
            piece = text[start:end]
            self.flags.append(
                flags | (CONTINUED if number else 0) | (TIMED if _TIMED.search(piece) else 0)
                | (COUNTED if _COUNTED.search(piece) else 0)
            )
            self.speaker.append(code)
            out.append((document, terms))
        return out
