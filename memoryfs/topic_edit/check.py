"""In: a topic before and after an edit. Out: the new one, if only the edit happened; else UnwritableFileError."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memoryfs.errors import NotFoundError, UnwritableFileError
from memoryfs.model import Memory
from memoryfs.topic import Item, Topic, parse


def writable(topic: Topic) -> None:
    if not topic.writable:
        reason = next((p for p in topic.problems if p.severity == "error"), None) or next(iter(topic.problems), None)
        where = f"line {reason.line}: " if reason and reason.line else ""
        raise UnwritableFileError(topic.path, where + (reason.message if reason else "not writable"))


def find(topic: Topic, memory_id: str) -> tuple[Memory, Item]:
    for memory, item in zip(topic.memories, topic.items, strict=True):
        if memory.id == memory_id:
            return memory, item
    raise NotFoundError(f"^{memory_id} in {topic.path}")


def find_made(topic: Topic, memory_id: str) -> tuple[Memory, Item]:
    """What an edit should have left in the file."""
    try:
        return find(topic, memory_id)
    except NotFoundError:
        raise UnwritableFileError(topic.path, _why(topic, "what is added would not read as a memory there")) from None


def find_review(topic: Topic, review_id: str) -> Item:
    for review, item in zip(topic.reviews, topic.review_items, strict=True):
        if review.id == review_id:
            return item
    raise NotFoundError(f"^{review_id} in {topic.path}")


def read(topic: Topic, lines: Sequence[str]) -> Topic:
    return parse("".join(lines).encode("utf-8", "surrogateescape"), topic.path)


def checked(old: Topic, new: Topic, touched: set[str], *, visible: bool, meta: bool = True) -> Topic:
    """`new`, if the change shows in it and all else reads as it did in `old`; else UnwritableFileError."""
    same = (
        visible and new.writable
        and (not meta or new.meta == old.meta)
        and _memories(old, touched, meta) == _memories(new, touched, meta)
        and _reviews(old, touched) == _reviews(new, touched)
        and Counter(_words(text) for _, text in old.prose) == Counter(_words(text) for _, text in new.prose)
    )
    if not same:
        raise UnwritableFileError(old.path, _why(new, "the change would damage its other parts, or not show"))
    return new


def _why(topic: Topic, otherwise: str) -> str:
    """The first trouble of the text that the edit made, with its line."""
    fence = topic.shape.open_fence
    trouble = [p for p in topic.problems if p.severity == "error"] or [
        p for p in topic.problems if not topic.writable or (fence is not None and p.line == fence + 1)]
    return f"line {trouble[0].line}: {trouble[0].message}" if trouble else otherwise


def _words(text: str) -> str:
    return "\n".join(line.rstrip() for line in re.split(r"\r\n|\n|\r", text))


def _memories(topic: Topic, touched: set[str], meta: bool) -> Counter[Any]:
    """What the memories say, without where they stand. A review makes a memory conflicted without touching it.

    The front matter's status and source ranges hold for all of them: when it is what changes (`meta` False), both are
    left out.
    """
    out: Counter[Any] = Counter()
    for memory in topic.memories:
        if memory.id in touched:
            continue
        status = "active" if memory.status == "conflicted" and topic.status != "conflicted" else memory.status
        named = memory.id if memory.metadata.get("adopted", True) else ""
        plain = replace(memory, id=named, line=0, status=status)
        out[repr(plain if meta else replace(plain, status="", source_range=(), date=None))] += 1
    return out


def _reviews(topic: Topic, touched: set[str]) -> Counter[Any]:
    return Counter(replace(review, line=0) for review in topic.reviews if review.id not in touched)
