"""Small made-up transcripts for the tests of importers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memoryfs.importers import ImportReport, import_paths
from memoryfs.model import Event
from memoryfs.thread import iter_events, list_threads

SESSION = "11111111-2222-3333-4444-555555555555"


def claude(kind: str, content: Any, second: int = 0, **more: Any) -> dict[str, Any]:
    """One record of a Claude Code session."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/w/app",
        "sessionId": SESSION,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": f"u{second}",
        "timestamp": f"2026-05-12T10:{second // 60:02}:{second % 60:02}Z",
        **more,
    }


def codex(kind: str, payload: dict[str, Any], second: int = 0) -> dict[str, Any]:
    """One record of a Codex rollout."""
    return {
        "timestamp": f"2026-05-12T10:{second // 60:02}:{second % 60:02}Z",
        "type": kind,
        "payload": payload,
    }


def write_lines(path: Path, records: list[Any], end: str = "\n") -> Path:
    text = "\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records)
    path.write_bytes((text + end).encode("utf-8", "surrogatepass"))
    return path


def imported(root: Path, *paths: Path, **options: Any) -> tuple[ImportReport, list[Event]]:
    """The report, and every event of the store in thread order."""
    report = import_paths(root, paths, **options)
    return report, [e for name in list_threads(root) for e in iter_events(root, name)]


def told(events: list[Event]) -> list[tuple[str, str, str | None]]:
    """(role, text, skip) of events."""
    return [(e.role, e.text, e.metadata.get("skip")) for e in events]
