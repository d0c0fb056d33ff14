"""A project with a store."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness_kit import make_store


@pytest.fixture
def store(tmp_path) -> Path:
    """The store of the project `tmp_path/app`."""
    return make_store(tmp_path / "app" / ".memory")
