"""The ledger: lines survive, a torn one costs only itself, and the last state of every id follows from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryfs import ledger
from memoryfs.ledger import Entry


def entry(action="add", id="m-000001", **more) -> Entry:
    values = {"time": "2026-05-12T10:00:00Z", "actor": "organizer", "topic": "projects/x.md", "text": "Port is 8080."}
    return Entry(**{**values, **more, "action": action, "id": id})


anything = st.text(st.characters(exclude_categories=()), max_size=40)


@settings(max_examples=200, deadline=None)
@given(text=anything, why=anything, label=anything, key=st.text(min_size=1, max_size=8), value=anything)
def test_an_entry_reads_back_as_it_was_written(text, why, label, key, value):
    if key in ledger._FIELDS:
        key = f"x-{key}"
    before = entry(text=text, why=why, source=(label,), extra={key: value})
    line = ledger.encode(before)
    assert "\n" not in line and "\r" not in line
    line.encode("utf-8")
    assert ledger.decode(line) == before


def test_append_then_read(tmp_path: Path):
    entries = (entry(), entry("edit", actor="person", text="Port is 8081.", why="edited in the file"))
    ledger.append(tmp_path, entries)
    ledger.append(tmp_path, (entry(id="m-000002"),))
    read, problems = ledger.read(tmp_path)
    assert read == (*entries, entry(id="m-000002"))
    assert not problems


def test_a_missing_ledger_is_empty(tmp_path: Path):
    assert ledger.read(tmp_path) == ((), ())


def test_a_torn_last_line_costs_only_itself_and_the_next_append_stands_alone(tmp_path: Path):
    ledger.append(tmp_path, (entry(), entry(id="m-000002")))
    path = tmp_path / ledger.FILE
    path.write_bytes(path.read_bytes()[:-20])
    read, problems = ledger.read(tmp_path)
    assert [e.id for e in read] == ["m-000001"]
    assert [(p.line, p.severity) for p in problems] == [(2, "warning")]
    ledger.append(tmp_path, (entry(id="m-000003"),))
    read, problems = ledger.read(tmp_path)
    assert [e.id for e in read] == ["m-000001", "m-000003"]
    assert [p.line for p in problems] == [2]


def test_foreign_lines_are_named_and_skipped(tmp_path: Path):
    ledger.append(tmp_path, (entry(),))
    with (tmp_path / ledger.FILE).open("ab") as file:
        file.write(b'[1]\n{"action": "add"}\n\xff\xfe\n\n')
    ledger.append(tmp_path, (entry(id="m-000002"),))
    read, problems = ledger.read(tmp_path)
    assert [e.id for e in read] == ["m-000001", "m-000002"]
    assert [p.line for p in problems] == [2, 3, 4]


def test_unknown_fields_and_actions_of_a_newer_version_are_kept(tmp_path: Path):
    line = {"time": "t", "actor": "robot", "action": "merge", "id": "m-000001", "with": ["m-2"], "weight": 3}
    (tmp_path / ledger.FILE).write_text(json.dumps(line) + "\n")
    (read,), problems = ledger.read(tmp_path)
    assert not problems and read.to_dict() == line
    assert ledger.state((read,))["m-000001"].status == "active"


@pytest.mark.parametrize("bad", [{"actor": "robot"}, {"action": "explode"}])
def test_only_known_actors_and_actions_are_written(tmp_path: Path, bad):
    with pytest.raises(ValueError, match="not a ledger entry"):
        ledger.append(tmp_path, (entry(**bad),))
    assert not (tmp_path / ledger.FILE).exists()


def test_state_follows_a_memory_through_its_life():
    entries = [entry(source=("3f9a21:1-2",))]

    def now(*more):
        entries.extend(more)
        return ledger.state(entries)["m-000001"]

    first = now()
    assert (first.status, first.stated_by, first.sources) == ("active", "organizer", ("3f9a21:1-2",))
    seen = now(entry("reinforce", source=("3f9a21:1-2", "aaaaaa:5"), text=""))
    assert seen.sources == ("3f9a21:1-2", "aaaaaa:5") and seen.text == "Port is 8080."
    edited = now(entry("edit", actor="person", text="Port is 9090."))
    assert (edited.text, edited.stated_by) == ("Port is 9090.", "person")
    moved = now(entry("move", actor="person", topic="projects/y.md", text="", extra={"from": "projects/x.md"}))
    assert (moved.topic, moved.moved_from) == ("projects/y.md", "projects/x.md")
    conflict = entry("conflict", id="r-1", text="8080 or 9090?", extra={"memories": ["m-000001", "m-000009"]})
    assert now(conflict).status == "conflicted"
    assert now(entry("resolve", id="r-1", extra={"memories": ["m-000001"]})).status == "active"
    assert now(entry("supersede", text="", topic="", extra={"by": "m-000002"})).superseded_by == "m-000002"
    gone = now(entry("withdraw", actor="person", text="", topic=""))
    assert (gone.status, gone.withdrawn_by, gone.topic) == ("withdrawn", "person", "projects/y.md")
    assert now(entry("restore", actor="person", text="", topic="")).status == "active"


def test_an_organizer_edit_does_not_take_a_statement_away_from_the_person():
    entries = [entry(actor="person", action="adopt"), entry("edit", text="Port is 8080!")]
    assert ledger.state(entries)["m-000001"].stated_by == "person"


def test_reviews_open_and_close():
    opened = entry("conflict", id="r-1", text="7 or 14 days?", extra={"memories": ["m-1", "m-2"]})
    assert ledger.reviews([opened])["r-1"] == ledger.KnownReview(
        "r-1", "projects/x.md", "7 or 14 days?", ("m-1", "m-2"), True
    )
    assert not ledger.reviews([opened, entry("resolve", id="r-1")])["r-1"].open


def test_topic_meta_is_the_last_recorded():
    entries = [
        entry("adopt", id="", extra={"meta": {"status": "active", "tags": ["a"]}}),
        entry("edit", id="", extra={"meta": {"status": "archived"}}),
    ]
    assert ledger.topic_meta(entries) == {"projects/x.md": {"status": "archived", "tags": ["a"]}}
    assert ledger.state(entries) == {}


def test_purge_takes_the_words_and_leaves_the_rest(tmp_path: Path):
    ledger.append(tmp_path, (
        entry(text="my secret"), entry(id="m-000002"), entry("withdraw", actor="person", text="my secret"),
    ))
    assert ledger.purge(tmp_path, "m-000001") == 2
    assert "secret" not in (tmp_path / ledger.FILE).read_text()
    read, problems = ledger.read(tmp_path)
    assert not problems and [e.id for e in read] == ["m-000001", "m-000002", "m-000001"]
    assert read[1] == entry(id="m-000002")
    assert ledger.purge(tmp_path, "m-000001") == 0


@pytest.mark.parametrize(("a", "b"), [
    ("Use **pnpm**, not `npm`.", "use pnpm, not npm"), ("Port  is\n8080", "port is 8080"), ("ＡＢＣ。", "abc"),
])
def test_text_key_sees_through_form(a, b):
    assert ledger.text_key(a) == ledger.text_key(b)


@pytest.mark.parametrize(("a", "b"), [
    ("Deploys are allowed", "Deploys are not allowed"), ("port 8080", "port 8081"), ("-x", "x y"),
])
def test_text_key_keeps_what_differs(a, b):
    assert ledger.text_key(a) != ledger.text_key(b)
