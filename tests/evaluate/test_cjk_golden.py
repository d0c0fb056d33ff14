"""Recall by words alone over invented Japanese, Korean and Chinese sessions; plain FTS5 reaches .17 at 5 here."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryfs import MemoryStore, evaluate

CJK = Path(__file__).parent.parent / "data" / "cjk"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    store = MemoryStore.init(tmp_path_factory.mktemp("cjk") / "store")
    report = store.import_transcripts([CJK / "transcripts"])
    assert not report.problems
    questions, problems = evaluate.load(CJK / "golden.jsonl")
    assert not problems
    return evaluate.evaluate(store, questions, arms=("breadcrumb",), tolerance=0, vectors=False)


def hits_at_5(result, *, language=None, shared_words=True, cross_lingual=False):
    ranks = [
        outcome.rank for outcome in result.arm("breadcrumb").outcomes
        if outcome.anchored and (language is None or outcome.language == language)
        and ("cross_lingual" in outcome.tags) is cross_lingual
        and ("no_shared_word" not in outcome.tags) is shared_words
    ]
    return sum(rank is not None and rank <= 5 for rank in ranks) / len(ranks), len(ranks)


def test_every_evidence_of_the_cjk_questions_is_in_the_store(result):
    assert result.lost == ()


def test_cjk_evidence_is_verbatim(result):
    verbatim = result.arm("breadcrumb").metrics()["verbatim"]
    assert verbatim.n > 0 and verbatim.hits == verbatim.n


def test_cjk_source_hit_at_5_is_at_least_90(result):
    share, n = hits_at_5(result)
    assert n >= 60 and share >= .90


@pytest.mark.parametrize("language", ["ja", "ko", "zh"])
def test_each_cjk_language_hits_at_5_at_least_85(result, language):
    share, n = hits_at_5(result, language=language)
    assert n >= 20 and share >= .85


def test_questions_in_another_language_that_share_an_identifier_hit_at_5_at_least_70(result):
    share, n = hits_at_5(result, cross_lingual=True)
    assert n >= 7 and share >= .70


def test_exact_values_of_cjk_questions_come_back_at_least_90(result):
    exact = result.arm("breadcrumb").metrics()["exact_value_of_hits"]
    assert exact.n >= 40 and exact.value >= .90
