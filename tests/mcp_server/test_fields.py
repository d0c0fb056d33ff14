"""What a client sends, checked; what goes back, within its limit. No protocol here."""

from __future__ import annotations

import json

import pytest

from memoryfs.errors import UsageError
from memoryfs.mcp_server import answers
from memoryfs.mcp_server.fields import Field, check, schema
from memoryfs.mcp_server.tools import BY_NAME, TOOLS
from memoryfs.model import Memory

RECALL = BY_NAME["recall"].fields
REMEMBER = BY_NAME["remember"].fields


def test_defaults_are_filled_in():
    assert check(RECALL, {"query": "x"}) == {
        "query": "x", "k": 10, "level": "auto", "max_tokens": 1500, "file": None, "as_of": None, "scope": "up",
        "answer": False}


@pytest.mark.parametrize(("given", "read"), [(True, True), (False, False), ("true", True), (" False", False), (None, False)])
def test_mcp_06_truth_may_be_text(given, read):
    assert check(RECALL, {"query": "x", "answer": given})["answer"] is read
    assert schema(RECALL)["properties"]["answer"] == {"type": "boolean", "description": RECALL[-1].about, "default": False}


@pytest.mark.parametrize(("given", "read"), [
    ({"k": "3"}, 3), ({"k": 3.0}, 3), ({"k": None}, 10), ({"k": " 4 "}, 4),
])
def test_mcp_06_numbers_in_text_are_read(given, read):
    assert check(RECALL, {"query": "x", **given})["k"] == read


@pytest.mark.parametrize(("given", "read"), [
    ("a, b ,c", ["a", "b", "c"]), ('["a,b", "c"]', ["a,b", "c"]), (["a", 1], ["a", "1"]), ("", []), ([], []),
    ('{"a": 1}', ['{"a": 1}']),
])
def test_mcp_06_lists_may_be_text(given, read):
    assert check(REMEMBER, {"text": "x", "hints": given})["hints"] == read


@pytest.mark.parametrize(("arguments", "says"), [
    ({}, "`query` is missing"), ({"query": None}, "`query` is missing"), ({"query": 5}, "`query` must be text"),
    ({"query": " "}, "`query` is empty"), ({"query": "x", "k": "ten"}, "`k` must be a whole number"),
    ({"query": "x", "k": True}, "`k` must be"), ({"query": "x", "k": 2.5}, "`k` must be"), ({"query": "x", "k": 0}, "from 1 to 50"),
    ({"query": "x", "k": float("nan")}, "`k` must be"), ({"query": "x", "k": float("inf")}, "`k` must be"),
    ({"query": "x", "level": "9"}, "must be one of auto"), ({"query": ["x"]}, "must be text"),
    ({"query": "x", "answer": 1}, "must be true or false"), ({"query": "x", "answer": "yes"}, "must be true or false"),
    ({"query": "x", "limit": 3}, "unknown argument 'limit'"), ({"query": "x" * 20_001}, "at most 20000"),
])
def test_mcp_06_what_to_mend_is_said(arguments, says):
    with pytest.raises(UsageError) as caught:
        check(RECALL, arguments)
    assert says in caught.value.message and caught.value.remedy


def test_lone_surrogates_and_nul_never_get_through():
    assert check(RECALL, {"query": "a\ud800b\0c"})["query"] == "a?b c"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.name)
def test_every_tool_is_short_and_says_what_it_takes(tool):
    shown = schema(tool.fields)
    assert len(tool.about) < 130 and not shown["additionalProperties"]
    assert all(p["description"] for p in shown["properties"].values())
    json.dumps(shown)


def test_mcp_07_limits_are_in_the_schema():
    assert schema(REMEMBER)["properties"]["text"]["maxLength"] == 100_000
    assert Field("k", "x", "integer", least=1, most=5) and schema(RECALL)["properties"]["k"]["maximum"] == 50


@pytest.mark.parametrize("unit", ["x", "漢", "🚀", '"', "\n"])
def test_mcp_04_a_long_text_is_read_in_pages(unit):
    text = "".join(f"{n}{unit * 50}" for n in range(3_000))
    out, offset = "", 0
    while True:
        answer = answers.page_text(text, offset)
        assert answers.size(answer) <= answers.MAX_BYTES
        page = json.loads(answer)
        assert page["total"] == len(text)
        out += page["text"]
        if page["next"] is None:
            break
        assert page["next"] > offset
        offset = page["next"]
    assert out == text
    assert answers.page_text("short", 0) == "short"


def test_mcp_04_twenty_thousand_memories_in_pages():
    rows = [Memory(f"m-{n:06x}", f"Fact {n} " + "x" * 100, "fact", "active", "projects/x.md", n) for n in range(20_000)]
    seen, offset = [], 0
    while offset is not None:
        answer = answers.page("memories", rows, offset, answers.memory_row)
        assert answers.size(answer) <= answers.MAX_BYTES
        page = json.loads(answer)
        assert page["total"] == 20_000
        seen += [row["id"] for row in page["memories"]]
        offset = page["next"]
    assert seen == [m.id for m in rows]


def test_mcp_04_a_recall_that_is_too_large_keeps_its_best():
    row = {"text": "y" * 3000, "start": 0, "end": 3000, "index": 0}
    found = {"query": "q", "memories": [{"id": "m-1", "summary": "s" * 900}] * 50, "evidence": [dict(row, index=n) for n in range(50)]}
    shown = json.loads(answers.fit_recall(found))
    assert answers.size(answers.fit_recall(found)) <= answers.MAX_BYTES
    assert shown["left_out"]["evidence"] == 50 - len(shown["evidence"]) > 0
    assert [e["index"] for e in shown["evidence"]] == list(range(len(shown["evidence"])))
    one = {"query": "q", "memories": [], "evidence": [dict(row, text="漢" * 100_000, end=100_000)]}
    shown = json.loads(answers.fit_recall(one))
    assert answers.size(answers.fit_recall(one)) <= answers.MAX_BYTES
    cut = shown["evidence"][0]
    assert cut["cut_of"] == 100_000 and len(cut["text"]) == cut["end"] - cut["start"]
