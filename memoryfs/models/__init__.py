"""In: the `models` settings of a store. Out: `open_embedder` and `open_generator`; everything else is a module away."""

from __future__ import annotations

from memoryfs.models.opening import lent_generator, open_embedder, open_generator
from memoryfs.models.protocols import Embedder, Generator

__all__ = ["Embedder", "Generator", "lent_generator", "open_embedder", "open_generator"]
