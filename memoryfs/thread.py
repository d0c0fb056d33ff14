"""In: a store's folder and a thread's name. Out: its path, its events by range, and what is wrong with it.

A thread file holds one event a line (DESIGN §2.2), in the order of the transcript, `index` counting from 0.
It grows at its end only; a version of the session that disagrees with it becomes the branch `NAME~2`,
`NAME~3`, … Cold threads stand under `archive/threads/` as `.jsonl.zst` and read the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memoryfs.model import Event, Problem
from memoryfs.patterns import lazy

FOLDER = "threads"
ARCHIVE = "archive"
UNDATED = "undated"

_NAME = lazy(r"^(?:(?P<date>\d{4}-\d{2}-\d{2})|undated)-[0-9a-z]+(?:~[0-9]+)?$")
_DATE = lazy(r"^(\d{4}-\d{2}-\d{2})(?:$|[T ])")


@dataclass(frozen=True, slots=True)
class EventDraft:
    """An event as an importer reads it, before its thread and index are known; `line` counts from 0."""

    role: str
    kind: str
    text: str
    line: int
    time: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def noting(self, more: Mapping[str, Any]) -> EventDraft:
        """The draft with `more` in its metadata."""
        return replace(self, metadata={**self.metadata, **more})


def thread_name(session_id: str, first_time: str | None) -> str:
    """The thread's name: its date and the first 6 hex digits of SHA-256 over the harness's session id.

    The date is the one written in `first_time`, thus in the transcript's own zone; `undated` if there is
    none.
    """
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    match = _DATE.match(first_time or "")
    return f"{match[1] if match else UNDATED}-{digest}"


def is_thread_name(text: str) -> bool:
    """Whether `text` has the form of a thread's name (so that it can be put into a path)."""
    return bool(_NAME.match(text))


def _relative(thread: str) -> str:
    match = _NAME.match(thread)
    if not match:
        raise ValueError(f"not a thread name: {thread!r}")
    date = match["date"]
    return f"{date[:4]}/{date[5:7]}/{thread}.jsonl" if date else f"{UNDATED}/{thread}.jsonl"


def live_path(root: str | Path, thread: str) -> Path:
    """Where the thread's file stands, or would stand, under `threads/`."""
    return Path(root) / FOLDER / _relative(thread)


def thread_path(root: str | Path, thread: str) -> Path:
    """The thread's file: under `threads/`, or its compressed one under `archive/` where only that exists.

    Raises ValueError for a text that is not a thread's name.
    """
    root = Path(root)
    relative = _relative(thread)
    live = live_path(root, thread)
    if not live.exists():
        for cold in (root / ARCHIVE / FOLDER / f"{relative}.zst", root / ARCHIVE / f"{thread}.jsonl.zst"):
            if cold.exists():
                return cold
    return live


def raw_lines(path: Path) -> Iterator[bytes]:
    """The lines of a thread file with their ends, whether it is compressed or not."""
    if path.suffix != ".zst":
        with open(path, "rb") as handle:
            yield from handle  # closed with the generator, which is meant
        return
    import io

    import zstandard

    with open(path, "rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
        yield from io.BufferedReader(stream)


def decode_event(line: bytes | str) -> Event | None:
    """The event on one line of a thread file; None for a torn or foreign line."""
    try:
        data: Any = json.loads(line)
        return Event(
            thread=data["thread"],
            index=data["index"],
            id=data["id"],
            role=data["role"],
            kind=data["kind"],
            time=data.get("time"),
            text=data["text"],
            source=data["source"],
            line=data["line"],
            metadata=data.get("metadata") or {},
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def encode_event(event: Event) -> bytes:
    """The line of a thread file for this event, with its newline."""
    text = json.dumps(event.to_dict(), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"


def iter_file(path: Path) -> Iterator[Event]:
    """Every event of one thread file, in order; torn and foreign lines are left out (`check_thread` names
    them)."""
    for line in raw_lines(path):
        event = decode_event(line)
        if event is not None:
            yield event


def iter_events(root: str | Path, thread: str) -> Iterator[Event]:
    """Every event of the thread, in order; nothing if there is no such thread."""
    path = thread_path(root, thread)
    if path.exists():
        yield from iter_file(path)


def read_events(root: str | Path, thread: str, start: int = 0, end: int | None = None) -> list[Event]:
    """The events `start` to `end`, both included (None: to the last); [] if there is no such thread or range.

    Only the lines of the range are decoded as long as line numbers and indexes agree, which they do in an
    undamaged file.
    """
    path = thread_path(root, thread)
    if not path.exists():
        return []
    start = max(start, 0)
    found: list[Event] = []
    number, line = -1, b""
    for number, line in enumerate(raw_lines(path)):
        if number < start:
            continue
        if end is not None and number > end:
            break
        event = decode_event(line)
        if event is None or event.index != number:
            return [e for e in iter_file(path) if e.index >= start and (end is None or e.index <= end)]
        found.append(event)
    if number < start and (event := decode_event(line)) is not None and event.index >= start:  # an excerpt of a session
        return [e for e in iter_file(path) if e.index >= start and (end is None or e.index <= end)]
    return found


def list_threads(root: str | Path) -> list[str]:
    """The names of all threads of the store, archived ones too, sorted (thus by date)."""
    root = Path(root)
    names: set[str] = set()
    for base in (root / FOLDER, root / ARCHIVE):
        for _folder, _folders, files in os.walk(base):
            for file in files:
                name = file.removesuffix(".zst").removesuffix(".jsonl")
                if name != file and _NAME.match(name):
                    names.add(name)
    return sorted(names)


def resolve(root: str | Path, short: str) -> str | None:
    """The full name for a short hash (`3f9a21`, `3f9a21~2`) or a full name; None if unknown or ambiguous."""
    if is_thread_name(short):
        return short if thread_path(root, short).exists() else None
    names = [name for name in list_threads(root) if name.endswith(f"-{short}")]
    return names[0] if len(names) == 1 else None


def check_thread(root: str | Path, thread: str) -> list[Problem]:
    """What is wrong with a thread file: torn or foreign lines and indexes out of order, each with its
    line."""
    path = thread_path(root, thread)
    problems: list[Problem] = []
    expected = 0
    remedy = "Import the transcript again, or restore the file; the other events are read as they are."
    for number, line in enumerate(raw_lines(path), 1):
        event = decode_event(line)
        if event is None:
            problems.append(Problem(str(path), "not an event (torn or foreign line)", remedy, number))
            continue
        if event.index != expected and not (event.index > expected and event.metadata.get("excerpt")):
            message = f"event {event.index} where {expected} was expected"
            problems.append(Problem(str(path), message, remedy, number))
        expected = event.index + 1
    return problems
