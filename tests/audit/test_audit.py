"""What is believed, on what grounds, what replaced it, and why it was not recalled."""

from __future__ import annotations

import json

import pytest

from memoryfs import MemoryStore, audit
from memoryfs.cli import main
from memoryfs.textfile import append_lines

TALK = [
    {"role": "user", "content": "The session cookie lives for 7 days.", "time": "2026-05-12T09:00:00Z"},
    {"role": "assistant", "content": "Understood.", "time": "2026-05-12T09:00:05Z"},
    {"role": "assistant", "content": "By the way, the cookie lives for 14 days in docs.", "time": "2026-05-14T09:00:00Z"},
    {"role": "user", "content": "We host the gateway on port 7443.", "time": "2026-05-15T09:00:00Z"},
]

TOPIC = """---
title: School auth
tags: [auth]
source_range:
  - {{thread: 2026-05-12-{h}, start: 0, end: 3}}
---
# School auth

## Facts
- The session cookie lives for 7 days. [^{h}:0] ^m-000003
- The cookie lives for 14 days. [^{h}:2] ^m-000004
- The gateway is on port 7443. [^{h}:3] [^person:2026-06-01] ^m-000005
- Copied from nowhere. ^m-000006
- Its thread is gone. [^abcdef:4] ^m-000007

## Needs review
- [ ] [[#^m-000003]] says 7 days; [[#^m-000004]] says 14 days. ^r-000001

## History
- ~~The gateway is on port 7000.~~ superseded by [[#^m-000005]] on 2026-05-15 [^{h}:3] ^m-000008

[^{h}:0]: 2026-05-12; said by the user; "lives for 7 days"
[^{h}:2]: 2026-05-14; "lives for 14 days"
[^{h}:3]: 2026-05-15; said by the user; "port 7443"
[^person:2026-06-01]: 2026-06-01; stated by a person
[^abcdef:4]: 2026-05-01
"""


@pytest.fixture
def store(tmp_path):
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps(row) + "\n" for row in TALK), encoding="utf-8")
    made = MemoryStore.init(tmp_path / "store")
    made.import_transcripts([talk])
    (thread,) = [o.name.removesuffix(".jsonl") for o in (made.root / "threads").rglob("*.jsonl")]
    (made.root / "projects").mkdir()
    (made.root / "projects" / "auth.md").write_text(TOPIC.format(h=thread.rsplit("-", 1)[1]), encoding="utf-8")
    from memoryfs.edits import adopt

    adopt(made.root, made.config, now=made.clock())
    return made


@pytest.fixture
def run(capsys, store):
    def call(*args):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["--store", str(store.root), "audit", *args])
        return ended.value.code, capsys.readouterr().out

    return call


def by_id(made):
    return {s.memory.id: s for s in (*made.current, *made.superseded)}


def test_a_topic_shows_what_holds_what_was_replaced_and_what_contradicts(store):
    made = audit.examine(store, "projects/auth")
    assert [s.memory.id for s in made.superseded] == ["m-000008"]
    assert made.superseded[0].replaced_by.id == "m-000005"
    (conflict,) = made.conflicts
    assert conflict.review.id == "r-000001" and [s.memory.id for s in conflict.sides] == ["m-000003", "m-000004"]
    found = by_id(made)
    assert found["m-000003"].reviews == ("r-000001",) and found["m-000005"].reviews == ()


def test_who_said_it_when_and_how_often(store):
    found = by_id(audit.examine(store, "projects/auth.md"))
    first = found["m-000003"]
    assert [(s.by, s.date, s.quote) for s in first.said] == [("user", "2026-05-12", "lives for 7 days")]
    twice = found["m-000005"]
    assert [s.by for s in twice.said] == ["user", "person"] and twice.confirmed == 2


def test_weak_and_unsourced_ones_are_marked(store):
    found = by_id(audit.examine(store, "projects/auth.md"))
    marks = {id: s.marks for id, s in found.items() if s.marks}
    assert marks == {"m-000004": ("no person said it",), "m-000006": ("no source",), "m-000007": ("source missing",)}


def test_an_id_brings_the_source_in_context_and_every_change(store):
    made = audit.examine(store, "[[projects/auth#^m-000004]]")
    (one,) = made.current
    assert [e.index for e in one.said[0].context] == [1, 2, 3]
    assert [e.action for e in one.changes] == ["adopt", "conflict"]
    store.resolve("r-000001", "accept")
    again = by_id(audit.examine(store, "^m-000003"))
    assert again["m-000003"].memory.superseded_by == "m-000004" and "m-000004" in again
    assert [e.action for e in again["m-000003"].changes] == ["adopt", "conflict", "resolve", "supersede"]


def test_a_question_finds_what_it_is_about_and_what_that_replaced(store):
    found = by_id(audit.examine(store, "gateway port"))
    assert {"m-000005", "m-000008"} <= set(found) and "m-000006" not in found
    assert not audit.examine(store, "zymurgy").found


def test_since_leaves_out_what_was_neither_said_nor_changed_since(store):
    ledger = store.root / "ledger.jsonl"
    ledger.write_text("")
    append_lines(ledger, [json.dumps({"time": "2026-07-01T00:00:00Z", "actor": "person", "action": "edit", "id": "m-000007"})])
    assert set(by_id(audit.examine(store, "projects/auth", since="2026-05-14"))) == {
        "m-000004", "m-000005", "m-000007", "m-000008"}
    assert set(by_id(audit.examine(store, "projects/auth", since="2026-06-02"))) == {"m-000007"}


def test_what_was_archived_is_told_as_such(store, run):
    from memoryfs.edits.archive import archive

    archive(store.root, store.config, "projects/auth.md", {"m-000005": "old", "m-000008": "replaced"}, now=store.clock())
    found = by_id(audit.examine(store, "^m-000005"))
    assert found["m-000005"].memory.status == "archived" and found["m-000005"].memory.topic == "archive/projects/auth.md"
    assert not audit.examine(store, "^m-000005").withdrawn
    assert {"m-000003", "m-000005", "m-000008"} <= set(by_id(audit.examine(store, "projects/auth")))
    assert "Archived (1)" in run("projects/auth")[1]
    assert audit.why_not(store, "m-000005", "gateway port").stage == "archived"


def test_how_it_was_judged_is_told(store, run):
    store.judge("^m-000005", "wrong"), store.judge("^m-000005", "wrong"), store.judge("^m-000005", "useful")
    store.undo("^m-000005")
    assert by_id(audit.examine(store, "^m-000005"))["m-000005"].judged == ("wrong", "wrong")
    assert "judged wrong 2×" in run("^m-000005")[1]


def test_what_was_withdrawn_is_told(store):
    store.forget("^m-000006")
    made = audit.examine(store, "^m-000006")
    assert made.found and made.withdrawn[0][-1].action == "withdraw"
    assert "m-000006" in {told[-1].id for told in audit.examine(store, "projects/auth").withdrawn}


def test_why_not_names_the_stage_that_lost_it(store):
    def ask(id, query, **more):
        return audit.why_not(store, id, query, **more)

    assert (ask("m-000005", "gateway port").stage, ask("m-000005", "gateway port").rank) == ("listed", 1)
    old = ask("m-000008", "gateway port")
    assert old.stage == "filtered by status" and old.rank > 0 and "superseded" in old.reason
    low = ask("m-000004", "gateway port session cookie 7 days", k=1)
    assert low.stage == "below k" and low.rank > 1 and low.above and f"-k {low.rank}" in low.remedy
    lost = ask("m-000006", "zymurgy brewing")
    assert lost.stage == "not retrieved" and lost.lacking == ("zymurgy", "brewing") and not lost.shared
    assert ask("m-ffffff", "port").stage == "unknown"
    store.forget("^m-000006")
    assert ask("m-000006", "port").stage == "withdrawn"


def test_why_not_counts_as_recall_does(store):
    """The rank that is told is the place in recall's own list."""
    listed = [c.memory.id for c in store.recall("cookie gateway", k=200, level=0).memories]
    for place, id in enumerate(listed):
        if id.startswith("m-"):
            assert audit.why_not(store, id, "cookie gateway", k=200).rank == place + 1


def test_the_command_for_people_and_for_programs(run):
    code, out = run("projects/auth")
    assert code == 0 and "Believed now (5)" in out and "Superseded (1)" in out and "[no source]" in out
    assert "replaced by ^m-000005 on 2026-05-15: The gateway is on port 7443." in out
    assert "\x1b" not in out and max(map(len, out.splitlines())) <= 80
    code, out = run("^m-000004", "--why-not", "gateway port", "--json")
    data = json.loads(out)
    assert code == 0 and data["why_not"]["id"] == "m-000004" and data["why_not"]["stage"] in audit.absent.STAGES
    context = data["stores"][0]["current"][0]["said"][0]["context"]
    assert [e["index"] for e in context if e["cited"]] == [2]
    assert run("zymurgy")[0] == 5 and run("^m-ffffff")[0] == 5
    assert run("gateway", "--why-not", "x")[0] == 2 and run("gateway", "--since", "soon")[0] == 2


def test_the_stores_above_are_asked_too(store, tmp_path, monkeypatch, capsys):
    project = tmp_path / "work"
    store.root.rename(tmp_path / ".memory")
    MemoryStore.init(project / ".memory").remember("The gateway is blue", topic="notes/paint")
    monkeypatch.chdir(project)
    with pytest.raises(SystemExit):
        main(["audit", "gateway", "--json"])
    stores = json.loads(capsys.readouterr().out)["stores"]
    assert [s["store"] for s in stores] == [str(project / ".memory"), str(tmp_path / ".memory")]
    assert stores[0]["current"][0]["summary"] == "The gateway is blue"


def test_cli_05_nothing_said_reaches_the_terminal_as_a_command(store, run):
    store.remember("a\x1b]0;pwned\x07b \u202ereversed", topic="notes/bad")
    _, out = run("notes/bad")
    assert "\x1b" not in out and "\u202e" not in out and "pwned" in out
