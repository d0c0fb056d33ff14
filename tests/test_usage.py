"""How much a memory matters, and that judgements move its place in the briefing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryfs import MemoryStore, usage
from memoryfs.model import Memory, SourceRange


def made(kind: str = "fact", *, user: bool = False, sources: int = 1) -> Memory:
    ranges = tuple(SourceRange(f"2026-05-1{n}-aaaaaa", 0, 0) for n in range(sources))
    return Memory("m-1", "x", kind, "active", "x.md", 1, ranges, metadata={"role": "user"} if user else {})


def test_importance_rises_with_kind_person_sightings_and_use_and_falls_when_wrong():
    assert usage.importance(made("event")) < usage.importance(made()) < usage.importance(made("instruction"))
    assert usage.importance(made()) < usage.importance(made(user=True))
    assert usage.importance(made()) < usage.importance(made(sources=2)) < usage.importance(made(sources=4)) == usage.importance(made(sources=9))
    assert usage.importance(made(), ["wrong"]) < usage.importance(made()) < usage.importance(made(), ["useful"])


@pytest.mark.parametrize("given", [["useful"] * 50, ["wrong"] * 50, ["useful", "wrong"] * 9])
def test_it_stays_between_nought_and_one(given: list[str]):
    for kind in ("fact", "event", "instruction", "task"):
        assert 0.0 <= usage.importance(made(kind, user=True, sources=9), given) <= 1.0
    assert usage.MOST[0] <= usage.moved(given) <= usage.MOST[1]


def test_one_wrong_weighs_more_than_one_useful():
    assert usage.moved(["useful", "wrong"]) < 0 == usage.moved([])


def order(store: MemoryStore, *words: str) -> list[str]:
    text = (store.root / "MEMORY.md").read_text()
    return sorted((w for w in words if w in text), key=text.index)


def test_judgements_move_the_order_of_the_briefing_and_undoing_them_moves_it_back(tmp_path: Path):
    store = MemoryStore.init(tmp_path / "s")
    ids = {w: store.remember(f"Always {w}.", kind="instruction", topic="preferences/x").id for w in ("alpha", "bravo", "charlie")}
    first, second, third = order(store, "alpha", "bravo", "charlie")
    store.judge(ids[third], "useful")
    assert order(store, "alpha", "bravo", "charlie") == [third, first, second]
    store.judge(ids[first], "wrong")
    assert order(store, "alpha", "bravo", "charlie") == [third, second, first]
    store.undo(ids[first])
    assert order(store, "alpha", "bravo", "charlie") == [third, first, second]
    before = (store.root / "MEMORY.md").read_bytes()
    store.refresh()
    assert (store.root / "MEMORY.md").read_bytes() == before


def test_a_fact_that_was_judged_wrong_comes_last_among_the_recent(tmp_path: Path):
    store = MemoryStore.init(tmp_path / "s")
    ids = {w: store.remember(f"The {w} stands in hall 4.", topic="notes/x").id for w in ("alpha", "bravo", "charlie")}
    first = order(store, "alpha", "bravo", "charlie")[0]
    store.judge(ids[first], "wrong")
    assert order(store, "alpha", "bravo", "charlie")[-1] == first
