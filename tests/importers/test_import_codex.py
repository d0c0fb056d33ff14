"""Codex rollouts: each message once; injected and encrypted text kept apart; history.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

from made_transcripts import codex, imported, told, write_lines

from memoryfs.thread import list_threads

ID = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"


def said(role: str, text: str, second: int) -> dict[str, object]:
    block = {"type": "input_text" if role == "user" else "output_text", "text": text}
    return codex("response_item", {"type": "message", "role": role, "content": [block]}, second)


def rollout(path: Path) -> Path:
    patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-1\n+2\n*** End Patch"
    return write_lines(
        path,
        [
            codex(
                "session_meta",
                {"id": ID, "cwd": "/w/app", "cli_version": "0.104.0", "git": {"branch": "main"}},
            ),
            said("developer", "<permissions instructions>…</permissions instructions>", 1),
            said("user", "# AGENTS.md instructions for /w/app\n\n<INSTRUCTIONS>Be kind.</INSTRUCTIONS>", 1),
            said("user", "<environment_context>\n  <cwd>/w/app</cwd>\n</environment_context>", 1),
            codex("event_msg", {"type": "user_message", "message": "yes"}, 2),
            said("user", "yes", 2),
            codex("turn_context", {"cwd": "/w/app/sub", "model": "gpt-5"}, 3),
            codex("event_msg", {"type": "agent_reasoning", "text": "**Thinking**"}, 3),
            codex(
                "response_item",
                {
                    "type": "reasoning",
                    "summary": [{"type": "summary_text", "text": "**Thinking**"}],
                    "encrypted_content": "gAAAA" + "B" * 3000,
                },
                3,
            ),
            codex("event_msg", {"type": "agent_message", "message": "I will run it."}, 4),
            said("assistant", "I will run it.", 4),
            codex(
                "response_item",
                {
                    "type": "function_call",
                    "name": "shell",
                    "call_id": "c1",
                    "arguments": json.dumps({"command": ["bash", "-lc", 'rg "a b" \\\\d+'], "timeout_ms": 5}),
                },
                5,
            ),
            codex(
                "response_item",
                {
                    "type": "function_call_output",
                    "call_id": "c1",
                    "output": json.dumps({"output": "src/a.ts:1\n", "metadata": {"exit_code": 1}}),
                },
                6,
            ),
            codex(
                "response_item",
                {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": patch},
                7,
            ),
            codex("event_msg", {"type": "user_message", "message": "yes"}, 8),
            said("user", "yes", 8),
            codex("event_msg", {"type": "token_count", "info": None}, 9),
            codex("compacted", {"message": "Summary so far."}, 10),
        ],
    )


def test_each_message_once_with_its_first_line(tmp_path: Path) -> None:
    report, events = imported(tmp_path / "store", rollout(tmp_path / "rollout.jsonl"))
    assert not report.problems
    assert [(e.line, e.role, e.kind, e.metadata.get("skip")) for e in events] == [
        (1, "system", "message", "injected"),
        (2, "user", "message", "injected"),
        (3, "user", "message", "injected"),
        (4, "user", "message", None),
        (7, "assistant", "message", "thinking"),
        (9, "assistant", "message", None),
        (11, "assistant", "tool_call", None),
        (12, "tool", "tool_result", None),
        (13, "assistant", "file_edit", None),
        (14, "user", "message", None),
        (17, "system", "message", "summary"),
    ]
    assert events[6].text == 'shell\nbash\n-lc\nrg "a b" \\\\d+'
    assert events[7].text == "src/a.ts:1\n" and events[7].metadata["error"]
    assert events[8].metadata["files"] == ["src/a.ts"]
    assert events[0].metadata["session"]["id"] == ID and events[4].metadata["model"] == "gpt-5"
    assert not any("gAAAA" in e.text for e in events)


def test_history_gives_one_thread_a_session_and_does_not_double_a_rollout(tmp_path: Path) -> None:
    base = 1778580000  # 2026-05-12T10:00:00Z
    history = write_lines(
        tmp_path / "a-history.jsonl",
        [
            {"session_id": ID, "ts": base + 2, "text": "yes"},
            {"session_id": "zz", "ts": base + 90, "text": "other session"},
            {"session_id": ID, "ts": base + 8, "text": "yes"},
        ],
    )
    store = tmp_path / "store"
    report, events = imported(store, history, rollout(tmp_path / "rollout.jsonl"))
    assert len(list_threads(store)) == 2
    assert [t for t in told(events) if t[1] == "other session"] == [("user", "other session", None)]
    assert sorted(o.status for o in report.outcomes) == ["new", "new", "unchanged"]
    again, _ = imported(store, history)
    assert {o.status for o in again.outcomes} == {"unchanged"}


def test_history_that_goes_on_after_the_rollout_is_kept(tmp_path: Path) -> None:
    history = write_lines(
        tmp_path / "history.jsonl", [{"session_id": ID, "ts": 1778590000, "text": "much later"}]
    )
    store = tmp_path / "store"
    imported(store, rollout(tmp_path / "rollout.jsonl"))
    _, events = imported(store, history)
    assert ("user", "much later", None) in told(events)


def test_bare_records_of_early_versions(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "old.jsonl",
        [
            {"id": "old-1", "timestamp": "2025-06-01T08:00:00Z", "instructions": None},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"type": "function_call", "name": "shell", "arguments": "{not json", "call_id": "c"},
        ],
    )
    _, events = imported(tmp_path / "store", path)
    assert told(events) == [("user", "hello", None), ("assistant", "shell\n{not json", None)]
    assert events[0].metadata["session"]["id"] == "old-1"
