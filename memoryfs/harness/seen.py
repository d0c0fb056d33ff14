"""In: a session's id and what it was given. Out: a small file in `.memoryfs/hooks/`, so that nothing is given twice.

Derived and disposable; at most KEPT files, the oldest go first. A file that cannot be read or written means only that
something may be said again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = ".memoryfs/hooks"
KEPT = 200
MAX_IDS = 1000


@dataclass
class Seen:
    """`ids` of memories the session was given; `briefing` is the digest of the briefing it was given, "" if none."""

    ids: set[str] = field(default_factory=set)
    briefing: str = ""


def digest(text: str) -> str:
    """16 hex digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def load(root: Path, session: str) -> Seen:
    """What `session` was given by the store at `root`."""
    if not session:
        return Seen()
    try:
        data: Any = json.loads(_path(root, session).read_bytes())
        ids, briefing = data["ids"], data["briefing"]
        return Seen({str(i) for i in ids}, str(briefing))
    except (OSError, ValueError, TypeError, KeyError):
        return Seen()


def save(root: Path, session: str, seen: Seen) -> None:
    """Write it down, and drop the oldest files beyond KEPT."""
    if not session:
        return
    path = _path(root, session)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps({"ids": sorted(seen.ids)[:MAX_IDS], "briefing": seen.briefing}), encoding="utf-8")
        os.replace(temporary, path)
        if new:
            _prune(path.parent)


def _path(root: Path, session: str) -> Path:
    return root / FOLDER / f"{digest(session)}.json"


def _prune(folder: Path) -> None:
    entries = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            entries.append((entry.stat().st_mtime, entry.path))
    for _, path in sorted(entries)[:-KEPT]:
        with contextlib.suppress(OSError):
            os.unlink(path)
