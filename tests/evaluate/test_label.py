import json

from memoryfs.evaluate import label, load

from .conftest import evidence


def session(*typed):
    lines = iter(typed)

    def ask(prompt):
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return ask


def run(tmp_path, events, corpus, *typed):
    said, path = [], tmp_path / "golden.jsonl"
    searched = []

    def search(query):
        searched.append(query)
        return [evidence(event) for event in events]

    added = label(path, corpus, search, session(*typed), said.append)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return added, rows, said, searched


def test_a_superseded_answer_is_labelled_with_its_old_place(tmp_path, events, corpus):
    added, rows, _, _ = run(tmp_path, events, corpus, "Which port now?", "3 o2", "9443", "8443", "", "")
    assert added == 1
    assert rows == [{
        "id": "own-001", "question": "Which port now?", "answer": "9443", "type": "superseded", "language": "en",
        "evidence": [
            {"source": "chat/a.jsonl", "line": 3, "quote": "Make it 9443 from now on, not 8443."},
            {"source": "chat/a.jsonl", "line": 1, "quote": "The staging proxy listens on 8443.", "role": "old"},
        ], "superseded_value": "8443",
    }]
    questions, problems = load(tmp_path / "golden.jsonl")
    assert not problems and questions[0].current[0].lines == (3,)


def test_searching_again_dropping_and_abstaining(tmp_path, events, corpus):
    added, rows, _, searched = run(
        tmp_path, events, corpus, "Colour?", "/paint", "none", "Dropped?", "", "Day?", "99", "4", "Fridays", "", "")
    assert searched == ["Colour?", "paint", "Dropped?", "Day?", "Day?"]
    assert added == 2
    assert [(r["type"], r["answer"]) for r in rows] == [("abstain", None), ("exact", "Fridays")]


def test_a_passage_is_offered_and_its_event_becomes_the_evidence(tmp_path, events, corpus):
    added, rows, said, searched = run(tmp_path, events, corpus, "?", "", "?", "What is it?", "something", "", "")
    assert added == 1 and searched == []
    assert rows[0]["type"] == "single-hop" and len(rows[0]["evidence"]) == 1
    assert any(rows[0]["evidence"][0]["quote"] in line for line in said)


def test_ids_go_on_where_the_file_ends_and_the_end_of_input_ends(tmp_path, events, corpus):
    run(tmp_path, events, corpus, "One?", "1", "x", "")
    added, rows, _, _ = run(tmp_path, events, corpus, "Two?", "1", "x", "", "Three?")
    assert added == 1 and [row["id"] for row in rows] == ["own-001", "own-002"]
