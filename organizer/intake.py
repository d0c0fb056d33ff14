"""In: transcripts named by a person or found by the scan. Out: threads in the store, and what was taken in.

The importer skips what it has read before; here OpenCode's sessions become files it can read, and progress is told.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.importers import find_transcripts, import_paths
from memoryfs.importers.cleaning import clean_problem
from memoryfs.model import Problem
from memoryfs.redact import redact
from memoryfs.textfile import STATE, write_atomic
from organizer import opencode

EXPORTS = "opencode"

Progress = Callable[[str, int, int, str], None]


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken in: files looked at, threads they hold, events added, secrets redacted, and the problems."""

    files: int
    threads: tuple[str, ...]
    added: int
    redactions: int
    problems: tuple[Problem, ...]

    def to_dict(self) -> dict[str, int]:
        return {"files": self.files, "threads": len(self.threads), "added": self.added, "redactions": self.redactions}


def take_in(
    root: Path, paths: Sequence[Path], stored: Iterable[opencode.Stored] = (), *, progress: Progress
) -> Taken:
    """Imports every transcript below `paths` and every session of `stored`; what is known already adds nothing."""
    problems: list[Problem] = []
    files = list(find_transcripts(paths))
    for session in stored:
        try:
            files.append(_exported(root, session))
        except (OSError, ValueError, sqlite3.Error) as error:
            problems.append(clean_problem(Problem(
                str(session.origin), f"session {session.id} cannot be read: {error}", "Use `opencode export` and `memoryfs import`."
            )))
    report = import_paths(root, files, progress=lambda done, of, name: progress("import", done, of, name))
    progress("import", len(files), len(files), "")
    return Taken(
        len(files), tuple(dict.fromkeys(o.thread for o in report.outcomes)), sum(o.added for o in report.outcomes),
        report.redactions, (*problems, *report.problems),
    )


def _exported(root: Path, session: opencode.Stored) -> Path:
    """The session's export, kept beside the index without its secrets, so that an answer's source can be looked up."""
    path = root / STATE / EXPORTS / opencode.export_name(session)
    if path.exists() and path.stat().st_mtime >= session.modified:
        return path
    data = _redacted(json.loads(opencode.export(session)))
    write_atomic(path, json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return path


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, list):
        return [_redacted(v) for v in value]
    if isinstance(value, dict):
        return {k: _redacted(v) for k, v in value.items()}
    return value
