"""In: a store's folder and what the index knows of its files. Out: which files are new, changed, grown or gone.

A file is unchanged if size, mtime and ctime are what they were and it had settled (its mtime was at least two seconds
old) when it was read; anything else is decided by its MD5, as git does for "racily clean" entries.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path
from typing import NamedTuple

from memoryfs import files
from memoryfs.config import Config
from memoryfs.model import Problem
from memoryfs.thread import ARCHIVE, FOLDER, is_thread_name

RACY_NS = 2_000_000_000


class Seen(NamedTuple):
    """A file as the walk found it; `kind` is topic or thread, times are nanoseconds. (A tuple: thousands are made a pass.)"""

    path: str
    kind: str
    size: int
    mtime_ns: int
    ctime_ns: int


class Known(NamedTuple):
    """A file as the index last read it; `done` counts the bytes of a thread file that are indexed, `documents` and `places`
    what of it stands in the other tables."""

    path: str
    kind: str
    size: int
    mtime_ns: int
    ctime_ns: int
    digest: str
    synced_ns: int
    done: int
    error: str
    documents: int = 0
    places: int = 0


def settled(seen: Seen, known: Known | None) -> bool:
    """Whether the file need not be looked at again."""
    return (
        known is not None and seen[:5] == known[:5] and max(seen.mtime_ns, seen.ctime_ns) < known.synced_ns - RACY_NS
        and not known.error.startswith("!")
    )


def walk(root: Path, config: Config) -> tuple[dict[str, Seen], tuple[Problem, ...]]:
    """Every topic and thread file of the store by relative path; a thread both live and archived counts once."""
    found = files.scan(root, config)
    out = {f.path: Seen(f.path, "topic", f.size, f.mtime_ns, f.ctime_ns) for f in found.files}
    names: set[str] = set()
    for base in (FOLDER, ARCHIVE):
        for name, file in _thread_files(os.path.join(root, base), base, 0):
            if name not in names:
                names.add(name)
                out[file.path] = file
    return out, found.problems


def thread_of(path: str) -> str:
    """The thread's name in its file's path."""
    return path.rpartition("/")[2].removesuffix(".zst").removesuffix(".jsonl")


def _thread_files(folder: str, relative: str, depth: int) -> Iterator[tuple[str, Seen]]:
    try:
        with os.scandir(folder) as found:
            for entry in found:
                name = entry.name
                if name.endswith((".jsonl", ".jsonl.zst")):
                    thread = thread_of(name)
                    try:
                        status = entry.stat()
                    except OSError:
                        continue
                    if stat.S_ISREG(status.st_mode) and is_thread_name(thread):
                        path = f"{relative}/{name}"
                        yield thread, Seen(path, "thread", status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                elif depth < 6 and entry.is_dir(follow_symlinks=False):
                    yield from _thread_files(entry.path, f"{relative}/{name}", depth + 1)
    except OSError:
        return


def digest(path: Path, size: int | None = None) -> tuple[str, int]:
    """MD5 of the file's first `size` bytes (default: all), and how many bytes that was. Raises OSError."""
    hasher = md5(usedforsecurity=False)
    left = -1 if size is None else size
    total = 0
    with open(path, "rb") as file:
        while left != 0:
            block = file.read(1 << 20 if left < 0 else min(left, 1 << 20))
            if not block:
                break
            hasher.update(block)
            total += len(block)
            left = left - len(block) if left > 0 else left
    return hasher.hexdigest(), total
