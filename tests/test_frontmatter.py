import datetime
import json
import time
import tracemalloc

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from memoryfs import topic, topic_edit
from memoryfs.errors import UnwritableFileError
from memoryfs.topic_edit import yaml as yaml_edit
from memoryfs.topic_edit.yaml import flow, plain, scalar


def parse(text: str | bytes) -> topic.Topic:
    return topic.parse(text if isinstance(text, bytes) else text.encode(), "projects/x.md")


def messages(text: str | bytes) -> list[tuple[int, str]]:
    return [(p.line, p.message) for p in parse(text).problems]


def changed(text: str, key: str, value: object) -> tuple[list[str], list[str]]:
    """The lines taken away and the lines added by setting one key."""
    before = parse(text)
    after = topic_edit.set_meta(before, key, value)
    old, new = list(before.lines), list(after.lines)
    gone = [line for line in old if line not in new]
    return gone, [line for line in new if line not in old]


def test_fm_01_byte_order_mark():
    made = parse(b"\xef\xbb\xbf---\ntitle: Bom\ntags: [a]\n---\nbody")
    assert (made.title, made.tags, made.prose) == ("Bom", ("a",), ((5, "body"),))
    edited = topic.render(topic_edit.set_meta(made, "tags", ["a", "b"]))
    assert edited == b"\xef\xbb\xbf---\ntitle: Bom\ntags: [a, b]\n---\nbody"
    bare = parse(b"\xef\xbb\xbf# Head\n")
    assert bare.heading == "Head" and not any("\ufeff" in text for _, text in bare.prose)
    assert topic.render(topic_edit.set_meta(bare, "tags", ["a"])) == b"\xef\xbb\xbf---\ntags: [a]\n---\n# Head\n"
    broken = parse(b"\xef\xbb\xbf---\ntitle: a: b\n---\nbody")
    assert not broken.writable and not any("\ufeff" in text for _, text in broken.prose)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_fm_02_other_line_ends_read_and_stay(end):
    text = "---\ntype: note\ntags: [a, b]\nhints:\n  - x\n---\nbody\n".replace("\n", end)
    made = parse(text)
    assert dict(made.meta) == {"type": "note", "tags": ["a", "b"], "hints": ["x"]}
    assert topic_edit.set_meta(made, "hints", ["x", "z"]).text == text.replace(f"- x{end}", f"- x{end}  - z{end}")
    assert topic_edit.set_meta(made, "title", "T").text == text.replace(f"---{end}body", f"title: T{end}---{end}body")


def test_fm_02_mixed_line_ends_take_the_neighbours():
    text = "---\ntitle: A\ntags: [a]\r\n---\nbody\r\n"
    assert topic_edit.set_meta(parse(text), "tags", ["b"]).text == "---\ntitle: A\ntags: [b]\r\n---\nbody\r\n"
    assert topic_edit.set_meta(parse(text), "z", "b").text == "---\ntitle: A\ntags: [a]\r\nz: b\r\n---\nbody\r\n"


def test_fm_04_a_letterhead_is_text():
    text = "---\n**ACME LEGAL**\nJane Doe\n---\nDemand for 5,000 by Friday."
    made = parse(text)
    assert made.problems[0].severity == "warning" and "not YAML" in made.problems[0].message
    assert "ACME" in str(made.prose) and "Demand" in str(made.prose)
    with pytest.raises(UnwritableFileError):
        topic_edit.set_meta(made, "title", "T")


def test_fm_05_unclosed_block_is_text():
    made = parse("---\ntitle: Open\n--\n\nreal text alpha")
    assert messages("---\ntitle: Open\n--\n\nreal text alpha")[0][0] == 1
    assert "real text alpha" in str(made.prose) and not made.meta and not made.writable
    later_rule = parse("---\ntitle: Open\n\n# Head\n\n**a:** b\n\n---\n\nalpha")
    assert "not closed" in later_rule.problems[0].message and later_rule.heading == "Head"


@pytest.mark.parametrize("text", ["", "---", "---\n---", "---\n---\n", " \n\t\n", "\ufeff", "---\n...\n"])
def test_fm_06_tiny_files_read_and_can_be_edited(text):
    made = parse(text)
    assert not made.meta and topic.render(made) == text.encode()
    if text != "---":
        assert topic_edit.set_meta(made, "title", "T").title == "T"


def test_fm_06_a_fence_at_the_end_without_newline():
    made = parse("---\ntitle: A\n---")
    assert topic_edit.set_meta(made, "tags", ["x"]).text == "---\ntitle: A\ntags: [x]\n---"


@pytest.mark.parametrize(("line", "column"), [
    ("title: Re: plan", 10), ("t: foo: bar", 7), ("t: a: b", 5), ("a: @x", 4), ("a: `x`", 4), ("tags: [a, b", 0),
])
def test_fm_07_colon_in_value_is_named_and_left_alone(line, column):
    made = parse(f"---\nok: 1\n{line}\n---\nbody alpha")
    problem = made.problems[0]
    assert problem.severity == "error" and not made.writable and "body alpha" in str(made.prose)
    assert problem.line in (3, 4) and (not column or problem.column == column)
    for edit in (lambda: topic_edit.set_meta(made, "title", "T"), lambda: topic_edit.add_review(made, "x", "r-1", [])):
        with pytest.raises(UnwritableFileError, match=f"line {problem.line}"):
            edit()


def test_fm_07_a_tab_after_the_colon_is_named():
    assert [p for p in parse("---\nt:\tfoo\n---\n").problems if p.line == 2]


TITLES = ["Fix: \"a\" # b\nc", "- dash", "*star", "no", "2026-01-02", "{{x}}", "yes", "trailing:", "x" * 300, "🚀 go",
          "12:30", "007", "1_000", "~", "null", "a\\b", "'q'", "\"q\"", "é\u0301", "a: b", "#tag", "&a", "!x", "%y",
          "@z", "`c`", "|", ">", "?", "- ", "[a]", "a,b", "Y", "on", "0x1F", "1e3", ".inf", "=", "<<", "\u2028x", "\x85x"]


@pytest.mark.parametrize("title", TITLES)
def test_fm_08_what_we_write_reads_back_everywhere(title):
    made = topic_edit.new_topic("p/x.md", title=title, tags=["x", "y", title], created_at="2026-01-02")
    folded = " ".join(title.split())
    assert made.title == folded and made.tags[:2] == ("x", "y")
    block = made.text.split("---\n")[1]
    for values in (yaml.safe_load(block), YAML(typ="safe").load(block)):
        assert values["title"] == folded and values["tags"][:2] == ["x", "y"]
    again = topic_edit.set_meta(made, "title", folded)
    assert again.text == made.text


def test_fm_09_duplicate_keys():
    text = "---\nstatus: draft\nstatus: final\na: 1\n---\n"
    made = parse(text)
    assert made.meta["status"] == "final" and made.writable
    assert messages(text) == [(3, "`status` stands twice in the front matter (lines 2 and 3); the last one counts")]
    assert topic_edit.set_meta(made, "a", 2).text == text.replace("a: 1", "a: 2")


def test_fm_10_dates_stay_text(monkeypatch):
    text = ("---\ncreated: 2026-03-16\nupdated: 2026-03-16T10:00:00+09:00\ntitle: 2026-12-19\n"
            "tags: [2026-01-01, x]\n---\n")
    for zone in ("America/Los_Angeles", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        made = parse(text)
        assert json.loads(json.dumps(dict(made.meta))) == {
            "created": "2026-03-16", "updated": "2026-03-16T10:00:00+09:00", "title": "2026-12-19",
            "tags": ["2026-01-01", "x"]}
        assert topic_edit.set_meta(made, "a", "b").text == text.replace("x]\n", "x]\na: b\n")
    monkeypatch.undo()
    time.tzset()


def test_fm_11_yaml_1_1_surprises():
    text = "---\nlang: no\ntime: 12:30\nversion: 1.10\nid: 007\non: push\nn: 1_000\ntags: [yes, no, 007]\n1: a\nnull: b\n---\n"
    made = parse(text)
    assert dict(made.meta) == {"lang": "no", "time": "12:30", "version": "1.10", "id": "007", "on": "push", "n": "1_000",
                               "tags": ["yes", "no", "007"], "1": "a", "null": "b"}
    assert topic_edit.set_meta(made, "other", "x").text == text.replace("null: b\n", "null: b\nother: x\n")
    assert topic_edit.set_meta(made, "tags", ["yes", "no", "007", "on"]).text == text.replace("007]", "007, 'on']")


def test_fm_15_long_blocks_are_read_whole():
    for size in (4097 - 8, 65537, 300_000):
        text = "---\naliases:\n" + "".join(f"  - name {n}\n" for n in range(size // 12)) + "title: T\n---\nbody"
        made = parse(text)
        assert made.title == "T" and len(made.meta["aliases"]) == size // 12 and made.writable
    deep = parse("---\na: " + "[" * 200 + "]" * 200 + "\n---\nbody")
    assert deep.writable and "body" in str(deep.prose)


@pytest.mark.parametrize("block", [
    "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)),
    "a: &a [*a]\n", "a: " + "[" * 100_000 + "\n", "".join(" " * n + "a:\n" for n in range(2000)),
    "k: " + "x" * (1 << 21) + "\n",
], ids=["laughs", "recursive", "flow", "indent", "large"])
def test_fm_15_bombs_are_refused_at_once(block):
    text = ("---\ntitle: T\n" + block + "---\nbody alpha").encode()
    tracemalloc.start()
    begun = time.perf_counter()
    made = parse(text)
    seconds, (_, peak) = time.perf_counter() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 3 and peak < 200e6  # tracing itself costs most of it
    assert not made.writable and made.problems and "body alpha" in str(made.prose) and topic.render(made) == text


@pytest.mark.parametrize("block", ["- alpha\n- beta\n", "alpha\n", "42\n", "[alpha, beta]\n"])
def test_fm_16_a_list_or_a_scalar_is_text(block):
    made = parse(f"---\n{block}---\nbody")
    assert block.split()[-1].strip("[]") in str(made.prose) and made.problems[0].severity == "warning"
    with pytest.raises(UnwritableFileError):
        topic_edit.set_meta(made, "title", "T")


def test_fm_18_double_front_matter_is_reported_and_never_grows():
    text = "---\ntitle: A\n---\n\n---\ntitle: B\n---\nbody\n"
    made = parse(text)
    assert made.title == "A" and (5, "a second front-matter block follows the first; it is read as text") in messages(text)
    for number in range(3):
        made = topic_edit.set_meta(made, "num", number)
    assert made.text == text.replace("title: A\n", "title: A\nnum: 2\n")


BLOCK = """---
# full comment
b: "2"   # trailing
a: 'single'
list: [x, "y" , z]  # lc
fold: >-
  one
  # not a comment

# about the anchor
anchor: &anchor val
alias: *anchor
tags:
  - one  # c1
  # own
  - two

bm:
  k: 1.10  # keep
  j: [a, b]
multi: [a,
  b]  # end
empty:
u: no
---
body
"""


@pytest.mark.parametrize(("key", "value", "gone", "new"), [
    ("reviewed", datetime.date(2026, 5, 1), [], ["reviewed: 2026-05-01\n"]),
    ("b", "3", ['b: "2"   # trailing\n'], ['b: "3"   # trailing\n']),
    ("b", 3, ['b: "2"   # trailing\n'], ["b: 3   # trailing\n"]),
    ("a", "it's", ["a: 'single'\n"], ["a: 'it''s'\n"]),
    ("list", ["x", "y", "z", "no"], ['list: [x, "y" , z]  # lc\n'], ["list: [x, \"y\", z, 'no']  # lc\n"]),
    ("list", [], ['list: [x, "y" , z]  # lc\n'], ["list: []  # lc\n"]),
    ("fold", "t: u", ["fold: >-\n", "  one\n", "  # not a comment\n"], ["fold: 't: u'\n"]),
    ("alias", "q", ["alias: *anchor\n"], ["alias: q\n"]),
    ("tags", ["one", "two", "three"], [], ["  - three\n"]),
    ("tags", ["zero", "one", "two"], [], ["  - zero\n"]),
    ("tags", ["one"], ["  - two\n"], []),
    ("bm", {"k": "1.10", "j": ["a", "b"], "n": "007"}, [], ["  n: '007'\n"]),
    ("multi", ["a", "b", "c"], ["multi: [a,\n", "  b]  # end\n"], None),
    ("empty", ["a", "b: c"], ["empty:\n"], ["empty: [a, 'b: c']\n"]),
    ("u", "yes", ["u: no\n"], ["u: 'yes'\n"]),
    ("u", None, ["u: no\n"], []),
    ("b", "2", [], []),
])
def test_rt_01_only_that_keys_lines_change(key, value, gone, new):
    lost, made = changed(BLOCK, key, value)
    assert lost == gone
    assert made == new if new is not None else made


def test_rt_01_an_anchor_that_is_used_elsewhere_is_not_broken():
    with pytest.raises(UnwritableFileError):
        topic_edit.set_meta(parse(BLOCK), "anchor", "other")


def test_empty_values_are_none_and_quoted_ones_are_not():
    assert dict(parse("---\na:\nb: ~\nc: null\nd: ''\ne: 'null'\n---\n").meta) == {
        "a": None, "b": None, "c": None, "d": "", "e": "null"}


def test_merge_keys_are_followed():
    made = parse("---\nbase: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n---\n")
    assert made.meta["use"] == {"x": "1", "y": "3"}


def test_status_set_by_hand_or_program_takes_effect():
    made = parse("---\nstatus: active  # s\n---\n## Facts\n- a ^m-000001\n")
    gone = topic_edit.set_meta(made, "status", "archived")
    assert gone.status == "archived" and [m.status for m in gone.memories] == ["archived"]
    assert gone.text == made.text.replace("active", "archived")


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(TITLES)


@given(WORDS)
@example("a #b")
@example("\ufeffx")
@example("\u3000")
def test_scalars_read_the_same_in_yaml_1_1_and_1_2(text):
    line = f"k: {scalar(text)}\n"
    assert yaml.safe_load(line) == {"k": text} and YAML(typ="safe", pure=True).load(line) == {"k": text}
    assert "\n" not in line[:-1]


@given(st.dictionaries(WORDS, WORDS | st.lists(WORDS, max_size=3), max_size=3))
@example({"A?": "b"})
def test_flow_values_read_back(value):
    assert yaml.safe_load(f"k: {flow(value)}\n") == {"k": value}


VALUES = WORDS | st.lists(WORDS, max_size=4) | st.floats(0, 1) | st.booleans() | st.dictionaries(WORDS, WORDS, max_size=2)
KEYS = ["b", "a", "list", "fold", "alias", "tags", "bm", "multi", "empty", "u", "new key"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KEYS), VALUES), max_size=4), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_values_set_one_after_the_other_read_back(edits, end):
    made = parse(BLOCK.replace("\n", end))
    for key, value in edits:
        assume("\x85" not in str(value) and "\u2028" not in str(value))
        before = dict(made.meta)
        try:
            made = topic_edit.set_meta(made, key, value)
        except UnwritableFileError:
            continue
        assert made.meta[key] == plain(value)
        assert {k: v for k, v in made.meta.items() if k != key} == {k: v for k, v in before.items() if k != key}
        assert made.text.endswith(f"---{end}body{end}") and "# full comment" in made.text
        assert set(made.text) & {"\r", "\n"} == set(end)


def test_a_flow_mapping_as_a_whole_block_is_left_alone():
    made = parse("---\n{a: 1, b: 2}\n---\n")
    assert made.meta == {"a": "1", "b": "2"}
    with pytest.raises(UnwritableFileError, match="flow mapping"):
        topic_edit.set_meta(made, "c", "3")


def test_the_editor_says_why_it_cannot():
    lines = topic.split_lines("---\n- a\n---\n")
    with pytest.raises(yaml_edit.CannotEditError, match="foreign"):
        yaml_edit.set_key(lines, parse("---\n- a\n---\n").front, "k", "v")
