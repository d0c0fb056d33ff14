"""Claude Code sessions: what is a turn, who said it, and what is left out."""

from __future__ import annotations

from pathlib import Path

from made_transcripts import SESSION, claude, imported, told, write_lines

from memoryfs.thread import list_threads, thread_name

REMINDER = "<system-reminder>\nDo not mention this.\n</system-reminder>"


def test_roles_kinds_lines_and_metadata(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            {"type": "summary", "summary": "Old title", "leafUuid": "x"},
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            claude("user", "Use pnpm, not npm.", 1),
            claude("assistant", [{"type": "thinking", "thinking": "hm", "signature": "A" * 2000}], 2),
            claude(
                "assistant",
                [
                    {"type": "text", "text": "Editing."},
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "Edit",
                        "input": {
                            "file_path": "/w/app/a.ts",
                            "old_string": "npm",
                            "new_string": "pnpm",
                            "all": True,
                        },
                    },
                ],
                3,
            ),
            claude(
                "user",
                [{"type": "tool_result", "tool_use_id": "t1", "content": "ok\n\n" + REMINDER + "\n"}],
                4,
                toolUseResult={"originalFile": "npm"},
            ),
            claude(
                "assistant",
                [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "ls", "timeout": 5}}],
                5,
            ),
            claude(
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "is_error": True,
                        "content": [
                            {"type": "text", "text": "one"},
                            {"type": "text", "text": "two"},
                            {"type": "image", "source": {"data": "A" * 5000}},
                        ],
                    }
                ],
                6,
                cwd="/w/other",
            ),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "sessionId": SESSION,
                "timestamp": "2026-05-12T10:00:07Z",
            },
            claude(
                "user",
                "This session is being continued from a previous conversation. Summary: …",
                8,
                isCompactSummary=True,
            ),
            {"type": "system", "subtype": "turn_duration", "durationMs": 5, "sessionId": SESSION},
        ],
    )
    report, events = imported(tmp_path / "store", path)
    assert not report.problems
    assert [(e.line, e.role, e.kind, e.text, e.metadata.get("skip")) for e in events] == [
        (0, "system", "message", "Old title", "summary"),
        (2, "user", "message", "Use pnpm, not npm.", None),
        (3, "assistant", "message", "hm", "thinking"),
        (4, "assistant", "message", "Editing.", None),
        (4, "assistant", "file_edit", "Edit\n/w/app/a.ts\nnpm\npnpm", None),
        (5, "tool", "tool_result", "ok", None),
        (5, "system", "message", "\n\n" + REMINDER + "\n", "injected"),
        (6, "assistant", "tool_call", "Bash\nls", None),
        (7, "tool", "tool_result", "one\ntwo", None),
        (8, "system", "message", "Conversation compacted", "summary"),
        (
            9,
            "user",
            "message",
            "This session is being continued from a previous conversation. Summary: …",
            "summary",
        ),
    ]
    edit = events[4]
    assert edit.metadata["files"] == ["/w/app/a.ts"]
    assert [edit.text[a:b] for a, b in edit.metadata["parts"]] == ["Edit", "/w/app/a.ts", "npm", "pnpm"]
    assert (
        events[8].metadata["error"]
        and events[8].metadata["tool"] == "Bash"
        and events[8].metadata["cwd"] == "/w/other"
    )
    session = events[0].metadata["session"]
    assert (session["id"], session["harness"], session["cwd"], session["branch"]) == (
        SESSION,
        "claude-code",
        "/w/app",
        "main",
    )
    assert events[0].thread == thread_name(SESSION, "2026-05-12T10:00:01Z")
    assert all(e.source == str(path) for e in events)


def test_pseudo_user_text_is_split_from_what_the_user_said(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", "Fix the login.\n" + REMINDER, 1),
            claude(
                "user",
                "<command-name>/review</command-name>\n<command-message>review</command-message>\n"
                "<command-args>look at auth.ts please</command-args>",
                2,
            ),
            claude("user", "<local-command-stdout>Bye</local-command-stdout>", 3),
            claude("user", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>", 4),
            claude("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], 5),
            claude(
                "user",
                "Caveat: The messages below were generated by the user while running local commands.",
                6,
                isMeta=True,
            ),
            claude("user", "Why does `<system-reminder>` appear in my log?", 7),
            claude("user", "Run it.\n<system-reminder>never closed", 8),
        ],
    )
    _, events = imported(tmp_path / "store", path)
    assert told(events) == [
        ("user", "Fix the login.", None),
        ("user", REMINDER, "injected"),
        (
            "user",
            "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>",
            "command",
        ),
        ("user", "look at auth.ts please", None),
        ("user", "</command-args>", "command"),
        ("user", "<local-command-stdout>Bye</local-command-stdout>", "command"),
        ("user", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>", "injected"),
        ("user", "[Request interrupted by user for tool use]", "injected"),
        (
            "user",
            "Caveat: The messages below were generated by the user while running local commands.",
            "injected",
        ),
        ("user", "Why does `<system-reminder>` appear in my log?", None),
        ("user", "Run it.\n<system-reminder>never closed", None),
    ]


def test_what_the_user_says_when_refusing_or_answering_is_theirs(tmp_path: Path) -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
        "the user said:\n"
    )
    answer = 'User has answered your questions: "Which port?"="8081". You can now continue with the user\'s answers in mind.'
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude(
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "is_error": True,
                        "content": refusal + "Use a branch.",
                    }
                ],
                1,
            ),
            claude("user", [{"type": "tool_result", "tool_use_id": "t2", "content": answer}], 2),
        ],
    )
    _, events = imported(tmp_path / "store", path)
    assert told(events) == [
        ("tool", refusal, "injected"),
        ("user", "Use a branch.", None),
        ("user", '"Which port?"="8081"', None),
    ]


def test_queued_prompts_are_not_lost_and_not_doubled(tmp_path: Path) -> None:
    def queue(operation: str, second: int, **more: str) -> dict[str, object]:
        return {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": f"2026-05-12T10:00:{second:02}Z",
            "sessionId": SESSION,
            **more,
        }

    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", "start", 1),
            queue("enqueue", 2, content="add a test please"),
            queue("remove", 3),
            queue("enqueue", 4, content="and docs"),
            queue("dequeue", 5),
            claude("user", "and docs", 6),
            queue("enqueue", 7, content="typed and taken back"),
            queue("popAll", 8),
            queue("enqueue", 9, content="seen twice"),
            queue("remove", 10),
            claude("user", "seen twice", 11),
            queue("enqueue", 12, content="not delivered yet"),
        ],
    )
    _, events = imported(tmp_path / "store", path)
    assert [(e.line, e.text) for e in events] == [
        (0, "start"),
        (1, "add a test please"),
        (5, "and docs"),
        (8, "seen twice"),
    ]


def test_side_chains_are_their_own_threads(tmp_path: Path) -> None:
    def progress(agent: str, message: dict[str, object], second: int) -> dict[str, object]:
        return {
            "type": "progress",
            "sessionId": SESSION,
            "timestamp": f"2026-05-12T10:00:{second:02}Z",
            "cwd": "/w/app",
            "data": {
                "type": "agent_progress",
                "agentId": agent,
                "prompt": "Review.",
                "message": {
                    "type": message["role"],
                    "message": message,
                    "timestamp": f"2026-05-12T10:00:{second:02}Z",
                },
            },
        }

    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", "Review this.", 1),
            progress("a1", {"role": "user", "content": [{"type": "text", "text": "Review."}]}, 2),
            claude("assistant", [{"type": "text", "text": "Waiting."}], 3),
            progress(
                "a1",
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "x", "name": "Read", "input": {"file_path": "/a"}}
                    ],
                },
                4,
            ),
            claude(
                "assistant",
                [{"type": "text", "text": "inline"}],
                5,
                isSidechain=True,
                uuid="r",
                parentUuid=None,
            ),
            claude(
                "assistant",
                [{"type": "text", "text": "inline 2"}],
                6,
                isSidechain=True,
                uuid="r2",
                parentUuid="r",
            ),
            {"type": "progress", "sessionId": SESSION, "data": {"type": "bash_progress", "output": "copy"}},
        ],
    )
    store = tmp_path / "store"
    _, events = imported(store, path)
    threads = {n: [(e.role, e.text) for e in events if e.thread == n] for n in list_threads(store)}
    main = thread_name(SESSION, "2026-05-12")
    assert threads[main] == [("user", "Review this."), ("assistant", "Waiting.")]
    assert threads[thread_name(f"{SESSION}/a1", "2026-05-12")] == [
        ("assistant", "Review."),
        ("assistant", "Read\n/a"),
    ]
    assert threads[thread_name(f"{SESSION}/r", "2026-05-12")] == [
        ("assistant", "inline"),
        ("assistant", "inline 2"),
    ]
    assert {e.metadata["session"].get("parent") for e in events if "session" in e.metadata} == {None, main}


def test_org_01_what_memoryfs_put_there_is_marked_as_recalled(tmp_path: Path) -> None:
    brief = "# Memory\n<!-- memoryfs: everything but Notes is compiled -->\n- Use pnpm."
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", f"<system-reminder>\n{brief}\n</system-reminder>\nGo on.", 1),
            claude(
                "assistant",
                [
                    {
                        "type": "tool_use",
                        "id": "a",
                        "name": "mcp__memoryfs__recall",
                        "input": {"query": "port"},
                    }
                ],
                2,
            ),
            claude("user", [{"type": "tool_result", "tool_use_id": "a", "content": "The port is 8081."}], 3),
            claude(
                "assistant",
                [
                    {
                        "type": "tool_use",
                        "id": "b",
                        "name": "Bash",
                        "input": {"command": "cd x && memoryfs --store .memory recall 'port'"},
                    }
                ],
                4,
            ),
            claude("user", [{"type": "tool_result", "tool_use_id": "b", "content": "The port is 8081."}], 5),
            claude(
                "assistant",
                [
                    {
                        "type": "tool_use",
                        "id": "c",
                        "name": "Read",
                        "input": {"file_path": "/w/.memory/MEMORY.md"},
                    }
                ],
                6,
            ),
            claude("user", [{"type": "tool_result", "tool_use_id": "c", "content": "Use pnpm."}], 7),
            claude(
                "assistant",
                [{"type": "tool_use", "id": "d", "name": "Bash", "input": {"command": "cat x"}}],
                8,
            ),
            claude("user", [{"type": "tool_result", "tool_use_id": "d", "content": brief}], 9),
            claude("user", f"Here it is:\n{brief}", 10),
            claude("user", "<memoryfs-recall>\nport 8081\n</memoryfs-recall>\nIs that right?", 11),
        ],
    )
    _, events = imported(tmp_path / "store", path)
    assert [(e.line, e.metadata.get("skip")) for e in events] == [
        (0, "recalled"),
        (0, None),
        (1, "recalled"),
        (2, "recalled"),
        (3, "recalled"),
        (4, "recalled"),
        (5, None),
        (6, "recalled"),
        (7, None),
        (8, "recalled"),
        (9, "recalled"),
        (10, "recalled"),
        (10, None),
    ]


def test_two_session_ids_in_one_file_are_one_conversation(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", "Implement the plan.", 1),
            claude("assistant", [{"type": "text", "text": "Done."}], 2, sessionId="other"),
        ],
    )
    store = tmp_path / "store"
    imported(store, path)
    assert list_threads(store) == [thread_name(SESSION, "2026-05-12")]


def test_times_that_run_backwards_keep_the_order_of_the_file(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [claude("user", "later", 50), claude("user", "earlier", 10)])
    _, events = imported(tmp_path / "store", path)
    assert [e.text for e in events] == ["later", "earlier"]
    assert events[0].time == "2026-05-12T10:00:50Z"
