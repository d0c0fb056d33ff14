"""In: a store's folder. Out: its index, open already if this process has used it before; back in the pool after use.

One user at a time holds an index: whoever comes meanwhile (another thread) gets one of its own. What is kept is noticed
to be out of date, swapped or deleted by `Index.fresh`, as in any long-running process.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from memoryfs import config as settings
from memoryfs.index.core import Index

KEPT = 4  # idle ones, of all stores together; the longest unused is closed first

_lock = Lock()
_idle: list[tuple[int, Path, Index]] = []  # process, folder, index; the last used at the end


@contextmanager
def borrowed(root: str | os.PathLike[str]) -> Iterator[Index]:
    """The open index of the store in `root`, for this `with` block alone. Raises NewerSchemaError, as `open` does."""
    folder = Path(os.path.abspath(root))
    index = _take(folder)
    if index is None:
        index = Index(folder)
    else:
        index.config, _ = settings.load(folder)
    try:
        yield index
    except BaseException:
        index.close()  # its state is unknown
        raise
    _give_back(folder, index)


def _take(folder: Path) -> Index | None:
    with _lock:
        for place in range(len(_idle) - 1, -1, -1):
            process, of, index = _idle[place]
            if of == folder and process == os.getpid():  # a connection must not cross a fork
                del _idle[place]
                return index
    return None


def _give_back(folder: Path, index: Index) -> None:
    if not index.kept_on_disk or index.db.in_transaction:
        index.close()
        return
    with _lock:
        _idle.append((os.getpid(), folder, index))
        spare = [_idle.pop(0) for _ in range(len(_idle) - KEPT)]
    for process, _, old in spare:
        if process == os.getpid():
            old.close()


@atexit.register
def close_all() -> None:
    """Close every idle index of this process."""
    with _lock:
        idle = list(_idle)
        _idle.clear()
    for process, _, index in idle:
        if process == os.getpid():
            index.close()
