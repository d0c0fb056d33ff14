"""In: two topics, one of which is to go into the other; or the lines that a merging changed. Out: the topics as they are afterwards. Pure.

What is done already is left as it is, so that each of these may be done again after a kill.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memoryfs import topic_edit
from memoryfs.edits.echoes import plain, without_echo
from memoryfs.edits.regroup import homes_of
from memoryfs.notation import fold
from memoryfs.textfile import digest_of
from memoryfs.topic import Review, Topic, parse

SUCCESSOR = "superseded_by"  # front matter of a topic that went: the topic that its memories stand in
_LINK = re.compile(r"\[\[([^\[\]|#]+)\]\]")
_OWN_KEYS = {"title", "status", "summary", "tags", "query_hints", "retrieve_when", "importance", "source_range", "created_at",
             "updated_at", "metadata", SUCCESSOR}  # of every topic: the kept one has its own


def proposal_id(a: str, b: str) -> str:
    """`r-` and six hex digits: one pair of topics has one id, whichever would stay."""
    return "r-" + hashlib.sha256("\0".join(("topics", *sorted((a, b)))).encode()).hexdigest()[:6]


def proposed(review: Review, path: str) -> str:
    """The topic that the line in `path` proposes to merge into it; "" for any other review."""
    link = _LINK.search(review.text)
    other = f"{link[1].removesuffix('.md')}.md" if link and not review.memory_ids else ""
    return other if other and review.id == proposal_id(path, other) else ""


def hand_written(topic: Topic) -> list[str]:
    """What stands in the file beside memories and its own heading: a person's words."""
    heading = re.compile(r"#{1,6}\s+" + re.escape(topic.heading) + r"\s*#*\Z") if topic.heading else None
    found = [text.strip() for _, text in topic.prose]
    return [text for text in found if not (heading and heading.match(text))]


def without_review(topic: Topic, id: str) -> Topic:
    return topic_edit.remove_review(topic, id) if any(r.id == id for r in topic.reviews) else topic


def received(keep: Topic, other: Topic | None, ids: Collection[str], review_id: str) -> Topic:
    """`keep` with the memories `ids` and the open reviews that stand in `other`, and without the proposal; `other` is None if it is gone.

    A proposal about the topic that goes has lost its sense and does not come along.
    """
    have = {m.id for m in keep.memories}
    for memory in other.memories if other else ():
        if memory.id in ids and memory.id not in have:
            keep = topic_edit.bring(other, keep, memory.id)
    asked = {r.id for r in keep.reviews}
    for review in other.reviews if other else ():
        if review.id not in asked and not review.ticked and not proposed(review, other.path):
            keep = topic_edit.add_review(keep, review.text, review.id, review.memory_ids)
    return without_review(topic_edit.repoint(keep, homes_of([keep])), review_id)


def given(other: Topic, keep: Topic, ids: Collection[str], own: Mapping[str, Any], day: str, *, words: bool) -> Topic:
    """`other` without the memories `ids` that stand in `keep` in the same words, and without reviews. If no memory is left it names
    the new place, and is superseded unless it held a person's `words` too. `own` is the front matter that the organizer wrote there."""
    said = {m.id: fold(m.summary) for m in keep.memories}
    going = [m for m in other.memories if m.id in ids and said.get(m.id) == fold(m.summary)]
    topic = other
    for memory in going:
        topic = topic_edit.withdraw(topic, memory.id)
    for review in other.reviews:
        topic = without_review(topic, review.id)
    topic = topic_edit.repoint(topic, homes_of([keep]))
    if topic.memories or topic.meta.get(SUCCESSOR) == keep.path:
        return topic
    where = f"its memories stand in [[{keep.path.removesuffix('.md')}]] since {day}"
    topic = topic_edit.set_meta(topic_edit.leave_note(topic, "Moved", where), SUCCESSOR, keep.path)
    for memory in going:
        topic = without_echo(topic, own, memory)
    return topic if words else topic_edit.set_meta(topic, "status", "superseded")


def left_behind(keep: Topic, other: Topic) -> list[str]:
    """What stays in the other file: front matter keys that the kept one lacks or has otherwise, and `text` for a person's words."""
    keys = [key for key, value in other.meta.items() if key not in _OWN_KEYS and keep.meta.get(key) != value]
    return [*keys, *(["text"] if hand_written(other) else [])]


def front_of(topic: Topic) -> dict[str, str]:
    """What `with_front` needs to know of a topic: the lines of its front matter, and which memories they speak of."""
    return {"front": "".join(topic.lines[: topic.front.end]) if topic.front.has_block else "", "standing": _standing(topic)}


def with_front(topic: Topic, was: Mapping[str, Any], own: Mapping[str, Any]) -> Topic:
    """The topic with the front matter that `front_of` kept, if it speaks of the same memories again and whatever reads otherwise now
    was written by the organizer (`own`); else as it is."""
    front = was.get("front")
    if not front or not topic.front.has_block or was.get("standing") != _standing(topic):
        return topic
    text = front + "".join(topic.lines[topic.front.end :])
    made = parse(text.encode("utf-8", "surrogateescape"), topic.path)
    ours = all(key in own and plain(own[key]) == plain(topic.meta.get(key)) for key in changed_keys(made, topic))
    return made if ours and made.writable else topic


def changed_keys(a: Topic, b: Topic) -> Sequence[str]:
    return [key for key in {**a.meta, **b.meta} if plain(a.meta.get(key)) != plain(b.meta.get(key))]


def _standing(topic: Topic) -> str:
    return digest_of("\n".join(sorted(f"{m.id} {m.status} {m.summary}" for m in topic.memories)).encode("utf-8", "surrogatepass"))
