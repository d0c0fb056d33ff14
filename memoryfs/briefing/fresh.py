"""In: a store's folder. Out: MEMORY.md compiled anew and written where its bytes change; its candidate lines explained.

A tail of Notes that has no room is first appended to notes.md, then taken from MEMORY.md: a kill between leaves it in
both, and the next run finds it there and does not append it twice.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from memoryfs import inbox, ledger, runs, usage
from memoryfs.briefing import stamp as stamps
from memoryfs.briefing.compile import Compiled, compile_briefing
from memoryfs.briefing.gist import read_gists
from memoryfs.config import Config
from memoryfs.errors import ChangedMeanwhileError, ReadOnlyError
from memoryfs.files import BRIEFING, NOTES, Scan
from memoryfs.textfile import digest_of, read_file, write_atomic

_ATTEMPTS = 5


def refresh(root: Path, config: Config, *, now: datetime) -> bool:
    """Compiles MEMORY.md and writes it (and the overflow of Notes to notes.md) where bytes change; True if they did.

    A MEMORY.md that is not UTF-8 is read as UTF-16 or Windows-1252 and kept as it was beside, as MEMORY.bak.
    Raises ReadOnlyError; ChangedMeanwhileError if someone saves MEMORY.md again and again meanwhile.
    """
    return write_fresh(root, config, now=now)[1]


def write_fresh(root: Path, config: Config, *, now: datetime) -> tuple[str, bool]:
    """`refresh`, with the text as well."""
    changed = False
    for attempt in range(_ATTEMPTS):
        data, digest = _read(root / BRIEFING)
        started = time.time_ns()
        compiled, found, until = _compile(root, config, now.date(), data)
        moved: _Moved | None = None
        try:
            if compiled.notes_moved is not None:
                moved = _append_notes(root / NOTES, compiled.notes_moved)
            _keep_undecodable(root, data)
            new = compiled.text.encode("utf-8")
            if new != data or not digest:
                write_atomic(root / BRIEFING, new, expect=digest)
                changed = True
        except (ChangedMeanwhileError, ReadOnlyError) as error:
            if moved is not None:  # the tail still stands in MEMORY.md
                _take_back(root / NOTES, moved)
            if attempt == _ATTEMPTS - 1 or isinstance(error, ReadOnlyError):
                raise
            continue
        stamps.write(root, config, found, compiled.text, alarm=runs.alarm(root), started_ns=started, until=until)
        if compiled.notes_moved is None:
            break
    return compiled.text, changed


def compiled_text(root: Path, config: Config, *, now: datetime) -> str:
    """What MEMORY.md should say; nothing is written."""
    return _compile(root, config, now.date(), _read(root / BRIEFING)[0])[0].text


def explain(root: Path, config: Config, *, today: date | None = None) -> list[dict[str, Any]]:
    """Every candidate line of the store's briefing and whether it is in, best first by section. Writes nothing."""
    compiled, *_ = _compile(root, config, today or date.today(), _read(root / BRIEFING)[0])
    return [item.to_dict() for item in compiled.explain]


def decode(data: bytes) -> str:
    """The text of `data`: UTF-8, else UTF-16 by its byte-order mark, else Windows-1252, else Latin-1 (which takes all)."""
    encodings = ["utf-8-sig"]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encodings.append("utf-16")
    for encoding in (*encodings, "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode("latin-1")


def _read(path: Path) -> tuple[bytes, str]:
    try:
        file = read_file(path)
    except FileNotFoundError:
        return b"", ""
    except OSError as error:
        raise ReadOnlyError(str(path), error.strerror or str(error)) from error
    return file.data, file.digest


def _judged(root: Path) -> dict[str, float]:
    """What the judgements in the ledger add to the worth of the memories they are about; only their lines are decoded."""
    try:
        data = (root / ledger.FILE).read_bytes()
    except OSError:
        return {}
    marks = [f'"action": "{name}"'.encode() for name in ledger.JUDGEMENTS]
    if not any(mark in data for mark in marks):
        return {}
    lines = (line for line in data.split(b"\n") if any(mark in line for mark in marks))
    given = ledger.judgements(entry for entry in map(ledger.decode, lines) if entry is not None)
    return {id: usage.moved(verdicts) for id, verdicts in given.items()}


def _compile(root: Path, config: Config, today: date, data: bytes) -> tuple[Compiled, Scan, str]:
    """The briefing, the walk, and the next day on which something in it becomes stale ("" if nothing does)."""
    topics, found = read_gists(root, config)
    stamp = stamps.read(root)
    compiled = compile_briefing(
        topics, decode(data), config.briefing, today=today, last_text=stamp["text"] if stamp else None,
        waiting=inbox.count(root), judged=_judged(root), alarm=runs.alarm(root),
    )
    coming = (said.recheck for gist in topics for said in gist.memories if said.recheck > today.isoformat())
    return compiled, found, min(coming, default="")


@dataclass(frozen=True)
class _Moved:
    """notes.md before a tail was appended (None: there was none) and the digest of what was written."""

    old: bytes | None
    digest: str


def _append_notes(path: Path, tail: str) -> _Moved | None:
    old, digest = _read(path)
    new = tail.encode("utf-8")
    if old.rstrip().endswith(new.strip()):  # moved already, by a run that was killed before it wrote MEMORY.md
        return None
    gap = b"" if not old else b"\n" if old.endswith(b"\n") else b"\n\n"
    data = old + gap + new
    write_atomic(path, data, expect=digest)
    return _Moved(old if digest else None, digest_of(data))


def _take_back(path: Path, moved: _Moved) -> None:
    """notes.md as it was before `_append_notes`, unless someone has saved it since."""
    with contextlib.suppress(ChangedMeanwhileError, ReadOnlyError, FileNotFoundError):
        if moved.old is not None:
            write_atomic(path, moved.old, expect=moved.digest)
        elif _read(path)[1] == moved.digest:
            path.unlink()


def _keep_undecodable(root: Path, data: bytes) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        for name in ("MEMORY.bak", *(f"MEMORY.{number}.bak" for number in range(2, 100))):
            if not (root / name).exists():
                return write_atomic(root / name, data, expect="")
            if (root / name).read_bytes() == data:
                return
