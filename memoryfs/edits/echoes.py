"""In: a topic, the front matter that the organizer wrote there, statements that were made. Out: the topic without their echo.

The organizer copies a topic's weightiest statement into its summary, and words of its statements into its hints. When
a person takes a statement away, the copies must go too: the briefing and recall read them. What a person wrote there
stays as it is. Until the organizer writes a new summary, a briefing shows the topic's first statement instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from memoryfs import topic_edit
from memoryfs.errors import UnwritableFileError
from memoryfs.ledger import Entry
from memoryfs.model import CURRENT, Memory
from memoryfs.notation import fold
from memoryfs.topic import Topic


def plain(value: Any) -> Any:
    """A front-matter value for comparison, whether it was read from a file or from the ledger: scalars as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return "" if value is None else str(value)


def has_echo(topic: Topic, own: Mapping[str, Any], once: Iterable[str], gone: Collection[str] = ()) -> bool:
    """Whether the summary is the organizer's and repeats one of the statements `once` made that the topic does not make
    (any more); `gone` are the ids of memories that are about to go."""
    said = _said(topic, own)
    if not said or any(fold(m.summary).startswith(said) for m in topic.memories if _stands(m) and m.id not in gone):
        return False
    return any(fold(text).startswith(said) for text in once)


def without_echo(topic: Topic, own: Mapping[str, Any], gone: Memory) -> Topic:
    """The topic, from which `gone` was taken, without the organizer's copies of its words."""
    try:
        if has_echo(topic, own, (gone.summary,)):
            topic = topic_edit.set_meta(topic, "summary", None)
        if topic.query_hints and plain(own.get("query_hints")) == plain(topic.meta.get("query_hints")):
            others = {hint for m in topic.memories if _stands(m) for hint in m.query_hints}
            kept = [hint for hint in topic.query_hints if hint in others or hint not in gone.query_hints]
            topic = topic_edit.set_meta(topic, "query_hints", kept)
    except UnwritableFileError:  # a block of front matter that is not to be edited: the statement itself is gone
        return topic
    return topic


def record(before: Topic, after: Topic, now: str) -> tuple[Entry, ...]:
    """What the ledger must know of `without_echo`, so that its values still count as the organizer's."""
    meta = {key: after.meta.get(key) or "" for key in ("summary", "query_hints") if before.meta.get(key) != after.meta.get(key)}
    return (entry_of(after.path, meta, now),) if meta else ()


def entry_of(path: str, meta: Mapping[str, Any], now: str) -> Entry:
    return Entry(now, "organizer", "edit", "", path, why="repeated what was taken away", extra={"meta": dict(meta)})


def _said(topic: Topic, own: Mapping[str, Any]) -> str:
    summary = topic.meta.get("summary")
    if not isinstance(summary, str) or own.get("summary") != summary:
        return ""
    return fold(summary).removesuffix("…").rstrip()


def _stands(memory: Memory) -> bool:
    return memory.status in CURRENT
