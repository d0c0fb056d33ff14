"""In: a topic and what to put where. Out: its lines with only the lines that must change changed.

Pure line surgery for `memoryfs.topic_edit`: places, markers and line ends are taken from the neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memoryfs import notation
from memoryfs.notation import Note
from memoryfs.topic import HISTORY, KIND_OF_SECTION, REVIEW, Item, Topic, role_of

ORDER = (*KIND_OF_SECTION, REVIEW, HISTORY)
TITLES = {**{role: role.capitalize() for role in KIND_OF_SECTION}, REVIEW: "Needs review", HISTORY: "History"}
_MARKER = re.compile(r"(?P<indent>[ \t>]*)(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+|$)")


def bare(line: str) -> str:
    """The line without its end."""
    return line.rstrip("\r\n")


def line_end(lines: Sequence[str], at: int) -> str:
    """The line end to use at `at`: of the line before, else of the nearest after it, else of the first that has one."""
    before = [lines[at - 1]] if 0 < at <= len(lines) else []
    for line in (*before, *lines[at:], *lines):
        if len(bare(line)) < len(line):
            return line[len(bare(line)):]
    return "\n"


def insert(lines: Sequence[str], at: int, new: Sequence[str]) -> list[str]:
    """Puts `new` (without ends) before line `at`; a last line without an end stays one without an end."""
    end = line_end(lines, at)
    if end == "\r" and at < len(lines) and lines[at].startswith("\n"):
        end = "\r\n"  # the two would melt into one line end
    out = list(lines)
    added = [text + end for text in new]
    if at == len(out) and out and bare(out[-1]) == out[-1] and added:
        out[-1] += end
        added[-1] = new[-1]
    out[at:at] = added
    return out


def content_end(topic: Topic, lines: Sequence[str], low: int, high: int) -> int:
    """The end of what stands between two lines, without blank lines and footnotes at its end."""
    notes = {end: note.start for note in topic.shape.notes for end in range(note.start + 1, note.end + 1)}
    while high > low:
        if not lines[high - 1].strip("\ufeff \t\r\n"):
            high -= 1
        elif high in notes and notes[high] >= low:
            high = notes[high]
        else:
            break
    return high


def blank_at(lines: Sequence[str], at: int) -> bool:
    return not (0 <= at < len(lines)) or not lines[at].strip("\ufeff \t\r\n")


def add_item(topic: Topic, role: str, text: str) -> list[str]:
    """The lines with a new list item at the end of the section with that role, which is made if it is missing."""
    lines = list(topic.lines)
    heads = topic.shape.headings
    number = next((n for n, head in enumerate(heads) if role_of(head.title) == role), None)
    if number is None:
        return _add_section(topic, lines, role, f"- {text}")
    head = heads[number]
    high = heads[number + 1].start if number + 1 < len(heads) else len(lines)
    items = [i for i in topic.shape.items
             if i.kind == "item" and i.depth == 0 and not i.quoted and head.end <= i.start < high]
    if items:
        return insert(lines, items[-1].end, [_marker_like(lines[items[-1].start]) + text])
    at = content_end(topic, lines, head.end, high)
    new = [f"- {text}"] if at == head.end else ["", f"- {text}"]
    return insert(lines, at, new if blank_at(lines, at) else [*new, ""])


def _marker_like(line: str) -> str:
    match = _MARKER.match(bare(line).lstrip("\ufeff"))
    if match and match["mark"] in "-*+" and not match["indent"].strip(" "):
        gap = match["gap"] if match["gap"] and len(match["gap"]) < 4 else " "
        return match["indent"] + match["mark"] + gap
    return "- "


def _add_section(topic: Topic, lines: list[str], role: str, item: str) -> list[str]:
    rank = ORDER.index(role)
    known = [(section, ORDER.index(found)) for section in topic.sections if (found := role_of(section.title))]
    title = "#" * (known[0][0].level if known else 2) + f" {TITLES[role]}"
    earlier = [section for section, other in known if other < rank]
    later = [section for section, other in known if other > rank]
    low = topic.front.end if topic.front.has_block else 0
    if later and not earlier:
        at = later[0].start
        new = [title, item, ""]
        return insert(lines, at, new if blank_at(lines, at - 1) or at == low else ["", *new])
    end = earlier[-1].end if earlier else len(lines)
    at = content_end(topic, lines, low, end)
    new = [title, item] if at == low else ["", title, item]
    return insert(lines, at, new if blank_at(lines, at) else [*new, ""])


def set_note(topic: Topic, label: str, owner: str, note: Note, *, shared: bool) -> list[str]:
    """The lines with what `note` says in the footnote `label`: a new definition, or more in the one there is.

    `shared`: other memories use the label, so hints and quote that differ are written down for `owner` alone.
    """
    lines = list(topic.lines)
    old = next((d for d in topic.definitions if d.label == label), None)
    if old is None:
        text = f"[^{label}]: {notation.write_note(note)}".rstrip()
        own = [d for d in topic.definitions if notation.is_source_label(d.label)]
        if own:
            at = own[-1].end
            return insert(lines, at, [text] if blank_at(lines, at) or _is_note(topic, at) else [text, ""])
        at = content_end(topic, lines, topic.front.end if topic.front.has_block else 0, len(lines))
        at = max([at, *(n.end for n in topic.shape.notes)])
        return insert(lines, at, ["", text] if at else [text])
    marks = {"recheck": _joined(old.note.recheck, note.recheck), "changed": _joined(old.note.changed, note.changed)}
    if replace(old.note, **marks) != old.note:
        old = replace(old, note=replace(old.note, **marks))
        lines = write_note(lines, old.start, old.end, label, old.note)
    hints, quote = old.note.of(owner)
    more = tuple(hint for hint in map(notation.fold, note.hints) if hint and hint not in hints)
    new_quote = notation.fold(note.quote)
    if not more and new_quote in ("", quote):
        return lines
    if not shared and not old.note.others and not (new_quote and quote and new_quote != quote):
        changed = replace(old.note, hints=(*old.note.hints, *more), quote=new_quote or quote)
        return write_note(lines, old.start, old.end, label, changed)
    others = tuple(entry for entry in old.note.others if entry[0] != owner)
    entry = (owner, (*hints, *more) if len(others) < len(old.note.others) else tuple(note.hints), new_quote or quote)
    return write_note(lines, old.start, old.end, label, replace(old.note, others=(*others, entry)))


def _joined(held: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    """Marks of memories in one footnote: what it says of a memory already stays."""
    owners = {mark[0] for mark in held}
    return (*held, *(mark for mark in more if mark[0] not in owners))


def _is_note(topic: Topic, at: int) -> bool:
    return any(note.start <= at < note.end for note in topic.shape.notes)


def write_note(lines: list[str], start: int, end: int, label: str, note: Note) -> list[str]:
    """The lines with `note` in place of the definition that stands at [start, end)."""
    indent = re.match(r"[ \t]*", lines[start])[0]
    last = lines[end - 1]
    out = f"{indent}[^{label}]: {notation.write_note(note)}".rstrip() + last[len(bare(last)):]
    return [*lines[:start], out, *lines[end:]]


def drop_notes(topic: Topic, owner: str, labels: Sequence[str]) -> list[str]:
    """The lines without the footnotes of `labels` that nothing uses any more, and without what they said of `owner`."""
    lines = list(topic.lines)
    used = {label: [m.id for m in topic.memories if label in m.metadata["labels"]] for label in labels}
    inside = {n for d in topic.definitions for n in range(d.start, d.end)}
    elsewhere = "".join(line for n, line in enumerate(lines) if n not in inside)
    for definition in sorted(topic.definitions, key=lambda d: d.start, reverse=True):
        if definition.label not in used or not notation.is_source_label(definition.label):
            continue
        if sum(d.label == definition.label for d in topic.definitions) > 1:
            continue  # a person's second definition: which of them is ours is not known
        note, users = definition.note, used[definition.label]
        if not users:
            if f"[^{definition.label}]" not in elsewhere:
                del lines[definition.start:definition.end]
            continue
        kept = replace(note, **{
            name: tuple(entry for entry in getattr(note, name) if entry[0] != owner) for name in ("others", "recheck", "changed")})
        if all(any(entry[0] == user for entry in kept.others) for user in users):
            kept = replace(kept, hints=(), quote="")
        if kept != note:
            lines = write_note(lines, definition.start, definition.end, definition.label, kept)
    return lines


def edit_text(topic: Topic, item: Item, change: Callable[[str, str], str]) -> list[str]:
    """The lines with an item's paragraph changed: `change(raw, masked)` gets and gives it with LF between lines."""
    lines = list(topic.lines)
    edit_in_place(lines, item, change)
    return lines


def edit_in_place(lines: list[str], item: Item, change: Callable[[str, str], str]) -> None:
    """`edit_text` on a list of lines that is itself changed."""
    old = lines[item.text_start:item.text_end]
    ends = [line[len(bare(line)):] for line in old]
    raw = "\n".join(map(bare, old))
    new = change(raw, notation.mask(raw)).split("\n")
    if len(new) != len(ends):
        between = next((end for end in ends if end), line_end(lines, item.text_start))
        ends = [between] * (len(new) - 1) + [ends[-1]]
    lines[item.text_start:item.text_end] = [text + end for text, end in zip(new, ends, strict=True)]


def append_marks(raw: str, masked: str, marks: Sequence[str]) -> str:
    """The paragraph with `marks` after its text: before its id if it has one, else at its end before trailing blanks."""
    ids = list(notation.ANY_ID.finditer(masked))
    text = " ".join(marks)
    if ids:
        at = ids[-1].start()
        return f"{raw[:at].rstrip(' ' + chr(9))} {text} {raw[at:]}"
    kept = raw.rstrip(" \t")
    return f"{kept} {text}{raw[len(kept):]}"


def head_of(raw: str) -> str:
    """An item's indentation, marker and checkbox, as written."""
    match = _MARKER.match(raw.lstrip("\ufeff"))
    head = raw[:len(raw) - len(raw.lstrip("\ufeff"))] + (match[0] if match else "")
    box = re.match(r"\[.\](?:[ \t]+|$)", raw[len(head):])
    return head + (box[0] if box else "")


def take_out(topic: Topic, item: Item) -> tuple[list[str], list[str]]:
    """(the lines without the item, the item's lines moved to the left margin).

    List items inside it that are memories of their own stay where it was, one level up.
    """
    lines = list(topic.lines)
    inner = [i for i in topic.items if item.start < i.start < item.end and i.kind == "item"]
    top = [i for i in inner if not any(o.start < i.start < o.end for o in inner)]
    shift = _width(lines[item.start])
    stay, moved, at = [], [], item.start
    for child in top:
        moved += lines[at:child.start]
        left = _width(lines[child.start]) - shift
        stay += [_dedent(line, left) for line in lines[child.start:child.end]]
        at = child.end
    moved += lines[at:item.end]
    return [*lines[:item.start], *stay, *lines[item.end:]], [_dedent(line, shift) for line in moved]


def _width(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _dedent(line: str, width: int) -> str:
    return line[min(width, _width(line)):]
