"""Keeping the index in step with the files (IDX, CON and PKG reports)."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import apsw
import pytest

from index.stores import NOW, event_line, fact_file, thread, topic
from memoryfs import index
from memoryfs.errors import NewerSchemaError
from memoryfs.index import schema, sync
from memoryfs.recall import recall

T1, T2 = "2026-11-20-aaaaaa", "2026-11-21-bbbbbb"


def found(root: Path, query: str) -> list[str]:
    """Synchronise and search: the texts of memories and evidence."""
    with index.open(root) as opened:
        opened.sync(now=NOW)
        answer = recall(opened, query, level="2", now=NOW)
    return [m.memory.summary for m in answer.memories] + [e.text for e in answer.evidence]


def test_nothing_changed_costs_nothing_and_writes_nothing(tmp_path):
    thread(tmp_path, T1, ["the zebra sleeps"])
    topic(tmp_path, "projects/a.md", fact_file("The zebra is striped."))
    for path in tmp_path.rglob("*.*"):
        os.utime(path, (1_000_000, 1_000_000))
    with index.open(tmp_path) as opened:
        first = opened.sync(now=NOW)
        assert (first.added, first.changed, first.removed) == (2, 0, 0)
        again = opened.sync(now=NOW)
        assert (again.added, again.changed, again.removed, again.unchanged) == (0, 0, 0, 2)


def test_only_the_new_tail_of_a_thread_is_parsed(tmp_path, monkeypatch):
    path = thread(tmp_path, T1, [f"message number{n}" for n in range(50)])
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        seen = []
        from memoryfs.index import threads

        real = threads.decode_event
        monkeypatch.setattr(threads, "decode_event", lambda line: seen.append(line) or real(line))
        with open(path, "a", encoding="utf-8") as file:
            file.write(event_line(T1, 50, "the walrus arrives"))
        report = opened.sync(now=NOW)
        assert report.changed == 1
        assert len(seen) == 1
        assert opened.totals()[0] == 51
        assert recall(opened, "walrus", level="2", now=NOW).evidence[0].index == 50


def test_a_thread_that_was_rewritten_is_read_anew(tmp_path):
    thread(tmp_path, T1, ["old otter", "second"])
    assert found(tmp_path, "otter")[0] == "old otter"
    thread(tmp_path, T1, ["new heron", "second", "third"])
    assert found(tmp_path, "otter") == []
    assert found(tmp_path, "heron")[0] == "new heron"


def test_a_half_written_line_is_read_when_it_is_whole(tmp_path):
    path = thread(tmp_path, T1, ["first badger"])
    line = event_line(T1, 1, "second weasel")
    with open(path, "a", encoding="utf-8") as file:
        file.write(line[:40])
    assert found(tmp_path, "badger") == ["first badger"]
    with open(path, "a", encoding="utf-8") as file:
        file.write(line[40:])
    assert "second weasel" in found(tmp_path, "weasel")


def test_a_torn_line_costs_only_itself_and_is_named(tmp_path):
    path = thread(tmp_path, T1, ["first badger"])
    with open(path, "a", encoding="utf-8") as file:
        file.write("{torn\n" + event_line(T1, 1, "second weasel"))
    with index.open(tmp_path) as opened:
        report = opened.sync(now=NOW)
        assert [p.path for p in report.problems] == [str(path.relative_to(tmp_path))]
        assert recall(opened, "weasel", level="2", now=NOW).evidence[0].index == 1


def test_idx_01_atomic_save_and_temporary_names(tmp_path):
    path = topic(tmp_path, "projects/note.md", fact_file("The lynx is old."))
    assert found(tmp_path, "lynx") == ["The lynx is old."]
    new = path.with_name("note.md.tmp")
    new.write_text(fact_file("The lynx is young."), encoding="utf-8")
    os.replace(new, path)
    for name in ("note.md~", ".note.md.swp", "4913", "#note.md#"):
        path.with_name(name).write_text(fact_file("The lynx is a ghost."), encoding="utf-8")
    assert found(tmp_path, "lynx") == ["The lynx is young."]


def test_idx_02_moved_deleted_renamed_while_off(tmp_path):
    for name in ("gone", "old", "moved", "edited"):
        topic(tmp_path, f"projects/{name}.md", fact_file(f"The {name} marmot."))
    assert len(found(tmp_path, "marmot")) == 4
    (tmp_path / "projects/gone.md").unlink()
    (tmp_path / "projects/old.md").rename(tmp_path / "projects/new.md")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "projects/moved.md").rename(tmp_path / "node_modules/moved.md")
    topic(tmp_path, "projects/edited.md", fact_file("The changed marmot."))
    topic(tmp_path, "projects/added.md", fact_file("The added marmot."))
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        answer = recall(opened, "marmot", level="2", now=NOW)
    assert sorted(m.memory.summary for m in answer.memories) == ["The added marmot.", "The changed marmot.", "The old marmot."]
    assert all((tmp_path / m.memory.topic).exists() for m in answer.memories)


def test_idx_02_an_interrupted_catch_up_loses_nothing(tmp_path, monkeypatch):
    for number in range(5):
        topic(tmp_path, f"projects/n{number}.md", fact_file(f"Marmot {number}."))
    real = sync._read
    calls = []

    def fails_later(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(sync, "_read", fails_later)
    with index.open(tmp_path) as opened, pytest.raises(KeyboardInterrupt):
        opened.sync(now=NOW)
    monkeypatch.setattr(sync, "_read", real)
    assert len(found(tmp_path, "marmot")) == 5


def test_idx_03_identical_files_moved_together(tmp_path):
    for name in ("a", "b"):
        topic(tmp_path, f"d/{name}.md", fact_file("The twin stoat."))
    assert len(found(tmp_path, "stoat")) == 2
    (tmp_path / "d").rename(tmp_path / "e")
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        topics = sorted(m.memory.topic for m in recall(opened, "stoat", now=NOW, level="2").memories)
    assert topics == ["e/a.md", "e/b.md"]


def test_idx_04_same_size_and_mtime(tmp_path):
    path = topic(tmp_path, "projects/n.md", fact_file("aaaa stays."))
    before = path.stat()
    assert found(tmp_path, "aaaa") == ["aaaa stays."]
    path.write_text(fact_file("bbbb stays."), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(tmp_path, "bbbb") == ["bbbb stays."]
    path.write_text(fact_file("cccc stays."), encoding="utf-8")
    assert found(tmp_path, "cccc") == ["cccc stays."]
    for moment in (0, 4_070_908_800):
        path.write_text(fact_file(f"dddd{moment} stays."), encoding="utf-8")
        os.utime(path, (moment, moment))
        assert found(tmp_path, f"dddd{moment}") == [f"dddd{moment} stays."]


def test_idx_04_identical_content_is_not_read_again(tmp_path):
    path = topic(tmp_path, "projects/n.md", fact_file("The quail."))
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        opened.db.execute("UPDATE memories SET embedded = 1")
        path.write_bytes(path.read_bytes())
        os.utime(path, (2_000_000, 2_000_000))
        assert opened.sync(now=NOW).changed == 0
        topic(tmp_path, "projects/n.md", fact_file("The quail.", "The crake."))
        opened.sync(now=NOW)
        rows = dict(opened.db.execute("SELECT text, embedded FROM memories WHERE kind = 'memory'"))
        assert rows == {"The quail.": 1, "The crake.": 0}


def test_idx_05_a_failed_file_is_tried_again(tmp_path, monkeypatch):
    topic(tmp_path, "projects/a.md", fact_file("The heron."))
    topic(tmp_path, "projects/b.md", fact_file("The egret."))
    real = sync._read

    def fails(opened, file, before):
        if file.path.endswith("b.md"):
            raise PermissionError(13, "Permission denied")
        return real(opened, file, before)

    monkeypatch.setattr(sync, "_read", fails)
    with index.open(tmp_path) as opened:
        report = opened.sync(now=NOW)
        assert [p.path for p in report.problems] == ["projects/b.md"]
        assert opened.status()["failed"] == ["projects/b.md"]
    monkeypatch.setattr(sync, "_read", real)
    assert found(tmp_path, "egret") == ["The egret."]
    with index.open(tmp_path) as opened:
        assert opened.sync(now=NOW).problems == ()
        assert opened.status()["failed"] == []


def test_idx_06_links_and_loops(tmp_path):
    root = tmp_path / "store"
    topic(root, "projects/a.md", fact_file("The vole."))
    topic(tmp_path, "outside/b.md", fact_file("The vole outside."))
    (root / "loop").symlink_to(root)
    (root / "projects/up").symlink_to("..")
    (root / "out").symlink_to(tmp_path / "outside")
    begun = time.monotonic()
    assert found(root, "vole") == ["The vole."]
    assert time.monotonic() - begun < 2


def test_idx_10_the_store_moved(tmp_path):
    first = tmp_path / "m1"
    topic(first, "projects/a.md", fact_file("The newt."))
    thread(first, T1, ["a newt in the pond"])
    assert len(found(first, "newt")) == 2
    first.rename(tmp_path / "m2")
    assert len(found(tmp_path / "m2", "newt")) == 2
    (tmp_path / "link").symlink_to(tmp_path / "m2")
    assert len(found(tmp_path / "link", "newt")) == 2


@pytest.mark.parametrize("harm", ["delete", "truncate", "random", "swap", "drop"])
def test_con_07_index_lost_or_damaged_under_a_running_server(tmp_path, harm):
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    thread(tmp_path, T1, ["the toad croaks"])
    path = schema.path_of(tmp_path)
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        if harm == "delete":
            for suffix in ("", "-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        elif harm == "truncate":
            opened.db.pragma("wal_checkpoint", "truncate")
            os.truncate(path, 4096)
        elif harm == "random":
            opened.db.pragma("wal_checkpoint", "truncate")
            path.write_bytes(os.urandom(60_000))
        elif harm == "swap":
            new = path.with_name("new.db")
            new.write_bytes(os.urandom(20_000))
            os.replace(new, path)
        else:
            other = apsw.Connection(str(path))
            other.execute("DROP TABLE memories")
            other.close()
        report = opened.sync(now=NOW)
        answer = recall(opened, "toad", level="2", now=NOW)
        assert [m.memory.summary for m in answer.memories] == ["The toad."]
        assert [e.text for e in answer.evidence] == ["the toad croaks"]
        said = (*report.notices, *answer.notices)
        assert len(said) == 1 or (harm in ("truncate", "random") and not said)  # those may still be served from the cache
        opened.sync(now=NOW)
        assert recall(opened, "toad", now=NOW).notices == ()
    assert found(tmp_path, "toad") == ["The toad.", "the toad croaks"]


def test_con_07_damaged_before_it_is_opened(tmp_path):
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    found(tmp_path, "toad")
    schema.path_of(tmp_path).write_bytes(b"SQLite format 3\0" + os.urandom(9000))
    assert found(tmp_path, "toad") == ["The toad."]


def test_pkg_04_a_newer_schema_is_refused_and_left_alone(tmp_path):
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    found(tmp_path, "toad")
    path = schema.path_of(tmp_path)
    other = apsw.Connection(str(path))
    other.pragma("user_version", schema.SCHEMA + 1)
    other.pragma("wal_checkpoint", "truncate")
    other.close()
    before = path.read_bytes()
    with pytest.raises(NewerSchemaError):
        index.open(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("sql", ["PRAGMA user_version = 1", "UPDATE meta SET value = -1 WHERE key = 'text'"])
def test_pkg_04_an_older_schema_or_normaliser_is_made_anew(tmp_path, sql):
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    found(tmp_path, "toad")
    other = apsw.Connection(str(schema.path_of(tmp_path)))
    other.execute(sql)
    other.close()
    assert found(tmp_path, "toad") == ["The toad."]


def test_con_01_readers_and_writers_at_once(tmp_path):
    thread(tmp_path, T1, ["the common crane"] * 20)
    failures = []

    def work(number):
        try:
            for turn in range(8):
                topic(tmp_path, f"projects/w{number}.md", fact_file(f"Crane {number} turn {turn}."))
                found(tmp_path, "crane")
        except Exception as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert sum("turn 7" in text for text in found(tmp_path, "crane")) == 4


def test_con_05_no_wal(tmp_path, monkeypatch):
    real = apsw.Connection.pragma

    class NoWal(apsw.Connection):
        def pragma(self, name, value=None, **over):
            if name == "journal_mode" and value == "wal":
                raise apsw.IOError("disk I/O error")
            return real(self, name, value, **over) if value is not None else real(self, name, **over)

    monkeypatch.setattr(apsw, "Connection", NoWal)
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        assert opened.status()["journal"] == "delete"
        assert len(recall(opened, "toad", now=NOW).memories) == 1


def test_a_folder_that_cannot_be_written_is_served_from_memory(tmp_path, monkeypatch):
    thread(tmp_path, T1, ["the toad croaks"])
    real = schema.connect

    def refuses(path, **over):
        if path != ":memory:":
            raise apsw.CantOpenError("unable to open database file")
        return real(path, **over)

    monkeypatch.setattr(schema, "connect", refuses)
    with index.open(tmp_path) as opened:
        report = opened.sync(now=NOW)
        assert "memory" in report.notices[0]
        assert recall(opened, "toad", level="2", now=NOW).evidence[0].text == "the toad croaks"


def test_a_read_only_index_serves_and_a_changed_store_is_served_from_memory(tmp_path, monkeypatch):
    path = thread(tmp_path, T1, ["the toad croaks"])
    os.utime(path, (1_000_000, 1_000_000))
    found(tmp_path, "toad")
    real = schema.connect

    def read_only(target, *, readonly=False):
        if target != ":memory:" and not readonly:
            raise apsw.ReadOnlyError("attempt to write a readonly database")
        return real(target, readonly=readonly)

    monkeypatch.setattr(schema, "connect", read_only)
    with index.open(tmp_path) as opened:
        assert not opened.writable
        assert opened.sync(now=NOW).notices == ()
        assert recall(opened, "toad", level="2", now=NOW).evidence[0].text == "the toad croaks"
        thread(tmp_path, T2, ["another toad"])
        assert opened.sync(now=NOW).notices
        assert len(recall(opened, "toad", level="2", now=NOW).evidence) == 2


def test_the_index_is_a_cache(tmp_path):
    thread(tmp_path, T1, ["the toad croaks at 7443", "a newt listens", "port 7443 is open"])
    topic(tmp_path, "projects/a.md", fact_file("The toad is on 7443.", "Newts are shy."))

    def answers():
        with index.open(tmp_path) as opened:
            opened.sync(now=NOW)
            return [recall(opened, q, level="2", now=NOW).to_dict() for q in ("toad", "port 7443", "shy newt")]

    before = answers()
    shutil.rmtree(tmp_path / ".memoryfs")
    assert answers() == before
    with index.open(tmp_path) as opened:
        opened.rebuild()
    assert answers() == before


def test_fts_11_desync_is_detected_and_mended_from_the_files(tmp_path):
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    thread(tmp_path, T1, ["the toad croaks"])
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        assert opened.check() == ()
        opened.db.execute("DELETE FROM terms WHERE rowid = (SELECT min(rowid) FROM terms_docsize)".replace(
            "rowid FROM", "id FROM").replace("min(rowid)", "min(id)"))
        assert "damaged" in opened.check()[0].message
        topic(tmp_path, "projects/a.md", fact_file("The newt."))
        opened.sync(now=NOW)
        opened.rebuild()
        assert opened.check() == ()
        assert [m.memory.summary for m in recall(opened, "newt", now=NOW).memories] == ["The newt."]


def test_fts_11_content_lost_but_terms_kept(tmp_path):
    topic(tmp_path, "projects/a.md", fact_file("The toad."))
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        opened.db.execute("DELETE FROM memories")
        assert opened.check()
        topic(tmp_path, "projects/b.md", fact_file("The newt."))
        assert opened.sync(now=NOW) is not None
        opened.rebuild()
        assert opened.check() == ()


def test_skipped_events_are_not_searched(tmp_path):
    thread(tmp_path, T1, [{"text": "secret thinking toad", "metadata": {"skip": "thinking"}}, "plain newt"])
    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        assert recall(opened, "toad", level="2", now=NOW).evidence == ()


def test_what_a_sessions_page_copies_from_a_memory_is_not_found_without_it(tmp_path):
    topic(tmp_path, "episodes/2026/2026-11-20-zebra.md", (
        "# Zebra\n\n## Decided\n- The zebra is striped. `2026-11-20-aaaaaa:3` → [[projects/a#^m-000001]]\n\n"
        "A person's words on the okapi, see [[projects/a#^m-000001]].\n"
    ))
    assert not any("striped" in text for text in found(tmp_path, "zebra striped"))
    assert found(tmp_path, "okapi") == ["A person's words on the okapi, see [[projects/a#^m-000001]]."]
    topic(tmp_path, "projects/a.md", "## Facts\n- The zebra is striped. ^m-000001\n")
    assert [text for text in found(tmp_path, "zebra striped") if "striped" in text] == ["The zebra is striped."]
