"""In: nothing. Out: the nouns of hand-edit adoption: what was found, what must be written to which file, what the ledger records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoryfs.ledger import Entry
from memoryfs.model import EMPTY, Problem


@dataclass(frozen=True, slots=True)
class Change:
    """What was done: a ledger action, or `exists` (known already), `ignored` (withdrawn before), `nothing`."""

    action: str
    id: str
    topic: str
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        out = {"action": self.action, "id": self.id, "topic": self.topic}
        return out | ({"detail": self.detail} if self.detail else {})


@dataclass(frozen=True, slots=True)
class Step:
    """One edit of one file. `kind` is adopt, person, reword, strike, supersede, withdraw, unreview or unsay.

    `id` is the memory's or the review's; `text` the bullet's text for adopt and reword, the summary that must go for unsay; `by`
    the pointer for supersede.
    """

    kind: str
    id: str
    text: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One understood hand edit: its steps by file, and the entries to record once those files are written."""

    change: Change
    entries: tuple[Entry, ...]
    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class AdoptReport:
    """`changes` were understood (and, unless it was a dry run, written and recorded); `problems` name what was put off."""

    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "changes": [c.to_dict() for c in self.changes], "problems": [p.to_dict() for p in self.problems],
            "files": list(self.files),
        }
