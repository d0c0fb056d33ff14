"""In: nothing. Out: the two protocols every model implements, `Embedder` and `Generator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. All methods raise `ModelUnavailableError` when the model cannot serve."""

    @property
    def fingerprint(self) -> str:
        """Equal fingerprints mean comparable vectors: content hash of the weights, pooling, prefix, dimensions."""
        ...

    @property
    def dim(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """float32 of shape (len(texts), dim), rows L2-normalised."""
        ...

    def embed_query(self, text: str) -> np.ndarray:
        """float32 of shape (dim,), L2-normalised."""
        ...

    def close(self) -> None:
        """Lets go of the process that serves it, if there is one; the next call opens it again."""
        ...


@runtime_checkable
class Generator(Protocol):
    """A language model, used by scoring or by writing. Methods raise `ModelUnavailableError` when it cannot serve."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """What calibration results are recorded under: the weights' content hash where it is known."""
        ...

    def score(self, prefix: str, items: Sequence[str], labels: tuple[str, str]) -> list[float]:
        """For each item: logit of the first token of `labels[0]` minus that of `labels[1]` after prefix + item.

        Items end with the cue that the label follows (`"\\nAnswer:"`), labels start as the text goes on (`" yes"`).
        An item that is too long for the model is cut in its middle; its last words stay.
        """
        ...

    def write(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """The model's answer under the JSON schema; `ModelAnswerError` if what came is no such object."""
        ...

    def count_tokens(self, text: str) -> int: ...

    def close(self) -> None:
        """As `Embedder.close`."""
        ...
