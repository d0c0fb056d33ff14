"""In: a store's folder. Out: the text of MEMORY.md, fresh: read as it is when nothing changed, else compiled and written first.

The unchanged path imports nothing slow: one walk with os.scandir against the stamp in `.memoryfs/brief.json`, which also holds what was
last written, so that words a person typed outside Notes are found. A tail of Notes that has no room is first
appended to notes.md, then taken from MEMORY.md: a kill between leaves it in both, and the next run finds it there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from datetime import datetime
from pathlib import Path

from memoryfs.config import Config
from memoryfs.errors import ChangedMeanwhileError, ReadOnlyError
from memoryfs.files import BRIEFING, NOTES, Scan, scan

_STAMP = ".memoryfs/brief.json"
_VERSION = 1  # of the compiled form; raise it when the same input gives other bytes
_TICK_NS = 2_000_000_000  # coarsest clock of a file system (FAT); a file this young may change unseen
_ATTEMPTS = 5


def read_fresh(root: Path, config: Config, *, now: datetime | None = None) -> str:
    """The briefing. In a store that cannot be written it is compiled and returned, not kept.

    Raises ReadOnlyError only for a MEMORY.md that is a link to nowhere.
    """
    stamp = _read_stamp(root)
    if stamp and not stamp.get("racy") and stamp.get("fingerprint") == _fingerprint(scan(root, config), config):
        try:
            data = (root / BRIEFING).read_bytes()
        except OSError:
            data = None
        if data is not None and data == stamp["text"].encode("utf-8"):
            return stamp["text"]
    when = now or datetime.now().astimezone()
    try:
        return _refresh(root, config, when)[0]
    except ReadOnlyError:
        if os.path.islink(root / BRIEFING) and not (root / BRIEFING).exists():
            raise
        return _compile(root, config, when, *current_text(root))[0].text


def refresh(root: Path, config: Config, *, now: datetime) -> bool:
    """Compiles MEMORY.md and writes it (and the overflow of Notes to notes.md) where bytes change; True if they did.

    A MEMORY.md that is not UTF-8 is read as UTF-16 or Windows-1252 and kept as it was beside, as MEMORY.bak.
    Raises ReadOnlyError; ChangedMeanwhileError if someone saves MEMORY.md again and again meanwhile.
    """
    return _refresh(root, config, now)[1]


def current_text(root: Path) -> tuple[str, str | None]:
    """MEMORY.md as it stands ("" if there is none) and as we last wrote it (None if not known)."""
    stamp = _read_stamp(root)
    try:
        data = (root / BRIEFING).read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise ReadOnlyError(str(root / BRIEFING), error.strerror) from error
    return decode(data), stamp["text"] if stamp else None


def decode(data: bytes) -> str:
    """The text of `data`: UTF-8, else UTF-16 by its byte-order mark, else Windows-1252, else Latin-1 (which takes all)."""
    encodings = ["utf-8-sig"]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encodings.append("utf-16")
    for encoding in (*encodings, "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode("latin-1")


def _read_stamp(root: Path) -> dict | None:
    try:
        stamp = json.loads((root / _STAMP).read_bytes())
    except (OSError, ValueError):
        return None
    valid = isinstance(stamp, dict) and isinstance(stamp.get("text"), str) and stamp.get("version") == _VERSION
    return stamp if valid else None


def _fingerprint(found: Scan, config: Config) -> str:
    rows = [(f.path, f.size, f.mtime_ns, f.ctime_ns, f.inode) for f in found.files]
    return hashlib.sha256(repr((_VERSION, config.briefing, rows)).encode("utf-8", "surrogatepass")).hexdigest()


def _compile(root: Path, config: Config, now: datetime, old: str, last: str | None):
    from memoryfs.briefing import compile_briefing
    from memoryfs.files import read_topics

    topics, found = read_topics(root, config)
    compiled = compile_briefing(
        topics.values(), old, config.briefing, today=now.date(), last_text=last,
    )
    return compiled, found


def _refresh(root: Path, config: Config, now: datetime) -> tuple[str, bool]:
    from memoryfs.textfile import read_file, write_atomic

    path = root / BRIEFING
    changed = False
    for attempt in range(_ATTEMPTS):
        try:
            file = read_file(path)
            data, digest = file.data, file.digest
        except FileNotFoundError:
            data, digest = b"", ""
        except OSError as error:
            raise ReadOnlyError(str(path), error.strerror or str(error)) from error
        stamp = _read_stamp(root)
        started = time.time_ns()
        compiled, found = _compile(root, config, now, decode(data), stamp["text"] if stamp else None)
        try:
            if compiled.notes_moved is not None:
                _append_notes(root, compiled.notes_moved)
            _keep_undecodable(root, data)
            new = compiled.text.encode("utf-8")
            if new != data or not digest:
                write_atomic(path, new, expect=digest)
                changed = True
        except ChangedMeanwhileError:
            if attempt == _ATTEMPTS - 1:
                raise
            continue
        _write_stamp(root, config, found, compiled.text, started, stamp)
        if compiled.notes_moved is None:
            break
    return compiled.text, changed


def _append_notes(root: Path, tail: str) -> None:
    from memoryfs.textfile import read_file, write_atomic

    path = root / NOTES
    try:
        file = read_file(path)
        old, digest = file.data, file.digest
    except FileNotFoundError:
        old, digest = b"", ""
    except OSError as error:
        raise ReadOnlyError(str(path), error.strerror or str(error)) from error
    new = tail.encode("utf-8")
    if old.rstrip().endswith(new.strip()):  # moved already, by a run that was killed before it wrote MEMORY.md
        return
    gap = b"" if not old else b"\n" if old.endswith(b"\n") else b"\n\n"
    write_atomic(path, old + gap + new, expect=digest)


def _keep_undecodable(root: Path, data: bytes) -> None:
    from memoryfs.textfile import write_atomic

    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        for name in ("MEMORY.bak", *(f"MEMORY.{number}.bak" for number in range(2, 100))):
            backup = root / name
            if not backup.exists():
                write_atomic(backup, data, expect="")
                return
            if backup.read_bytes() == data:
                return


def _write_stamp(root: Path, config: Config, found: Scan, text: str, started: int, old: dict | None) -> None:
    from memoryfs.textfile import write_atomic

    young = started - _TICK_NS
    racy = any(young <= moment <= started + _TICK_NS for f in found.files for moment in (f.mtime_ns, f.ctime_ns))
    stamp = {"version": _VERSION, "fingerprint": _fingerprint(found, config), "racy": racy, "text": text}
    if stamp != old:
        with contextlib.suppress(ReadOnlyError):  # without a stamp the next briefing is compiled again, that is all
            write_atomic(root / _STAMP, json.dumps(stamp, ensure_ascii=False).encode("utf-8"))
