"""In: a transcript's path, lines or JSON values. Out: clean text, records with their physical line, event
drafts.

Stated rules for damaged text: bytes that are not UTF-8 and lone surrogates become U+FFFD; NUL bytes that
pad a line are dropped; a byte-order mark is dropped; UTF-16 and UTF-32 with a byte-order mark are read as
such. Physical lines end at LF only and count from 0. Metadata (folder, branch, names) holds no control
characters: they become their pictures (␀), tabs and line ends a space.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memoryfs.model import EMPTY, Problem
from memoryfs.notation import pictured
from memoryfs.thread import EventDraft

_SURROGATE = re.compile("[\ud800-\udfff]")
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_TIME = re.compile(r"^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\s*(Z|z|[+-]\d{2}:?\d{2})?$")
_RECORD_START = re.compile(
    r'\{\s*"(?:type|parentUuid|timestamp|role|session_id|sessionId|uuid|isSidechain|messageId|id|summary|ts)"\s*:'
)
TRIES = 50  # places looked at for the start of a whole record behind a torn one


@dataclass(frozen=True, slots=True)
class Turn:
    """One draft of the session with this id; "" where the format has no ids (then its first event
    identifies it)."""

    session: str
    draft: EventDraft


Item = Turn | Problem


def clean(text: str) -> str:
    """Lone surrogates as U+FFFD, so that the text can be written as UTF-8 and bound in SQLite."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def labelled(draft: EventDraft) -> EventDraft:
    """The draft with every text of its metadata on one line and without control characters; its own text stays as it is."""
    metadata = {key: _label(value) for key, value in draft.metadata.items()}
    return draft if metadata == draft.metadata else replace(draft, metadata=metadata)


def _label(value: Any) -> Any:
    if isinstance(value, str):
        return pictured(value)
    if isinstance(value, Mapping):
        return {key: _label(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [_label(inner) for inner in value]
    return value


def timestamp(value: object) -> str | None:
    """RFC 3339 text for a time as transcripts write it (text, or seconds or milliseconds since 1970); else
    None.

    A time without a zone stays without one.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        seconds = value / 1000 if abs(value) > 1e11 else value
        try:
            text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
        except (OverflowError, OSError, ValueError):
            return None
        return text.replace("+00:00", "Z").replace(".000Z", "Z")
    if isinstance(value, str):
        match = _TIME.match(value.strip())
        if match:
            zone = (match[3] or "").upper()
            if len(zone) == 5 and ":" not in zone:
                zone = f"{zone[:3]}:{zone[3:]}"
            return f"{match[1]}T{match[2].replace(',', '.')}{zone}"
    return None


def encoding_of(head: bytes) -> str:
    """The text encoding that the first bytes announce; UTF-8 if they announce none."""
    return next((name for bom, name in _BOMS if head.startswith(bom)), "utf-8")


def open_text(path: Path) -> io.TextIOWrapper:
    """The file as text, line ends untouched, undecodable bytes as U+FFFD."""
    with open(path, "rb") as handle:
        encoding = encoding_of(handle.read(4))
    return open(path, encoding=encoding, errors="replace", newline="\n")


def physical_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line with its line end) for every physical line."""
    with open_text(path) as handle:
        yield from enumerate(handle)


def _decode(line: str, decoder: json.JSONDecoder) -> tuple[list[Any], bool]:
    """All JSON values of a line (records may be glued together), and whether the whole line was
    understood."""
    values: list[Any] = []
    position, whole, tries = 0, True, 0
    while position < len(line):
        if line[position] in " \t\r\n,":
            position += 1
            continue
        try:
            value, position = decoder.raw_decode(line, position)
            values.append(value)
        except (ValueError, RecursionError):
            whole = False
            tries += 1
            match = _RECORD_START.search(line, position + 1) if tries < TRIES else None
            if not match:
                break
            position = match.start()
    if (
        not whole
    ):  # an inner object of a torn record is no record: only what reaches the end of the line counts
        values = [
            v for v in values if isinstance(v, dict) and (len(v) > 2 or "payload" in v or "summary" in v)
        ]
    return values, whole


def json_lines(path: Path, source: str) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    """(line, record) for every JSON object of a JSON-lines file; a bad line costs only itself and is named.

    An unfinished last line is a warning: it is read at the next import, when it is whole.
    """
    decoder = json.JSONDecoder(strict=False)
    for number, raw in physical_lines(path):
        line = raw.strip("\0 \t\r\n\ufeff")
        if not line:
            if "\0" in raw:
                yield Problem(
                    source,
                    "a line of NUL bytes",
                    "The harness crashed there; nothing to do.",
                    number + 1,
                    severity="warning",
                )
            continue
        values, whole = _decode(line, decoder)
        if not whole:
            if not raw.endswith("\n") and not values:
                yield Problem(
                    source,
                    "the last line is not finished yet",
                    "It is read at the next import, when it is whole.",
                    number + 1,
                    severity="warning",
                )
            else:
                yield Problem(
                    source,
                    "not valid JSON (a torn or foreign line)",
                    "The other lines were read; nothing to do unless it matters.",
                    number + 1,
                )
        for value in values:
            if isinstance(value, dict):
                yield number, value
            elif whole:
                yield Problem(
                    source, "a JSON value that is no record", "The other lines were read.", number + 1
                )


def each_record(
    records: Iterable[tuple[int, dict[str, Any]] | Problem],
    handle: Callable[[int, dict[str, Any]], Iterable[Item]],
    source: str,
) -> Iterator[Item]:
    """What `handle` makes of each record; one with an unexpected shape costs only itself and is named."""
    for item in records:
        if isinstance(item, Problem):
            yield item
            continue
        number, record = item
        try:
            turns = list(handle(number, record))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
            yield Problem(
                source,
                f"a record of an unknown shape ({type(error).__name__}: {error})",
                "The other records were read; please report the format.",
                number + 1,
            )
            continue
        yield from turns


def draft(
    role: str, kind: str, text: str, line: int, time: str | None = None, metadata: Mapping[str, Any] = EMPTY
) -> EventDraft | None:
    """A draft with clean text, or None where there is no text to keep."""
    if not text or text.isspace():
        return None
    return EventDraft(
        role, kind, clean(text), line, time, {k: v for k, v in metadata.items() if v not in (None, "")}
    )


def leaves(value: Any, depth: int = 0) -> Iterator[str]:
    """The strings inside a JSON value in document order, without inline images and other base64 payloads."""
    if isinstance(value, str):
        if value and not is_payload(value):
            yield value
    elif depth < 60:
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for child in children:
            yield from leaves(child, depth + 1)


_PAYLOAD = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{1000,}={0,2}")


def is_payload(text: str) -> bool:
    """Whether the text is one long base64 payload (an image, encrypted reasoning), which nobody searches
    for."""
    return len(text) >= 1000 and bool(_PAYLOAD.fullmatch(text.replace("\n", "")))


def join(pieces: Iterable[str]) -> tuple[str, list[list[int]]]:
    """The pieces one a line, and the [start, end) offsets of each."""
    text, parts, position = [], [], 0
    for piece in pieces:
        piece = clean(piece)
        if not piece:
            continue
        parts.append([position, position + len(piece)])
        text.append(piece)
        position += len(piece) + 1
    return "\n".join(text), parts


_EDITS = {
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "apply_patch",
    "patch",
    "str_replace",
    "create_file",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "replace",
    "write_file",
    "edit_file",
}
_PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "file", "filename")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.M)
_APPLIES_PATCH = re.compile(r"^\*\*\* Begin Patch\b|\bapply_patch\b", re.M)
MAX_FILES = 20


def tool_call(name: str, arguments: Any, line: int, time: str | None, **metadata: Any) -> EventDraft | None:
    """A tool call: its name and the strings of its arguments, one a line; `file_edit` where it changes
    files."""
    text, parts = join([name, *leaves(arguments)])
    files = [
        v for k in _PATH_KEYS if isinstance(arguments, dict) and isinstance(v := arguments.get(k), str) and v
    ]
    edits = name.lower().rpartition(".")[2] in _EDITS
    if _APPLIES_PATCH.search(text):
        patched = [a or b for a, b in _PATCHED.findall(text)]
        edits, files = edits or bool(patched), files + patched
    if len(parts) > 1:
        metadata["parts"] = parts
    if files:
        metadata["files"] = [clean(f) for f in dict.fromkeys(files)][:MAX_FILES]
    return draft(
        "assistant", "file_edit" if edits else "tool_call", text, line, time, {"tool": name, **metadata}
    )


def tool_result(value: Any, line: int, time: str | None, **metadata: Any) -> EventDraft | None:
    """A tool's answer: text as it stands; of a list of blocks, the texts one a line."""
    if isinstance(value, str):
        text = "" if is_payload(value) else value
    else:
        blocks = value if isinstance(value, list) else [value]
        texts: list[str] = []
        for block in blocks:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif isinstance(block, dict) and block.get("type") in ("image", "input_image", "document"):
                continue
            else:
                texts.extend(leaves(block))
        text, parts = join(texts)
        if len(parts) > 1:
            metadata["parts"] = parts
    return draft("tool", "tool_result", text, line, time, metadata)
