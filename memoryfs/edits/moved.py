"""In: a store's ledger and a memory's id. Out: where the memory went, if it left for another store."""

from __future__ import annotations

import os
from pathlib import Path

from memoryfs import ledger


def moved_to(root: Path, id: str) -> str:
    """Where the ledger says that the memory went, as `STORE/projects/x.md#^m-…`; "" if it did not leave the store."""
    last = next((e for e in reversed(ledger.read(root)[0]) if e.id == id), None)
    if last is None or last.action != "move" or not isinstance(last.extra.get("to_store"), str):
        return ""
    return os.path.join(last.extra["to_store"], str(last.extra.get("to", "")))
