"""Damage that SQLite itself does not see: it is told, the index is made anew, and the answers are what they were."""

from __future__ import annotations

import os
import threading

import apsw
import pytest
from click.testing import CliRunner

from index.stores import NOW, fact_file, thread, topic
from memoryfs import MemoryStore, doctor, index
from memoryfs.cli import cli
from memoryfs.errors import IndexDamagedError
from memoryfs.index import counts, pool, schema
from memoryfs.index.units import ThreadMap
from memoryfs.models.fakes import HashEmbedder

T1, T2 = "2026-11-20-aaaaaa", "2026-11-21-bbbbbb"
QUESTIONS = ("toad", "which port does the toad listen on?", "newt")
SOURCED = "- The newt swims. [^aaaaaa:1] ^m-0000aa\n\n[^aaaaaa:1]: 2026-11-20\n"
ANEW = "The index was made anew"

UNREADABLE = {
    "memories": "UPDATE memories SET data = 'x' || substr(data, 2) WHERE kind != 'topic'",
    "topics": "UPDATE memories SET data = 'x' || substr(data, 2) WHERE kind = 'topic'",
    "fields": "UPDATE memories SET data = '{}'",
    "lists": "UPDATE memories SET data = '[]'",
    "bytes": "UPDATE memories SET data = CAST(X'7b22fffe' || data AS TEXT)",
    "text": "UPDATE memories SET text = CAST(X'fffe' || text AS TEXT)",
    "columns": "UPDATE threads SET packed = substr(packed, 1, length(packed) - 3) || X'010203'",
    "names": "UPDATE threads SET names = '['",
    "notes": "UPDATE files SET error = '{' WHERE kind = 'topic'",
}
MISSING = {
    "memories": "DELETE FROM memories",
    "a memory": "DELETE FROM memories WHERE doc = 2",
    "threads": "DELETE FROM threads",
    "half of the threads": "DELETE FROM threads WHERE name LIKE '%aaaaaa'",
    "sources": "DELETE FROM sources",
    "terms": "DELETE FROM terms",
    "a term": "DELETE FROM terms WHERE rowid = 2",
    "files": "DELETE FROM files",
    "a file": "DELETE FROM files WHERE path LIKE 'projects/a%'",
    "counts": "DELETE FROM terms_data WHERE id = 1",
}


@pytest.fixture
def store(tmp_path):
    root = tmp_path / "store"
    topic(root, "projects/a.md", fact_file("The toad is green.", "The toad listens on port 7443.", head="tags: [pond]\n"))
    topic(root, "projects/b.md", fact_file(title="Newts") + SOURCED)
    thread(root, T1, ["the toad croaks at 7443", "a newt listens"])
    thread(root, T2, ["another toad sleeps"])
    for path in root.rglob("*.*"):
        os.utime(path, (1_000_000, 1_000_000))
    made = MemoryStore.init(root)
    made.index(embed_seconds=0)
    with index.open(root) as opened:
        assert opened.db.execute("SELECT count(*) FROM sources").fetchall() == [(1,)]
    pool.close_all()
    yield made
    pool.close_all()


def harm(store, sql):
    db = apsw.Connection(str(schema.path_of(store.root)))
    db.execute(sql)
    db.close()


def answers(store):
    """What recall answers, and what it says besides."""
    found = [store.recall(q, level=2, vectors=False).to_dict() for q in QUESTIONS]
    said = [text for one in found for text in one.pop("notices") if ANEW in text]
    return found, said


def run(store, *arguments):
    done = CliRunner().invoke(cli, ["--store", str(store.root), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("sql", [*UNREADABLE.values(), *MISSING.values()], ids=[*UNREADABLE, *MISSING])
def test_the_answers_are_what_they_were_and_it_is_said(store, sql):
    before, said = answers(store)
    assert not said
    pool.close_all()
    harm(store, sql)
    again, said = answers(store)
    assert again == before and len(said) == 1
    assert answers(store) == (before, [])


@pytest.mark.parametrize("sql", MISSING.values(), ids=MISSING)
def test_rows_that_another_takes_out_under_a_running_server(store, sql):
    before, _ = answers(store)
    harm(store, sql)
    again, said = answers(store)
    assert again == before and len(said) == 1


@pytest.mark.parametrize("name", sorted(schema.NAMES - {"terms_data", "terms_idx", "terms_docsize", "terms_config"}))
def test_whatever_is_dropped_comes_back(store, name):
    before, _ = answers(store)
    pool.close_all()
    harm(store, f"DROP {'INDEX' if '_' in name else 'TABLE'} {name}")
    again, said = answers(store)
    assert again == before and len(said) == 1


@pytest.mark.parametrize("arguments", [["index"], ["index", "--rebuild"], ["doctor", "--no-model"], ["doctor", "--no-model", "--fix"]])
@pytest.mark.parametrize("name", ["meta", "memories"])
def test_no_command_fails_where_a_table_is_missing(store, name, arguments):
    before, _ = answers(store)
    pool.close_all()
    harm(store, f"DROP TABLE {name}")
    done = run(store, *arguments)
    assert done.exit_code == 0 and "made anew" in done.output
    assert answers(store) == (before, [])


def test_the_names_are_those_of_the_schema():
    db = schema.connect(":memory:")
    assert {n for (n,) in db.execute("SELECT name FROM sqlite_schema") if not n.startswith("sqlite_")} == schema.NAMES


@pytest.mark.parametrize("sql", UNREADABLE.values(), ids=UNREADABLE)
def test_index_mends_rows_that_cannot_be_read_and_doctor_finds_them(store, sql):
    harm(store, sql)
    checks = {c.name: c for c in doctor.examine(store, with_models=False)}
    assert not checks["index"].ok
    harm(store, sql)
    assert ANEW in run(store, "index", "--embed-seconds", "0").stderr
    assert next(c for c in doctor.examine(store, with_models=False) if c.name == "index").ok
    harm(store, sql)
    checks = {c.name: c for c in doctor.examine(store, fix=True, with_models=False)}
    assert checks["index"].ok and checks["index"].fixed


@pytest.mark.parametrize("ask", [
    lambda store: store.dedupe("The toad is green.", vectors=False)["verdict"],
    lambda store: [m.memory.id for m in store.recall("", file="src/toad.py", vectors=False).memories],
    lambda store: [m.memory.id for m in store.recall("toad", file="src/toad.py", vectors=False, level=2).memories],
    lambda store: store.remember("The toad is green and small.").id != "",
])  # fmt: skip
@pytest.mark.parametrize("sql", UNREADABLE.values(), ids=UNREADABLE)
def test_no_other_question_fails(store, sql, ask, tmp_path):
    thread(store.root, "2026-11-22-cccccc", ["edit src/toad.py", "src/toad.py is the toad"])
    before = ask(store)
    pool.close_all()
    harm(store, sql)
    assert ask(store) == before


def test_vectors_that_are_missing_are_found_by_doctor(store):
    with index.open(store.root) as opened:
        opened.sync(now=NOW)
        if opened.vectors_ready():
            pytest.skip("no sqlite-vec")
        opened.embed_pending(HashEmbedder(), 60)
        assert opened.check() == ()
        opened.db.execute("DELETE FROM codes WHERE key % 2 = 0")
        assert "vectors are missing" in opened.check()[0].message
        opened.rebuild()
        opened.embed_pending(HashEmbedder(), 60)
        opened.db.execute("UPDATE codes SET code = substr(code, 2)")
    found = store.recall("toad", level=2)
    assert found.memories


def test_a_damaged_index_that_cannot_be_replaced_is_left_alone(store, monkeypatch):
    before, _ = answers(store)
    pool.close_all()
    harm(store, "DELETE FROM memories")
    real = os.unlink

    def refuses(path, *more, **named):
        if "index.db" in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, *more, **named)

    monkeypatch.setattr(os, "unlink", refuses)
    again, _ = answers(store)
    assert again == before
    assert "memory" in " ".join(store.recall("toad", vectors=False).notices)


def test_columns_that_were_changed_are_not_taken_for_true():
    blob = ThreadMap(1, T1, "x").pack()
    thread = ThreadMap(1, T1, "x")
    thread.add({"index": 0, "text": "the toad croaks", "role": "user"}, 0, str)
    blob = bytearray(thread.pack())
    blob[-1] ^= 1
    with pytest.raises(IndexDamagedError):
        ThreadMap.unpack(1, T1, "x", '[""]', bytes(blob))


def test_counts_hold_while_files_come_change_and_go(tmp_path):
    path = thread(tmp_path, T1, ["toad"] * 5)
    wrong: list[str] = []
    done = threading.Event()

    def watch():
        db = schema.connect(schema.path_of(tmp_path))
        while not done.is_set():
            try:
                counts.check_counts(db)
            except IndexDamagedError as error:
                wrong.append(error.message)

    with index.open(tmp_path) as opened:
        opened.sync(now=NOW)
        watching = threading.Thread(target=watch)
        watching.start()
        try:
            for turn in range(30):
                topic(tmp_path, f"projects/{turn % 3}.md", fact_file(*(f"Toad {turn} {n}." for n in range(turn % 5))) + SOURCED)
                thread(tmp_path, T2, [f"newt {n}" for n in range(turn % 4)])
                if turn % 7 == 3:
                    (tmp_path / "projects/0.md").unlink(missing_ok=True)
                    path.rename(path.with_name(f"2026-11-20-aaaaa{turn % 10}.jsonl"))
                    path = path.with_name(f"2026-11-20-aaaaa{turn % 10}.jsonl")
                assert not [n for n in opened.sync(now=NOW).notices if ANEW in n]
        finally:
            done.set()
            watching.join()
    assert wrong == []


def test_a_file_that_cannot_be_read_for_a_while_keeps_its_rows(store, monkeypatch):
    from memoryfs.index import sync

    real = sync._read

    def fails(opened, file, before):
        raise PermissionError(13, "Permission denied")

    answers(store)
    pool.close_all()
    monkeypatch.setattr(sync, "_read", fails)
    topic(store.root, "projects/a.md", fact_file("The toad is yellow."))
    for _ in range(2):
        assert store.recall("toad", vectors=False).notices == ()
    monkeypatch.setattr(sync, "_read", real)
    assert "The toad is yellow." in [m.memory.summary for m in store.recall("toad", vectors=False).memories]
