"""In: the bytes of a topic file. Out: a `Topic`, and the bytes back, exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from memoryfs import frontmatter, notation
from memoryfs.frontmatter import FrontMatter
from memoryfs.model import STATUSES, Memory, Problem, SourceRange
from memoryfs.topic.model import (
    HISTORY,
    KIND_OF_SECTION,
    REVIEW,
    Definition,
    Review,
    Section,
    Topic,
    memory_id,
    one_line,
    read_ranges,
    role_of,
    section_role,
    split_lines,
)
from memoryfs.topic.outline import Item, Outline, outline

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LONE = re.compile("[\ud800-\udfff]")
_KEY = re.compile(r"[\w.-]+[ \t]*:(?:\s|$)")
_TELLING = {"title", "source_range", "query_hints", "retrieve_when", "created_at", "updated_at"}  # keys of a topic file


def render(topic: Topic) -> bytes:
    """The file's bytes, exactly."""
    return topic.text.encode("utf-8", "surrogateescape")


def parse(data: bytes, path: str = "") -> Topic:
    """Reads a topic file; never raises. What cannot be read is named in `problems`, and the rest is read."""
    text = data.decode("utf-8", "surrogateescape")
    lines = list(split_lines(data.decode("utf-16", "replace") if data[:2] in _UTF16 else text))
    problems = _damage(data, text, path)
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    front = frontmatter.read(lines, path)
    problems += front.problems
    body = [line.rstrip("\r\n") + "\n" for line in lines]  # one kind of line end: CR and LF of two lines must not melt
    if front.has_block:
        body[:front.end] = ["\n"] * front.end
    shape = outline("".join(body))
    problems += _conflict_markers(body, shape, path)
    more = _more_blocks(body, front, shape)
    if more:
        problems += [Problem(path, "a second front-matter block follows the first; it is read as text",
                             "Merge the two blocks by hand.", start + 1, severity="warning") for start, _ in more]
        shape = replace(shape, items=tuple(i for i in shape.items if not any(s <= i.start < e for s, e in more)))
    if shape.open_fence is not None:
        problems.append(Problem(path, "a code fence is never closed; all that follows is code", "Close it.",
                                shape.open_fence + 1, severity="warning"))
    return _Reader(path, text, lines, front, shape, problems).topic()


def _damage(data: bytes, text: str, path: str) -> list[Problem]:
    problems = []
    lone = _LONE.search(text)
    if lone:
        head = split_lines(text[:lone.start()] + "x")
        other = "it is UTF-16" if data[:2] in _UTF16 else "a byte of some other encoding"
        problems.append(Problem(path, f"not valid UTF-8: {other}",
                                "Save the file as UTF-8; until then it is read as far as possible and never written.",
                                len(head), len(head[-1])))
    nul = text.find("\0")
    if nul >= 0 and data[:2] not in _UTF16:
        head = split_lines(text[:nul] + "x")
        problems.append(Problem(path, "the file holds NUL characters",
                                "Remove them; until then the file is read but not written.", len(head), len(head[-1])))
    return problems


def _conflict_markers(lines: list[str], shape: Outline, path: str) -> list[Problem]:
    found: dict[str, int] = {}
    for number, line in enumerate(lines):
        mark = line[:7]
        if mark in ("<<<<<<<", "=======", ">>>>>>>") and line[7:8] in ("", " ", "\r", "\n"):
            if any(start <= number < end for start, end in shape.code):
                continue
            if mark == "<<<<<<<" or "<<<<<<<" in found:
                found.setdefault(mark, number + 1)
    if len(found) < 3:
        return []
    return [Problem(path, "git conflict markers", "Resolve the conflict; until then the file is not written.",
                    found["<<<<<<<"], 1)]


def _more_blocks(lines: list[str], front: FrontMatter, shape: Outline) -> list[tuple[int, int]]:
    """The line ranges of front matter below the first: stacked on it, or of a file that was pasted under this one."""
    out: list[tuple[int, int]] = []
    low = front.end if front.has_block else 1
    for number in range(low, len(lines) - 1):
        if not frontmatter.is_fence(lines[number]) or not _KEY.match(lines[number + 1]) or (out and number < out[-1][1]):
            continue
        if any(start <= number < end for start, end in shape.code):
            continue
        found = frontmatter.read(lines[number:])
        stacked = front.kind == "yaml" and not any(line.strip() for line in lines[low:number])
        if found.kind == "yaml" and found.values and (stacked or _TELLING & found.values.keys()):
            out.append((number, number + found.end))
    return out


def _clean(text: str) -> str:
    return _LONE.sub("\ufffd", text)


@dataclass
class _Reader:
    """Collects a topic's parts from its outline."""

    path: str
    text: str
    lines: list[str]
    front: FrontMatter
    shape: Outline
    problems: list[Problem]
    memories: list[tuple[Memory, Item]] = field(default_factory=list)
    reviews: list[tuple[Review, Item]] = field(default_factory=list)
    prose: list[tuple[int, str]] = field(default_factory=list)

    def topic(self) -> Topic:
        notes = [(note, notation.read_note(note.text)) for note in self.shape.notes]
        definitions = tuple(Definition(n.label, note, n.start, n.end) for n, note in notes)
        self.notes = {d.label: d.note for d in reversed(definitions)}
        self.threads = {r.short: r.thread for r in reversed(read_ranges(self.front.values.get("source_range")))}
        self.file_status = one_line(self.front.values.get("status")).casefold()
        self.seen: dict[str, int] = {}
        self.guessed: dict[str, int] = {}
        if self.front.kind == "broken":
            block = "".join(self.lines[self.front.start + 1:self.front.end - 1])
            self.prose.append((self.front.start + 2, _clean(block).strip()))
        for item in self.shape.items:
            self.item(item)
        self.blocks()
        self.mark_conflicted()
        ordered = sorted(self.memories, key=lambda pair: pair[1].start)
        writable = not any(problem.severity == "error" for problem in self.problems)
        if self.front.kind == "unclosed":
            writable = False
        return Topic(
            path=self.path, text=self.text, meta=self.front.values, front=self.front, shape=self.shape,
            memories=tuple(memory for memory, _ in ordered), items=tuple(item for _, item in ordered),
            sections=self.sections(), reviews=tuple(review for review, _ in self.reviews),
            review_items=tuple(item for _, item in self.reviews), definitions=definitions,
            prose=tuple(sorted(self.prose)), problems=tuple(self.problems), writable=writable,
            heading=next((_clean(h.title) for h in self.shape.headings if h.title), ""),
        )

    def sections(self) -> tuple[Section, ...]:
        heads = self.shape.headings
        out = []
        for number, head in enumerate(heads):
            end = next((h.start for h in heads[number + 1:] if h.level <= head.level), len(self.lines))
            out.append(Section(_clean(head.title), head.level, head.start, end))
        return tuple(out)

    def item(self, item: Item) -> None:
        parts = notation.read_item(_clean(item.text), self.notes)
        role = section_role(item.trail)
        own = parts.id.startswith("m-")
        if parts.id.startswith("r-") or (role == REVIEW and item.depth == 0 and notation.pointers(item.text)):
            self.review(item, parts)
        elif not parts.summary:
            return
        elif own or (item.depth == 0 and not item.quoted and item.kind == "item" and (
                role in KIND_OF_SECTION or (role == HISTORY and parts.struck))):
            self.memories.append((self.memory(item, parts, role), item))

    def review(self, item: Item, parts: notation.ItemText) -> None:
        ids = tuple(dict.fromkeys(id for _, id in notation.pointers(_clean(item.text))))
        name = parts.id or "r-" + memory_id(parts.summary, self.path)[2:]
        self.reviews.append((Review(name, parts.summary, item.start + 1, parts.checkbox in ("x", "X"), ids), item))

    def memory(self, item: Item, parts: notation.ItemText, role: str) -> Memory:
        line = item.start + 1
        metadata: dict[str, Any] = {"labels": parts.labels}
        if item.trail:
            metadata["section"] = _clean(item.trail[-1][1])
        if parts.id.startswith("m-"):
            name = parts.id
            if name in self.seen:
                twice = f"the id ^{name} stands twice (lines {self.seen[name]} and {line})"
                self.problems.append(Problem(self.path, twice, "Remove one of them; a copied item gets its own id.", line))
            self.seen.setdefault(name, line)
        else:
            count = self.guessed[parts.summary] = self.guessed.get(parts.summary, 0) + 1
            name = memory_id(parts.summary, self.path if count == 1 else f"{self.path}#{count}")
            metadata["adopted"] = False
        if parts.other_ids:
            metadata["other_ids"] = parts.other_ids
        if item.children:
            children = (notation.read_item(_clean(child), self.notes) for child in item.children)
            metadata["children"] = tuple(child.summary for child in children)
        if item.kind != "item":
            metadata["block"] = item.kind
        if parts.struck:
            metadata["struck"] = True
        if parts.superseded_path:
            metadata["superseded_path"] = parts.superseded_path
        if parts.superseded_on:
            metadata["superseded_on"] = parts.superseded_on
        notes = [(label, self.notes.get(label, notation.Note())) for label in parts.labels]
        if any(note.text == notation.SAID_BY_USER for _, note in notes):
            metadata["role"] = "user"
        evidence = [note.of(name) for _, note in notes]
        quotes = tuple(quote for _, quote in evidence if quote)
        if len(quotes) > 1:
            metadata["quotes"] = quotes
        sayers = [said for label in parts.labels if (said := notation.stated(label))]
        ranges = tuple(found for label, note in notes if (found := self.range(label, note)))
        branches = [note.branch for label, note in notes if notation.is_source_label(label)]
        if branches and all(branches):
            metadata["branch"] = branches[0]
        for _, note in notes:
            if day := note.recheck_of(name):
                metadata["recheck"] = day
            day, what = note.changed_of(name)
            if day:
                metadata["source_changed"] = f"{day}: {', '.join(what)}" if what else day
        dates = [date for _, date in sayers] + [note.date for _, note in notes if note.date]
        dates = dates or [r.thread[:10] for r in ranges if re.match(r"\d{4}-\d\d-\d\d-", r.thread)]
        if any(who == "person" for who, _ in sayers) or not (sayers or ranges):
            by = "person"
        else:
            by = "agent" if sayers else "organizer"
        kind = KIND_OF_SECTION.get(role) or ("task" if parts.checkbox else "fact")
        return Memory(
            id=name, summary=parts.summary, kind=kind, status=self.status(parts, role), topic=self.path, line=line,
            source_range=ranges, stated_by=by, date=max(dates, default=None),
            query_hints=tuple(dict.fromkeys(hint for hints, _ in evidence for hint in hints)),
            quote=quotes[0] if quotes else "", superseded_by=parts.superseded_by,
            done=parts.checkbox in ("x", "X"), metadata=metadata,
        )

    def range(self, label: str, note: notation.Note) -> SourceRange | None:
        found = SourceRange.parse(label)
        if found is None or notation.stated(label):
            return None
        thread = note.thread or self.threads.get(found.thread) or (
            found.thread if re.match(r"\d{4}-\d\d-\d\d-|undated-", found.thread)
            else f"{note.date or 'undated'}-{found.thread}")
        return SourceRange(thread, found.start, found.end)

    def status(self, parts: notation.ItemText, role: str) -> str:
        if role == HISTORY or parts.struck:
            return "superseded"
        if self.file_status in STATUSES and self.file_status != "active":
            return self.file_status
        return "active"

    def mark_conflicted(self) -> None:
        open_ids = {id for review, _ in self.reviews if not review.ticked for id in review.memory_ids}
        for number, (memory, item) in enumerate(self.memories):
            if memory.id in open_ids and memory.status == "active":
                self.memories[number] = (replace(memory, status="conflicted"), item)

    def blocks(self) -> None:
        taken = {item.start for _, item in (*self.memories, *self.reviews)}
        for start, end in self.shape.blocks:
            if start not in taken:
                text = _clean("".join(self.lines[start:end])).strip("\r\n").rstrip()
                if text.strip() and not self._canonical(start):
                    self.prose.append((start + 1, text))

    def _canonical(self, start: int) -> bool:
        """True for the headings that are the format's own, which say nothing."""
        return any(h.start == start and role_of(h.title) for h in self.shape.headings)
