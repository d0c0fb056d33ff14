"""In: what a verb gave. Out: one text within MAX_BYTES, with `next` where there is more: hosts refuse about 25,000 tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from memoryfs.errors import NotFoundError
from memoryfs.model import Memory, SourceRange
from memoryfs.store import MemoryStore
from memoryfs.text import estimate_tokens

MAX_BYTES = 48_000


def dump(data: Any) -> str:
    """JSON on one line."""
    return json.dumps(data, ensure_ascii=False)


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def fit_recall(found: dict[str, Any]) -> str:
    """A recall as JSON; what ranks last in the longer list is left out, and counted, until the rest fits."""
    left_out = {"memories": 0, "evidence": 0}
    sizes = {name: [size(dump(row)) + 2 for row in found[name]] for name in left_out}
    total = size(dump(found | {"left_out": left_out})) + 20
    rows = {name: list(found[name]) for name in left_out}
    while total > MAX_BYTES and any(rows.values()):
        name = max(rows, key=lambda key: sum(sizes[key][: len(rows[key])]) if len(rows[key]) > 1 else -1)
        if len(rows[name]) <= 1:
            break
        rows[name].pop()
        total -= sizes[name][len(rows[name])]
        left_out[name] += 1
    if total > MAX_BYTES:  # one row alone is too long: its text is cut, and said to be
        for row in rows["evidence"]:
            text = row["text"]
            kept = text[: MAX_BYTES // 8]
            row = row | {"text": kept, "end": row["start"] + len(kept), "cut_of": len(text)}
            rows["evidence"] = [row]
        for row in rows["memories"]:
            if len(row["summary"]) > MAX_BYTES // 8:
                rows["memories"] = [row | {"summary": row["summary"][: MAX_BYTES // 8] + " …", "cut_of": len(row["summary"])}]
    extra = {"left_out": left_out} if any(left_out.values()) else {}
    return dump(found | rows | extra)


def page_text(text: str, offset: int) -> str:
    """`text` from character `offset` on; plain if it is whole, else JSON with `offset`, `total` and `next`."""
    if offset == 0 and size(text) <= MAX_BYTES:
        return text
    room = MAX_BYTES - 200
    piece = text[offset : offset + room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    while piece and size(dump(piece)) > room:
        piece = piece[: len(piece) * 9 // 10]
    end = offset + len(piece)
    return dump({"text": piece, "offset": offset, "total": len(text), "next": end if end < len(text) else None})


def page(name: str, rows: Sequence[Any], offset: int, show: Callable[[Any], dict[str, Any]]) -> str:
    """`rows` from number `offset` on, as far as they fit, with `total` and `next`."""
    shown: list[dict[str, Any]] = []
    used = 100
    for row in rows[offset:]:
        item = show(row)
        used += size(dump(item)) + 2
        if used > MAX_BYTES and shown:
            break
        shown.append(item)
    end = offset + len(shown)
    return dump({name: shown, "total": len(rows), "next": end if end < len(rows) else None})


def memory_row(memory: Memory) -> dict[str, Any]:
    """A memory in a list, with the id that the other tools take."""
    summary = memory.summary if len(memory.summary) <= 4000 else memory.summary[:4000] + " …"
    return {
        "id": memory.id, "summary": summary, "kind": memory.kind, "status": memory.status, "topic": memory.topic,
        "line": memory.line, "source": [f"{r.thread}:{r.start}-{r.end}" for r in memory.source_range],
    } | ({"stale": memory.metadata["stale"]} if memory.metadata.get("stale") else {})


def events(store: MemoryStore, thread: str, start: int, end: int | None, query: str | None, max_tokens: int) -> str:
    """Events of a thread in order, verbatim, within `max_tokens`; with `query` only those that hold one of its words."""
    from memoryfs import thread as threads

    named = SourceRange.parse(thread)
    if named is not None:
        thread, start, end = named.thread, named.start, named.end
    full = threads.resolve(store.root, thread)
    if full is None:
        raise NotFoundError(f"thread {thread[:80]}", remedy="recall names threads in `evidence` and `source_range`.")
    rows: list[dict[str, Any]] = []
    used = bytes_used = 0
    following: int | None = None
    for event in threads.read_events(store.root, full, start, end):
        if query and not _matches(event.text, query):
            continue
        row = event.to_dict()
        used += estimate_tokens(event.text)
        bytes_used += size(dump(row))
        if used > max_tokens or bytes_used > MAX_BYTES - 500:
            if rows:
                following = event.index
            else:  # one event larger than the answer may be: its beginning, and how to read on
                piece = _beginning(event.text, max_tokens)
                rows.append(row | {"text": piece, "cut_at": len(piece), "characters": len(event.text)})
                following = event.index + 1
            break
        rows.append(row)
    return dump({"thread": full, "events": rows, "next": following})


def _beginning(text: str, max_tokens: int) -> str:
    piece = text[: max_tokens * 4]
    while piece and (estimate_tokens(piece) > max_tokens or size(dump(piece)) > MAX_BYTES - 4000):
        piece = piece[: len(piece) * 4 // 5]
    return piece


def _matches(text: str, query: str) -> bool:
    from memoryfs.text import index_terms, query_terms

    wanted = set(query_terms(query))
    return not wanted or bool(wanted & set(index_terms(text).split()))
