"""In: an error met while the index was used. Out: whether its file is damaged or the disk takes nothing more, in plain words."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from memoryfs.errors import IndexDamagedError
from memoryfs.model import Problem

FULL = "the disk is full"
RESERVE = 512 * 1024  # bytes that the index leaves to the files that matter: it is only a cache
REMEDY = "Make room on the disk, or mend the folder's permissions, and run `memoryfs index`; until then search works from memory."


def errors() -> tuple[type[BaseException], ...]:
    """What an index recovers from: by making its file anew, or in memory where the disk refuses (`refused`)."""
    import apsw

    return (
        apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.IOError, apsw.ConnectionClosedError, apsw.FullError,
        apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, IndexDamagedError, UnicodeDecodeError,
    )


def refused(error: BaseException) -> bool:
    """Whether the disk did not take what was to be written: no fault of what is in the file."""
    import apsw

    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) in (
            apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC, apsw.SQLITE_IOERR_TRUNCATE,
            apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP,
        )
    return isinstance(error, (apsw.FullError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError))


def no_room(folder: Path | str) -> bool:
    """Whether the disk is as good as full. Some file systems do not tell their size: then no."""
    try:
        space = os.statvfs(folder)
    except (OSError, AttributeError):  # Windows has no such call
        return False
    return bool(space.f_blocks) and space.f_bavail * space.f_frsize < RESERVE


def reason(error: BaseException, folder: Path) -> str:
    """Why something cannot be written in `folder`."""
    import apsw

    if isinstance(error, apsw.FullError) or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    return FULL if no_room(folder) else str(error)


def damage(error: BaseException) -> str:
    """What is wrong with the file, for the notice that it was made anew."""
    what = error.args[0] if isinstance(error, IndexDamagedError) else type(error).__name__
    return f"it was damaged ({what})"


def unkept(what: str, why: str) -> Problem:
    """That something of the index is not on the disk."""
    return Problem(".memoryfs/index.db", f"{what}: {why}", REMEDY)
