"""In: units of a thread. Out: the passages that get a vector: pieces of what was said, each behind the end of what came before.

A turn says little by itself ("Yes, on Tuesday."), and a long one too much for one vector. A passage is a piece of about
350 characters under its speaker's name, after the last 200 characters of what was said before it. What
this is worth stands in tests/benchmarks/README.md (with vectors; "before" is bare units of 1,200 characters).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memoryfs.index.units import CONTINUED, MESSAGE, ROLE_MASK, pieces

if TYPE_CHECKING:
    from memoryfs.index.sources import Sources
    from memoryfs.index.units import ThreadMap

PASSAGE_CHARS = 350
CONTEXT_CHARS = 200
PASSAGES = 8  # of one unit at most: a power of two
EMBED_UNITS = 4  # of one message that get vectors


def wanted(thread: ThreadMap, unit: int) -> bool:
    """Whether a unit gets vectors: of messages of users and assistants (not tools, not system), the first four each."""
    flags = thread.flags[unit]
    if not flags & MESSAGE or flags & ROLE_MASK >= 2:
        return False
    return any(not thread.flags[unit - nth] & CONTINUED for nth in range(min(EMBED_UNITS, unit + 1)))


def passages(sources: Sources, thread: ThreadMap, units: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """(unit, number of the passage in it, text to embed), in order. Events that cannot be read are left out."""
    before = {unit: _before(thread, unit) for unit in units}
    needed = {thread.event[unit] for unit in (*units, *before.values()) if unit is not None}
    events = sources.events(thread, sorted(needed))
    texts = {position: event.text for position, event in events.items()}
    for unit in units:
        if thread.event[unit] not in texts:
            continue
        context = _said(thread, before[unit], texts)
        name = _name(thread, unit)
        text = texts[thread.event[unit]]
        spans = list(pieces(text, thread.start[unit], thread.end[unit], PASSAGE_CHARS))
        for nth, (start, end) in enumerate(spans[:PASSAGES]):
            piece = text[start : end if nth < PASSAGES - 1 else thread.end[unit]].strip()
            yield unit, nth, f"{context}{name}{piece}"
            context = f"{name}{piece[-CONTEXT_CHARS:]}\n"


def _before(thread: ThreadMap, unit: int) -> int | None:
    """The unit in which what was said before this one ends."""
    for other in range(unit - 1, -1, -1):
        flags = thread.flags[other]
        if flags & MESSAGE and flags & ROLE_MASK < 2:
            return other
    return None


def _said(thread: ThreadMap, unit: int | None, texts: dict[int, str]) -> str:
    if unit is None or thread.event[unit] not in texts:
        return ""
    text = texts[thread.event[unit]][thread.start[unit] : thread.end[unit]].strip()
    return f"{_name(thread, unit)}{text[-CONTEXT_CHARS:]}\n"


def _name(thread: ThreadMap, unit: int) -> str:
    name = thread.names[thread.speaker[unit]]
    return f"{name}: " if name else ""
