"""In: the topics of a store, its ledger, the settings. Out: the subjects that get a file of their own, and that carried out.

A topic that holds more memories than `organize.topic_split_memories` gives what speaks of a subject that it gave away before to that
one's file, then the group that is most a subject of its own (`organizer.clusters`), then the next, until it is small enough or
no such group is left. Only what the organizer wrote and
nobody touched goes: what a person wrote, edited, moved, pinned, put under a heading of their own or points to from their own
words stays, as does what waits under *Needs review*. A topic into which a person took back what had been split off is left whole. What was replaced by a memory that goes, goes with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs import ledger
from memoryfs.edits.regroup import bring_over, follow
from memoryfs.edits.write import read_topic
from memoryfs.errors import MemoryfsError, NotFoundError, ReadOnlyError
from memoryfs.files import NOTES, is_episode
from memoryfs.model import CURRENT, Memory, Problem
from memoryfs.textfile import slug
from memoryfs.topic import role_of
from memoryfs.topic_edit import linked_by_hand
from organizer.apply import TopicPlan, blank, record, write_topic
from organizer.clusters import Group, find_group
from organizer.lifecycle import pinned
from organizer.shelf import shelf_of
from organizer.subject import terms

if TYPE_CHECKING:
    from memoryfs.config import Config
    from memoryfs.topic import Topic

WORD = "subject"  # key of a move's ledger line: the word that named the group
_TOUCHED = ("adopt", "edit", "move", "restore")  # by a person: the memory is where and as they want it


@dataclass(frozen=True, slots=True)
class Part:
    """Memories of `source` that get the file `path`: `ids`, in the order in which they stand, all say `word`."""

    source: str
    path: str
    title: str
    repo: str
    word: str
    ids: tuple[str, ...]

    @property
    def why(self) -> str:
        return f"the topic was split: these speak of {self.word}"


def due(topics: Mapping[str, Topic], entries: Sequence[ledger.Entry], config: Config, *, briefing: str = "") -> list[Part]:
    """The splits that are due, in the order of paths. Pure. `briefing` is the text of MEMORY.md, whose Notes may point to memories."""
    from memoryfs.notation import pointers

    most = config.organize.topic_split_memories
    large = {path: t for path, t in sorted(topics.items()) if most and _may_split(t) and len(_current(t)) > most}
    if not large:
        return []
    stays = {e.id for e in entries if e.actor == "person" and e.action in _TOUCHED}
    stays |= {id for t in topics.values() for id in linked_by_hand(t)} | {id for _, id in pointers(briefing)}
    stays |= {id for t in topics.values() for r in t.reviews for id in r.memory_ids}
    named, whole = _told(entries)
    taken = set(topics) | {e.topic for e in entries}
    found: list[Part] = []
    for topic in (t for path, t in large.items() if path not in whole):
        for part in _parts(topic, stays, named.get(topic.path, {}), topics, taken, most):
            taken.add(part.path)
            found.append(part)
    return found


def _told(entries: Iterable[ledger.Entry]) -> tuple[dict[str, dict[str, str]], set[str]]:
    """By topic, the words that named a part of it before, each with the part's path; and the topics that a person put together again."""
    named: dict[str, dict[str, str]] = {}
    whole: set[str] = set()
    parted: dict[str, str] = {}
    for entry in entries:
        if entry.action != "move":
            continue
        if isinstance(entry.extra.get(WORD), str):
            parted[entry.id] = str(entry.extra.get("from"))
            named.setdefault(parted[entry.id], {})[str(entry.extra[WORD])] = entry.topic
        elif entry.actor == "person" and parted.get(entry.id) == entry.topic:
            whole.add(entry.topic)
    return named, whole


def _may_split(topic: Topic) -> bool:
    return topic.writable and topic.status in CURRENT and not is_episode(topic.path) and topic.path != NOTES and not pinned(topic)


def _current(topic: Topic) -> list[Memory]:
    return [m for m in topic.memories if m.status in CURRENT]


def _parts(
    topic: Topic, stays: Iterable[str], named: Mapping[str, str], topics: Mapping[str, Topic], taken: set[str], most: int
) -> Iterable[Part]:
    repo = shelf_of(topic).repo
    movable = {m.id for m in topic.memories if m.id not in stays and _ours(m)}
    left = _current(topic)
    without = {t for text in (topic.title, repo, *named) for t in terms(text)}
    for word, path in named.items():
        there = topics.get(path)
        room = most - len(_current(there)) if there is not None and _may_split(there) else 0
        ids = tuple(m.id for m in left if m.id in movable and set(terms(word)) & set(terms(m.summary)))[: max(0, room)]
        if there is not None and ids and len(left) > most:
            yield Part(topic.path, path, there.title, repo, word, _with_history(topic, ids, movable))
            left = [m for m in left if m.id not in ids]
    while len(left) > most:
        group = find_group(left, movable, most=most, without=without)
        if group is None:
            return
        without |= set(terms(group.word))
        part = _part(topic, group, movable, repo)
        if part.path in taken:
            continue
        left = [m for m in left if m.id not in part.ids]
        yield part


def _ours(memory: Memory) -> bool:
    """A line as the organizer writes it, under one of its own headings."""
    extra = memory.metadata
    return (
        memory.stated_by == "organizer" and extra.get("adopted", True) and bool(role_of(str(extra.get("section", ""))))
        and not any(extra.get(key) for key in ("children", "block", "other_ids")) and "#pinned" not in memory.summary.split()
    )


def _part(topic: Topic, group: Group, movable: set[str], repo: str) -> Part:
    folder, _, name = topic.path.removesuffix(".md").rpartition("/")
    base, title = (repo, repo) if repo and folder == "projects" else (name, topic.title)
    path = f"{folder}/{slug(f'{base}-{group.word}', max_bytes=60)}.md".lstrip("/")
    return Part(topic.path, path, f"{title} · {group.word}", repo, group.word, _with_history(topic, group.ids, movable))


def _with_history(topic: Topic, ids: Sequence[str], movable: set[str]) -> tuple[str, ...]:
    """The memories, and what they replaced, one after the other."""
    going = list(ids)
    for id in going:  # grows: what was replaced may have replaced another
        going += [m.id for m in topic.memories if m.superseded_by == id and m.id in movable and m.id not in going]
    return tuple(going)


def carry_out(root: Path, config: Config, part: Part, entries: list[ledger.Entry], *, now: datetime) -> list[Problem]:
    """Moves the part's memories and brings both files' front matter up to date; doing it again changes nothing.

    `entries` is the ledger as it stands; what is recorded is added to it. A file that cannot be edited is a problem. Raises
    ReadOnlyError.
    """
    try:
        source, _ = read_topic(root, part.source, config)
        plan = _plan(part, source, root, config)
        moved = bring_over(root, config, part.source, part.path, part.ids, actor="organizer", now=now, why=part.why,
                           extra={WORD: part.word}, create=lambda: blank(plan))
        problems = list(follow(root, config, dict.fromkeys(moved, part.path) | _staying(root, config, part), now=now))
        entries[:] = ledger.read(root)[0]
        own = ledger.own_meta(entries)
        metas = {p.path: write_topic(root, config, p, own.get(p.path, {})) for p in (plan, TopicPlan(part.source, "", repo=part.repo))}
        record(root, metas, now.isoformat(timespec="seconds"), entries)
        return problems
    except ReadOnlyError:
        raise
    except NotFoundError:  # a person took the file away since this was planned
        return []
    except MemoryfsError as error:
        return [Problem(part.source, f"not split: {error.message}", error.remedy, severity="warning")]


def _staying(root: Path, config: Config, part: Part) -> dict[str, str]:
    """Where the memories are that stayed in the old file: what moved may point to them."""
    return {m.id: part.source for m in read_topic(root, part.source, config)[0].memories if m.metadata.get("adopted", True)}


def _plan(part: Part, source: Topic, root: Path, config: Config) -> TopicPlan:
    """The new file as `apply` makes one, for the memories wherever they stand after a kill."""
    here = {m.id: m for m in source.memories}
    with contextlib.suppress(NotFoundError):
        here = {m.id: m for m in read_topic(root, part.path, config)[0].memories} | here
    moving = [replace(here[id], topic=part.path) for id in part.ids if id in here]
    dates = [m.date for m in moving if m.date]
    said = " ".join(text for m in moving for text in (m.summary, *m.query_hints)).casefold()
    files = tuple(f for f in shelf_of(source).files if f.rpartition("/")[2].casefold() in said)
    return TopicPlan(
        part.path, part.title, True, part.repo, files, min(dates, default=str(source.meta.get("created_at") or "")[:10]),
        (part.word,), tuple(m for m in moving if m.status in CURRENT),
    )
