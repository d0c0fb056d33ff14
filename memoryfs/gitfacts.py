"""In: a path or a branch. Out: what git knows of it: when the file last changed, whether the branch is merged, the main line.

git is started only by a call of these functions, with a time limit. It reads: no hook, monitor, filter, external diff, pager or
remote of the repository is run, no lock is taken, and a repository that git itself does not trust stays unread. No git, no
repository or no answer in time is "unknown", never an error; where git was silent once, it is left alone for a while.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from memoryfs import scope

if TYPE_CHECKING:
    import subprocess

SECONDS = 3.0
RESPITE = 600.0  # seconds in which git is not asked again in a repository where it gave no answer in time
MOST_BYTES = 64 << 20  # of a file that is compared with its commit
DEFAULTS = ("main", "master", "trunk", "develop")
_ORIGIN = "refs/remotes/origin/HEAD"
_SAFE = (
    "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false",
    "-c", "log.showSignature=false", "-c", "submodule.recurse=false", "-c", "protocol.allow=never",
)


def git(directory: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and output, without its last line end, of one git command run in `directory`; (-1, "") if git cannot be run or
    takes too long, or took too long in this repository a short while ago."""
    import subprocess

    process = _started(directory, arguments, SECONDS)
    if process is None:
        return -1, ""
    try:
        told, _ = process.communicate(timeout=SECONDS)
        return process.returncode, told.decode("utf-8", "replace").removesuffix("\n")
    except subprocess.TimeoutExpired:
        _silent[_repository(directory)] = monotonic()
        return -1, ""
    finally:
        _ended(process)


_silent: dict[str, float] = {}  # repository → when git last gave no answer in it in time


def _started(directory: Path, arguments: Sequence[str], seconds: float) -> subprocess.Popen[bytes] | None:
    """git at work in `directory`; None where it cannot be run, has no time, or gave no answer in this repository a short while ago."""
    import subprocess

    if seconds <= 0 or (_silent and monotonic() - _silent.get(_repository(directory), float("-inf")) < RESPITE):
        return None
    try:
        return subprocess.Popen(
            [*_SAFE, *arguments], cwd=directory, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )
    except (OSError, ValueError):  # ValueError: a NUL in a path or a name
        return None


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends git and what it has started, which would keep its output open."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _ended(process: subprocess.Popen[bytes]) -> None:
    _stop(process)
    if process.stdout is not None:
        with suppress(OSError):
            process.stdout.close()
    process.wait()


def _repository(directory: Path) -> str:
    """What stands for the repository in which `directory` lies: its main working folder; the folder itself where there is none."""
    folder = scope.main_worktree(directory)
    return os.path.realpath(next((parent for parent in (folder, *folder.parents) if os.path.exists(parent / ".git")), folder))


def _environment() -> dict[str, str]:
    """Ours without git's own variables; nothing is fetched (a partial clone lacks objects), asked, or locked."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return environ | {
        "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C",
    }


class Lines:
    """The lines of one git command's output, as bytes without their ends, while it runs and for at most `seconds`.

    `code`, once all are read, is git's exit code; None where git is not there or was stopped.
    """

    def __init__(self, directory: Path, *arguments: str, seconds: float) -> None:
        self.code: int | None = None
        self._arguments, self._directory, self._seconds = arguments, directory, seconds

    def __iter__(self) -> Iterator[bytes]:
        import threading

        process = _started(self._directory, self._arguments, self._seconds)
        if process is None:
            return
        stop = threading.Timer(self._seconds, _stop, (process,))
        stop.start()
        silent = True
        try:
            assert process.stdout is not None
            for line in process.stdout:
                silent = False
                yield line.rstrip(b"\n")
            code = process.wait()
            self.code = code if code >= 0 else None
            if silent and self.code is None:
                _silent[_repository(self._directory)] = monotonic()
        finally:
            stop.cancel()
            _ended(process)


def main_line(directory: Path) -> str:
    """The commit that holds: the tip of the default branch, here or as last fetched, whichever is newer; where the repository
    has none of the usual names, what is checked out. "" where that cannot be told."""
    tips = _tips(directory)
    if tips is None:
        return ""
    name = _default(tips)
    found = [tips[ref] for ref in (f"refs/heads/{name}", f"refs/remotes/origin/{name}", _ORIGIN) if ref in tips]
    if found:
        return max(found, key=lambda tip: tip.time).commit
    code, commit = git(directory, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
    return commit if code == 0 else ""


@dataclass(frozen=True, slots=True)
class _Tip:
    """The newest commit of a branch, its time in epoch seconds (0 where git cannot read it), and the ref that it is read through."""

    commit: str
    time: int
    through: str = ""


def _tips(directory: Path) -> dict[str, _Tip] | None:
    """By ref, the branches that can be the default one, here and at origin; None where git does not answer."""
    names = [f"refs/{place}/{name}" for name in DEFAULTS for place in ("heads", "remotes/origin")]
    form = "%(refname) %(objectname) %(committerdate:unix) %(symref)"
    code, told = git(directory, "for-each-ref", f"--format={form}", _ORIGIN, *names)
    rows = [line.split(" ") for line in told.split("\n") if line]
    return {ref: _Tip(commit, int(time) if time.isdigit() else 0, through) for ref, commit, time, through in rows} if code == 0 else None


def _default(tips: Mapping[str, _Tip]) -> str:
    """The default branch's name: what `origin/HEAD` names, else the first usual name that is here, or else at origin; or ""."""
    if _ORIGIN in tips and tips[_ORIGIN].through:
        return tips[_ORIGIN].through.removeprefix("refs/remotes/origin/")
    return next((name for place in ("heads", "remotes/origin") for name in DEFAULTS if f"refs/{place}/{name}" in tips), "")


def in_repository(directory: Path) -> bool:
    """Whether `directory` is there and lies in a working tree; looks for `.git`, starts nothing. A path that no folder can have
    (too long, with a NUL) is not there."""
    return os.path.isdir(directory) and any(os.path.exists(parent / ".git") for parent in (directory, *directory.parents))


def modified(path: Path) -> datetime | None:
    """The file's modification time, aware; None if there is no such file."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).astimezone()
    except (OSError, OverflowError, ValueError):
        return None


def last_change(path: Path) -> tuple[datetime, str] | None:
    """When the content of `path` last changed and who says so, `git` or `mtime`; None if there is no such file.

    A checkout gives every file a new modification time, so the last commit counts where the file is as committed.
    """
    moment = modified(path)
    if moment is None:
        return None
    return _last_change(str(path), moment)


@lru_cache(maxsize=64)
def _last_change(path: str, moment: datetime) -> tuple[datetime, str]:
    folder, name = os.path.split(path)
    if in_repository(Path(folder)) and _as_committed(Path(folder), name):
        _, written = git(Path(folder), "log", "-1", "--format=%cI", "--no-show-signature", "--", f"./{name}")
        with suppress(ValueError):  # none, or after the year 9999
            return datetime.fromisoformat(written), "git"
    return moment, "mtime"


def _as_committed(folder: Path, name: str) -> bool:
    """Whether the file's bytes are those of the last commit. Computed here: `git diff` would run the filters that the
    repository's settings name. A file that a filter changes on checkout counts as changed."""
    code, told = git(folder, "ls-tree", "-z", "HEAD", "--", f"./{name}")
    parts = told.partition("\t")[0].split(" ")
    if code != 0 or len(parts) != 3 or parts[1] != "blob":
        return False
    try:
        if os.path.getsize(folder / name) > MOST_BYTES:
            return False
        data = (folder / name).read_bytes()
    except OSError:
        return False
    make = hashlib.sha256 if len(parts[2]) == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == parts[2]


def default_branch(directory: Path) -> str | None:
    """The repository's main line: what `origin/HEAD` names, else the first of main, master, trunk, develop that is here or at origin."""
    tips = _tips(directory)
    return _default(tips) or None if tips is not None else None


def is_merged(directory: Path, branch: str) -> bool | None:
    """Whether the work on `branch` is in the default branch; None where that cannot be told.

    A branch without a commit of its own yet is not merged. One that is gone, here and at origin, counts as merged: that is
    what becomes of branches that were squashed into the main line.
    """
    main = default_branch(directory)
    if main is None or not branch or branch == "HEAD":
        return None
    if branch == main:
        return True
    found, into = _here(directory, branch), _here(directory, main)
    if found is None or into is None:
        return None
    if not found:
        return True
    for tip in found:
        codes = [git(directory, "merge-base", "--is-ancestor", tip, line)[0] for line in into]
        if 0 in codes:
            return not _untouched(directory, branch)
        if -1 in codes:
            return None
    return False


def _here(directory: Path, branch: str) -> list[str] | None:
    """The refs of a branch, here and at origin, as far as there are any; None where git does not answer."""
    codes = {ref: git(directory, "rev-parse", "--verify", "--quiet", ref)[0] for ref in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")}
    return None if -1 in codes.values() else [ref for ref, code in codes.items() if code == 0]


def _untouched(directory: Path, branch: str) -> bool:
    """Whether the branch was made and nothing committed on it since, as its reflog tells."""
    code, moves = git(directory, "reflog", "show", "--format=%gs", f"refs/heads/{branch}")
    lines = moves.splitlines()
    return code == 0 and bool(lines) and all(line.startswith("branch: Created") for line in lines)
