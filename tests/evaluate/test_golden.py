import pytest

from memoryfs.evaluate.golden import Place, language_of, read, same_source


@pytest.mark.parametrize(("one", "other", "same"), [
    ("chat/a.jsonl", "/home/me/logs/chat/a.jsonl", True),
    ("/home/me/logs/chat/a.jsonl", "~/logs/chat/a.jsonl", True),
    ("a.jsonl", "chat/a.jsonl", True),
    ("chat/a.jsonl", "chat\\a.jsonl", True),
    ("./chat/a.jsonl", "chat/a.jsonl", True),
    ("a.jsonl", "chat/aa.jsonl", False),
    ("other/a.jsonl", "chat/a.jsonl", False),
    ("", "chat/a.jsonl", False),
])
def test_sources_match_by_their_tails_in_whole_components(one, other, same):
    assert same_source(one, other) is same
    assert same_source(other, one) is same


def test_a_place_holds_its_lines_and_their_neighbours_within_tolerance():
    place = Place("a.jsonl", (10, 40))
    assert place.holds("x/a.jsonl", 10) and place.holds("x/a.jsonl", 40)
    assert not place.holds("x/a.jsonl", 12)
    assert place.holds("x/a.jsonl", 12, tolerance=2) and place.holds("x/a.jsonl", 38, tolerance=2)
    assert not place.holds("x/a.jsonl", 13, tolerance=2)
    assert Place("a.jsonl").holds("x/a.jsonl", 99)


def test_a_golden_line_becomes_a_question_with_old_evidence_apart():
    (question,), problems = read([
        '{"id": "q1", "question": "Which port?", "answer": 9443, "type": "superseded", "low_overlap": true, '
        '"evidence": [{"source": "a.jsonl", "line": 3, "also_at": [5]}, {"source": "a.jsonl", "line": 1, "role": "old"}], '
        '"superseded_value": "8443"}',
        "", 
    ])
    assert not problems
    assert question.answer == "9443" and question.superseded_value == "8443"
    assert question.tags == ("low_overlap",) and question.language == "en"
    assert [place.lines for place in question.current] == [(3, 5)]


def test_a_bad_line_is_named_and_costs_only_itself():
    questions, problems = read(
        ['{"question": "ok?"}', "{nonsense", '{"id": "x"}', "[1]", '{"question": "  "}',
         '{"question": "q", "evidence": [{"line": 1}]}'], "g.jsonl")
    assert [q.type for q in questions] == ["abstain"]
    assert [(p.path, p.line) for p in problems] == [("g.jsonl", n) for n in (2, 3, 4, 5, 6)]


@pytest.mark.parametrize(("text", "language"), [
    ("포트는 몇 번이지?", "ko"), ("ポートは何番？", "ja"), ("端口是多少？", "zh"), ("Which port?", "en"),
])
def test_language_is_told_by_script(text, language):
    assert language_of(text) == language
