"""In: a proposal to make one topic of two, and a person's answer. Out: both files as it says, the ledger told; or as they were before.

A proposal is a line under *Needs review* of the topic that would stay, with a link to the other one. Accepted, all memories of
the other go over, with its open reviews; what a person wrote beside them and its front matter stay in its file, which names the
new place under *Moved*. A file that holds nothing else any more is marked `superseded`. Nothing is merged without an answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs import ledger, topic_edit
from memoryfs.config import Config
from memoryfs.edits import takeback
from memoryfs.edits.adopt import adopt
from memoryfs.edits.echoes import without_echo
from memoryfs.edits.plan import Change
from memoryfs.edits.regroup import bring_over, follow, homes_of
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError
from memoryfs.ledger import Entry
from memoryfs.topic import Review, Topic

PROPOSE = "propose"
OTHER = "merge"  # key of the ledger's lines: the topic that would go
SUCCESSOR = "superseded_by"  # front matter of a topic that went: the topic that its memories stand in
_LINK = re.compile(r"\[\[([^\[\]|#]+)\]\]")


def proposal_id(a: str, b: str) -> str:
    """`r-` and six hex digits: one pair of topics has one id, whichever would stay."""
    return "r-" + hashlib.sha256("\0".join(("topics", *sorted((a, b)))).encode()).hexdigest()[:6]


def proposed(review: Review, path: str) -> str:
    """The topic that the line in `path` proposes to merge into it; "" for any other review."""
    link = _LINK.search(review.text)
    other = f"{link[1].removesuffix('.md')}.md" if link and not review.memory_ids else ""
    return other if other and review.id == proposal_id(path, other) else ""


def propose(root: Path, config: Config, keep: str, other: str, reason: str, *, now: datetime) -> str:
    """Writes the proposal under *Needs review* of `keep`; its id. Raises NotFoundError, UnwritableFileError, ReadOnlyError."""
    id = proposal_id(keep, other)
    text = f"[[{other.removesuffix('.md')}]] seems to be about the same ({reason}): are the two to be merged, here?"

    def ask(topic: Topic) -> Topic:
        return topic if any(r.id == id for r in topic.reviews) else topic_edit.add_review(topic, text, id, ())

    edit_topic(root, keep, ask, config=config)
    ledger.append(root, [Entry(now.isoformat(timespec="seconds"), "organizer", PROPOSE, id, keep, text, extra={OTHER: other})])
    return id


def answer(root: Path, config: Config, keep: str, review: Review, choice: str, *, actor: str, now: datetime) -> Change:
    """`accept` merges, `reject` (or `keep-both`) leaves both as they are, and the pair is not proposed again.

    Raises UsageError, NotFoundError, UnwritableFileError, ChangedMeanwhileError, ReadOnlyError.
    """
    other = proposed(review, keep)
    stamp = now.isoformat(timespec="seconds")
    if choice not in ("accept", "reject", "keep-both"):
        raise UsageError(f"{choice} is for a contradiction; ^{review.id} asks about two topics", remedy="Choices: accept, reject.")
    extra: dict[str, Any] = {"choice": "accept" if choice == "accept" else "reject", OTHER: other}
    before: dict[str, str] = {}
    if choice == "accept":
        adopt(root, config, now=now)  # a bullet that was only just typed goes too
        for path in (keep, other):
            topic = read_topic(root, path, config)[0]
            if not topic.writable:
                raise UnwritableFileError(path, next((p.message for p in topic.problems if p.severity == "error"), "it is damaged"))
            before[path] = topic.text
        moved, left = _merge(root, config, keep, other, actor=actor, now=now)
        extra |= {"moved": list(moved), "left": left}
    before.setdefault(keep, read_topic(root, keep, config)[0].text)
    edit_topic(root, keep, lambda t: topic_edit.remove_review(t, review.id) if any(r.id == review.id for r in t.reviews) else t, config=config)
    extra[takeback.KEY] = [
        {"topic": path, "hunks": takeback.hunks(text, read_topic(root, path, config)[0].text)} for path, text in sorted(before.items())]
    ledger.append(root, [Entry(stamp, actor, "resolve", review.id, keep, why=f"the topics are {'one' if choice == 'accept' else 'two'}", extra=extra)])
    return Change("resolve", review.id, keep, _told(extra) if choice == "accept" else choice)


def _told(extra: Mapping[str, Any]) -> str:
    left = f"; its {', '.join(extra['left'])} stay in {extra[OTHER]}" if extra["left"] else ""
    return f"{len(extra['moved'])} memories of {extra[OTHER]} stand here now{left}"


def _merge(root: Path, config: Config, keep: str, other: str, *, actor: str, now: datetime) -> tuple[Sequence[str], list[str]]:
    """The ids that went over, and what stays in the other file: front matter keys that the kept one lacks or has otherwise, prose."""
    going = read_topic(root, other, config)[0]
    ids = [m.id for m in going.memories]
    moved = bring_over(root, config, other, keep, ids, actor=actor, now=now, why=f"merged into {keep}")
    for review in going.reviews:
        _hand_over(root, config, keep, other, review)
    kept = read_topic(root, keep, config)[0]
    follow(root, config, homes_of([kept]), now=now)
    day = now.date().isoformat()
    words = f"its memories stand in [[{keep.removesuffix('.md')}]] since {day}"
    prose = hand_written(going)
    own = ledger.own_meta(ledger.read(root)[0]).get(other, {})

    def leave(topic: Topic) -> Topic:
        if topic.memories or topic.meta.get(SUCCESSOR) == keep:
            return topic
        topic = topic_edit.set_meta(topic_edit.leave_note(topic, "Moved", words), SUCCESSOR, keep)
        for memory in going.memories:
            topic = without_echo(topic, own, memory)
        return topic if prose else topic_edit.set_meta(topic, "status", "superseded")

    done = edit_topic(root, other, leave, config=config)
    ledger.append(root, [_front(going, done, f"merged into {keep}", now)])
    same = {"title", "status", "summary", "tags", "query_hints", "retrieve_when", "importance", "source_range", "created_at",
            "updated_at", "metadata", SUCCESSOR}
    left = [key for key, value in going.meta.items() if key not in same and kept.meta.get(key) != value]
    return moved, [*left, *(["text"] if prose else [])]


def _front(before: Topic, after: Topic, why: str, now: datetime) -> Entry:
    """What the ledger must know of a changed front matter, so that it is not taken for a person's edit."""
    meta = {key: after.meta.get(key) or "" for key in ("summary", "query_hints") if before.meta.get(key) != after.meta.get(key)}
    return Entry(now.isoformat(timespec="seconds"), "organizer", "edit", "", after.path, why=why, extra={"meta": {"status": after.status, **meta}})


def _hand_over(root: Path, config: Config, keep: str, other: str, review: Review) -> None:
    """An open line under *Needs review* goes along; a proposal about the topic that goes has lost its sense and is taken out."""
    def take(topic: Topic) -> Topic:
        return topic_edit.remove_review(topic, review.id) if any(r.id == review.id for r in topic.reviews) else topic

    def add(topic: Topic) -> Topic:
        have = any(r.id == review.id for r in topic.reviews)
        return topic if have else topic_edit.add_review(topic, review.text, review.id, review.memory_ids)

    if not proposed(review, other) and not review.ticked:
        edit_topic(root, keep, add, config=config)
    edit_topic(root, other, take, config=config)


def hand_written(topic: Topic) -> list[str]:
    """What stands in the file beside memories and its own heading: a person's words."""
    heading = re.compile(r"#{1,6}\s+" + re.escape(topic.heading) + r"\s*#*\Z") if topic.heading else None
    found = [text.strip() for _, text in topic.prose]
    return [text for text in found if not (heading and heading.match(text))]


def undo(root: Path, config: Config, review_id: str, *, actor: str, now: datetime) -> Change:
    """Takes the last answer back: see `takeback.undo` for a contradiction; of two topics, both stand as before.

    Raises NotFoundError if there is none, UnwritableFileError if the lines were changed since, ReadOnlyError.
    """
    entries = ledger.read(root)[0]
    last = next((e for e in reversed(entries) if e.id == review_id and e.action in ("resolve", PROPOSE, "conflict")), None)
    if last is None or last.action != "resolve" or OTHER not in last.extra:
        return takeback.undo(root, config, review_id, actor=actor, now=now)
    if not isinstance(last.extra.get(takeback.KEY), list):
        raise NotFoundError(f"the lines that settled ^{review_id}", remedy="It was settled in the file; settle it there.")
    stamp, keep, other = now.isoformat(timespec="seconds"), last.topic, str(last.extra[OTHER])
    parts = {str(part["topic"]): part["hunks"] for part in last.extra[takeback.KEY]}
    for path, listed in parts.items():  # all of them can be put back, or none is
        takeback.restored(read_topic(root, path, config)[0], listed)
    moved = [id for id in last.extra.get("moved") or () if isinstance(id, str)]
    ledger.append(root, [Entry(stamp, actor, "move", id, other, why=f"the choice about ^{review_id} was undone", extra={"from": keep}) for id in moved])
    gone = read_topic(root, other, config)[0] if moved else None
    for path, listed in sorted(parts.items(), key=lambda item: item[0] == keep):  # the other first: a kill leaves lines in both
        edit_topic(root, path, lambda topic, listed=listed: takeback.restored(topic, listed), config=config)  # type: ignore[misc]
    if gone is not None:
        back = read_topic(root, other, config)[0]
        follow(root, config, homes_of([back]), now=now)
        ledger.append(root, [_front(gone, back, "the merging was undone", now)])
    text = next((e.text for e in reversed(entries) if e.id == review_id and e.action == PROPOSE), "")
    ledger.append(root, [Entry(stamp, actor, PROPOSE, review_id, keep, text, why="the choice was undone", extra={OTHER: other})])
    return Change("restore", review_id, keep, "open again")
