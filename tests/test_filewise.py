"""What is known of a file: which memories concern it, how old they are, whether the file changed since."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryfs import MemoryStore, gitfacts, scoped
from memoryfs.errors import UsageError
from memoryfs.filewise import Wanted
from memoryfs.mcp_server.tools import Stores, call

TOPIC = """---
title: Auth
metadata: {files: [src/login.ts, "lib/"]}
---
# Auth

## Facts
- The cookie lives 7 days. [^a] ^m-000001
- The crash on empty input came from a missing anchor in `src/auth.ts`. [^a] ^m-000002
- Tokens are checked in api/auth.ts. [^a] ^m-000003
- The domain list is sorted. [^b] ^m-000007

## Instructions
- Never log the password in auth.ts. [^a] ^m-000004

## Tasks
- [ ] Test sub-domains in src/auth.ts. [^a] ^m-000005
- [x] Rename src/auth.ts. [^a] ^m-000006

[^a]: 2026-05-12; stated by a person
[^b]: 2026-05-12; stated by a person; hints: auth.ts
"""
NOW = datetime(2026, 5, 22, 12, tzinfo=UTC)


def clock() -> datetime:
    return NOW


@pytest.fixture
def project(tmp_path) -> Path:
    root = tmp_path / "app" / ".memory"
    (root / "projects").mkdir(parents=True)
    (root / "projects" / "auth.md").write_text(TOPIC, encoding="utf-8")
    MemoryStore.init(root)
    for name in ("src/auth.ts", "src/login.ts", "lib/x.ts"):
        path = tmp_path / "app" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
        touch(path, "2026-05-01T10:00:00+00:00")
    return tmp_path / "app"


def touch(path: Path, moment: str) -> None:
    seconds = datetime.fromisoformat(moment).timestamp()
    os.utime(path, (seconds, seconds))


def ask(project: Path, file: str, query: str = "", **options) -> dict:
    store = MemoryStore.open(project / ".memory", clock=clock)
    return store.recall(query, file=file, cwd=project, vectors=False, **options).to_dict()


def ids(found: dict) -> list[str]:
    return [m["id"] for m in found["memories"]]


@pytest.mark.parametrize(("mention", "meant"), [
    ("src/auth.ts", True), ("auth.ts", True), ("./src/auth.ts", True), ("SRC/Auth.ts", True), ("api/auth.ts", False),
    ("/w/app/src/auth.ts", True), ("/other/app/src/auth.ts", True), ("/w/app/auth.ts", False), ("app/src/auth.ts", True),
    ("C:\\w\\app\\src\\auth.ts", True), ("oauth.ts", False), ("", False),
])
def test_a_path_names_the_file_by_its_tail(mention, meant):
    assert Wanted(Path("/w/app/src/auth.ts"), Path("/w/app")).named_by(mention) is meant


@pytest.mark.parametrize(("text", "how"), [
    ("see `src/auth.ts`.", "path"), ("see auth.ts:12", "name"), ("(auth.ts)", "name"), ("auth.tsx", ""), ("auth.ts.bak", ""),
    ("oauth.ts", ""), ("api/auth.ts", ""), ("api/auth.ts and src/auth.ts", "path"), ("src/auth.ts を直す", "path"),
])
def test_what_counts_as_naming_it(text, how):
    assert Wanted(Path("/w/app/src/auth.ts"), Path("/w/app")).mentions(text) == how


def test_instructions_then_tasks_then_bugs_and_nothing_of_a_file_of_the_same_name(project):
    found = ask(project, "src/auth.ts")
    assert ids(found) == ["m-000004", "m-000005", "m-000002", "m-000007"]
    assert [m["file"]["concern"] for m in found["memories"]] == ["instruction", "task", "bug", "fact"]
    assert {m["file"]["age_days"] for m in found["memories"]} == {10}
    assert found["file"] == {"path": "src/auth.ts", "exists": True} and not found["abstained"]


@pytest.mark.parametrize("file", ["src/login.ts", "lib/x.ts"])
def test_a_topic_that_lists_the_file_is_about_it(project, file):
    assert set(ids(ask(project, file))) == {f"m-00000{n}" for n in (1, 2, 3, 4, 5, 7)}


def test_a_question_narrows_it(project):
    assert ids(ask(project, "src/auth.ts", "which sub-domains need a test?"))[0] == "m-000005"
    assert "m-000001" not in ids(ask(project, "src/auth.ts", "how long does the cookie live"))


def test_nothing_known_is_said(project):
    found = ask(project, "src/none.ts")
    assert found["abstained"] and not found["memories"] and "src/none.ts" in found["notices"][0]
    with pytest.raises(UsageError):
        ask(project, " ")


def test_the_files_time_is_enough_where_it_is_older_than_the_memory(project, monkeypatch):
    monkeypatch.setattr(gitfacts, "git", lambda *a: pytest.fail("git was started"))
    (project / ".git").mkdir()
    assert {m["file"]["changed_since"] for m in ask(project, "src/auth.ts")["memories"]} == {False}


def test_changed_since_by_the_files_time_without_git(project):
    touch(project / "src" / "auth.ts", "2026-05-20T10:00:00+00:00")
    told = ask(project, "src/auth.ts")["memories"][0]["file"]
    assert told["changed_since"] is True and told["by"] == "mtime" and told["changed_at"].startswith("2026-05-20")
    touch(project / "src" / "auth.ts", "2026-05-12T12:00:00+00:00")
    assert ask(project, "src/auth.ts")["memories"][0]["file"]["changed_since"] is None  # the same day: not known
    (project / "src" / "auth.ts").unlink()
    found = ask(project, "src/auth.ts")
    assert found["file"]["exists"] is False and found["memories"][0]["file"]["changed_since"] is None


def commit(project: Path, day: str) -> None:
    env = {**os.environ, "GIT_COMMITTER_DATE": f"{day}T10:00:00+0000", "GIT_AUTHOR_DATE": f"{day}T10:00:00+0000"}
    for words in (["init", "-q"], ["add", "src"], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words], cwd=project, env=env,
                       check=True, capture_output=True, timeout=30)


def test_a_checkout_changes_the_files_time_but_not_the_file(project):
    commit(project, "2026-05-02")
    touch(project / "src" / "auth.ts", "2026-05-21T10:00:00+00:00")
    told = ask(project, "src/auth.ts")["memories"][0]["file"]
    assert told["changed_since"] is False and told["by"] == "git" and told["changed_at"].startswith("2026-05-02")
    (project / "src" / "auth.ts").write_text("changed and not committed")
    touch(project / "src" / "auth.ts", "2026-05-21T11:00:00+00:00")
    told = ask(project, "src/auth.ts")["memories"][0]["file"]
    assert told["changed_since"] is True and told["by"] == "mtime"


@pytest.fixture
def edited(project) -> Path:
    """A session that edited the file; its memory does not name it."""
    talk = project.parent / "talk.jsonl"
    rows = [
        {"type": "user", "sessionId": "s1", "uuid": "1", "timestamp": "2026-05-12T10:00:00Z", "cwd": str(project),
         "message": {"role": "user", "content": "Make the retry limit five."}},
        {"type": "assistant", "sessionId": "s1", "uuid": "2", "timestamp": "2026-05-12T10:01:00Z", "cwd": str(project),
         "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Edit", "input": {
             "file_path": str(project / "src" / "retry.ts"), "old_string": "3", "new_string": "5"}}]}},
    ]
    talk.write_text("".join(json.dumps(r) + "\n" for r in rows))
    store = MemoryStore.open(project / ".memory", clock=clock)
    thread = store.import_transcripts([talk]).outcomes[0].thread
    store.remember("The retry limit is five.", topic="projects/retry", source=f"{thread}:0-1")
    (project / "src" / "retry.ts").write_text("5")
    touch(project / "src" / "retry.ts", "2026-05-12T11:00:00+00:00")
    return project


def test_a_source_that_edits_the_file_makes_its_memory_concern_it(edited):
    found = ask(edited, "src/retry.ts", level=2)
    assert [m["file"]["how"] for m in found["memories"]] == ["source"]
    assert "src/retry.ts" in found["evidence"][0]["text"] and found["evidence"][0]["role"] == "assistant"
    assert found["memories"][0]["file"]["changed_since"] is True  # the event's time decides on the same day


def test_on_the_day_it_was_remembered_the_ledgers_time_decides(project):
    MemoryStore.open(project / ".memory", clock=clock).remember("Never cache in src/new.ts.", kind="instruction", topic="n")
    for moment, changed in (("2026-05-22T11:59:00+00:00", False), ("2026-05-22T12:01:00+00:00", True)):
        (project / "src" / "new.ts").write_text("x")
        touch(project / "src" / "new.ts", moment)
        assert ask(project, "src/new.ts")["memories"][0]["file"]["changed_since"] is changed


def test_a_wrong_project_sees_nothing(edited, tmp_path):
    other = tmp_path / "other" / ".memory"
    (other.parent / "src").mkdir(parents=True)
    (other.parent / "src" / "auth.ts").write_text("x")
    MemoryStore.init(other)
    assert not scoped.recall([(MemoryStore.open(other, clock=clock), 0)], "", file="src/auth.ts", cwd=other.parent).memories


def test_the_recall_tool_takes_a_file_without_a_query(project):
    stores = Stores(project, project / ".memory")
    found = json.loads(call(stores, "recall", {"file": "src/auth.ts"}))
    assert ids(found)[0] == "m-000004" and found["memories"][0]["file"]["changed_since"] is False
    with pytest.raises(UsageError, match="`query` is missing"):
        call(stores, "recall", {})
