"""In: what was read from a topic file. Out: its nouns: `Topic`, `Section`, `Review`, `Definition`; readers of values."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from memoryfs.frontmatter import FrontMatter
from memoryfs.model import STATUSES, Memory, Problem, SourceRange
from memoryfs.notation import Note
from memoryfs.topic.outline import Item, Outline

KIND_OF_SECTION = {"facts": "fact", "events": "event", "instructions": "instruction", "tasks": "task"}
REVIEW, HISTORY = "needs review", "history"
_LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it: lines `start` to `end`, 0-based, end excluded."""

    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True)
class Review:
    """One item under *Needs review*; `line` counts from 1; `memory_ids` are those it points to, here or elsewhere."""

    id: str
    text: str
    line: int
    ticked: bool
    memory_ids: tuple[str, ...]


@dataclass(frozen=True)
class Definition:
    """A footnote definition: its label, what it says, its lines (0-based, end excluded)."""

    label: str
    note: Note
    start: int
    end: int


@dataclass(frozen=True)
class Topic:
    """A topic file as read. `items` runs parallel to `memories`: the lines each one stands on.

    `writable` is False where an edit might do harm (broken front matter, not UTF-8, NUL, conflict markers, one id
    twice); `problems` then says why. Text in `meta`, `memories` and `prose` holds U+FFFD for what is not UTF-8.
    """

    path: str
    text: str
    meta: Mapping[str, Any]
    front: FrontMatter
    shape: Outline
    memories: tuple[Memory, ...]
    items: tuple[Item, ...]
    sections: tuple[Section, ...]
    reviews: tuple[Review, ...]
    review_items: tuple[Item, ...]
    definitions: tuple[Definition, ...]
    prose: tuple[tuple[int, str], ...]
    problems: tuple[Problem, ...]
    writable: bool
    heading: str = ""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The text's lines with their ends; the byte-order mark belongs to the first."""
        return split_lines(self.text)

    @property
    def title(self) -> str:
        """The front matter's title, else the first heading, else the file's name."""
        return one_line(self.meta.get("title")) or self.heading or PurePosixPath(self.path).stem

    @property
    def status(self) -> str:
        """The front matter's status; `active` if it has none that we know."""
        status = one_line(self.meta.get("status")).casefold()
        return status if status in STATUSES else "active"

    @property
    def summary(self) -> str:
        return one_line(self.meta.get("summary"))

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags without `#`; a text is split at its commas."""
        return tuple(dict.fromkeys(tag.lstrip("#") for tag in _texts(self.meta.get("tags")) if tag.strip("#")))

    @property
    def query_hints(self) -> tuple[str, ...]:
        return _texts(self.meta.get("query_hints"))

    @property
    def retrieve_when(self) -> str:
        value = self.meta.get("retrieve_when")
        return "; ".join(_texts(value)) if isinstance(value, list) else one_line(value)

    @property
    def importance(self) -> float:
        """0 to 1; 0.5 where the file does not say."""
        try:
            value = float(one_line(self.meta.get("importance")))
        except ValueError:
            return 0.5
        return min(1.0, max(0.0, value)) if value == value else 0.5

    @property
    def source_range(self) -> tuple[SourceRange, ...]:
        """The front matter's source ranges; entries that are not `{thread, start, end}` are passed over."""
        return read_ranges(self.meta.get("source_range"))


def read_ranges(value: Any) -> tuple[SourceRange, ...]:
    """Ranges written as mappings or as `THREAD:A-B`, alone or in a list."""
    out = []
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, str):
            found = SourceRange.parse(entry)
        elif isinstance(entry, dict):
            start, thread = one_line(entry.get("start")), one_line(entry.get("thread"))
            found = SourceRange.parse(f"{thread}:{start}-{one_line(entry.get('end')) or start}")
        else:
            found = None
        if found:
            out.append(found)
    return tuple(out)


def one_line(value: Any) -> str:
    """A scalar as one line of text; "" for nothing, a list or a mapping."""
    if isinstance(value, (list, dict)) or value is None:
        return ""
    return " ".join(str(value).split())


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    return tuple(text for text in map(one_line, value) if text) if isinstance(value, list) else ()


def split_lines(text: str) -> tuple[str, ...]:
    """Lines with their ends, split where markdown-it splits: LF, CRLF, CR; and nowhere else."""
    return tuple(line for line in _LINE_END.split(text) if line)


def memory_id(text: str, salt: str = "") -> str:
    """`m-` and 6 hex digits of SHA-256 over the text (NFKC, case and blanks folded) and the salt."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return "m-" + hashlib.sha256(f"{plain}\0{salt}".encode("utf-8", "surrogatepass")).hexdigest()[:6]


def section_role(trail: tuple[tuple[int, str], ...]) -> str:
    """The nearest enclosing section that means something: `facts` … `needs review`, `history`; or ""."""
    return next((role for _, title in reversed(trail) if (role := role_of(title))), "")


def role_of(title: str) -> str:
    """What a heading's title makes of its section: a key of `KIND_OF_SECTION`, `REVIEW`, `HISTORY`, or ""."""
    name = title.strip().rstrip(":").strip().casefold()
    return name if name in KIND_OF_SECTION or name in (REVIEW, HISTORY) else ""
