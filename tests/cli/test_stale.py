"""What should be checked again says so wherever it is shown: list, recall, audit, doctor, hooks, MCP, MEMORY.md."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryfs import MemoryStore, briefing, doctor, ledger
from memoryfs.briefing_cache import read_fresh
from memoryfs.cli import main
from memoryfs.config import Config
from memoryfs.edits import topic_paths

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
PAGE = """---
title: School
---
# School

## Facts
- The check of addresses is validateEmail. [^person:2026-05-12] ^m-aa01
- The addresses of pupils are private. [^person:2026-05-13] ^m-aa02
- The addresses are kept by Node 20.11. [^person:2026-05-14] ^m-aa03

## Instructions
- Check addresses with src/auth.ts before you save. [^person:2026-05-15] ^m-aa04

[^person:2026-05-12]: 2026-05-12; source changed 2026-05-20 (m-aa01): validateEmail gone; stated by a person
[^person:2026-05-13]: 2026-05-13; stated by a person
[^person:2026-05-14]: 2026-05-14; recheck 2026-06-15 (m-aa03); stated by a person
[^person:2026-05-15]: 2026-05-15; source changed 2026-05-20 (m-aa04): src/auth.ts now src/login.ts; stated by a person
"""
GONE = "source changed 2026-05-20: validateEmail gone"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / ".memory"
    MemoryStore.init(root)
    (root / "projects").mkdir(exist_ok=True)
    (root / "projects" / "school.md").write_text(PAGE)
    return root


def opened(store: Path, now: datetime = NOW) -> MemoryStore:
    return MemoryStore.open(store, clock=lambda: now)


def run(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> str:
    with pytest.raises(SystemExit):
        main(["--store", str(store), *words])
    return capsys.readouterr().out


def test_list_recall_and_audit_say_so(store, capsys):
    rows = json.loads(run(capsys, store, "--json", "list", "--stale"))["memories"]
    assert {r["id"]: r["stale"] for r in rows}.keys() >= {"m-aa01", "m-aa04"} and "m-aa02" not in {r["id"] for r in rows}
    assert f"^m-aa01  fact         The check of addresses is validateEmail.  [{GONE}]" in run(capsys, store, "list", "--stale") and "^m-aa02" in run(capsys, store, "list")
    assert GONE in run(capsys, store, "recall", "check of addresses validateEmail", "--level", "0", "--no-vectors")
    assert f"[{GONE}]" in run(capsys, store, "audit", "^m-aa01")
    told = json.loads(run(capsys, store, "--json", "audit", "^m-aa01"))["stores"][0]["current"][0]
    assert told["stale"] == GONE and GONE in told["marks"]


def test_the_day_decides(store):
    assert [m.id for m in opened(store).list() if m.metadata.get("stale")] == ["m-aa01", "m-aa04"]
    later = opened(store, datetime(2026, 6, 15, tzinfo=UTC))
    assert [m.id for m in later.list() if m.metadata.get("stale")] == ["m-aa01", "m-aa03", "m-aa04"]
    found = {m["id"]: m for m in later.recall("what addresses are there", level=0, vectors=False).to_dict()["memories"]}
    assert found["m-aa03"]["stale"] == "to be checked again since 2026-06-15" and found["m-aa03"]["why"]["unchecked"] < 0
    assert found["m-aa01"]["why"]["unchecked"] < found["m-aa03"]["why"]["unchecked"]


def test_the_doctor_counts_them_and_is_not_ill(store):
    briefing.refresh(store, Config(), now=NOW)
    line = next(c for c in doctor.examine(opened(store), with_models=False) if c.name == "sources")
    assert line.ok and "To check again: 2 (source changed: 2)" in line.detail


def test_the_briefing_is_made_anew_on_the_day(store):
    first = read_fresh(store, Config(), now=NOW)
    assert "src/auth.ts before you save. (source changed)" in first and "Node 20.11. →" in first
    assert read_fresh(store, Config(), now=datetime(2026, 6, 14, tzinfo=UTC)) == first
    on_the_day = read_fresh(store, Config(), now=datetime(2026, 6, 15, tzinfo=UTC))
    assert "Node 20.11. (check again)" in on_the_day and (store / "MEMORY.md").read_text() == on_the_day
    assert read_fresh(store, Config(), now=datetime(2026, 7, 15, tzinfo=UTC)) == on_the_day


def test_useful_at_the_terminal_takes_the_mark_out_and_nothing_else(store, capsys):
    opened(store).refresh()
    from memoryfs import edits

    edits.adopt(store, Config(), now=NOW)
    before = (store / "projects" / "school.md").read_text()
    run(capsys, store, "review", "useful", "^m-aa01")
    assert (store / "projects" / "school.md").read_text() == before.replace("; source changed 2026-05-20 (m-aa01): validateEmail gone", "")
    assert [e.action for e in ledger.read(store)[0]][-2:] == ["useful", "stale"]
    assert list(topic_paths(store, Config())) == ["projects/school.md"]


def test_a_file_that_cannot_be_edited_keeps_its_mark_and_the_judgement_counts(store, capsys):
    from memoryfs import edits

    edits.adopt(store, Config(), now=NOW)
    path = store / "projects" / "school.md"
    path.write_bytes(path.read_bytes() + b"\xff\n")
    run(capsys, store, "review", "useful", "^m-aa01")
    assert ledger.judgements(ledger.read(store)[0]) == {"m-aa01": ("useful",)} and "validateEmail gone" in path.read_text(errors="replace")


def test_hooks_and_mcp_say_so(store):
    from memoryfs.harness import relevant
    from memoryfs.mcp_server.answers import memory_row
    from memoryfs.scope import Scope

    found = relevant.relevant([Scope(store, 0)], "where is the check of addresses, validateEmail?", limit=5, now=NOW, seconds=5, penalty=0.05)
    assert {m.memory.id: m.memory.metadata.get("stale") for m in found}["m-aa01"] == GONE
    assert {r["id"]: r.get("stale") for r in map(memory_row, opened(store).list())}["m-aa01"] == GONE
