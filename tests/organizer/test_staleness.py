"""Memories held against the repository they are about, and passing facts that come back: real git repositories, no model."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, contents, snapshot, transcript

from memoryfs import MemoryStore, ledger, staleness
from memoryfs.config import Config, Recheck

SAID = "2026-05-01"
LATER = datetime(2026, 5, 20, 12, tzinfo=UTC)


def git(cwd: Path, *words: str, at: datetime | None = None) -> str:
    stamp = (at or datetime(2026, 4, 1, tzinfo=UTC)).isoformat()
    environ = os.environ | {"GIT_COMMITTER_DATE": stamp, "GIT_AUTHOR_DATE": stamp}
    done = subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", *words],
        cwd=cwd, env=environ, check=True, capture_output=True, timeout=30, text=True)
    return done.stdout.strip()


def commit(repo: Path, files: dict[str, str | None], at: datetime | None = None) -> None:
    """One commit that writes these files, or, with None, takes them out."""
    for name, text in files.items():
        path = repo / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "work", "--allow-empty", at=at)


CHECK = "export function validateEmail(text) {\n  return ALLOWED.test(text)\n}\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "school"
    repo.mkdir()
    git(repo, "init", "-q")
    commit(repo, {"src/auth.ts": CHECK, "src/mail.ts": "send()\n" * 30, "package.json": '{"react": "^18.2.0"}\n', "docs/a.md": "Port 8443.\n",
                  ".env.example": "SMTP_HOST=mail1.example.org\n"})
    return repo


@pytest.fixture
def say(tmp_path: Path, repo: Path, organize: Callable[..., Any]) -> Callable[..., Any]:
    """Organizes a session in the repository in which these lines were said."""
    def go(*lines: str, day: str = SAID, name: str = "s1", cwd: Path | None = None, **options: Any) -> Any:
        path = transcript(tmp_path / f"{name}.jsonl", name, day, [("user", "\n".join(lines)), ("assistant", "ok")], cwd=str(cwd or repo))
        return organize(path, **options)

    return go


def stale(store: Path, today: datetime = NOW) -> dict[str, str]:
    """The stale memories by their words, with the reason."""
    return {m.summary: why for m in MemoryStore.open(store).list() if (why := staleness.why(m, today.date()))}


FILE = "The e-mail check stands in src/auth.ts."
SYMBOL = "Addresses pass through validateEmail before they are saved."


@pytest.mark.parametrize(("said", "files", "why"), [
    (FILE, {"src/auth.ts": None}, "source changed 2026-05-20: src/auth.ts gone"),
    ("The check is in auth.ts.", {"src/auth.ts": None}, "source changed 2026-05-20: auth.ts gone"),
    ("Everything of the login is under src/login/.", {"src/login/a.ts": None, "src/login/b.ts": None}, "source changed 2026-05-20: src/login gone"),
    (FILE, {"src/auth.ts": None, "src/login.ts": CHECK}, "source changed 2026-05-20: src/auth.ts now src/login.ts"),
    (SYMBOL, {"src/auth.ts": CHECK.replace("validateEmail", "checkAddress")}, "source changed 2026-05-20: validateEmail gone"),
    (SYMBOL, {"src/auth.ts": CHECK.replace("validateEmail", "validateEmailStrict")}, "source changed 2026-05-20: validateEmail gone"),
    ("The app is built with React 18.2.0.", {"package.json": '{"react": "^19.0.0"}\n'}, "source changed 2026-05-20: 18.2.0 gone"),
    ("The server listens on port 8443.", {"docs/a.md": "Port 9443.\n"}, "source changed 2026-05-20: 8443 gone"),
    ("Mail goes out with SMTP_HOST=mail1.example.org.", {".env.example": "SMTP_HOST=mail2.example.org\n"},
     "source changed 2026-05-20: SMTP_HOST=mail1.example.org gone"),
    ("メールの検査は `validateEmail` が行う。", {"src/auth.ts": "x\n"}, "source changed 2026-05-20: validateEmail gone"),
    ("이메일 검사는 `validateEmail` 함수가 한다.", {"src/auth.ts": "x\n"}, "source changed 2026-05-20: validateEmail gone"),
    ("邮箱由 `validateEmail` 检查。", {"src/auth.ts": "x\n"}, "source changed 2026-05-20: validateEmail gone"),
])
def test_what_left_the_repository_is_marked(store, repo, say, organize, said, files, why):
    commit(repo, {name: "1\n" for name, text in files.items() if text is None and not (repo / name).exists()})
    say("FACT: " + said)
    assert not stale(store)
    commit(repo, files, at=LATER)
    report = organize()
    assert stale(store) == {said: why}
    assert any("since it was confirmed: 1 memory" in notice for notice in report.notices) and report.to_dict()["stale"]["counts"] == {"source changed": 1}
    assert next(m for m in MemoryStore.open(store).list() if m.summary == said).status == "active", "nothing is taken away"
    before = snapshot(store)
    organize()
    organize(now=NOW + timedelta(hours=5))
    assert snapshot(store) == before


@pytest.mark.parametrize(("said", "files"), [
    (FILE, {"src/auth.ts": CHECK + "// more\n"}),  # only edited
    (SYMBOL, {"src/auth.ts": "x\n", "src/mail.ts": CHECK}),  # moved to another file
    (SYMBOL, {"src/auth.ts": "\n\n" + CHECK.replace("text", "value")}),  # rewritten around it
    ("The check is in auth.ts.", {"src/auth.ts": None, "lib/auth.ts": CHECK}),  # as it is named, it is still there
    ("The tests use Vitest and fakeClock().", {"src/auth.ts": None}),  # was never there
    ("The cookie lives 7 days.", {"src/auth.ts": None}),  # names nothing
    ("validateEmail was renamed to sendMail.", {"src/auth.ts": CHECK.replace("validateEmail", "sendMail")}),  # it says so
    ("`validateEmail` は `sendMail` に改名する。", {"src/auth.ts": CHECK.replace("validateEmail", "sendMail")}),
    ("`validateEmail` 함수는 제거했다.", {"src/auth.ts": "x\n"}),
    ("See https://example.com/a and issue #42.", {"src/auth.ts": None}),
])
def test_other_changes_are_none(store, repo, say, organize, said, files):
    say("FACT: " + said)
    commit(repo, files, at=datetime(2026, 5, 3, tzinfo=UTC))
    organize()
    assert not stale(store)


def test_an_event_is_not_marked_and_an_instruction_is(store, repo, say, organize):
    say("EVENT: Wrote the check in src/auth.ts.", "RULE: Run src/auth.ts before you push.", "TASK: Document `validateEmail`.")
    commit(repo, {"src/auth.ts": None}, at=LATER)
    organize()
    assert set(stale(store)) == {"Run src/auth.ts before you push.", "Document `validateEmail`."}


def test_what_was_gone_when_it_was_said_is_no_change(store, repo, say, organize):
    commit(repo, {"src/auth.ts": None}, at=datetime(2026, 4, 20, tzinfo=UTC))
    say("FACT: " + FILE)
    organize()
    assert not stale(store)


def test_the_time_of_day_counts(store, repo, say, organize):
    say("FACT: " + FILE, "FACT: " + SYMBOL, day="2026-05-20")  # at nine
    commit(repo, {"src/auth.ts": CHECK.replace("validateEmail", "x")}, at=datetime(2026, 5, 20, 8, 30, tzinfo=UTC))
    commit(repo, {"src/auth.ts": None}, at=datetime(2026, 5, 20, 9, 30, tzinfo=UTC))
    organize()
    assert set(stale(store)) == {FILE}


def test_said_again_it_is_fresh(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert stale(store)
    report = say("FACT: " + SYMBOL, day="2026-05-25", name="s2")
    assert not stale(store) and "source changed" not in "".join(contents(store)[n] for n in contents(store) if n.endswith(".md"))
    assert any("no longer" in n for n in report.notices)
    assert [e.extra for e in ledger.read(store)[0] if e.action == "stale"] == [{"on": "2026-05-20"}, {"lifted": True}]


def test_when_the_thing_is_back_the_mark_goes(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert stale(store)
    commit(repo, {"src/other.ts": CHECK}, at=LATER + timedelta(days=1))
    organize()
    assert not stale(store)


def test_useful_confirms_it_and_undo_takes_that_back(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    opened = MemoryStore.open(store, clock=lambda: NOW)
    (memory,) = opened.list()
    opened.judge(memory.id, "useful")
    assert not stale(store), "at once"
    assert not organize().stale and not stale(store)
    opened.undo(memory.id)
    organize()
    assert stale(store)


def test_a_mark_that_a_person_takes_out_stays_out(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    (path,) = [p for p in store.rglob("*.md") if "; source changed" in p.read_text()]
    path.write_text(path.read_text().replace("; source changed 2026-05-20: validateEmail gone", ""))
    organize(now=NOW + timedelta(days=1))
    organize(now=NOW + timedelta(days=2))
    assert not stale(store)


def test_a_person_who_rewords_it_stands_by_it(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    (path,) = [p for p in store.rglob("*.md") if "; source changed" in p.read_text()]
    path.write_text(path.read_text().replace("Addresses pass", "All addresses pass"))
    organize(now=NOW + timedelta(days=1))
    assert not stale(store) and "All addresses pass through validateEmail" in path.read_text()


def test_the_marks_survive_a_new_index_and_rank_and_show_everywhere(store, repo, say, organize):
    say("FACT: " + SYMBOL, "FACT: Addresses pass through a filter before they are saved.")
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    shutil.rmtree(store / ".memoryfs")
    opened = MemoryStore.open(store, clock=lambda: NOW)
    found = opened.recall("what do addresses pass through before they are saved", level=0, vectors=False).to_dict()["memories"]
    found = [m for m in found if m["id"].startswith("m-")]
    assert [m["summary"] for m in found][-1] == SYMBOL, "below its peer"
    assert found[-1]["stale"] == "source changed 2026-05-20: validateEmail gone" and found[-1]["why"]["unchecked"] < 0
    assert "stale" not in found[0] and "unchecked" not in found[0]["why"]
    early = opened.recall("addresses", level=0, vectors=False, as_of="2026-05-10").to_dict()["memories"]
    assert early and not any("stale" in m for m in early), "as of a day before"
    assert f"{SYMBOL} (source changed)" in (store / "MEMORY.md").read_text()


# -- where the repository is, and what it looks like -----------------------------------------------------------------

def test_the_stores_own_project_is_meant_by_what_a_person_writes(tmp_path, organize):
    project = tmp_path / "app"
    project.mkdir()
    git(project, "init", "-q")
    commit(project, {"src/auth.ts": CHECK})
    store = project / ".memory"
    MemoryStore.init(store)
    opened = MemoryStore.open(store, clock=lambda: datetime(2026, 5, 2, tzinfo=UTC))
    opened.remember(SYMBOL, actor="person")
    from organizer.pipeline import run

    run(store, config=Config(), now=datetime(2026, 5, 2, 1, tzinfo=UTC))
    commit(project, {"src/auth.ts": "x\n"}, at=LATER)  # with the store itself, which goes on naming it
    assert "validateEmail" in git(project, "grep", "validateEmail", "HEAD")
    run(store, config=Config(), now=NOW)
    assert stale(store) == {SYMBOL: "source changed 2026-05-20: validateEmail gone"}


def test_a_changelog_that_names_it_is_no_reason_to_keep_it(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n", "CHANGELOG.md": "- validateEmail is out\n"}, at=LATER)
    organize()
    assert stale(store)


def test_a_repository_that_is_not_here_says_nothing(store, repo, say, organize, tmp_path):
    say("FACT: " + SYMBOL, cwd=tmp_path / "elsewhere" / "other")
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert not stale(store)


def test_marks_stay_while_the_repository_is_away(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    before = contents(store)
    os.rename(repo, repo.with_name("away"))
    organize()
    assert stale(store) and contents(store) == before
    os.rename(repo.with_name("away"), repo)
    git(repo, "revert", "--no-edit", "HEAD", at=LATER + timedelta(days=1))
    organize()
    assert not stale(store)


def test_the_repository_that_the_topic_names(store, repo, say, organize, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    commit(other, {"src/auth.ts": CHECK})
    say("FACT: " + SYMBOL, cwd=other)
    (memory,) = MemoryStore.open(store).list()
    path = store / memory.topic
    assert "repo: other" in path.read_text()
    path.write_text(path.read_text().replace("repo: other", f"repo: {repo}"))
    commit(other, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert not stale(store)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert stale(store)


def test_what_is_not_merged_is_no_change_yet(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    git(repo, "checkout", "-qb", "feature/x")
    commit(repo, {"src/auth.ts": "x\n"}, at=datetime(2026, 4, 25, tzinfo=UTC))
    organize()
    assert not stale(store)
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "m", "feature/x", at=LATER)
    organize()
    assert stale(store) == {SYMBOL: "source changed 2026-05-20: validateEmail gone"}, "on the day of the merge"


def test_a_worktree_is_its_repository(store, repo, say, organize, tmp_path):
    git(repo, "worktree", "add", "-q", "-b", "wt", str(tmp_path / "wt"))
    say("FACT: " + SYMBOL, cwd=tmp_path / "wt")
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert stale(store)


def test_bare_shallow_rewritten_and_empty_repositories_are_read_as_far_as_they_go(store, repo, say, organize, tmp_path):
    commit(repo, {"src/auth.ts": CHECK + "//\n"})
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    bare = tmp_path / "bare.git"
    say("FACT: " + SYMBOL, name="s1")
    say("FACT: The bare one has validateEmail.", name="s2", cwd=bare)
    say("FACT: The empty one has validateEmail.", name="s3", cwd=empty)
    say("FACT: The shallow one has validateEmail.", name="s4", cwd=tmp_path / "shallow")
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", str(tmp_path / "shallow"))
    report = organize()
    assert set(stale(store)) == {SYMBOL, "The bare one has validateEmail."} and not report.problems
    git(repo, "commit", "-q", "--amend", "-m", "rewritten", at=LATER + timedelta(days=2))
    git(repo, "gc", "-q", "--prune=now")
    organize()
    assert stale(store)[SYMBOL] == "source changed 2026-05-22: validateEmail gone"


def test_a_submodule_and_odd_names_do_no_harm(store, repo, say, organize, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    commit(library, {"x.c": "int parse_frame;\n"})
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendor/lib")
    commit(repo, {"a b/名前 \t.ts": "oddName\n", "-rf.ts": "dashName\n"}, at=datetime(2026, 4, 2, tzinfo=UTC))
    say("FACT: The parser is in vendor/lib/.", "FACT: parse_frame is in vendor/lib/x.c.", "FACT: It is called oddName.", "FACT: Names: dashName.")
    commit(repo, {"a b/名前 \t.ts": None, "-rf.ts": None}, at=LATER)
    organize()
    assert set(stale(store)) == {"It is called oddName.", "Names: dashName."}
    git(repo, "rm", "-qf", "vendor/lib")
    commit(repo, {}, at=LATER + timedelta(days=1))
    organize()
    assert "The parser is in vendor/lib/." in stale(store)


def test_nothing_of_a_hostile_repository_is_run(store, repo, say, organize, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {ran}\ncat 2>/dev/null\n")
    evil.chmod(0o755)
    commit(repo, {".gitattributes": "* diff=evil filter=evil merge=evil\n", "src/auth.ts": CHECK})
    say("FACT: " + SYMBOL, "FACT: " + FILE)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    for name in ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "core.askPass", "diff.external",
                 "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
                 "gpg.program", "pager.log", "pager.grep", "credential.helper", "core.alternateRefsCommand", "sequence.editor"):
        git(repo, "config", name, str(evil))
    for name, value in {"core.hooksPath": str(tmp_path / "hooks"), "log.showSignature": "true", "color.ui": "always", "diff.noprefix": "true",
                        "diff.orderFile": "/nowhere", "diff.renames": "copies", "grep.patternType": "perl", "submodule.recurse": "true",
                        "remote.origin.url": f"ext::{evil}", "remote.origin.promisor": "true", "extensions.partialClone": "origin",
                        "core.repositoryFormatVersion": "1", "protocol.ext.allow": "always", "alias.log": f"!{evil}", "alias.grep": f"!{evil}",
                        "log.follow": "true", "diff.relative": "true", "grep.fullName": "true", "diff.ignoreSubmodules": "all"}.items():
        git(repo, "config", name, value)
    for hook in ("post-index-change", "pre-auto-gc", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        for folder in (repo / ".git" / "hooks", tmp_path / "hooks"):
            folder.mkdir(exist_ok=True)
            (folder / hook).write_text(evil.read_text())
            (folder / hook).chmod(0o755)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(evil))
    monkeypatch.setenv("GIT_PAGER", str(evil))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    organize()
    assert set(stale(store)) == {SYMBOL}
    (repo / "src/auth.ts").write_text("touched\n")
    MemoryStore.open(store).recall("", file=str(repo / "src/auth.ts"))
    assert not ran.exists(), ran.read_text()


def test_a_missing_object_is_not_fetched_and_nothing_is_said(store, repo, say, organize, tmp_path):
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {ran}\n")
    evil.chmod(0o755)
    say("FACT: " + SYMBOL)
    blob = git(repo, "rev-parse", "HEAD:src/auth.ts")
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {"remote.origin.url": "ssh://nowhere/x", "core.sshCommand": str(evil), "remote.origin.promisor": "true",
                        "extensions.partialClone": "origin", "core.repositoryFormatVersion": "1"}.items():
        git(repo, "config", name, value)
    report = organize()
    assert not stale(store) and not ran.exists() and not report.problems


def test_without_git_nothing_is_said(store, repo, say, organize, monkeypatch):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    monkeypatch.setenv("PATH", "/nowhere")
    assert not organize().problems and not stale(store)


def test_it_can_be_turned_off_and_takes_its_marks_along(store, repo, say, organize):
    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    assert stale(store)
    organize(config=Config(recheck=Recheck(sources=False)))
    assert not stale(store)


def test_one_log_serves_all_memories_and_an_unchanged_store_asks_only_for_the_newest_commit(store, repo, say, organize, monkeypatch):
    from memoryfs import gitfacts

    commit(repo, {"src/names.ts": "\n".join(f"handlerNumber{n}()" for n in range(40))})
    say(*(f"FACT: Step {n} is done by handlerNumber{n}." for n in range(40)))
    commit(repo, {"src/names.ts": "\n".join(f"handlerNumber{n}()" for n in range(0, 40, 2))}, at=LATER)
    calls: list[str] = []
    whole, part = gitfacts.git, gitfacts.Lines.__init__
    monkeypatch.setattr(gitfacts, "git", lambda directory, *words: calls.append(words[0]) or whole(directory, *words))
    monkeypatch.setattr(gitfacts.Lines, "__init__", lambda self, d, *words, **more: calls.append(words[0]) or part(self, d, *words, **more))
    organize()
    assert len(stale(store)) == 20 and calls.count("log") == 1 and len(calls) < 8
    monkeypatch.setattr("memoryfs.files.TICK_NS", 0)  # nothing is being written now
    organize()
    calls.clear()
    organize()
    assert calls.count("for-each-ref") == 1 and not {"log", "grep", "ls-tree"} & set(calls)


def test_out_of_time_it_waits_for_the_next_run(store, repo, say):
    from organizer import staleness as marks

    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    before = contents(store)
    out = marks.stage(store, Config(), ledger.read(store)[0], now=NOW, left=lambda: 0.0)
    assert not out.marked and contents(store) == before
    assert marks.stage(store, Config(), ledger.read(store)[0], now=NOW).marked


# -- what passes ----------------------------------------------------------------------------------------------------------

VERSION = "The app runs on Node 20.11."


def dates(store: Path) -> dict[str, str]:
    return {m.summary: m.metadata["recheck"] for m in MemoryStore.open(store).list() if "recheck" in m.metadata}


def test_a_passing_fact_gets_its_day_and_comes_back_after_it(store, say, organize):
    report = say("FACT: " + VERSION, "FACT: The hosting costs $20 a month.", "FACT: The rule is simple.", "RULE: Use Node 20.11.",
                 "EVENT: Installed Node 20.11.", "TASK: Hand in the report by 2026-05-14.")
    assert dates(store) == {VERSION: "2026-07-30", "The hosting costs $20 a month.": "2026-06-30", "Hand in the report by 2026-05-14.": "2026-05-15"}
    assert report.to_dict()["stale"]["dated"] == 3
    page = "".join(p.read_text() for p in store.rglob("*.md"))
    assert "; recheck 2026-07-30" in page
    assert stale(store) == {"Hand in the report by 2026-05-14.": "to be checked again since 2026-05-15"}
    before = snapshot(store)
    organize()
    assert snapshot(store) == before
    organize(now=NOW + timedelta(days=80))
    assert len(stale(store, NOW + timedelta(days=80))) == 3
    changed = {n for n, data in snapshot(store).items() if data[0] != before.get(n, (b"", 0))[0]}
    assert changed == {"MEMORY.md"}, "a day that passes changes no file but the briefing"


def test_the_briefing_marks_it_only_after_its_day(store, say, organize):
    say("FACT: " + VERSION)
    first = (store / "MEMORY.md").read_text()
    assert VERSION in first and "(check again)" not in first
    organize(now=NOW + timedelta(days=30))
    assert (store / "MEMORY.md").read_text() == first
    organize(now=NOW + timedelta(days=70))
    assert f"{VERSION} (check again)" in (store / "MEMORY.md").read_text()


def test_said_again_or_found_useful_it_gets_a_new_day(store, say, organize):
    say("FACT: " + VERSION)
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    assert dates(store) == {VERSION: "2026-08-19"}
    late = NOW + timedelta(days=100)
    assert stale(store, late)
    opened = MemoryStore.open(store, clock=lambda: late)
    opened.judge(opened.list()[0].id, "useful")
    assert not stale(store, late) and dates(store) == {VERSION: (late.date() + timedelta(days=90)).isoformat()}
    before = snapshot(store)
    organize(now=late)
    assert snapshot(store) == before
    opened.undo(opened.list()[0].id)
    organize(now=late)
    assert dates(store) == {VERSION: "2026-08-19"}


def test_a_day_that_a_person_wrote_holds(store, say, organize):
    say("FACT: " + VERSION, "FACT: The rule is simple.")
    path = next(p for p in store.rglob("*.md") if "; recheck 2026-07-30" in p.read_text())
    path.write_text(path.read_text().replace("recheck 2026-07-30", "recheck 2027-01-31"))
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    organize(now=NOW + timedelta(days=100))
    assert dates(store) == {VERSION: "2027-01-31"}
    later = datetime(2027, 2, 2, 12, tzinfo=UTC)
    organize(now=later)
    assert dates(store) == {VERSION: "2027-01-31"} and stale(store, later)
    say("FACT: " + VERSION, day="2027-02-01", name="s3", now=later)
    assert dates(store) == {VERSION: "2027-05-02"}, "it has passed, and the memory was said again"


def test_a_day_that_a_person_took_out_does_not_come_back(store, say, organize):
    say("FACT: " + VERSION)
    path = next(p for p in store.rglob("*.md") if "; recheck 2026-07-30" in p.read_text())
    path.write_text(path.read_text().replace("; recheck 2026-07-30", ""))
    organize()
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    assert dates(store) == {}


def test_a_day_for_what_does_not_pass_can_be_written(store, say, organize):
    say("FACT: The rule is simple.")
    path = next(p for p in store.rglob("*.md") if "[^" in p.read_text() and p.name != "MEMORY.md")
    lines = [line.replace(": 2026-05-01", ": 2026-05-01; recheck 2026-05-25", 1) if line.startswith("[^") else line
             for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    organize()
    assert dates(store) == {"The rule is simple.": "2026-05-25"} and stale(store)
    say("FACT: The rule is simple.", day="2026-05-28", name="s2")
    assert not stale(store)


def test_settings_turn_kinds_off_and_take_the_days_along(store, say, organize):
    say("FACT: " + VERSION, "TASK: Hand in the report by 2026-05-14.")
    assert len(dates(store)) == 2
    organize(config=Config(recheck=Recheck(version_days=0, deadline_days=0)))
    assert dates(store) == {}
    organize(config=Config(recheck=Recheck(version_days=30)))
    assert dates(store) == {VERSION: "2026-05-31", "Hand in the report by 2026-05-14.": "2026-05-15"}


def test_a_run_killed_before_the_ledger_was_told_is_completed_by_the_next(store, repo, say, organize):
    say("FACT: " + VERSION, "FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    whole = contents(store)
    path = store / ledger.FILE
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines() if '"stale"' not in line and '"recheck"' not in line))
    organize()
    assert {n: t for n, t in contents(store).items() if n != ledger.FILE} == {n: t for n, t in whole.items() if n != ledger.FILE}
    assert sorted(contents(store)[ledger.FILE].splitlines()) == sorted(whole[ledger.FILE].splitlines())
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    assert dates(store) == {VERSION: "2026-08-19"}, "the day is known as ours"


def test_what_is_pinned_does_not_pass(store, say):
    say(f"FACT: {VERSION.removesuffix('.')} #pinned")
    assert dates(store) == {}


def test_a_memory_that_comes_to_share_a_footnote_does_not_inherit_the_day(store, say, organize):
    say("FACT: " + VERSION)
    path = next(p for p in store.rglob("*.md") if "; recheck 2026-07-30" in p.read_text())
    line = next(row for row in path.read_text().splitlines() if row.startswith("- " + VERSION))
    label = line[line.index("[^"):line.index("]") + 1]
    path.write_text(path.read_text().replace(line, f"{line}\n- The rule is simple. {label}"))
    organize()
    assert dates(store) == {VERSION: "2026-07-30"}
    before = snapshot(store)
    organize()
    assert snapshot(store) == before


def test_marks_do_not_keep_a_memory_from_fading(store, repo, say, organize):
    from organizer import lifecycle

    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize(now=NOW + timedelta(days=300))
    assert any(e.action == "stale" for e in ledger.read(store)[0])
    topics = {m.topic: MemoryStore.open(store).topics()[m.topic] for m in MemoryStore.open(store).list()}
    opened = MemoryStore.open(store)
    opened.judge(opened.list()[0].id, "wrong")
    entries = [e for e in ledger.read(store)[0] if e.action != "wrong"] + [e for e in ledger.read(store)[0] if e.action == "wrong"][:0]
    wrong = ledger.Entry(NOW.isoformat(), "person", "wrong", opened.list()[0].id)
    due = lifecycle.due(topics, [*entries, wrong], Config(), today=(NOW + timedelta(days=370)).date())
    assert due, "its age counts from when it was said"
