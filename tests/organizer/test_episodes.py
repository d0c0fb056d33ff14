"""Episode pages: what was asked, done, decided and left open, in the session's own words."""

from __future__ import annotations

from typing import Any

import pytest

from memoryfs.model import Event, Memory, SourceRange, event_id
from memoryfs.topic import parse, render
from organizer.episodes import Episode, build, page_path, title_of

THREAD = "2026-05-12-3f9a21"


def events(*turns: tuple[str, str] | tuple[str, str, str] | tuple[str, str, str, dict[str, Any]]) -> list[Event]:
    made = []
    for index, turn in enumerate(turns):
        role, text, kind, meta = (*turn, "message", {})[:4] if len(turn) < 4 else turn  # type: ignore[misc]
        if len(turn) == 3:
            meta = {}
        made.append(Event(THREAD, index, event_id(THREAD, role, text), role, kind, f"2026-05-12T09:{index:02d}:00Z", text, "a.jsonl", index, meta))
    return made


def page(found: list[Event], *kept: Memory) -> Episode:
    files = [f for e in found for f in e.metadata.get("files", ())]
    made = build(THREAD, found, kept, repo="school", harness="claude-code", link=f"threads/2026/05/{THREAD}.jsonl", files=files)
    assert made is not None
    return made


def memory(text: str, kind: str, at: int, id: str = "m-000001", **more: Any) -> Memory:
    return Memory(id, text, kind, "active", "projects/school.md", 3, (SourceRange(THREAD, at, at),), **more)


def test_the_page_tells_the_session() -> None:
    found = page(
        events(
            ("user", "Please tighten the e-mail rule of the school app. It is too loose."),
            ("assistant", 'Bash\ngit commit -m "Tighten the e-mail rule"', "tool_call"),
            ("assistant", "Edit\nsrc/auth.ts", "file_edit", {"files": ["src/auth.ts"]}),
            ("assistant", "The rule is tightened now."),
        ),
        memory("Alumni addresses are refused.", "fact", 0), memory("Add a test for sub-domains.", "task", 3, "m-000002"),
    )
    assert found.path == "episodes/2026/2026-05-12-tighten-e-mail-rule-school-app-3f9a21.md"
    assert found.title == "Tighten the e-mail rule of the school app"
    for line in (
        f"- Please tighten the e-mail rule of the school app. … `{THREAD}:0`",
        f"- Committed: Tighten the e-mail rule `{THREAD}:1`",
        f"- Alumni addresses are refused. `{THREAD}:0` → [[projects/school#^m-000001]]",
        f"- Add a test for sub-domains. `{THREAD}:3` → [[projects/school#^m-000002]]",
        "- `src/auth.ts`",
    ):
        assert line in found.text.splitlines()
    assert f"[{THREAD}](../../threads/2026/05/{THREAD}.jsonl)" in found.text


def test_the_page_is_a_topic_file_without_memories_of_its_own() -> None:
    found = page(events(("user", "Tighten the rule: [[#^m-1]] and [^1:2] ^m-abc123")), memory("A rule.", "fact", 0))
    parsed = parse(found.text.encode(), found.path)
    assert parsed.memories == () and parsed.reviews == () and parsed.problems == ()
    assert render(parsed) == found.text.encode()
    assert parsed.title == found.title


def test_equal_input_gives_equal_bytes_and_the_page_is_bounded() -> None:
    long = events(*[("user", f"Question number {n} about the lockers and " + "very " * 200) for n in range(80)])
    kept = [memory(f"Locker {n} opens with key {n} " + "and more " * 40, "fact", n, f"m-{n:06x}") for n in range(60)]
    assert page(long, *kept) == page(long, *kept)
    assert len(page(long, *kept).text.encode()) < 16_384


def test_a_session_in_which_nobody_asked_has_no_page() -> None:
    assert build(THREAD, events(("assistant", "Hello")), ()) is None
    assert build(THREAD, [], ()) is None
    assert build(THREAD, events(("user", "Good morning, are you there?"), ("assistant", "I am here.")), ()) is None
    assert build(THREAD, events(("user", "<system-reminder>x</system-reminder>", "message", {"skip": "injected"})), ()) is None


@pytest.mark.parametrize(("text", "title"), [
    ("can you please look at the cookie handling?", "Look at the cookie handling?"),
    ("Implement the following plan:\n\n# Plan: Update the warning message\n\n## Goal", "Update the warning message"),
    ("`validate_email` fails for sub-domains.", "validate_email fails for sub-domains"),
    ("メールの規則を厳しくしてください。古い住所は不要です。", "メールの規則を厳しくしてください。"),
    ("이메일 규칙을 엄격하게 해 주세요", "이메일 규칙을 엄격하게 해 주세요"),
])
def test_titles(text: str, title: str) -> None:
    assert title_of(events(("user", text))) == title


def test_a_commit_names_a_session_that_begins_with_little() -> None:
    found = events(("user", "commit this"), ("assistant", 'Bash\ngit commit -m "Fix the hanging test"', "tool_call"))
    assert title_of(found) == "Fix the hanging test"


def test_a_transcripts_own_title_comes_first() -> None:
    found = events(("user", "hello", "message", {"session": {"title": "Cookie rule"}}))
    assert title_of(found) == "Cookie rule"


def test_page_paths_are_safe_and_dated() -> None:
    assert page_path(THREAD, "../../etc/passwd CON", "2026-05-12") == "episodes/2026/2026-05-12-etc-passwd-con-3f9a21.md"
    assert page_path("undated-3f9a21", "", None) == "episodes/undated/undated-session-3f9a21.md"
    assert page_path("2026-05-12-3f9a21~2", "x", "2026-05-12").endswith("-3f9a21-2.md")
