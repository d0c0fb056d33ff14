"""What narrowly fails waits in inbox.md: for a person's tick, other words or deletion, or for a second sighting."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, contents, snapshot, transcript
from test_crash import Fuse, Killed, arm

from memoryfs import inbox, ledger
from memoryfs.config import Config, Organize
from memoryfs.edits import load
from organizer import apply as applying
from organizer import pipeline

POOL, DUMPS = "The pool holds at most 20 connections.", "Dumps are kept for 30 days."


def session(folder: Path, name: str, day: str, *texts: str) -> Path:
    turns = [("user", f"MAYBE: {text}" if ":" not in text else text) for text in texts]
    return transcript(folder / f"{name}.jsonl", f"session-{name}", day, turns)


def memories(store: Path) -> dict[str, Any]:
    return {m.summary: m for t in load.load_topics(store, Config()).values() for m in t.memories}


def edit(store: Path, old: str, new: str) -> None:
    path = store / "inbox.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def waiting(store: Path, organize: Callable[..., Any], tmp_path: Path) -> Path:
    report = organize(session(tmp_path / "t", "a", "2026-05-12", POOL, DUMPS))
    assert report.counts() == {"inbox": 2}
    return store


def test_it_waits_with_its_source_and_is_no_memory(waiting: Path, organize: Callable[..., Any]) -> None:
    lines = inbox.lines((waiting / "inbox.md").read_text())
    assert [(line.text, line.kind, line.date) for line in lines] == [(POOL, "fact", "2026-05-12"), (DUMPS, "fact", "2026-05-12")]
    assert all(line.ranges for line in lines)
    assert not memories(waiting)
    briefing = (waiting / "MEMORY.md").read_text()
    assert "2 wait in inbox.md" in briefing and "pool" not in briefing
    before = snapshot(waiting)
    organize()
    assert snapshot(waiting) == before


def test_a_tick_is_learned_as_the_persons(waiting: Path, organize: Callable[..., Any]) -> None:
    edit(waiting, f"- [ ] {POOL}", f"- [x] {POOL}")
    report = organize()
    found = memories(waiting)
    assert set(found) == {POOL}
    assert found[POOL].stated_by == "person" and found[POOL].source_range[0].thread.startswith("2026-05-12")
    assert [a["action"] for a in report.adopted] == ["add"]
    assert [line.text for line in inbox.lines((waiting / "inbox.md").read_text())] == [DUMPS]
    before = snapshot(waiting)
    organize()
    assert snapshot(waiting) == before


def test_other_words_are_learned_as_they_are(waiting: Path, organize: Callable[..., Any]) -> None:
    edit(waiting, "at most 20 connections", "at most 25 connections")
    edit(waiting, "- [ ] Dumps are kept for 30 days. · fact", "- [x] Dumps are kept for 30 days. · instruction")
    organize()
    found = memories(waiting)
    assert set(found) == {POOL.replace("20", "25"), DUMPS}
    assert found[DUMPS].kind == "instruction" and "Dumps are kept" in (waiting / "MEMORY.md").read_text()


@pytest.mark.parametrize("how", ["line", "strike", "file"])
def test_what_is_deleted_never_comes_back(waiting: Path, organize: Callable[..., Any], tmp_path: Path, how: str) -> None:
    path = waiting / "inbox.md"
    if how == "line":
        path.write_text("".join(x for x in path.read_text().splitlines(True) if POOL not in x))
    elif how == "strike":
        edit(waiting, POOL, f"~~{POOL}~~")
    else:
        path.unlink()
    organize()
    report = organize(session(tmp_path / "t", "b", "2026-05-13", POOL, f"FACT: {POOL}"))
    assert not memories(waiting)
    assert {i.why for i in report.items("ignore")} == {"a person withdrew it"}
    assert POOL not in (path.read_text() if path.exists() else "")


def test_a_second_sighting_in_another_session_is_learned_with_both_sources(
    waiting: Path, organize: Callable[..., Any], tmp_path: Path
) -> None:
    organize(session(tmp_path / "t", "b", "2026-05-13", POOL))
    found = memories(waiting)
    assert set(found) == {POOL}
    assert sorted(r.thread[:10] for r in found[POOL].source_range) == ["2026-05-12", "2026-05-13"]
    assert [line.text for line in inbox.lines((waiting / "inbox.md").read_text())] == [DUMPS]


def test_said_again_in_the_same_session_is_no_second_sighting(
    waiting: Path, organize: Callable[..., Any], tmp_path: Path
) -> None:
    report = organize(session(tmp_path / "t", "a", "2026-05-12", POOL, DUMPS, POOL))
    assert not memories(waiting)
    assert [i.why for i in report.items("ignore")] == ["waits in the inbox already"]


def test_what_is_learned_otherwise_leaves_the_inbox(waiting: Path, organize: Callable[..., Any], tmp_path: Path) -> None:
    organize(session(tmp_path / "t", "b", "2026-05-13", f"FACT: {POOL}"))
    assert set(memories(waiting)) == {POOL}
    assert [line.text for line in inbox.lines((waiting / "inbox.md").read_text())] == [DUMPS]


def test_it_is_bounded_by_session_and_in_all_and_the_oldest_is_still_known(
    store: Path, organize: Callable[..., Any], tmp_path: Path
) -> None:
    config = Config(organize=Organize(inbox_per_session=2, inbox_items=3))
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india"]
    for number, day in enumerate(("2026-05-12", "2026-05-13", "2026-05-14")):
        texts = [f"The {word} server listens in hall {word}." for word in words[number * 3:number * 3 + 3]]
        report = organize(session(tmp_path / "t", f"s{number}", day, *texts), config=config)
        assert report.counts() == {"drop": 1, "inbox": 2}
    assert len(inbox.lines((store / "inbox.md").read_text())) == 3
    organize(session(tmp_path / "t", "again", "2026-05-15", "The alpha server listens in hall alpha."), config=config)
    assert set(memories(store)) == {"The alpha server listens in hall alpha."}


def test_a_persons_own_ticked_line_is_learned(waiting: Path, organize: Callable[..., Any]) -> None:
    path = waiting / "inbox.md"
    path.write_text(path.read_text() + "- [x] Never deploy on Friday. · instruction\n- [ ] thinking about this one\nProse.\n")
    organize()
    assert memories(waiting)["Never deploy on Friday."].kind == "instruction"
    text = path.read_text()
    assert "Never deploy" not in text and text.endswith("- [ ] thinking about this one\nProse.\n")


def test_a_line_moved_into_a_topic_is_no_deletion(waiting: Path, organize: Callable[..., Any]) -> None:
    path = waiting / "inbox.md"
    line = next(x for x in path.read_text().splitlines(True) if POOL in x)
    path.write_text(path.read_text().replace(line, ""))
    (waiting / "notes").mkdir()
    (waiting / "notes" / "db.md").write_text(f"# Database\n\n## Facts\n- {POOL} {line.strip().rpartition(' ')[2]}\n")
    organize()
    assert set(memories(waiting)) == {POOL}
    state = ledger.state(ledger.read(waiting)[0])
    assert {k.status for k in state.values()} == {"active"}


def test_a_file_in_a_git_conflict_is_reported_and_nothing_is_lost(waiting: Path, organize: Callable[..., Any]) -> None:
    path = waiting / "inbox.md"
    text = path.read_text()
    path.write_text("<<<<<<< a\n=======\n>>>>>>> b\n")
    report = organize()
    assert any(p.path == "inbox.md" for p in report.problems) and not memories(waiting)
    path.write_text(text)
    organize()
    assert path.read_text() == text and not [e for e in ledger.read(waiting)[0] if e.action == "withdraw"]


def test_a_save_between_reading_and_writing_is_kept(
    waiting: Path, organize: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(waiting, f"- [ ] {POOL}", f"- [x] {POOL}")
    carry_out = applying.carry_out

    def meanwhile(*args: Any, **more: Any) -> Any:
        edit(waiting, POOL, "The pool holds at most 99 connections.")
        return carry_out(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(applying, "carry_out", meanwhile)
        organize()
    assert "at most 99" in (waiting / "inbox.md").read_text()
    organize()
    assert "The pool holds at most 99 connections." in memories(waiting)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_con_04_killed_at_every_write_of_the_inbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    first = session(tmp_path / "t", "a", "2026-05-12", POOL, DUMPS, "The keys hang in room 12.")
    second = session(tmp_path / "t2", "b", "2026-05-13", POOL, "The racks stand in hall 4.")

    def run(root: Path, path: Path) -> None:
        pipeline.run(root, paths=[path], config=Config(), now=NOW, judges=LineJudges())

    def prepared(name: str) -> Path:
        root = tmp_path / name
        root.mkdir()
        run(root, first)
        path = root / "inbox.md"
        path.write_text("".join(x for x in path.read_text().replace(f"- [ ] {DUMPS}", f"- [x] {DUMPS}").splitlines(True)
                                if "keys" not in x))
        return root

    whole = prepared("whole")
    run(whole, second)
    wanted = contents(whole)
    assert set(memories(whole)) == {POOL, DUMPS}
    for left in range(100):
        root = prepared(f"k{left}")
        with monkeypatch.context() as patched:
            fuse = Fuse(left, after=after)
            arm(patched, fuse)
            patched.setattr("memoryfs.textfile.write_atomic", fuse.guard(__import__("memoryfs.textfile").textfile.write_atomic))
            try:
                run(root, second)
                break
            except Killed:
                pass
        run(root, second)
        assert contents(root) == wanted, f"killed {'after' if after else 'before'} write {left}"
    assert left > 8
    assert os.path.exists(whole / "inbox.md")


def test_it_is_listed_when_asked_for_by_status(waiting: Path) -> None:
    from click.testing import CliRunner

    from memoryfs.cli import cli

    usual = CliRunner().invoke(cli, ["--store", str(waiting), "list"])
    asked = CliRunner().invoke(cli, ["--store", str(waiting), "list", "--status", "inbox"])
    assert POOL not in usual.output and POOL in asked.output and "inbox.md" in asked.output


def test_it_is_recalled_when_asked_for_by_status(waiting: Path) -> None:
    from memoryfs import MemoryStore

    store = MemoryStore.open(waiting)
    assert not store.recall("pool connections").memories
    for status in (("inbox",), ("active", "inbox")):
        found = store.recall("pool connections", status=status)
        assert [(m.memory.summary, m.memory.status, m.memory.topic) for m in found.memories] == [(POOL, "inbox", "inbox.md")]
        assert found.memories[0].memory.source_range
