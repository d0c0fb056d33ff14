"""The write gate: readable weights, thresholds, further signals only where they fit, verdicts that move it a little."""

import json
from dataclasses import replace

import pytest

from memoryfs.exact import exact_values
from memoryfs.model import SourceRange
from memoryfs.models.fakes import HashEmbedder
from organizer import gate as gates
from organizer.gate import Direction, Gate, by_model, explain, learn, load, outcome, weigh, worth
from organizer.nouns import Candidate
from organizer.prompts import KEEP, LINES, keep_examples
from organizer.rules.features import context_of, features

SIMPLE = Gate({"bias": -1.0, "decision": 2.0}, keep=0.6, inbox=0.3, detail=0.5, generator=0.5)


def candidate(logit, text="The fee starts on day 8.", **more):
    return Candidate("fact", text, "", text, 0, SourceRange("2026-05-12-aaaaaa", 0, 0), metadata={"logit": logit}, **more)


def test_shipped_weights_are_named_features_and_tell_own_lines_apart():
    gate = load()
    rows = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 40 and {r["language"] for r in rows} == {"en", "ja", "ko", "zh"}
    known = {name for r in rows for name in features(r["text"], r["role"])}
    assert {"bias", "narration", "decision:user", "question"} <= known & set(gate.weights)
    for language in ("en", "ja", "ko", "zh"):
        yes = [worth(features(r["text"], r["role"]), gate) for r in rows if r["language"] == language and r["keep"]]
        no = [worth(features(r["text"], r["role"]), gate) for r in rows if r["language"] == language and not r["keep"]]
        assert sum(a > b for a in yes for b in no) > 0.85 * len(yes) * len(no)  # hard ones among them


def test_a_persons_rules_and_tasks_have_a_bar_of_their_own():
    gate = Gate({}, keep=0.6, inbox=0.2, detail=0.5, user=0.4)
    said = candidate(0.0, stated_by="user")
    assert outcome(said, 0.45, gate) == "inbox"
    assert outcome(replace(said, kind="instruction"), 0.45, gate) == outcome(replace(said, language="ko"), 0.45, gate) == "keep"
    assert outcome(replace(said, kind="instruction", stated_by="assistant"), 0.45, gate) == "inbox"


@pytest.mark.parametrize(("better", "worse", "role"), [
    ("ops uses the CSV export every Monday", "I'm wondering if ops uses the CSV export", "user"),
    ("保存先は ledger.sqlite にします。", "保存先は ledger.sqlite かもしれない。", "user"),
    ("저장 파일은 ledger.sqlite입니다.", "저장 파일은 ledger.sqlite인 것 같아요.", "user"),
    ("存储文件是 ledger.sqlite。", "存储文件好像是 ledger.sqlite。", "user"),
    ("`RoomStore` archives a room instead of deleting it", "Create `RoomStore` to archive a room instead of deleting it", "assistant"),
])
def test_wondering_and_items_of_a_plan_are_worth_less(better, worse, role):
    gate = load()
    assert worth(features(better, role), gate) > worth(features(worse, role), gate) + 0.5


def test_a_sentence_of_a_message_that_asks_is_worth_less():
    gate = load()
    alone, asking = (worth(features("The label is 3 mm too wide.", "user", context_of("", message)), gate)
                     for message in ("The label is 3 mm too wide.", "The label is 3 mm too wide. Why is that?"))
    assert asking < alone


def test_a_persons_statement_outranks_the_same_by_the_assistant():
    text = "Late fees must always start on day 8."
    gate = load()
    assert worth(features(text, "user"), gate) > worth(features(text, "assistant"), gate)


def test_thresholds_and_the_lower_bar_for_hard_values():
    plain, hard = candidate(0.0), candidate(0.0, values=tuple(exact_values("use port 5433")))
    assert outcome(plain, 0.7, SIMPLE) == "keep"
    assert [outcome(plain, p, SIMPLE) for p in (0.55, 0.3, 0.29)] == ["inbox", "inbox", "drop"]
    assert outcome(hard, 0.55, SIMPLE) == "keep"


def test_weigh_sets_score_and_gate_and_takes_scores_of_a_model():
    found = [candidate(2.0), candidate(0.0), candidate(-2.0)]
    assert [c.gate for c in weigh(found, SIMPLE)] == ["keep", "inbox", "drop"]
    assert [c.gate for c in weigh(found, SIMPLE, scores={1: 2.0})] == ["keep", "keep", "drop"]


def test_embedding_speaks_only_for_the_model_it_was_trained_for():
    embedder = HashEmbedder(8)
    direction = Direction(embedder.fingerprint, 5.0, (0.0,) * 8, 1.0)
    gate = Gate(SIMPLE.weights, 0.6, 0.3, 0.5, direction=direction)
    assert weigh([candidate(0.0)], gate, embedder=embedder)[0].gate == "keep"
    assert weigh([candidate(0.0)], gate, embedder=HashEmbedder(8, salt="other"))[0].gate == "inbox"
    assert weigh([candidate(0.0)], gate)[0].gate == "inbox"


def test_few_scores_tell_nothing_and_many_are_cut():
    assert by_model([1.0, 2.0], 0.0) == [0.0, 0.0] and by_model([], 0.0) == []
    assert max(by_model([100.0, *[0.0] * 20], 0.0)) == 2.0


def test_calibration_lines_are_not_in_the_prompt():
    assert not {e.text for e in keep_examples()} & set(KEEP.prefix.split("\n"))


def test_explain_names_what_moved_it():
    assert explain({"bias": 1.0, "decision": 1.0, "unknown": 1.0}, SIMPLE) == [("decision", 2.0)]


def test_verdicts_move_the_gate_toward_the_person_and_few_move_it_little():
    row = {"bias": 1.0, "status": 1.0}
    before = worth(row, SIMPLE)
    few = worth(row, learn(SIMPLE, [(row, True)]))
    many = worth(row, learn(SIMPLE, [(row, True)] * 40))
    assert before < few < many and few - before < 1.0 and gates.Gate.probability(many) > 0.6
    assert learn(SIMPLE, []) is SIMPLE
    mixed = worth(row, learn(SIMPLE, [(row, True), (row, False)] * 20))
    assert abs(gates.Gate.probability(mixed) - 0.5) < 0.15


def test_a_broken_weights_file_says_so(tmp_path):
    (tmp_path / "gate.json").write_text("{}", encoding="utf-8")
    with pytest.raises(KeyError):
        load(tmp_path / "gate.json")
