"""In: a topic and what should change. Out: a new topic whose text differs only in the lines that had to.

After every edit the new text is read again: the change must show and everything else (other memories, reviews, prose,
front matter) must read as before, or UnwritableFileError is raised and nothing is given back. A topic that is not
`writable` is never edited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from memoryfs import frontmatter_edit as yaml_edit
from memoryfs import notation
from memoryfs.errors import NotFoundError, UnwritableFileError
from memoryfs.model import Memory, SourceRange
from memoryfs.notation import Note
from memoryfs.outline import Item
from memoryfs.topic import (
    HISTORY,
    KIND_OF_SECTION,
    REVIEW,
    Topic,
    memory_id,
    parse,
    role_of,
    section_role,
)
from memoryfs.topic_lines import (
    add_item,
    append_marks,
    bare,
    drop_notes,
    edit_text,
    head_of,
    insert,
    set_note,
    take_out,
)

_SECTION_OF_KIND = {kind: role for role, kind in KIND_OF_SECTION.items()}


def new_topic(path: str, *, title: str, summary: str = "", tags: Iterable[str] = (), query_hints: Iterable[str] = (),
              retrieve_when: str = "", created_at: str) -> Topic:
    """A new topic file with front matter and a heading; `created_at` is an ISO 8601 date. Title and summary are one line."""
    title = notation.fold(title) or PurePosixPath(path).stem
    heading = re.sub(r"(?:(?<=\s)|^)(#+)$", r"\\\1", notation.write_summary(title))
    values: dict[str, Any] = {"title": title, "status": "active"}
    values |= {"summary": notation.fold(summary)} if summary.strip() else {}
    values |= {"tags": [notation.fold(tag).lstrip("#") for tag in tags if tag.strip("# ")]}
    hints = [notation.fold(hint) for hint in query_hints if hint.strip()]
    values |= {"query_hints": hints} if hints else {}
    values |= {"retrieve_when": notation.fold(retrieve_when)} if retrieve_when.strip() else {}
    values |= {"created_at": created_at, "updated_at": created_at}
    rows = [row for key, value in values.items() for row in yaml_edit.key_rows(key, value)]
    text = "\n".join(["---", *rows, "---", f"# {heading}", ""])
    topic = parse(text.encode("utf-8"), path)
    if topic.problems or topic.title != title:
        raise UnwritableFileError(path, "a topic with this title cannot be written")
    return topic


def add_memory(topic: Topic, memory: Memory, *, section: str | None = None) -> Topic:
    """Adds the memory as the last item of its kind's section (or of `section`), and its footnotes.

    A memory with status `superseded` goes to *History*, struck out. `memory.id` must be new to the file; a memory
    stated by a person or an agent needs a date, any other a source range (ValueError).
    """
    notes = _notes_of(topic, memory)
    if not re.fullmatch(notation.ID, memory.id) or not notation.fold(memory.summary):
        raise ValueError("a memory needs an id and a summary")
    if not notes:
        raise ValueError("a memory needs a source: a range of events, or who stated it and when")
    return _add(topic, memory, notes, section)


def _add(topic: Topic, memory: Memory, notes: Mapping[str, Note], section: str | None) -> Topic:
    _writable(topic)
    if any(known.id == memory.id for known in topic.memories):
        raise ValueError(f"^{memory.id} is in {topic.path} already")
    gone = memory.status == "superseded"
    role = role_of(section) if section else HISTORY if gone else _SECTION_OF_KIND[memory.kind]
    if not role or role == REVIEW:
        raise ValueError(f"no section for memories: {section}")
    text = notation.write_summary(memory.summary)
    if gone:
        by = memory.superseded_by or ""
        path = memory.metadata.get("superseded_path", "")
        text = _strike(text) + (_superseded(f"{path}#^{by}" if path else by, memory.metadata.get("superseded_on"))
                                if by else "")
    box = f"[{'x' if memory.done else ' '}] " if memory.kind == "task" else ""
    marks = "".join(f" [^{label}]" for label in notes)
    new = _read(topic, add_item(topic, role, f"{box}{text}{marks} ^{memory.id}"))
    for label, note in notes.items():
        shared = any(label in known.metadata["labels"] for known in topic.memories)
        new = _read(new, set_note(new, label, memory.id, note, shared=shared))
    made = _made(new, memory.id)[0]
    same = (made.summary == notation.fold(memory.summary) and set(notes) == set(made.metadata["labels"])
            and made.done == (memory.done and bool(box)) and (made.status == "superseded") == gone)
    return _checked(topic, new, {memory.id}, visible=same)


def _notes_of(topic: Topic, memory: Memory) -> dict[str, Note]:
    """The footnotes a memory needs, by label: one a source range, one for who stated it."""
    out: dict[str, Note] = {}
    for number, source in enumerate(memory.source_range):
        first = number == 0
        said = notation.SAID_BY_USER if memory.metadata.get("role") == "user" else ""
        out[source.label] = _note_for(topic, source, memory.date, memory.query_hints if first else (),
                                      memory.quote if first else "", said)
    labels = [label for label in memory.metadata.get("labels", ()) if notation.stated(label)]
    if memory.stated_by in ("person", "agent") and not any(label.startswith(memory.stated_by) for label in labels):
        if not memory.date:
            raise ValueError(f"a memory stated by a {memory.stated_by} needs a date")
        labels.append(f"{memory.stated_by}:{memory.date[:10]}")
    for label in labels:
        out[label] = _stated_note(label, *((memory.query_hints, memory.quote) if not memory.source_range else ((), "")))
    return out


def _stated_note(label: str, hints: Sequence[str] = (), quote: str = "") -> Note:
    who, date = notation.stated(label)
    return Note(date, None, tuple(hints), quote, "stated by a person" if who == "person" else "stated by an agent")


def _note_for(topic: Topic, source: SourceRange, date: str | None, hints: Sequence[str], quote: str,
              text: str = "") -> Note:
    own = source.thread[:10] if re.match(r"\d{4}-\d\d-\d\d-", source.thread) else None
    date = date[:10] if date else own
    listed = next((r.thread for r in topic.source_range if r.short == source.short), None)
    read = listed or f"{date or 'undated'}-{source.short}"
    return Note(date, source.thread if read != source.thread else None, tuple(hints), quote, text)


def transfer(source: Topic, target: Topic, memory_id: str) -> tuple[Topic, Topic]:
    """Moves a memory with all its footnotes from one file to another; gives back both. Its children go with it."""
    memory, item = _find(source, memory_id)
    notes = {}
    for label in memory.metadata["labels"]:
        note = next((d.note for d in source.definitions if d.label == label), None)
        if not notation.is_source_label(label):
            continue
        hints, quote = note.of(memory.id) if note else ((), "")
        found = next((r for r in memory.source_range if r.label == label), None)
        if found:
            notes[label] = _note_for(target, found, note.date if note else None, hints, quote, note.text if note else "")
        else:
            notes[label] = _stated_note(label, hints, quote)
    children = [line for line in take_out(source, item)[1][item.own_end - item.start:] if line.strip()]
    shorter = withdraw(source, memory_id)
    longer = _add(target, memory, notes, None)
    if children:
        place = _made(longer, memory_id)[1]
        grown = _read(longer, insert(longer.lines, place.end, [bare(line) for line in children]))
        longer = _checked(longer, grown, {memory_id}, visible=bool(grown.memories))
    return shorter, longer


def supersede(topic: Topic, memory_id: str, *, by: str, on: str) -> Topic:
    """Moves the memory to *History*: struck out, with a pointer to `by` (`m-…` or `projects/x#^m-…`) and the date `on`."""
    _writable(topic)
    memory, item = _find(topic, memory_id)
    if section_role(item.trail) == HISTORY and memory.status == "superseded":
        raise ValueError(f"^{memory_id} is in History already")
    lines, moved = take_out(topic, item)
    parts = notation.read_item(item.text, [d.label for d in topic.definitions])
    box = f"[{parts.checkbox}] " if parts.checkbox else ""
    raw = notation.write_summary(parts.summary) if parts.struck or "~~" in item.text else notation.raw_text(item.text, parts)
    marks = "".join(f" [^{label}]" for label in parts.labels)
    text = f"{box}{_strike(raw)}{_superseded(by, on)}{marks} ^{memory_id}"
    between = _read(topic, lines)
    new = _read(topic, add_item(between, HISTORY, text))
    children = [bare(line) for line in moved[item.own_end - item.start:] if line.strip()]
    if children:
        new = _read(topic, insert(new.lines, _made(new, memory_id)[1].end, children))
    made = _made(new, memory_id)[0]
    shown = made.status == "superseded" and made.superseded_by == by.rpartition("^")[2] and made.summary == memory.summary
    return _checked(topic, new, {memory_id}, visible=shown)


def _strike(text: str) -> str:
    """Struck out; a tilde or backslash at an end is escaped: it opens no code fence and eats no mark at the end."""
    text += re.search(r"\\*$", text)[0]
    text = "\\" + text if text.startswith("~") else text
    text = text[:-1] + "\\~" if text.endswith("~") and not text.endswith("\\~") else text
    return f"~~{text}~~"


def _superseded(by: str, on: str | None) -> str:
    aim = by if "#^" in by else f"#^{by.lstrip('#^')}"
    return f" superseded by [[{aim}]]" + (f" on {on}" if on else "")


def add_source(topic: Topic, memory_id: str, source: SourceRange, *, date: str | None, hints: Iterable[str] = (),
               quote: str = "") -> Topic:
    """Reinforces a memory: one more footnote on its item, or more in the one that has this range. `date` is ISO 8601."""
    return _cite(topic, memory_id, source.label, _note_for(topic, source, date, tuple(hints), quote))


def add_statement(topic: Topic, memory_id: str, *, by: str, date: str) -> Topic:
    """Marks a memory as stated by a `person` or an `agent` on an ISO 8601 date."""
    label = f"{by}:{date[:10]}"
    return _cite(topic, memory_id, label, _stated_note(label))


def _cite(topic: Topic, memory_id: str, label: str, note: Note) -> Topic:
    _writable(topic)
    memory, item = _find(topic, memory_id)
    new = topic
    if label not in memory.metadata["labels"]:
        new = _read(topic, edit_text(topic, item, lambda raw, masked: append_marks(raw, masked, [f"[^{label}]"])))
    shared = any(label in known.metadata["labels"] for known in topic.memories if known.id != memory_id)
    new = _read(topic, set_note(new, label, memory_id, note, shared=shared))
    made = _made(new, memory_id)[0]
    return _checked(topic, new, {memory_id}, visible=made.summary == memory.summary and label in made.metadata["labels"])


def withdraw(topic: Topic, memory_id: str) -> Topic:
    """Removes the memory's item with its children, and the footnotes that nobody else uses."""
    _writable(topic)
    memory, item = _find(topic, memory_id)
    new = _read(topic, take_out(topic, item)[0])
    new = _read(topic, drop_notes(new, memory_id, memory.metadata["labels"]))
    return _checked(topic, new, {memory_id}, visible=all(m.id != memory_id for m in new.memories))


def set_id(topic: Topic, line: int, memory_id: str, *, source_label: str | None = None,
           source_note: str | None = None) -> Topic:
    """Adopts the item on `line` (from 1): writes its id at its end, with a footnote if a label is given.

    An item that has this id already only gets the footnote. `source_note` is the footnote's text
    (`2026-11-29; stated by a person`); without one it is made from the label.
    """
    _writable(topic)
    pair = next(((m, i) for m, i in zip(topic.memories, topic.items, strict=True) if m.line == line), None)
    if pair is None:
        raise NotFoundError(f"a memory on line {line} of {topic.path}")
    memory, item = pair
    adopted = memory.metadata.get("adopted", True)
    if adopted and memory.id != memory_id:
        raise ValueError(f"the item on line {line} of {topic.path} is ^{memory.id}")
    marks = [f"[^{source_label}]"] if source_label and source_label not in memory.metadata["labels"] else []
    marks += [] if adopted else [f"^{memory_id}"]
    if not marks:
        return topic
    new = _read(topic, edit_text(topic, item, lambda raw, masked: append_marks(raw, masked, marks)))
    if source_label:
        if source_note is not None:
            note = notation.read_note(source_note)
        else:
            note = _stated_note(source_label) if notation.stated(source_label) else Note()
        shared = any(source_label in known.metadata["labels"] for known in topic.memories)
        new = _read(topic, set_note(new, source_label, memory_id, note, shared=shared))
    made = _made(new, memory_id)[0]
    return _checked(topic, new, {memory_id, memory.id}, visible=made.summary == memory.summary and made.kind == memory.kind)


def replace_summary(topic: Topic, memory_id: str, new_text: str) -> Topic:
    """Puts `new_text` (one line) in the place of the item's words; marker, checkbox, footnotes and id stay."""
    _writable(topic)
    memory, item = _find(topic, memory_id)
    if memory.metadata.get("struck"):
        raise ValueError(f"^{memory_id} is struck out")
    parts = notation.read_item(item.text, [d.label for d in topic.definitions])
    tail = "".join(f" [^{label}]" for label in parts.labels) + (f" ^{parts.id}" if parts.id else "")
    first = item.text_start == item.start

    def change(raw: str, masked: str) -> str:
        trailing = raw[len(raw.rstrip(" \t")):]
        head = head_of(raw) if first and item.kind == "item" else re.match(r"[ \t>]*", raw)[0]
        return head + notation.write_summary(new_text) + tail + trailing

    new = _read(topic, edit_text(topic, item, change))
    touched = {memory_id} if memory.metadata.get("adopted", True) else {memory_id, *(m.id for m in new.memories)}
    shown = any(m.summary == notation.fold(new_text) and m.line == memory.line for m in new.memories)
    return _checked(topic, new, touched, visible=shown)


def set_done(topic: Topic, memory_id: str, done: bool = True) -> Topic:
    """Ticks or unticks the item's checkbox; an item without one is not touched (ValueError)."""
    return _tick(topic, _find(topic, memory_id)[1], done, {memory_id})


def tick_review(topic: Topic, review_id: str, ticked: bool = True) -> Topic:
    """Ticks a *Needs review* item: the question is settled, the line stays."""
    return _tick(topic, _find_review(topic, review_id), ticked, {review_id})


def _tick(topic: Topic, item: Item, done: bool, touched: set[str]) -> Topic:
    _writable(topic)
    row = item.start
    head = head_of(bare(topic.lines[row]))
    box = re.search(r"\[(.)\]([ \t]*)$", head)
    if not box:
        raise ValueError(f"line {row + 1} of {topic.path} has no checkbox")
    mark = "x" if done else " "
    line = topic.lines[row]
    lines = [*topic.lines[:row], line[:box.start(1)] + mark + line[box.end(1):], *topic.lines[row + 1:]]
    return _checked(topic, _read(topic, lines), touched, visible=True)


def add_review(topic: Topic, text: str, review_id: str, memory_ids: Sequence[str]) -> Topic:
    """Adds an open item to *Needs review*; ids the text does not point to yet are pointed to at its end.

    `memory_ids` are ids of this file, or `projects/x#^m-…` for those of another.
    """
    _writable(topic)
    if any(review.id == review_id for review in topic.reviews):
        raise ValueError(f"^{review_id} is in {topic.path} already")
    words = notation.write_summary(text)
    known = {id for _, id in notation.pointers(words)}
    missing = [f"[[{id if '#^' in id else '#^' + id}]]" for id in memory_ids if id.rpartition("^")[2] not in known]
    line = " ".join([f"[ ] {words}", *missing, f"^{review_id}"])
    new = _read(topic, add_item(topic, REVIEW, line))
    made = next((review for review in new.reviews if review.id == review_id), None)
    wanted = {id.rpartition("^")[2] for id in memory_ids}
    return _checked(topic, new, {review_id}, visible=made is not None and wanted <= set(made.memory_ids))


def remove_review(topic: Topic, review_id: str) -> Topic:
    """Removes the *Needs review* item."""
    _writable(topic)
    new = _read(topic, take_out(topic, _find_review(topic, review_id))[0])
    return _checked(topic, new, {review_id}, visible=all(review.id != review_id for review in new.reviews))


def set_meta(topic: Topic, key: str, value: Any) -> Topic:
    """Sets one key of the front matter, touching only its lines; None removes it; a file without a block gets one.

    Values: text, numbers, booleans, dates, lists, mappings. Nothing changes when the value reads the same already.
    """
    _writable(topic)
    try:
        new = _read(topic, yaml_edit.set_key(topic.lines, topic.front, key, value))
    except yaml_edit.CannotEditError as error:
        raise UnwritableFileError(topic.path, str(error)) from error
    others = {name: item for name, item in topic.meta.items() if name != key}
    shown = value is None or new.meta.get(key) == yaml_edit.plain(value)
    if {name: item for name, item in new.meta.items() if name != key} != others or (value is None and key in new.meta):
        raise UnwritableFileError(topic.path, f"`{key}` cannot be changed without changing other values")
    return _checked(topic, new, set(), visible=shown, meta=False)


def _writable(topic: Topic) -> None:
    if not topic.writable:
        reason = next((p for p in topic.problems if p.severity == "error"), None) or next(iter(topic.problems), None)
        where = f"line {reason.line}: " if reason and reason.line else ""
        raise UnwritableFileError(topic.path, where + (reason.message if reason else "not writable"))


def _find(topic: Topic, memory_id: str) -> tuple[Memory, Item]:
    for memory, item in zip(topic.memories, topic.items, strict=True):
        if memory.id == memory_id:
            return memory, item
    raise NotFoundError(f"^{memory_id} in {topic.path}")


def _made(topic: Topic, memory_id: str) -> tuple[Memory, Item]:
    """What an edit should have left in the file."""
    try:
        return _find(topic, memory_id)
    except NotFoundError:
        raise UnwritableFileError(topic.path, _why(topic, "what is added would not read as a memory there")) from None


def _find_review(topic: Topic, review_id: str) -> Item:
    for review, item in zip(topic.reviews, topic.review_items, strict=True):
        if review.id == review_id:
            return item
    raise NotFoundError(f"^{review_id} in {topic.path}")


def _read(topic: Topic, lines: Sequence[str]) -> Topic:
    return parse("".join(lines).encode("utf-8", "surrogateescape"), topic.path)


def _checked(old: Topic, new: Topic, touched: set[str], *, visible: bool, meta: bool = True) -> Topic:
    """`new`, if the change shows in it and all else reads as it did in `old`; else UnwritableFileError."""
    same = (
        visible and new.writable
        and (not meta or new.meta == old.meta)
        and _memories(old, touched, meta) == _memories(new, touched, meta)
        and _reviews(old, touched) == _reviews(new, touched)
        and Counter(_words(text) for _, text in old.prose) == Counter(_words(text) for _, text in new.prose)
    )
    if not same:
        raise UnwritableFileError(old.path, _why(new, "the change would damage its other parts, or not show"))
    return new


def _why(topic: Topic, otherwise: str) -> str:
    """The first trouble of the text that the edit made, with its line."""
    trouble = [p for p in topic.problems if p.severity == "error"] or [
        p for p in topic.problems if topic.shape.open_fence is not None and p.line == topic.shape.open_fence + 1]
    return f"line {trouble[0].line}: {trouble[0].message}" if trouble else otherwise


def _words(text: str) -> str:
    return "\n".join(line.rstrip() for line in re.split(r"\r\n|\n|\r", text))


def _memories(topic: Topic, touched: set[str], meta: bool) -> Counter[Any]:
    """What the memories say, without where they stand. A review makes a memory conflicted without touching it.

    The front matter's status and source ranges hold for all of them: when it is what changes (`meta` False), both are
    left out.
    """
    out: Counter[Any] = Counter()
    for memory in topic.memories:
        if memory.id in touched:
            continue
        status = "active" if memory.status == "conflicted" and topic.status != "conflicted" else memory.status
        named = memory.id if memory.metadata.get("adopted", True) else ""
        plain = replace(memory, id=named, line=0, status=status)
        out[repr(plain if meta else replace(plain, status="", source_range=(), date=None))] += 1
    return out


def _reviews(topic: Topic, touched: set[str]) -> Counter[Any]:
    return Counter(replace(review, line=0) for review in topic.reviews if review.id not in touched)


__all__ = [
    "add_memory", "add_review", "add_source", "add_statement", "memory_id", "new_topic", "remove_review",
    "replace_summary", "set_done", "set_id", "set_meta", "supersede", "tick_review", "transfer", "withdraw",
]
