"""remember, forget, move, resolve: files and ledger agree afterwards, and nothing withdrawn comes back unasked."""

from __future__ import annotations

import pytest
from edits.conftest import NOW

from memoryfs import ledger
from memoryfs.edits import forget, move, remember, resolve, topic_path
from memoryfs.errors import NotFoundError, OutsideStoreError, UnwritableFileError, UsageError
from memoryfs.model import Memory, SourceRange

FILE = "projects/school.md"


def memory(text: str, topic: str = "notes/general.md", **more) -> Memory:
    values = {"id": "", "kind": "fact", "status": "active", "line": 0} | more
    return Memory(summary=text, topic=topic, **values)


def say(store, text: str, topic: str = "notes/general.md", actor: str = "person", **more):
    return remember(store.root, store.config, memory(text, topic, **more), actor=actor, now=NOW)


@pytest.mark.parametrize("actor", ["person", "agent"])
def test_remember_makes_the_topic_and_says_who_said_it(store, actor):
    change = say(store, "Backups run at 03:00 | daily", actor=actor, query_hints=("cron",))
    assert (change.action, change.topic) == ("add", "notes/general.md")
    found = store.memory(change.id)
    assert (found.summary, found.stated_by, found.date) == ("Backups run at 03:00 | daily", actor, "2026-11-29")
    assert found.query_hints == ("cron",)
    assert store.entries(change.id) == [(actor, "add")] and store.state()[change.id].stated_by == actor
    assert store.done() == []


def test_remember_with_a_source(store):
    change = say(store, "The port is 8080.", actor="agent", source_range=(SourceRange("2026-05-12-3f9a21", 3, 4),), date="2026-05-12")
    assert store.memory(change.id).source_range == (SourceRange("2026-05-12-3f9a21", 3, 4),)
    assert store.state()[change.id].sources == ("3f9a21:3-4",)
    assert store.done() == []


def test_org_03_the_same_fact_is_written_once(school):
    before = school.bytes()
    for actor in ("person", "agent"):
        change = say(school, "the port is **8080**", actor=actor)
        assert (change.action, change.id, change.topic) == ("exists", "m-000002", FILE)
    assert school.bytes() == before


def test_what_a_person_withdrew_comes_back_only_for_a_person(school):
    forget(school.root, school.config, "m-000002", actor="person", now=NOW)
    assert say(school, "Port is 8080.", actor="agent", source_range=(SourceRange("2026-05-12-3f9a21", 5, 5),)).action == "ignored"
    assert say(school, "The port is 8080.", actor="agent").action == "ignored"
    assert say(school, "The port is 8081.", actor="agent").action == "add"
    change = say(school, "The port is 8080.", actor="person")
    assert (change.action, change.id) == ("restore", "m-000002")
    assert school.state()["m-000002"].status == "active" and school.done() == []


def test_an_id_is_never_given_twice(store):
    first = say(store, "alpha", id="m-aaaaaa")
    second = say(store, "beta", id="m-aaaaaa")
    assert first.id == "m-aaaaaa" and second.id not in ("", first.id)


@pytest.mark.parametrize("kind", ["fact", "event", "instruction", "task"])
def test_each_kind_has_its_section(store, kind):
    change = say(store, "words", kind=kind)
    assert store.memory(change.id).kind == kind and store.done() == []


@pytest.mark.parametrize("text", ["- dash", "~~struck~~ words", "[x] box", "a ^m-000001", "[[#^m-1]] x", "<!-- c -->", "# h", "日本語 🚀", "a | b"])
def test_words_that_look_like_notation_stay_words(store, text):
    change = say(store, text)
    assert store.memory(change.id).summary == text and store.done() == []


@pytest.mark.parametrize(("name", "expected"), [
    ("projects/x", "projects/x.md"), ("./projects/x.md", "projects/x.md"), ("メモ", "メモ.md"), ("a (b) [c] #1.md", "a (b) [c] #1.md"),
])
def test_topic_path(store, name, expected):
    assert topic_path(store.root, name, store.config) == expected


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "..\\..\\x", "C:/x"])
def test_mcp_05_a_topic_outside_the_store_is_refused(store, name):
    with pytest.raises(OutsideStoreError):
        say(store, "words", name)


@pytest.mark.parametrize("name", ["MEMORY.md", "memory", "threads/x.md", "archive/x", ".memoryfs/x.md", "projects/.x.md", "a\nb"])
def test_our_own_places_are_no_topics(store, name):
    with pytest.raises(UsageError):
        say(store, "words", name)


def test_a_broken_file_is_not_written(school):
    school.change(FILE, "title: School auth", "title: a: b")
    before = school.bytes()
    with pytest.raises(UnwritableFileError):
        say(school, "words", FILE)
    with pytest.raises(UnwritableFileError):
        forget(school.root, school.config, "m-000002", actor="person", now=NOW)
    with pytest.raises(UnwritableFileError):
        move(school.root, school.config, "m-000002", "projects/new.md", actor="person", now=NOW)
    assert school.bytes() == before and school.entries("m-000002") == [("organizer", "adopt")]


def test_forget_withdraws_and_closes_its_reviews(school):
    change = forget(school.root, school.config, "m-000003", actor="agent", now=NOW, why="asked to")
    assert (change.action, change.topic) == ("withdraw", FILE)
    assert "^m-000003" not in school.text(FILE) and "^r-000001" not in school.text(FILE)
    assert "[^3f9a21:3]:" not in school.text(FILE)
    assert school.state()["m-000003"].status == "withdrawn" and school.state()["m-000004"].status == "active"
    assert school.done() == []


def test_forget_purge_takes_the_words_out_of_the_ledger_and_the_tombstone_holds(school):
    forget(school.root, school.config, "m-000002", actor="person", now=NOW, purge=True)
    assert "8080" not in (school.root / ledger.FILE).read_text() and "8080" not in school.text(FILE)
    assert say(school, "The port is 8080.", actor="agent").action == "ignored"
    assert school.done() == []


def test_what_was_withdrawn_can_be_purged_later(school):
    forget(school.root, school.config, "m-000002", actor="person", now=NOW)
    forget(school.root, school.config, "m-000002", actor="person", now=NOW, purge=True)
    assert "8080" not in (school.root / ledger.FILE).read_text()


def test_mcp_08_an_unknown_id_names_look_alikes(school):
    with pytest.raises(NotFoundError) as caught:
        forget(school.root, school.config, "m-00002", actor="person", now=NOW)
    assert "^m-000002" in caught.value.remedy
    forget(school.root, school.config, "m-000002", actor="person", now=NOW)
    with pytest.raises(NotFoundError, match="was withdrawn"):
        forget(school.root, school.config, "m-000002", actor="person", now=NOW)


def test_move_takes_the_footnotes_along(school):
    change = move(school.root, school.config, "m-000001", "infrastructure/mail", actor="agent", now=NOW)
    assert (change.action, change.topic) == ("move", "infrastructure/mail.md")
    text = school.text("infrastructure/mail.md")
    assert "- teacher.example.ed.jp is allowed. [^3f9a21:1-2] ^m-000001\n" in text and '[^3f9a21:1-2]: 2026-05-12; "ok"\n' in text
    assert "m-000001" not in school.text(FILE)
    assert school.state()["m-000001"].topic == "infrastructure/mail.md" and school.done() == []
    again = move(school.root, school.config, "m-000001", "infrastructure/mail.md", actor="agent", now=NOW)
    assert again.action == "nothing"


def test_con_04_a_move_killed_at_any_point_is_repaired(school, monkeypatch):
    from memoryfs.edits import verbs

    class Killed(BaseException):
        pass

    real, calls = verbs.edit_topic, []

    def die_at(number):
        def edit(*args, **more):
            calls.append(1)
            if len(calls) == number:
                raise Killed
            return real(*args, **more)
        return edit

    for number in (1, 2):
        calls.clear()
        monkeypatch.setattr(verbs, "edit_topic", die_at(number))
        with pytest.raises(Killed):
            move(school.root, school.config, "m-000001", f"infrastructure/mail{number}.md", actor="agent", now=NOW)
        monkeypatch.undo()
        school.adopt()
        assert school.memory("m-000001").summary == "teacher.example.ed.jp is allowed."
        assert school.state()["m-000001"].status == "active"
        assert school.state()["m-000001"].topic == school.memory("m-000001").topic
        assert school.state()["m-000001"].stated_by == "organizer"


@pytest.mark.parametrize(("choice", "ended", "stays"), [
    ("accept", {"m-000003"}, {"m-000004"}), ("reject", {"m-000004"}, {"m-000003"}), ("keep-both", set(), {"m-000003", "m-000004"}),
])
def test_resolve(school, choice, ended, stays):
    resolve(school.root, school.config, "r-000001", choice, actor="person", now=NOW)
    state = school.state()
    assert {id for id in ("m-000003", "m-000004") if state[id].status == "superseded"} == ended
    assert {id for id in ("m-000003", "m-000004") if school.memory(id).status == "active"} == stays
    assert "^r-000001" not in school.text(FILE) and school.done() == []


def test_resolve_refuses_what_it_does_not_know(school):
    with pytest.raises(UsageError):
        resolve(school.root, school.config, "r-000001", "maybe", actor="person", now=NOW)
    with pytest.raises(NotFoundError):
        resolve(school.root, school.config, "r-999999", "accept", actor="person", now=NOW)


def organized(store, summary="The port is 8080.", hints=("8080", "validateEmail")):
    """As the organizer leaves a topic: its summary and hints are copies of its memories'."""
    store.change(FILE, "query_hints: [validateEmail]\n", f"query_hints: [{', '.join(hints)}]\nsummary: {summary}\n")
    store.change(FILE, "[^3f9a21:5]: 2026-05-12", '[^3f9a21:5]: 2026-05-12; hints: 8080; "port 8080"')
    meta = {"summary": summary, "query_hints": list(hints)}
    ledger.append(store.root, [ledger.Entry("2026-05-12T00:00:00+00:00", "organizer", "edit", "", FILE, extra={"meta": meta})])
    store.adopt()


def test_what_is_forgotten_leaves_the_topics_summary_and_hints_too(school):
    organized(school)
    forget(school.root, school.config, "m-000002", actor="person", now=NOW, purge=True)
    assert "8080" not in school.text(FILE) and "validateEmail" in school.text(FILE)
    own = ledger.own_meta(ledger.read(school.root)[0])[FILE]
    assert own["summary"] == "" and own["query_hints"] == ["validateEmail"]
    assert "The port is 8080" not in (school.root / ledger.FILE).read_text()
    assert school.done() == []


def test_what_is_forgotten_stays_in_a_summary_that_a_person_wrote(school):
    school.change(FILE, "tags: [auth]", "tags: [auth]\nsummary: The port is 8080.")
    school.adopt()
    forget(school.root, school.config, "m-000002", actor="person", now=NOW)
    assert "summary: The port is 8080.\n" in school.text(FILE)


@pytest.mark.parametrize(("old", "new"), [
    ("- The port is 8080. [^3f9a21:5] ^m-000002\n", ""),
    ("- The port is 8080.", "- ~~The port is 8080.~~"),
    ("- The port is 8080.", "- The port is 9090."),
])
def test_what_a_person_took_out_leaves_the_topics_summary(school, old, new):
    organized(school)
    school.change(FILE, old, new)
    school.adopt()
    assert "summary:" not in school.text(FILE)
    assert ledger.own_meta(ledger.read(school.root)[0])[FILE]["summary"] == ""
    assert school.done() == []


def test_the_summary_follows_a_review_and_a_move(school):
    organized(school, "Cookies live 7 days.")
    resolve(school.root, school.config, "r-000001", "accept", actor="person", now=NOW)
    assert "summary:" not in school.text(FILE) and school.done() == []
    ledger.append(school.root, [ledger.Entry("2026-05-12T00:00:00+00:00", "organizer", "edit", "", FILE, extra={
        "meta": {"summary": "The port is 8080."}})])
    school.change(FILE, "tags: [auth]", "tags: [auth]\nsummary: The port is 8080.")
    move(school.root, school.config, "m-000002", "infrastructure/ports.md", actor="person", now=NOW)
    assert "summary:" not in school.text(FILE) and school.done() == []
