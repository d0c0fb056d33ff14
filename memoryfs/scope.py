"""In: a working directory and the environment. Out: the store directories that apply there, nearest first.

Stores cascade like `.gitignore`: the nearest `.memory/` above the working directory, then its ancestors', then
the user's own (`$MEMORYFS_HOME`, else `~/.memory`). The worktrees of one git repository share the main
worktree's store, found as `git rev-parse --git-common-dir` finds it, but without starting git.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryfs.errors import NoStoreError, UsageError

FOLDER = ".memory"
PROFILE_FOLDER = "profiles"


@dataclass(frozen=True)
class Scope:
    """A store and its distance from the working directory: 0 the nearest, 1 the next above, …"""

    root: Path
    distance: int


def home(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The user's own store directory (it need not exist); None when neither $MEMORYFS_HOME nor a home is known."""
    named = environ.get("MEMORYFS_HOME")
    if named:
        return Path(named).expanduser()
    try:
        return Path.home() / FOLDER
    except RuntimeError:  # HOME unset and no passwd entry, as under some service managers
        return None


def profile_root(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The store directory of the profile `name`; UsageError for a name that is not one plain folder name."""
    base = home(environ)
    if base is None:
        raise UsageError("no home directory is known, so there are no profiles", remedy="Set $MEMORYFS_HOME.")
    if not name or name in (".", "..") or any(c in name for c in "/\\\0:") or name.startswith("."):
        raise UsageError(f"{name!r} is not a profile name", remedy="Use letters, digits, dash and underscore.")
    return base / PROFILE_FOLDER / name


def main_worktree(directory: Path) -> Path:
    """`directory`, moved into the repository's main worktree when it lies in a linked one; otherwise unchanged."""
    for parent in (directory, *directory.parents):
        marker = parent / ".git"
        if marker.is_dir():
            return directory
        if marker.is_file():
            common = _common_dir(marker)
            if common is None or common.name != ".git":  # a submodule or a bare repository: no main worktree
                return directory
            return common.parent / directory.relative_to(parent)
    return directory


def _common_dir(marker: Path) -> Path | None:
    try:
        text = marker.read_text(encoding="utf-8").strip()
        if not text.startswith("gitdir:"):
            return None
        gitdir = (marker.parent / text[7:].strip()).resolve()
        common = (gitdir / "commondir").read_text(encoding="utf-8").strip()
        return (gitdir / common).resolve()
    except (OSError, UnicodeDecodeError):
        return None


def _above(directory: Path) -> Iterator[Path]:
    for parent in (directory, *directory.parents):
        candidate = parent / FOLDER
        if candidate.is_dir():
            yield candidate


def cascade(cwd: Path, environ: Mapping[str, str] = os.environ) -> tuple[Scope, ...]:
    """All existing stores that apply in `cwd`, nearest first, each once; the user's own is the last."""
    found: list[Path] = []
    start = Path(os.path.abspath(cwd))
    if start.name == FOLDER and start.is_dir():  # standing inside a store
        found.append(start)
    found.extend(_above(main_worktree(start)))
    own = home(environ)
    if own is not None and own.is_dir():
        found.append(own)
    unique: dict[str, Path] = {}
    for path in found:
        unique.setdefault(os.path.realpath(path), path)
    ordered = list(unique.values())
    if own is not None:
        ordered.sort(key=lambda p: os.path.realpath(p) == os.path.realpath(own))
    return tuple(Scope(path, i) for i, path in enumerate(ordered))


def store_for(cwd: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The store that a session run in `cwd` belongs to: the nearest; None if there is none at all."""
    scopes = cascade(cwd, environ)
    return scopes[0].root if scopes else None


def locate(
    store: Path | None, profile: str | None, cwd: Path, environ: Mapping[str, str] = os.environ
) -> Path:
    """The one store a command works on: --store, else --profile, else the nearest; NoStoreError if there is none."""
    if store is not None:
        return store
    if profile:
        return profile_root(profile, environ)
    nearest = store_for(cwd, environ)
    if nearest is None:
        raise NoStoreError(f"or above {cwd}")
    return nearest
