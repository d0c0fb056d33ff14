"""In: a memory and its topic. Out: the git repository it is about, if that is on this machine.

A folder that the topic's front matter names (`metadata: {repo: ~/src/school}`) comes first, then the one in which the last session ran
that the memory comes from, then the project in which the store stands: that of a session elsewhere, or of a topic with
a repository's name, only where the names are the same.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from memoryfs import scope
from memoryfs import thread as threads
from memoryfs.model import Memory
from memoryfs.topic import Topic

FIRST = 20  # events of a session in which its folder is told


class Places:
    """Looked up once each. `folders`: thread → folder, as known from earlier runs and added to."""

    def __init__(self, root: Path, folders: Mapping[str, str]) -> None:
        self.root = root
        self.folders = dict(folders)
        self._repositories: dict[str, Path | None] = {}
        self.own = self._of(str(root.parent))

    def repository(self, memory: Memory, topic: Topic) -> Path | None:
        """The main working folder of the repository (of a bare one, its own); None if it is not here."""
        folder, named = self._session(memory), self._named(topic)
        if named.startswith(("/", "~")):
            return self._of(os.path.expanduser(named))
        if folder and (there := self._of(folder)):
            return there
        meant = {_base(name) for name in (folder, named) if name}
        return self.own if self.own and (not meant or self.own.name in meant) else None

    def asked(self) -> list[Path]:
        """The repositories that were found, and the folders in which there was none."""
        return sorted({found or Path(folder) for folder, found in self._repositories.items() if os.path.isabs(folder)})

    def _named(self, topic: Topic) -> str:
        meta = topic.meta.get("metadata")
        repo = meta.get("repo") if isinstance(meta, dict) else None
        return repo.strip() if isinstance(repo, str) and "\0" not in repo else ""

    def _session(self, memory: Memory) -> str:
        for place in reversed(memory.source_range):
            if place.thread not in self.folders:
                self.folders[place.thread] = self._folder(place.thread)
            if self.folders[place.thread]:
                return self.folders[place.thread]
        return ""

    def _folder(self, thread: str) -> str:
        with contextlib.suppress(OSError, ValueError):
            for event in threads.read_events(self.root, thread, 0, FIRST):
                session = event.metadata.get("session")
                told = {**(session if isinstance(session, dict) else {}), **event.metadata}
                if isinstance(told.get("cwd"), str) and told["cwd"]:
                    return str(told["cwd"])
        return ""

    def _of(self, folder: str) -> Path | None:
        if folder not in self._repositories:
            self._repositories[folder] = _repository(Path(folder)) if os.path.isabs(folder) else None
        return self._repositories[folder]


def _base(name: str) -> str:
    """The last part of a path or an address, without `.git`."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".git")


def _repository(folder: Path) -> Path | None:
    """The repository in which a folder lies; starts nothing."""
    with contextlib.suppress(OSError, ValueError):
        if not folder.is_dir():
            return None
        for parent in (folder, *folder.parents):
            if is_repository(parent):
                main = scope.main_worktree(parent)
                return main if main.is_dir() else parent
    return None


def is_repository(folder: Path) -> bool:
    """Whether the folder is the top of a working tree, or a bare repository; starts nothing."""
    with contextlib.suppress(OSError):
        return (folder / ".git").exists() or all((folder / name).exists() for name in ("HEAD", "objects", "refs"))
    return False
