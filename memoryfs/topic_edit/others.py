"""In: a topic and what is no memory: a new file, boxes, reviews, front matter. Out: the topic with that changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from memoryfs import notation
from memoryfs.errors import UnwritableFileError
from memoryfs.topic import REVIEW, Item, Topic, parse
from memoryfs.topic_edit import yaml as yaml_edit
from memoryfs.topic_edit.check import checked, find, find_review, read, writable
from memoryfs.topic_edit.lines import add_item, bare, blank_at, content_end, head_of, insert, take_out


def new_topic(path: str, *, title: str, summary: str = "", tags: Iterable[str] = (), query_hints: Iterable[str] = (),
              retrieve_when: str = "", created_at: str) -> Topic:
    """A new topic file with front matter and a heading; `created_at` is an ISO 8601 date. Title and summary: one line."""
    title = notation.fold(title) or PurePosixPath(path).stem
    heading = re.sub(r"(?:(?<=\s)|^)(#+)$", r"\\\1", notation.write_summary(title))
    values: dict[str, Any] = {"title": title, "status": "active"}
    values |= {"summary": notation.fold(summary)} if summary.strip() else {}
    values |= {"tags": [notation.fold(tag).lstrip("#") for tag in tags if tag.strip("# ")]}
    hints = [notation.fold(hint) for hint in query_hints if hint.strip()]
    values |= {"query_hints": hints} if hints else {}
    values |= {"retrieve_when": notation.fold(retrieve_when)} if retrieve_when.strip() else {}
    values |= {"created_at": created_at, "updated_at": created_at}
    rows = [row for key, value in values.items() for row in yaml_edit.key_rows(key, value)]
    text = "\n".join(["---", *rows, "---", f"# {heading}", ""])
    topic = parse(text.encode("utf-8"), path)
    if topic.problems or topic.title != title:
        raise UnwritableFileError(path, "a topic with this title cannot be written")
    return topic


def set_done(topic: Topic, memory_id: str, done: bool = True) -> Topic:
    """Ticks or unticks the item's checkbox; an item without one is not touched (ValueError)."""
    return _tick(topic, find(topic, memory_id)[1], done, {memory_id})


def tick_review(topic: Topic, review_id: str, ticked: bool = True) -> Topic:
    """Ticks a *Needs review* item: the question is settled, the line stays."""
    return _tick(topic, find_review(topic, review_id), ticked, {review_id})


def _tick(topic: Topic, item: Item, done: bool, touched: set[str]) -> Topic:
    writable(topic)
    row = item.start
    head = head_of(bare(topic.lines[row]))
    box = re.search(r"\[(.)\]([ \t]*)$", head)
    if not box:
        raise ValueError(f"line {row + 1} of {topic.path} has no checkbox")
    mark = "x" if done else " "
    line = topic.lines[row]
    lines = [*topic.lines[:row], line[:box.start(1)] + mark + line[box.end(1):], *topic.lines[row + 1:]]
    return checked(topic, read(topic, lines), touched, visible=True)


def add_review(topic: Topic, text: str, review_id: str, memory_ids: Sequence[str]) -> Topic:
    """Adds an open item to *Needs review*; ids the text does not point to yet are pointed to at its end.

    `memory_ids` are ids of this file, or `projects/x#^m-…` for those of another.
    """
    writable(topic)
    if any(review.id == review_id for review in topic.reviews):
        raise ValueError(f"^{review_id} is in {topic.path} already")
    words = notation.write_summary(text)
    known = {id for _, id in notation.pointers(words)}
    missing = [f"[[{id if '#^' in id else '#^' + id}]]" for id in memory_ids if id.rpartition("^")[2] not in known]
    line = " ".join([f"[ ] {words}", *missing, f"^{review_id}"])
    new = read(topic, add_item(topic, REVIEW, line))
    made = next((review for review in new.reviews if review.id == review_id), None)
    wanted = {id.rpartition("^")[2] for id in memory_ids}
    return checked(topic, new, {review_id}, visible=made is not None and wanted <= set(made.memory_ids))


def remove_review(topic: Topic, review_id: str) -> Topic:
    """Removes the *Needs review* item; of several with one id, the first."""
    writable(topic)
    new = read(topic, take_out(topic, find_review(topic, review_id))[0])
    return checked(topic, new, {review_id}, visible=len(new.reviews) == len(topic.reviews) - 1)


def leave_note(topic: Topic, title: str, text: str) -> Topic:
    """Adds a list item under the heading `title`, which is made at the end if it is missing; it must not read as a memory."""
    writable(topic)
    lines = list(topic.lines)
    section = next((s for s in topic.sections if s.title.casefold() == title.casefold()), None)
    low, high = (section.start + 1, section.end) if section else (0, len(lines))
    at = content_end(topic, lines, low, high)
    new = [f"- {text}"] if section and at > low else ["", f"- {text}"] if section else ["", f"## {title}", "", f"- {text}"]
    made = read(topic, insert(lines, at, new if blank_at(lines, at) else [*new, ""]))
    told = any(text in said for _, said in made.prose)
    if not (told and made.writable and made.meta == topic.meta and _kept(made) == _kept(topic)):
        raise UnwritableFileError(topic.path, f"a line under {title} cannot be added")
    return made


def _kept(topic: Topic) -> Counter[tuple[str, ...]]:
    """Every memory and review, as far as a line elsewhere in the file could change it."""
    return Counter([*((m.id, m.summary, m.status, m.kind) for m in topic.memories), *((r.id, r.text) for r in topic.reviews)])


def set_meta(topic: Topic, key: str, value: Any) -> Topic:
    """Sets one key of the front matter, touching only its lines; None removes it; a file without a block gets one.

    Values: text, numbers, booleans, dates, lists, mappings. Nothing changes when the value reads the same already.
    """
    writable(topic)
    try:
        lines = yaml_edit.set_key(topic.lines, topic.front, key, value)
    except yaml_edit.CannotEditError as error:
        raise UnwritableFileError(topic.path, str(error)) from error
    new = topic if tuple(lines) == topic.lines else read(topic, lines)
    others = {name: item for name, item in topic.meta.items() if name != key}
    shown = value is None or new.meta.get(key) == yaml_edit.plain(value)
    if {name: item for name, item in new.meta.items() if name != key} != others or (value is None and key in new.meta):
        raise UnwritableFileError(topic.path, f"`{key}` cannot be changed without changing other values")
    return checked(topic, new, set(), visible=shown, meta=False)
