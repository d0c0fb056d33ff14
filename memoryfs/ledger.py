"""In: decisions about memories. Out: `ledger.jsonl`, append-only, and the last known state of every id read from it.

Order of writes, so that a kill between two of them never turns our own change into "a person deleted it": the
Markdown file is written first and the ledger second (an id that only the files know is taken in as it stands there,
as its footnotes say), with one exception: a move between two files is announced in the ledger first, so that an id found in
both files is known to be a move to finish, not a person's copy. A line torn by a crash costs only itself.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memoryfs.model import EMPTY, Problem
from memoryfs.textfile import append_lines, digest_of, read_file, write_atomic

FILE = "ledger.jsonl"
ACTORS = ("person", "organizer", "agent")
ACTIONS = (
    "add", "adopt", "edit", "reinforce", "supersede", "withdraw", "move", "conflict", "resolve", "restore",
    "propose",  # that two topics are one (`memoryfs.edits.merging`); settled by `resolve`; its id is the review's
    "useful", "wrong",  # a judgement of one memory (`judgements`); it changes nothing of its state
    "organize", "import",  # about a session (its thread, how far) and a note (whence), not about a memory: no id
    "inbox",  # about a statement that waits (`memoryfs.inbox`): no id
    "audit",  # a person's verdict on a statement that was kept or dropped: no id
    "stale",  # what a memory names left its repository (`on`: when), or, with `lifted`, that holds no more
    "recheck",  # days to check memories again (`dates`, by id): no id
)
WATCHED = ("useful", "wrong", "stale")  # what is said about a memory and changes nothing of its state
JUDGEMENTS = ("useful", "wrong")  # a person's or an agent's, of one memory; with `undone` its last one is taken back
_FIELDS = ("time", "actor", "action", "id", "topic", "text", "kind", "source", "why")


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision. `source` holds range labels (`3f9a21:128-146`), `extra` what only some actions need.

    Known keys of `extra`: `stated_by` (add, adopt), `status`, `done`, `by` (supersede: the new id), `from` (move: the
    old topic), `memories` (conflict, resolve: the ids; the entry's own id is the review's, `r-…`), `choice`
    and `undo` (resolve: what was picked; the lines changed, `memoryfs.edits.takeback`), `merge` (propose, resolve: the topic that would go), `meta` (adopt, edit of a whole topic: its front matter; id is then empty). Unknown keys are kept.
    """

    time: str
    actor: str
    action: str
    id: str
    topic: str = ""
    text: str = ""
    kind: str = ""
    source: tuple[str, ...] = ()
    why: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"time": self.time, "actor": self.actor, "action": self.action, "id": self.id}
        for key in ("topic", "text", "kind", "why"):
            if value := getattr(self, key):
                out[key] = value
        if self.source:
            out["source"] = list(self.source)
        return out | {key: value for key, value in self.extra.items() if key not in _FIELDS}


@dataclass(frozen=True, slots=True)
class Known:
    """The last known state of one memory; `status` is `withdrawn` for a tombstone."""

    id: str
    topic: str
    text: str
    kind: str
    status: str
    stated_by: str
    sources: tuple[str, ...] = ()
    done: bool = False
    superseded_by: str = ""
    withdrawn_by: str = ""  # the actor who withdrew it
    moved_from: str = ""  # set while the last entry about it is a move
    time: str = ""
    text_hash: str = ""  # of a purged text: `key_hash`

    @property
    def key(self) -> str:
        """The text for comparison, `text_key(text)`."""
        return text_key(self.text)


@dataclass(frozen=True, slots=True)
class KnownReview:
    """A line under *Needs review* as the ledger knows it."""

    id: str
    topic: str
    text: str
    memories: tuple[str, ...]
    open: bool


def encode(entry: Entry) -> str:
    """One line of the ledger, without its line end."""
    data = entry.to_dict()
    line = json.dumps(data, ensure_ascii=False, default=str)
    if not line.isprintable() and re.search("[\ud800-\udfff\x85\u2028\u2029]", line):
        return json.dumps(data, default=str)
    return line


def append(root: Path, entries: Iterable[Entry]) -> None:
    """Appends and fsyncs. Raises ReadOnlyError; ValueError for an unknown actor or action."""
    rows = []
    for entry in entries:
        if entry.actor not in ACTORS or entry.action not in ACTIONS:
            raise ValueError(f"not a ledger entry: {entry.actor} {entry.action}")
        rows.append(encode(entry))
    if rows:
        append_lines(root / FILE, rows)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def decode(line: str | bytes) -> Entry | None:
    """The entry of one line; None if it is torn or not one of ours."""
    try:
        data = json.loads(line)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("action"), str) or not isinstance(data.get("id"), str):
        return None
    source = data.get("source")
    labels = tuple(s for s in source if isinstance(s, str)) if isinstance(source, list) else ()
    extra = {key: value for key, value in data.items() if key not in _FIELDS}
    return Entry(
        _text(data.get("time")), _text(data.get("actor")), data["action"], data["id"], _text(data.get("topic")),
        _text(data.get("text")), _text(data.get("kind")), labels, _text(data.get("why")), extra or EMPTY,
    )


def read(root: Path) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """All entries in file order. A missing ledger is empty; a line that cannot be read is a problem and skipped."""
    try:
        data = (root / FILE).read_bytes()
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        return (), (Problem(FILE, f"cannot be read: {error.strerror}", "Check the file's permissions."),)
    entries: list[Entry] = []
    problems: list[Problem] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = decode(line)
        if entry is not None:
            entries.append(entry)
        elif number == len(lines):
            problems.append(Problem(
                FILE, "the last line is torn (a crash while it was written); it is skipped", "Nothing to do.",
                line=number, severity="warning",
            ))
        else:
            problems.append(Problem(FILE, "not an entry of the ledger; skipped", "Mend or remove the line.", line=number))
    return tuple(entries), tuple(problems)


def text_key(text: str) -> str:
    """`text` for comparison: NFKC, case folded, Markdown emphasis and outer punctuation off, white space collapsed."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"\*\*|__|~~|`", "", folded).split()).strip(" .,;:!?。、，！？")


def key_hash(key: str) -> str:
    """What stays of a purged text: SHA-256 in hex of its `text_key`."""
    return digest_of(key.encode("utf-8", "surrogatepass"))


_STATED = {"person": "person", "agent": "agent"}


def _fold(known: dict[str, Any], entry: Entry) -> None:
    """One entry about one memory, applied to the state in place."""
    action, extra = entry.action, entry.extra
    if entry.topic:
        known["topic"] = entry.topic
    if entry.kind:
        known["kind"] = entry.kind
    if entry.text:
        known["text"] = entry.text
    if digest := _text(extra.get("text_sha256")):
        known["text_hash"] = digest
    if entry.source:
        known["sources"] = known["sources"] + tuple(s for s in entry.source if s not in known["sources"])
    if isinstance(extra.get("done"), bool):
        known["done"] = extra["done"]
    known["time"] = entry.time or known["time"]
    known["moved_from"] = _text(extra.get("from")) if action == "move" else ""
    if action in ("add", "adopt", "restore"):
        known["status"] = "active"
        known["stated_by"] = _text(extra.get("stated_by")) or _STATED.get(entry.actor, known["stated_by"])
    elif action == "edit" and entry.text:
        known["stated_by"] = _STATED.get(entry.actor, known["stated_by"])
    elif action == "supersede":
        known["status"] = "superseded"
        known["superseded_by"] = _text(extra.get("by"))
    elif action == "withdraw":
        known["status"] = "withdrawn"
        known["withdrawn_by"] = entry.actor
    if action != "withdraw" and isinstance(extra.get("status"), str):
        known["status"] = extra["status"]


def state(entries: Iterable[Entry]) -> dict[str, Known]:
    """The last known state of every memory id, withdrawn ones included."""
    folded: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if not entry.id or entry.action in WATCHED:
            continue
        if entry.action in ("conflict", "propose", "resolve"):
            status = ("active", "conflicted") if entry.action == "conflict" else ("conflicted", "active")
            for memory in entry.extra.get("memories") or ():
                if memory in folded and folded[memory]["status"] == status[0]:
                    folded[memory]["status"] = status[1]
            continue
        known = folded.get(entry.id)
        if known is None:
            known = folded[entry.id] = {
                "topic": "", "text": "", "kind": "fact", "status": "active", "stated_by": "organizer", "sources": (),
                "done": False, "superseded_by": "", "withdrawn_by": "", "moved_from": "", "time": "", "text_hash": "",
            }
        _fold(known, entry)
    return {id: Known(id=id, **known) for id, known in folded.items()}


def reviews(entries: Iterable[Entry]) -> dict[str, KnownReview]:
    """The last known state of every review line, by its id (`r-…`)."""
    out: dict[str, KnownReview] = {}
    for entry in entries:
        if entry.action in ("conflict", "propose"):
            memories = tuple(m for m in entry.extra.get("memories") or () if isinstance(m, str))
            out[entry.id] = KnownReview(entry.id, entry.topic, entry.text, memories, True)
        elif entry.action == "resolve" and entry.id in out:
            old = out[entry.id]
            out[entry.id] = KnownReview(old.id, old.topic, old.text, old.memories, False)
    return out


def judgements(entries: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """By memory, the judgements that stand, oldest first: `useful` or `wrong`."""
    out: dict[str, list[str]] = {}
    for entry in entries:
        if entry.action not in JUDGEMENTS or not entry.id:
            continue
        given = out.setdefault(entry.id, [])
        if not entry.extra.get("undone"):
            given.append(entry.action)
        elif entry.action in given:
            del given[len(given) - 1 - given[::-1].index(entry.action)]
    return {id: tuple(given) for id, given in out.items() if given}


def topic_meta(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """The front matter of every topic as last recorded, by path."""
    out: dict[str, dict[str, Any]] = {}
    for entry in entries:
        meta = entry.extra.get("meta")
        if not entry.id and entry.topic and isinstance(meta, dict):
            out[entry.topic] = {**out.get(entry.topic, {}), **meta}
    return out


def own_meta(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """By topic, the front matter that the organizer itself wrote last; what a person changed since is not among it."""
    own: dict[str, dict[str, Any]] = {}
    for entry in entries:
        meta = entry.extra.get("meta")
        if entry.id or not entry.topic or not isinstance(meta, dict):
            continue
        if entry.action == "edit" and entry.actor == "organizer":
            own.setdefault(entry.topic, {}).update(meta)
        elif entry.actor != "organizer":
            for key in meta:
                own.get(entry.topic, {}).pop(key, None)
    return own


def _repeats(summary: object, said: set[str]) -> bool:
    start = summary.removesuffix("…").rstrip() if isinstance(summary, str) else ""
    return bool(start) and any(text.startswith(start) for text in said)


def purge(root: Path, memory_id: str) -> int:
    """Takes the words of one memory out of the ledger; ids, times and a hash of the text stay, so that the tombstone
    still holds. For `forget --purge` only. Returns the number of lines changed."""
    try:
        file = read_file(root / FILE)
    except FileNotFoundError:
        return 0
    changed = 0
    lines = file.data.split(b"\n")
    own = [entry for entry in map(decode, lines) if entry is not None and entry.id == memory_id]
    said, homes = {entry.text for entry in own if entry.text}, {entry.topic for entry in own}
    for number, line in enumerate(lines):
        if (entry := decode(line)) is None:
            continue
        data = entry.to_dict()
        named = memory_id in (data.get("memories") or ())
        undo = data.get("undo")  # lines of a choice about it, or beside it, hold its words; those of a merging the front matter
        if undo and (named or memory_id in json.dumps(undo) or ("merge" in data and entry.topic in homes)):
            del data["undo"]
            lines[number] = json.dumps(data).encode()
            changed += 1
        meta = data.get("meta")
        if isinstance(meta, dict) and _repeats(meta.get("summary"), said):
            data["meta"] = {**meta, "summary": ""}
        elif (entry.id != memory_id and not named and not (entry.action in ("inbox", "audit") and entry.text in said)) or not data.get("text"):
            continue
        if entry.id == memory_id:
            data["text_sha256"] = key_hash(text_key(entry.text))
        data |= {"text": ""} if data.get("text") else {}
        data |= {key: "" for key in ("old", "details", "line") if data.get(key)}
        lines[number] = json.dumps(data).encode()
        changed += 1
    if changed:
        write_atomic(root / FILE, b"\n".join(lines), expect=file.digest)
    return changed
