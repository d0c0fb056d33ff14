"""In: a working directory and the environment. Out: the store directories that apply there, nearest first.

Stores cascade like `.gitignore`: the nearest `.memory/` above the working directory, then its ancestors', then
the user's own (`$MEMORYFS_HOME`, else `~/.memory`). A route in the user's own settings, `[routes]` `"~/clients/**" =
"profile:work"`, puts a store above all that stand in or below the folder that its pattern names. The worktrees of one git repository share the main
worktree's store, found as `git rev-parse --git-common-dir` finds it, but without starting git.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from memoryfs.errors import NoStoreError, UsageError
from memoryfs.model import Problem

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


def named(text: str, cwd: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The store that `text` names: `profile:NAME`, a store's directory, or a directory that holds one in `.memory/`.

    None if it names none, and may thus be a topic. Raises NoStoreError where only a store can be meant but is not there.
    """
    clean = text.strip()
    if clean.startswith("profile:"):
        root = profile_root(clean.removeprefix("profile:"), environ)
        if not os.path.isdir(root):
            raise NoStoreError(str(root), remedy=f"`memoryfs init {root}` makes the profile.")
        return root
    path = Path(os.path.abspath(cwd / Path(clean).expanduser()))
    if clean and os.path.isdir(path):
        if os.path.isdir(path / FOLDER) and path.name != FOLDER:
            return path / FOLDER
        if path.name == FOLDER or any(os.path.exists(path / name) for name in (".memoryfs", "MEMORY.md", "ledger.jsonl")):
            return path
    if clean.startswith(("/", "~", "..")) or clean in (".", ""):
        raise NoStoreError(f"in {path}", remedy=f"`memoryfs init {path / FOLDER}` makes one.")
    return None


def main_worktree(directory: Path) -> Path:
    """`directory`, moved into the repository's main worktree when it lies in a linked one; otherwise unchanged."""
    for parent in (directory, *directory.parents):
        marker = parent / ".git"
        if os.path.isdir(marker):
            return directory
        if os.path.isfile(marker):
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
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links
        return None


def _above(directory: Path) -> Iterator[Path]:
    for parent in (directory, *directory.parents):
        candidate = parent / FOLDER
        if os.path.isdir(candidate):
            yield candidate


@dataclass(frozen=True)
class Route:
    """A store that the settings name for the folder `base` and all below it; it need not exist."""

    base: Path
    root: Path


def route(cwd: Path, environ: Mapping[str, str] = os.environ) -> Route | None:
    """The route that applies in `cwd`: of several the one with the deepest folder, then the longest pattern.

    A pattern names folders (`~`, `*` and `?` inside a name, `**` for any number of folders), a store is `profile:NAME`
    or a directory. What is written otherwise applies nowhere.
    """
    own = home(environ)
    if own is None:
        return None
    try:
        if b"routes" not in (own / "memoryfs.toml").read_bytes():
            return None
    except OSError:
        return None
    from memoryfs import config as settings

    here = Path(os.path.abspath(cwd))
    found: list[tuple[int, int, Route]] = []
    for pattern, store in settings.load(own)[0].routes.items():
        root = _routed(store, environ)
        wanted = Path(os.path.abspath(Path(pattern.removesuffix("/**")).expanduser())).parts
        if root is None or not pattern.startswith(("/", "~")):
            continue
        for place in dict.fromkeys((main_worktree(here), here)):
            base = next((p for p in (place, *place.parents) if _fits(p.parts, wanted)), None)
            if base is not None:
                found.append((len(base.parts), len(pattern), Route(base, root)))
                break
    return max(found, key=lambda item: item[:2])[2] if found else None


def _routed(store: str, environ: Mapping[str, str]) -> Path | None:
    try:
        if store.startswith("profile:"):
            return profile_root(store.removeprefix("profile:"), environ)
        root = Path(store).expanduser()
    except (UsageError, RuntimeError):
        return None
    return root if root.is_absolute() else None


def route_problems(root: Path, routes: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Iterator[Problem]:
    """What keeps the `routes` in the settings of the store `root` from working."""
    own = home(environ)
    if routes and (own is None or os.path.realpath(own) != os.path.realpath(root)):
        yield Problem("memoryfs.toml", "`routes` are read from the user's own store only", f"Move them to {own}.", severity="warning")
        return
    for pattern, store in routes.items():
        wanted = _routed(store, environ)
        if not pattern.startswith(("/", "~")):
            yield Problem("memoryfs.toml", f"the route {pattern!r} names no folder", "Begin it with / or ~.", severity="warning")
        elif wanted is None:
            yield Problem("memoryfs.toml", f"the route {pattern!r} leads to {store!r}, which is no store",
                          "Write profile:NAME, or a directory from / or ~ on.", severity="warning")
        elif not os.path.isdir(wanted):
            yield Problem("memoryfs.toml", f"the route {pattern!r} leads to {wanted}, which is not there",
                          f"`memoryfs init {wanted}` makes it.", severity="warning")


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[n:], pattern[1:]) for n in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def missing_route(cwd: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The store that a route names as the nearest in `cwd`, if it is not there; what belongs in it goes nowhere else."""
    named_there = route(cwd, environ)
    if named_there is None or os.path.isdir(named_there.root):
        return None
    nearest = next(iter(_found(Path(os.path.abspath(cwd)), None)), None)
    inside = nearest is not None and nearest.parent.is_relative_to(named_there.base)
    return None if inside else named_there.root


def _found(start: Path, routed: Route | None) -> list[Path]:
    """The stores above `start`, and the routed one in its place."""
    found = [start] if start.name == FOLDER and os.path.isdir(start) else []  # standing inside a store
    found.extend(_above(main_worktree(start)))
    if routed is not None and os.path.isdir(routed.root):
        at = next((n for n, path in enumerate(found) if not path.parent.is_relative_to(routed.base)), len(found))
        found.insert(at, routed.root)
    return found


def cascade(cwd: Path, environ: Mapping[str, str] = os.environ) -> tuple[Scope, ...]:
    """All existing stores that apply in `cwd`, nearest first, each once; the user's own is the last."""
    found = _found(Path(os.path.abspath(cwd)), route(cwd, environ))
    own = home(environ)
    if own is not None and os.path.isdir(own):
        found.append(own)
    unique: dict[str, Path] = {}
    for path in found:
        unique.setdefault(os.path.realpath(path), path)
    ordered = list(unique.values())
    if own is not None:
        ordered.sort(key=lambda p: os.path.realpath(p) == os.path.realpath(own))
    return tuple(Scope(path, i) for i, path in enumerate(ordered))


def store_for(cwd: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The store that a session run in `cwd` belongs to: the nearest; None if there is none at all, or a route's is missing."""
    if missing_route(cwd, environ) is not None:
        return None
    scopes = cascade(cwd, environ)
    return scopes[0].root if scopes else None


def must_be_there(cwd: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Raises NoStoreError if a route names a store for `cwd` that is not there."""
    if (missing := missing_route(cwd, environ)) is not None:
        raise NoStoreError(f"{missing}, which the settings name for {cwd}", remedy=f"`memoryfs init {missing}` makes it.")


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
        must_be_there(cwd, environ)
        raise NoStoreError(f"or above {cwd}")
    return nearest
