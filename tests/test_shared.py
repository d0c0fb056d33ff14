"""What several projects know alike is proposed for the store above them, and never moved unasked."""

from __future__ import annotations

import json

import pytest

from memoryfs import MemoryStore
from memoryfs.cli import main
from memoryfs.shared import proposals

SAID = "Always write British English."


@pytest.fixture
def world(tmp_path, monkeypatch):
    """`work/` with a store and three projects that hold one instruction alike; a fourth elsewhere."""
    monkeypatch.setenv("MEMORYFS_HOME", str(tmp_path / "home" / ".memory"))
    MemoryStore.init(tmp_path / "work" / ".memory")
    for name, said in (("work/a", SAID), ("work/b", "always write **British English**"), ("work/deep/c", SAID), ("other/d", SAID)):
        store = MemoryStore.init(tmp_path / name / ".memory")
        store.remember(said, kind="instruction")
        store.remember("Ship the release.", kind="task")
        store.remember(f"The port of {name} is 4001.")
    return tmp_path


def test_three_projects_alike_are_proposed_for_the_store_above_them(world):
    for place in ("work/a", "work", "work/deep/c"):
        (found,) = proposals(world / place)
        assert found.target == world / "work" / ".memory" and found.memory.kind == "instruction"
        assert [root.parent.name for root, _ in found.places] == ["a", "b", "c"]
    assert proposals(world / "other" / "d") == ()


def test_two_are_not_enough_and_what_is_shared_already_is_not_proposed(world):
    store = MemoryStore.open(world / "work" / "b" / ".memory")
    store.forget(next(m.id for m in store.list(kind="instruction")))
    assert proposals(world / "work") == ()
    store.remember("Always write British English!", kind="instruction")
    assert len(proposals(world / "work")) == 1
    MemoryStore.open(world / "work" / ".memory").remember(SAID, kind="instruction")
    assert proposals(world / "work") == ()


def test_the_users_own_store_where_there_is_none_above(world):
    MemoryStore.init(world / "home" / ".memory")
    for name in ("e", "f"):
        MemoryStore.init(world / "other" / name / ".memory").remember(SAID, kind="instruction")
    (found,) = proposals(world / "other" / "d")
    assert found.target == world / "home" / ".memory" and len(found.places) == 3


def test_by_command_and_the_commands_it_names_do_it(world, monkeypatch, capsys):
    monkeypatch.chdir(world / "work" / "a")

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        return ended.value.code, capsys.readouterr().out

    before = {p: p.read_bytes() for p in world.rglob("*.md")}
    code, out = run("list", "--proposals")
    assert code == 0 and "in 3 projects; to share it in" in out
    assert {p: p.read_bytes() for p in world.rglob("*.md")} == before
    for line in json.loads(run("list", "--proposals", "--json")[1])["proposals"][0]["commands"]:
        assert run(*line.split()[1:])[0] == 0
    assert [m.summary for m in MemoryStore.open(world / "work" / ".memory").list()] == [SAID]
    assert not MemoryStore.open(world / "work" / "b" / ".memory").list(kind="instruction")
    assert run("list", "--proposals")[0] == 5
    assert run("--store", ".memory", "list", "--proposals")[0] == 2
