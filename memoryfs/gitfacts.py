"""In: a path or a branch. Out: what git knows of it: when the file last changed, whether the branch is merged.

git is started only by a call of these functions, with a time limit, and never runs a hook or monitor of the repository.
No git, no repository or no answer in time is "unknown", never an error.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

SECONDS = 3.0
DEFAULTS = ("main", "master", "trunk", "develop")


def git(directory: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and output of one git command run in `directory`; (-1, "") if git cannot be run or takes too long."""
    import subprocess

    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environ |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=directory, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return -1, ""
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()


def in_repository(directory: Path) -> bool:
    """Whether `directory` lies in a working tree; looks for `.git`, starts nothing."""
    return any((parent / ".git").exists() for parent in (directory, *directory.parents))


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
    if in_repository(Path(folder)):
        clean, _ = git(Path(folder), "diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--", f"./{name}")
        if clean == 0:
            _, written = git(Path(folder), "log", "-1", "--format=%cI", "--no-show-signature", "--", f"./{name}")
            if written:
                return datetime.fromisoformat(written), "git"
    return moment, "mtime"


def default_branch(directory: Path) -> str | None:
    """The repository's main line: what `origin/HEAD` names, else the first of main, master, trunk, develop that exists."""
    code, named = git(directory, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    if code == 0 and named:
        return named.removeprefix("origin/")
    for name in DEFAULTS:
        if git(directory, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}")[0] == 0:
            return name
    return None


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
    found = [r for r in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
             if git(directory, "rev-parse", "--verify", "--quiet", r)[0] == 0]
    if not found:
        return True
    into = [r for r in (f"refs/heads/{main}", f"refs/remotes/origin/{main}")
            if git(directory, "rev-parse", "--verify", "--quiet", r)[0] == 0]
    for tip in found:
        codes = [git(directory, "merge-base", "--is-ancestor", tip, line)[0] for line in into]
        if 0 in codes:
            return not _untouched(directory, branch)
        if -1 in codes:
            return None
    return False


def _untouched(directory: Path, branch: str) -> bool:
    """Whether the branch was made and nothing committed on it since, as its reflog tells."""
    code, moves = git(directory, "reflog", "show", "--format=%gs", f"refs/heads/{branch}")
    lines = moves.splitlines()
    return code == 0 and bool(lines) and all(line.startswith("branch: Created") for line in lines)
