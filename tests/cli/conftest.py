"""A small store and a way to run commands in this process, as the console script would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoryfs import MemoryStore
from memoryfs.cli import main


class Result:
    def __init__(self, code: int, out: str, err: str):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """run("recall", "port") → Result; the working directory is a fresh folder."""
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in args])
        out = capsys.readouterr()
        return Result(ended.value.code, out.out, out.err)

    return call


@pytest.fixture
def store(tmp_path) -> Path:
    """A store with one thread and no memories."""
    root = tmp_path / "store"
    talk = tmp_path / "talk.jsonl"
    rows = [
        {"role": "user", "content": "The gateway listens on port 7443.", "time": "2026-03-01T09:00:00Z"},
        {"role": "assistant", "content": "Noted: port 7443 for the gateway.", "time": "2026-03-01T09:00:05Z"},
        {"role": "user", "content": "Always use pnpm, not npm.", "time": "2026-03-01T09:01:00Z"},
    ]
    talk.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    MemoryStore.init(root).import_transcripts([talk])
    return root
