"""In: several generators, or embedders, in order. Out: one: the first that answers serves.

A generator that becomes unavailable hands over to the next for good. An embedder is chosen once, before its fingerprint
is told: vectors of two models must never mix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from memoryfs.errors import ModelUnavailableError
from memoryfs.models.protocols import Embedder, Generator

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


class ChainGenerator:
    """Tries `links` in order; `notices` says which of them were given up, and why."""

    def __init__(self, links: Sequence[Generator]) -> None:
        if not links:
            raise ValueError("a chain needs a link")
        self._links = list(links)
        self.notices: list[str] = []

    @property
    def current(self) -> Generator:
        return self._links[0]

    @property
    def name(self) -> str:
        return self._try(lambda g: g.name)

    @property
    def fingerprint(self) -> str:
        return self._try(lambda g: g.fingerprint)

    def score(self, prefix: str, items: Sequence[str], labels: tuple[str, str]) -> list[float]:
        return self._try(lambda g: g.score(prefix, items, labels))

    def write(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        return self._try(lambda g: g.write(prompt, schema, max_tokens))

    def count_tokens(self, text: str) -> int:
        return self._try(lambda g: g.count_tokens(text))

    def _try(self, use: Callable[[Generator], T]) -> T:
        while True:
            try:
                return use(self.current)
            except ModelUnavailableError as error:
                if len(self._links) == 1:
                    raise
                self.notices.append(error.message)
                self._links.pop(0).close()

    def close(self) -> None:
        for link in self._links:
            link.close()


class ChainEmbedder:
    """The first of `links` that embeds a word; chosen at first use and kept."""

    def __init__(self, links: Sequence[Embedder]) -> None:
        if not links:
            raise ValueError("a chain needs a link")
        self._links = list(links)
        self._chosen: Embedder | None = None
        self.notices: list[str] = []

    @property
    def current(self) -> Embedder:
        if self._chosen is None:
            for i, link in enumerate(self._links):
                try:
                    link.embed_query("ready?")
                except ModelUnavailableError as error:
                    self.notices.append(error.message)
                    if i == len(self._links) - 1:
                        raise
                else:
                    self._chosen = link
                    break
        assert self._chosen is not None
        return self._chosen

    @property
    def fingerprint(self) -> str:
        return self.current.fingerprint

    @property
    def dim(self) -> int:
        return self.current.dim

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return self.current.embed_passages(texts)

    def embed_query(self, text: str) -> np.ndarray:
        return self.current.embed_query(text)

    def close(self) -> None:
        for link in self._links:
            link.close()
