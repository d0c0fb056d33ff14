"""In: a store's folder. Out: its topic files with size and times, each real file once, and what was left aside and why.

Left aside without a word: MEMORY.md, inbox.md, threads/, archive/, dot files and folders, other tools' folders, what the settings
ignore. Left aside as a problem: copies made by a sync conflict, links that lead out of the store or nowhere, names that
are not UTF-8, what cannot be read. Two names that differ only by case or Unicode form are both kept, with a warning.
Nothing is opened but look-alike copies (`note 2.md` beside `note.md`), and only regular files.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from memoryfs.config import Config
from memoryfs.model import Problem
from memoryfs.patterns import lazy

BRIEFING = "MEMORY.md"
NOTES = "notes.md"
INBOX = "inbox.md"  # what waits for a person; no topic
OWN_FOLDERS = {"threads", "archive"}  # at the top of the store only
_FOREIGN_FOLDERS = {"node_modules", "__pycache__", "venv", "site-packages", "$RECYCLE.BIN", "lost+found", "@eaDir"}
_CONFLICT = lazy(
    r"\.sync-conflict-|\((?:[^()]*\s)?conflicted copy(?:\s[^()]*)?\)|\(case conflict[^()]*\)|_conf\(\d{4}-"
    r"|\(.*?(?:競合コピー|冲突副本|衝突複本)[^()]*\)"
    r"|\.(?:LOCAL|REMOTE|BASE)\.\d+\.md\Z|\.orig\.md\Z",
    re.IGNORECASE,
)
_TEMPORARY = lazy(r"(?:\A[#~]|\A~\$|~\.md\Z|\.(?:tmp|temp|swp|bak|part)\.md\Z)", re.IGNORECASE)
_COPY = lazy(r"\A(?P<stem>.+?)(?: \(?(?:[2-9]|1\d)\)?| [-–] Copy| copy(?: \d+)?)\.md\Z", re.IGNORECASE)
_MEMORY_ID = lazy(rb"\^(m-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*)")
_MAX_DEPTH = 40
TICK_NS = 2_000_000_000  # coarsest clock of a file system (FAT)


@dataclass(frozen=True, slots=True)
class TopicFile:
    """`path` is relative to the store, with `/`; times are nanoseconds."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def stat(self) -> tuple[int, int, int, int]:
        """What changes with the file: size, times, inode."""
        return self.size, self.mtime_ns, self.ctime_ns, self.inode

    def changed_about(self, moment_ns: int) -> bool:
        """Whether it was changed within a clock's grain of that moment, so that it may change again unseen."""
        return any(abs(time - moment_ns) <= TICK_NS for time in (self.mtime_ns, self.ctime_ns))


@dataclass(frozen=True, slots=True)
class Scan:
    """`aside` holds the paths (as the system knows them) of Markdown files that exist but are not topics."""

    files: tuple[TopicFile, ...]
    problems: tuple[Problem, ...]
    aside: tuple[str, ...] = ()


class _Walk:
    def __init__(self, root: str, config: Config) -> None:
        self.root = root
        self.config = config
        self.files: list[TopicFile] = []
        self.problems: list[Problem] = []
        self.aside: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.seen_folders: set[tuple[int, int]] = set()
        self.hard_links: dict[tuple[int, int], str] = {}

    def problem(self, path: str, message: str, remedy: str = "", severity: str = "warning") -> None:
        self.problems.append(Problem(shown(path), message, remedy, severity=severity))

    def folder(self, absolute: str, relative: str, depth: int = 0) -> None:
        try:
            status = os.stat(absolute)
            if (status.st_dev, status.st_ino) in self.seen_folders:
                return
            self.seen_folders.add((status.st_dev, status.st_ino))
            if depth > _MAX_DEPTH:
                return self.problem(relative, f"folders nested deeper than {_MAX_DEPTH} are not read")
            with os.scandir(absolute) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            return self.problem(relative or ".", f"the folder cannot be read: {error.strerror}", severity="error")
        names = {entry.name for entry in entries}
        for entry in entries:
            name = entry.name
            path = f"{relative}/{name}" if relative else name
            if self._passed_over(name, path, relative):
                continue
            try:
                if entry.is_symlink():
                    self.links.append((entry.path, path))
                elif entry.is_dir(follow_symlinks=False):
                    if name not in _FOREIGN_FOLDERS and not (name in OWN_FOLDERS and not relative):
                        self.folder(entry.path, path, depth + 1)
                elif name[-3:].lower() == ".md" and entry.is_file(follow_symlinks=False):
                    self._file(entry.path, path, name, entry.stat(follow_symlinks=False), names)
            except OSError as error:
                self.problem(path, f"cannot be looked at: {error.strerror}", severity="error")

    def _passed_over(self, name: str, path: str, relative: str) -> bool:
        if name.startswith(".") or (
            not relative and name.casefold() in (BRIEFING.casefold(), INBOX)
        ):
            return True
        return any(
            fnmatchcase(path, pattern.rstrip("/")) or fnmatchcase(name, pattern.rstrip("/"))
            for pattern in self.config.ignore
        )

    def _file(self, absolute: str, path: str, name: str, status: os.stat_result, names: set[str]) -> None:
        if not stat.S_ISREG(status.st_mode) or _TEMPORARY.search(name):
            return
        if any("\ud800" <= char <= "\udfff" for char in path):
            self.aside.append(absolute)
            return self.problem(path, "the file's name is not UTF-8; it is not read", "Rename the file.", "error")
        if _CONFLICT.search(name) or _is_copy(absolute, name, names):
            self.aside.append(absolute)
            return self.problem(
                path, "a copy that a sync conflict left; it is not read",
                "Carry over what it says differently, then delete it.",
            )
        if status.st_nlink > 1:
            first = self.hard_links.setdefault((status.st_dev, status.st_ino), path)
            if first != path:
                self.aside.append(absolute)
                return self.problem(path, f"the same file as {shown(first)} under a second name; read once")
        self.files.append(
            TopicFile(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        )

    def follow_links(self) -> None:
        """Links inside the store lead to what was read already; others are followed once, if the settings allow."""
        done = 0
        while done < len(self.links):
            absolute, path = self.links[done]
            done += 1
            try:
                real = os.path.realpath(absolute, strict=True)
                status = os.stat(real)
            except OSError as error:
                self.problem(path, f"a link that leads nowhere: {error.strerror}", "Mend or remove the link.")
                continue
            if real == self.root or real.startswith(self.root.rstrip("/") + "/"):
                continue
            folder = stat.S_ISDIR(status.st_mode)
            if not folder and path[-3:].lower() != ".md":
                continue
            if not self.config.follow_links_outside:
                if not folder:
                    self.aside.append(absolute)
                self.problem(
                    path, "a link out of the store; it is not followed", "Set follow_links_outside = true to allow it."
                )
            elif folder and not self.root.startswith(real.rstrip("/") + "/"):
                self.folder(real, path)
            elif not folder:
                self._file(real, path, os.path.basename(path), status, set())

    def warn_of_twins(self) -> None:
        first: dict[str, str] = {}
        for file in self.files:
            key = file.path.casefold()
            if not key.isascii():
                key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", file.path).casefold())
            other = first.setdefault(key, file.path)
            if other != file.path:
                self.problem(
                    file.path, f"its name differs from {shown(other)} only by case or Unicode form",
                    "Rename one: on other systems they are one file.",
                )


def shown(path: str) -> str:
    """A path for messages: control characters and bytes that are not UTF-8 escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in path)


def _head(path: str) -> set[bytes]:
    with open(path, "rb") as file:
        return {line.strip() for line in file.read(65536).split(b"\n") if line.strip()}


def _is_copy(absolute: str, name: str, names: set[str]) -> bool:
    """`note 2.md` beside `note.md` is a copy if they share an id or half their lines; else it is a topic of its own."""
    match = _COPY.match(name)
    if not match or f"{match['stem']}.md" not in names:
        return False
    try:
        mine = _head(absolute)
        other = _head(os.path.join(os.path.dirname(absolute), f"{match['stem']}.md"))
    except OSError:
        return False
    ids = [set(_MEMORY_ID.findall(b"\n".join(lines))) for lines in (mine, other)]
    return bool(ids[0] & ids[1]) or (len(mine) > 1 and len(mine & other) * 2 >= len(mine))


def scan(root: Path, config: Config) -> Scan:
    """One pass over the store with os.scandir; deterministic order (by path)."""
    real = os.path.realpath(root)
    walk = _Walk(real, config)
    walk.folder(real, "")
    walk.follow_links()
    walk.files.sort(key=lambda file: file.path)
    walk.warn_of_twins()
    return Scan(tuple(walk.files), tuple(walk.problems), tuple(walk.aside))


def topic_paths(root: Path, config: Config) -> Iterator[str]:
    """The relative paths of the topic files, sorted."""
    return (file.path for file in scan(root, config).files)


def is_episode(path: str) -> bool:
    """Whether a topic path is a session's page (`episodes/…`) and not a topic proper."""
    return path.startswith("episodes/")


def raw_ids(path: str | os.PathLike[str]) -> frozenset[str]:
    """The memory ids that stand anywhere in a file's bytes; none if it cannot be read."""
    from memoryfs.textfile import read_file

    try:
        data = read_file(path).data
    except OSError:
        return frozenset()
    return frozenset(match.decode() for match in _MEMORY_ID.findall(data))
