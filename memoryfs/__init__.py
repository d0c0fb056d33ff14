"""In: a store directory. Out: `MemoryStore`, the verbs of memoryfs for Python programs."""

from __future__ import annotations

from typing import Any

__all__ = ["MemoryStore"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Lazy, so that `import memoryfs.cli` costs no more than the command that runs.
    if name == "MemoryStore":
        from memoryfs.store import MemoryStore

        return MemoryStore
    raise AttributeError(name)
