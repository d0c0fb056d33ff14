"""Marks in footnotes: when to check a memory again, and what left its repository; kept apart from the person's words."""

from __future__ import annotations

from datetime import date

import pytest

from memoryfs import staleness, topic_edit
from memoryfs.notation import Note, read_note, write_note
from memoryfs.topic import Topic, parse

DAY = "2026-06-03"
PAGE = """# School

## Facts
- The check is in `src/auth.ts`. [^3f9a21:1] ^m-aa01
- It uses React 18.2.0. [^3f9a21:4] ^m-aa02
- It needs Node 20. [^3f9a21:4] ^m-aa03
- Kim is the lead. [^person:2026-05-13] ^m-aa04

[^3f9a21:1]: 2026-05-12; hints: auth; "the check"
[^3f9a21:4]: 2026-05-12; hints: react; "18.2.0"; m-aa03: hints: node
[^person:2026-05-13]: 2026-05-13; stated by a person
"""


def page() -> Topic:
    return parse(PAGE.encode(), "projects/school.md")


def mark(topic: Topic, id: str, *, recheck: str, changed: tuple[str, tuple[str, ...]]) -> Topic:
    return topic_edit.set_marks(topic, {id: (recheck, changed)})


def of(topic: Topic, id: str):
    return next(m for m in topic.memories if m.id == id)


@pytest.mark.parametrize("note", [
    Note("2026-05-12", None, ("a",), "q", "", (), "", (("", "2026-08-01"),), ()),
    Note("2026-05-12", None, (), "", "said by the user", (("m-1", ("b",), ""),), "x",
         (("", "2026-08-01"), ("m-1", "2026-09-01")), (("m-1", DAY, ("src/a,b;c.ts gone", "`x` gone", "名前 gone")),)),
    Note(None, None, (), "", "", (), "", (), (("", DAY, ()),)),
])
def test_marks_read_back(note):
    assert read_note(write_note(note)) == note


def test_a_person_can_write_the_date():
    note = read_note('2026-05-12; Recheck 2026-09-01; hints: a; "q"')
    assert note.recheck == (("", "2026-09-01"),) and note.text == "" and note.quote == "q"
    assert read_note("2026-05-12; recheck soon").text == "recheck soon"


def test_only_the_footnote_changes():
    made = mark(page(), "m-aa01", recheck="", changed=(DAY, ("src/auth.ts gone",)))
    differing = [b for a, b in zip(PAGE.splitlines(), made.text.splitlines(), strict=True) if a != b]
    assert differing == [f'[^3f9a21:1]: 2026-05-12; source changed {DAY}: src/auth.ts gone; hints: auth; "the check"']
    assert mark(made, "m-aa01", recheck="", changed=("", ())).text == PAGE


def test_memories_that_share_a_footnote_keep_their_own_marks():
    made = mark(page(), "m-aa02", recheck="2026-08-10", changed=("", ()))
    assert of(made, "m-aa02").metadata["recheck"] == "2026-08-10" and "recheck" not in of(made, "m-aa03").metadata
    made = mark(made, "m-aa03", recheck="2026-09-10", changed=(DAY, ("Node gone",)))
    assert [of(made, m).metadata.get("recheck") for m in ("m-aa02", "m-aa03")] == ["2026-08-10", "2026-09-10"]
    assert "source_changed" not in of(made, "m-aa02").metadata
    assert of(made, "m-aa02").query_hints == ("react",) and of(made, "m-aa03").query_hints == ("node",)
    made = mark(made, "m-aa04", recheck="2026-11-09", changed=("", ()))
    assert made.text == topic_edit.set_marks(page(), {
        "m-aa04": ("2026-11-09", ("", ())), "m-aa03": ("2026-09-10", (DAY, ("Node gone",))), "m-aa02": ("2026-08-10", ("", ()))}).text
    assert "stated by a person" in made.text and of(made, "m-aa04").stated_by == "person"
    for id in ("m-aa02", "m-aa03", "m-aa04"):
        made = mark(made, id, recheck="", changed=("", ()))
    assert made.text == PAGE


def test_marks_go_with_a_memory_that_moves_and_leave_with_it():
    made = mark(page(), "m-aa02", recheck="2026-08-10", changed=(DAY, ("18.2.0 gone",)))
    other = parse(b"# Other\n\n## Facts\n- Something. [^person:2026-05-13] ^m-bb01\n\n[^person:2026-05-13]: 2026-05-13\n", "projects/o.md")
    left, there = topic_edit.withdraw(made, "m-aa02"), topic_edit.bring(made, other, "m-aa02")
    assert of(there, "m-aa02").metadata["recheck"] == "2026-08-10"
    assert of(there, "m-aa02").metadata["source_changed"] == f"{DAY}: 18.2.0 gone"
    assert "recheck" not in left.text and "source changed" not in left.text
    made = mark(page(), "m-aa04", recheck="2026-11-09", changed=("", ()))
    there = topic_edit.bring(made, other, "m-aa04")
    assert of(there, "m-aa04").metadata["recheck"] == "2026-11-09" and "recheck" not in of(there, "m-bb01").metadata


def test_why_a_memory_is_stale():
    made = mark(page(), "m-aa01", recheck="2026-08-01", changed=(DAY, ("src/auth.ts gone",)))
    memory = of(made, "m-aa01")
    assert staleness.why(memory, date(2026, 6, 2)) == ""
    assert staleness.why(memory, date(2026, 6, 3)) == f"source changed {DAY}: src/auth.ts gone"
    dated = of(mark(page(), "m-aa01", recheck="2026-08-01", changed=("", ())), "m-aa01")
    assert staleness.why(dated, date(2026, 7, 31)) == ""
    assert staleness.why(dated, date(2026, 8, 1)) == "to be checked again since 2026-08-01"
    assert staleness.counts([memory, dated], date(2026, 8, 2)) == {"source changed": 1, "recheck": 1}
    again = parse(dated_again(made).encode(), "projects/school.md")
    assert staleness.why(of(again, "m-aa01"), date(2026, 8, 2)) == "", "it was said again after both days"


def dated_again(topic: Topic) -> str:
    text = topic.text.replace("[^3f9a21:1] ^m-aa01", "[^3f9a21:1] [^77aa00:2] ^m-aa01")
    return text + "[^77aa00:2]: 2026-08-01\n"
