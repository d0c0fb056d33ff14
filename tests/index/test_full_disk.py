"""A disk without room: the index is only a cache, so everything else goes on, and what could not be kept is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from types import SimpleNamespace

import apsw
import pytest
from click.testing import CliRunner

from index.stores import NOW, fact_file, thread, topic
from memoryfs import MemoryStore, doctor, index
from memoryfs.cli import cli
from memoryfs.index import schema, trouble
from memoryfs.models.fakes import HashEmbedder
from memoryfs.recall import recall

T1 = "2026-11-20-aaaaaa"
LATER = datetime(2026, 11, 30, 12, tzinfo=UTC)


class FullConnection(apsw.Connection):
    """A disk on which one statement after another fails, as SQLite fails: the transaction is over by then."""

    refuses = ""

    def execute(self, sql, *more, **named):
        if self.refuses and sql.startswith(self.refuses) and self.filename:
            if self.in_transaction:
                super().execute("ROLLBACK")
            raise apsw.FullError("database or disk is full")
        return super().execute(sql, *more, **named)


@pytest.fixture
def store(tmp_path, monkeypatch):
    topic(tmp_path / "store", "projects/a.md", fact_file("The toad is green."))
    thread(tmp_path / "store", T1, ["the toad croaks"])
    made = MemoryStore.init(tmp_path / "store")
    made.index()
    monkeypatch.setattr(apsw, "Connection", FullConnection)
    return made


def fill(monkeypatch, refuses):
    monkeypatch.setattr(FullConnection, "refuses", refuses)


def run(store, *arguments):
    done = CliRunner().invoke(cli, ["--store", str(store.root), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("refuses", ["INSERT OR REPLACE INTO files", "COMMIT", "BEGIN IMMEDIATE", "UPDATE files"])
def test_recall_answers_from_memory(store, monkeypatch, refuses):
    topic(store.root, "projects/b.md", fact_file("The newt is blue."))
    os.utime(store.root / "projects/a.md", (2_000_000, 2_000_000))
    before = schema.path_of(store.root).stat().st_ino
    fill(monkeypatch, refuses)
    for _ in range(2):
        found = store.recall("newt", vectors=False)
        assert [m.memory.summary for m in found.memories] == ["The newt is blue."]
        assert [n for n in found.notices if trouble.FULL in n and "memory" in n]
    assert schema.path_of(store.root).stat().st_ino == before  # it is whole, and left alone
    fill(monkeypatch, "")
    assert store.recall("newt", vectors=False).notices == ()


@pytest.mark.parametrize("arguments", [["index"], ["index", "--rebuild"]])
def test_index_says_so_and_fails(store, monkeypatch, arguments):
    topic(store.root, "projects/b.md", fact_file("The newt is blue."))
    fill(monkeypatch, "COMMIT")
    done = run(store, *arguments, "--embed-seconds", "0")
    assert done.exit_code == 1
    assert "the disk is full" in done.stderr and "Make room" in done.stderr


def test_doctor_says_so(store, monkeypatch):
    topic(store.root, "projects/b.md", fact_file("The newt is blue."))
    fill(monkeypatch, "COMMIT")
    for fix in ([], ["--fix"]):
        done = run(store, "doctor", "--no-model", *fix)
        assert done.exit_code == 6 and "the disk is full" in done.stdout
        assert "damaged" not in done.stdout


def test_organize_keeps_its_report_and_compiles_the_briefing(store, monkeypatch, tmp_path):
    from organizer import pipeline

    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "We decided that the pond gets a fence.", "time": "2026-11-21T09:00:00Z"}))
    fill(monkeypatch, "COMMIT")
    report = pipeline.run(store.root, config=store.config, now=LATER, paths=[talk])
    assert [p.message for p in report.problems] == ["the index cannot be written: the disk is full"]
    assert report.exit_code == 7 and report.briefing_bytes
    kept = next((store.root / ".memoryfs" / "reports").glob("*.json"))
    assert "the disk is full" in kept.read_text()
    assert "pond" in (store.root / "MEMORY.md").read_text()


@pytest.mark.parametrize("refuses", ["CREATE VIRTUAL TABLE vectors", "INSERT OR REPLACE INTO codes", "COMMIT"])
def test_vectors_that_find_no_room_wait(store, monkeypatch, refuses):
    with index.open(store.root) as opened:
        opened.sync(now=NOW)
        if opened.vectors_ready():
            pytest.skip("no sqlite-vec")
        fill(monkeypatch, refuses)
        embedded, pending = opened.embed_pending(HashEmbedder(), 60)
        assert (embedded, pending) == (0, 2)
        assert [p.message for p in opened.take_failures()] == ["vectors cannot be written: the disk is full"]
        fill(monkeypatch, "")
        assert opened.embed_pending(HashEmbedder(), 60) == (2, 0)


def test_vectors_of_what_is_gone_are_not_used_while_they_cannot_be_taken_out(store, monkeypatch):
    with index.open(store.root) as opened:
        opened.sync(now=NOW)
        if opened.vectors_ready():
            pytest.skip("no sqlite-vec")
        opened.embed_pending(HashEmbedder(), 60)
        topic(store.root, "projects/a.md", fact_file("The newt is blue."))
        opened.sync(now=NOW)
        fill(monkeypatch, "DELETE FROM stale")
        assert opened.vectors_ready() == trouble.FULL
        found = recall(opened, "newt", embedder=HashEmbedder(), now=NOW)
        assert [m.memory.summary for m in found.memories] == ["The newt is blue."]
        fill(monkeypatch, "")
        assert opened.vectors_ready() == ""


def test_the_last_room_is_left_to_the_files_that_matter(store, monkeypatch):
    topic(store.root, "projects/b.md", fact_file("The newt is blue."))
    size = SimpleNamespace(f_blocks=1000, f_bavail=10, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda path: size)
    assert trouble.FULL in " ".join(store.recall("newt", vectors=False).notices)
    monkeypatch.setattr(size, "f_blocks", 0)  # a file system that does not tell its size
    assert store.recall("newt", vectors=False).notices == ()


def test_an_error_in_a_transaction_is_passed_on_as_it_was_raised(tmp_path):
    db = schema.connect(tmp_path / "x.db")
    with pytest.raises(apsw.FullError), schema.transaction(db):
        db.execute("ROLLBACK")  # as SQLite does by itself
        raise apsw.FullError("database or disk is full")
    with pytest.raises(KeyboardInterrupt), schema.transaction(db):
        db.execute("INSERT INTO meta VALUES('a', 1)")
        raise KeyboardInterrupt
    assert not db.execute("SELECT 1 FROM meta WHERE key = 'a'").fetchall() and not db.in_transaction


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MB; where none can be mounted the test is skipped."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if not mount or subprocess.run([mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("free", [8, 40, 120, 600])
@pytest.mark.parametrize("reserve", [36 * 1024, trouble.RESERVE])  # with the first SQLite itself meets the end
def test_a_disk_that_is_really_full(small_disk, monkeypatch, free, reserve):
    monkeypatch.setattr(trouble, "RESERVE", reserve)
    store = MemoryStore.init(small_disk / "store")
    topic(store.root, "projects/a.md", fact_file(*(f"Toad {n} is green." for n in range(20))))
    thread(store.root, T1, [f"toad {n} croaks " + " ".join(f"w{n}x{m}" for m in range(200)) for n in range(150)])
    space = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(b"x" * (space.f_bavail * space.f_frsize - free * 1024))
    found = store.recall("toad 7", level=2, vectors=False)
    assert found.memories[0].memory.summary == "Toad 7 is green." and found.evidence
    assert trouble.FULL in " ".join(found.notices)
    assert run(store, "index", "--embed-seconds", "0").exit_code == 1
    assert {c.name for c in doctor.examine(store, with_models=False) if not c.ok} >= {"folder", "index"}
    (small_disk / "filler").unlink()
    assert store.recall("toad 7", level=2, vectors=False).notices == ()
