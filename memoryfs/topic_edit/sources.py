"""In: a memory and its sources. Out: the footnotes that say so, by label; and more of them on items that have some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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


def set_marks(topic: Topic, marks: Mapping[str, tuple[str, tuple[str, tuple[str, ...]]]]) -> Topic:
    """Notes in the footnotes of memories, by their ids, the day to check each again, and the day on which what it names left its
    repository and what that was; "" and ("", ()) for neither. A memory without a footnote of ours is left as it is.

    What the footnotes say of other memories stays. Of several footnotes of one memory, the first that has such a mark keeps
    it. The text is read and checked once.
    """
    writable(topic)
    labels = [d.label for d in topic.definitions]
    held = {d.label: d for d in topic.definitions if labels.count(d.label) == 1 and notation.is_source_label(d.label)}
    citing: dict[str, list[str]] = {label: [] for label in held}
    homes: dict[str, str] = {}
    for memory in topic.memories:
        own = [held[label] for label in memory.metadata["labels"] if label in held]
        for definition in own:
            citing[definition.label].append(memory.id)
        if memory.id in marks and own:
            homes[memory.id] = next((d for d in own if d.note.recheck_of(memory.id) or d.note.changed_of(memory.id)[0]), own[0]).label
    lines, touched = list(topic.lines), set()
    for definition in sorted(held.values(), key=lambda d: -d.start):
        note = _marked(definition, citing[definition.label], homes, marks)
        if note != definition.note and not homes.keys().isdisjoint(citing[definition.label]):
            lines = write_note(lines, definition.start, definition.end, definition.label, note)
            touched |= set(citing[definition.label])
    if not touched:
        return topic
    new = read(topic, lines)
    shown = {m.id: (m.metadata.get("recheck", ""), m.metadata.get("source_changed", "")) for m in new.memories}
    wanted = {id: (recheck, f"{day}: {', '.join(map(notation.fold, what))}" if what else day)
              for id, (recheck, (day, what)) in marks.items() if id in homes}
    return checked(topic, new, touched, visible=all(shown[id] == mark for id, mark in wanted.items())
                   and [(m.id, m.summary) for m in new.memories] == [(m.id, m.summary) for m in topic.memories])


def _marked(
    definition: Definition, citing: Sequence[str], homes: Mapping[str, str], marks: Mapping[str, tuple[str, tuple[str, tuple[str, ...]]]]
) -> Note:
    """The footnote with the marks of the memories that cite it, those of others as they were. A mark without an id holds only where
    the footnote is one memory's alone."""
    note = definition.note
    recheck, changed = [], []
    for id in citing:
        day, (since, what) = note.recheck_of(id), note.changed_of(id)
        if id in homes:
            day, (since, what) = marks[id] if homes[id] == definition.label else ("", ("", ()))
        name = id if len(citing) > 1 or notation.stated(definition.label) else ""
        recheck += [(name, day)] if day else []
        changed += [(name, since, what)] if since else []
    return replace(note, recheck=tuple(recheck), changed=tuple(changed))


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
