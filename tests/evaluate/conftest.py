"""A small corpus and a store that answers by table, so that every metric can be checked by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from memoryfs.evaluate.corpus import Corpus
from memoryfs.model import Event

TEXTS = (
    ("chat/a.jsonl", 0, "user", "Which port does the staging proxy use?"),
    ("chat/a.jsonl", 1, "assistant", "The staging proxy listens on 8443."),
    ("chat/a.jsonl", 3, "user", "Make it 9443 from now on, not 8443."),
    ("chat/b.jsonl", 0, "user", "The invoices are sent on Fridays."),
    ("chat/b.jsonl", 1, "assistant", "Noted: invoices go out on Fridays, by the script send_invoices.py."),
)


def make_events() -> list[Event]:
    counts: dict[str, int] = {}
    events = []
    for source, line, role, text in TEXTS:
        thread = "2026-03-01-aaaaaa" if source.endswith("a.jsonl") else "2026-03-02-bbbbbb"
        index = counts.get(thread, 0)
        counts[thread] = index + 1
        events.append(Event(thread, index, f"{index:032x}", role, "message", "2026-03-01T09:00:00Z", text, source, line))
    return events


def evidence(event: Event, start: int = 0, end: int | None = None, **extra: object) -> dict:
    end = len(event.text) if end is None else end
    return {
        "thread": event.thread, "index": event.index, "start": start, "end": end, "text": event.text[start:end],
        "event_id": event.id, "role": event.role, "time": event.time, "source": event.source, "line": event.line, **extra,
    }


def memory(summary: str, thread: str, start: int, end: int, **extra: object) -> dict:
    return {
        "id": "m-000001", "summary": summary, "kind": "fact", "status": "active", "topic": "t.md", "line": 1, "score": 1.0,
        "why": {}, "scope": 0, "source_range": [{"thread": thread, "start": start, "end": end}], **extra,
    }


@dataclass
class TableStore:
    """`recall` looks the query up; what it was asked for is kept in `calls`."""

    answers: dict[str, dict]
    root: Path = Path("/nowhere")
    calls: list[dict] = field(default_factory=list)

    def recall(self, query: str, **options: object) -> SimpleNamespace:
        self.calls.append({"query": query, **options})
        empty = {"memories": [], "evidence": [], "abstained": True, "tokens": 0}
        found = {**empty, **self.answers.get(query, {})}
        return SimpleNamespace(to_dict=lambda: found)


@pytest.fixture
def events() -> list[Event]:
    return make_events()


@pytest.fixture
def corpus(events: list[Event]) -> Corpus:
    return Corpus.of(events)
