"""In: the `models` settings. Out: an open `Embedder` or `Generator`, or None where there is none to have.

A setting is `none`, `auto`, the name of a known model, a path to a GGUF file, or an http(s) address; several, with commas
between them, are a chain. `auto` looks only at this machine: no setting but an address ever causes a network call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memoryfs.config import Models
from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.models.protocols import Embedder, Generator

_REMEDY = "Mend `models` in memoryfs.toml, or set it to \"auto\" or \"none\"."


def open_generator(config: Models, seconds: float | None = None) -> Generator | None:
    """The generator of the settings; None for `none`, and for `auto` where no model is installed.

    `seconds` bounds the wait for each answer, and before it for a local model to load. Raises ModelUnavailableError for a
    named model or file that is not there, UsageError for a setting that is neither.
    """
    links = _links(config.generator, lambda one: _generator(one, config, {} if seconds is None else {"request_seconds": seconds}))
    if len(links) < 2:
        return links[0] if links else None
    from memoryfs.models.chain import ChainGenerator

    return ChainGenerator(links)


@contextmanager
def lent_generator(config: Models, given: Generator | None, seconds: float) -> Iterator[Generator | None]:
    """`given`, which stays open; else the generator of the settings, closed in the end. Raises as `open_generator`."""
    if given is not None:
        yield given
        return
    opened = open_generator(config, seconds)
    try:
        yield opened
    finally:
        if opened is not None:
            opened.close()


def open_embedder(config: Models) -> Embedder | None:
    """The embedder of the settings; as `open_generator`."""
    links = _links(config.embedder, lambda one: _embedder(one, config))
    if len(links) < 2:
        return links[0] if links else None
    from memoryfs.models.chain import ChainEmbedder

    return ChainEmbedder(links)


def _links(setting: str, make: Callable[[str], Any]) -> list[Any]:
    parts = [part.strip() for part in setting.split(",") if part.strip()]
    if len(parts) == 1:
        link = make(parts[0])
        return [link] if link is not None else []
    links, missing = [], None
    for part in parts:
        try:
            link = make(part)
        except ModelUnavailableError as error:
            missing = error
            continue
        if link is not None:
            links.append(link)
    if missing and not links:
        raise missing
    return links


def _generator(setting: str, config: Models, bound: dict[str, float]) -> Any:
    if setting == "none":
        return None
    if _is_url(setting):
        from memoryfs.models.served import ServedGenerator

        return ServedGenerator(setting, config.generator_name, **bound)
    path = _weights(setting, "generator")
    if path is None:
        return None
    from memoryfs.models.local import LlamaGenerator

    return LlamaGenerator(path, threads=config.threads, context=config.context, **bound)


def _embedder(setting: str, config: Models) -> Any:
    if setting == "none":
        return None
    if _is_url(setting):
        from memoryfs.models.served import ServedEmbedder

        return ServedEmbedder(setting, config.embedder_name)
    path = _weights(setting, "embedder")
    if path is None:
        return None
    from memoryfs.models.local import LlamaEmbedder, NanoEmbedder

    if path.suffix == ".bin":
        return NanoEmbedder(path, threads=config.threads)
    return LlamaEmbedder(path, threads=config.threads)


def _is_url(setting: str) -> bool:
    return setting.startswith(("http://", "https://"))


def _weights(setting: str, kind: str) -> Path | None:
    """The weights a setting means, as one file; None for `auto` on a machine without any."""
    from memoryfs.models import catalog

    if setting == "auto":
        return next((path for model in catalog.available(kind) if (path := model.ready())), None)
    known = catalog.by_name(setting)
    if known and known.kind == kind:
        if path := known.ready():
            return path
        how = known.to_dict()["install"]
        raise ModelUnavailableError(f"{setting} is not on this machine", remedy=f"{how}, or work with --no-model.")
    path = Path(setting).expanduser()
    if path.suffix.casefold() != ".gguf":
        raise UsageError(f"`{setting}` is no {kind}: give auto, none, a known name, a .gguf file or an http(s) address",
                         remedy="`memoryfs models list` shows the known names.")
    if not path.is_file():
        raise ModelUnavailableError(f"no file {path}", remedy=_REMEDY)
    return path
