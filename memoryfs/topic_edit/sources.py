"""In: a memory and its sources. Out: the footnotes that say so, by label; and more of them on items that have some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memoryfs import notation
from memoryfs.model import Memory, SourceRange
from memoryfs.notation import Note
from memoryfs.topic import Definition, Topic
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


def set_marks(topic: Topic, memory_id: str, *, recheck: str, changed: tuple[str, tuple[str, ...]]) -> Topic:
    """Notes in a memory's footnotes the day to check it again, and the day on which what it names left its repository and
    what that was; "" and ("", ()) for neither. A memory without a footnote of ours is left as it is.

    What the footnote says of other memories stays. Of several footnotes, the first that has such a mark keeps it.
    """
    writable(topic)
    memory, _ = find(topic, memory_id)
    once = {d.label for d in topic.definitions if sum(o.label == d.label for o in topic.definitions) == 1}
    held = [d for label in memory.metadata["labels"] for d in topic.definitions
            if d.label == label and label in once and notation.is_source_label(label)]
    if not held:
        return topic
    home = next((d for d in held if d.note.recheck_of(memory_id) or d.note.changed_of(memory_id)[0]), held[0])
    new, citing = topic, {memory_id}
    for definition in held:
        own = definition is home
        note = _marked(topic, definition, memory_id, recheck if own else "", changed if own else ("", ()))
        if note != definition.note:
            at = next(d for d in new.definitions if d.label == definition.label)
            new = read(topic, write_note(list(new.lines), at.start, at.end, at.label, note))
            citing |= {m.id for m in topic.memories if definition.label in m.metadata["labels"]}
    if new is topic:
        return topic
    made = find_made(new, memory_id)[0]
    told = f"{changed[0]}: {', '.join(map(notation.fold, changed[1]))}" if changed[1] else changed[0]
    shown = (made.summary, made.metadata.get("recheck", ""), made.metadata.get("source_changed", ""))
    return checked(topic, new, citing, visible=shown == (memory.summary, recheck, told)
                   and [(m.id, m.summary) for m in new.memories] == [(m.id, m.summary) for m in topic.memories])


def _marked(topic: Topic, definition: Definition, memory_id: str, recheck: str, changed: tuple[str, tuple[str, ...]]) -> Note:
    """The footnote with these marks of one memory, and of the others as they were. A mark without an id holds only where
    the footnote is one memory's alone."""
    note = definition.note
    citing = [m.id for m in topic.memories if definition.label in m.metadata["labels"]]
    others = [id for id in citing if id != memory_id]
    name = memory_id if others or notation.stated(definition.label) else ""
    days = [(id, day) for id in others if (day := note.recheck_of(id))]
    gone = [(id, day, what) for id in others for day, what in [note.changed_of(id)] if day]
    return replace(note, recheck=(*days, *([(name, recheck)] if recheck else [])),
                   changed=(*gone, *([(name, *changed)] if changed[0] else [])))


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
