"""Real git repositories for the organizer's tests, and what memories say of them."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from organizer_kit import NOW

from memoryfs import MemoryStore, staleness

SAID = "2026-05-01"
LATER = datetime(2026, 5, 20, 12, tzinfo=UTC)
CHECK = "export function validateEmail(text) {\n  return ALLOWED.test(text)\n}\n"
FILE = "The e-mail check stands in src/auth.ts."
SYMBOL = "Addresses pass through validateEmail before they are saved."


def git(cwd: Path, *words: str, at: datetime | None = None) -> str:
    stamp = (at or datetime(2026, 4, 1, tzinfo=UTC)).isoformat()
    environ = os.environ | {"GIT_COMMITTER_DATE": stamp, "GIT_AUTHOR_DATE": stamp}
    done = subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", *words],
        cwd=cwd, env=environ, check=True, capture_output=True, timeout=30, text=True)
    return done.stdout.strip()


def commit(repo: Path, files: dict[str, str | None], at: datetime | None = None) -> None:
    """One commit that writes these files, or, with None, takes them out."""
    for name, text in files.items():
        path = repo / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "work", "--allow-empty", at=at)


def stale(store: Path, today: datetime = NOW) -> dict[str, str]:
    """The stale memories by their words, with the reason."""
    return {m.summary: why for m in MemoryStore.open(store).list() if (why := staleness.why(m, today.date()))}
