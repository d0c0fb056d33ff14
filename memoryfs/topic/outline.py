"""In: Markdown text. Out: its headings, list items, footnotes and blocks with the lines they stand on.

All of it from markdown-it-py's block tokens and line maps (CommonMark, tables, footnotes); inline text is not parsed.
Lines are 0-based, ends excluded; line ends are LF, CRLF or CR, as markdown-it reads them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

MAX_NESTING = 120  # of blocks; deeper text is not looked into
_TRAILING_ID = re.compile(r"(?:^|\s)\^[mr]-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*(?:\s|$)")


@dataclass(frozen=True)
class Heading:
    title: str
    level: int
    start: int
    end: int


@dataclass(frozen=True)
class Item:
    """A list item, or a paragraph that carries an id (`kind` paragraph).

    `text` is its first paragraph, and a later one of its own if the id stands there; empty for an item that starts
    with code, HTML or a table. Lines `start` to `end` are the whole item with its children, `start` to `own_end` its
    own part, `text_start` to `text_end` the paragraph that holds its id or would hold it. `depth` counts the items
    around it; `trail` holds (level, title) of the headings above it; `quoted` is True inside a block quote.
    """

    text: str
    start: int
    own_end: int
    end: int
    depth: int
    trail: tuple[tuple[int, str], ...]
    quoted: bool
    kind: str = "item"
    children: tuple[str, ...] = ()
    text_start: int = 0
    text_end: int = 0


@dataclass(frozen=True)
class FootNote:
    label: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Outline:
    """`blocks` are the line ranges of top-level blocks, lists cut into their items, without footnotes; `code` those
    of code; `open_fence` is the line of a code fence that is never closed, so that the rest of the file is code."""

    headings: tuple[Heading, ...]
    items: tuple[Item, ...]
    notes: tuple[FootNote, ...]
    blocks: tuple[tuple[int, int], ...]
    code: tuple[tuple[int, int], ...]
    open_fence: int | None = None


@lru_cache(maxsize=1)
def _markdown() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    md.use(footnote_plugin, inline=False, move_to_end=False)
    md.core.ruler.enableOnly(["normalize", "block"])
    return md


@dataclass
class _Open:
    """A container that is open while the tokens go by."""

    type: str
    start: int = 0
    end: int = 0
    own_end: int = 0
    text: str | None = None
    children: list[str] = field(default_factory=list)
    label: str = ""
    depth: int = 0
    trail: tuple[tuple[int, str], ...] = ()
    text_start: int = 0
    text_end: int = 0


_CONTAINERS = ("list_item", "blockquote", "footnote_reference", "bullet_list", "ordered_list")


def outline(text: str) -> Outline:
    """Reads the shape of `text`; never raises, whatever the text."""
    lines = re.split(r"\r\n|\n|\r", text)
    walk = _Walk(lines)
    for token in _markdown().parse(text):
        walk.token(token)
    return Outline(tuple(walk.headings), tuple(sorted(walk.items, key=lambda i: (i.start, i.depth))),
                   tuple(walk.notes), tuple(walk.blocks), tuple(walk.code), walk.open_fence)


class _Walk:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.stack: list[_Open] = []
        self.headings: list[Heading] = []
        self.trail: tuple[tuple[int, str], ...] = ()
        self.items: list[Item] = []
        self.notes: list[FootNote] = []
        self.blocks: list[tuple[int, int]] = []
        self.code: list[tuple[int, int]] = []
        self.heading: tuple[int, int, int] | None = None
        self.leaf = ""
        self.open_fence: int | None = None

    def trim(self, start: int, end: int) -> int:
        while end > start + 1 and not self.lines[min(end, len(self.lines)) - 1].strip(" \t>"):
            end -= 1
        return min(end, len(self.lines))

    def token(self, token: Any) -> None:
        kind = token.type.rpartition("_")[0]
        if kind in _CONTAINERS:
            if token.nesting == 1:
                self.open(kind, token)
            else:
                self.close()
        elif token.type == "inline":
            self.words(token.content, token.map or [0, 0])
        elif token.type in ("fence", "code_block", "html_block"):
            if token.type != "html_block":
                self.code.append(tuple(token.map))
            if token.type == "fence" and token.level == 0:
                start, end = token.map
                last = self.lines[min(end, len(self.lines)) - 1].strip()
                if end - start < 2 or len(last) < len(token.markup) or last.strip(token.markup[0]):
                    self.open_fence = start
            self.block(token)
            self.other(token.content)
        elif token.nesting >= 0 and token.map:
            self.block(token)
            self.leaf = token.type
            if token.level == 0 and token.type == "heading_open":
                self.heading = (int(token.tag[1]), *token.map)

    def block(self, token: Any) -> None:
        if token.level == 0 and token.map and token.type != "hr":
            self.blocks.append((token.map[0], self.trim(*token.map)))

    def open(self, kind: str, token: Any) -> None:
        start, end = token.map
        if token.level == 0 and kind == "blockquote":
            self.block(token)
        new = _Open(kind, start, self.trim(start, end), label=(token.meta or {}).get("label", ""), trail=self.trail)
        new.own_end = new.end
        around = [entry for entry in self.stack if entry.type == "list_item"]
        new.depth = len(around)
        if kind in ("bullet_list", "ordered_list") and self.stack and self.stack[-1].type == "list_item":
            parent = self.stack[-1]
            if start > parent.start:
                parent.own_end = min(parent.own_end, self.trim(parent.start, start))
        if kind == "list_item" and token.level == 1:
            self.blocks.append((start, new.end))
        self.stack.append(new)

    def close(self) -> None:
        done = self.stack.pop()
        if done.type == "footnote_reference":
            self.notes.append(FootNote(done.label, done.text or "", done.start, done.end))
        elif done.type == "list_item":
            quoted = any(entry.type in ("blockquote", "footnote_reference") for entry in self.stack)
            self.items.append(Item(done.text or "", done.start, done.own_end, done.end, done.depth, done.trail, quoted,
                                   children=tuple(done.children), text_start=done.text_start, text_end=done.text_end))
            parent = next((entry for entry in reversed(self.stack) if entry.type == "list_item"), None)
            if parent is not None and not _TRAILING_ID.search(done.text or ""):
                parent.children += [done.text or "", *done.children]

    def words(self, content: str, lines: Any) -> None:
        start = lines[0]
        end = start + content.count("\n") + 1  # without the underline of a heading
        if self.leaf == "heading_open" and self.heading is not None and not self.stack:
            level, start, end = self.heading
            self.heading = None
            self.headings.append(Heading(content.strip(), level, start, end))
            self.trail = (*(entry for entry in self.trail if entry[0] < level), (level, content.strip()))
        elif self.leaf == "paragraph_open" and not self.stack:
            if _TRAILING_ID.search(content):
                self.items.append(Item(content, start, end, end, 0, self.trail, False, "paragraph",
                                       text_start=start, text_end=end))
        elif self.leaf in ("paragraph_open", "heading_open"):
            inner = self.inner()
            if inner is None:
                return
            direct = inner.type == "footnote_reference" or inner is self.stack[-1]
            if inner.text is None and direct:
                inner.text, inner.text_start, inner.text_end = content.strip(), start, end
            elif inner.type == "footnote_reference":
                inner.text += "\n" + content.strip()
            elif direct and _TRAILING_ID.search(content) and not _TRAILING_ID.search(inner.text or "") and inner.text:
                inner.text += "\n" + content.strip()
                inner.text_start, inner.text_end = start, end
            else:
                self.other(content)
        else:
            self.other(content)

    def inner(self) -> _Open | None:
        return next((e for e in reversed(self.stack) if e.type in ("list_item", "footnote_reference")), None)

    def other(self, content: str) -> None:
        """Text that is not a container's own first paragraph."""
        inner = self.inner()
        if inner is not None and content.strip():
            if inner.type == "list_item":
                inner.text = inner.text or ""
                inner.children.append(content.strip())
            else:
                inner.text = (inner.text + "\n" if inner.text else "") + content.strip()
