"""In: a topic as it stands now and the steps wanted. Out: the topic with them taken; what is done already is not done twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from memoryfs import topic_edit
from memoryfs.edits.plan import Step
from memoryfs.errors import MemoryfsError
from memoryfs.notation import fold
from memoryfs.topic import Topic


def take_steps(
    topic: Topic, steps: Iterable[Step], *, day: str, refused: dict[Step, MemoryfsError] | None = None
) -> Topic:
    """Takes `steps` one after the other; `day` is the ISO 8601 date of marks that are written.

    A step whose line is gone meanwhile changes nothing. One that cannot be taken without harm raises
    UnwritableFileError, or, with `refused`, is noted there, and the others are taken.
    """
    wanted = tuple(steps)
    bullets = tuple(step for step in wanted if step.kind == "adopt")
    topic = _adopt(topic, bullets, day, refused)
    for step in wanted:
        if step.kind == "adopt":
            continue
        try:
            topic = _take(topic, step, day)
        except MemoryfsError as error:
            if refused is None:
                raise
            refused[step] = error
    return topic


def _take(topic: Topic, step: Step, day: str) -> Topic:
    if step.kind == "unreview":
        return topic_edit.remove_review(topic, step.id) if any(r.id == step.id for r in topic.reviews) else topic
    if step.kind == "unsay":
        return topic_edit.set_meta(topic, "summary", None) if topic.summary == step.text else topic
    memory = next((m for m in topic.memories if m.id == step.id), None)
    if memory is None:
        return topic
    if step.kind == "person":
        said = any(label.startswith("person:") for label in memory.metadata.get("labels", ()))
        return topic if said else topic_edit.add_statement(topic, step.id, by="person", date=day)
    if step.kind == "reword":
        return topic if fold(memory.summary) == step.text else topic_edit.replace_summary(topic, step.id, step.text)
    if step.kind == "withdraw":
        return topic_edit.withdraw(topic, step.id)
    if step.kind == "strike":
        return _retire(topic, step.id) if memory.metadata.get("struck") else topic
    if step.kind == "supersede":
        return topic if memory.status == "superseded" else topic_edit.supersede(topic, step.id, by=step.by, on=day)
    raise ValueError(f"unknown step {step.kind}")


def _adopt(topic: Topic, steps: tuple[Step, ...], day: str, refused: dict[Step, MemoryfsError] | None) -> Topic:
    """Marks the bullets all at once, a file of a thousand new ones being read as often as a file of one; where one of
    them must be refused, half by half."""
    kept = tuple(step for step in steps if step.by == "keep")
    for some, label in ((kept, None), (tuple(step for step in steps if step.by != "keep"), f"person:{day}")):
        topic = _mark(topic, some, label, refused)
    return topic


def _mark(
    topic: Topic, steps: tuple[Step, ...], label: str | None, refused: dict[Step, MemoryfsError] | None
) -> Topic:
    bare: dict[str, list[int]] = defaultdict(list)
    for memory in topic.memories:
        if not memory.metadata.get("adopted", True):
            bare[fold(memory.summary)].append(memory.line)
    # From the end: the provisional ids of equal bullets above it then stay what they were.
    ids = {lines.pop(): step.id for step in steps if (lines := bare[fold(step.text)])}
    if not ids:
        return topic
    try:
        return topic_edit.set_ids(topic, ids, source_label=label)
    except MemoryfsError as error:
        if refused is None:
            raise
        if len(steps) == 1:
            refused[steps[0]] = error
            return topic
    half = len(steps) // 2
    return _mark(_mark(topic, steps[:half], label, refused), steps[half:], label, refused)


def _retire(topic: Topic, memory_id: str) -> Topic:
    """Moves what a person struck out to History; with other words beside or lines below it, it stays as they left it."""
    memory, item = next(pair for pair in zip(topic.memories, topic.items, strict=True) if pair[0].id == memory_id)
    below = any(line.strip() for line in topic.lines[item.text_end : item.end])
    if below or bool(re.match(r"\s*\[.\]", item.text)) != (memory.kind == "task"):
        return topic
    beside = re.sub(r"~~.+?~~|\[\^[^\]]*\]|(?:^|\s)\^[mr]-[\w-]+|\A\s*\[.\]", "", item.text, flags=re.DOTALL)
    if re.search(r"\w", beside):
        return topic
    return topic_edit.bring(topic, topic_edit.withdraw(topic, memory_id), memory_id)
