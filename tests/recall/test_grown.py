"""An index that grew file by file answers as one that is made anew: equals are told apart by names, not by row numbers."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime

from memoryfs import MemoryStore
from memoryfs.recall import events


def test_a_grown_index_and_a_rebuilt_one_give_the_same_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(events, "FIRST", 12)
    monkeypatch.setattr(events, "CANDIDATES", 6)
    store = MemoryStore.init(tmp_path / "s", clock=lambda: datetime(2026, 6, 1, tzinfo=UTC))
    for day in (20, 3, 11, 27, 8):  # not in the order of their names
        talk = tmp_path / f"talk-{day:02}.jsonl"
        talk.write_text("".join(
            json.dumps({"role": "user", "content": f"The deploy of service {n} failed.", "time": f"2026-05-{day:02}T09:{n:02}:00Z"}) + "\n"
            for n in range(9)))
        store.import_transcripts([talk])
        store.remember(f"The deploy window of week {day} is Tuesday", topic=f"notes/w{30 - day}.md")
        store.recall("deploy failed", level=2)
    asked = ("deploy failed", "when is the deploy window", "service 4")
    before = [store.recall(q, level=2, vectors=False).to_dict() for q in asked]
    shutil.rmtree(store.root / ".memoryfs")
    again = MemoryStore.open(store.root, clock=store.clock)
    assert "replaced or deleted" in again.recall("deploy", vectors=False).notices[0]
    assert [again.recall(q, level=2, vectors=False).to_dict() for q in asked] == before
