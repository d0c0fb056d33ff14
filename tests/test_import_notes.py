"""Import of other tools' notes: the text byte for byte, where it came from, and never over a person's edit."""

from __future__ import annotations

import pytest

from memoryfs import MemoryStore, notes


@pytest.fixture
def store(tmp_path):
    return MemoryStore.init(tmp_path / "store")


def bring(store, folder):
    return store.import_notes(list(notes.find([folder])))


@pytest.mark.parametrize(("path", "kind"), [
    ("repo/CLAUDE.md", "instructions"), ("repo/AGENTS.md", "instructions"),
    ("repo/memory-bank/activeContext.md", "cline"),
    ("projects/x/memory/MEMORY.md", "claude-memory"), ("projects/x/memory/debugging.md", "claude-memory"),
    ("work/SOUL.md", "openclaw"), ("work/memory/2026-03-01.md", "openclaw"),
    ("vault/coffee.md", "basic-memory"),
    ("repo/README.md", None), ("repo/memory/data.json", None),
])
def test_kind_by_name_folder_and_first_lines(tmp_path, path, kind):
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text("---\ntitle: Coffee\npermalink: coffee\n---\ntext\n" if kind == "basic-memory" else "text\n")
    if path.startswith("work/memory"):
        (tmp_path / "work" / "SOUL.md").write_text("x")
    assert notes.kind_of(file) == kind


def test_a_note_becomes_a_topic_with_its_text_and_provenance(store, tmp_path):
    source = tmp_path / "app" / "memory" / "debugging.md"
    source.parent.mkdir(parents=True)
    body = "# Debugging\n\n| a | b |\n|---|---|\n\n- [[link]] and `code`\n"
    source.write_text(f"---\nname: Debugging\ndescription: How to  debug   # keep\n---\n{body}")
    report = bring(store, tmp_path / "app")
    assert [i.status for i in report.imported] == ["new"] and not report.problems
    text = (store.root / report.imported[0].topic).read_text()
    assert text.endswith(body) and "description: How to  debug   # keep" in text and "debugging.md" in text
    assert store.recall("how to debug", level=0, status=("active",)).query


def test_importing_again_adds_nothing_and_follows_a_change(store, tmp_path):
    source = tmp_path / "app" / "AGENTS.md"
    source.parent.mkdir()
    source.write_text("# Rules\n\nUse tabs.\n")
    topic = bring(store, tmp_path / "app").imported[0].topic
    assert topic.startswith("preferences/")
    assert bring(store, tmp_path / "app").imported[0].status == "unchanged"
    source.write_text("# Rules\n\nUse spaces.\n")
    assert bring(store, tmp_path / "app").imported[0].status == "updated"
    assert "spaces" in (store.root / topic).read_text()


def test_a_copy_that_a_person_edited_is_left_alone(store, tmp_path):
    source = tmp_path / "app" / "AGENTS.md"
    source.parent.mkdir()
    source.write_text("Use tabs.\n")
    topic = bring(store, tmp_path / "app").imported[0].topic
    (store.root / topic).write_text("Use tabs, always.\n")
    source.write_text("Use spaces.\n")
    report = bring(store, tmp_path / "app")
    assert report.imported[0].status == "kept" and report.problems
    assert (store.root / topic).read_text() == "Use tabs, always.\n"


@pytest.mark.parametrize("data", [
    b"---\ntitle: a: b\n---\nbody\n", b"\xff\xfeU\x00T\x00F\x00", b"caf\xe9\n", b"", b"---\n- a\n- b\n---\nx\n", b"\xef\xbb\xbfbom\n",
])
def test_a_damaged_note_is_copied_exactly_or_with_one_block(store, tmp_path, data):
    source = tmp_path / "app" / "AGENTS.md"
    source.parent.mkdir()
    source.write_bytes(data)
    report = bring(store, tmp_path / "app")
    copy = (store.root / report.imported[0].topic).read_bytes()
    assert copy.endswith(data.removeprefix(b"\xef\xbb\xbf"))


def test_secrets_do_not_come_along(store, tmp_path):
    source = tmp_path / "app" / "AGENTS.md"
    source.parent.mkdir()
    token = "ghp_" + "a1B2" * 9
    source.write_text(f"Token: {token}\n")
    topic = bring(store, tmp_path / "app").imported[0].topic
    assert token not in (store.root / topic).read_text()


def test_two_notes_of_one_name_keep_apart(store, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder / "app").mkdir(parents=True)
        (tmp_path / folder / "app" / "AGENTS.md").write_text(f"rules of {folder}\n")
    first = bring(store, tmp_path / "a").imported[0].topic
    second = bring(store, tmp_path / "b").imported[0].topic
    assert first != second
