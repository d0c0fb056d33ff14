"""What the hooks write down about a session holds no secret, and its transcript is found all the same."""

from __future__ import annotations

import json
import time

import pytest
from harness_kit import run_hook

from memoryfs import MemoryStore
from memoryfs.errors import UsageError
from memoryfs.harness import hidden, queue
from memoryfs.harness.memory_tool import MemoryTool, MemoryToolError

KEY = "ghp_" + "aBcDeFgHiJ" * 3 + "kLmNoP"


def written(store) -> bytes:
    return b"".join(str(p).encode() + p.read_bytes() for p in store.rglob("*") if p.is_file())


def test_org_13_a_secret_in_the_path_of_a_queued_transcript(store, tmp_path):
    transcript = tmp_path / f"-home-{KEY}-x" / f"{KEY}.jsonl"
    transcript.parent.mkdir()
    transcript.write_text("{}\n")
    assert queue.add(store, str(transcript), event="session-end", cwd=str(transcript.parent))
    assert KEY.encode() not in written(store)
    (noted,) = queue.read(store)
    assert noted.path == transcript and noted.cwd == str(transcript.parent) and noted.final
    queue.remove(store, [transcript])
    assert queue.read(store) == ()
    queue.add(store, str(transcript), event="session-end")
    transcript.unlink()
    assert queue.read(store) == ()


@pytest.mark.parametrize("path", [
    "/home/dev/.claude/projects/-home-dev-school-app/9a0b1ef8-2ed5-4b56-a7aa-de1a1be9a6f3.jsonl",
    "/home/dev/.codex/sessions/2026/05/12/rollout-2026-05-12T10-00-00-9a0b1ef8-2ed5-4b56-a7aa-de1a1be9a6f3.jsonl", "", "relative.md",
])
def test_other_paths_are_noted_as_they_are(path):
    assert hidden.hide(path) == path == hidden.find(path)
    assert hidden.find(hidden._MARK + "0" * 64) == ""


def test_a_long_path_takes_no_time():
    begun = time.process_time()
    assert hidden.hide("/ab1-c" * 600 + "/" + "x" * 40).startswith("/ab1")
    assert time.process_time() - begun < 2


def test_org_13_a_secret_as_session_id_is_not_logged(store):
    run_hook("user-prompt-submit", {"session_id": f"s-{KEY}", "prompt": "What is the port?", "cwd": str(store.parent)}, cwd=store.parent)
    row = json.loads((store / ".memoryfs" / "hooks.log").read_bytes().splitlines()[-1])
    assert row["session"] == "s-[REDACTED:github-token]" and KEY.encode() not in written(store)


def test_org_13_no_topic_is_named_after_a_secret(store):
    opened, tool = MemoryStore.open(store), MemoryTool(store)
    for topic in (f"projects/{KEY}.md", KEY):
        with pytest.raises(UsageError, match="looks like a secret"):
            opened.remember("The gateway listens on port 7443.", topic=topic)
    with pytest.raises(MemoryToolError, match="looks like a secret"):
        tool.call({"command": "create", "path": f"/memories/projects/{KEY}.md", "file_text": "- The port is 7443.\n"})
    assert KEY.encode() not in written(store)
