"""Thread files: names, ranges, growth, branches, damage."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from memoryfs.model import Event, event_id
from memoryfs.textfile import clean_litter, write_stream
from memoryfs.thread import (
    EventDraft,
    check_thread,
    decode_event,
    encode_event,
    iter_events,
    list_threads,
    read_events,
    resolve,
    thread_name,
    thread_path,
)
from memoryfs.threadstore import ImportOutcome, ThreadNames, ThreadWriter

DAY = "2026-05-12T10:00:"


def store_thread(root: Path, found: Iterable[EventDraft], *, session: str, source: str) -> ImportOutcome | None:
    writer = ThreadWriter(root, session, source, ThreadNames(root))
    for draft in found:
        writer.add(draft)
    return writer.finish()


def drafts(*texts: str, start: int = 0) -> list[EventDraft]:
    return [EventDraft("user", "message", t, i, f"{DAY}{i:02}Z") for i, t in enumerate(texts, start)]


def put(root: Path, *texts: str, source: str = "a.jsonl"):  # type: ignore[no-untyped-def]
    return store_thread(root, drafts(*texts), session="s1", source=source)


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.jsonl"))}


def test_name_is_date_and_hash_in_the_transcripts_own_time() -> None:
    assert thread_name("abc", "2026-11-28T23:30:00-08:00") == "2026-11-28-ba7816"
    assert thread_name("abc", None) == "undated-ba7816"
    assert thread_name("abc", "yesterday") == "undated-ba7816"


def test_path_and_foreign_names(tmp_path: Path) -> None:
    assert (
        thread_path(tmp_path, "2026-05-12-3f9a21~2") == tmp_path / "threads/2026/05/2026-05-12-3f9a21~2.jsonl"
    )
    assert thread_path(tmp_path, "undated-3f9a21") == tmp_path / "threads/undated/undated-3f9a21.jsonl"
    for name in ("../../etc/passwd", "2026-05-12-../x", "", "x"):
        with pytest.raises(ValueError, match="thread name"):
            thread_path(tmp_path, name)


def test_ranges_are_inclusive(tmp_path: Path) -> None:
    name = put(tmp_path, "a", "b", "c", "d").thread
    assert [e.text for e in read_events(tmp_path, name, 1, 2)] == ["b", "c"]
    assert [e.text for e in read_events(tmp_path, name, 2)] == ["c", "d"]
    assert read_events(tmp_path, name, 9, 12) == []
    assert read_events(tmp_path, "2020-01-01-aaaaaa") == []


def test_events_survive_the_round_trip() -> None:
    event = Event(
        "2026-05-12-3f9a21",
        3,
        event_id("t", "user", "x"),
        "user",
        "message",
        None,
        'a\u2028b\x85c\0"\n',
        "s",
        7,
        {"parts": [[0, 1]]},
    )
    line = encode_event(event)
    assert line.count(b"\n") == 1
    assert decode_event(line) == event


def test_torn_and_foreign_lines_cost_only_themselves(tmp_path: Path) -> None:
    name = put(tmp_path, "a", "b", "c").thread
    path = thread_path(tmp_path, name)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"not json\n" + lines[1] + lines[2][:20])
    assert [e.text for e in iter_events(tmp_path, name)] == ["a", "b"]
    assert [e.text for e in read_events(tmp_path, name, 1, 1)] == ["b"]
    assert [p.line for p in check_thread(tmp_path, name)] == [2, 4]


def test_short_names(tmp_path: Path) -> None:
    name = put(tmp_path, "a").thread
    assert resolve(tmp_path, name[-6:]) == name
    assert resolve(tmp_path, name) == name
    assert resolve(tmp_path, "000000") is None
    put(tmp_path, "other")
    assert resolve(tmp_path, name[-6:] + "~2") == name + "~2"
    assert resolve(tmp_path, name[-6:]) == name


def test_cold_threads_read_the_same(tmp_path: Path) -> None:
    import zstandard

    name = put(tmp_path, "a", "b").thread
    live = thread_path(tmp_path, name)
    cold = tmp_path / "archive" / live.relative_to(tmp_path).with_suffix(".jsonl.zst")
    cold.parent.mkdir(parents=True)
    cold.write_bytes(zstandard.ZstdCompressor().compress(live.read_bytes()))
    before = list(iter_events(tmp_path, name))
    live.unlink()
    assert thread_path(tmp_path, name) == cold
    assert list(iter_events(tmp_path, name)) == before
    assert list_threads(tmp_path) == [name]
    assert put(tmp_path, "a", "b").status == "unchanged"


def test_org_03_growth_in_any_order_and_twice_ends_in_the_same_bytes(tmp_path: Path) -> None:
    versions = [("one.jsonl", "abc"), ("two.jsonl", "abcde"), ("three.jsonl", "abcdefg")]
    put(tmp_path / "want", *versions[-1][1], source=versions[-1][0])
    want = files(tmp_path / "want")
    for number, order in enumerate(itertools.permutations(versions)):
        root = tmp_path / str(number)
        for source, texts in (*order, *order):
            put(root, *texts, source=source)
        assert files(root) == want


def test_growth_of_the_same_file_only_appends(tmp_path: Path) -> None:
    name = put(tmp_path, "a", "b").thread
    path = thread_path(tmp_path, name)
    inode, old = path.stat().st_ino, path.read_bytes()
    outcome = put(tmp_path, "a", "b", "c")
    assert (outcome.status, outcome.added, outcome.total) == ("extended", 1, 3)
    assert path.stat().st_ino == inode
    assert path.read_bytes().startswith(old)


def test_nothing_is_written_when_nothing_is_new(tmp_path: Path) -> None:
    name = put(tmp_path, "a", "b", "c").thread
    path = thread_path(tmp_path, name)
    before = path.stat()
    assert put(tmp_path, "a", "b", "c").status == "unchanged"
    assert put(tmp_path, "a", source="elsewhere.jsonl").status == "unchanged"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_version_that_disagrees_becomes_a_branch_that_grows_by_itself(tmp_path: Path) -> None:
    name = put(tmp_path, "a", "b", "c").thread
    main = thread_path(tmp_path, name).read_bytes()
    assert put(tmp_path, "a", "X").status == "branched"
    assert put(tmp_path, "a", "X").status == "unchanged"
    grown = put(tmp_path, "a", "X", "y")
    assert (grown.thread, grown.status, grown.added) == (f"{name}~2", "extended", 1)
    assert put(tmp_path, "Z").thread == f"{name}~3"
    assert thread_path(tmp_path, name).read_bytes() == main
    branch = read_events(tmp_path, f"{name}~2")
    assert [e.text for e in branch] == ["a", "X", "y"]
    assert {e.thread for e in branch} == {f"{name}~2"}
    assert branch[0].id == event_id(f"{name}~2", "user", "a")


def test_a_torn_append_is_mended_by_the_next_import(tmp_path: Path) -> None:
    name = put(tmp_path, "a", "b").thread
    path = thread_path(tmp_path, name)
    path.write_bytes(path.read_bytes()[:-9])
    put(tmp_path, "a", "b", "c")
    assert check_thread(tmp_path, name) == []
    assert [e.text for e in iter_events(tmp_path, name)] == ["a", "b", "c"]


def test_lines_are_json_objects_with_the_promised_keys(tmp_path: Path) -> None:
    name = put(tmp_path, "a").thread
    row = json.loads(thread_path(tmp_path, name).read_text("utf-8"))
    assert list(row) == [
        "thread",
        "index",
        "id",
        "role",
        "kind",
        "time",
        "text",
        "source",
        "line",
        "metadata",
    ]


def test_fallback_identity_without_session_id(tmp_path: Path) -> None:
    def put_untimed(text: str, source: str) -> str:
        outcome = store_thread(tmp_path, [EventDraft("user", "message", text, 0)], session="", source=source)
        assert outcome is not None
        return outcome.thread

    assert put_untimed("hello", "x/one.md") == put_untimed("hello", "y/one.md")
    assert put_untimed("hello", "x/two.md") != put_untimed("hello", "x/one.md")
    assert put_untimed("hello", "x/one.md").startswith("undated-")
    assert store_thread(tmp_path, [], session="", source="x") is None


def test_a_thread_that_is_being_written_is_not_taken_for_litter(tmp_path: Path) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"one\n" * 10_000
        assert clean_litter(tmp_path) == 0
        yield b"two\n"

    path = tmp_path / "threads" / "t.jsonl"
    write_stream(path, blocks)
    assert path.read_bytes() == b"one\n" * 10_000 + b"two\n"
    assert [p.name for p in path.parent.iterdir()] == ["t.jsonl"]
