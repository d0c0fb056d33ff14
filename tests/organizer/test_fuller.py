"""What is said more fully takes the place of the shorter wording; both sources and both ids stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from organizer_kit import NOW, LineJudges, snapshot, transcript

from memoryfs import MemoryStore, ledger
from memoryfs.config import Config
from memoryfs.topic import parse
from organizer import pipeline

SHORT = "The lending desk hands out cameras."
FULL = "The lending desk hands out cameras and the tripods that belong to them."


def organize(root: Path, folder: Path) -> Any:
    return pipeline.run(root, paths=[folder], config=Config(), now=NOW, judges=LineJudges())


def learned(root: Path) -> dict[str, Any]:
    return {m.summary: m for path in root.glob("projects/*.md") for m in parse(path.read_bytes(), f"projects/{path.name}").memories}


def test_the_fuller_wording_is_kept_with_both_sources(tmp_path: Path) -> None:
    store = tmp_path / "s"
    store.mkdir()
    transcript(tmp_path / "t" / "a.jsonl", "a", "2026-05-12", [("user", f"FACT: {SHORT}")])
    organize(store, tmp_path / "t")
    transcript(tmp_path / "t" / "b.jsonl", "b", "2026-05-13", [("user", f"FACT: {FULL}")])
    assert organize(store, tmp_path / "t").counts() == {"merge": 1}
    found = learned(store)
    assert (found[SHORT].status, found[FULL].status) == ("superseded", "active")
    assert found[SHORT].superseded_by == found[FULL].id
    assert {r.thread[:10] for r in found[FULL].source_range} == {"2026-05-12", "2026-05-13"}
    assert sorted(found[FULL].metadata["quotes"]) == sorted((FULL, SHORT))
    told = [(e.action, e.id) for e in ledger.read(store)[0] if e.id]
    assert told[-3:] == [("add", found[FULL].id), ("reinforce", found[FULL].id), ("supersede", found[SHORT].id)]
    transcript(tmp_path / "t" / "c.jsonl", "c", "2026-05-14", [("user", f"FACT: {SHORT}")])
    assert organize(store, tmp_path / "t").counts() == {"reinforce": 1}
    before = snapshot(store)
    organize(store, tmp_path / "t")
    assert snapshot(store) == before


def test_an_agents_fuller_words_take_the_place_of_the_organizers(tmp_path: Path) -> None:
    store = tmp_path / "s"
    store.mkdir()
    transcript(tmp_path / "t" / "a.jsonl", "a", "2026-05-12", [("assistant", f"FACT: {SHORT}"), ("user", "Thanks, write that down please.")])
    organize(store, tmp_path / "t")
    opened = MemoryStore.open(store, clock=lambda: NOW)
    id = opened.remember(FULL, actor="agent", topic=learned(store)[SHORT].topic).id
    organize(store, tmp_path / "t")
    found = learned(store)
    assert (found[SHORT].status, found[SHORT].superseded_by, found[FULL].status) == ("superseded", id, "active")
    assert [r.thread[:10] for r in found[FULL].source_range] == ["2026-05-12"]
