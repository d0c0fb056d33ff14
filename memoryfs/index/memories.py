"""In: a parsed topic file. Out: its rows in `memories` and `terms`: memories, prose blocks, and one for the topic itself."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memoryfs.errors import IndexDamagedError
from memoryfs.files import is_episode
from memoryfs.index.threads import has_table
from memoryfs.index.units import SHIFT, UNIT_CHARS, cut, epoch
from memoryfs.model import Memory, SourceRange
from memoryfs.text import index_terms

if TYPE_CHECKING:
    import apsw

    from memoryfs.topic import Topic

_HEADING = re.compile(r"#{1,6}\s[^\n]*")
# The end of a line that a session's page copies from a memory: `2026-05-01-19f6bd:3` → [[tasks/general#^m-d128f2]]
_COPY = re.compile(r"`[^`\n]+:\d+(?:-\d+)?` → \[\[[^\[\]\n]+#\^m-[0-9A-Za-z-]+\]\]\s*\Z")
# A line of such a page: what was said or done, and the events that tell it in full.
_TOLD = re.compile(r"[-*] (?P<text>\S.*?)(?P<places>(?: `[^`\s]+:\d+(?:-\d+)?`)+)\s*", re.DOTALL)
_INHERITED = ("archived", "superseded", "conflicted")  # a topic's status that its active memories share

EVENT_IMPORTANCE = 0.4  # of a line of a session's page: less than that of a memory


@dataclass(frozen=True, slots=True)
class Row:
    """One document: `kind` is memory, prose or topic; `text` is what is searched and embedded; `at` epoch seconds."""

    id: str
    kind: str
    status: str
    text: str
    at: int
    importance: float
    data: str


def prose_id(path: str, text: str) -> str:
    """A stable id for a block of prose: `p-` and 6 hex digits."""
    return "p-" + hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:6]


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def memory_to_json(memory: Memory) -> str:
    data: dict[str, Any] = {
        "summary": _clean(memory.summary), "kind": memory.kind, "line": memory.line, "stated_by": memory.stated_by,
        "date": memory.date, "query_hints": [_clean(h) for h in memory.query_hints], "quote": _clean(memory.quote),
        "superseded_by": memory.superseded_by, "done": memory.done,
        "source_range": [[r.thread, r.start, r.end] for r in memory.source_range],
    }
    if memory.metadata:
        data["metadata"] = dict(memory.metadata)
    return json.dumps(data, ensure_ascii=False, default=str)


def memory_from_json(id: str, status: str, path: str, text: str) -> Memory:
    """The inverse of `memory_to_json`; id, status and topic stand in columns of their own. Raises IndexDamagedError."""
    try:
        data = json.loads(text)
        ranges = tuple(SourceRange(*r) for r in data.pop("source_range"))
        hints = tuple(data.pop("query_hints"))
        return Memory(id=id, status=status, topic=path, source_range=ranges, query_hints=hints, **data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexDamagedError(f"the row of ^{id} cannot be read") from error


def tags_from_json(path: str, text: str) -> list[str]:
    """The tags in a topic's own row. Raises IndexDamagedError."""
    try:
        return [str(tag) for tag in json.loads(text)["tags"]]
    except (ValueError, KeyError, TypeError) as error:
        raise IndexDamagedError(f"the row of {path} cannot be read") from error


def rows_of(topic: Topic) -> list[Row]:
    """The documents of a topic file, in file order."""
    importance = _number(topic.importance)
    path_words = topic.path.removesuffix(".md").replace("/", " ").replace("-", " ")
    heading = "\n".join(
        _clean(str(part)) for part in (
            topic.title, path_words, topic.summary, " ".join(map(str, topic.tags)),
            " ".join(map(str, topic.query_hints)), topic.retrieve_when,
        ) if part
    )
    about = {"title": _clean(str(topic.title or "")), "tags": [_clean(str(t)) for t in topic.tags]}
    rows = [Row("", "topic", str(topic.status or "active"), heading, epoch(None), importance, json.dumps(about))]
    for memory in topic.memories:
        status = memory.status
        if status == "active" and topic.status in _INHERITED:
            status = str(topic.status)
        text = "\n".join(_clean(t) for t in (memory.summary, " ".join(memory.query_hints), memory.quote) if t)
        rows.append(Row(memory.id, "memory", status, text, epoch(memory.date), importance, memory_to_json(memory)))
    for line, block in topic.prose:
        if _HEADING.fullmatch(block.strip()):
            continue  # it is in the topic's own row, or says nothing alone
        if is_episode(topic.path) and _COPY.search(block):
            continue  # the memory itself is found, as long as it stands
        if is_episode(topic.path) and (line_told := _TOLD.fullmatch(block)):
            rows.append(_told(topic, line, block, line_told))
            continue
        for start, end in cut(block):
            piece = _clean(block[start:end].strip())
            memory = Memory(
                id=prose_id(topic.path, piece), summary=piece, kind="fact", status=str(topic.status or "active"),
                topic=topic.path, line=line + block.count("\n", 0, start), stated_by="person", metadata={"prose": True},
            )
            rows.append(Row(memory.id, "prose", memory.status, piece, epoch(None), importance, memory_to_json(memory)))
    return rows


def _told(topic: Topic, line: int, block: str, told: re.Match[str]) -> Row:
    """What a session's page tells in one line: an event of that day, with the places that it names as its source."""
    ranges = tuple(r for place in told["places"].split() if (r := SourceRange.parse(place.strip("`"))))
    text = _clean(told["text"].strip())
    memory = Memory(
        id=prose_id(topic.path, _clean(block.strip())), summary=text, kind="event", status=str(topic.status or "active"), topic=topic.path,
        line=line, source_range=ranges, stated_by="organizer", date=_day(topic), metadata={"prose": True},
    )
    return Row(memory.id, "prose", memory.status, text, epoch(memory.date), EVENT_IMPORTANCE, memory_to_json(memory))


def _day(topic: Topic) -> str | None:
    found = re.search(r"/(\d{4}-\d{2}-\d{2})-[^/]*\Z", topic.path)
    return found[1] if found else None


def _number(value: Any) -> float:
    try:
        return min(1.0, max(0.0, float(value)))
    except (TypeError, ValueError):
        return 0.5


def drop(db: apsw.Connection, path: str) -> None:
    """Remove every row of a topic file; inside the caller's transaction."""
    _drop_documents(db, [doc for (doc,) in db.execute("SELECT doc FROM memories WHERE path = ?", (path,))])


def _drop_documents(db: apsw.Connection, documents: list[int]) -> None:
    keys = [(doc,) for doc in documents]
    db.executemany("DELETE FROM terms WHERE rowid = ?", keys)
    if keys and has_table(db, "vectors"):
        db.executemany("INSERT OR IGNORE INTO stale VALUES(?)", keys)
    db.executemany("DELETE FROM memories WHERE doc = ?", keys)
    db.executemany("DELETE FROM sources WHERE doc = ?", keys)


def replace(db: apsw.Connection, path: str, rows: list[Row]) -> int:
    """Make the file's rows these; one whose searched text is unchanged keeps its document and its vector. How many sources
    they name."""
    old: dict[tuple[str, str, str], list[int]] = {}
    for doc, id, kind, text in db.execute("SELECT doc, id, kind, text FROM memories WHERE path = ?", (path,)):
        old.setdefault((id, kind, text), []).append(doc)
    fresh: list[Row] = []
    places = 0
    for row in rows:
        kept = old.get((row.id, row.kind, row.text))
        if kept:
            doc = kept.pop()
            db.execute(
                "UPDATE memories SET status = ?, at = ?, importance = ?, data = ? WHERE doc = ?",
                (row.status, row.at, row.importance, row.data, doc),
            )
            db.execute("DELETE FROM sources WHERE doc = ?", (doc,))
            places += _point(db, doc, row)
        else:
            fresh.append(row)
    _drop_documents(db, [doc for docs in old.values() for doc in docs])
    last = db.execute("SELECT max(doc) FROM memories").fetchall()[0][0] or 0
    for number, row in enumerate(fresh, last + 1):
        if number >> SHIFT:
            raise OverflowError("too many memories for one index")
        terms = index_terms(row.text[: UNIT_CHARS * 40])
        db.execute("INSERT INTO terms(rowid, body) VALUES(?, ?)", (number, terms))
        db.execute(
            "INSERT INTO memories VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
            (number, path, row.id, row.kind, row.status, row.text, terms.count(" ") + 1, row.at, row.importance, row.data),
        )
        places += _point(db, number, row)
    return places


def _point(db: apsw.Connection, doc: int, row: Row) -> int:
    """Note where a memory's sources stand; how many there are."""
    ranges = json.loads(row.data).get("source_range", ()) if row.kind != "topic" else ()
    db.executemany("INSERT INTO sources VALUES(?, ?, ?, ?)", [(doc, *found) for found in ranges])
    return len(ranges)
