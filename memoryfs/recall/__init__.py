"""In: an index and a question. Out: `Recall`: memories, verbatim evidence, or an honest nothing.

The steps, one module each: analyse the question (`query`, `time`, `decide`), retrieve (`retrieve`, with `memories`,
`events` and `fuse`), go up the levels as far as needed, extract (`extract`), and abstain when support is weak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memoryfs.index.core import Index
    from memoryfs.models.protocols import Embedder
    from memoryfs.recall.run import recall

__all__ = ["dedupe", "recall"]


def __getattr__(name: str) -> Any:
    if name == "recall":  # when first used: a hook needs only `retrieve`
        from memoryfs.recall.run import recall

        return recall
    raise AttributeError(name)


def dedupe(index: Index, text: str, *, embedder: Embedder | None = None) -> dict[str, Any]:
    """Whether the store holds the statement already; see `memoryfs.recall.duplicates`."""
    from memoryfs.recall.duplicates import dedupe as judge

    return index.guarded(lambda: judge(index, text, embedder=embedder))
