"""In: the sessions of a run and the memories that are marked. Out: footnotes that name the git branch while it is not merged.

What is learned on an unmerged branch may never come to hold. Its footnote says `on branch NAME`, recall ranks it a little
lower and shows the branch; when the branch is merged, or gone, the next run takes the mark off. A memory with a source
from elsewhere too, or said by a person in the files, is not marked. Where git or the folder is not there, nothing is.
A run killed between a session and this step leaves its memories unmarked, thus counting fully.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from memoryfs import gitfacts, topic_edit
from memoryfs import thread as threads
from memoryfs.config import Config
from memoryfs.edits import edit_topic, topic_paths
from memoryfs.errors import MemoryfsError
from memoryfs.files import is_episode
from memoryfs.model import CURRENT, Problem, SourceRange
from memoryfs.topic import Topic, parse

MARK = b"on branch "
Merged = Callable[[Path, str], bool | None]


def stage(
    root: Path, config: Config, sessions: Iterable[str], *, merged: Merged = gitfacts.is_merged
) -> tuple[int, int, list[Problem]]:
    """Marks what the threads `sessions` taught on an unmerged branch, and takes off the marks of merged ones.

    Returns how many sources were marked and unmarked, and what could not be written. A topic is parsed only if
    it has a mark or cites one of these sessions.
    """
    places = _Places(root, merged)
    fresh = {thread for thread in sessions if places.has_branch(thread)}
    traces = [MARK, *(SourceRange(thread, 0, 0).short.encode() for thread in fresh)]
    counts, problems = [0, 0], []
    for path in topic_paths(root, config):
        if is_episode(path):
            continue
        try:
            data = (root / path).read_bytes()
        except OSError:
            continue  # named where topics are read
        topic = parse(data, path) if any(trace in data for trace in traces) else None
        wanted = _wanted(topic, fresh, places) if topic is not None and topic.writable else {}
        if not wanted:
            continue
        try:
            edit_topic(root, path, lambda t, w=wanted: _edited(t, w), config=config)
        except MemoryfsError as error:
            problems.append(Problem(path, f"branches are not marked: {error.message}", error.remedy, severity="warning"))
            continue
        counts[0] += sum(bool(branch) for branch in wanted.values())
        counts[1] += sum(not branch for branch in wanted.values())
    return counts[0], counts[1], problems


def _wanted(topic: Topic, fresh: set[str], places: _Places) -> dict[str, str]:
    """Footnote label → the branch it should name, for those that should change."""
    marked = {d.label: d.note.branch for d in topic.definitions if d.note.branch}
    out: dict[str, str] = {}
    for memory in topic.memories:
        if memory.status not in CURRENT:
            continue
        for source in memory.source_range:
            held = marked.get(source.label, "")
            if held and places.merged(source, held):
                out[source.label] = ""
            elif not held and source.thread in fresh:
                branch = places.branch(source)
                if branch and places.merged(source, branch) is False:
                    out[source.label] = branch
    return out


def _edited(topic: Topic, wanted: Mapping[str, str]) -> Topic:
    for label, branch in wanted.items():
        topic = topic_edit.set_branch(topic, label, branch)
    return topic


class _Places:
    """Where sessions ran and on which branch, read once each; what git says of a branch, asked once each."""

    def __init__(self, root: Path, merged: Merged) -> None:
        self.root = root
        self._ask = merged
        self._moves: dict[str, list[tuple[int, str, str]]] = {}
        self._merged: dict[tuple[str, str], bool | None] = {}

    def has_branch(self, thread: str) -> bool:
        return any(branch for _, _, branch in self._of(thread))

    def branch(self, source: SourceRange) -> str:
        return self._at(source)[1]

    def merged(self, source: SourceRange, branch: str) -> bool | None:
        folder = self._at(source)[0]
        key = (folder, branch)
        if key not in self._merged:
            there = bool(folder) and gitfacts.in_repository(Path(folder))
            self._merged[key] = self._ask(Path(folder), branch) if there else None
        return self._merged[key]

    def _at(self, source: SourceRange) -> tuple[str, str]:
        """Folder and branch when the last event of the source was made."""
        moves = [m for m in self._of(source.thread) if m[0] <= source.end]
        return (moves[-1][1], moves[-1][2]) if moves else ("", "")

    def _of(self, thread: str) -> list[tuple[int, str, str]]:
        if thread not in self._moves:
            self._moves[thread] = list(self._read(thread))
        return self._moves[thread]

    def _read(self, thread: str) -> Iterable[tuple[int, str, str]]:
        now: dict[str, str] = defaultdict(str)
        for event in threads.iter_events(self.root, thread):
            session = event.metadata.get("session")
            told = {**(session if isinstance(session, dict) else {}), **event.metadata}
            new = {key: told[key] for key in ("cwd", "branch") if isinstance(told.get(key), str) and told[key]}
            if any(now[key] != value for key, value in new.items()):
                now.update(new)
                yield event.index, now["cwd"], now["branch"]
