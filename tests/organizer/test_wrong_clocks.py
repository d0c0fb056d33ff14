"""Commits dated by a machine whose clock was wrong hide nothing that other commits tell, and end no run."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from organizer_kit import NOW
from repo_kit import CHECK, FILE, LATER, SYMBOL, commit, git, stale

from memoryfs import MemoryStore
from organizer import vanished

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def dated(repo, seconds: int, files) -> None:
    """A commit with a date that `datetime` may not hold."""
    commit(repo, files)
    text = git(repo, "cat-file", "commit", "HEAD").replace("\n", "\0")
    text = re.sub(r"> \d+ \+0000", f"> {seconds} +0000", text).replace("\0", "\n") + "\n"
    made = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=repo, input=text, capture_output=True, text=True, check=True)
    git(repo, "update-ref", "HEAD", made.stdout.strip())


def read(repo, since: datetime, values=("validateEmail",)) -> vanished.Log:
    return vanished.read_log(repo, git(repo, "rev-parse", "HEAD"), since.timestamp(), NOW.timestamp(), values)


@pytest.mark.parametrize("behind", [1, 3])
def test_the_newest_commits_dated_1970_hide_nothing(store, repo, say, organize, behind):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    for number in range(behind):
        commit(repo, {"docs/a.md": f"{number}\n"}, at=EPOCH)
    organize()
    assert stale(store) == {SYMBOL: "source changed 2026-05-20: validateEmail gone"}


def test_marks_stand_when_the_newest_commit_is_dated_1970(store, repo, say, organize):
    say("FACT: " + SYMBOL, "FACT: " + FILE)
    commit(repo, {"src/auth.ts": None}, at=LATER)
    organize()
    marks = stale(store)
    assert len(marks) == 2
    git(repo, "commit", "-q", "--amend", "-m", "again", at=EPOCH)
    organize()
    assert stale(store) == marks
    commit(repo, {"src/auth.ts": CHECK}, at=LATER + timedelta(days=2))
    organize()
    assert not stale(store)


def test_what_a_wrongly_dated_commit_took_out_left_after_its_parent(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"docs/a.md": "x\n"}, at=LATER)
    commit(repo, {"src/auth.ts": "x\n"}, at=EPOCH)
    organize()
    assert stale(store) == {SYMBOL: "source changed 2026-05-20: validateEmail gone"}


@pytest.mark.parametrize("seconds", [253_402_300_900, 2**63 - 1, 4_102_444_800], ids=["year 10000", "the end", "year 2100"])
def test_commits_from_the_future_end_no_run_and_hide_no_confirmation(store, repo, say, organize, seconds):
    say("FACT: " + SYMBOL)
    commit(repo, {"docs/a.md": "x\n"}, at=LATER)
    dated(repo, seconds, {"src/auth.ts": "x\n"})
    assert not organize().problems
    assert stale(store) == {SYMBOL: "source changed 2026-05-20: validateEmail gone"}
    opened = MemoryStore.open(store, clock=lambda: NOW)
    opened.judge(opened.list()[0].id, "useful")
    organize(now=NOW + timedelta(hours=1))
    assert not stale(store)
    MemoryStore.open(store).recall("", file=str(repo / "src/auth.ts"))


def test_only_the_commits_asked_for_are_read(repo):
    commit(repo, {"src/auth.ts": "x\n"}, at=datetime(2026, 4, 20, tzinfo=UTC))
    commit(repo, {"src/mail.ts": "x\n"}, at=LATER)
    log = read(repo, datetime(2026, 5, 1, tzinfo=UTC), ("validateEmail", "send"))
    assert set(log.values) == {"send"} and log.whole
    log = read(repo, datetime(2026, 5, 21, tzinfo=UTC), ("validateEmail", "send"))
    assert not log.values and log.whole
    log = read(repo, datetime(2026, 3, 1, tzinfo=UTC), ("validateEmail", "send"))
    assert set(log.values) == {"send", "validateEmail"} and log.whole


def test_what_git_does_not_tell_is_not_whole(repo):
    assert not vanished.read_log(repo, "0" * 40, 0.0, NOW.timestamp(), ["x"]).whole
    assert not vanished.read_log(repo, git(repo, "rev-parse", "HEAD"), 0.0, NOW.timestamp(), ["x"], seconds=0.0).whole


def test_far_behind_early_commits_nothing_is_looked_for(repo, monkeypatch):
    monkeypatch.setattr(vanished, "MOST_EARLY", 3)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    for number in range(2):
        commit(repo, {"docs/a.md": f"{number}\n"}, at=EPOCH)
    assert read(repo, datetime(2026, 5, 1, tzinfo=UTC)).values
    commit(repo, {"docs/a.md": "3\n"}, at=EPOCH)
    assert not read(repo, datetime(2026, 5, 1, tzinfo=UTC)).values


@pytest.mark.parametrize(("dates", "times"), [
    ([50, 40, 10], [50, 40, 10]), ([0, 40, 10], [40, 40, 10]), ([50, 0, 10], [50, 10, 10]), ([10**9, 40, 10], [40, 40, 10]), ([], []),
    ([39.9, 40, 10], [39.9, 40, 10]), ([5, 10, 10**9], [10, 10, 0]),
])
def test_when_commits_were_made(dates, times):
    day = vanished.CLOCKS
    assert vanished._times([(b"", d * day) for d in dates], 30 * day, 60 * day) == [t * day for t in times]
