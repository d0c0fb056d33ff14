"""In: paths and bytes. Out: whole files: read with their hash, replaced atomically, never over someone else's save.

Promises of `write_atomic`: a file is the old or the new version, whole; symlinks stay links (the temporary file
is made beside the target); mode bits, owner and extended attributes are kept where the system allows. A hard-linked
file is replaced under the name it was written by; its other names keep the old text.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memoryfs.errors import ChangedMeanwhileError, ReadOnlyError
from memoryfs.textfile.swap import exchange, open_for_writing

_PART = re.compile(r"\.memoryfs-[0-9a-f]{16}\.part\Z")
_SWAP = re.compile(r"\.memoryfs-([0-9a-f]{16})-([0-9a-f]{12})-([0-9a-f]{12})\.swap\Z")
_BLOCK = 1 << 20
SAVE_SECONDS = 1.0  # an editor that keeps a file open for writing longer than this is not saving but using it


@dataclass(frozen=True)
class FileText:
    """A file as it was read; `digest` is the SHA-256 of `data` in hex."""

    path: Path
    data: bytes
    digest: str

    @property
    def text(self) -> str:
        """The bytes as strict UTF-8; raises UnicodeDecodeError."""
        return self.data.decode("utf-8")


def digest_of(data: bytes) -> str:
    """SHA-256 in hex, as `FileText.digest` and `write_atomic(expect=…)` mean it."""
    return hashlib.sha256(data).hexdigest()


def read_file(path: str | os.PathLike[str]) -> FileText:
    """The whole file. FileNotFoundError, PermissionError … pass through; a FIFO or device is refused, not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        data = file.readall()
    return FileText(Path(path), data, digest_of(data))


def write_atomic(
    path: str | os.PathLike[str], data: bytes, *, expect: str | None = None, mode: int | None = None
) -> None:
    """Replaces the file at `path` by `data`, or leaves it exactly as it was.

    `expect` is the digest the file must still have (`""`: it must not exist), else ChangedMeanwhileError; a save that
    lands between the check and the replacement is noticed too where the system can swap two names. Missing folders
    are made. Nothing is written, and the time of change is kept, if the bytes are equal already. Raises ReadOnlyError
    for whatever the system refuses: no permission, no space, a dangling link, a write-protected file.
    """
    _try(path, lambda target: _replace(target, str(path), data, expect, mode))


def write_stream(path: str | os.PathLike[str], blocks: Callable[[], Iterable[bytes]]) -> None:
    """`write_atomic` for a file that is too large to hold: `blocks()` gives its bytes, and gives them again if asked
    again. Replaces whatever stands there. Raises ReadOnlyError."""

    def write(descriptor: int) -> None:
        with open(descriptor, "wb", closefd=False) as file:
            file.writelines(blocks())

    def replace(target: Path) -> None:
        with _written_beside(target, write) as part:
            os.rename(part, target)
            _sync_folder(target.parent)

    _try(path, replace)


def _try(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    try:
        target = _target(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(3):
            try:
                return write(target)
            except FileNotFoundError:
                # Another process took the temporary file for litter in the instant before it was locked.
                if attempt == 2:
                    raise
    except OSError as error:
        raise ReadOnlyError(str(path), error.strerror or str(error)) from error


@contextlib.contextmanager
def _written_beside(target: Path, write: Callable[[int], None]) -> Iterator[Path]:
    """A temporary file in the target's folder, written and on the disk; locked so that it is not taken for litter, and
    gone afterwards."""
    part = target.parent / f".memoryfs-{os.urandom(8).hex()}.part"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        _lock_quietly(descriptor)
        write(descriptor)
        os.fsync(descriptor)
        # Kept open for reading only: nobody but others then holds our file open for writing.
        reading = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
        os.close(descriptor)
        descriptor = reading
        _lock_quietly(descriptor)
        yield part
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        os.close(descriptor)


def _target(path: str | os.PathLike[str]) -> Path:
    if not os.path.islink(path):
        return Path(path)
    try:
        return Path(os.path.realpath(path, strict=True))
    except OSError as error:
        aim = os.readlink(path)
        raise ReadOnlyError(str(path), f"it is a link to {aim}, which cannot be followed: {error.strerror}") from error


def _current(target: Path) -> tuple[bytes | None, os.stat_result | None]:
    try:
        data = read_file(target).data
        return data, os.stat(target)
    except FileNotFoundError:
        return None, None


def _replace(target: Path, name: str, data: bytes, expect: str | None, mode: int | None) -> None:
    old, status = _current(target)
    if old == data:
        if mode is not None and status is not None and stat.S_IMODE(status.st_mode) != mode:
            os.chmod(target, mode)
        return
    digest = "" if old is None else digest_of(old)
    if expect is not None and digest != expect:
        raise ChangedMeanwhileError(name)
    if status is not None and not status.st_mode & 0o222:
        raise PermissionError(errno.EACCES, "the file is write-protected", name)

    def write(descriptor: int) -> None:
        _write_all(descriptor, data)
        _keep_attributes(descriptor, target, status, mode)

    with _written_beside(target, write) as part:
        if expect is None:
            os.rename(part, target)
        elif expect == "":
            _create_only(part, target, name)
        else:
            swap = part.with_name(f"{part.stem}-{digest_of(data)[:12]}-{expect[:12]}.swap")
            os.rename(part, swap)
            try:
                _swap_in(swap, target, name, old or b"", data)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(swap)
        _sync_folder(target.parent)


def _create_only(part: Path, target: Path, name: str) -> None:
    try:
        os.link(part, target)  # unlike rename, fails when the name is taken
    except FileExistsError:
        raise ChangedMeanwhileError(name) from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS):
            raise
        if os.path.lexists(target):
            raise ChangedMeanwhileError(name) from None
        os.rename(part, target)


def _swap_in(swap: Path, target: Path, name: str, old: bytes, data: bytes) -> None:
    """Exchanges the two names, then looks at what was swapped out: what someone added to it at its end is carried over
    to the new file; if it was changed in any other way, it is swapped back."""
    if _digest(target) != digest_of(old):
        raise ChangedMeanwhileError(name)
    try:
        swapped = exchange(swap, target)
    except FileNotFoundError:
        raise ChangedMeanwhileError(name) from None
    if not swapped:
        os.rename(swap, target)
        return
    if not _still_written(swap) and _carry_over(swap, old, target):
        return
    for _ in range(5):
        try:
            exchange(swap, target)
        except FileNotFoundError:  # deleted by someone in this instant: their deletion stands over their edit
            break
        if not _still_written(swap) and _carry_over(swap, data, target):
            break
    raise ChangedMeanwhileError(name)


def _still_written(path: Path) -> bool:
    """Whether someone still has the file open for writing after the time that a save takes."""
    deadline = time.monotonic() + SAVE_SECONDS
    while open_for_writing(path):
        if time.monotonic() > deadline:
            return True
        time.sleep(0.005)
    return False


def _carry_over(leaving: Path, known: bytes, staying: Path) -> bool:
    """Whether `leaving` holds `known` and at most more lines after it; these are appended to `staying`."""
    try:
        data = read_file(leaving).data
    except FileNotFoundError:
        return True
    if not data.startswith(known):
        return False
    if len(data) > len(known):
        descriptor = os.open(staying, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            _write_all(descriptor, data[len(known):])
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return True


def _digest(path: Path) -> str:
    try:
        return read_file(path).digest
    except FileNotFoundError:
        return ""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:_BLOCK]):]


def _keep_attributes(descriptor: int, target: Path, status: os.stat_result | None, mode: int | None) -> None:
    if status is not None:
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(OSError):
                os.fchown(descriptor, status.st_uid, status.st_gid)
        with contextlib.suppress(OSError, AttributeError):
            for key in os.listxattr(target):
                os.setxattr(descriptor, key, os.getxattr(target, key))
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode) if mode is None else mode)
    elif mode is not None:
        os.fchmod(descriptor, mode)


def _lock_quietly(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # a file system without locks: litter is then told by its age
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems refuse fsync on a folder
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def append_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Appends `lines` (without line ends) and fsyncs; all of them or none. Raises ReadOnlyError.

    A last line torn by a crash is closed with a newline first, so that it spoils no other; writers exclude each other
    with a kernel lock on the file itself.
    """
    rows = list(lines)
    if any("\n" in row or "\r" in row for row in rows):
        raise ValueError("a line to append holds a line end")
    if not rows:
        return
    data = "".join(f"{row}\n" for row in rows).encode("utf-8")
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
            try:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ReadOnlyError(str(path), error.strerror or str(error)) from error


def clean_litter(root: str | os.PathLike[str]) -> int:
    """Removes temporary files whose writer died, below `root`, and says how many. A version of a file that such a
    crash swapped out and that nobody has seen comes back as `recovered-….md` beside it."""
    cleaned = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "node_modules")]
        for name in names:
            if name.startswith(".memoryfs-") and (_PART.match(name) or _SWAP.match(name)):
                with contextlib.suppress(OSError):
                    cleaned += _clean_one(Path(folder), name)
    return cleaned


def _clean_one(folder: Path, name: str) -> bool:
    path = folder / name
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False  # its writer is alive
        except OSError:
            if time.time() - os.fstat(descriptor).st_mtime < 3600:
                return False
        swap = _SWAP.match(name)
        if swap and read_file(path).digest[:12] not in swap.groups()[1:]:
            os.rename(path, folder / f"recovered-{swap[1]}.md")
        else:
            os.unlink(path)
        return True
    finally:
        os.close(descriptor)
