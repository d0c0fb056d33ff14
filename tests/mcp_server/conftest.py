"""A project with a store: a topic with a contradiction, and a thread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp_kit import THREAD, TOPIC


@pytest.fixture
def store(tmp_path) -> Path:
    from memoryfs import MemoryStore

    root = tmp_path / "app" / ".memory"
    (root / "projects").mkdir(parents=True)
    (root / "projects" / "school-auth.md").write_text(TOPIC, encoding="utf-8")
    transcript = tmp_path / "talk.jsonl"
    transcript.write_text("\n".join(map(json.dumps, THREAD)) + "\n", encoding="utf-8")
    MemoryStore.init(root).import_transcripts(transcript)
    return root
