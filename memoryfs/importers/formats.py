"""In: a path and its first bytes. Out: the transcript format that it holds, from the table of all formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.importers import (
    aider,
    chatgpt_md,
    claude_code,
    codex,
    console_md,
    messages,
    notes,
    opencode,
    opencode_md,
    specstory,
)
from memoryfs.importers.base import Item, encoding_of

HEAD = 1 << 16  # bytes looked at to recognise a format
FIRST_RECORDS = 40


@dataclass(frozen=True)
class Head:
    """The beginning of a file: its text, and the JSON records that stand whole in its first lines."""

    path: Path
    text: str
    records: list[dict[str, Any]]
    binary: bool = False

    @property
    def markdown(self) -> bool:
        return self.path.suffix.lower() in (".md", ".markdown", ".mdx", ".txt")


@dataclass(frozen=True)
class Format:
    """One transcript format. `rank`: the harness's own records (0) are imported before poorer copies of
    them."""

    name: str
    sniff: Callable[[Head], bool]
    parse: Callable[[Path, str], Iterator[Item]]
    rank: int = 0


FORMATS: tuple[Format, ...] = (
    Format("claude-code", lambda h: claude_code.sniff(h.records), claude_code.parse),
    Format("codex", lambda h: codex.sniff(h.records), codex.parse),
    Format("codex-history", lambda h: codex.sniff_history(h.records), codex.parse_history, 2),
    Format("opencode", lambda h: opencode.sniff(h.text), opencode.parse),
    Format("messages", lambda h: messages.sniff(h.text, h.records), messages.parse),
    Format("specstory", lambda h: specstory.sniff(h.text), specstory.parse, 1),
    Format("opencode-md", lambda h: opencode_md.sniff(h.text), opencode_md.parse, 1),
    Format("aider", lambda h: aider.sniff(h.text), aider.parse),
    Format("chatgpt-md", lambda h: chatgpt_md.sniff(h.text), chatgpt_md.parse),
    Format("console", lambda h: h.markdown and console_md.sniff(h.text), console_md.parse),
    Format("notes", lambda h: h.markdown and not h.binary, notes.parse, 3),
)
BY_NAME = {f.name: f for f in FORMATS}
SUFFIXES = (".jsonl", ".json", ".md", ".markdown", ".ndjson")


def read_head(path: Path) -> Head:
    """The beginning of a file. Raises OSError where it cannot be read."""
    with open(path, "rb") as handle:
        raw = handle.read(HEAD)
    text = raw.decode(encoding_of(raw), "replace").lstrip("\ufeff")
    control = sum(1 for c in text[:4096] if c < " " and c not in "\t\r\n\f\x1b\b")
    binary = bool(text) and (control + text[:4096].count("\ufffd")) > 0.1 * min(len(text), 4096)
    return Head(path, text, _records(text, len(raw) == HEAD, path), binary)


def _records(text: str, cut: bool, path: Path) -> list[dict[str, Any]]:
    if not text.lstrip("\0 \t\r\n").startswith("{"):
        return []
    lines = text.split("\n")
    if cut and len(lines) == 1:  # one line longer than the head
        with open(path, encoding=encoding_of(text.encode()[:4]), errors="replace", newline="\n") as handle:
            lines = [handle.readline(1 << 26)]
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    for line in lines[:FIRST_RECORDS]:
        try:
            value, _ = decoder.raw_decode(line.strip("\0 \t\r"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def detect(path: Path) -> Format | None:
    """The format of the file, recognised by its content; None for foreign, empty and binary files. Raises
    OSError."""
    head = read_head(path)
    return next((f for f in FORMATS if f.sniff(head)), None)
