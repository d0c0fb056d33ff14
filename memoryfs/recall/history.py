"""In: superseded memories of the store. Out: for an event, what replaced the value it states (or ""); and `restates`.

An event that only states what has been superseded ranks below what is current, and is marked, so that an old value is
never taken for the present one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memoryfs.index.memories import memory_from_json
from memoryfs.model import Event, Memory
from memoryfs.patterns import lazy
from memoryfs.recall.changes import content
from memoryfs.text import similarity_key

if TYPE_CHECKING:
    from memoryfs.index.core import Index

DEMOTION = 0.6  # factor on the score of an event that states a superseded value
TOLD = 0.5  # share of an episode's words that what was replaced must hold
WIDE = 12  # events; a wider range alone does not say which of its events stated the value

_CHANGE = lazy(
    r"\b(?:changed?|instead|no longer|any ?more|switch(?:ed)?|replaced?|updated?|renamed?|moved to|raised|lowered|from now on)\b"
    r"|変更|改め|切り替え|代わりに|ではなく|やめ|引き上げ|引き下げ|変え|변경|바꾸|바꿨|바꿔|대신|더 이상|이제|올렸|내렸|옮겼|改为|改成|换成|不再|调整|更新为|提高到|降到",
    re.I,
)
_MEASURE = lazy(r"\d[\d,.]*\s?(%|[A-Za-z]{1,12}|[^\W\d_])", re.I)


def restates(later: str, earlier: str) -> bool:
    """Whether a later statement seems to give a new value for what an earlier one says.

    It speaks of a change, and where the earlier one has figures, it has figures of the same unit.
    """
    if not _CHANGE.search(later):
        return False
    before = {unit.lower() for unit in _MEASURE.findall(earlier)}
    return not before or bool(before & {unit.lower() for unit in _MEASURE.findall(later)})


class History:
    """The superseded memories by thread name; read once a recall."""

    def __init__(self, index: Index) -> None:
        self._by_thread: dict[str, list[Memory]] = {}
        rows = index.db.execute(
            "SELECT id, path, status, data FROM memories WHERE kind = 'memory' AND status = 'superseded'"
        ).fetchall()
        for id, path, status, data in rows:
            memory = memory_from_json(id, status, path, data)
            for source in memory.source_range:
                self._by_thread.setdefault(source.thread, []).append(memory)

    def __bool__(self) -> bool:
        return bool(self._by_thread)

    def replaced_by(self, event: Event) -> str:
        """The id of the memory that replaced what this event states ("?" if it is not recorded), or ""."""
        for memory in self._by_thread.get(event.thread, ()):
            for source in memory.source_range:
                if source.thread != event.thread or not source.start <= event.index <= source.end:
                    continue
                quoted = similarity_key(memory.quote)
                inside = quoted and quoted in similarity_key(event.text)
                if inside or (not quoted and source.end - source.start < WIDE and _states(memory, event)):
                    return memory.superseded_by or "?"
        return ""


    def told(self, memory: Memory) -> str:
        """For what an episode tells: the id of the memory that replaced what was learned from the same events, or ""."""
        words = content(memory.summary)
        for source in memory.source_range if words else ():
            for other in self._by_thread.get(source.thread, ()):
                inside = any(r.thread == source.thread and r.start <= source.start and source.end <= r.end for r in other.source_range)
                if inside and len(words & content(f"{other.summary} {other.quote}")) >= TOLD * len(words):
                    return other.superseded_by or "?"
        return ""


def _states(memory: Memory, event: Event) -> bool:
    """Whether the event holds most of the words of the memory."""
    words = set(similarity_key(memory.summary).split())
    return bool(words) and len(words & set(similarity_key(event.text).split())) >= 0.6 * len(words)
