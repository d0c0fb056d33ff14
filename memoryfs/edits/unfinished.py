"""In: an answer about two topics, whole: what it does to both and what the ledger is to know. Out: it carried out, by whoever comes next if need be.

`.memoryfs/merging.json` holds the answer from before the first write until after the last one. Carrying it out twice writes nothing
the second time, so whoever finds it (a run, a command) does it again before anything else looks at the files; a kernel lock tells a
dead writer from one at work. A journal that cannot be read is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits.merged import SUCCESSOR, given, received, with_front, without_review
from memoryfs.edits.plan import Change
from memoryfs.edits.regroup import follow, homes_of
from memoryfs.edits.takeback import restored
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import LockedError, MemoryfsError, NotFoundError, ReadOnlyError, UnwritableFileError
from memoryfs.ledger import Entry
from memoryfs.model import Problem
from memoryfs.textfile import STATE, StoreLock, digest_of, write_atomic
from memoryfs.topic import Topic

FILE = "merging.json"
VERSION = 1
_WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Work:
    """An answer to the review `id` about `keep` and `other`. `verb`: accept, reject or undo; `moved`: the memories that go over, or back;
    `words`: the other file held a person's words too.

    `first` is told to the ledger before the files change, `last` after; `since` entries stood there before. `parts`: what undo puts
    back, for each file {topic, hunks, digest (of the file now), front, standing, own}.
    """

    verb: str
    id: str
    keep: str
    other: str
    time: str
    detail: str
    since: int
    moved: tuple[str, ...] = ()
    words: bool = False
    first: tuple[Entry, ...] = ()
    last: tuple[Entry, ...] = ()
    parts: tuple[Mapping[str, Any], ...] = ()

    @property
    def change(self) -> Change:
        return Change("restore" if self.verb == "undo" else "resolve", self.id, self.keep, self.detail)


def path_of(root: Path) -> Path:
    return root / STATE / FILE


def begin(root: Path, work: Work) -> None:
    """Keep what is about to be done."""
    data = {key: getattr(work, key) for key in ("verb", "id", "keep", "other", "time", "detail", "since", "moved", "words", "parts")}
    told = {key: [e.to_dict() for e in getattr(work, key)] for key in ("first", "last")}
    write_atomic(path_of(root), json.dumps({"version": VERSION, **data, **told}, default=str).encode())


def end(root: Path) -> None:
    """It is done; forget it."""
    path_of(root).unlink(missing_ok=True)


def pending(root: Path) -> Work | None:
    """What a kill left to be done, or None."""
    try:
        data = json.loads(path_of(root).read_bytes())
        if data.pop("version") != VERSION:
            return None
        told = {key: tuple(e for e in (ledger.decode(json.dumps(line)) for line in data[key]) if e) for key in ("first", "last")}
        return Work(**{**data, **told, "moved": tuple(data["moved"]), "parts": tuple(data["parts"])})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


@contextmanager
def alone(root: Path, config: Config) -> Iterator[None]:
    """Nobody else answers meanwhile, and nothing is left undone. Raises what is in the way of that."""
    with StoreLock(root, "merging", wait_seconds=_WAIT_SECONDS):
        work = pending(root)
        if work is not None:
            carry_out(root, config, work)
        yield


def complete(root: Path, config: Config, *, asked: str = "") -> tuple[Work | None, tuple[Problem, ...]]:
    """Does what a kill left to be done; what it was, or what is in its way, which is raised where it is about the review `asked`.

    Raises ReadOnlyError, LockedError.
    """
    if not path_of(root).exists():
        return None, ()
    with StoreLock(root, "merging", wait_seconds=_WAIT_SECONDS):
        work = pending(root)
        if work is None:
            return None, ()
        try:
            carry_out(root, config, work)
        except (ReadOnlyError, LockedError):
            raise
        except Exception as error:
            known = error if isinstance(error, MemoryfsError) else MemoryfsError(repr(error))
            if known is not error:
                end(root)  # else it would stop every run to come
            if work.id == asked:
                raise
            said = f"{work.verb} ^{work.id}, which was interrupted, is not complete: {known.message}"
            return None, (Problem(work.keep, said, known.remedy, severity="warning"),)
    return work, ()


def carry_out(root: Path, config: Config, work: Work) -> None:
    """Does the work, or what is left of it. Raises what is in the way: a file that is damaged or is being saved again and again, after
    which it is tried again later; a file that is gone or whose lines were changed, for which it is given up once the rest is done."""
    lost: list[MemoryfsError] = []
    _tell(root, work.since, work.first)
    try:
        {"accept": _accept, "reject": _reject, "undo": _undo}[work.verb](root, config, work, lost)
    except NotFoundError as error:  # a person took the file away since this was planned
        lost.append(error)
    _tell(root, work.since, work.last)
    end(root)
    if lost:
        raise lost[0]


def _tell(root: Path, since: int, entries: Iterable[Entry]) -> None:
    told = set(map(ledger.encode, ledger.read(root)[0][since:]))
    ledger.append(root, [entry for entry in entries if ledger.encode(entry) not in told])


def _accept(root: Path, config: Config, work: Work, lost: list[MemoryfsError]) -> None:
    """First they stand in both, then in one: a kill between loses none."""
    try:
        going: Topic | None = read_topic(root, work.other, config)[0]
    except NotFoundError:
        going = None
    kept = edit_topic(root, work.keep, lambda topic: received(topic, going, work.moved, work.id), config=config)
    if going is not None:
        own = ledger.own_meta(ledger.read(root)[0]).get(work.other, {})
        edit_topic(root, work.other, lambda topic: given(topic, kept, work.moved, own, work.time[:10], words=work.words), config=config)
    follow(root, config, homes_of([kept]), now=datetime.fromisoformat(work.time))


def _reject(root: Path, config: Config, work: Work, lost: list[MemoryfsError]) -> None:
    edit_topic(root, work.keep, lambda topic: without_review(topic, work.id), config=config)


def _undo(root: Path, config: Config, work: Work, lost: list[MemoryfsError]) -> None:
    """The other file first, for the same reason."""
    for part in sorted(work.parts, key=lambda part: part["topic"] == work.keep):
        def edit(topic: Topic, part: Mapping[str, Any] = part) -> Topic:
            return topic if _is_back(topic, work, part) else as_before(topic, part)

        try:
            edit_topic(root, part["topic"], edit, config=config)
        except UnwritableFileError as error:
            if not read_topic(root, part["topic"], config)[0].writable:
                raise
            lost.append(error)  # its lines were changed since this was planned: they stay, and so do those of the other file
            return
    if work.moved:
        follow(root, config, homes_of([read_topic(root, work.other, config)[0]]), now=datetime.fromisoformat(work.time))


def _is_back(topic: Topic, work: Work, part: Mapping[str, Any]) -> bool:
    """Whether the file was put back before, although somebody may have saved it since."""
    if digest_of(topic.text.encode("utf-8", "surrogateescape")) == part["digest"]:
        return False
    if topic.path == work.keep:
        return any(r.id == work.id for r in topic.reviews)
    return any(m.id in work.moved for m in topic.memories) or (not work.moved and topic.meta.get(SUCCESSOR) != work.keep)


def as_before(topic: Topic, part: Mapping[str, Any]) -> Topic:
    """The topic with the part's lines put back, and with the front matter that it had where only the organizer changed that since.

    Raises UnwritableFileError.
    """
    if not topic.writable:
        raise UnwritableFileError(topic.path, next((p.message for p in topic.problems if p.severity == "error"), "it is damaged"))
    return with_front(restored(topic, part["hunks"]), part, part.get("own") or {})
