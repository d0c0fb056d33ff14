"""In: a store's parsed topics. Out: their active memories as files in another tool's layout, written to a new place.

Layouts: `claude-code` (auto memory: MEMORY.md as an index, one file a topic), `openclaw` (MEMORY.md and
memory/DATE.md), `jsonl` (one memory a line, every field), `book` (one Markdown document).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.errors import UsageError
from memoryfs.model import CURRENT, Memory
from memoryfs.textfile import slug, write_atomic

if TYPE_CHECKING:
    from memoryfs.topic import Topic

Files = dict[str, str]  # relative path -> text; the one key "" means that the target itself is the file
CLAUDE_INDEX_LINES = 200  # Claude Code loads that many lines of MEMORY.md
CLAUDE_TYPES = {"preferences": "feedback", "contacts": "user", "infrastructure": "reference"}


def export(topics: Mapping[str, Topic], target: Path, layout: str) -> list[Path]:
    """Write `layout` to `target`; files that are there already with other content are refused. Raises UsageError."""
    if layout not in LAYOUTS:
        raise UsageError(f"unknown layout {layout!r}", remedy=f"Layouts: {', '.join(LAYOUTS)}.")
    files = LAYOUTS[layout](dict(sorted(topics.items())))
    planned = {(target / name if name else target): text.encode("utf-8", "surrogateescape") for name, text in files.items()}
    for path, data in planned.items():
        if path.is_dir() or (path.exists() and path.read_bytes() != data):
            raise UsageError(f"{path} exists already", remedy="Export to a new file or an empty folder.")
    for path, data in planned.items():
        write_atomic(path, data)
    return sorted(planned)


def _shown(topic: Topic) -> list[Memory]:
    return [m for m in topic.memories if m.status in CURRENT]


def _bullet(memory: Memory) -> str:
    box = ("[x] " if memory.done else "[ ] ") if memory.kind == "task" else ""
    return f"- {box}{memory.summary}"


def _body(topic: Topic) -> str:
    prose = "\n\n".join(text for _, text in topic.prose)
    bullets = "\n".join(_bullet(m) for m in _shown(topic))
    return "\n\n".join(part for part in (prose, bullets) if part)


def _about(topic: Topic) -> str:
    shown = _shown(topic)
    return " ".join((topic.summary or (shown[0].summary if shown else topic.title)).split())


def _claude_code(topics: Mapping[str, Topic]) -> Files:
    files: Files = {}
    index: list[str] = []
    for path, topic in topics.items():
        if not (topic.prose or _shown(topic)):
            continue
        name = slug(path.removesuffix(".md").replace("/", "-"))
        kind = CLAUDE_TYPES.get(path.split("/", 1)[0], "project")
        # A JSON string is a double-quoted YAML scalar, whatever it holds.
        head = f"---\nname: {json.dumps(topic.title, ensure_ascii=False)}\n" \
               f"description: {json.dumps(_about(topic), ensure_ascii=False)}\nmetadata:\n  type: {kind}\n---\n"
        files[f"{name}.md"] = f"{head}{_body(topic)}\n"
        title = topic.title.replace("[", "\\[").replace("]", "\\]")
        index.append(f"- [{title}]({name}.md) — {_about(topic)}")
    if len(index) > CLAUDE_INDEX_LINES:
        left = len(index) - CLAUDE_INDEX_LINES + 1
        index = [*index[: CLAUDE_INDEX_LINES - 1], f"- … {left} more topic files in this folder"]
    files["MEMORY.md"] = "\n".join(index) + "\n" if index else ""
    return files


def _openclaw(topics: Mapping[str, Topic]) -> Files:
    lasting: list[str] = ["# Memory", ""]
    days: dict[str, list[str]] = {}
    for topic in topics.values():
        keep = []
        for memory in _shown(topic):
            if memory.kind == "event" and memory.date:
                days.setdefault(memory.date, []).append(_bullet(memory))
            else:
                keep.append(_bullet(memory))
        prose = [text for _, text in topic.prose]
        if keep or prose:
            lasting += [f"## {topic.title}", "", *[line for text in prose for line in (text, "")], *keep, ""]
    files = {"MEMORY.md": "\n".join(lasting)}
    files |= {f"memory/{day}.md": f"# {day}\n\n" + "\n".join(lines) + "\n" for day, lines in sorted(days.items())}
    return files


def _jsonl(topics: Mapping[str, Topic]) -> Files:
    rows = []
    for topic in topics.values():
        for m in topic.memories:
            rows.append(json.dumps(m.to_dict() | {
                "title": topic.title, "tags": list(topic.tags), "date": m.date, "stated_by": m.stated_by, "quote": m.quote,
                "query_hints": list(m.query_hints), "superseded_by": m.superseded_by, "done": m.done,
            }, ensure_ascii=False))
    return {"": "".join(row + "\n" for row in rows)}


def _book(topics: Mapping[str, Topic]) -> Files:
    parts = ["# Memory", ""]
    for path, topic in topics.items():
        if not (topic.prose or topic.memories):
            continue
        parts += [f"## {topic.title}", "", f"*{path}*" + (f": {_about(topic)}" if topic.summary else ""), "", _body(topic), ""]
        old = [m for m in topic.memories if m.status == "superseded"]
        if old:
            parts += ["### History", "", *[f"- ~~{m.summary}~~" for m in old], ""]
    return {"": "\n".join(parts)}


LAYOUTS: dict[str, Callable[[Mapping[str, Topic]], Files]] = {
    "claude-code": _claude_code, "openclaw": _openclaw, "jsonl": _jsonl, "book": _book,
}
