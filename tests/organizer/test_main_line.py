"""What counts as the main line of a repository: its default branch, here or at origin, never what happens to be checked out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from organizer_kit import transcript
from repo_kit import CHECK, FILE, LATER, commit, git, stale

from memoryfs import MemoryStore, gitfacts


def head(repo: Path) -> str:
    return git(repo, "rev-parse", "HEAD")


def fetched(tmp_path: Path, repo: Path) -> Path:
    """A working copy that has fetched `repo` and so has no origin/HEAD."""
    copy = tmp_path / "copy"
    copy.mkdir()
    git(copy, "init", "-q")
    git(copy, "remote", "add", "origin", str(repo))
    git(copy, "fetch", "-q", "origin")
    git(copy, "update-ref", "--no-deref", "-d", "refs/remotes/origin/HEAD")  # newer versions of git make it
    return copy


@pytest.mark.parametrize("name", gitfacts.DEFAULTS)
def test_without_origin_it_is_the_default_branch_and_not_what_is_checked_out(repo, name):
    git(repo, "branch", "-m", name)
    main = head(repo)
    git(repo, "checkout", "-qb", "feature/x")
    commit(repo, {"src/auth.ts": None}, at=LATER)
    assert gitfacts.main_line(repo) == main != head(repo)
    git(repo, "checkout", "-q", "--detach")
    assert gitfacts.main_line(repo) == main


def test_without_origin_head_what_was_fetched_counts_where_it_is_newer(tmp_path, repo):
    copy = fetched(tmp_path, repo)
    git(copy, "checkout", "-q", "-b", "main", "origin/main")
    commit(repo, {"src/auth.ts": None}, at=LATER)
    git(copy, "fetch", "-q", "origin")
    assert gitfacts.main_line(copy) == head(repo) != head(copy)


def test_a_default_branch_that_is_only_at_origin_is_one(tmp_path, repo):
    copy = fetched(tmp_path, repo)
    git(copy, "checkout", "-q", "-b", "feature/x", "origin/main")
    commit(copy, {"src/auth.ts": None}, at=LATER)
    assert gitfacts.main_line(copy) == head(repo) != head(copy)
    assert gitfacts.default_branch(copy) == "main" and gitfacts.is_merged(copy, "feature/x") is False


def test_without_a_usual_name_it_is_what_is_checked_out(repo):
    git(repo, "branch", "-m", "mine")
    assert gitfacts.main_line(repo) == head(repo)


def test_a_file_deleted_on_an_unmerged_branch_marks_nothing(store, repo, say, organize):
    say("FACT: " + FILE)
    git(repo, "checkout", "-qb", "feature/x")
    commit(repo, {"src/auth.ts": None}, at=LATER)
    organize()
    assert not stale(store)


def test_the_marks_stand_whatever_is_checked_out(store, repo, say, organize):
    say("FACT: " + FILE)
    git(repo, "branch", "old")
    commit(repo, {"src/auth.ts": None}, at=LATER)
    organize()
    assert stale(store)
    git(repo, "checkout", "-q", "old")
    commit(repo, {"src/auth.ts": CHECK + "//\n"}, at=datetime(2026, 5, 25, tzinfo=UTC))
    assert not organize().stale and stale(store)


def test_learned_on_a_branch_of_a_copy_without_a_main_branch_it_is_marked(tmp_path, store, repo, organize):
    copy = fetched(tmp_path, repo)
    git(copy, "checkout", "-q", "-b", "feature/x", "origin/main")
    commit(copy, {"a": "1\n"}, at=LATER)
    path = transcript(tmp_path / "s1.jsonl", "s1", "2026-05-01", [("user", "FACT: The cookie lives 7 days."), ("assistant", "ok")], cwd=str(copy))
    path.write_text(path.read_text().replace('"gitBranch": "main"', '"gitBranch": "feature/x"'))
    organize(path)
    (found,) = MemoryStore.open(store).list()
    assert found.metadata.get("branch") == "feature/x"


def test_a_branch_that_was_moved_without_a_message_was_touched(repo):
    git(repo, "checkout", "-qb", "new")
    first = head(repo)
    commit(repo, {"b": "1\n"})
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--ff-only", "new")
    git(repo, "branch", "other", first)
    git(repo, "update-ref", "refs/heads/other", head(repo))  # its line in the reflog is empty
    assert gitfacts.is_merged(repo, "other") is True


def test_output_keeps_its_blanks_and_loses_its_line_end(repo):
    commit(repo, {"docs/b.md": "x\n"})
    assert gitfacts.git(repo, "log", "-1", "--format= %s ") == (0, " work ")
