"""In: inbox.md and the ledger. Out: what waits there for a person or a second sighting, and the file with lines added or taken out.

One line is one statement: `- [ ] TEXT · kind · date · `THREAD:A-B` ^m-…`. A tick, a deletion or other words are the
person's answer; it is read by comparing the file with the ledger, as with topic files. Whatever else stands in the file is the person's and
stays byte for byte. Writes: what is settled goes to the ledger first and out of the file second, what is new the other way
round, so that a kill between never looks like a deletion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memoryfs.errors import ChangedMeanwhileError, ReadOnlyError
from memoryfs.files import INBOX
from memoryfs.ledger import Entry
from memoryfs.model import EMPTY, MEMORY_KINDS, Memory, SourceRange
from memoryfs.notation import ID, fold, read_summary, write_summary

ACTION = "inbox"  # of the ledger's lines about it; `extra["item"]` is the id, `extra["settled"]` how it ended
LEARNED, DROPPED, FULL = "learned", "dropped", "full"  # FULL: the oldest made room; said again, it is still learned
HEAD = (
    "# Inbox\n<!-- memoryfs: not sure enough to keep by themselves. Tick [x] or reword a line: learned at the next run. "
    "Delete it: never again. Said again in another session: learned too. -->\n\n"
)
_TRIES = 4
_WAIT_SECONDS = 10.0
_GIT = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_LINE = re.compile(
    r"^[-*+] +\[(?P<box>[ xX])\] +(?P<text>.*?)"
    rf"(?: · (?P<kind>{'|'.join(MEMORY_KINDS)}))?(?: · (?P<date>\d{{4}}-\d{{2}}-\d{{2}}))?(?P<ranges>(?: · `[^`]+`)*)"
    rf"(?:\s+\^(?P<id>{ID}))?\s*$"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file; `number` counts from 0, `id` is empty for a line that a person wrote."""

    number: int
    id: str
    text: str
    ticked: bool
    struck: bool
    kind: str
    date: str
    ranges: tuple[SourceRange, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """One statement as the ledger knows it. `settled` is empty while it waits; `details` is what is needed to learn it."""

    id: str
    text: str
    kind: str
    date: str
    ranges: tuple[SourceRange, ...]
    settled: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_memory(self) -> Memory:
        """The statement in the form in which memories are compared and shown."""
        return Memory(
            self.id, self.text, self.kind, "active", INBOX, 0, self.ranges, date=self.date or None,
            quote=str(self.details.get("quote") or ""),
            metadata={"role": "user"} if self.details.get("said_by") == "user" else {},
        )


def waiting(entries: Iterable[Entry]) -> dict[str, Waiting]:
    """Everything that ever waited, by id, in the order in which it came."""
    out: dict[str, Waiting] = {}
    for entry in entries:
        if entry.action != ACTION or not isinstance(id := entry.extra.get("item"), str):
            continue
        settled = entry.extra.get("settled")
        if not isinstance(settled, str):
            out[id] = _waiting(entry, id)
        elif id in out:
            out[id] = replace(out[id], settled=settled)
    return out


def _waiting(entry: Entry, id: str) -> Waiting:
    raw = entry.extra.get("ranges")
    ranges = tuple(r for text in (raw if isinstance(raw, list) else ()) if (r := SourceRange.parse(str(text))))
    details = entry.extra.get("details")
    return Waiting(id, entry.text, entry.kind or "fact", str(entry.extra.get("date") or ""), ranges, "",
                   details if isinstance(details, dict) else EMPTY)


def came(item: Waiting, *, time: str, why: str) -> Entry:
    """The ledger's line that a statement waits."""
    return Entry(time, "organizer", ACTION, "", "", item.text, item.kind, tuple(r.label for r in item.ranges), why, {
        "item": item.id, "date": item.date, "ranges": [_whole(r) for r in item.ranges], "details": dict(item.details)})


def went(item: Waiting, settled: str, *, time: str, actor: str = "organizer", topic: str = "", why: str = "",
         text: str | None = None) -> Entry:
    """The ledger's line that a statement waits no more; `topic` is the file that took it, `text` its line's words."""
    return Entry(time, actor, ACTION, "", topic, why=why, extra={
        "item": item.id, "settled": settled, "line": item.text if text is None else text})


def _whole(source: SourceRange) -> str:
    return f"{source.thread}:{source.start}" + (f"-{source.end}" if source.end != source.start else "")


def written(item: Waiting) -> str:
    """The line of one statement, without its line end."""
    marks = [item.kind, *([item.date] if item.date else []), *(f"`{_whole(r)}`" for r in item.ranges)]
    return f"- [ ] {write_summary(item.text)} · {' · '.join(marks)} ^{item.id}"


def lines(text: str) -> tuple[Line, ...]:
    """The statements of the file; list items without a box, and all else, are none."""
    found = []
    for number, raw in enumerate(text.split("\n")):
        match = _LINE.match(raw.rstrip("\r"))
        if match is None or not match["text"].strip():
            continue
        said = match["text"].strip()
        struck = len(said) > 4 and said.startswith("~~") and said.endswith("~~")
        ranges = tuple(r for r in map(SourceRange.parse, re.findall("`([^`]+)`", match["ranges"])) if r)
        found.append(Line(
            number, match["id"] or "", fold(read_summary(said[2:-2] if struck else said)), match["box"] in "xX", struck,
            match["kind"] or "", match["date"] or "", ranges,
        ))
    return tuple(found)


def edited(text: str, *, added: Iterable[Waiting] = (), removed: Mapping[str, str] = EMPTY) -> str:
    """The file's text with the lines of `added` that it does not hold yet, and without those of `removed` (id → words;
    an empty id stands for a person's own line): a line that reads otherwise by now stays."""
    found = lines(text)
    gone = {line.number for line in found if any(
        line.id == id.partition("#")[0] and line.text == fold(words) for id, words in removed.items())}
    held = {line.id for line in found}
    new = [written(item) for item in added if item.id not in held]
    if not gone and not new:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    rows = re.findall(r"[^\n]*\n|[^\n]+", text or HEAD)
    if new:
        if not rows[-1].endswith("\n"):
            rows[-1] += end
        at = found[-1].number + 1 if found else len(rows)
        rows[at:at] = [row + end for row in new]
    return "".join(row for number, row in enumerate(rows) if number not in gone)


def read(root: Path) -> tuple[str, str]:
    """Text (undecodable bytes kept as surrogates) and digest; two empty strings where there is no file. Raises ReadOnlyError."""
    from memoryfs.textfile import read_file

    try:
        file = read_file(root / INBOX)
    except FileNotFoundError:
        return "", ""
    except OSError as error:
        raise ReadOnlyError(INBOX, error.strerror or str(error)) from error
    return file.data.decode("utf-8", "surrogateescape"), file.digest


def in_conflict(text: str) -> bool:
    """Whether git's conflict markers stand in it: then nothing is read from it, nor written."""
    return bool(_GIT.search(text))


def edit(root: Path, change: Callable[[str], str]) -> bool:
    """Applies `change` to the file's text, again on newer text if a person saved meanwhile. False for a file with conflict
    markers, which stays as it is.

    Raises ChangedMeanwhileError when every attempt found newer text, ReadOnlyError.
    """
    from memoryfs.textfile import StoreLock, write_atomic

    with StoreLock(root, "edit", wait_seconds=_WAIT_SECONDS):
        for attempt in range(_TRIES):
            text, digest = read(root)
            if in_conflict(text):
                return False
            new = change(text)
            if new == text:
                return True
            try:
                write_atomic(root / INBOX, new.encode("utf-8", "surrogateescape"), expect=digest)
                return True
            except ChangedMeanwhileError:
                if attempt == _TRIES - 1:
                    raise
    return False


def count(root: Path) -> int:
    """How many statements wait in the file; 0 where it cannot be read."""
    try:
        return sum(1 for line in lines(read(root)[0]) if not line.ticked and not line.struck)
    except ReadOnlyError:
        return 0


def search(root: Path, query: str, most: int) -> list[tuple[float, Memory]]:
    """What waits and shares words with `query`, best first, each with the share (0 to 1) of the query's terms that it holds;
    statements as they stand in the file, with status `inbox`. Raises ReadOnlyError."""
    from memoryfs.text import index_terms, query_terms

    terms = query_terms(query)
    found = []
    for line in lines(read(root)[0]):
        held = set(index_terms(line.text).split())
        score = sum(term in held for term in terms) / len(terms) if terms else 0.0
        if score:
            memory = Memory(line.id, line.text, line.kind or "fact", ACTION, INBOX, line.number + 1, line.ranges, date=line.date or None)
            found.append((round(score, 6), memory))
    return sorted(found, key=lambda pair: (-pair[0], pair[1].line))[:most]
