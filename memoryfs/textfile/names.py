"""In: a name that a person, an agent or a model gave. Out: a path inside the store, or a safe file name."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from pathlib import Path

from memoryfs.errors import OutsideStoreError, UsageError


def inside(root: str | os.PathLike[str], relative: str, *, follow_links_outside: bool = False) -> Path:
    """The path of `relative` below `root`, links followed. Raises OutsideStoreError when it leads out.

    With `follow_links_outside` a link below the root may lead anywhere; the written path itself still may not.
    """
    pieces = re.split(r"[/\\]", relative)
    drive = re.match(r"[A-Za-z]:[/\\]", relative)
    if "\0" in relative or relative.startswith(("/", "\\", "~/")) or drive:
        raise OutsideStoreError(ascii(relative)[1:-1])
    if any(len(os.fsencode(piece)) > 255 for piece in pieces if not _has_surrogates(piece)):
        raise UsageError(f"the file name is too long: {relative[:40]}…")
    base = os.path.realpath(root)
    try:
        real = os.path.realpath(os.path.join(base, relative))
    except (OSError, ValueError) as error:
        raise OutsideStoreError(ascii(relative)[1:-1]) from error
    lexical = os.path.normpath(os.path.join(base, *[piece for piece in pieces if piece]))
    allowed = (lexical,) if follow_links_outside else (lexical, real)
    if any(os.path.commonpath((base, path)) != base for path in allowed):
        raise OutsideStoreError(ascii(relative)[1:-1])
    return Path(real)


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


_WINDOWS_NAMES = {"con", "prn", "aux", "nul", "conin", "conout"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"
}


def slug(text: str, max_bytes: int = 80) -> str:
    """A file name (without suffix) that a person can read, in every script; at most `max_bytes` of UTF-8, never empty.

    Letters, marks and digits stay, in NFC and case-folded, so that no two names differ by case or form alone;
    everything else becomes `-`. Names that Windows reserves get a `-topic`; a text without a single letter becomes
    `topic-` and a hash of it. Different titles may share a slug: the caller looks whether the name is taken.
    """
    spoken = re.sub(r"(?<=\w)#(?!\w)", "-sharp", re.sub(r"(?<=[\w+])\+", "-plus", text))
    folded = _fold(spoken)
    kept = "".join(char if char == "_" or unicodedata.category(char)[0] in "LMN" else
                   "" if unicodedata.category(char) == "Cf" else "-" for char in folded)
    name = _cut(re.sub(r"-+", "-", kept).strip("-_"), max_bytes)
    if not any(unicodedata.category(char)[0] in "LN" for char in name):
        return "topic-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{name}-topic" if name in _WINDOWS_NAMES else name


def _fold(text: str) -> str:
    for _ in range(4):  # folding can undo composition and the other way round; two rounds settle all known cases
        folded = unicodedata.normalize("NFC", text.casefold())
        if folded == text:
            break
        text = folded
    return text


def _cut(name: str, max_bytes: int) -> str:
    data = name.encode("utf-8")
    if len(data) <= max_bytes:
        return name
    short = data[:max_bytes].decode("utf-8", "ignore")
    word = short.rsplit("-", 1)[0]
    return (word if len(word) * 2 > len(short) else short).strip("-_")
