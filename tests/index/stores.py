"""Small stores for the tests of index and recall: thread files and topic files written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memoryfs.model import event_id

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)  # a Sunday


def event_line(thread: str, index: int, text: str, **over: Any) -> str:
    """One line of a thread file."""
    record = {
        "thread": thread, "index": index, "id": event_id(thread, over.get("role", "user"), text), "role": "user",
        "kind": "message", "time": "2026-11-20T10:00:00Z", "text": text, "source": "s.jsonl", "line": index,
        "metadata": {}, **over,
    }  # fmt: skip
    return json.dumps(record, ensure_ascii=False) + "\n"


def thread(root: Path, name: str, texts: Iterable[str | dict[str, Any]]) -> Path:
    """A thread file; a dict gives more fields than the text."""
    path = root / "threads" / name[:4] / name[5:7] / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, item in enumerate(texts):
        fields = {"text": item} if isinstance(item, str) else dict(item)
        lines.append(event_line(name, number, fields.pop("text"), **fields))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def topic(root: Path, name: str, body: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, encoding="utf-8")
    return path


def fact_file(*facts: str, title: str = "Topic", head: str = "") -> str:
    """A topic file with these bullets under Facts; their ids are m-000001, m-000002, …"""
    bullets = "\n".join(f"- {fact} ^m-{number:06x}" for number, fact in enumerate(facts, 1))
    return f"---\ntitle: {title}\n{head}---\n# {title}\n\n## Facts\n{bullets}\n"
