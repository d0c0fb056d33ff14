"""In: a store after the sessions of a run. Out: its topics put in order: what is said twice joined, front matter brought up to date,
large ones split, look-alikes proposed for merging; what was done.

Looked at when the ledger has grown since the last time: what nobody touched needs no putting in order.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits import merging
from memoryfs.edits.load import load_topics
from memoryfs.edits.merged import SUCCESSOR, proposed
from memoryfs.edits.write import read_topic
from memoryfs.errors import MemoryfsError, NotFoundError, ReadOnlyError
from memoryfs.files import BRIEFING
from memoryfs.model import CURRENT, Problem
from memoryfs.textfile import STATE, write_atomic
from organizer import alike, joining, split
from organizer.apply import Plan, TopicPlan, record, write_topic
from organizer.journal import Work
from organizer.shelf import open_library, shelf_of

STAMP = "tidied.json"
VERSION = 3  # of what is looked at; raise it when this stage learns to do more


@dataclass
class Tidied:
    """What was done, in words, and what could not be."""

    notices: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def tidy(
    root: Path, config: Config, *, now: datetime, write: Callable[[Work, list[ledger.Entry]], list[Problem]],
    similarity: Callable[[str, str], float] | None = None, left: Callable[[], float] = lambda: 1.0,
) -> Tidied:
    """Puts the topics in order. `left` is how many seconds of the run's budget are left; what there is no time for waits for the
    next run. `similarity` is the cosine of two texts' vectors, where there are any; `write` carries out a piece of work under the journal, so that a kill loses nothing of it.

    Raises ReadOnlyError.
    """
    out = Tidied()
    if _stamp(root, config) == _read(root):
        return out
    _answered(root, config, now, out)
    entries = list(ledger.read(root)[0])
    _joined(root, config, entries, now, write, similarity, out)
    _refreshed(root, config, entries, now, out)
    topics = load_topics(root, config)
    parts = split.due(topics, entries, config, briefing=_text(root / BRIEFING))
    for part in parts:
        if left() <= 0:
            return out
        out.problems += write(Work("", 0, 0, 0, now.isoformat(timespec="seconds"), Plan(), parts=(part,)), entries)
        out.notices.append(f"split {part.source}: {len(part.ids)} memories that speak of {part.word} stand in {part.path} now")
    for pair in alike.alike(load_topics(root, config) if parts else topics, entries, config, similarity):
        reason = f"both speak of {', '.join(pair.words)}" if pair.words else "by what their memories say"
        with _told(out, pair.keep):
            merging.propose(root, config, pair.keep, pair.other, reason, now=now)
            out.notices.append(f"to review: {pair.keep} and {pair.other} look like one topic")
    with contextlib.suppress(ReadOnlyError):  # without it the next run looks again
        write_atomic(root / STATE / STAMP, json.dumps(_stamp(root, config)).encode())
    return out


def _answered(root: Path, config: Config, now: datetime, out: Tidied) -> None:
    """Merge what a person ticked in a file; take out what asks about a topic that is gone, or that went here before."""
    topics = load_topics(root, config)
    for path, topic in sorted(topics.items()):
        for review in topic.reviews if topic.writable else ():
            other = proposed(review, path)
            status = topics[other].status if other in topics else "gone"
            gone, here = status not in CURRENT, other in topics and topics[other].meta.get(SUCCESSOR) == path
            if other and (gone or review.ticked):
                with _told(out, path):
                    change = merging.answer(
                        root, config, path, review, "reject" if gone and not here else "accept", now=now,
                        actor="organizer" if gone else "person", why=f"{other} {'went here' if here else f'is {status}'}" if gone else "")
                    out.notices += [] if gone else [f"merged into {path}: {change.detail}"]


def _joined(
    root: Path, config: Config, entries: list[ledger.Entry], now: datetime, write: Callable[[Work, list[ledger.Entry]], list[Problem]],
    similarity: Callable[[str, str], float] | None, out: Tidied,
) -> None:
    """Of two memories that say the same, one stays: looked at for those that came or changed since the last time."""
    last = _read(root)
    seen = last.get("entries", 0) if isinstance(last, dict) and last.get("version") == VERSION else 0
    came = [e.id for e in entries[seen:] if e.action in joining.CAME and e.id.startswith("m-")]
    if not came:
        return
    plan = joining.joined(open_library(root, config, entries, similarity=similarity), came, now=now)
    if plan.entries:
        out.problems += write(Work("", 0, 0, 0, now.isoformat(timespec="seconds"), plan), entries)
        ended = sum(e.action == "supersede" for e in plan.entries)
        out.notices.append(f"said twice: {ended} memories moved to History, their sources to the ones that stay")


def _refreshed(root: Path, config: Config, entries: list[ledger.Entry], now: datetime, out: Tidied) -> None:
    """Front matter that the organizer wrote, brought up to date where memories came, went or changed since: by a person's hand,
    by a command, by a merging. What a person set there stays."""
    own = ledger.own_meta(entries)
    for path in sorted(changed_since(entries) & own.keys()):
        with _told(out, path), contextlib.suppress(NotFoundError):
            topic = read_topic(root, path, config)[0]
            if topic.writable and not topic.meta.get(SUCCESSOR):
                record(root, {path: write_topic(root, config, TopicPlan(path, "", repo=shelf_of(topic).repo), own[path])},
                       now.isoformat(timespec="seconds"), entries)


def changed_since(entries: Iterable[ledger.Entry]) -> set[str]:
    """The topics whose memories changed after a run last recorded their whole front matter (`apply.record`: an entry that needs no
    reason; where words were only taken away, it says why). Pure."""
    changed: set[str] = set()
    homes: dict[str, str] = {}
    for entry in entries:
        if not entry.id and entry.action == "edit" and entry.actor == "organizer" and "meta" in entry.extra and not entry.why:
            changed.discard(entry.topic)
        elif entry.id.startswith("m-") and entry.topic and entry.action not in ledger.WATCHED:
            before = entry.extra.get("from")
            changed.update({entry.topic, homes.get(entry.id, entry.topic), *([before] if isinstance(before, str) else [])})
            homes[entry.id] = entry.topic
    return changed


@contextlib.contextmanager
def _told(out: Tidied, path: str) -> Iterator[None]:
    """A file that cannot be edited now is a problem; the others go on."""
    try:
        yield
    except ReadOnlyError:
        raise
    except MemoryfsError as error:
        out.problems.append(Problem(path, error.message, error.remedy, severity="warning"))


def _stamp(root: Path, config: Config) -> dict[str, int]:
    """How far the ledger was looked at, and with which settings."""
    return {"version": VERSION, "entries": len(ledger.read(root)[0]), "split": config.organize.topic_split_memories}


def _read(root: Path) -> object:
    try:
        return json.loads((root / STATE / STAMP).read_bytes())
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
