"""In: an index and a question. Out: `Recall`: memories, verbatim evidence, or an honest nothing.

The steps, one module each: analyse the question (`query`, `time`, `decide`), retrieve (`retrieve`, with `memories`,
`events` and `fuse`), go up the levels as far as needed, extract (`extract`), and abstain when support is weak.
"""

from __future__ import annotations

from memoryfs.recall.dedupe import dedupe
from memoryfs.recall.run import recall

__all__ = ["dedupe", "recall"]
