"""Fixtures of the organizer's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, transcript
from repo_kit import CHECK, SAID, commit, git

from memoryfs.config import Config


@pytest.fixture
def judges() -> LineJudges:
    return LineJudges()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / ".memory"
    root.mkdir()
    return root


@pytest.fixture
def organize(store: Path, judges: LineJudges) -> Callable[..., Any]:
    """Runs the pipeline on the store with the line judges."""
    from organizer.pipeline import run

    def go(*paths: Path, **options: Any) -> Any:
        options.setdefault("config", Config())
        options.setdefault("now", NOW)
        options.setdefault("judges", judges)
        return run(store, paths=list(paths), **options)

    return go


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "school"
    repo.mkdir()
    git(repo, "init", "-q")
    commit(repo, {"src/auth.ts": CHECK, "src/mail.ts": "send()\n" * 30, "package.json": '{"react": "^18.2.0"}\n', "docs/a.md": "Port 8443.\n",
                  ".env.example": "SMTP_HOST=mail1.example.org\n"})
    return repo


@pytest.fixture
def say(tmp_path: Path, repo: Path, organize: Callable[..., Any]) -> Callable[..., Any]:
    """Organizes a session in the repository in which these lines were said."""
    def go(*lines: str, day: str = SAID, name: str = "s1", cwd: Path | None = None, **options: Any) -> Any:
        path = transcript(tmp_path / f"{name}.jsonl", name, day, [("user", "\n".join(lines)), ("assistant", "ok")], cwd=str(cwd or repo))
        return organize(path, **options)

    return go
