import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topics import SAMPLE, documents, mutations

from memoryfs import topic_edit as edit
from memoryfs.errors import NotFoundError, UnwritableFileError
from memoryfs.model import MEMORY_KINDS, Memory, SourceRange
from memoryfs.notation import fold
from memoryfs.topic import Topic, parse, render

SOURCE = SourceRange("2026-06-01-abcdef", 3, 5)


def read(text: str | bytes) -> Topic:
    return parse(text if isinstance(text, bytes) else text.encode(), "projects/x.md")


def memory(summary: str = "new words", kind: str = "fact", **more) -> Memory:
    fields = {"id": "m-f00001", "status": "active", "topic": "", "line": 0, "source_range": (SOURCE,), "date": "2026-06-01"}
    return Memory(summary=summary, kind=kind, **{**fields, **more})


def diff(old: Topic | str, new: Topic) -> list[str]:
    """Lines removed (-) and added (+), with their ends."""
    before = list((read(old) if isinstance(old, str) else old).lines)
    return [line[0] + line[1:] for line in difflib.unified_diff(before, list(new.lines), n=0)
            if not line.startswith(("---", "+++", "@@"))]


def by_id(topic: Topic, name: str) -> Memory:
    return next(m for m in topic.memories if m.id == name)


def test_a_memory_goes_to_the_end_of_its_section_with_its_footnote():
    new = edit.add_memory(read(SAMPLE), memory(query_hints=("a_b", "c,d"), quote="it said\n`x` \\d+"))
    assert diff(SAMPLE, new) == [
        "+- new words [^abcdef:3-5] ^m-f00001\n",
        '+[^abcdef:3-5]: 2026-06-01; hints: a_b, `c,d`; "``it said `x` \\d+``"\n']
    made = by_id(new, "m-f00001")
    assert (made.quote, made.query_hints, made.source_range) == ("it said `x` \\d+", ("a_b", "c,d"), (SOURCE,))


def test_sections_are_made_in_their_order():
    new = read("# T\n")
    for number, kind in enumerate(("task", "fact", "instruction", "event")):
        new = edit.add_memory(new, memory(f"{kind} words", kind, id=f"m-{number}"))
    new = edit.add_review(new, "[[#^m-0]] or [[#^m-1]]?", "r-1", ["m-0", "m-1"])
    new = edit.supersede(new, "m-1", by="m-0", on="2026-07-01")
    assert new.text == (
        "# T\n\n## Facts\n\n## Events\n- event words [^abcdef:3-5] ^m-3\n\n## Instructions\n"
        "- instruction words [^abcdef:3-5] ^m-2\n\n## Tasks\n- [ ] task words [^abcdef:3-5] ^m-0\n\n## Needs review\n"
        "- [ ] [[#^m-0]] or [[#^m-1]]? ^r-1\n\n## History\n"
        "- ~~fact words~~ superseded by [[#^m-0]] on 2026-07-01 [^abcdef:3-5] ^m-1\n\n[^abcdef:3-5]: 2026-06-01\n")


def test_one_footnote_serves_several_memories_with_their_own_words():
    new = edit.add_memory(read("# T\n"), memory("one", id="m-1", quote="q1", query_hints=("h1",)))
    new = edit.add_memory(new, memory("two", id="m-2", quote="q2", query_hints=("h2",)))
    new = edit.add_memory(new, memory("three", id="m-3"))
    assert [(m.quote, m.query_hints) for m in new.memories] == [("q1", ("h1",)), ("q2", ("h2",)), ("q1", ("h1",))]
    left = edit.withdraw(edit.withdraw(new, "m-1"), "m-3")
    assert by_id(left, "m-2").quote == "q2" and "q1" not in left.text
    assert "abcdef" not in edit.withdraw(left, "m-2").text


def test_person_and_agent_are_marked():
    new = edit.add_memory(read(SAMPLE), memory(stated_by="person", source_range=()))
    assert diff(SAMPLE, new) == ["+- new words [^person:2026-06-01] ^m-f00001\n",
                                 "+[^person:2026-06-01]: 2026-06-01; stated by a person\n"]
    both = edit.add_memory(read("# T\n"), memory(stated_by="agent"))
    assert (both.memories[0].stated_by, both.memories[0].source_range) == ("agent", (SOURCE,))
    for wrong in (memory(source_range=()), memory(stated_by="person", date=None), memory(" \n"), memory(id="m/1")):
        with pytest.raises(ValueError, match="needs"):
            edit.add_memory(read(SAMPLE), wrong)
    with pytest.raises(ValueError, match="already"):
        edit.add_memory(read(SAMPLE), memory(id="m-7c01d2"))


@pytest.mark.parametrize(("text", "line"), [
    ("## Facts\n* a\n* b\n", "* new words"), ("## Facts\n+   a\n", "+   new words"), ("## Facts\n  - a\n", "  - new words"),
    ("## Facts\n1. a\n", "- new words"), ("## Facts\n- a\n  - child\n\n  more\n", "- new words"),
])
def test_the_neighbours_marker_is_used(text, line):
    new = edit.add_memory(read(text), memory())
    assert f"+{line} [^abcdef:3-5] ^m-f00001\n" in diff(text, new)


def test_line_ends_marks_and_missing_last_newline_stay():
    for end in ("\n", "\r\n", "\r"):
        text = "\ufeff# T\n\n## Facts\n- a".replace("\n", end)
        new = edit.add_memory(read(text), memory())
        assert new.text == text + end + end.join(
            ["- new words [^abcdef:3-5] ^m-f00001", "", "[^abcdef:3-5]: 2026-06-01"])
    mixed = "## Facts\r\n- a\n- b\r\n"
    assert diff(mixed, edit.add_memory(read(mixed), memory()))[0].endswith("m-f00001\r\n")


def test_superseding_moves_the_line_and_keeps_its_words():
    new = edit.supersede(read(SAMPLE), "m-7c01d2", by="projects/y#^m-aaaaaa", on="2026-06-01")
    old = "teacher.example.ed.jp is allowed; alumni.example.ed.jp is not."
    assert diff(SAMPLE, new) == [
        f"-- {old} [^3f9a21:128-146] ^m-7c01d2\n",
        f"+- ~~{old}~~ superseded by [[projects/y#^m-aaaaaa]] on 2026-06-01 [^3f9a21:128-146] ^m-7c01d2\n"]
    made = by_id(new, "m-7c01d2")
    assert (made.status, made.superseded_by, made.metadata["superseded_path"]) == ("superseded", "m-aaaaaa", "projects/y")
    with pytest.raises(ValueError, match="History"):
        edit.supersede(new, "m-7c01d2", by="m-1", on="2026-06-01")


@pytest.mark.parametrize("words", ["~/.config", "a ~~b~~ c", "ends in ~", "`~~`", "two\n  lines", "C:\\dir\\", "\\- x", "x\\~"])
def test_superseding_odd_words_keeps_their_meaning(words):
    text = f"## Facts\n- {words} ^m-000001\n  - child\n"
    new = edit.supersede(read(text), "m-000001", by="m-2", on="2026-06-01")
    made = new.memories[0]
    assert made.summary == read(text).memories[0].summary and made.status == "superseded"
    assert made.metadata["children"] == read(text).memories[0].metadata["children"]


def test_withdrawing_takes_the_item_its_children_and_its_own_footnotes():
    new = edit.withdraw(read(SAMPLE), "m-02ddee")
    assert [line[:20] for line in diff(SAMPLE, new)] == ["-- ~~alumni.example.", '-[^3f9a21:12-30]: 20']
    hand = next(m for m in read(SAMPLE).memories if m.summary.startswith("a hand"))
    assert len(diff(SAMPLE, edit.withdraw(read(SAMPLE), hand.id))) == 3


def test_withdrawing_a_parent_keeps_memories_inside_it():
    text = "## Facts\n- outer ^m-000001\n  - plain child\n  - inner ^m-000002\n    - of inner\n- next ^m-000003\n"
    new = edit.withdraw(read(text), "m-000001")
    assert new.text == "## Facts\n- inner ^m-000002\n  - of inner\n- next ^m-000003\n"


def test_adopting_a_hand_written_item():
    topic = read(SAMPLE)
    hand = next(m for m in topic.memories if not m.metadata.get("adopted", True))
    new = edit.set_id(topic, hand.line, hand.id, source_label="person:2026-11-29")
    assert diff(topic, new) == [
        "-- a hand-written one\n", f"+- a hand-written one [^person:2026-11-29] ^{hand.id}\n",
        "+[^person:2026-11-29]: 2026-11-29; stated by a person\n"]
    assert edit.set_id(new, hand.line, hand.id, source_label="person:2026-11-29").text == new.text
    with pytest.raises(NotFoundError):
        edit.set_id(topic, 1, "m-1")
    with pytest.raises(ValueError, match="m-7c01d2"):
        edit.set_id(topic, 16, "m-1")


def test_adopting_keeps_trailing_blanks_and_continued_lines():
    text = "## Facts\n* one  \n* two\n  lines\n\n  second paragraph\n* [ ] three\r\n"
    topic = read(text)
    for number, made in enumerate(topic.memories):
        topic = edit.set_id(topic, made.line, f"m-{number}")
    assert topic.text == ("## Facts\n* one ^m-0  \n* two\n  lines ^m-1\n\n  second paragraph\n* [ ] three ^m-2\r\n")


def test_reinforcing_adds_a_footnote_or_to_it():
    topic = read(SAMPLE)
    new = edit.add_source(topic, "m-90aa17", SOURCE, date="2026-06-02", hints=["h"], quote="q")
    assert diff(topic, new) == [
        "-- [ ] Add a test for sub-domains. [^3f9a21:150-152] ^m-90aa17\n",
        "+- [ ] Add a test for sub-domains. [^3f9a21:150-152] [^abcdef:3-5] ^m-90aa17\n",
        '+[^abcdef:3-5]: 2026-06-02; thread 2026-06-01-abcdef; hints: h; "q"\n']
    assert by_id(new, "m-90aa17").source_range == (SourceRange("2026-05-12-3f9a21", 150, 152), SOURCE)
    assert edit.add_source(new, "m-90aa17", SOURCE, date="2026-06-02", hints=["h"], quote="q").text == new.text
    said = edit.add_statement(topic, "m-7c01d2", by="person", date="2026-11-29")
    assert by_id(said, "m-7c01d2").stated_by == "person"


def test_replacing_a_summary_keeps_marker_box_and_sources():
    new = edit.replace_summary(read(SAMPLE), "m-90aa18", "# odd ^m-1 words")
    assert diff(SAMPLE, new) == ["-- [x] Rename the flag. [^person:2026-05-13] ^m-90aa18\n",
                                 "+- [x] \\# odd \\^m-1 words [^person:2026-05-13] ^m-90aa18\n"]
    with pytest.raises(ValueError, match="struck"):
        edit.replace_summary(read(SAMPLE), "m-02ddee", "x")


def test_boxes_are_ticked_in_place():
    new = edit.set_done(read(SAMPLE), "m-90aa17")
    assert by_id(new, "m-90aa17").done and len(diff(SAMPLE, new)) == 2
    assert edit.set_done(new, "m-90aa17", False).text == SAMPLE
    assert edit.tick_review(read(SAMPLE), "r-4410aa").reviews[0].ticked
    with pytest.raises(ValueError, match="no checkbox"):
        edit.set_done(read(SAMPLE), "m-7c01d2")


def test_reviews_are_added_and_removed():
    new = edit.add_review(read(SAMPLE), "Which?", "r-1", ["m-7c01d2", "projects/y#^m-aaaaaa"])
    assert diff(SAMPLE, new) == ["+- [ ] Which? [[#^m-7c01d2]] [[projects/y#^m-aaaaaa]] ^r-1\n"]
    assert by_id(new, "m-7c01d2").status == "conflicted"
    assert edit.remove_review(new, "r-1").text == SAMPLE
    with pytest.raises(NotFoundError):
        edit.remove_review(new, "r-2")


def test_a_memory_moves_to_another_file_with_all_it_has():
    source = edit.add_source(read(SAMPLE), "m-7c01d2", SOURCE, date="2026-06-02", hints=["h"], quote="q")
    target = edit.new_topic("projects/y.md", title="Y", created_at="2026-06-01")
    left, moved = edit.withdraw(source, "m-7c01d2"), edit.bring(source, target, "m-7c01d2")
    was, now = by_id(source, "m-7c01d2"), by_id(moved, "m-7c01d2")
    assert (was.summary, was.source_range, was.query_hints, was.quote, was.date, was.metadata["quotes"]) == (
        now.summary, now.source_range, now.query_hints, now.quote, now.date, now.metadata["quotes"])
    assert "m-7c01d2" not in {m.id for m in left.memories} and "abcdef" not in left.text
    hand = next(m for m in left.memories if not m.metadata.get("adopted", True))
    with_id = edit.set_id(left, hand.line, hand.id, source_label="person:2026-11-29")
    moved = edit.bring(with_id, moved, hand.id)
    assert by_id(moved, hand.id).metadata["children"] == ("with a child over two lines",)


def test_files_that_are_not_safe_to_edit_are_left_alone():
    for text in ("---\na: b: c\n---\n", "- a ^m-1\n- b ^m-1\n", "<<<<<<< a\n=======\n>>>>>>> b\n", "---\na: 1\n"):
        topic = read(text)
        for change in (lambda t: edit.add_memory(t, memory()), lambda t: edit.set_meta(t, "k", "v"),
                       lambda t: edit.add_review(t, "x", "r-1", [])):
            with pytest.raises(UnwritableFileError, match=r"projects/x\.md"):
                change(topic)


def test_text_after_an_open_fence_is_not_written_into_the_code():
    with pytest.raises(UnwritableFileError, match="line 3: a code fence is never closed"):
        edit.add_memory(read("# T\n\n```\ncode\n"), memory())
    with pytest.raises(UnwritableFileError):
        edit.add_memory(read("# T\n\n<!-- hidden\n"), memory())


def test_an_item_that_starts_inside_another_ones_line_is_left_alone():
    with pytest.raises(UnwritableFileError):
        edit.supersede(read("## Facts\n- - x ^m-000001\n  - child\n"), "m-000001", by="m-2", on="2026-06-01")


ODD = st.text(max_size=15) | st.sampled_from(
    ["- a", "1. b", "`code` [^x] ~~q~~", "C:\\x <!-- --> ^m-aaaaaa", "| t |", "[a]: b", "~/x~", "```x", "a\n\nb", "# h", "---", "C:\\dir\\", "x\\~"])


@settings(max_examples=400, deadline=None)
@given(ODD.filter(fold), ODD, st.lists(ODD, max_size=2), st.sampled_from(MEMORY_KINDS), st.booleans())
def test_any_text_can_be_added_and_reads_back(summary, quote, hints, kind, gone):
    new = edit.add_memory(read(SAMPLE), memory(summary, kind, quote=quote, query_hints=tuple(hints),
                                               status="superseded" if gone else "active", superseded_by="m-7c01d2"))
    made = by_id(new, "m-f00001")
    assert (made.summary, made.quote) == (fold(summary), fold(quote))
    assert made.query_hints == tuple(dict.fromkeys(hint for hint in map(fold, hints) if hint))
    assert [line for line in diff(SAMPLE, new) if line[0] == "-"] == []


def _edits(draw_index: int, topic: Topic):
    found = topic.memories[draw_index % len(topic.memories)] if topic.memories else None
    yield lambda: edit.add_memory(topic, memory())
    yield lambda: edit.add_review(topic, "which?", "r-f00001", ["m-f00001"])
    yield lambda: edit.set_meta(topic, "tags", ["a", "no"])
    if found:
        yield lambda: edit.supersede(topic, found.id, by="m-2", on="2026-02-02")
        yield lambda: edit.withdraw(topic, found.id)
        yield lambda: edit.add_source(topic, found.id, SOURCE, date="2026-06-01", quote="q")
        yield lambda: edit.replace_summary(topic, found.id, "other words")
        yield lambda: edit.set_id(topic, found.line, found.id, source_label="person:2026-11-29")


@settings(max_examples=300, deadline=None)
@given(mutations() | documents, st.integers(0, 5))
def test_an_edit_of_any_file_touches_few_lines_or_is_refused(data, index):
    topic = read(data)
    before = list(topic.lines)
    for change in _edits(index, topic):
        try:
            new = change()
        except (UnwritableFileError, ValueError):
            continue
        assert topic.writable and new.writable
        after = list(new.lines)
        match = difflib.SequenceMatcher(None, before, after, autojunk=False)
        gone = sum(b - a for tag, a, b, _, _ in match.get_opcodes() if tag != "equal")
        item = max((i.end - i.start for i in topic.items), default=0)
        assert gone <= item + 4
        assert render(new) == new.text.encode("utf-8", "surrogateescape")


def test_what_stands_below_the_words_of_an_item_goes_with_it():
    text = ("# T\n\n## Facts\n- Old value is 7. ^m-000001\n\n  A second paragraph by a person.\n\n  ```\n  code\n  ```\n  - nested\n"
            "- New value is 14. ^m-000002\n")
    before = parse(text.encode(), "a.md")
    after = render(edit.supersede(before, "m-000001", by="m-000002", on="2026-05-14")).decode()
    for line in ("A second paragraph by a person.", "code", "- nested"):
        assert after.count(line) == 1
    old = next(m for m in parse(after.encode(), "a.md").memories if m.id == "m-000001")
    assert old.summary == "Old value is 7." and old.status == "superseded"


def test_code_above_the_id_of_an_item_is_not_lost():
    text = "# T\n\n## Facts\n- First.\n\n  ```\n  code\n  ```\n\n  Second. ^m-000001\n- New ^m-000002\n"
    before = parse(text.encode(), "a.md")
    assert before.memories[0].id == "m-000001"
    with pytest.raises(UnwritableFileError):
        edit.supersede(before, "m-000001", by="m-000002", on="2026-05-14")
