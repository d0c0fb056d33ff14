"""In: a topic and a memory. Out: the topic with it added, superseded, withdrawn, moved, adopted or reworded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memoryfs import notation
from memoryfs.errors import NotFoundError, UnwritableFileError
from memoryfs.model import Memory
from memoryfs.notation import Note
from memoryfs.topic import HISTORY, KIND_OF_SECTION, Topic, section_role
from memoryfs.topic.outline import Item
from memoryfs.topic_edit.check import checked, find, find_made, read, writable
from memoryfs.topic_edit.lines import (
    add_item,
    append_marks,
    bare,
    drop_notes,
    edit_in_place,
    edit_text,
    head_of,
    insert,
    set_note,
    take_out,
)
from memoryfs.topic_edit.sources import note_for, notes_of, stated_note

_SECTION_OF_KIND = {kind: role for role, kind in KIND_OF_SECTION.items()}


def add_memory(topic: Topic, memory: Memory) -> Topic:
    """Adds the memory as the last item of its kind's section, and its footnotes.

    A memory with status `superseded` goes to *History*, struck out. `memory.id` must be new to the file; a memory
    stated by a person or an agent needs a date, any other a source range (ValueError).
    """
    notes = notes_of(topic, memory)
    if not re.fullmatch(notation.ID, memory.id) or not notation.fold(memory.summary):
        raise ValueError("a memory needs an id and a summary")
    if not notes:
        raise ValueError("a memory needs a source: a range of events, or who stated it and when")
    return _add(topic, memory, notes)


def _add(topic: Topic, memory: Memory, notes: Mapping[str, Note]) -> Topic:
    writable(topic)
    if any(known.id == memory.id for known in topic.memories):
        raise ValueError(f"^{memory.id} is in {topic.path} already")
    gone = memory.status == "superseded"
    role = HISTORY if gone else _SECTION_OF_KIND[memory.kind]
    text = notation.write_summary(memory.summary)
    if gone:
        by = memory.superseded_by or ""
        path = memory.metadata.get("superseded_path", "")
        text = _strike(text) + (_superseded(f"{path}#^{by}" if path else by, memory.metadata.get("superseded_on"))
                                if by else "")
    box = f"[{'x' if memory.done else ' '}] " if memory.kind == "task" else ""
    marks = "".join(f" [^{label}]" for label in notes)
    new = read(topic, add_item(topic, role, f"{box}{text}{marks} ^{memory.id}"))
    for label, note in notes.items():
        shared = any(label in known.metadata["labels"] for known in topic.memories)
        new = read(new, set_note(new, label, memory.id, note, shared=shared))
    made = find_made(new, memory.id)[0]
    same = (made.summary == notation.fold(memory.summary) and set(notes) == set(made.metadata["labels"])
            and made.done == (memory.done and bool(box)) and (made.status == "superseded") == gone)
    return checked(topic, new, {memory.id}, visible=same)


def bring(source: Topic, target: Topic, memory_id: str) -> Topic:
    """`target` with a memory of `source`, its footnotes and its children; `source` stays as it is."""
    memory, item = find(source, memory_id)
    notes = {}
    for label in memory.metadata["labels"]:
        note = next((d.note for d in source.definitions if d.label == label), None)
        if not notation.is_source_label(label):
            continue
        hints, quote = note.of(memory.id) if note else ((), "")
        found = next((r for r in memory.source_range if r.label == label), None)
        if found:
            made = note_for(target, found, note.date if note else None, hints, quote, note.text if note else "")
            notes[label] = replace(made, branch=note.branch if note else "")
        else:
            notes[label] = stated_note(label, hints, quote)
        if note:
            recheck, (day, what) = note.recheck_of(memory.id), note.changed_of(memory.id)
            notes[label] = replace(notes[label], recheck=((memory.id, recheck),) if recheck else (),
                                   changed=((memory.id, day, what),) if day else ())
    children = _below(source, take_out(source, item)[1], item)
    longer = _add(target, memory, notes)
    if children:
        place = find_made(longer, memory_id)[1]
        grown = read(longer, insert(longer.lines, place.end, [bare(line) for line in children]))
        longer = checked(longer, grown, {memory_id}, visible=bool(grown.memories))
    return longer


def supersede(topic: Topic, memory_id: str, *, by: str, on: str) -> Topic:
    """Moves the memory to *History*: struck out, with a pointer to `by` (`m-…`, `projects/x#^m-…`) and the date `on`."""
    writable(topic)
    memory, item = find(topic, memory_id)
    if section_role(item.trail) == HISTORY and memory.status == "superseded":
        raise ValueError(f"^{memory_id} is in History already")
    lines, moved = take_out(topic, item)
    parts = notation.read_item(item.text, [d.label for d in topic.definitions])
    box = f"[{parts.checkbox}] " if parts.checkbox else ""
    marked = parts.struck or "~~" in item.text
    raw = notation.write_summary(parts.summary) if marked else notation.raw_text(item.text, parts)
    marks = "".join(f" [^{label}]" for label in parts.labels)
    text = f"{box}{_strike(raw)}{_superseded(by, on)}{marks} ^{memory_id}"
    between = read(topic, lines)
    new = read(topic, add_item(between, HISTORY, text))
    children = [bare(line) for line in _below(topic, moved, item)]
    if children:
        new = read(topic, insert(new.lines, find_made(new, memory_id)[1].end, children))
    made = find_made(new, memory_id)[0]
    shown = ("superseded", by.rpartition("^")[2], memory.summary) == (made.status, made.superseded_by, made.summary)
    return checked(topic, new, {memory_id}, visible=shown)


def _below(topic: Topic, lines: Sequence[str], item: Item) -> list[str]:
    """The lines of an item that was taken out after those of its words: paragraphs, code, nested lists.

    UnwritableFileError when something that is not its words (code, a heading) stands before the paragraph with its id.
    """
    words = item.text.splitlines()
    for line in lines[: item.text_start - item.start]:
        text = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line).strip()
        if text and not any(text in row for row in words):
            raise UnwritableFileError(topic.path, f"line {item.start + 1}: what stands above this item's id is not its words")
    rest = list(lines[item.text_end - item.start:])
    while rest and not rest[-1].strip():
        rest.pop()
    return rest


def _strike(text: str) -> str:
    """Struck out; a tilde or backslash at an end is escaped: it opens no code fence and eats no mark at the end."""
    text += re.search(r"\\*$", text)[0]
    text = "\\" + text if text.startswith("~") else text
    text = text[:-1] + "\\~" if text.endswith("~") and not text.endswith("\\~") else text
    return f"~~{text}~~"


def _superseded(by: str, on: str | None) -> str:
    aim = by if "#^" in by else f"#^{by.lstrip('#^')}"
    return f" superseded by [[{aim}]]" + (f" on {on}" if on else "")


def withdraw(topic: Topic, memory_id: str) -> Topic:
    """Removes the memory's item with its children, and the footnotes that nobody else uses."""
    writable(topic)
    memory, item = find(topic, memory_id)
    new = read(topic, take_out(topic, item)[0])
    new = read(topic, drop_notes(new, memory_id, memory.metadata["labels"]))
    return checked(topic, new, {memory_id}, visible=all(m.id != memory_id for m in new.memories))


def set_id(topic: Topic, line: int, memory_id: str, *, source_label: str | None = None) -> Topic:
    """Adopts the item on `line` (from 1): writes its id at its end, with a footnote if a label is given.

    An item that has this id already only gets the footnote.
    """
    return set_ids(topic, {line: memory_id}, source_label=source_label)


def set_ids(topic: Topic, ids: Mapping[int, str], *, source_label: str | None = None) -> Topic:
    """`set_id` for many items, by their lines; all of them or, with an error, none. The text is read and checked once."""
    writable(topic)
    pairs = {memory.line: (memory, item) for memory, item in zip(topic.memories, topic.items, strict=True)}
    lines = list(topic.lines)
    touched: dict[str, Memory] = {}
    for line, memory_id in ids.items():
        if line not in pairs:
            raise NotFoundError(f"a memory on line {line} of {topic.path}")
        memory, item = pairs[line]
        adopted = memory.metadata.get("adopted", True)
        if adopted and memory.id != memory_id:
            raise ValueError(f"the item on line {line} of {topic.path} is ^{memory.id}")
        marks = [f"[^{source_label}]"] if source_label and source_label not in memory.metadata["labels"] else []
        marks += [] if adopted else [f"^{memory_id}"]
        if marks:  # no line is added or taken, so that the places of the other items hold
            edit_in_place(lines, item, lambda raw, masked, marks=marks: append_marks(raw, masked, marks))
            touched[memory_id] = memory
    if not touched:
        return topic
    new = read(topic, lines)
    if source_label:
        note = stated_note(source_label) if notation.stated(source_label) else Note()
        shared = any(source_label in known.metadata["labels"] for known in topic.memories)
        new = read(topic, set_note(new, source_label, next(iter(touched)), note, shared=shared))
    return checked(topic, new, {*touched, *(m.id for m in touched.values())}, visible=_reads(new, touched))


def _reads(topic: Topic, wanted: Mapping[str, Memory]) -> bool:
    """Whether the ids stand there with the words and kinds that are wanted."""
    made = {m.id: (m.summary, m.kind) for m in topic.memories}
    for memory_id in wanted:
        find_made(topic, memory_id)
    return all(made[memory_id] == (memory.summary, memory.kind) for memory_id, memory in wanted.items())


def replace_summary(topic: Topic, memory_id: str, new_text: str) -> Topic:
    """Puts `new_text` (one line) in the place of the item's words; marker, checkbox, footnotes and id stay."""
    writable(topic)
    memory, item = find(topic, memory_id)
    if memory.metadata.get("struck"):
        raise ValueError(f"^{memory_id} is struck out")
    parts = notation.read_item(item.text, [d.label for d in topic.definitions])
    tail = "".join(f" [^{label}]" for label in parts.labels) + (f" ^{parts.id}" if parts.id else "")
    first = item.text_start == item.start

    def change(raw: str, masked: str) -> str:
        trailing = raw[len(raw.rstrip(" \t")):]
        head = head_of(raw) if first and item.kind == "item" else re.match(r"[ \t>]*", raw)[0]
        return head + notation.write_summary(new_text) + tail + trailing

    new = read(topic, edit_text(topic, item, change))
    touched = {memory_id} if memory.metadata.get("adopted", True) else {memory_id, *(m.id for m in new.memories)}
    shown = any(m.summary == notation.fold(new_text) and m.line == memory.line for m in new.memories)
    return checked(topic, new, touched, visible=shown)
