"""Memories held against the repository they are about: real git repositories, no model."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from organizer_kit import NOW, contents, snapshot
from repo_kit import CHECK, FILE, LATER, SYMBOL, commit, git, stale

from memoryfs import MemoryStore, ledger
from memoryfs.config import Config, Recheck


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
