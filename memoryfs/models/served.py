"""In: the http(s) address of an OpenAI-compatible server (Ollama, llama-server, LM Studio, a cloud). Out: `Embedder`, `Generator`.

Used only when the settings name an address. Redirects are refused (a key must not follow one), a proxy of the environment
is used except for this machine itself, and the key, if any, comes from `MEMORYFS_API_KEY`.
"""

from __future__ import annotations

import json
import math
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.models.answers import parse_object
from memoryfs.models.prefixes import prefixes

if TYPE_CHECKING:
    import numpy as np

PROBE_SECONDS = 3.0
REQUEST_SECONDS = 300.0
BATCH = 64
ABSENT = -20.0  # log probability of a label that is not among the twenty likeliest
_LOCAL = {"localhost", "127.0.0.1", "::1"}
_REMEDY = "Start the server, or mend `models` in memoryfs.toml; --no-model works without."


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Server:
    """One base address, with or without `/v1`. Every failure is a `ModelUnavailableError`."""

    def __init__(self, url: str, *, request_seconds: float = REQUEST_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"not an http(s) address: {url}")
        base = url.rstrip("/")
        self.base = base if base.endswith("/v1") else base + "/v1"
        self.host = parts.hostname
        self._seconds = request_seconds
        handlers: list[Any] = [_NoRedirect()]
        if self.host in _LOCAL:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)
        self._probed = False
        self.first_model = ""

    def probe(self) -> None:
        """Once: is anyone there? Any answer will do; the list of models gives a name where none is set."""
        if self._probed:
            return
        try:
            data = self._send("/models", None, PROBE_SECONDS)
        except _Status:
            data = {}
        models = data.get("data") if isinstance(data, dict) else None
        if isinstance(models, list) and models and isinstance(models[0], dict):
            self.first_model = str(models[0].get("id", ""))
        self._probed = True

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        self.probe()
        try:
            return self._send(path, body, self._seconds)
        except _Status as error:
            raise ModelUnavailableError(f"{self.host} answered {error}", remedy=_REMEDY) from error

    def post_or(self, path: str, body: Mapping[str, Any], simpler: Mapping[str, Any]) -> dict[str, Any]:
        """`post`, with a simpler body for a server that does not know all of the first one (status 400 or 422)."""
        self.probe()
        try:
            return self._send(path, body, self._seconds)
        except _Status as error:
            if error.code not in (400, 422):
                raise ModelUnavailableError(f"{self.host} answered {error}", remedy=_REMEDY) from error
        return self.post(path, simpler)

    def _send(self, path: str, body: Mapping[str, Any] | None, seconds: float) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "User-Agent": "memoryfs"}
        if key := os.environ.get("MEMORYFS_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        data = None if body is None else json.dumps(body).encode("ascii")
        request = urllib.request.Request(self.base + path, data=data, headers=headers)
        try:
            with self._opener.open(request, timeout=seconds) as response:
                answer = json.loads(_whole(response, time.monotonic() + seconds))
        except urllib.error.HTTPError as error:
            with error:
                raise _Status(error.code, error.read(300).decode("utf-8", "replace")) from error
        except (OSError, ValueError) as error:
            raise ModelUnavailableError(f"{self.host}: {error}", remedy=_REMEDY) from error
        if not isinstance(answer, dict):
            raise ModelUnavailableError(f"{self.host}: the answer is no JSON object", remedy=_REMEDY)
        return answer


def _whole(response: Any, deadline: float) -> bytes:
    """The body, if it is there in time: a server that goes on sending a little does not hold us."""
    pieces = []
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("the answer did not end in time")
    return b"".join(pieces)


class _Status(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {' '.join(text.split())[:200]}")
        self.code = code


class ServedEmbedder:
    """`/v1/embeddings`. Its fingerprint is the model's name and dimensions: the weights are out of sight."""

    def __init__(self, url: str, model: str = "") -> None:
        self.server = Server(url)
        self._model = model

    @cached_property
    def model(self) -> str:
        if not self._model:
            self.server.probe()
        name = self._model or self.server.first_model
        if not name:
            raise ModelUnavailableError("no embedding model is named", remedy="Set models.embedder_name in memoryfs.toml.")
        return name

    @cached_property
    def dim(self) -> int:
        return int(self._embed(["dimension"]).shape[1])

    @cached_property
    def fingerprint(self) -> str:
        return f"served:{self.model}:{'/'.join(prefixes(self.model))}:{self.dim}"

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return self._embed([prefixes(self.model)[1] + t for t in texts])

    def embed_query(self, text: str) -> np.ndarray:
        return self._embed([prefixes(self.model)[0] + text])[0]

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        import numpy

        rows: list[Any] = []
        for i in range(0, len(texts), BATCH):
            batch = list(texts[i : i + BATCH])
            data = self.server.post("/embeddings", {"model": self.model, "input": batch}).get("data")
            try:
                ordered = sorted(data or (), key=lambda row: row.get("index", 0))
                block = numpy.asarray([row["embedding"] for row in ordered], dtype=numpy.float32)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ModelUnavailableError(f"{self.server.host}: no embeddings in the answer", remedy=_REMEDY) from error
            if block.ndim != 2 or len(block) != len(batch) or not numpy.isfinite(block).all():
                raise ModelUnavailableError(f"{self.server.host}: {len(batch)} texts sent, {block.shape} came back")
            rows.append(block)
        if not rows:
            return numpy.empty((0, self.dim), dtype=numpy.float32)
        out = numpy.concatenate(rows)
        return out / numpy.maximum(numpy.linalg.norm(out, axis=1, keepdims=True), 1e-12)

    def close(self) -> None:
        """Nothing is held open."""


class ServedGenerator:
    """`/v1/chat/completions`: scores from the likeliest first tokens, objects from a JSON-schema response format."""

    def __init__(self, url: str, model: str = "", *, request_seconds: float = REQUEST_SECONDS) -> None:
        self.server = Server(url, request_seconds=request_seconds)
        self._model = model
        self.evaluated = self.reused = self.cut = self.written = 0

    @cached_property
    def name(self) -> str:
        if not self._model:
            self.server.probe()
        return self._model or self.server.first_model or "default"

    @property
    def fingerprint(self) -> str:
        return f"served:{self.name}"

    def score(self, prefix: str, items: Sequence[str], labels: tuple[str, str]) -> list[float]:
        return [self._score(prefix + item, labels) for item in items]

    def _score(self, prompt: str, labels: tuple[str, str]) -> float:
        plain = self._body(prompt, 4)
        choice = self._choice(
            self.server.post_or("/chat/completions", {**plain, "logprobs": True, "top_logprobs": 20}, plain)
        )
        logprobs = choice.get("logprobs") or {}
        first = (logprobs.get("content") or [{}])[0]
        yes, no = (label.strip().casefold() for label in labels)
        if tops := first.get("top_logprobs"):
            return _weight(tops, yes) - _weight(tops, no)
        # No probabilities from this server: its word alone, as certain as a clear answer.
        said = str((choice.get("message") or {}).get("content") or "").strip().casefold()
        return 1.0 if said.startswith(yes) else -1.0 if said.startswith(no) else 0.0

    def write(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        body = self._body(prompt, max_tokens)
        strict = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
        choice = self._choice(
            self.server.post_or(
                "/chat/completions", {**body, "response_format": strict},
                {**body, "response_format": {"type": "json_object"}},
            )
        )
        return parse_object(str((choice.get("message") or {}).get("content") or ""), schema)

    def count_tokens(self, text: str) -> int:
        """An upper estimate (the tokenizer is out of sight): a token for every two bytes."""
        return math.ceil(len(text.encode("utf-8", "replace")) / 2)

    def _body(self, prompt: str, max_tokens: int) -> dict[str, Any]:
        return {
            "model": self.name, "messages": [{"role": "user", "content": prompt}], "temperature": 0,
            "max_tokens": max_tokens, "stream": False,
        }

    def _choice(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        usage = answer.get("usage")
        if isinstance(usage, dict):
            self.evaluated += int(usage.get("prompt_tokens") or 0)
            self.written += int(usage.get("completion_tokens") or 0)
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise ModelUnavailableError(f"{self.server.host}: no choice in the answer", remedy=_REMEDY)
        return choices[0]

    def close(self) -> None:
        """Nothing is held open."""


def _weight(tops: Sequence[Mapping[str, Any]], label: str) -> float:
    """Log of the summed probability of the tokens that begin `label` (case and leading space aside)."""
    total = 0.0
    for entry in tops:
        token = str(entry.get("token", "")).strip().casefold()
        if token and label.startswith(token):
            total += math.exp(float(entry.get("logprob", ABSENT)))
    return math.log(total) if total > 0 else ABSENT
