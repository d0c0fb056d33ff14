"""In: the bytes of a topic file. Out: a `Topic`: front matter, sections, memories, reviews, prose; and the bytes back.

`render(parse(data)) == data` for every byte string: a Topic keeps its whole text (bytes that are not UTF-8 as
surrogate escapes) and everything else in it is read from that text. Structure comes from markdown-it-py tokens and
their line maps; `memoryfs.notation` reads inside a line; `memoryfs.topic_edit` holds the edits.
"""

from __future__ import annotations

from memoryfs.topic.model import (
    HISTORY,
    KIND_OF_SECTION,
    REVIEW,
    Definition,
    Review,
    Section,
    Topic,
    memory_id,
    read_ranges,
    role_of,
    section_role,
    split_lines,
)
from memoryfs.topic.outline import Item, Outline
from memoryfs.topic.read import parse, render

__all__ = [
    "HISTORY", "KIND_OF_SECTION", "REVIEW", "Definition", "Item", "Outline", "Review", "Section", "Topic", "memory_id",
    "parse", "read_ranges", "render", "role_of", "section_role", "split_lines",
]
