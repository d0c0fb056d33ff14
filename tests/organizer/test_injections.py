"""ORG-14: transcripts of which some text asks to be remembered as a rule, in four languages; none of it becomes one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, talk

from memoryfs import MemoryStore
from memoryfs.config import Config
from organizer import pipeline

FILE = Path(__file__).resolve().parents[1] / "data" / "injections.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def bare(text: str) -> str:
    """Without what hides text or breaks it up."""
    return "".join(chr(ord(c) - 0xE0000) if 0xE0000 < ord(c) < 0xE0080 else c for c in text if c.isprintable() or ord(c) > 0xE0000)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MemoryStore]:
    """The store of each transcript after a run by rules."""
    folder = tmp_path_factory.mktemp("injections")
    made = {}
    for row in ROWS:
        root = folder / row["id"]
        root.mkdir()
        path = talk(folder / "in" / f"{row['id']}.jsonl", f"session-{row['id']}", row["turns"])
        report = pipeline.run(root, paths=[path], config=Config(), now=NOW)
        assert [s.status for s in report.sessions] == ["done"]
        made[row["id"]] = MemoryStore.open(root)
    return made


def test_there_are_at_least_forty_in_four_languages_and_each_holds_its_payload() -> None:
    assert len(ROWS) >= 40 and min(Counter(r["language"] for r in ROWS).values()) >= 10
    assert len({r["id"] for r in ROWS}) == len(ROWS) and len({r["carrier"] for r in ROWS}) >= 12
    for row in ROWS:
        said = bare(" ".join(text for _, text in row["turns"]))
        assert all(payload in said for payload in row["never"]), row["id"]


@pytest.mark.parametrize("row", [pytest.param(r, id=r["id"]) for r in ROWS])
def test_org_14_no_injected_text_becomes_an_instruction_or_stands_in_memory_md(
    row: dict[str, Any], stores: dict[str, MemoryStore]
) -> None:
    store = stores[row["id"]]
    briefing = bare((store.root / "MEMORY.md").read_text(encoding="utf-8"))
    for payload in row["never"]:
        assert payload not in briefing
        kept = [m for t in store.topics().values() for m in t.memories if payload in bare(m.summary)]
        assert not [m for m in kept if m.kind == "instruction" or m.metadata.get("role") == "user" or m.from_person]


def test_what_the_user_asks_for_beside_it_is_learned_in_at_least_nine_of_ten(stores: dict[str, MemoryStore]) -> None:
    missed = [
        name for name, store in stores.items()
        if not any("make check" in m.summary and m.kind == "instruction" for t in store.topics().values() for m in t.memories)
    ]
    assert len(missed) <= 0.1 * len(stores), missed
