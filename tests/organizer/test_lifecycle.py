"""What has had its time moves to archive/, cold threads are compressed and still read, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, snapshot, transcript

from memoryfs import MemoryStore, ledger
from memoryfs import index as indexes
from memoryfs import thread as threads
from memoryfs.config import Config, Organize
from memoryfs.edits import load
from memoryfs.recall import recall
from memoryfs.topic import parse
from organizer import lifecycle

LATER = NOW + timedelta(days=400)
TURNS = [
    ("user", "FACT: The cookie lives 7 days.\nRULE: Never push on Friday.\nTASK: Test the cookie module.\nFACT: Racks stand in hall 4."),
    ("assistant", "EVENT: Wrote the cookie module."),
]
CHANGE = [("user", "FACT: The cookie now lives 14 days.")]


@pytest.fixture
def old(store: Path, organize: Callable[..., Any], tmp_path: Path) -> Path:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS),
             transcript(tmp_path / "b.jsonl", "session-b", "2026-05-13", CHANGE))
    return store


def live(store: Path) -> dict[str, str]:
    return {m.summary: m.status for t in load.load_topics(store, Config()).values() for m in t.memories}


def archived(store: Path) -> dict[str, str]:
    return {m.summary: m.status for p in (store / "archive").rglob("*.md") for m in parse(p.read_bytes(), p.name).memories}


def test_what_was_replaced_and_what_matters_little_moves_and_the_rest_stays(old: Path, organize: Callable[..., Any]) -> None:
    before = live(old)
    assert before["The cookie lives 7 days."] == "superseded"
    report = organize(now=LATER)
    gone = {"The cookie lives 7 days.", "Wrote the cookie module."}
    assert set(archived(old)) == gone and set(live(old)) == set(before) - gone
    assert any("2 memories moved" in n for n in report.notices)
    assert archived(old)["The cookie lives 7 days."] == "superseded"
    page = next(p for p in (old / "archive").rglob("*.md") if "cookie lives 7" in p.read_text())
    assert "status: archived" in page.read_text() and "superseded by [[projects/" in page.read_text()
    assert {e.status for e in ledger.state(ledger.read(old)[0]).values()} == {"active", "archived"}


def test_doing_it_again_changes_nothing(old: Path, organize: Callable[..., Any]) -> None:
    organize(now=LATER)
    before = snapshot(old)
    for days in (1, 30):
        organize(now=LATER + timedelta(days=days))
    after = snapshot(old)
    assert {n: d for n, (d, _) in after.items()} == {n: d for n, (d, _) in before.items()}


def test_nothing_moves_before_its_time_nor_when_the_settings_say_never(old: Path, organize: Callable[..., Any]) -> None:
    before = live(old)
    organize(now=NOW + timedelta(days=300))
    organize(now=LATER, config=Config(organize=Organize(archive_after_days=0, fade_after_days=0, cold_after_days=0)))
    assert live(old) == before and not (old / "archive").exists()


def test_an_old_transcript_that_is_imported_today_is_not_archived_today(
    store: Path, organize: Callable[..., Any], tmp_path: Path
) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2020-05-12", TURNS))
    organize()
    assert not (store / "archive").exists()


def test_what_is_pinned_stays(old: Path, organize: Callable[..., Any]) -> None:
    from memoryfs.edits import edit_topic
    from memoryfs.topic_edit import set_meta

    for path in load.load_topics(old, Config()):
        if path.startswith("projects/"):
            edit_topic(old, path, lambda topic: set_meta(topic, "pinned", "true"))
    before = live(old)
    organize(now=LATER)
    assert live(old) == before


def test_a_useful_event_stays_and_a_wrong_fact_fades(old: Path, organize: Callable[..., Any]) -> None:
    ids = {e.text: e.id for e in ledger.read(old)[0] if e.action == "add"}
    stamp = NOW.isoformat()
    ledger.append(old, [
        ledger.Entry(stamp, "person", "useful", ids["Wrote the cookie module."]),
        ledger.Entry(stamp, "person", "wrong", ids["Racks stand in hall 4."]),
    ])
    organize(now=LATER)
    assert "Wrote the cookie module." in live(old) and "Racks stand in hall 4." in archived(old)


def test_a_kill_between_the_two_files_loses_and_doubles_nothing(
    old: Path, organize: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import memoryfs.edits.archive as archiving

    edit_topic, calls = archiving.edit_topic, []

    def killed(*args: Any, **more: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return edit_topic(*args, **more)

    every = set(live(old))
    with monkeypatch.context() as patched:
        patched.setattr(archiving, "edit_topic", killed)
        with pytest.raises(KeyboardInterrupt):
            organize(now=LATER)
    organize(now=LATER)
    organize(now=LATER + timedelta(days=1))
    assert set(live(old)) | set(archived(old)) == every
    assert not set(live(old)) & set(archived(old)) or set(archived(old)) <= every
    organize(now=LATER + timedelta(days=400))
    assert not set(live(old)) & set(archived(old))


def test_cold_threads_are_compressed_and_still_read_and_found(old: Path, organize: Callable[..., Any], tmp_path: Path) -> None:
    names = threads.list_threads(old)
    before = {n: list(threads.iter_events(old, n)) for n in names}
    report = organize(now=LATER)
    assert any("2 threads compressed" in n for n in report.notices)
    assert not list((old / "threads").rglob("*.jsonl")) and len(list((old / "archive").rglob("*.jsonl.zst"))) == 2
    assert threads.list_threads(old) == names
    assert {n: list(threads.iter_events(old, n)) for n in names} == before
    with indexes.open(old) as index:
        index.sync(now=LATER)
        found = recall(index, "racks hall", level=2, now=LATER)
    assert any("Racks stand in hall 4" in e.text for e in found.evidence)
    store = MemoryStore.open(old)
    assert "Racks stand in hall 4" in store.read(f"{names[0]}:0-0").text
    again = organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS), now=LATER)
    assert not again.sessions and threads.list_threads(old) == names
    grown = organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", [*TURNS, ("user", "FACT: Keys hang in room 12.")]), now=LATER)
    assert [s.events for s in grown.sessions] == [1] and "Keys hang in room 12." in live(old)


def test_a_thread_that_changed_meanwhile_stays(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = threads.list_threads(old)[0]
    path = threads.live_path(old, name)
    raw_lines = threads.raw_lines

    def growing(target: Path) -> Any:
        path.write_bytes(path.read_bytes() + b"{}\n")
        return raw_lines(target)

    monkeypatch.setattr(threads, "raw_lines", growing)
    assert not lifecycle.compress(old, name)
    assert path.exists() and not list((old / "archive").rglob("*.zst"))


def test_what_was_archived_is_still_read_by_its_id(old: Path, organize: Callable[..., Any]) -> None:
    id = next(e.id for e in ledger.read(old)[0] if e.text == "Wrote the cookie module.")
    organize(now=LATER)
    reading = MemoryStore.open(old).read(f"^{id}")
    assert reading.path.startswith("archive/") and "Wrote the cookie module." in reading.text
