"""A choice taken back: files byte for byte, the ledger's state, and what a person wrote meanwhile."""

from __future__ import annotations

import pytest
from edits.conftest import NOW, SCHOOL

from memoryfs import edits, ledger
from memoryfs.edits.takeback import hunks, put_back
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError

PATH = "projects/school.md"


def resolve(store, choice, id="r-000001", **more):
    return edits.resolve(store.root, store.config, id, choice, actor="person", now=NOW, **more)


def undo(store, id="r-000001"):
    return edits.undo(store.root, store.config, id, actor="person", now=NOW)


def known(store):
    return {id: (k.status, k.text, k.kind, k.stated_by, k.topic) for id, k in store.state().items()}


@pytest.mark.parametrize("choice", ["accept", "reject", "keep-both"])
def test_undo_restores_the_line_and_both_statements_exactly(school, choice):
    before, state = school.bytes(), known(school)
    resolve(school, choice)
    assert school.bytes() != before
    change = undo(school)
    assert (change.action, change.id) == ("restore", "r-000001")
    assert school.bytes() == before and known(school) == state
    assert ledger.reviews(ledger.read(school.root)[0])["r-000001"].open
    assert school.done() == [], "nothing of it looks like a hand edit"


def test_an_edit_is_one_choice_and_undone_as_one(school):
    before, state = school.bytes(), known(school)
    resolve(school, "edit", text="Cookies live 10 days.")
    assert school.memory("m-000004").summary == "Cookies live 10 days." and school.memory("m-000004").stated_by == "person"
    assert school.memory("m-000003").superseded_by == "m-000004"
    assert school.done() == []
    undo(school)
    assert school.bytes() == before and known(school) == state and school.done() == []


def test_undo_and_choose_again_any_number_of_times(school):
    before = school.bytes()
    for choice in ("accept", "reject", "accept"):
        resolve(school, choice)
        undo(school)
    assert school.bytes() == before
    with pytest.raises(NotFoundError):
        undo(school)


def test_what_a_person_wrote_meanwhile_stays(school):
    resolve(school, "accept")
    school.change(PATH, "Prose that a person wrote.", "Prose that a person wrote, and more.\n\nA second paragraph.")
    school.change(PATH, "## Facts\n", "## Facts\n- A new one.\n")
    school.adopt()
    undo(school)
    text = school.text(PATH)
    assert "and more.\n\nA second paragraph." in text and "- A new one." in text
    assert "- Cookies live 7 days. [^3f9a21:3] ^m-000003\n- Cookies live 14 days. [^3f9a21:9] ^m-000004\n" in text
    assert "^r-000001" in text and school.memory("m-000003").status == "conflicted" and school.done() == []


def test_lines_that_were_changed_since_are_left(school):
    resolve(school, "accept")
    school.change(PATH, "~~Cookies live 7 days.~~", "~~Cookies live 7 long days.~~")
    before = school.bytes()
    with pytest.raises(UnwritableFileError):
        undo(school)
    assert school.bytes() == before


def test_two_files(school):
    school.write("projects/other.md", "# Other\n\n## Facts\n- The port is 9090. [^3f9a21:8] ^m-000021\n\n[^3f9a21:8]: 2026-05-20\n")
    school.change(PATH, "## Needs review\n", "## Needs review\n- [ ] [[#^m-000002]] or [[projects/other#^m-000021]]? ^r-000002\n")
    school.adopt()
    before, state = school.bytes(), known(school)
    resolve(school, "reject", "r-000002")
    assert school.memory("m-000021").status == "superseded"
    undo(school, "r-000002")
    assert school.bytes() == before and known(school) == state and school.done() == []


def test_what_the_organizer_wrote_of_a_statement_comes_back_with_it(school):
    school.change(PATH, "status: active\n", "status: active\nsummary: Cookies live 7 days.\n")
    ledger.append(school.root, [ledger.Entry(NOW.isoformat(), "organizer", "edit", "", PATH, extra={
        "meta": {"summary": "Cookies live 7 days."}})])
    school.adopt()
    before = school.bytes()
    resolve(school, "accept")
    assert "summary: Cookies" not in school.text(PATH)
    undo(school)
    assert school.bytes() == before and school.done() == []
    assert ledger.own_meta(ledger.read(school.root)[0])[PATH]["summary"] == "Cookies live 7 days."


def test_a_file_with_odd_line_ends_and_bytes(store):
    text = SCHOOL.replace("\n", "\r\n").replace("Prose", "\ufeffPr\x0bose")
    store.write(PATH, text)
    store.adopt()
    before = store.bytes()
    resolve(store, "accept")
    undo(store)
    assert store.bytes() == before


def test_purge_takes_the_words_out_of_the_undo_lines_too(school):
    resolve(school, "accept")
    edits.forget(school.root, school.config, "m-000003", actor="person", now=NOW, purge=True)
    assert "Cookies live 7" not in (school.root / "ledger.jsonl").read_text()
    with pytest.raises(NotFoundError):
        undo(school)


def test_purge_takes_the_words_of_the_line_beside_too(school):
    resolve(school, "accept")
    edits.forget(school.root, school.config, "m-000002", actor="person", now=NOW, purge=True)
    assert "The port is 8080" not in (school.root / "ledger.jsonl").read_text()


def test_only_what_was_settled_by_command_is_undone(school):
    with pytest.raises(NotFoundError):
        undo(school)
    school.change(PATH, "- [ ] [[#^m-000003]]", "- [x] [[#^m-000003]]")
    school.adopt()
    with pytest.raises(NotFoundError):
        undo(school)


def test_a_judgement_is_recorded_changes_no_state_and_is_taken_back(school):
    files, state = school.bytes(), school.state()

    def judge(verdict, id="m-000002"):
        return edits.judge(school.root, school.config, id, verdict, actor="person", now=NOW)

    def given():
        return ledger.judgements(ledger.read(school.root)[0])

    judge("useful"), judge("wrong")
    assert given() == {"m-000002": ("useful", "wrong")}
    edits.unjudge(school.root, school.config, "m-000002", actor="person", now=NOW)
    assert given() == {"m-000002": ("useful",)}
    edits.unjudge(school.root, school.config, "m-000002", actor="person", now=NOW)
    assert given() == {} and school.bytes() == files and school.state() == state and school.done() == []
    with pytest.raises(NotFoundError):
        edits.unjudge(school.root, school.config, "m-000002", actor="person", now=NOW)
    with pytest.raises(NotFoundError):
        judge("useful", "m-ffffff")
    with pytest.raises(UsageError):
        judge("splendid")


def test_hunks_are_inverses():
    for before, after in (("a\nb\nc\n", "a\nc\n"), ("", "x\n"), ("x\n", ""), ("a\nb\n", "b\na\n"), ("a", "a\n"), ("a\n\n\n", "\na\n")):
        assert put_back(after, hunks(before, after)) == before, (before, after)
