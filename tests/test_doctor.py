"""Doctor: one broken thing turns its own line red, and a healthy store is green."""

from __future__ import annotations

import json

import pytest

from memoryfs import MemoryStore, doctor
from memoryfs.textfile import StoreLock


@pytest.fixture
def store(tmp_path):
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Port 7443.", "time": "2026-03-01T09:00:00Z"}) + "\n")
    made = MemoryStore.init(tmp_path / "store")
    made.import_transcripts([talk])
    thread = made.recall("port", level=2).evidence[0].thread
    made.remember("The gateway listens on port 7443", topic="infrastructure/gateway.md", source=f"{thread}:0-0",
                  hints=["gateway", "7443"])
    made.brief()
    return made


def red(store, **options):
    return {c.name for c in doctor.examine(store, **options) if not c.ok}


def edit(store, path, old, new):
    file = store.root / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_healthy_store_is_green(store):
    assert red(store) == set()


def test_an_invalid_setting(store):
    (store.root / "memoryfs.toml").write_text("briefing = 3\n")
    assert red(MemoryStore.open(store.root)) == {"settings"}


def test_a_lock_that_is_held(store):
    with StoreLock(store.root, "organize"):
        assert red(store) == {"lock"}


def test_a_lock_file_that_a_crash_left_is_not_a_fault(store):
    (store.root / ".memoryfs" / "organize.lock").write_text("1\n")
    assert red(store) == set()


def test_fm_07_broken_front_matter_is_named_with_its_line(store):
    (store.root / "notes").mkdir()
    (store.root / "notes" / "bad.md").write_text("---\ntitle: a: b\n---\nbody\n")
    checks = {c.name: c for c in doctor.examine(store)}
    problem = checks["topic files"].problems[0]
    assert problem.path == "notes/bad.md" and problem.line == 2
    assert not checks["duplicate ids"].problems


def test_a_pointer_to_nothing(store):
    edit(store, "infrastructure/gateway.md", "port 7443", "port 7443 (see [[#^m-0f0f0f]])")
    assert red(store) == {"pointers"}


def test_a_source_whose_thread_is_gone(store):
    for file in (store.root / "threads").rglob("*.jsonl"):
        file.unlink()
    assert red(store) == {"sources"}


def test_a_topic_over_its_size(store):
    (store.root / "notes").mkdir()
    (store.root / "notes" / "long.md").write_text("# Long\n\n" + "word " * 20000)
    assert red(store) == {"size"}


def test_hints_that_repeat_the_title(store):
    (store.root / "notes").mkdir()
    (store.root / "notes" / "hint.md").write_text("---\ntitle: Hint\nquery_hints: [hint]\n---\n# Hint\n")
    assert red(store) == {"hints"}


def test_a_briefing_that_is_over_its_cap_or_gone(store):
    (store.root / "MEMORY.md").write_text("# Memory\n" + "x" * 9000)
    assert red(store) == {"briefing"}
    (store.root / "MEMORY.md").unlink()
    assert red(store) == {"briefing"}
    assert red(store, fix=True) == set()


def test_cap_06_a_briefing_line_whose_file_is_gone(store):
    (store.root / "infrastructure" / "gateway.md").rename(store.root / "infrastructure" / "edge.md")
    assert "briefing" in red(store)
    assert red(store, fix=True) == set()


def test_a_torn_ledger_line(store):
    with (store.root / "ledger.jsonl").open("a") as file:
        file.write('{"time": "2026-\n')
    assert red(store) == {"ledger file"}


def test_a_torn_thread_line(store):
    file = next((store.root / "threads").rglob("*.jsonl"))
    file.write_text(file.read_text() + '{"thread": "x\n')
    assert "thread files" in red(store)


def test_fts_11_rows_missing_from_the_full_text_table_are_found_and_mended(store):
    import apsw

    db = apsw.Connection(str(store.root / ".memoryfs" / "index.db"))
    db.execute("DELETE FROM terms WHERE rowid IN (SELECT rowid FROM terms LIMIT 1)")
    db.close()
    assert red(store) == {"index"}
    assert red(store, fix=True) == set()
    assert store.recall("gateway port", level=0).memories


def test_an_index_of_random_bytes_heals_itself(store):
    (store.root / ".memoryfs" / "index.db").write_bytes(b"\x13" * 9000)
    assert red(store) == set()
    assert store.recall("gateway port", level=0).memories


def test_idx_09_a_conflict_copy_is_flagged(store):
    text = (store.root / "infrastructure" / "gateway.md").read_text().replace("7443", "7444")
    (store.root / "infrastructure" / "gateway.sync-conflict-20260301-101010-ABCDEFG.md").write_text(text)
    assert red(store) == {"topic files"}


def test_stale_temporary_files_are_removed_by_fix(store):
    before = {p for p in store.root.rglob("*") if ".memoryfs" not in p.parts}
    litter = store.root / "infrastructure" / ".memoryfs-00112233445566bb.part"
    litter.write_bytes(b"half a fi")
    checks = {check.name: check for check in doctor.examine(store, fix=True)}
    assert checks["folder"].fixed == ("removed 1 stale temporary file",)
    assert not litter.exists() and before <= set(store.root.rglob("*"))
