"""Metadata of events: one line each, without control characters; the text of an event stays as it was."""

from __future__ import annotations

import json

import pytest

from memoryfs import thread
from memoryfs.importers.base import labelled
from memoryfs.importers.run import import_paths
from memoryfs.thread import EventDraft


def events(root):
    return [event for name in thread.list_threads(root) for event in thread.iter_events(root, name)]


def imported(tmp_path, records):
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    report = import_paths(tmp_path / ".memory", [path])
    assert not report.problems
    return events(tmp_path / ".memory")


def test_claude_code(tmp_path):
    said = "a\0b \x1b[31mred\x1b[0m\n\tend"
    call = {"type": "tool_use", "id": "t\x01", "name": "Wri\0te", "input": {"file_path": "/a\0\nb.py", "content": "x\0y"}}
    base = {"sessionId": "s1", "cwd": "/src/a\0b", "gitBranch": "f\x07x", "version": "1\x1b"}
    found = imported(tmp_path, [
        {**base, "type": "user", "uuid": "1", "timestamp": "2026-05-01T09:00:00Z", "message": {"role": "user", "content": said}},
        {**base, "type": "assistant", "uuid": "2", "parentUuid": "1", "cwd": "/src/\ud800", "timestamp": "2026-05-01T09:01:00Z",
         "message": {"role": "assistant", "model": "m\x00", "content": [call]}}])
    first, second = found
    assert first.text == said
    assert first.metadata["session"]["cwd"] == "/src/a\u2400b" and first.metadata["session"]["branch"] == "f\u2407x"
    assert second.metadata["cwd"] == "/src/\ufffd" and second.metadata["model"] == "m\u2400"
    assert second.metadata["tool"] == "Wri\u2400te" and second.metadata["files"] == ["/a\u2400 b.py"] and "x\0y" in second.text
    assert second.text == "Wri\0te\n/a\0\nb.py\nx\0y" and [second.text[a:b] for a, b in second.metadata["parts"]][-1] == "x\0y"


def test_codex(tmp_path):
    found = imported(tmp_path, [
        {"timestamp": "2026-05-01T09:00:00Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/a\0b", "git": {"branch": "f\nx"}}},
        {"timestamp": "2026-05-01T09:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": "The port is 8443.\0"}}])
    assert found[0].metadata["session"]["cwd"] == "/a\u2400b" and found[0].text == "The port is 8443.\0"
    assert not any("\n" in value for value in found[0].metadata["session"].values() if isinstance(value, str))


def test_messages(tmp_path):
    found = imported(tmp_path, [{"role": "user", "name": "Kim\x1b\tLee", "content": "Hello\tthere", "session_id": "s\x00"}])
    assert found[0].metadata["name"] == "Kim\u241b Lee" and found[0].text == "Hello\tthere"


@pytest.mark.parametrize("metadata", [{}, {"parts": [[0, 1]], "cwd": "/home/me/my  project", "error": True}, {"session": {"id": "日本 é"}}])
def test_what_is_clean_is_left_alone(metadata):
    draft = EventDraft("user", "message", "a\0", 0, None, metadata)
    assert labelled(draft) is draft
