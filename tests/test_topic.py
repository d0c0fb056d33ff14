import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from topics import SAMPLE, documents, mutations

from memoryfs.model import SourceRange
from memoryfs.topic import memory_id, parse, render, split_lines


def read(text: str | bytes):
    return parse(text if isinstance(text, bytes) else text.encode(), "projects/x.md")


def summaries(text: str) -> list[str]:
    return [memory.summary for memory in read(text).memories]


def check(data: bytes) -> None:
    topic = parse(data, "projects/x.md")
    assert render(topic) == data
    assert "".join(topic.lines) == topic.text
    count = len(topic.lines)
    for item in (*topic.items, *topic.review_items):
        assert 0 <= item.start <= item.text_start < item.text_end <= item.end <= count
        assert item.start < item.own_end <= item.end
    for section in topic.sections:
        assert 0 <= section.start < section.end <= count
    assert all(1 <= line <= count for line, _ in topic.prose)
    assert all(1 <= memory.line <= count for memory in topic.memories)
    str([m.summary for m in topic.memories] + [text for _, text in topic.prose] + [topic.title]).encode("utf-8")


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=80) | documents)
@example(b"\xff\xfe\x00")
@example(b"---\r\x0a\r---\n- a")
@example("- \u2028 x\n".encode())
def test_round_trip_of_every_byte_string(data):
    check(data)


@settings(max_examples=600, deadline=None)
@given(mutations())
def test_round_trip_of_changed_topic_files(data):
    check(data)


@pytest.mark.slow
@settings(max_examples=100_000, deadline=None)
@given(st.binary(max_size=60) | documents | mutations())
def test_round_trip_a_hundred_thousand_times(data):
    check(data)


@given(st.text(st.sampled_from("a\r\n\x0b\u2028é")))
def test_lines_are_split_where_markdown_it_splits(text):
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.rstrip("\r\n") + end == line for line in lines for end in [line[len(line.rstrip("\r\n")):]]
               if end in ("\n", "\r\n", "\r", ""))
    assert len(lines) == len(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")) or not text


def test_the_sample_reads_as_a_person_would():
    topic = read(SAMPLE)
    assert not topic.problems and topic.writable
    assert (topic.title, topic.status, topic.importance) == ("School auth", "active", 0.9)
    assert topic.tags == ("auth", "email-validation") and topic.query_hints == ("validateEmail", "メールアドレス 正規表現")
    assert topic.source_range == (SourceRange("2026-05-12-3f9a21", 128, 146),)
    fact, own, task, done, gone = topic.memories
    assert (fact.id, fact.kind, fact.status, fact.line) == ("m-7c01d2", "fact", "active", 16)
    assert fact.summary == "teacher.example.ed.jp is allowed; alumni.example.ed.jp is not."
    assert fact.source_range == (SourceRange("2026-05-12-3f9a21", 128, 146),)
    assert fact.query_hints == ("validateEmail", "AUTH_ALLOWED_DOMAINS") and fact.stated_by == "organizer"
    assert fact.quote == "古い alumni.example.ed.jp はもう通さないで" and fact.date == "2026-05-12"
    assert (own.summary, own.stated_by, own.metadata["adopted"]) == ("a hand-written one", "person", False)
    assert own.id == memory_id("a hand-written one", "projects/x.md")
    assert own.metadata["children"] == ("with a child over two lines",)
    assert (task.kind, task.done, done.done, done.stated_by, done.date) == ("task", False, True, "person", "2026-05-13")
    assert (gone.status, gone.superseded_by, gone.summary) == (
        "superseded", "m-7c01d2", "alumni.example.ed.jp is allowed too.")
    review, = topic.reviews
    assert (review.id, review.ticked, review.memory_ids) == ("r-4410aa", False, ("m-11b0c4", "m-52e9f8"))
    assert [section.title for section in topic.sections] == [
        "School auth", "Facts", "Tasks", "Needs review", "History"]
    assert topic.prose == ((11, "# School auth"), (13, "Prose that a person wrote, with [[a link]] and ![[an embed]]."))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_read_the_same(end):
    assert read(SAMPLE.replace("\n", end)).memories == read(SAMPLE).memories


def test_line_ends_of_different_kinds_do_not_melt_into_one():
    topic = read("---\ra: b\n---\r\n\r## Facts\r\n- one\r\r\n- two\n")
    assert [(memory.summary, memory.line) for memory in topic.memories] == [("one", 6), ("two", 8)]
    assert [topic.lines[item.start] for item in topic.items] == ["- one\r", "- two\n"]


def test_fm_03_rules_tables_and_fences_are_not_front_matter():
    text = ("---\ntitle: Real\n---\n# R\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n```diff\n--- a/file\n+++ b/file\n```\n\n"
            "````md\n---\ntitle: Fake\n---\n## Facts\n- not a memory ^m-ffffff\n````\n\ntailmarker\n")
    topic = read(text)
    assert topic.title == "Real" and not topic.memories and not topic.problems
    assert any("tailmarker" in block for _, block in topic.prose)


def test_fm_14_bytes_of_other_encodings_are_read_as_far_as_possible():
    latin = read(b"## Facts\n- caf\x92 one\n- two\n")
    assert [m.summary for m in latin.memories] == ["caf\ufffd one", "two"] and not latin.writable
    assert (latin.problems[0].line, latin.problems[0].column) == (2, 6)
    wide = read("\ufeff## Facts\n- größe\n".encode("utf-16"))
    assert not wide.writable and "UTF-16" in wide.problems[0].message
    nul = read(b"## Facts\n- a\x00b\n")
    assert not nul.writable and nul.problems[0].line == 2 and nul.memories[0].summary == "a\ufffdb"


def test_fm_17_headings_inside_code_and_odd_headings():
    text = ("# T\n\n## Setup\n````sh\n```\n# install\n```\n````\n~~~\n## no\n~~~\n\n## C#\ntext\n\n    ```\n    # no\n"
            "\n## Usage\nu\n\nSetext one\n---\ns\n")
    topic = read(text)
    assert [(s.title, s.level) for s in topic.sections] == [
        ("T", 1), ("Setup", 2), ("C#", 2), ("Usage", 2), ("Setext one", 2)]
    usage = topic.sections[3]
    assert "".join(topic.lines[usage.start:usage.end]) == "## Usage\nu\n\n"


def test_idx_09_git_conflict_markers():
    text = "# T\n## Facts\n<<<<<<< HEAD\n- a ^m-000001\n=======\n- b ^m-000002\n>>>>>>> other\n"
    topic = read(text)
    assert not topic.writable and topic.problems[0].line == 3 and "conflict" in topic.problems[0].message
    assert {"m-000001", "m-000002"} <= {memory.id for memory in topic.memories}
    assert not read("---\na: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n---\n").writable
    for fine in ("```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n", "T\n=======\n", ">>>>>>> deep quote\n"):
        assert read(fine).writable


def test_duplicate_ids_are_named_with_both_lines():
    topic = read("## Facts\n- a ^m-000001\n- b ^m-000001\n")
    assert not topic.writable and topic.problems[0].message == "the id ^m-000001 stands twice (lines 2 and 3)"


def test_only_list_items_of_our_sections_or_with_an_id_are_memories():
    text = ("# T\n- intro\n- pinned ^m-000001\n\n## Facts:\n1. one\n2. two\n\n> - quoted\n> - kept ^m-000002\n\n"
            "### Backend\n* three\n\n## Links\n- no\n\n## facts\n+ four\n- [x] five\n\nA paragraph. ^m-000003\n\n"
            "- ```\n  code\n  ```\n- <div>html</div>\n- \n")
    assert summaries(text) == ["pinned", "one", "two", "kept", "three", "four", "five", "A paragraph."]


def test_a_nested_item_with_an_id_is_a_memory_of_its_own():
    outer, inner = read("## Facts\n- outer ^m-000001\n  - child\n  - inner ^m-000002\n").memories
    assert (outer.metadata["children"], inner.id, inner.kind) == (("child",), "m-000002", "fact")


def test_an_id_may_stand_in_a_later_paragraph_of_its_item():
    memory, = read("## Facts\n- first words\n\n  second words ^m-000001\n").memories
    assert (memory.id, memory.summary) == ("m-000001", "first words second words")


def test_ids_and_references_inside_code_are_text():
    memory, = read("## Facts\n- see `^m-000009` and `[^3f9a21:1]` ^m-000001\n").memories
    assert (memory.id, memory.summary, memory.source_range) == ("m-000001", "see `^m-000009` and `[^3f9a21:1]`", ())


def test_a_persons_own_footnotes_are_not_sources():
    memory, = read("## Facts\n- a[^1] b [^x] c [^3f9a21:4] ^m-000001\n\n[^1]: mine\n").memories
    assert memory.summary == "a b [^x] c" and memory.source_range == (SourceRange("undated-3f9a21", 4, 4),)


def test_a_footnotes_thread_comes_from_front_matter_then_its_date_then_its_own_word():
    head = "---\nsource_range: [{thread: 2026-01-01-aaaaaa, start: 1, end: 2}]\n---\n"
    item = "## Facts\n- a [^aaaaaa:1] [^bbbbbb~2:3-4] [^cccccc:5] ^m-000001\n\n"
    notes = "[^aaaaaa:1]: 2026-03-03\n[^bbbbbb~2:3-4]: 2026-02-02\n[^cccccc:5]: 2026-02-02; thread 2026-01-31-cccccc\n"
    memory, = read(head + item + notes).memories
    assert [str(r.thread) for r in memory.source_range] == ["2026-01-01-aaaaaa", "2026-02-02-bbbbbb~2", "2026-01-31-cccccc"]
    assert memory.date == "2026-03-03"


@pytest.mark.parametrize(("line", "status", "summary"), [
    ("- ~~old~~", "superseded", "old"), ("- ~~old~~ ^m-000001", "superseded", "old"),
    ("- ~~an old sentence here~~ no more", "superseded", "an old sentence here"),
    ("- the port is ~~8080~~ 9090", "active", "the port is 9090"), ("- `~~code~~`", "active", "`~~code~~`"),
    ("- [ ] ~~old~~", "superseded", "old"), ("- a ~ b ~~ c", "active", "a ~ b ~~ c"),
])
def test_striking_out_supersedes(line, status, summary):
    memory, = read(f"## Facts\n{line}\n").memories
    assert (memory.status, memory.summary) == (status, summary)


def test_open_reviews_make_memories_conflicted_until_they_are_ticked():
    text = "## Facts\n- a ^m-000001\n- b ^m-000002\n\n## Needs review\n- [ ] [[#^m-000001]] or [[x#^m-000002|b]]? ^r-000001\n"
    assert [m.status for m in read(text).memories] == ["conflicted", "conflicted"]
    ticked = read(text.replace("[ ]", "[x]"))
    assert [m.status for m in ticked.memories] == ["active", "active"] and ticked.reviews[0].ticked


def test_history_of_a_person_is_prose_unless_it_is_struck_or_has_an_id():
    topic = read("## History\n- founded in 1999\n- ~~gone~~\n- moved ^m-000001\n")
    assert [(m.summary, m.status) for m in topic.memories] == [("gone", "superseded"), ("moved", "superseded")]
    assert topic.prose == ((2, "- founded in 1999"),)


def test_equal_hand_written_items_get_ids_of_their_own():
    one, two = read("## Facts\n- same\n- same\n").memories
    assert one.id != two.id and read("## Facts\n- same\n- same\n").memories == (one, two)


def test_properties_of_odd_front_matter():
    topic = parse(b"---\ntags: '#a, b'\nquery_hints: x\nretrieve_when: [p, q]\nimportance: high\nstatus: Done\n"
                  b"title: [no]\nsource_range: [2026-01-01-aaaaaa:1-2, junk, {thread: 5}]\n---\ntext\n", "notes/a b.md")
    assert (topic.tags, topic.query_hints, topic.retrieve_when) == (("a", "b"), ("x",), "p; q")
    assert (topic.importance, topic.status, topic.title) == (0.5, "active", "a b")
    assert topic.source_range == (SourceRange("2026-01-01-aaaaaa", 1, 2),)


def test_an_open_fence_is_named():
    topic = read("# T\n\n```sh\n## Facts\n- a\n")
    assert [(p.line, p.severity) for p in topic.problems] == [(3, "warning")] and not topic.memories
    assert not read("```\na\n```\n").problems and not read("~~~\na\n~~~~\n").problems


def test_deep_nesting_and_long_lines_are_read_in_time():
    begun = time.perf_counter()
    check("".join("  " * n + f"- level {n}\n" for n in range(300)).encode())
    check(b"> " * 3000 + b"x\n")
    check(b"## Facts\n- " + b"[^" * 20000 + b"~~" * 20000 + b"`" * 20000 + b" ^m-000001\n")
    check(b"## Facts\n" + b"- x `a ~~ \\\n" * 3000)
    assert time.perf_counter() - begun < 10


def test_a_thousand_files_of_five_kilobytes_are_read_in_five_seconds():
    data = (SAMPLE + "\n" + "Some prose of a person, with `code` and a [link](x.md).\n\n" * 60).encode()[:5000]
    begun = time.perf_counter()
    for _ in range(100):
        parse(data, "projects/x.md")
    assert (time.perf_counter() - begun) * 10 < 20  # four times the promise: the machine may be busy


def test_fm_18_the_front_matter_of_a_pasted_file_holds_no_memories():
    one = "---\ntitle: A\nsource_range:\n  - {thread: 2026-05-01-19f6bd, start: 0, end: 0}\n---\n## Facts\n- One.\n"
    for between in ("", "\n", "\n[^19f6bd:0]: 2026-05-01\n"):
        topic = read(one + between + one)
        assert [m.summary for m in topic.memories] == ["One.", "One."]
        assert any("second front-matter block" in p.message for p in topic.problems) and topic.writable
        assert "2026-05-01-19f6bd" in " ".join(text for _, text in topic.prose)


@pytest.mark.parametrize("text", [
    "## Facts\n- a\n\n---\nPorts:\n- 8080\n---\n- b\n",  # a list between two rules
    "## Facts\n- a\n\n---\n\n- 8080\n\n---\n- b\n",
])
def test_fm_03_rules_in_the_text_are_no_front_matter(text):
    assert summaries(text) == ["a", "8080", "b"]


def test_fm_03_a_sample_note_in_a_fence_is_no_second_block():
    text = "## Facts\n```\n---\ntitle: Fake\n---\n```\n- a\n---\nno: pair\n"
    assert summaries(text) == ["a"] and not read(text).problems
