"""A git that gives no answer costs a run one wait a repository, and decides nothing."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from organizer_kit import transcript
from repo_kit import FILE, LATER, SYMBOL, commit, git, stale

from memoryfs import MemoryStore, gitfacts


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """Makes git hang at the commands whose words match a shell pattern, and tells what was asked."""
    calls = tmp_path / "calls"
    real = shutil.which("git")
    monkeypatch.setattr(gitfacts, "SECONDS", 1.0)
    monkeypatch.setattr(gitfacts, "_silent", {})

    def go(pattern: str) -> Path:
        fake = tmp_path / "bin" / "git"
        fake.parent.mkdir()
        fake.write_text(f'#!/bin/sh\necho "$*" >> {calls}\ncase "$*" in {pattern}) sleep 20; exit 0;; esac\nexec {real} "$@"\n')
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
        calls.write_text("")
        return calls

    return go


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def told(tmp_path: Path, name: str, said: str, cwd: Path, branch: str) -> Path:
    path = transcript(tmp_path / f"{name}.jsonl", name, "2026-05-01", [("user", said), ("assistant", "ok")], cwd=str(cwd))
    path.write_text(path.read_text().replace('"gitBranch": "main"', f'"gitBranch": "{branch}"'))
    return path


def test_git_is_asked_once_in_a_repository_in_which_it_hangs(tmp_path, store, repo, say, organize, silent):
    git(repo, "worktree", "add", "-q", "-b", "wt", str(tmp_path / "wt"))
    sessions = [told(tmp_path, f"s{n}", f"FACT: Step {n} is in src/auth.ts.", cwd, f"feature/{n}")
                for n, cwd in enumerate((repo, repo / "src", tmp_path / "wt"))]
    calls = silent("*")
    begun = time.monotonic()
    report = organize(*sessions)
    assert len(lines(calls)) == 1 and time.monotonic() - begun < 10
    assert len(MemoryStore.open(store).list()) == 3 and not report.problems and not stale(store)


def test_other_repositories_are_asked(tmp_path, repo, silent):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    commit(other, {"a": "1\n"})
    calls = silent("*refs/remotes/origin/HEAD*")
    assert gitfacts.main_line(repo) == gitfacts.main_line(repo / "src") == "" and gitfacts.default_branch(repo) is None
    assert gitfacts.git(other, "rev-parse", "--show-toplevel")[0] == 0
    assert gitfacts.main_line(other) == "" and len(lines(calls)) == 3


def test_after_a_while_it_is_asked_again(repo, silent, monkeypatch):
    calls = silent("*")
    gitfacts.main_line(repo)
    monkeypatch.setattr(gitfacts, "RESPITE", 0.0)
    gitfacts.main_line(repo)
    assert len(lines(calls)) == 2


@pytest.mark.parametrize("pattern", ["*rev-list*", "*for-each-ref*"])
def test_marks_stand_while_git_is_silent(store, repo, say, organize, silent, monkeypatch, pattern):
    monkeypatch.setattr("organizer.vanished.SECONDS", 1.0)
    say("FACT: " + SYMBOL, "FACT: " + FILE)
    commit(repo, {"src/auth.ts": None}, at=LATER)
    organize()
    before = stale(store)
    assert len(before) == 2
    commit(repo, {"docs/a.md": "x\n"}, at=LATER)
    calls = silent(pattern)
    begun = time.monotonic()
    assert not organize().problems and stale(store) == before
    assert "rev-list" not in pattern or lines(calls)[-1].count("rev-list") == 1, "nothing was asked after it"
    assert time.monotonic() - begun < 10


def test_a_branch_that_git_does_not_find_in_time_is_not_gone(tmp_path, store, repo, organize, silent):
    git(repo, "checkout", "-qb", "feature/x")
    commit(repo, {"a": "1\n"})
    organize(told(tmp_path, "s1", "FACT: The port is 8443.", repo, "feature/x"))
    branch = [m.metadata.get("branch") for m in MemoryStore.open(store).list()]
    assert branch == ["feature/x"]
    silent("*rev-parse*feature/x*")
    assert gitfacts.is_merged(repo, "feature/x") is None
    organize()
    assert [m.metadata.get("branch") for m in MemoryStore.open(store).list()] == branch
    assert gitfacts.is_merged(repo, "a\0b") is None


def test_what_git_started_ends_with_it(tmp_path, repo, silent):
    silent("*")
    begun = time.monotonic()
    assert list(gitfacts.Lines(repo, "log", seconds=1.0)) == []
    assert time.monotonic() - begun < 5
    assert gitfacts.git(repo, "log") == (-1, "")
