"""In: parsed topics, MEMORY.md as it stands, the caps. Out: MEMORY.md as it should be, never over a cap, the person's Notes kept.

The caps hold in bytes and in lines for every input; only whole entries are left out, and the last line says how many
topics no line leads to. Sections are filled in rounds (one entry of each, then each section's share, then the rest), so that a long
section never starves another: the newest line and the first instruction are there even under a small cap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from memoryfs.briefing import notes
from memoryfs.briefing.entries import REVIEW, SECTIONS, TOPICS, Candidates, Line, candidates
from memoryfs.briefing.gist import Gist, gist_of
from memoryfs.config import Briefing
from memoryfs.files import NOTES
from memoryfs.model import EMPTY

if TYPE_CHECKING:
    from memoryfs.topic import Topic

_HEAD = (
    notes.TITLE,
    "<!-- memoryfs: everything but Notes is compiled; edit the topic files, or write under Notes -->",
)
_SHORT_HEAD = (notes.TITLE, "<!-- memoryfs: compiled -->")
_RULE = "exact values (regex, port, path, SQL, command): recall them, never retype them from here"
# What a harness reads of a file or hook output: (bytes, lines). Claude Code: 200 lines or 25 kB of MEMORY.md, 10,000
# characters of a hook's output; Codex: 32 KiB of instructions; OpenClaw: 20,000 characters a bootstrap file.
HARNESS_LIMITS = {"claude-code": (9500, 200), "codex": (32768, 1 << 30), "openclaw": (20000, 1 << 30)}


@dataclass(frozen=True)
class Shown:
    """One candidate line and whether the briefing holds it, for `brief --explain`."""

    line: Line
    shown: bool

    def to_dict(self) -> dict[str, Any]:
        line = self.line
        return {
            "section": line.section, "line": line.text, "path": line.path, "id": line.id, "worth": line.worth,
            "date": line.date, "shown": self.shown,
        }


@dataclass(frozen=True)
class Compiled:
    """`unlinked`: topics and episodes that no line leads to; `notes_moved`: the tail of the Notes that has no room and
    belongs at the end of notes.md, None if all of it fits; `explain`: every candidate line, in or out."""

    text: str
    unlinked: tuple[str, ...] = ()
    notes_moved: str | None = None
    explain: tuple[Shown, ...] = ()


@dataclass
class _Room:
    """What is left of the caps."""

    size: int
    lines: int

    def take(self, *texts: str) -> bool:
        size = sum(len(text.encode("utf-8")) + 1 for text in texts)
        if size > self.size or len(texts) > self.lines:
            return False
        self.size -= size
        self.lines -= len(texts)
        return True


def _trailer(topics: int, episodes: int, *, full: bool, checksum: str = "", waiting: int = 0) -> str:
    more = [f"{count} more {name}{'s' if count != 1 else ''}" for count, name in ((topics, "topic"), (episodes, "episode")) if count]
    left = f"{', '.join(more)}: memoryfs list" if more else ""
    if not full:
        return f"<!-- {left or '0 more topics'} -->"
    more = f"{waiting} wait in inbox.md" if waiting else ""
    return f"<!-- {' · '.join(part for part in (_RULE, left, more, checksum and f'#{checksum}') if part)} -->"


def _clean(text: str) -> str:
    """`text` as valid UTF-8: a lone surrogate is replaced, everything else stays."""
    return text.encode("utf-8", "replace").decode("utf-8")


def compile_briefing(
    topics: Iterable[Topic | Gist], old_text: str, config: Briefing, *, today: date, last_text: str | None = None,
    waiting: int = 0, judged: Mapping[str, float] = EMPTY, alarm: str = "",
) -> Compiled:
    """MEMORY.md for `topics`. Pure: same arguments, same bytes; its own output as `old_text` gives it back.

    `old_text` is the file as it stands: the person's words in it are kept (module `notes`); `last_text` is what was
    last written, None where not known; `waiting` is how many statements stand in the inbox, `judged`
    what judgements add to the worth of memories, by id;
    `alarm` is a line that says that runs keep failing, "" if they do not.
    """
    found = candidates((topic if isinstance(topic, Gist) else gist_of(topic) for topic in topics), today, judged)
    words = _clean(notes.persons_text(old_text, last_text))
    has_more = NOTES in found.topics
    for full in (True, False):
        compiled = _compile(found, words, has_more, config, full=full, waiting=waiting, alarm=alarm)
        if compiled:
            return compiled
    bare = f"{notes.TITLE}\n"
    text = bare if config.max_bytes >= len(bare) and config.max_lines >= 1 else ""
    return Compiled(
        text, (*found.topics, *found.episodes), words if words.strip() else None,
        tuple(Shown(line, False) for lines in found.lines.values() for line in lines),
    )


def _compile(
    found: Candidates, words: str, has_more: bool, config: Briefing, *, full: bool, waiting: int, alarm: str
) -> Compiled | None:
    """None if the fixed lines alone would take more than half of a cap."""
    head = (*_HEAD, *([alarm] if alarm else [])) if full else _SHORT_HEAD
    worst = _trailer(len(found.topics), len(found.episodes), full=full, checksum="0" * 8, waiting=waiting)
    fixed = (*head, notes.HEADING, worst)
    pointer = (notes.POINTER,) if has_more else ()
    room = _Room(config.max_bytes, config.max_lines)
    if not room.take(*fixed, *pointer) or room.size * 2 < config.max_bytes or room.lines * 2 < config.max_lines:
        return None
    words, moved = _fit_notes(words, room, has_more)
    if moved is not None:
        pointer = (notes.POINTER,)
    chosen = _fill(found, room)
    linked = {line.path for lines in chosen.values() for line in lines} | ({NOTES} if pointer else set())
    unlinked = tuple(path for path in (*found.topics, *found.episodes) if path not in linked)
    left = sum(1 for path in unlinked if path in set(found.topics))
    lines = list(head)
    for section in SECTIONS:
        if chosen.get(section):
            lines += [_heading(section, found), *(line.text for line in chosen[section])]
    if not any(found.lines.values()) and not words.strip() and room.take(notes.EMPTY_HINT):
        lines.append(notes.EMPTY_HINT)
    lines.append(notes.HEADING)
    trailer = _trailer(left, len(unlinked) - left, full=full, checksum=notes.checksum(lines), waiting=waiting)
    body = words if words.endswith("\n") or not words else words + "\n"
    more = "".join(f"{line}\n" for line in pointer)
    if notes.leaves_open(words):  # what came after the Notes would be swallowed
        text = "\n".join([*lines[:-1], trailer, lines[-1]]) + "\n" + more + body
    else:
        text = "\n".join(lines) + "\n" + body + more + trailer + "\n"
    shown = {id(line) for section in chosen.values() for line in section}
    explain = tuple(Shown(line, id(line) in shown) for section in found.lines.values() for line in section)
    return Compiled(text, unlinked, moved, explain)


def _fit_notes(words: str, room: _Room, has_more: bool) -> tuple[str, str | None]:
    """The Notes that stay, counted against `room`, and the tail to move. What is parted gets half of the room, so that
    entries come back and the next word typed does not part it again."""
    size = len(words.encode("utf-8")) + (0 if words.endswith("\n") or not words else 1)
    count = words.count("\n") + (0 if words.endswith("\n") or not words else 1)
    if size <= room.size and count <= room.lines:
        room.size -= size
        room.lines -= count
        return words, None
    if not has_more:
        room.take(notes.POINTER)
    kept, tail = notes.part(words, max(0, room.size // 2), max(0, room.lines // 2))
    room.size -= len(kept.encode("utf-8"))
    room.lines -= kept.count("\n")
    return kept, tail


def _heading(section: str, found: Candidates) -> str:
    return f"## {section} ({found.reviews})" if section == REVIEW else f"## {section}"


def _fill(found: Candidates, room: _Room) -> dict[str, list[Line]]:
    """Lines chosen by section, in rounds, as long as `room` has place."""
    chosen: dict[str, list[tuple[int, Line]]] = {}
    linked: set[str] = set()
    ranked = [
        (0 if place == 0 else 1 if place < SECTIONS[section][0] else 2, order, place, line)
        for order, section in enumerate(SECTIONS)
        for place, line in enumerate(found.lines[section])
    ]
    ranked.sort(key=lambda item: item[:3])
    for _, _, place, line in ranked:
        section = line.section
        if section == TOPICS and line.path in linked:
            continue
        new = () if section in chosen else (_heading(section, found),)
        if room.take(*new, line.text):
            chosen.setdefault(section, []).append((place, line))
            linked.add(line.path)
    return {section: [line for _, line in sorted(lines, key=lambda p: p[0])] for section, lines in chosen.items()}


def for_harness(text: str, harness: str | None, *, max_bytes: int | None = None, max_lines: int | None = None) -> str:
    """`text` within the limits of `harness` and those given: whole entries and blocks of Notes are left out from the
    end, and the last line says how many. ValueError for an unknown harness."""
    if harness is not None and harness not in HARNESS_LIMITS:
        raise ValueError(f"unknown harness {harness!r}")
    size, count = HARNESS_LIMITS.get(harness or "", (1 << 30, 1 << 30))
    size = min(size, max_bytes if max_bytes is not None else size)
    count = min(count, max_lines if max_lines is not None else count)
    if len(text.encode("utf-8")) <= size and text.count("\n") <= count:
        return text
    head, words, _ = notes.parts(text)
    note = "<!-- {} lines left out: memoryfs brief, memoryfs list -->"
    room = _Room(size, count)
    if not room.take(note.format(len(head) + words.count("\n"))):
        return ""
    kept: list[str] = []
    heading = ""
    for line in (line for line in head if line != notes.HEADING):
        if line.startswith("## "):
            heading = line
            continue
        new = (heading, line) if heading else (line,)
        if room.take(*new):
            kept += new
            heading = ""
    if words.strip() and room.take(notes.HEADING):
        body, _ = notes.part(words, room.size, room.lines)
        whole = len(words.encode("utf-8")) <= room.size and words.count("\n") <= room.lines
        body = words if whole else body
        kept += [notes.HEADING, *([body.rstrip("\n")] if body else [])]
    out = "\n".join(kept)
    left = text.count("\n") - out.count("\n")
    return "\n".join(part for part in (out, note.format(max(left, 1))) if part) + "\n"

