"""Export: what other tools read back is what the topic files say."""

from __future__ import annotations

import json

import frontmatter
import pytest

from memoryfs import MemoryStore, exporters
from memoryfs.errors import UsageError

TITLE = 'Fix: "a" # b'


@pytest.fixture
def store(tmp_path):
    made = MemoryStore.init(tmp_path / "store")
    made.remember("The gateway listens on port 7443", topic="infrastructure/gateway.md")
    made.remember("Use pnpm, not npm", topic="preferences/tooling.md", kind="instruction")
    made.remember("Shipped the login page", topic="projects/app.md", kind="event")
    gone = made.remember("Withdrawn statement", topic="projects/app.md")
    made.forget(gone.id)
    return made


def test_claude_code_layout_has_an_index_and_a_file_a_topic(store, tmp_path):
    exporters.export(store.topics(), tmp_path / "out", "claude-code")
    index = (tmp_path / "out" / "MEMORY.md").read_text()
    names = [line.split("](")[1].split(")")[0] for line in index.splitlines()]
    assert len(names) == 3
    for name in names:
        note = frontmatter.load(str(tmp_path / "out" / name))
        assert note["name"] and note["description"] and note["metadata"]["type"]
    text = "".join((tmp_path / "out" / n).read_text() for n in names)
    assert "port 7443" in text and "Withdrawn" not in text and "^m-" not in text


def test_openclaw_layout_puts_events_under_their_day(store, tmp_path):
    exporters.export(store.topics(), tmp_path / "out", "openclaw")
    days = list((tmp_path / "out" / "memory").iterdir())
    assert len(days) == 1 and "Shipped the login page" in days[0].read_text()
    lasting = (tmp_path / "out" / "MEMORY.md").read_text()
    assert "Use pnpm, not npm" in lasting and "Shipped" not in lasting


def test_json_lines_hold_every_memory(store, tmp_path):
    exporters.export(store.topics(), tmp_path / "m.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert {r["summary"] for r in rows} == {m.summary for m in store.list()}
    assert all(r["id"].startswith("m-") for r in rows)


def test_book_is_one_document_with_every_topic(store, tmp_path):
    exporters.export(store.topics(), tmp_path / "book.md", "book")
    text = (tmp_path / "book.md").read_text()
    assert text.count("\n## ") == 3 and "port 7443" in text


def test_what_is_there_already_is_never_overwritten(store, tmp_path):
    target = tmp_path / "book.md"
    target.write_text("mine")
    with pytest.raises(UsageError):
        exporters.export(store.topics(), target, "book")
    assert target.read_text() == "mine"


def test_exporting_again_changes_nothing(store, tmp_path):
    exporters.export(store.topics(), tmp_path / "out", "claude-code")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").iterdir()}
    exporters.export(store.topics(), tmp_path / "out", "claude-code")
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / "out").iterdir()}


def test_fm_08_titles_that_yaml_would_misread(tmp_path):
    store = MemoryStore.init(tmp_path / "s")
    (store.root / "notes").mkdir()
    (store.root / "notes" / "x.md").write_text(f"---\ntitle: {json.dumps(TITLE)}\n---\n# T\n\nSome prose here.\n")
    exporters.export(store.topics(), tmp_path / "out", "claude-code")
    assert frontmatter.load(str(tmp_path / "out" / "notes-x.md"))["name"] == TITLE
