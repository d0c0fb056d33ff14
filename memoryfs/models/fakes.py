"""In: a script, or nothing. Out: a `Generator` and an `Embedder` for tests and for trying things without a model.

Both record what they were asked, so that a test can look at prompts and count calls.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memoryfs.errors import ModelAnswerError

if TYPE_CHECKING:
    import numpy as np

_WORD = re.compile(r"\w+")


class ScriptedGenerator:
    """Scores by `score_of(item)`, or by the first key of a mapping found in the item (0.0 if none); writes `answers` in turn.

    An answer that is an exception is raised. When the answers are used up, `write` raises ModelAnswerError.
    """

    def __init__(
        self,
        scores: Callable[[str], float] | Mapping[str, float] | None = None,
        answers: Iterable[dict[str, Any] | Exception] = (),
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.fingerprint = f"scripted:{name}"
        self._scores = scores
        self._answers = iter(answers)
        self.scored: list[tuple[str, str]] = []  # (prefix, item)
        self.prompts: list[str] = []

    def score(self, prefix: str, items: Sequence[str], labels: tuple[str, str]) -> list[float]:
        self.scored += [(prefix, item) for item in items]
        return [self._score(item) for item in items]

    def _score(self, item: str) -> float:
        if callable(self._scores):
            return float(self._scores(item))
        return next((value for key, value in (self._scores or {}).items() if key in item), 0.0)

    def write(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        self.prompts.append(prompt)
        answer = next(self._answers, None)
        if answer is None:
            raise ModelAnswerError("the script has no more answers")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    def close(self) -> None:
        """Nothing is held open."""


class HashEmbedder:
    """Words hashed into `dim` signed buckets (feature hashing): texts that share words are near, on every machine alike."""

    def __init__(self, dim: int = 64, salt: str = "") -> None:
        self.dim = dim
        self._salt = salt
        self.fingerprint = f"hash:{salt}:{dim}"
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        import numpy

        self.embedded += texts
        out = numpy.zeros((len(texts), self.dim), dtype=numpy.float32)
        for row, text in zip(out, texts, strict=True):
            # A text without words still gets a direction: a zero vector has none.
            for word in _WORD.findall(text.casefold()) or [text]:
                digest = hashlib.sha256(f"{self._salt}\0{word}".encode("utf-8", "replace")).digest()
                row[int.from_bytes(digest[:4], "big") % self.dim] += 1.0 if digest[4] & 1 else -1.0
        norms = numpy.linalg.norm(out, axis=1, keepdims=True)
        out[norms[:, 0] == 0, 0] = 1.0  # words that cancelled each other
        return out / numpy.maximum(numpy.linalg.norm(out, axis=1, keepdims=True), 1e-12)

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_passages([text])[0]

    def close(self) -> None:
        """Nothing is held open."""
