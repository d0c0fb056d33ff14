"""Two topics that may be one: proposed in the file, merged only when a person says so, and undone as if nothing had been."""

from __future__ import annotations

import json

import pytest
from edits.conftest import GO, ID, KEEP, KEPT, NOW

from memoryfs import MemoryStore, ledger, review
from memoryfs.edits import forget, resolve, undo
from memoryfs.edits.merging import propose
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError


def answer(store, choice):
    return resolve(store.root, store.config, ID, choice, actor="person", now=NOW)


def back(store):
    return undo(store.root, store.config, ID, actor="person", now=NOW)


def test_it_is_a_line_in_the_file_in_the_briefing_and_in_the_review(pair):
    assert f"- [ ] [[infrastructure/edge]] seems to be about the same (both speak of gateway): are the two to be merged, here? ^{ID}" in pair.text(KEEP)
    opened = MemoryStore.open(pair.root, clock=lambda: NOW)
    opened.refresh()
    assert "infrastructure/edge seems to be about the same" in (pair.root / "MEMORY.md").read_text()
    item = next(i for i in review.waiting(opened) if i.id == ID)
    assert (item.other, item.to_dict()["kind"], item.to_dict()["other"]) == (GO, "topics", GO)
    before = pair.bytes()
    propose(pair.root, pair.config, KEEP, GO, "both speak of gateway", now=NOW)
    assert pair.bytes() == before


def test_rt_05_accepted_everything_of_both_is_there(pair):
    change = answer(pair, "accept")
    assert "5 memories of infrastructure/edge.md stand here now; its lang stay in infrastructure/edge.md" in change.detail
    kept, gone = pair.text(KEEP), pair.text(GO)
    head = KEPT.split("---\n")[1]
    assert kept.startswith(f"---\n{head}---\n# Gateway\n") and ID not in kept
    for words in ("- Restarts on Sundays. [^3f9a21:2] ^m-000002", "- Typed by hand [^person:", "^r-000001", '[^3f9a21:2]: 2026-05-12; "on Sundays"',
                  "superseded by [[#^m-000002]] on 2026-05-12"):
        assert words in kept and words not in gone
    for line in ("title: Edge gateway", "tags: [b]", "lang: no", "status: superseded", f"superseded_by: {KEEP}"):
        assert f"\n{line}\n" in gone
    assert "[[infrastructure/gateway]] since 2026-11-29" in gone
    assert "As in [[infrastructure/edge#^m-000002]]." in pair.text("notes/other.md")
    assert "- [ ] [[infrastructure/gateway#^m-000002]] or [[infrastructure/gateway#^m-000001]]?" in pair.text("notes/other.md")
    assert pair.memory("m-000003").status == "conflicted" and pair.memory("m-000005").status == "superseded"
    assert {k.topic for i, k in pair.state().items()} == {KEEP} and pair.done() == []
    last = ledger.read(pair.root)[0][-1]
    assert (last.action, last.extra["choice"], last.extra["merge"], last.extra["left"]) == ("resolve", "accept", GO, ["lang"])


def test_accepting_is_undone_byte_for_byte(pair):
    before, state = pair.bytes(), pair.state()
    pair.adopt()
    answer(pair, "accept")
    change = back(pair)
    assert (change.action, change.id) == ("restore", ID)
    assert pair.bytes() == before
    assert {i: (k.topic, k.status, k.text) for i, k in pair.state().items()} == {i: (k.topic, k.status, k.text) for i, k in state.items()}
    assert ledger.reviews(ledger.read(pair.root)[0])[ID].open and pair.done() == []
    answer(pair, "accept")
    assert "m-000002" in pair.text(KEEP)


@pytest.mark.parametrize("choice", ["reject", "keep-both"])
def test_rejecting_leaves_both_and_is_remembered_and_undone(pair, choice):
    before = pair.bytes()
    answer(pair, choice)
    assert ID not in pair.text(KEEP) and pair.text(GO) == before[GO].decode()
    assert not ledger.reviews(ledger.read(pair.root)[0])[ID].open and pair.done() == []
    back(pair)
    assert pair.bytes() == before and ledger.reviews(ledger.read(pair.root)[0])[ID].open


def test_a_persons_words_beside_the_memories_stay_in_their_file(pair):
    pair.change(GO, "# Edge gateway\n", "# Edge gateway\n\nAsk Kim before a restart.\n")
    change = answer(pair, "accept")
    gone = pair.text(GO)
    assert "Ask Kim before a restart." in gone and "status: superseded" not in gone and f"superseded_by: {KEEP}" in gone
    assert "lang, text stay" in change.detail and pair.done() == []


def test_deleting_the_line_keeps_them_apart(pair):
    line = next(row for row in pair.text(KEEP).splitlines(True) if ID in row)
    pair.change(KEEP, line, "")
    assert pair.done() == [("resolve", ID, KEEP)]
    assert not ledger.reviews(ledger.read(pair.root)[0])[ID].open
    with pytest.raises(NotFoundError):
        back(pair)


def test_what_cannot_be_done_is_said_and_changes_nothing(pair):
    before = pair.bytes()
    with pytest.raises(UsageError, match="asks about two topics"):
        resolve(pair.root, pair.config, ID, "edit", actor="person", now=NOW, text="words")
    pair.change(GO, "title: Edge gateway", "title: a: b")
    with pytest.raises(UnwritableFileError):
        answer(pair, "accept")
    assert pair.bytes()[KEEP] == before[KEEP]
    (pair.root / GO).unlink()
    with pytest.raises(NotFoundError):
        answer(pair, "accept")
    answer(pair, "reject")


def test_undo_refuses_when_the_lines_were_changed_since(pair):
    answer(pair, "accept")
    pair.change(KEEP, "Restarts on Sundays.", "Restarts on Saturdays.")
    pair.adopt()
    before = pair.bytes()
    with pytest.raises(UnwritableFileError):
        back(pair)
    assert pair.bytes() == before


@pytest.mark.parametrize(("id", "words"), [("m-000001", "Listens on port"), ("m-000003", "Holds 20")])
def test_purge_takes_the_words_out_of_the_lines_that_undo_needs(pair, id, words):
    pair.change(KEEP, "title: Gateway\n", "title: Gateway\nsummary: Listens on port 7443.\n")
    answer(pair, "accept")
    assert words in json.dumps(ledger.read(pair.root)[0][-1].extra["undo"])
    forget(pair.root, pair.config, id, actor="person", now=NOW, purge=True)
    assert words not in (pair.root / "ledger.jsonl").read_text()
    with pytest.raises(NotFoundError):
        back(pair)


def test_in_the_terminal_it_has_its_own_keys(pair):
    from memoryfs.cli.review import session
    from memoryfs.render import Paper

    opened = MemoryStore.open(pair.root, clock=lambda: NOW)
    items = tuple(i for i in review.waiting(opened) if i.id == ID)
    shown = []
    left = session(opened, items, iter(["b", "e", "a", ""]).__next__, shown.append, lambda text: "x", Paper())
    text = "\n".join(shown)
    assert left == 0 and "One topic or two?" in text and "[a] merge them" in text and text.count("One of the letters") == 2
    assert "^m-000002" in pair.text(KEEP)
