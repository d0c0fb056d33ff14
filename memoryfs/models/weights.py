"""In: names of installed packages and files. Out: paths of model weights, and their content hashes.

Nothing here reads the network or imports a model package: a package is found by its spec, its files by their folder.
The cache is `$XDG_CACHE_HOME/memoryfs` (default `~/.cache/memoryfs`); models live in its folder `models`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from collections.abc import Sequence
from pathlib import Path

from memoryfs.errors import ModelUnavailableError, ReadOnlyError
from memoryfs.textfile import write_atomic

_BLOCK = 1 << 20


def cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "memoryfs"


def models_dir() -> Path:
    return cache_dir() / "models"


def package_dir(package: str) -> Path | None:
    """The folder of an installed package, without importing it; None if it is not there."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        return Path(folder)
    return None


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(path: Path, cache: Path | None = None) -> str:
    """SHA-256 of the file in hex, remembered by path, size and time of change in `hashes.json` of the cache.

    Raises ModelUnavailableError if the file cannot be read; a cache that cannot be read or written costs only time.
    """
    store = (cache or cache_dir()) / "hashes.json"
    try:
        stat = path.stat()
        key, stamp = str(path.resolve()), [stat.st_size, stat.st_mtime_ns]
        known = _read_hashes(store)
        entry = known.get(key)
        if isinstance(entry, list) and entry[:2] == stamp and len(entry) == 3:
            return str(entry[2])
        digest = sha256_file(path)
    except OSError as error:
        raise ModelUnavailableError(f"cannot read {path}: {error.strerror or error}") from error
    known[key] = [*stamp, digest]
    # No cache, no harm: the hash is computed again next time.
    with contextlib.suppress(ReadOnlyError):
        write_atomic(store, json.dumps(known, indent=0, sort_keys=True).encode())
    return digest


def _read_hashes(path: Path) -> dict[str, object]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def join_parts(parts: Sequence[Path], target: Path, sha256: str) -> Path:
    """`target`, made of `parts` in order if it is not there yet; it appears whole or not at all.

    Several processes may join at once: each writes its own temporary file, the last rename wins with equal bytes.
    Raises ModelUnavailableError when a part is missing, the disk is full, or the bytes are not the expected ones.
    """
    import tempfile

    size = 0
    try:
        size = sum(part.stat().st_size for part in parts)
        if target.is_file() and target.stat().st_size == size:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=target.name + ".", suffix=".part")
        try:
            digest = hashlib.sha256()
            with os.fdopen(descriptor, "wb") as out:
                for part in parts:
                    with part.open("rb") as file:
                        while block := file.read(_BLOCK):
                            digest.update(block)
                            out.write(block)
            if digest.hexdigest() != sha256:
                raise ModelUnavailableError(
                    f"the parts of {target.name} do not add up to it (SHA-256 differs)",
                    remedy="Reinstall the model's packages: pip install --force-reinstall 'memoryfs[gemma]'",
                )
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            raise
    except OSError as error:
        raise ModelUnavailableError(
            f"cannot put {target.name} together in {target.parent}: {error.strerror or error}",
            remedy=f"It needs {size >> 20} MB there; XDG_CACHE_HOME chooses another place. --no-model works without.",
        ) from error
    return target
