"""In: a walk over the store and what was last written. Out: whether MEMORY.md is still right: `.memoryfs/brief.json`.

Derived and disposable. It also holds the text that was last written, so that words a person typed outside Notes are
found. Imports nothing slow.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from memoryfs.config import Config
from memoryfs.errors import ReadOnlyError
from memoryfs.files import Scan

FILE = ".memoryfs/brief.json"
VERSION = 2  # of the compiled form; raise it when the same input gives other bytes


def read(root: Path) -> dict[str, Any] | None:
    """The stamp; None if there is none that this version wrote."""
    try:
        stamp = json.loads((root / FILE).read_bytes())
    except (OSError, ValueError):
        return None
    valid = isinstance(stamp, dict) and isinstance(stamp.get("text"), str) and stamp.get("version") == VERSION
    return stamp if valid else None


def fingerprint(found: Scan, config: Config, alarm: str = "") -> str:
    """Of path, size, times and inode of every topic file, of the caps and of the alarm."""
    rows = [(f.path, *f.stat) for f in found.files]
    return hashlib.sha256(repr((VERSION, config.briefing, alarm, rows)).encode("utf-8", "surrogatepass")).hexdigest()


def holds(stamp: dict[str, Any], found: Scan, config: Config, alarm: str = "", today: str = "") -> bool:
    """Whether no topic file changed since the stamp was written, nor the alarm, and no memory became stale until `today`
    (ISO 8601)."""
    passed = bool(stamp.get("until")) and today >= str(stamp["until"])
    return not stamp.get("racy") and not passed and stamp.get("fingerprint") == fingerprint(found, config, alarm)


def write(root: Path, config: Config, found: Scan, text: str, *, alarm: str = "", started_ns: int, until: str = "") -> None:
    """Writes the stamp for `text`; `started_ns` is the time just before `found` was walked; `until`: the next day on which
    a memory becomes stale, "" for none.

    A file changed within the clock's grain of that moment could change again unseen: the stamp then says so and does
    not hold. Where the folder cannot be written there is no stamp, and the next briefing is compiled again.
    """
    from memoryfs.textfile import write_atomic

    racy = any(file.changed_about(started_ns) for file in found.files)
    stamp = {"version": VERSION, "fingerprint": fingerprint(found, config, alarm), "racy": racy, "until": until, "text": text}
    with contextlib.suppress(ReadOnlyError):
        write_atomic(root / FILE, json.dumps(stamp, ensure_ascii=False).encode("utf-8"))
