"""In: a store's folder. Out: its index, opened (`open`) and ready to `sync`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.index.core import Index
from memoryfs.index.pool import borrowed
from memoryfs.index.sync import SyncReport

if TYPE_CHECKING:
    from memoryfs.models.protocols import Embedder

__all__ = ["Index", "SyncReport", "borrowed", "open"]


def open(root: str | os.PathLike[str], *, embedder: Embedder | None = None) -> Index:
    """Open (or make) the index of the store in `root`; call `sync` before searching. Raises NewerSchemaError."""
    return Index(Path(root), embedder=embedder)
