"""What memoryfs says into a session is never learned from that session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from harness_kit import context, make_store, run_hook

from memoryfs import MemoryStore

FACTS = """# Rules

## Instructions
- Always deploy the Zanzibar service from the release branch. ^m-000001
- Never store the Quokka token in the repository. ^m-000002

## Facts
- The Zanzibar service listens on port 4711. ^m-000003
"""


def claude_session(cwd: Path, briefing: str, recalled: str) -> list[dict]:
    """A session as Claude Code records it: our blocks in the user's turns, our tools' calls and results, and paraphrase."""
    base = {"cwd": str(cwd), "sessionId": "s1", "version": "2.1.37", "isSidechain": False, "userType": "external"}

    def row(number: int, kind: str, content: object, **more: object) -> dict:
        return {**base, "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
                "timestamp": f"2026-05-20T10:00:{number:02d}.000Z", "message": {"role": kind, "content": content}, **more}

    found = json.dumps({"memories": [{"id": "m-000003", "summary": "The Zanzibar service listens on port 4711."}]})
    return [
        row(0, "user", f"<system-reminder>\nSessionStart hook additional context: {briefing}\n</system-reminder>\nhello"),
        row(1, "user", f"{recalled}\n\nwhich port?"),
        row(2, "assistant", [{"type": "tool_use", "id": "t1", "name": "mcp__memoryfs__recall", "input": {"query": "Zanzibar port"}}]),
        row(3, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": found}]}]),
        row(4, "assistant", [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "memoryfs recall 'Zanzibar port'"}}]),
        row(5, "user", [{"type": "tool_result", "tool_use_id": "t2", "content": "^m-000003 The Zanzibar service listens on port 4711."}]),
        row(6, "assistant", [{"type": "text", "text": "ok"}]),
    ]


def test_org_01_injected_text_is_not_learned_again(tmp_path):
    root = make_store(tmp_path / "app" / ".memory", **{"projects/rules": FACTS})
    event = {"cwd": str(root.parent), "session_id": "s1"}
    (root / "memoryfs.toml").write_text("[hooks]\ndeadline_ms = 10000\n")
    briefing = context(run_hook("SessionStart", event)[1])
    recalled = context(run_hook("UserPromptSubmit", {**event, "session_id": "s2", "prompt": "Zanzibar service port?"})[1])
    assert "Zanzibar" in briefing and "4711" in recalled
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text("".join(json.dumps(row) + "\n" for row in claude_session(root.parent, briefing, recalled)))
    before = {m.id for m in MemoryStore.open(root).list(status="all")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "memoryfs", "--store", str(root), "organize", "--no-model", str(transcript)],
            capture_output=True, text=True, timeout=120,
        )
        assert done.returncode == 0, done.stderr + done.stdout
    topics = {path: t for path, t in MemoryStore.open(root).topics().items() if not path.startswith("episodes/")}
    assert {m.id for t in topics.values() for m in t.memories} == before
    found = MemoryStore.open(root).recall("Zanzibar Quokka", level="2")
    assert not [e.text for e in found.evidence if "Zanzibar service listens" in e.text or "Quokka token" in e.text]
