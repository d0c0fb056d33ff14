"""In: a memory and its sources. Out: the footnotes that say so, by label; and more of them on items that have some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memoryfs import notation
from memoryfs.model import Memory, SourceRange
from memoryfs.notation import Note
from memoryfs.topic import Topic
from memoryfs.topic_edit.check import checked, find, find_made, read, writable
from memoryfs.topic_edit.lines import append_marks, edit_text, set_note, write_note


def notes_of(topic: Topic, memory: Memory) -> dict[str, Note]:
    """The footnotes a memory needs, by label: one a source range, one for who stated it."""
    out: dict[str, Note] = {}
    for number, source in enumerate(memory.source_range):
        first = number == 0
        said = notation.SAID_BY_USER if memory.metadata.get("role") == "user" else ""
        out[source.label] = note_for(topic, source, memory.date, memory.query_hints if first else (),
                                      memory.quote if first else "", said)
    labels = [label for label in memory.metadata.get("labels", ()) if notation.stated(label)]
    if memory.stated_by in ("person", "agent") and not any(label.startswith(memory.stated_by) for label in labels):
        if not memory.date:
            raise ValueError(f"a memory stated by a {memory.stated_by} needs a date")
        labels.append(f"{memory.stated_by}:{memory.date[:10]}")
    for label in labels:
        out[label] = stated_note(label, *((memory.query_hints, memory.quote) if not memory.source_range else ((), "")))
    return out


def stated_note(label: str, hints: Sequence[str] = (), quote: str = "") -> Note:
    who, date = notation.stated(label)
    return Note(date, None, tuple(hints), quote, "stated by a person" if who == "person" else "stated by an agent")


def note_for(topic: Topic, source: SourceRange, date: str | None, hints: Sequence[str], quote: str,
              text: str = "") -> Note:
    own = source.thread[:10] if re.match(r"\d{4}-\d\d-\d\d-", source.thread) else None
    date = date[:10] if date else own
    listed = next((r.thread for r in topic.source_range if r.short == source.short), None)
    read = listed or f"{date or 'undated'}-{source.short}"
    return Note(date, source.thread if read != source.thread else None, tuple(hints), quote, text)


def add_source(topic: Topic, memory_id: str, source: SourceRange, *, date: str | None, hints: Iterable[str] = (),
               quote: str = "") -> Topic:
    """Reinforces a memory: one more footnote on its item, or more in the one it has for this range; ISO 8601 `date`."""
    return _cite(topic, memory_id, source.label, note_for(topic, source, date, tuple(hints), quote))


def set_branch(topic: Topic, label: str, branch: str) -> Topic:
    """Notes the git branch that the source `label` was learned on, "" for none; a label without a definition of ours is left."""
    writable(topic)
    found = [d for d in topic.definitions if d.label == label]
    if len(found) != 1 or SourceRange.parse(label) is None or found[0].note.branch == branch:
        return topic
    lines = write_note(list(topic.lines), found[0].start, found[0].end, label, replace(found[0].note, branch=branch))
    new = read(topic, lines)
    citing = {m.id for m in topic.memories if label in m.metadata["labels"]}
    told = next((d.note.branch for d in new.definitions if d.label == label), None)
    return checked(topic, new, citing, visible=told == branch and {m.id for m in new.memories} == {m.id for m in topic.memories})


def add_statement(topic: Topic, memory_id: str, *, by: str, date: str) -> Topic:
    """Marks a memory as stated by a `person` or an `agent` on an ISO 8601 date."""
    label = f"{by}:{date[:10]}"
    return _cite(topic, memory_id, label, stated_note(label))


def _cite(topic: Topic, memory_id: str, label: str, note: Note) -> Topic:
    writable(topic)
    memory, item = find(topic, memory_id)
    new = topic
    if label not in memory.metadata["labels"]:
        new = read(topic, edit_text(topic, item, lambda raw, masked: append_marks(raw, masked, [f"[^{label}]"])))
    shared = any(label in known.metadata["labels"] for known in topic.memories if known.id != memory_id)
    new = read(topic, set_note(new, label, memory_id, note, shared=shared))
    made = find_made(new, memory_id)[0]
    return checked(topic, new, {memory_id}, visible=made.summary == memory.summary and label in made.metadata["labels"])
