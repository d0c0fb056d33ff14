"""In: a store. Out: what the organizer knows of it while a run lasts: memories, topics, ledger, which sessions are done.

Read once at the start of a run and kept up to date as sessions are written, so that a later session sees what an
earlier one of the same run has added.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs import ledger
from memoryfs import thread as threads
from memoryfs.config import Config
from memoryfs.edits.load import load_topics
from memoryfs.edits.merged import SUCCESSOR
from memoryfs.edits.tombstones import Tombstones
from memoryfs.edits.write import read_topic
from memoryfs.errors import NotFoundError
from memoryfs.files import is_episode
from memoryfs.model import CURRENT, Event
from memoryfs.topic import Topic
from organizer.dedupe import Known
from organizer.episodes import heard
from organizer.rules.hints import cwd_of
from organizer.subject import Frequency, repository
from organizer.topics import Shelf
from organizer.waiting import Waiters

if TYPE_CHECKING:
    from organizer.journal import Work

DONE = "organize"  # the ledger's action for a session that is done
CUT = 20_000  # characters of one event that are read for memories; the thread keeps all of it


@dataclass(frozen=True, slots=True)
class Done:
    """How far a thread was organized: its first `events` events, when its file had `size` bytes; its page's digest."""

    events: int
    size: int
    page: str = ""
    page_digest: str = ""


@dataclass
class Library:
    """The store as the run sees it."""

    root: Path
    config: Config
    topics: dict[str, Topic]
    entries: list[ledger.Entry]
    known: Known
    shelves: dict[str, Shelf]
    frequency: Frequency
    tombstones: Tombstones
    done: dict[str, Done]
    inbox: Waiters

    def repo_of(self, topic: str) -> str:
        shelf = self.shelves.get(topic)
        return shelf.repo if shelf else ""

    def reread(self, paths: Iterable[str]) -> None:
        """Take in topic files that were just written."""
        for path in paths:
            try:
                topic, _ = read_topic(self.root, path, self.config)
            except NotFoundError:
                continue
            self.topics[path] = topic
            self.shelves[path] = shelf_of(topic)
            for memory in topic.memories:
                self.known.add(memory)

    def reload(self) -> None:
        """Read everything anew, after a session failed half-way."""
        fresh = open_library(self.root, self.config, list(ledger.read(self.root)[0]), similarity=self.known.similarity)
        fresh.frequency = self.frequency
        self.__dict__.update(fresh.__dict__)

    def advance(self, work: Work) -> None:
        """Take in what was just written for one session."""
        self.reread([t.path for t in work.plan.topics])
        self.inbox.take((*work.plan.settled, *work.plan.waiting))
        self.done = sessions_done(self.entries)


def open_library(
    root: Path, config: Config, entries: list[ledger.Entry], *, similarity: Callable[[str, str], float] | None = None
) -> Library:
    """Reads the store's topics; `entries` is its ledger."""
    topics = {path: t for path, t in load_topics(root, config).items() if not is_episode(path)}
    known = Known((m for _, t in sorted(topics.items()) for m in t.memories), similarity)
    shelves = {path: shelf_of(topic) for path, topic in topics.items()}
    return Library(
        root, config, topics, entries, known, shelves, Frequency(_shelf_text(t) for t in topics.values()),
        Tombstones(ledger.state(entries)), sessions_done(entries), Waiters(entries, similarity),
    )


def shelf_of(topic: Topic) -> Shelf:
    """A topic as placing sees it."""
    meta = topic.meta.get("metadata")
    repo = str(meta.get("repo") or "") if isinstance(meta, dict) else ""
    files = tuple(map(str, meta.get("files") or ())) if isinstance(meta, dict) else ()
    into = str(topic.meta.get(SUCCESSOR) or "")
    shelf = Shelf(topic.path, topic.title, repo, len(topic.text), files, into=into)
    if into:  # merged into that one: it takes nothing
        return shelf
    for text in (topic.title, *topic.tags, *topic.query_hints):
        shelf.learn(text, 3)
    for memory in topic.memories:
        if memory.status in CURRENT:
            shelf.learn(memory.summary)
    return shelf


def _shelf_text(topic: Topic) -> str:
    return " ".join((topic.title, *topic.tags, *(m.summary for m in topic.memories)))


def sessions_done(entries: Iterable[ledger.Entry]) -> dict[str, Done]:
    """How far each thread was organized, from the ledger."""
    found: dict[str, Done] = {}
    for entry in entries:
        if entry.action != DONE:
            continue
        extra = entry.extra
        thread, events, size = extra.get("thread"), extra.get("events"), extra.get("bytes")
        if isinstance(thread, str) and isinstance(events, int) and isinstance(size, int):
            old = found.get(thread)
            page, digest = str(extra.get("page") or ""), str(extra.get("page_digest") or "")
            found[thread] = Done(events, size, page or (old.page if old else ""), digest or (old.page_digest if old else ""))
    return found


def done_entry(work: Work, page_digest: str) -> ledger.Entry:
    """The ledger's line that a session is done."""
    extra = {"thread": work.thread, "events": work.events, "bytes": work.size}
    if work.page:
        extra |= {"page": work.page.path, "page_digest": page_digest}
    return ledger.Entry(work.time, "organizer", DONE, "", extra=extra)


def pending(root: Path, done_so_far: Mapping[str, Done]) -> list[str]:
    """The threads that have grown since they were organized, or never were; oldest first, branches after their base."""
    found: list[tuple[str, str]] = []
    for thread in threads.list_threads(root):
        path = threads.thread_path(root, thread)
        if path.suffix == ".zst":
            continue
        done = done_so_far.get(thread)
        size = os.stat(path).st_size
        if done is not None and (done.size == size or _count(path) <= done.events):
            continue
        found.append((_first_time(root, thread), thread))
    return [thread for _, thread in sorted(found)]


def _count(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _first_time(root: Path, thread: str) -> str:
    for number, event in enumerate(threads.iter_events(root, thread)):
        if event.time:
            return event.time
        if number > 50:
            break
    return thread[:10]


def read_session(root: Path, thread: str) -> list[Event]:
    """The events of a thread, each cut to what is read for memories; offsets are those of the whole event."""
    return [
        e if len(e.text) <= CUT else replace(e, text=e.text[:CUT])
        for e in threads.iter_events(root, thread)
    ]


def not_in_base(root: Path, thread: str, events: Sequence[Event]) -> list[Event]:
    """The events of a branch that the versions before it do not hold; all events of a thread that is no branch."""
    base, mark, number = thread.partition("~")
    if not mark:
        return list(events)
    earlier = [base, *(f"{base}~{n}" for n in range(2, int(number)))]
    seen = {(e.role, e.kind, e.time, e.text) for name in earlier for e in read_session(root, name)}
    return [e for e in events if (e.role, e.kind, e.time, e.text) not in seen]


def session_facts(events: Sequence[Event]) -> dict[str, str]:
    """What the session says of itself: harness, cwd, branch, parent (of a sub-agent), and the repository's name."""
    facts: dict[str, str] = {}
    for event in events[:50]:
        session = event.metadata.get("session")
        if isinstance(session, dict):
            facts |= {k: str(v) for k, v in session.items() if isinstance(v, str)}
        for key in ("cwd", "branch"):
            if event.metadata.get(key) and not facts.get(key):
                facts[key] = str(event.metadata[key])
    facts["repo"] = repository(facts.get("cwd"))
    return facts


def files_of(events: Iterable[Event], limit: int = 20, *, edited: bool = False) -> tuple[str, ...]:
    """The files a session dealt with (only those it edited, if `edited`), relative to its directory, most often first."""
    counts: Counter[str] = Counter()
    cwd = ""
    for event in events:
        cwd = cwd_of(event) or cwd
        if edited and event.kind != "file_edit":
            continue
        for file in event.metadata.get("files") or ():
            counts[file.removeprefix(cwd.rstrip("/") + "/") if cwd else file] += 3 if event.kind == "file_edit" else 1
    return tuple(sorted(counts, key=lambda f: (-counts[f], f))[:limit])


def spoken(events: Iterable[Event], limit: int = 20_000) -> str:
    """What the users said in a session, for its subject; at most `limit` characters."""
    text = "\n".join(e.text[:2000] for e in events if e.role == "user" and heard(e))
    return text[:limit]
