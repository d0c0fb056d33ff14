"""In: a path. Out: a name for it that holds no secret, and the path again: what would tell one is written as a digest and looked up."""

from __future__ import annotations

import hashlib
import os

from memoryfs.patterns import lazy

_MARK = "sha256:"
# Folders and transcripts as harnesses name them. Only other paths are asked whether they hold a secret: a hook has little time.
_ORDINARY = lazy(
    r"(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[A-Za-z]{1,20}(?![A-Za-z0-9])|[A-Za-z0-9]{1,10}(?![A-Za-z0-9])|[/._ ~-])*+"
)


def hide(path: str) -> str:
    """The path, each part that tells a secret as its digest."""
    if _ORDINARY.fullmatch(path):
        return path
    from memoryfs.redact import redact

    if not redact(path).spans:
        return path
    parts = path.split(os.sep)
    telling = [bool(redact(part).spans) for part in parts]
    if not any(telling):  # only several together do
        telling = [bool(part) for part in parts]
    return os.sep.join(_MARK + _digest(part) if tells else part for part, tells in zip(parts, telling, strict=True))


def find(name: str) -> str:
    """The path that `hide` gave this name; "" where it is gone."""
    if _MARK not in name:
        return name
    parts = name.split(os.sep)
    for number, part in enumerate(parts):
        if part.startswith(_MARK):
            folder = os.sep.join(parts[:number]) + os.sep
            try:
                parts[number] = next((entry for entry in os.listdir(folder) if _MARK + _digest(entry) == part), "")
            except OSError:
                return ""
            if not parts[number]:
                return ""
    return os.sep.join(parts)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
