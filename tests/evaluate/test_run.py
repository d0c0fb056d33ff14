import json
from html.parser import HTMLParser

import pytest

from memoryfs import MemoryStore
from memoryfs.errors import UsageError
from memoryfs.evaluate import page, table
from memoryfs.evaluate.arms import breadcrumb, floor, floor_terms, raw, summary
from memoryfs.evaluate.golden import Place, Question
from memoryfs.evaluate.run import Evaluation, evaluate, run_arm
from memoryfs.evaluate.stats import Rate
from memoryfs.evaluate.table import shown

from .conftest import TableStore, evidence, memory

PORT = Question("q1", "Which port does the proxy use?", "9443", "superseded", "en", (Place("a.jsonl", (3,)),), "8443")
BILL = Question("q2", "請求はいつ？", None, "abstain", "ja", tags=("hard",))
EVIL = Question("q3", "<script>\x1b[2J?", "x", "policy", "ja", (Place("b.jsonl", (0,)),))


@pytest.fixture
def store(events):
    return TableStore({PORT.question: {
        "memories": [memory("port 9443", "2026-03-01-aaaaaa", 2, 2)], "evidence": [evidence(events[2])],
        "abstained": False, "tokens": 12,
    }})


@pytest.fixture
def evaluation(store, corpus):
    arms = tuple(
        run_arm(name, ask, (PORT, BILL, EVIL), corpus, cold=(5.0,) if name == "breadcrumb" else ())
        for name, ask in (("breadcrumb", breadcrumb(store)), ("floor", floor(corpus)))
    )
    return Evaluation((PORT, BILL, EVIL), arms, 10, 1500, 2)


def test_the_floor_finds_by_words_and_cuts_at_the_budget(corpus):
    ask = floor(corpus, k=3, max_tokens=8)
    answer = ask(Question("f", "On which day are the invoices sent?", None, "exact", "en"))
    assert answer.evidence[0]["source"] == "chat/b.jsonl" and answer.tokens <= 8 and len(answer.evidence) == 2
    for item in answer.evidence:
        assert corpus.get(item["thread"], item["index"]).text[: item["end"]] == item["text"]
    assert ask(Question("f", "zebra", None, "exact", "en")).abstained
    assert ask(Question("f", "???", None, "exact", "en")).evidence == ()


def test_floor_terms_drop_stop_words_unless_nothing_is_left():
    assert floor_terms("What is the NEAR port OR the port*?") == ["near", "port"]
    assert floor_terms("What is it?") == ["what", "is", "it"]


def test_the_arms_ask_recall_for_what_they_stand_for(store):
    raw(store)(PORT), summary(store)(PORT), breadcrumb(store, k=3, vectors=False)(PORT)
    kinds = [(c.get("level"), c.get("status"), c["k"], c.get("vectors")) for c in store.calls]
    assert kinds == [(2, ("none",), 10, None), (0, None, 10, None), (2, None, 3, False)]


def test_a_question_date_is_passed_on(store):
    breadcrumb(store)(Question("d", "When?", None, "temporal", "en", as_of="2026-03-01"))
    assert store.calls[0]["as_of"] == "2026-03-01"


def test_the_json_is_plain_and_complete(evaluation):
    data = json.loads(json.dumps(evaluation.to_dict()))
    crumb = data["arms"]["breadcrumb"]
    assert crumb["metrics"]["source_hit@1"] == {"value": 0.5, "hits": 1, "n": 2, "low": 0.0945, "high": 0.9055}
    assert crumb["metrics"]["cold_ms"]["p50"] == 5.0
    assert set(crumb["by_type"]) == {"abstain", "policy", "superseded"} and set(crumb["by_language"]) == {"en", "ja"}
    assert crumb["by_tag"]["hard"]["abstain_recall"]["hits"] == 1
    assert [o["id"] for o in crumb["outcomes"]] == ["q1", "q2", "q3"]


def test_the_table_names_every_arm_and_metric(evaluation):
    text = table(evaluation)
    for expected in ("breadcrumb", "floor", "Source Hit@5 ±2 lines", "Wrong Memory Rate", "Latency cold", "by language"):
        assert expected in text
    assert "\x1b" not in text


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("rect", "line"):
            assert self.open.pop() == tag


def test_the_page_is_well_formed_and_fetches_nothing(evaluation):
    text = page(evaluation)
    reader = Reader()
    reader.feed(text)
    assert reader.open == [] and reader.links == [] and "script" not in reader.tags
    assert "svg" in reader.tags and "url(" not in text and "@import" not in text
    assert "&lt;script&gt;" in text and "\x1b" not in text


def test_unknown_arms_and_no_questions_are_usage_errors(store, corpus):
    with pytest.raises(UsageError, match="unknown arm `magic`"):
        evaluate(store, (PORT,), arms=("magic",), corpus=corpus)
    with pytest.raises(UsageError, match="no golden questions"):
        evaluate(store, (), corpus=corpus)


def test_evidence_that_is_not_in_the_store_is_reported(store, corpus):
    far = Question("far", "Where?", "there", "single-hop", "en", (Place("elsewhere.jsonl", (0,)),))
    result = evaluate(store, (PORT, far), arms=("raw", "floor"), corpus=corpus)
    assert result.lost == ("far",) and "not in this store" in table(result)
    assert result.to_dict()["evidence_not_in_store"] == ["far"]


def test_nearly_all_does_not_read_as_all():
    assert shown(Rate(9999, 10000), interval=False) == ".999"
    assert shown(Rate(5, 5), interval=False) == "1" and shown(Rate(0, 0)) == "–"
    assert shown(Rate(1, 2)) == ".500 [.09-.91]"


def test_only_the_raw_arm_leaves_memories_out(tmp_path):
    transcript = tmp_path / "chat.jsonl"
    transcript.write_text('{"role": "user", "content": "The staging proxy listens on port 9443."}\n', encoding="utf-8")
    real = MemoryStore.init(tmp_path / "store")
    real.import_transcripts([transcript])
    real.remember("The staging proxy has port 9443.")
    question = Question("p", "Which port has the staging proxy?", "9443", "exact", "en", (Place("chat.jsonl", (0,)),))
    answers = {name: arm(real, vectors=False)(question) for name, arm in
               (("raw", raw), ("summary", summary), ("breadcrumb", breadcrumb))}
    assert [bool(a.memories) for a in answers.values()] == [False, True, True]
    assert [bool(a.evidence) for a in answers.values()] == [True, False, True]
