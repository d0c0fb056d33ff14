"""In: a store's folder and a lock's name. Out: one run at a time, as the kernel decides."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from memoryfs.errors import LockedError, ReadOnlyError

STATE = ".memoryfs"


class StoreLock:
    """One run at a time: a kernel lock on `ROOT/.memoryfs/NAME.lock`, held inside a `with` block.

    The system frees it when its holder ends, however it ends; what the file says is for people and never decides.
    Raises LockedError when it is still held after `wait_seconds`, ReadOnlyError when the folder cannot hold a lock.
    """

    def __init__(self, root: str | os.PathLike[str], name: str = "organize", wait_seconds: float = 0.0) -> None:
        self.path = Path(root) / STATE / f"{name}.lock"
        self.wait_seconds = wait_seconds
        self._descriptor: int | None = None

    def __enter__(self) -> StoreLock:
        descriptor = self._open()
        try:
            self._acquire(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"held by process {os.getpid()}\n".encode(), 0)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing does not free it while a child being started holds a copy
            os.close(descriptor)

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except PermissionError:
            try:  # someone else's lock file, which we may read: enough to lock it
                return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise ReadOnlyError(str(self.path), error.strerror) from error
        except OSError as error:
            raise ReadOnlyError(str(self.path), error.strerror) from error

    def _acquire(self, descriptor: int) -> None:
        deadline = time.monotonic() + self.wait_seconds
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockedError(str(self.path)) from None
                time.sleep(0.05)
            except OSError as error:
                reason = f"this file system has no locks ({error.strerror})"
                raise ReadOnlyError(str(self.path), reason) from error
