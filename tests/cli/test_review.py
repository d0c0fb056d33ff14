"""`memoryfs review`: one item at a time from scripted keys, at a real terminal, and the forms for scripts."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import time

import pytest

from memoryfs import MemoryStore, inbox, ledger, review
from memoryfs.cli.review import session
from memoryfs.edits import adopt
from memoryfs.inbox import Waiting
from memoryfs.model import SourceRange
from memoryfs.render import Paper

TOPIC = """# Auth

## Facts
- Cookies live 7 days. [^{h}:0] ^m-000003
- Cookies live 14 days. [^{h}:2] ^m-000004
- The port is 80. [^{h}:0] ^m-000005
- The port is 81. [^{h}:2] ^m-000006

## Needs review
- [ ] [[#^m-000003]] or [[#^m-000004]]? ^r-000001
- [ ] [[#^m-000005]] or [[#^m-000006]]? ^r-000002

[^{h}:0]: 2026-03-01; "port 7443"
[^{h}:2]: 2026-03-01; "pnpm"
"""


@pytest.fixture
def made(store):
    opened = MemoryStore.open(store)
    (thread,) = [p.name.removesuffix(".jsonl") for p in (store / "threads").rglob("*.jsonl")]
    (store / "projects").mkdir()
    (store / "projects" / "auth.md").write_text(TOPIC.format(h=thread.rsplit("-", 1)[1]))
    adopt(store, opened.config, now=opened.clock())
    item = Waiting("m-0000aa", "Perhaps pnpm is preferred", "instruction", "2026-03-01", (SourceRange(thread, 2, 2),),
                   details={"quote": "Always use pnpm", "said_by": "user"})
    ledger.append(store, [inbox.came(item, time="2026-03-02T00:00:00Z", why="unsure")])
    inbox.edit(store, lambda text: inbox.edited(text, added=[item]))
    return opened


def files(store):
    return {str(p.relative_to(store.root)): p.read_bytes() for p in sorted(store.root.rglob("*.md")) if p.name != "MEMORY.md"}


def play(store, keys, edit=lambda text: None):
    shown = []
    left = session(store, review.waiting(store), iter([*keys, ""]).__next__, shown.append, edit, Paper())
    return left, "\n".join(shown)


def memory(store, id):
    return next(m for m in store.list() if m.id == id)


def test_each_item_shows_both_statements_with_their_sources(made):
    left, shown = play(made, ["q"])
    assert left == 3
    assert "Cookies live 7 days." in shown and "Cookies live 14 days." in shown
    assert "The gateway listens on port 7443." in shown and "Always use pnpm, not npm." in shown
    assert shown.index("older: [o]") < shown.index("^m-000003  Cookies") < shown.index("newer: [a]") < shown.index("^m-000004  Cookies")
    assert "2026-03-01  by the user" in shown and "m-000005" not in shown


def test_keys_settle_one_after_the_other(made):
    left, shown = play(made, "ab" + "a")
    assert left == 0 and "3 settled, 0 left." in shown
    assert memory(made, "m-000003").superseded_by == "m-000004"
    assert {memory(made, id).status for id in ("m-000005", "m-000006")} == {"active"}
    assert "- [x] Perhaps pnpm is preferred" in (made.root / "inbox.md").read_text()
    choices = [(e.id, e.extra["choice"], e.actor) for e in ledger.read(made.root)[0] if e.action == "resolve"]
    assert choices == [("r-000001", "accept", "person"), ("r-000002", "keep-both", "person")]


def test_later_and_unknown_keys_change_nothing(made):
    before = files(made)
    left, shown = play(made, "?l\rlubl")
    assert left == 3 and files(made) == before and "in brackets" in shown and "Nothing to undo yet." in shown


def test_the_older_is_kept_and_a_choice_is_undone_and_made_again(made):
    before = files(made)
    left, _ = play(made, "ouq")
    assert left == 3 and files(made) == before
    play(made, "ouaq")
    assert memory(made, "m-000003").superseded_by == "m-000004"


def test_edit_keeps_a_persons_words(made):
    asked = []
    left, _ = play(made, "eq", edit=lambda text: asked.append(text) or "Cookies live 10 days.")
    assert asked == ["Cookies live 14 days."] and left == 2
    kept = memory(made, "m-000004")
    assert (kept.summary, kept.stated_by) == ("Cookies live 10 days.", "person")
    before = files(made)
    assert "Nothing changed." in play(made, "eq")[1] and files(made) == before


def test_a_statement_of_the_inbox_is_dropped_reworded_and_put_back(made):
    review.settle(made, "^r-000001", "accept"), review.settle(made, "r-000002", "accept")
    before = (made.root / "inbox.md").read_bytes()
    assert play(made, "o")[0] == 0 and b"pnpm" not in (made.root / "inbox.md").read_bytes()
    review.settle(made, "m-0000aa", "undo")
    assert (made.root / "inbox.md").read_bytes() == before
    play(made, "e", edit=lambda text: "Use pnpm")
    assert "- [x] Use pnpm · instruction" in (made.root / "inbox.md").read_text()
    review.settle(made, "m-0000aa", "undo")
    assert (made.root / "inbox.md").read_bytes() == before


def test_the_forms_for_scripts(run, made):
    root = made.root
    listed = run("--store", root, "review", "--json")
    assert listed.code == 4
    assert [(r["kind"], r["id"]) for r in listed.json["reviews"]] == [
        ("contradiction", "r-000001"), ("contradiction", "r-000002"), ("inbox", "m-0000aa")]
    assert listed.json["reviews"][0]["memories"][0]["said"][0]["quote"] == "port 7443"
    assert "^r-000001  projects/auth.md:10" in run("--store", root, "review").out
    before = files(made)
    done = run("--store", root, "review", "accept", "^r-000001", "--json")
    assert done.code == 0 and done.json["action"] == "resolve" and done.json["id"] == "r-000001"
    assert run("--store", root, "review", "undo", "r-000001").code == 0 and files(made) == before
    assert run("--store", root, "review", "edit", "r-000001", "--text", "Cookies live 9 days.").code == 0
    assert memory(made, "m-000004").summary == "Cookies live 9 days."
    assert run("--store", root, "review", "undo", "r-000001").code == 0 and files(made) == before
    assert run("--store", root, "review", "reject", "m-0000aa").code == 0
    assert run("--store", root, "review", "useful", "m-000003").code == 0
    assert run("--store", root, "review", "wrong", "^m-000003").code == 0
    assert ledger.judgements(ledger.read(root)[0]) == {"m-000003": ("useful", "wrong")}
    assert run("--store", root, "review", "undo", "m-000003").code == 0
    assert ledger.judgements(ledger.read(root)[0]) == {"m-000003": ("useful",)}


@pytest.mark.parametrize(("args", "code"), [
    (["accept"], 2), (["maybe", "r-000001"], 2), (["accept", "r-ffffff"], 5), (["edit", "r-000001"], 2),
    (["keep-both", "m-0000aa"], 2), (["accept", "m-ffffff"], 5), (["undo", "r-000001"], 5), (["useful", "m-ffffff"], 5),
])
def test_cli_04_what_cannot_be_done_says_so(run, made, args, code):
    before = files(made)
    assert run("--store", made.root, "review", *args).code == code
    assert files(made) == before


def test_at_a_terminal(made):
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "memoryfs", "--store", str(made.root), "review"],
                  {**os.environ, "TERM": "xterm", "EDITOR": "true"})
    shown = b""

    def until(text):
        nonlocal shown
        end = time.monotonic() + 20
        while text not in shown and time.monotonic() < end:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    shown += os.read(fd, 65536)
                except OSError:
                    return
        assert text in shown, shown

    for key, text in ((b"a", b"m-000003"), (b"l", b"m-000005"), (b"q", b"m-0000aa")):
        until(text)
        until(b"[q]uit")
        shown = b""
        time.sleep(0.5)  # the terminal drops what is typed before a key is asked for
        os.write(fd, key)
    until(b"1 settled, 2 left.")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 4
    assert memory(made, "m-000003").superseded_by == "m-000004"


def test_nothing_waits(run, store):
    assert "Nothing waits" in run("--store", store, "review").out
    assert json.loads(run("--store", store, "review", "--json").out) == {"reviews": []}
