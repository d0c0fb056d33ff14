"""In: a topic and where memories stand now. Out: the topic with the pointers of this program's own lines leading there again.

Own lines are those under *Needs review*, *superseded by …* in History, and the lines of a session's page. A pointer in a
person's words is found (`linked_by_hand`), never rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from memoryfs import notation
from memoryfs.errors import UnwritableFileError
from memoryfs.files import is_episode
from memoryfs.topic import Topic
from memoryfs.topic_edit.check import read, writable
from memoryfs.topic_edit.lines import bare

_LEARNED = re.compile(r"- .* `[^`]+:\d+(?:-\d+)?` → \[\[[^\[\]]+\]\]\s*\Z")  # a line of a session's page


def repoint(topic: Topic, homes: Mapping[str, str]) -> Topic:
    """Own pointers to the memories `homes` (id → relative path of its file) lead to those files; the others stay.

    Raises UnwritableFileError where more than pointers would change.
    """
    writable(topic)

    def aim(path: str, id: str) -> str | None:
        home = homes.get(id)
        return None if home is None or _leads(path, topic.path, home) else "" if home == topic.path else home.removesuffix(".md")

    lines = list(topic.lines)
    for row in _own_rows(topic):
        lines[row] = notation.repoint(lines[row], aim)
    if tuple(lines) == topic.lines:
        return topic
    new = read(topic, lines)
    same = [[(m.id, m.summary, m.kind, m.status, m.superseded_by, m.source_range) for m in t.memories] for t in (topic, new)]
    asked = [[(r.id, r.ticked, r.memory_ids) for r in t.reviews] for t in (topic, new)]
    if not (new.writable and same[0] == same[1] and asked[0] == asked[1] and new.meta == topic.meta):
        raise UnwritableFileError(topic.path, "its pointers cannot be changed without changing other parts")
    return new


def linked_by_hand(topic: Topic) -> frozenset[str]:
    """The ids of memories that a person's words in the file point to."""
    own = set(_own_rows(topic))
    return frozenset(id for row, line in enumerate(topic.lines) if row not in own and "#^m-" in line
                     for _, id in notation.pointers(bare(line)))


def _own_rows(topic: Topic) -> Iterator[int]:
    """The lines on which this program's own pointers stand, counted from 0."""
    items = [*topic.review_items, *(i for m, i in zip(topic.memories, topic.items, strict=True) if m.superseded_by)]
    for item in items:
        yield from range(item.text_start, item.text_end)
    if is_episode(topic.path):
        yield from (n for n, line in enumerate(topic.lines) if _LEARNED.match(bare(line)))


def _leads(path: str, here: str, home: str) -> bool:
    """Whether `[[path#^…]]` written in the file `here` leads to the file `home`; a bare name leads to a file of that name."""
    if not path:
        return here == home
    return path.removesuffix(".md") in (home.removesuffix(".md"), PurePosixPath(home).stem)
