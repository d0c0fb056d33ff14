"""The normaliser and the terms of documents and queries."""

from __future__ import annotations

import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryfs import text
from memoryfs.text import estimate_tokens, index_terms, normalise, query_terms, similarity_key, weighted_terms


def found(query: str, text: str) -> set[str]:
    return set(query_terms(query)) & set(index_terms(text).split())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("naive", "naïve résumé"), ("resume", "naïve résumé"), ("NAÏVE", "naïve"), ("strasse", "Straße"),
        ("lodz", "ŁÓDŹ"), ("łódź", "ŁÓDŹ"), ("é", unicodedata.normalize("NFD", "é")), ("file", "ﬁle"),
        ("istanbul", "İstanbul"), ("ＡＢＣ", "abc"), ("ｻｰﾊﾞ", "サーバー"),
    ],
)
def test_fts_09_diacritics_case_and_width(query, text):
    assert found(query, text)


def test_fts_09_what_is_not_folded():
    assert not found("cafe", "caffè")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("write json", "atomic_write_json"), ("shipping method", "getShippingMethodId"), ("example App", "com.example.App"),
        ("parser.ts", "src/utils/parser.ts"), ("ADR-0005", "see ADR-0005."), ("--dry-run", "use --dry-run here"),
        ("user", "getUserByEmail"), ("email", "validateEmail"), ("allowed domains", "AUTH_ALLOWED_DOMAINS"),
    ],
)
def test_fts_06_identifiers_whole_and_split(query, text):
    assert found(query, text)


def test_fts_06_a_version_is_one_term():
    assert not found("v1.1", "v1.10.2")
    assert found("1.10.2", "v1.10.2")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("设备", "设备清单 NAS"), ("设备清单在哪里", "设备清单 NAS"), ("サンド", "サンドボックス修正テスト"), ("雨", "明日は雨です"),
        ("역사", "데이터베이스 역사"), ("데이터베이스에서", "데이터베이스를 옮겼다"), ("db", "the db is up"),
        ("正規表現は何ですか", "メールの正規表現"),
    ],
)
def test_fts_04_cjk(query, text):
    assert found(query, text)


@pytest.mark.parametrize("literal", ["C++", "C#", "@nasa", "50%", "GB/s", "v1.1.6", "--flag", "-x", "🚀"])
def test_symbols_belong_to_their_word(literal):
    assert query_terms(literal)[0] in index_terms(f"note {literal} here").split()


def test_stop_words_do_not_decide_but_serve_alone():
    assert query_terms("which port does the gateway listen on?") == ["port", "gateway", "listen"]
    assert query_terms("to be OR not to be") == ["to", "be", "or", "not"]
    assert query_terms("NOT now") == ["not", "now"]


def test_whole_identifiers_weigh_more_than_parts():
    weights = dict(weighted_terms("validateEmail"))
    assert weights["validateemail"] > weights["email"]


@pytest.mark.parametrize("empty", ["", "  ", "-", "***", "\n", "\0"])
def test_nothing_to_search(empty):
    assert query_terms(empty) == []


def test_a_long_query_is_bounded():
    assert len(query_terms("word%d " * 10 + " ".join(f"w{i}" for i in range(20_000)))) <= 64


@given(st.text())
def test_normalise_is_idempotent(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_terms_hold_no_blank_and_documents_hold_query_terms(text):
    assert all(term and not any(c.isspace() for c in term) for term in query_terms(text))
    assert set(query_terms(text)) <= set(index_terms(text).split())


def test_estimate_tokens():
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd" * 10) == 10
    assert estimate_tokens("設備の一覧") == 5


def test_similarity_key():
    assert similarity_key("Use  pnpm, not npm.") == similarity_key("use pnpm not npm")
    assert similarity_key("a") != similarity_key("b")


def test_threads_stem_alike():
    stems = ("connect", "relat", "nation", "oper", "organ")
    words = [f"{stem}{end}" for stem in stems for end in ("ing", "ional", "ation", "ed", "izers")]

    def all_terms() -> list[str]:
        text._stem_cache.clear()
        return [text.index_terms(f"{word} {word}ly{n}") for n in range(40) for word in words]

    alone = all_terms()
    found: list[list[str]] = []
    workers = [threading.Thread(target=lambda: found.append(all_terms())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [alone] * 4
