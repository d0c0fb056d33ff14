"""In: a store after the sessions of a run. Out: its topics put in order: front matter fresh, large ones split; what was done.

Looked at when the ledger has grown since the last time: what nobody touched needs no putting in order.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits.load import load_topics
from memoryfs.errors import ReadOnlyError
from memoryfs.files import BRIEFING
from memoryfs.model import Problem
from memoryfs.textfile import STATE, write_atomic
from organizer import split
from organizer.apply import Plan
from organizer.journal import Work

STAMP = "tidied.json"
VERSION = 1  # of what is looked at; raise it when this stage learns to do more


@dataclass
class Tidied:
    """What was done, in words, and what could not be."""

    notices: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def tidy(root: Path, config: Config, *, now: datetime, write: Callable[[Work, list[ledger.Entry]], list[Problem]]) -> Tidied:
    """Puts the topics in order. `write` carries out a piece of work under the journal, so that a kill loses nothing of it.

    Raises ReadOnlyError.
    """
    out = Tidied()
    if _stamp(root, config) == _read(root):
        return out
    entries = list(ledger.read(root)[0])
    for part in split.due(load_topics(root, config), entries, config, briefing=_text(root / BRIEFING)):
        out.problems += write(Work("", 0, 0, 0, now.isoformat(timespec="seconds"), Plan(), parts=(part,)), entries)
        out.notices.append(f"split {part.source}: {len(part.ids)} memories that speak of {part.word} stand in {part.path} now")
    with contextlib.suppress(ReadOnlyError):  # without it the next run looks again
        write_atomic(root / STATE / STAMP, json.dumps(_stamp(root, config)).encode())
    return out


def _stamp(root: Path, config: Config) -> dict[str, int]:
    try:
        size = os.stat(root / ledger.FILE).st_size
    except FileNotFoundError:
        size = 0
    return {"version": VERSION, "ledger": size, "split": config.organize.topic_split_memories}


def _read(root: Path) -> object:
    try:
        return json.loads((root / STATE / STAMP).read_bytes())
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
