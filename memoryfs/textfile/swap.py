"""In: two paths of one folder. Out: their names exchanged in one step, where the system can; and who still writes.

Linux has renameat2(2) with RENAME_EXCHANGE, macOS renamex_np(2) with RENAME_SWAP; elsewhere `exchange` says False.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_SWAP_FLAG = 2  # RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """True when the two names now stand for each other's file; False when the system cannot. Raises OSError."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform.startswith("linux") and hasattr(libc, "renameat2"):
        result = libc.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, ctypes.c_uint(_SWAP_FLAG))
    elif sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        result = libc.renamex_np(first, second, ctypes.c_uint(_SWAP_FLAG))
    else:
        return False
    if result == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))


def open_for_writing(path: Path) -> bool:
    """True when some process holds the file open for writing, as far as the system tells (a Linux read lease)."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(descriptor)
    return False
