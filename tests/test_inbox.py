"""inbox.md: its lines, and its text with lines added and taken out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryfs import inbox
from memoryfs.config import Config
from memoryfs.files import scan
from memoryfs.inbox import Waiting
from memoryfs.model import SourceRange

ITEM = Waiting("m-7c01d2", "The pool is limited to 20 · see `a·b`.", "fact", "2026-05-12", (SourceRange("2026-05-12-3f9a21", 128, 146),))
OTHER = Waiting("m-90aa17", "Dumps are kept for 30 days.", "fact", "", ())


def test_a_statement_reads_back_as_it_was_written():
    text = inbox.edited("", added=[ITEM, OTHER])
    first, second = inbox.lines(text)
    assert (first.id, first.text, first.ticked, first.kind, first.date, first.ranges) == (
        ITEM.id, ITEM.text, False, "fact", "2026-05-12", ITEM.ranges)
    assert (second.id, second.text, second.ranges) == (OTHER.id, OTHER.text, ())
    assert text.startswith("# Inbox\n")


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=1).filter(lambda t: inbox.fold(t) != ""))
def test_any_words_read_back(words: str):
    item = Waiting("m-000001", inbox.fold(words), "task", "2026-01-01", ITEM.ranges)
    text = inbox.edited("", added=[item])
    found = inbox.lines(text)
    assert [line.text for line in found] == [item.text]
    assert inbox.edited(text, removed={item.id: item.text}) == inbox.HEAD


def test_what_a_person_wrote_stays_byte_for_byte():
    mine = "\ufeff# Mein Eingang\r\n\r\nNotes, *as they are*.\r\n- a plain item\r\n- [ ] my own"
    text = inbox.edited(mine, added=[ITEM])
    assert text.startswith(mine + "\r\n")
    assert inbox.edited(text, removed={ITEM.id: ITEM.text}) == mine + "\r\n"
    assert inbox.edited(text, added=[ITEM]) == text


def test_a_line_that_reads_otherwise_by_now_is_not_taken_out():
    text = inbox.edited("", added=[ITEM]).replace("limited to 20", "limited to 25")
    assert inbox.edited(text, removed={ITEM.id: ITEM.text}) == text


@pytest.mark.parametrize(("line", "expected"), [
    ("- [x] Kept. · fact · 2026-05-12 · `2026-05-12-3f9a21:3` ^m-1", ("m-1", "Kept.", True, False)),
    ("* [X] Mine.", ("", "Mine.", True, False)),
    ("- [ ] ~~No.~~ · fact ^m-1", ("m-1", "No.", False, True)),
    ("- [ ] Only words ^m-1", ("m-1", "Only words", False, False)),
])
def test_lines_as_people_leave_them(line: str, expected: tuple):
    found = inbox.lines(f"text\n{line}\n")
    assert [(f.id, f.text, f.ticked, f.struck) for f in found] == [expected]
    assert found[0].number == 1


def test_the_inbox_is_no_topic_and_is_counted(tmp_path: Path):
    inbox.edit(tmp_path, lambda text: inbox.edited(text, added=[ITEM, OTHER]))
    assert not scan(tmp_path, Config()).files
    assert inbox.count(tmp_path) == 2
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inbox.md").write_text("# a topic\n")
    assert [f.path for f in scan(tmp_path, Config()).files] == ["sub/inbox.md"]


def test_a_file_in_a_git_conflict_is_left(tmp_path: Path):
    text = "<<<<<<< HEAD\n- [ ] a ^m-1\n=======\n>>>>>>> other\n"
    (tmp_path / "inbox.md").write_text(text)
    assert not inbox.edit(tmp_path, lambda t: inbox.edited(t, added=[ITEM]))
    assert (tmp_path / "inbox.md").read_text() == text


def test_the_ledger_says_what_waits():
    came = [inbox.came(i, time="2026-06-01T00:00:00+00:00", why="x") for i in (ITEM, OTHER)]
    gone = inbox.went(ITEM, inbox.LEARNED, time="2026-06-02T00:00:00+00:00", topic="notes/x.md")
    found = inbox.waiting([*came, gone])
    assert [(i.id, i.settled, i.ranges) for i in found.values()] == [
        (ITEM.id, "learned", ITEM.ranges), (OTHER.id, "", ())]
