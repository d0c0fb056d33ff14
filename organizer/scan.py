"""In: the environment and the clock. Out: the sessions that the harnesses of this machine have finished, with their store.

A session is finished when its file has been quiet for `idle_minutes`. Each belongs to the store of the directory it
was run in (`memoryfs.scope.store_for`); the directory is read from the first lines of the transcript itself.
Nothing here writes, and a harness that is not installed simply yields nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from memoryfs.harness import queue
from memoryfs.model import Problem
from memoryfs.scope import cascade, store_for
from organizer import opencode

HEAD_LINES = 60
HEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Session:
    """A finished session: its transcript, the harness, the directory it ran in and the store of that directory.

    `stored` is set where the harness keeps no transcript file, so that one has to be exported first.
    """

    path: Path
    harness: str
    cwd: str | None
    store: Path | None
    modified: float
    stored: opencode.Stored | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a scan found. `running` counts the sessions that are not finished, `homeless` those without a store."""

    sessions: tuple[Session, ...] = ()
    running: int = 0
    homeless: tuple[Session, ...] = ()
    problems: tuple[Problem, ...] = ()


def scan(environ: Mapping[str, str], *, now: float, idle_minutes: float, store: Path | None = None) -> Found:
    """All finished sessions, oldest first; with `store`, only those that belong to it. `now` is a Unix time.

    What a hook has noted in a store's queue counts too: at once if it noted the end of the session.
    """
    found: list[Session] = []
    homeless: list[Session] = []
    problems: list[Problem] = []
    running = 0
    wanted = os.path.realpath(store) if store is not None else None
    roots: dict[str, Path | None] = {}
    notes = _Notes([store] if store is not None else [s.root for s in cascade(Path.cwd(), environ)[:1]])
    for session in chain(_all(environ, problems), notes.others()):
        cwd = session.cwd
        if cwd and cwd not in roots:
            roots[cwd] = store_for(Path(cwd), environ)
        root = session.store or (roots[cwd] if cwd else None)
        if wanted is not None and (root is None or os.path.realpath(root) != wanted):
            continue
        final = notes.final(root, session.path)
        if now - session.modified < idle_minutes * 60 and not final:
            running += 1
            continue
        placed = Session(session.path, session.harness, cwd, root, session.modified, session.stored)
        (found if root is not None else homeless).append(placed)
    found.sort(key=lambda s: (s.modified, str(s.path)))
    return Found(tuple(found), running, tuple(homeless), tuple(problems))


class _Notes:
    """What the hooks have noted in the queues of the stores met so far; `others` are those that no harness's folder has."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self._queues: dict[str, dict[Path, queue.Queued]] = {}
        self._seen: set[Path] = set()
        self._first = list(roots)

    def _of(self, root: Path) -> dict[Path, queue.Queued]:
        real = os.path.realpath(root)
        if real not in self._queues:
            self._queues[real] = {note.path: note for note in queue.read(root)}
        return self._queues[real]

    def final(self, root: Path | None, path: Path) -> bool:
        self._seen.add(path)
        note = self._of(root).get(path) if root is not None else None
        return note is not None and note.final

    def others(self) -> Iterator[Session]:
        """Read after every session of the harnesses was asked about."""
        for root in self._first:
            self._of(root)
        for root, notes in sorted(self._queues.items()):
            for note in notes.values():
                if note.path not in self._seen:
                    yield Session(note.path, "queue", note.cwd or None, Path(root), note.path.stat().st_mtime)


def _all(environ: Mapping[str, str], problems: list[Problem]) -> Iterator[Session]:
    home = _home(environ)
    for harness, given, usual, below in (
        ("claude-code", environ.get("CLAUDE_CONFIG_DIR"), ".claude", "projects"),
        ("codex", environ.get("CODEX_HOME"), ".codex", "sessions"),
    ):
        base = Path(given) if given else home and home / usual
        if base is not None and (base / below).is_dir():
            yield from _transcripts(harness, base / below, problems)
    data = environ.get("XDG_DATA_HOME")
    base = Path(data) if data else home and home / ".local" / "share"
    if base is not None and (base / "opencode").is_dir():
        for stored in opencode.sessions(base / "opencode", problems):
            yield Session(stored.origin, "opencode", stored.directory, None, stored.modified, stored)


def _transcripts(harness: str, base: Path, problems: list[Problem]) -> Iterator[Session]:
    for folder, folders, names in os.walk(base, onerror=lambda e: problems.append(_unreadable(e, e.filename))):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".jsonl"):
                continue
            path = Path(folder, name)
            try:
                yield Session(path, harness, working_directory(path), None, path.stat().st_mtime)
            except OSError as error:
                problems.append(_unreadable(error, path))


def _unreadable(error: OSError, path: object) -> Problem:
    return Problem(str(path), f"cannot be read: {error.strerror}", "Check its permissions.")


def _home(environ: Mapping[str, str]) -> Path | None:
    if environ.get("HOME"):
        return Path(environ["HOME"])
    try:
        return Path.home()
    except RuntimeError:  # HOME unset and no passwd entry, as under some service managers
        return None


def working_directory(path: Path) -> str | None:
    """The directory a session ran in, as its first records say; None where they say nothing. Raises OSError."""
    read = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file):
            read += len(line)
            record = _json(line)
            if isinstance(record, dict):
                cwd = _directory(record) or _directory(record.get("payload"))
                if cwd:
                    return cwd
            if number >= HEAD_LINES or read > HEAD_BYTES:
                break
    return None


def _directory(record: object) -> str | None:
    if isinstance(record, dict):
        value = record.get("cwd")
        if isinstance(value, str) and value.startswith("/") and "\0" not in value:
            return value
    return None


def _json(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
