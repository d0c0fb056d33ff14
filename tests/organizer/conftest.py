"""Fixtures of the organizer's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges

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
