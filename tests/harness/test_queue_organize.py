"""From a session's end to the organizer: what a hook notes is learned from, once, without waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from harness_kit import run_hook

from memoryfs.harness import queue
from organizer.scan import scan


def test_noted_end_is_taken_at_once_and_only_once(store, tmp_path):
    (store / "memoryfs.toml").write_text("[hooks]\norganize = false\n")
    transcript = tmp_path / "elsewhere" / "talk.jsonl"
    transcript.parent.mkdir()
    rows = [{"role": "user", "content": "From now on always use port 4711 for the staging server.", "time": "2026-05-12T10:00:00Z"},
            {"role": "assistant", "content": "Understood, staging uses port 4711.", "time": "2026-05-12T10:00:05Z"}]
    transcript.write_text("\n".join(map(json.dumps, rows)) + "\n")
    event = {"cwd": str(store.parent), "session_id": "s", "transcript_path": str(transcript)}
    assert run_hook("Stop", event)[0] == 0
    found = scan(os.environ, now=time.time(), idle_minutes=30, store=store)
    assert found.sessions == () and found.running == 1  # it may still go on
    assert run_hook("SessionEnd", event)[0] == 0
    (session,) = scan(os.environ, now=time.time(), idle_minutes=30, store=store).sessions
    assert session.path == transcript and session.store is not None
    done = subprocess.run(
        [sys.executable, "-m", "memoryfs", "--store", str(store), "organize", "--no-model"], capture_output=True, text=True, timeout=120,
    )
    assert done.returncode in (0, 4), done.stderr
    assert list((store / "threads").rglob("*.jsonl")) and queue.read(store) == ()
    assert scan(os.environ, now=time.time(), idle_minutes=30, store=store).sessions == ()


def test_a_session_in_a_harness_folder_is_listed_once(store, tmp_path, monkeypatch):
    folder = tmp_path / "claude" / "projects" / "x"
    folder.mkdir(parents=True)
    transcript = folder / "a.jsonl"
    transcript.write_text(json.dumps({"type": "user", "cwd": str(store.parent), "message": {"role": "user", "content": "hi"}}) + "\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    assert queue.add(store, str(transcript), event="session-end", cwd=str(store.parent))
    for moment in (time.time(), time.time() + 7200):
        found = scan(os.environ, now=moment, idle_minutes=30, store=store)
        assert [s.path for s in found.sessions] == [transcript] and found.running == 0
