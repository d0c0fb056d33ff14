"""The front matter that the organizer keeps up to date: what stands for a topic."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, snapshot, transcript

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits import move
from memoryfs.model import Memory, SourceRange
from memoryfs.topic import parse
from memoryfs.topic_edit import add_memory, new_topic, set_meta
from organizer import pipeline
from organizer.refresh import MAX_HINTS, MAX_TECHNICAL, hints_of, refreshed, summary_of, tags_of
from organizer.tidy import changed_since


def said(text: str, kind: str = "fact", user: bool = True) -> Memory:
    return Memory(
        "m-" + str(len(text)), text, kind, "active", "x.md", 1, (SourceRange("2026-05-12-aaaaaa", 0, 0),),
        metadata={"role": "user"} if user else {},
    )


ABOUT = said("The lending desk opens at eight and closes at four.")


@pytest.mark.parametrize("other", [
    said("Please put the lending hours of the desk on the door, with a note."), said("That is why it closes at four, as before."),
    said("Let us write down how the lending desk works before I forget it."), said("Order two lamps for the lending desk.", "task"),
    said("Label the lending desk in red this week.", "instruction"),
], ids=["please", "vague", "let us", "task", "once"])
def test_a_topics_summary_says_what_it_is_about(other: Memory) -> None:
    assert summary_of([other, ABOUT]) == summary_of([ABOUT, other]) == ABOUT.summary


def test_the_statement_that_shares_words_with_the_others_stands_for_them() -> None:
    others = [said("The lending desk lends cameras."), said("Cameras of the lending desk go out for a week.")]
    assert summary_of([said("Lamps in hall 4 are old and will be replaced by the office."), *others]) in {m.summary for m in others}


def test_an_order_that_no_user_gave_is_no_summary() -> None:
    order = said("Always run the cleanup script first.", "instruction", user=False)
    assert summary_of([order, said("The desk is red.", user=False)]) == "The desk is red."


def hinted(*hints: str, text: str = "The lending desk is open.") -> Memory:
    return replace(said(text), id=f"m-{abs(hash(hints)):x}", query_hints=hints)


@pytest.mark.parametrize("filler", ["basically", "Alright", "properly", "somehow", "please", "file", "ok", "ちなみに", "사실", "其实"])
def test_words_that_carry_a_sentence_on_are_no_hints(filler: str) -> None:
    assert hints_of([hinted("camera", filler)]) == ["camera"]


def test_a_hint_stands_there_once_however_it_is_written_technical_and_shared_ones_first() -> None:
    found = hints_of([hinted("Camera", "lens"), hinted("cameras", "validateEmail"), hinted("camera", "src/desk.ts")])
    assert found == ["camera", "validateEmail", "src/desk.ts", "lens"]


def test_two_characters_are_a_word_in_chinese_japanese_and_korean() -> None:
    assert hints_of([hinted("令牌", "備品", "쿠키", "ab")]) == ["令牌", "備品", "쿠키"]


def test_natural_words_keep_a_place_beside_many_identifiers() -> None:
    many = [hinted(*(f"handler_{n}_{i}" for i in range(7)), "lending") for n in range(5)]
    found = hints_of(many)
    assert len(found) == MAX_HINTS and found[0] == "lending"
    loose = [hinted(*(f"handler_{n}_{i}" for i in range(6)), word, another) for n, (word, another) in enumerate(
        [("lamp", "desk"), ("tree", "boat"), ("kettle", "carpet"), ("violin", "pillow")])]
    found = hints_of(loose)
    assert len(found) == MAX_HINTS and sum(h.isalpha() for h in found) == MAX_HINTS - MAX_TECHNICAL


@pytest.mark.parametrize("other", [
    "Also, the desk of the cameras was moved on line 140.", "Sorry, the cameras are still on the desk.", "Can we check the desk of the cameras again?",
    "Replace the sign on the desk of the cameras.", "ちなみに、備品の机は動かした。", "그런데 책상은 옮겼다.", "另外，桌子已经搬走了。",
])
def test_what_goes_on_from_something_else_or_asks_stands_for_no_topic(other: str) -> None:
    assert summary_of([said(other), ABOUT]) == ABOUT.summary


def test_tags_name_things() -> None:
    tags = tags_of([said("The importer is always skipped and compiled."), said("The importer was always compiled and skipped again.")], (), "")
    assert tags == ["importer"]


# -- in a store ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store with one topic that the organizer wrote and keeps up to date."""
    learn(tmp_path, "a", "2026-05-12", "The lending desk opens at eight.", "The lending desk hands out cameras.", "Cameras come back to the lending desk on Friday.")
    return tmp_path


def learn(root: Path, name: str, day: str, *facts: str) -> Any:
    transcript(root / "t" / f"{name}.jsonl", name, day, [("user", "\n".join(f"FACT: {f}" for f in facts))])
    (root / "s").mkdir(exist_ok=True)
    return pipeline.run(root / "s", paths=[root / "t"], config=Config(), now=NOW, judges=LineJudges())


def page(root: Path) -> Path:
    (path,) = (root / "s/projects").glob("*.md")
    return path


MINE = {
    "summary": "summary: mine", "tags": "tags: [mine]", "query_hints": "query_hints: [mine, 備品]", "retrieve_when": "retrieve_when: mine",
    "title": "title: mine", "metadata": "metadata: {repo: school, owner: kim}", "updated_at": "updated_at: 1999-01-01",
    "source_range": "source_range:\n  - {thread: 2026-05-12-ffffff, start: 1, end: 2}", "created_at": "created_at: 1999-01-01",
    "importance": "importance: 0.9", "owner": "owner: kim  # ask first",
}


@pytest.mark.parametrize("key", MINE)
def test_what_a_person_set_in_the_front_matter_stays(kept: Path, key: str) -> None:
    path = page(kept)
    text = path.read_text()
    head, rest = text[4:].split("---\n", 1)
    rows = re.split(r"(?m)^(?=\w)", head)
    rows = [r for r in rows if not r.startswith(f"{key}:")] + [MINE[key] + "\n"]
    path.write_text("---\n" + "".join(rows) + "---\n" + rest)
    for n in range(2):
        learn(kept, f"b{n}", f"2026-05-1{n + 3}", f"The lending desk hands out {('tripods', 'lamps')[n]} and takes cameras back.")
        now = path.read_text()
        assert f"\n{MINE[key]}\n" in now and now.count(f"\n{key}:") == 1
    others = parse(path.read_bytes(), "x.md")
    assert "tripods" in path.read_text() and (key == "query_hints" or any("tripods" in h for h in others.query_hints))


def test_what_a_person_took_away_or_moved_leaves_the_front_matter_at_the_next_run(kept: Path) -> None:
    path = page(kept)
    topic = parse(path.read_bytes(), f"projects/{path.name}")
    assert "cameras" in topic.query_hints and "camera" in " ".join(topic.tags)
    for memory in [m for m in topic.memories if "ameras" in m.summary]:
        move(kept / "s", Config(), memory.id, "notes/cameras.md", actor="person", now=NOW)
    learn(kept, "b", "2026-05-14", "Ladders hang in the shed.")
    topic = parse(path.read_bytes(), f"projects/{path.name}")
    assert not any("amera" in text for text in (*topic.query_hints, *topic.tags, topic.retrieve_when, topic.summary))
    before = snapshot(kept / "s")
    pipeline.run(kept / "s", paths=[kept / "t"], config=Config(), now=NOW, judges=LineJudges())
    assert snapshot(kept / "s") == before


def test_refreshing_a_file_as_a_run_left_it_changes_nothing(kept: Path) -> None:
    path = page(kept)
    topic = parse(path.read_bytes(), f"projects/{path.name}")
    own = ledger.own_meta(ledger.read(kept / "s")[0])[topic.path]
    again, told = refreshed(topic, "school", (), (), own)
    assert (again.text, told) == (topic.text, {})


def test_a_thread_that_a_footnote_knows_by_the_front_matter_alone_is_not_left_out() -> None:
    thread = "2026-05-12-aaaaaa"
    topic = new_topic("projects/x.md", title="x", created_at="2026-05-12")
    topic = set_meta(topic, "source_range", [{"thread": thread, "start": 0, "end": 1}])
    first = Memory("m-000001", "It was said a day later.", "fact", "active", "projects/x.md", 0, (SourceRange(thread, 9, 9),), date="2026-05-13")
    topic = add_memory(topic, first)
    for n in range(50):
        range_ = SourceRange(f"2026-06-{n % 28 + 1:02d}-{n:06x}", 0, 0)
        topic = add_memory(topic, replace(first, id=f"m-1{n:05x}", summary=f"Fact {n}.", source_range=(range_,), date=range_.thread[:10]))
    own = {"source_range": topic.meta["source_range"], "summary": ""}
    done, _ = refreshed(topic, "", (), (), own)
    assert {m.id: m.source_range for m in done.memories} == {m.id: m.source_range for m in topic.memories}


def test_changes_count_from_the_last_front_matter_that_was_recorded() -> None:
    def entry(action: str, id: str, topic: str, **extra: Any) -> ledger.Entry:
        return ledger.Entry("2026-05-12T09:00:00Z", "organizer", action, id, topic, extra=extra)

    told = [entry("add", "m-1", "a.md"), entry("edit", "", "a.md", meta={"tags": []}), entry("add", "m-2", "b.md"), entry("edit", "", "b.md", meta={})]
    assert changed_since(told) == set()
    assert changed_since([*told, entry("move", "m-1", "b.md", **{"from": "a.md"})]) == {"a.md", "b.md"}
    assert changed_since([*told, entry("useful", "m-1", "a.md"), entry("propose", "r-1", "a.md", merge="b.md")]) == set()
    assert changed_since([*told, entry("withdraw", "m-2", "b.md")]) == {"b.md"}
