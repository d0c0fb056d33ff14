import pytest

from memoryfs.evaluate.arms import Answer
from memoryfs.evaluate.golden import Place, Question
from memoryfs.evaluate.metrics import WIDE, judge, measure, wrong_memory

from .conftest import evidence, memory

A, B = "2026-03-01-aaaaaa", "2026-03-02-bbbbbb"
OLD = Place("a.jsonl", (1,), old=True)
NEW = Place("a.jsonl", (3,))


def ask(kind="exact", places=(NEW,), answer="9443", old=None):
    return Question("q", "Which port?", answer, kind, "en", tuple(places), old)


def test_the_rank_counts_distinct_events_not_spans(events, corpus):
    spans = (evidence(events[3], 0, 5), evidence(events[3], 6, 10), evidence(events[2], 0, 12))
    outcome = judge(ask(), Answer(evidence=spans), corpus)
    assert outcome.rank == 2 and outcome.exact is True
    assert (outcome.verbatim, outcome.pieces) == (3, 3)


def test_old_evidence_is_no_hit_but_a_near_line_is_a_near_hit(events, corpus):
    question = ask(places=(NEW, OLD))
    outcome = judge(question, Answer(evidence=(evidence(events[1]),)), corpus, tolerance=0)
    assert outcome.rank is None and outcome.near_rank is None
    outcome = judge(question, Answer(evidence=(evidence(events[1]),)), corpus, tolerance=2)
    assert outcome.rank is None and outcome.near_rank == 1


def test_of_several_places_any_and_all_are_told_apart(events, corpus):
    question = ask("multi-hop", (NEW, Place("b.jsonl", (1,))), "x")
    found = (evidence(events[2]), evidence(events[0]), evidence(events[4]))
    outcome = judge(question, Answer(evidence=found), corpus)
    assert (outcome.rank, outcome.all_rank) == (1, 3)
    outcome = judge(question, Answer(evidence=found[:2]), corpus)
    assert (outcome.rank, outcome.all_rank) == (1, None)


def test_threads_can_be_the_unit(events, corpus):
    question = ask("multi-hop", (Place("b.jsonl"),), "x")
    found = (evidence(events[0]), evidence(events[1]), evidence(events[3]))
    assert judge(question, Answer(evidence=found), corpus).rank == 3
    assert judge(question, Answer(evidence=found), corpus, unit="thread").rank == 2


def test_a_memory_hits_when_its_range_holds_the_event_but_a_wide_one_is_no_source_hit(corpus):
    narrow, wide = memory("port 9443", A, 2, 2), memory("port", A, 0, WIDE + 1)
    outcome = judge(ask(), Answer(memories=(wide, narrow), summaries_only=True), corpus)
    assert outcome.memory_rank == 1 and outcome.rank == 2 and outcome.exact is True
    outcome = judge(ask(), Answer(memories=(wide,), summaries_only=True), corpus)
    assert outcome.memory_rank == 1 and outcome.rank is None
    outcome = judge(ask(), Answer(memories=(narrow,)), corpus)
    assert outcome.memory_rank == 1 and outcome.rank is None and outcome.exact is False


def test_evidence_that_differs_from_its_event_is_counted(events, corpus):
    forged = {**evidence(events[2]), "text": "Make it 9444 from now on, not 8443."}
    assert judge(ask(), Answer(evidence=(forged,)), corpus).verbatim == 0


@pytest.mark.parametrize(("memories", "pieces", "wrong"), [
    ([memory("The port is 8443", A, 1, 1)], [0, 2], True),
    ([memory("The port is 8443", A, 1, 1)], [2], False),
    ([memory("The port is 8443", A, 1, 1, superseded_by="m-2")], [2], False),
    ([memory("The port is 8443", A, 1, 1, status="superseded")], [2], False),
    ([memory("The port is 9443", A, 2, 2), memory("The port is 8443", A, 1, 1)], [1], False),
    ([memory("It was 8443 and is 9443", A, 1, 2)], [1], False),
    ([memory("It is 9443", A, 2, 2), memory("The port is 8443", A, 1, 1)], [2], False),
    ([memory("Port", A, 0, 0), memory("The port is 8443", A, 1, 1)], [2], False),
    ([memory("Port", A, 0, 0), memory("The port is 8443", A, 1, 1)], [0, 3, 2], True),
    ([], [1], True),
    ([], [1, 2], True),
    ([], [2, 1], False),
    ([], [], False),
])
def test_wrong_memory_is_the_old_value_as_current(events, memories, pieces, wrong):
    question = ask("superseded", (NEW, OLD), "9443", "8443")
    answer = Answer(memories=tuple(memories), evidence=tuple(evidence(events[i]) for i in pieces))
    assert wrong_memory(question, answer) is wrong


def test_old_evidence_marked_as_superseded_is_history_not_an_error(events):
    question = ask("superseded", (NEW, OLD), "9443", "8443")
    marked = evidence(events[1], superseded_by="m-2")
    assert wrong_memory(question, Answer(evidence=(marked,))) is False


def test_abstention_and_exact_value_rates(events, corpus):
    none = Question("n", "What colour?", None, "abstain", "en")
    refused = Answer(abstained=True)
    found = Answer(evidence=(evidence(events[2]),), tokens=10, milliseconds=2.0)
    outcomes = [
        judge(none, refused, corpus), judge(none, found, corpus), judge(none, refused, corpus),
        judge(ask(), refused, corpus), judge(ask(), found, corpus),
        judge(ask(), Answer(evidence=(evidence(events[2], 0, 7),)), corpus),
    ]
    table = measure(outcomes)
    assert table["abstain_precision"].to_dict()["value"] == pytest.approx(2 / 3, abs=1e-4)
    assert (table["abstain_recall"].hits, table["abstain_recall"].n) == (2, 3)
    assert (table["refused_answerable"].hits, table["refused_answerable"].n) == (1, 3)
    assert (table["exact_value"].hits, table["exact_value"].n) == (1, 3)
    assert (table["exact_value_of_hits"].hits, table["exact_value_of_hits"].n) == (1, 2)
    assert (table["source_hit@1"].hits, table["source_hit@1"].n) == (2, 3)
    assert table["verbatim"].value == 1 and table["tokens"].n == 6
