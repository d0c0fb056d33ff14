"""JSON, JSON with comments and JSON5, edited in place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryfs.harness import jsonc

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-10**6, 10**6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8,
)


@pytest.mark.parametrize(("text", "value"), [
    ("{}", {}), (" [1, -2.5, 1e3, true, null] ", [1, -2.5, 1000.0, True, None]),
    ('// c\n{"a": 1, /* b */ "c": [2,],}\n// end\n', {"a": 1, "c": [2]}),
    ("{a: 'x\\'y', $b: 0x1F, c: .5, 'd': +1,}", {"a": "x'y", "$b": 31, "c": 0.5, "d": 1.0}),
    (r'{"u": "\u3042\n\\", "emoji": "\ud83d\ude80"}', {"u": "あ\n\\", "emoji": "\ud83d\ude80"}),
    ('{"url": "http://x/y", "glob": "/* no comment */"}', {"url": "http://x/y", "glob": "/* no comment */"}),
])
def test_reads(text, value):
    assert jsonc.parse(text).value == value


@pytest.mark.parametrize("text", [
    "", "{", '{"a"}', '{"a": }', '{"a": 1 "b": 2}', "[1 2]", '{"a": "x\n"}', '{"a": 1}}', "{,}", "nope", "{1: 2}", "[" * 500,
    '{"a": 1,, "b": 2}', "/* open",
])
def test_refuses_with_the_place(text):
    with pytest.raises(ValueError, match=r"line [12], column"):
        jsonc.parse(text)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), VALUES, st.sampled_from([None, 1, 2, 4, "\t"]))
def test_append_and_delete_are_inverse_in_value(old, new, indent):
    text = json.dumps(old, indent=indent, ensure_ascii=False)
    if "key!" in old:
        return
    longer = jsonc.append(text, jsonc.parse(text), new, "key!")
    assert jsonc.parse(longer).value == {**old, "key!": new}
    node = jsonc.parse(longer)
    assert jsonc.parse(jsonc.delete(longer, node, len(old))).value == old
    for index, key in enumerate(old):
        left = jsonc.parse(jsonc.delete(longer, node, index)).value
        assert left == {k: v for k, v in {**old, "key!": new}.items() if k != key}


@pytest.mark.parametrize(("text", "expected"), [
    ('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "b": [\n    2\n  ]\n}\n'),
    ('{\n  "a": 1, // one\n}\n', '{\n  "a": 1, // one\n  "b": [\n    2\n  ],\n}\n'),
    ('{"a": 1}', '{"a": 1, "b": [2]}'),
    ("{}", '{\n  "b": [\n    2\n  ]\n}'),
    ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "b": [\n    2\n  ]\n}'),
    ('{\r\n\t"a": 1\r\n}\r\n', '{\r\n\t"a": 1,\r\n\t"b": [\r\n\t\t2\r\n\t]\r\n}\r\n'),
])
def test_append_keeps_comments_and_style(text, expected):
    assert jsonc.append(text, jsonc.parse(text), [2], "b") == expected


@pytest.mark.parametrize(("text", "index", "expected"), [
    ('{\n  "a": 1, // one\n  "b": 2 // two\n}', 1, '{\n  "a": 1 // one // two\n}'),
    ('{\n  "a": 1,\n  // about b\n  "b": 2,\n}', 1, '{\n  "a": 1,\n  // about b\n}'),
    ('{"a": 1, "b": 2}', 0, '{"b": 2}'), ('{"a": 1, "b": 2}', 1, '{"a": 1}'), ('{"a": 1}', 0, "{}"),
    ("{\n  \"a\": 1\n}", 0, "{}"), ("{\n  // why\n  \"a\": 1\n}", 0, "{\n  // why\n}"),
])
def test_delete_keeps_comments(text, index, expected):
    assert jsonc.delete(text, jsonc.parse(text), index) == expected
    jsonc.parse(expected)


def test_a_key_that_stands_there_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        jsonc.child(jsonc.parse('{"a": 1, "a": 2}'), "a")
