"""What is learned on a git branch: marked until the branch is merged, ranked lower, and never lost."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest
from organizer_kit import NOW, transcript

from memoryfs import MemoryStore, edits, gitfacts
from memoryfs.config import Config
from memoryfs.notation import Note, read_note, write_note


def git(cwd: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", *words],
                   cwd=cwd, check=True, capture_output=True, timeout=30)


def commit(repo: Path, name: str) -> None:
    (repo / name).write_text(name)
    git(repo, "add", name)
    git(repo, "commit", "-qm", name)


@pytest.fixture
def repo(tmp_path) -> Path:
    """A repository on the branch feature/x, one commit ahead of main."""
    repo = tmp_path / "school"
    repo.mkdir()
    git(repo, "init", "-q")
    commit(repo, "a")
    git(repo, "checkout", "-qb", "feature/x")
    commit(repo, "b")
    return repo


def session(tmp_path: Path, repo: Path, name: str, said: str, branch: str, day: str = "2026-05-01") -> Path:
    path = transcript(tmp_path / f"{name}.jsonl", name, day, [("user", said), ("assistant", "ok")], cwd=str(repo))
    path.write_text(path.read_text().replace('"gitBranch": "main"', f'"gitBranch": "{branch}"'))
    return path


def branch_of(store: Path, words: str) -> str:
    (found,) = [m for m in MemoryStore.open(store).list() if words in m.summary]
    return str(found.metadata.get("branch", ""))


def told(store: Path) -> dict:
    found = MemoryStore.open(store).recall("which port", level=0, vectors=False).to_dict()["memories"]
    return next(m for m in found if m["summary"] == "The port is 8443.")


def test_marked_until_it_is_merged(tmp_path, store, repo, organize):
    report = organize(session(tmp_path, repo, "s1", "FACT: The port is 8443.", "feature/x"),
                      session(tmp_path, repo, "s2", "FACT: The cookie lives 7 days.", "main"))
    assert branch_of(store, "8443") == "feature/x" and branch_of(store, "cookie") == ""
    assert any("; on branch feature/x; " in p.read_text() for p in store.rglob("*.md"))
    assert any("not merged" in notice for notice in report.notices)
    found = told(store)
    assert found["branch"] == "feature/x" and found["why"]["branch"] < 0
    assert not organize().notices and branch_of(store, "8443") == "feature/x"
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "m", "feature/x")
    assert any("count fully now" in notice for notice in organize().notices)
    assert branch_of(store, "8443") == "" and not any("; on branch" in p.read_text() for p in store.rglob("*.md"))
    assert "branch" not in told(store) and "branch" not in told(store)["why"]


def test_a_mark_is_no_hand_edit_and_moves_with_its_memory(tmp_path, store, repo, organize):
    organize(session(tmp_path, repo, "s1", "FACT: The port is 8443.", "feature/x"))
    assert not edits.adopt(store, Config(), now=NOW).changes
    opened = MemoryStore.open(store)
    opened.move(opened.list()[0].id, "notes/port")
    assert branch_of(store, "8443") == "feature/x"


def test_said_again_on_the_main_line_it_counts_fully(tmp_path, store, repo, organize):
    organize(session(tmp_path, repo, "s1", "FACT: The port is 8443.", "feature/x"))
    organize(session(tmp_path, repo, "s2", "FACT: The port is 8443.", "main", "2026-05-02"))
    assert branch_of(store, "8443") == ""


def test_where_nothing_is_known_of_the_branch_nothing_is_marked(tmp_path, store, organize):
    organize(session(tmp_path, tmp_path / "gone", "s1", "FACT: The port is 8443.", "feature/x"))
    assert branch_of(store, "8443") == ""


@pytest.mark.parametrize("cwd", ["/" + "a" * 5000, "/a" * 3000], ids=["long name", "long path"])
def test_a_folder_that_cannot_be_costs_only_its_own_session(tmp_path, store, repo, organize, cwd):
    report = organize(session(tmp_path, Path(cwd), "s1", "FACT: The cookie lives 7 days in src/login.ts.", "feature/x"),
                      session(tmp_path, repo, "s2", "FACT: The port is 8443.", "feature/x"))
    assert [s.status for s in report.sessions] == ["done", "done"] and not report.problems
    assert branch_of(store, "8443") == "feature/x" and branch_of(store, "cookie") == ""
    assert (store / "MEMORY.md").exists() and not organize().problems


@pytest.mark.parametrize("odd", ["\0", "\x1b[2J", "\x07", "\x85", "\u2028", "\n---\n", "\ud800", "\x7f"], ids=ascii)
def test_control_characters_in_folder_and_branch_reach_no_file(tmp_path, store, organize, odd):
    turns = [("user", "FACT: The port is 8443."), ("assistant", "ok"), ("user", "RULE: Never use tabs."), ("assistant", "ok"), ("user", "And the ports?")]
    path = transcript(tmp_path / "s1.jsonl", "s1", "2026-05-01", turns)
    records = [json.loads(line) | {"cwd": f"/src/sch{odd}ool", "gitBranch": f"fix/{odd}x"} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert not organize(path).problems and not organize(path).problems
    files = [p for p in store.rglob("*") if p.is_file() and p.suffix in (".md", ".jsonl")]
    assert any("episodes" in p.parts for p in files) and (store / "threads").exists()
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl") and c != "\n"], file
        assert not re.search(r"\\u(?:00[01789]|2028|d8)|\\x", text), file


def test_a_name_too_long_for_a_folder_names_no_project(tmp_path, store, organize):
    organize(session(tmp_path, Path("/src/" + "a" * 5000), "s1", "FACT: The port is 8443.", "main"))
    assert not any("aaaa" in path.read_text() for path in store.rglob("*.md"))


def test_what_git_says_of_a_branch(repo):
    merged = gitfacts.is_merged
    assert merged(repo, "feature/x") is False and merged(repo, "main") is True and merged(repo, "HEAD") is None
    assert merged(repo, "squashed-and-deleted") is True
    git(repo, "checkout", "-qb", "new", "main")
    assert merged(repo, "new") is False  # made, and nothing done on it yet
    commit(repo, "c")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--ff-only", "new")
    assert merged(repo, "new") is True
    assert merged(repo.parent, "new") is None
    assert merged(Path("/a\0b"), "new") is None and merged(Path("/" + "a" * 5000), "new") is None


@pytest.mark.parametrize("name", ["x", "feature/a-b_c", "fix;drop", 'a"b', "a,b", "`x`", "日本"])
def test_any_branch_name_reads_back(name):
    note = Note("2026-05-01", None, ("hint",), "quote", "said by the user", (), name)
    assert read_note(write_note(note)) == note
