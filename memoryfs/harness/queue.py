"""In: the transcript of a session that ended, or is about to be compacted. Out: a note in `.memoryfs/queue/` for the organizer.

One small file a transcript, named by a hash of its path, and without the secrets in it: noting it twice changes nothing, and many sessions can at once.
`organize` reads the notes and removes those it has dealt with.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memoryfs.harness.hidden import find, hide
from memoryfs.harness.seen import digest

FOLDER = ".memoryfs/queue"
FINAL = ("session-end", "pre-compact")  # the transcript can be read now; after `stop` the session may still go on


@dataclass(frozen=True)
class Queued:
    """A transcript to organize; `final` if nothing need be waited for."""

    path: Path
    event: str = ""
    cwd: str = ""

    @property
    def final(self) -> bool:
        return self.event in FINAL


def add(root: Path, transcript: str, *, event: str, cwd: str = "") -> bool:
    """Note a transcript; False where there is nothing to note or it cannot be. A final note is not weakened by a later one."""
    if not transcript or not os.path.isfile(transcript):
        return False
    path = root / FOLDER / f"{digest(os.path.abspath(transcript))}.json"
    if event not in FINAL and path.exists():
        return True
    note = {"path": hide(os.path.abspath(transcript)), "event": event, "cwd": hide(cwd)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(note), encoding="utf-8")
        os.replace(temporary, path)
    except OSError:
        return False
    return True


def read(root: Path) -> tuple[Queued, ...]:
    """What waits, in a fixed order; notes that cannot be read, or whose transcript is gone, are left out."""
    found = []
    for path in sorted((root / FOLDER).glob("*.json")):
        try:
            note = json.loads(path.read_bytes())
            queued = Queued(Path(find(note["path"])), str(note.get("event", "")), find(str(note.get("cwd", ""))))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
        if queued.path.is_file():
            found.append(queued)
    return tuple(found)


def remove(root: Path, transcripts: Iterable[Path]) -> None:
    """Drop the notes of `transcripts`, and those whose transcript is gone."""
    done = {os.path.abspath(path) for path in transcripts}
    for path in (root / FOLDER).glob("*.json"):
        with contextlib.suppress(OSError):
            try:
                target = find(json.loads(path.read_bytes())["path"])
            except (ValueError, TypeError, KeyError, AttributeError):
                target = ""
            if target in done or not os.path.isfile(target):
                path.unlink()
