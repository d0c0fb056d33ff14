"""Searching by words (FTS reports)."""

from __future__ import annotations

import time

import pytest
from index.stores import NOW, fact_file, thread, topic

from memoryfs import index
from memoryfs.errors import UsageError
from memoryfs.recall import recall

T1 = "2026-11-20-aaaaaa"
FILLER = ["The weather is fine today.", "Lunch was at noon.", "A list of names, dates, places.", "Nothing else happened."]


def evidence(root, query, **over):
    with index.open(root) as opened:
        opened.sync(now=NOW)
        return [e.text for e in recall(opened, query, level="2", now=NOW, **over).evidence]


def memories(root, query, **over):
    with index.open(root) as opened:
        opened.sync(now=NOW)
        return [m.memory.summary for m in recall(opened, query, level="2", now=NOW, **over).memories]


LITERALS = [
    "multi-agent", "don't", "src/app/main.py", "status: done", "C++", "C#", "@nasa", "50%", "v1.1.6", "why?", "GB/s",
    '"unclosed', "(x", "foo)", "a*b", "^start", "{a}", "--flag", "-x",
]


@pytest.fixture(scope="module")
def literal_store(tmp_path_factory):
    root = tmp_path_factory.mktemp("literals")
    thread(root, T1, [f"Here is the literal {text} in a note." for text in LITERALS])
    for number, text in enumerate(LITERALS):
        topic(root, f"notes/n{number}.md", fact_file(f"Here is the literal {text} in a note."))
    return root


@pytest.mark.parametrize("literal", LITERALS)
def test_fts_01_punctuation(literal_store, literal):
    wanted = f"Here is the literal {literal} in a note."
    assert memories(literal_store, literal)[0] == wanted
    assert evidence(literal_store, literal)[0] == wanted


@pytest.mark.parametrize("query", ["AND", "or not", "NOT now", "NEAR", "NEAR(a b)", "to be OR not to be", "retry OR"])
def test_fts_02_operators_are_words(tmp_path, query):
    thread(tmp_path, T1, [*FILLER, "retry now AND then, or not; NEAR a b; to be or not to be"])
    assert evidence(tmp_path, query)[0].startswith("retry")


@pytest.mark.parametrize("query", ["", "  ", "\n", "\0"])
def test_fts_03_nothing_asked(tmp_path, query):
    with index.open(tmp_path) as opened, pytest.raises(UsageError):
        recall(opened, query, now=NOW)


@pytest.mark.parametrize("query", ["-", "***", "?!", "a\0b", "。"])
def test_fts_03_punctuation_only_is_harmless(tmp_path, query):
    thread(tmp_path, T1, FILLER)
    evidence(tmp_path, query)


def test_fts_03_emoji(tmp_path):
    thread(tmp_path, T1, [*FILLER, "We ship it 🚀 on Friday"])
    assert evidence(tmp_path, "🚀")[0] == "We ship it 🚀 on Friday"


def test_fts_03_a_long_query_is_bounded_in_time(tmp_path):
    thread(tmp_path, T1, FILLER)
    begun = time.process_time()
    evidence(tmp_path, "weather lunch " * 20_000)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("设备", "设备清单 NAS"), ("设备清单", "设备清单 NAS"), ("サンド", "サンドボックス修正テスト"), ("雨", "明日は雨らしい"),
        ("역사", "데이터베이스 역사"), ("db", "restart the db at night"), ("设备清单在哪里", "设备清单 NAS"),
        ("サンドボックスはどこですか", "サンドボックス修正テスト"), ("데이터베이스는 어디에 있나요", "데이터베이스 역사"),
    ],
)
def test_fts_04_cjk(tmp_path, query, text):
    thread(tmp_path, T1, [*FILLER, text, "明天开会讨论预算", "来週の予定を確認", "내일 회의가 있다"])
    assert evidence(tmp_path, query)[0] == text


IDENTIFIERS = [
    "call atomic_write_json here", "getShippingMethodId returns it", "com.example.App starts", "see src/utils/parser.ts",
    "as ADR-0005 says", "released v1.10.2", "run with --dry-run", "released v1.1",
]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("atomic_write_json", 0), ("write json", 0), ("getShippingMethodId", 1), ("shipping method", 1), ("com.example.App", 2),
        ("example App", 2), ("src/utils/parser.ts", 3), ("parser.ts", 3), ("ADR-0005", 4), ("v1.10.2", 5), ("--dry-run", 6),
        ("v1.1", 7),
    ],
)
def test_fts_06_identifiers(tmp_path, query, wanted):
    for number, text in enumerate(IDENTIFIERS):
        thread(tmp_path, f"2026-11-20-aaaaa{number}", [*FILLER, text])
    assert evidence(tmp_path, query)[0] == IDENTIFIERS[wanted]


@pytest.mark.parametrize(
    "query",
    ["which port does the gateway listen on?", "why is the gateway not answering", "can I reach gateway",
     "please tell me, if you would, what the gateway is doing there, thanks"],
)
def test_fts_07_questions(tmp_path, query):
    thread(tmp_path, T1, [*FILLER, "The gateway listens on port 7443", *FILLER])
    assert "The gateway listens on port 7443" in evidence(tmp_path, query)[:3]


def test_fts_07_words_that_are_absent_do_not_hide_the_rest(tmp_path):
    topic(tmp_path, "contacts/me.md", fact_file("user: name is Kim"))
    assert memories(tmp_path, "user identity name") == ["user: name is Kim"]


def test_fts_09_folding(tmp_path):
    thread(tmp_path, T1, [*FILLER, "un naïve résumé à Straße", "jedziemy do ŁÓDŹ", "cafe\u0301 noir"])
    for query, start in [("naive", "un"), ("RESUME", "un"), ("strasse", "un"), ("łódź", "jedziemy"), ("lodz", "jedziemy"), ("café", "cafe")]:
        assert evidence(tmp_path, query)[0].startswith(start)


def test_fts_10_prefixes(tmp_path):
    for number, text in enumerate(["authentication is on", "the author left", "auth is off", "ubuntu 20.04 runs", "on 2004-12 it ran"]):
        thread(tmp_path, f"2026-11-20-aaaaa{number}", [*FILLER, text])
    found = evidence(tmp_path, "auth")
    assert found[0] == "auth is off"
    assert "authentication is on" in found
    assert evidence(tmp_path, "ubuntu 20.04")[0] == "ubuntu 20.04 runs"
    assert evidence(tmp_path, "authen*")[0] == "authentication is on"
    assert evidence(tmp_path, "*") == []


@pytest.mark.parametrize("query", ["title: deploy", "body: x", "rank: 5", "rowid: 1", "terms: deploy"])
def test_fts_12_column_names_are_words(tmp_path, query):
    thread(tmp_path, T1, [*FILLER, f"we wrote {query} there"])
    assert evidence(tmp_path, query)[0] == f"we wrote {query} there"


def test_prose_and_deep_tool_output_are_found(tmp_path):
    log = "\n".join(f"step {n} finished without news" for n in range(3000))
    log = log[:60_000] + "\nQUOTA_LIMIT=8731\n" + log[60_000:]
    thread(tmp_path, T1, [*FILLER, {"text": log, "role": "tool", "kind": "tool_result"}])
    topic(tmp_path, "projects/a.md", "# A\n\nThe office moved to the third floor.\n")
    assert "QUOTA_LIMIT=8731" in evidence(tmp_path, "QUOTA_LIMIT")[0]
    assert memories(tmp_path, "office floor") == ["The office moved to the third floor."]
