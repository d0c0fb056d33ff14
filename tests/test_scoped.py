"""Several stores answer one question: who is asked, what stands first, and what must never cross."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoryfs import MemoryStore, scoped
from memoryfs.errors import NoStoreError, UsageError
from memoryfs.thread import read_events


def make(root: Path, *facts: str, said: str = "") -> Path:
    (root / "projects").mkdir(parents=True)
    lines = "\n".join(f"- {fact} ^m-{abs(hash(fact)) % 16**6:06x}" for fact in facts)
    (root / "projects" / "app.md").write_text(f"# App\n\n## Facts\n{lines}\n", encoding="utf-8")
    store = MemoryStore.init(root)
    if said:
        transcript = root.parent / f"{root.parent.name}-talk.jsonl"
        transcript.write_text(json.dumps({"role": "user", "content": said, "time": "2026-05-12T10:00:00Z"}) + "\n", encoding="utf-8")
        store.import_transcripts(transcript)
    return root


def git(*arguments: str, cwd: Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", *arguments],
        cwd=cwd, check=True, capture_output=True, timeout=60,
    )


@pytest.fixture
def world(tmp_path) -> Path:
    """`work/` with a store, two projects in it (one with a worktree beside it), and an unrelated project of the same name."""
    work = tmp_path / "work"
    make(work / ".memory", "ZZPARENT: write British English everywhere.", said="ZZPARENT: the style guide port is 9001.")
    for name, word in (("alpha", "ZZALPHA"), ("beta", "ZZBETA")):
        folder = work / name
        folder.mkdir()
        make(folder / ".memory", f"{word}: the service listens on port {4001 if name == 'alpha' else 4002}.",
             said=f"{word}: start it with `serve --port {4001 if name == 'alpha' else 4002} --name é🚀`.")
    git("init", cwd=work / "alpha")
    (work / "alpha" / "README").write_text("x")
    git("add", "README", cwd=work / "alpha")
    git("commit", "-m", "x", cwd=work / "alpha")
    git("worktree", "add", str(tmp_path / "trees" / "alpha-fix"), cwd=work / "alpha")
    make(tmp_path / "elsewhere" / "alpha" / ".memory", "ZZOTHER: unrelated project of the same name, port 7777.")
    return tmp_path


def recall(cwd: Path, query: str, *arguments: str, home: Path | None = None) -> dict:
    env = {**os.environ, "MEMORYFS_HOME": str(home or cwd / "no-home")}
    done = subprocess.run(
        [sys.executable, "-m", "memoryfs", "recall", query, "--json", "--no-vectors", *arguments],
        cwd=cwd, env=env, capture_output=True, text=True, timeout=60,
    )
    assert done.returncode in (0, 5), done.stderr
    return json.loads(done.stdout)


def words(found: dict) -> str:
    return json.dumps([found["memories"], found["evidence"]], ensure_ascii=False)


ALL = "ZZPARENT ZZALPHA ZZBETA ZZOTHER port"


def test_org_18_projects_worktrees_and_a_parent(world):
    alpha, beta, tree = world / "work" / "alpha", world / "work" / "beta", world / "trees" / "alpha-fix"
    for cwd in (alpha, tree, alpha / ".git"):  # a worktree shares its repository's store
        shown = words(recall(cwd, ALL))
        assert "ZZALPHA" in shown and "ZZPARENT" in shown and "ZZBETA" not in shown and "ZZOTHER" not in shown, cwd
    shown = words(recall(beta, ALL))
    assert "ZZBETA" in shown and "ZZPARENT" in shown and "ZZALPHA" not in shown
    shown = words(recall(world / "work", ALL))
    assert "ZZPARENT" in shown and "ZZALPHA" not in shown
    shown = words(recall(world / "elsewhere" / "alpha", ALL))
    assert "ZZOTHER" in shown and "ZZPARENT" not in shown and "ZZALPHA" not in shown
    for cwd in (alpha, tree):
        shown = words(recall(cwd, ALL, "--scope", "here"))
        assert "ZZALPHA" in shown and "ZZPARENT" not in shown
        shown = words(recall(cwd, ALL, "--scope", "all"))
        assert "ZZBETA" in shown and "ZZOTHER" not in shown


def test_removing_a_worktree_deletes_no_memory(world):
    tree, alpha = world / "trees" / "alpha-fix", world / "work" / "alpha"
    done = subprocess.run(
        [sys.executable, "-m", "memoryfs", "remember", "ZZTREE: learned in the worktree."], cwd=tree, capture_output=True,
        text=True, timeout=60,
    )
    assert done.returncode == 0, done.stderr
    git("worktree", "remove", "--force", str(tree), cwd=alpha)
    assert "ZZTREE" in words(recall(alpha, "ZZTREE learned"))


def test_results_name_their_store_and_evidence_stays_exact(world):
    alpha = world / "work" / "alpha"
    found = recall(alpha, ALL, "--level", "2")
    stores = {str(alpha / ".memory"): 0, str(world / "work" / ".memory"): 1}
    assert {m["store"]: m["scope"] for m in found["memories"]} == stores
    assert {e["store"] for e in found["evidence"]} == set(stores)
    for proof in found["evidence"]:
        (event,) = read_events(Path(proof["store"]), proof["thread"], proof["index"], proof["index"])
        assert event.text[proof["start"] : proof["end"]] == proof["text"] and event.id == proof["event_id"]
    scores = [m["score"] for m in found["memories"]]
    assert scores == sorted(scores, reverse=True)


def test_one_store_alone_answers_as_ever(world):
    other = world / "elsewhere" / "alpha"
    plain = recall(other, "ZZOTHER port", "--store", str(other / ".memory"))
    assert words(recall(other, "ZZOTHER port")) == words(plain)
    assert "store" not in plain["memories"][0] and plain["memories"][0]["scope"] == 0


def test_equal_memories_are_ranked_by_distance_and_said_once(tmp_path):
    make(tmp_path / ".memory", "Use tabs for indentation.", "Indentation is checked in CI by tabcheck.")
    make(tmp_path / "app" / ".memory", "Use tabs for indentation.", "Indentation is two spaces in YAML.")
    pairs = [(MemoryStore.open(s.root), s.distance) for s in scoped.stores_for("up", tmp_path / "app", {"MEMORYFS_HOME": "/none"})]
    found = scoped.recall(pairs, "use tabs for indentation", k=10, level=0)
    same = [m for m in found.memories if m.memory.summary == "Use tabs for indentation."]
    assert [m.scope for m in same] == [0]
    assert {m.scope for m in found.memories} == {0, 1}


def test_bounds_hold_for_all_stores_together(world):
    alpha = world / "work" / "alpha"
    assert len(recall(alpha, ALL, "-k", "1")["memories"]) == 1
    found = recall(alpha, ALL, "--level", "2", "-k", "1", "--max-tokens", "40")
    assert len({(e["thread"], e["index"]) for e in found["evidence"]}) <= 1 and found["tokens"] < 100


def test_home_is_the_furthest_and_the_user_store(tmp_path):
    home = make(tmp_path / "home" / ".memory", "ZZHOME: prefers short answers.")
    app = make(tmp_path / "app" / ".memory", "ZZAPP: answers on port 5000.")
    found = recall(app.parent, "ZZHOME ZZAPP answers", home=home)
    assert next((m["scope"], m["store"]) for m in found["memories"]) == (0, str(app))
    assert {m["scope"] for m in found["memories"]} == {0, 1}
    alone = recall(tmp_path, "ZZHOME answers", home=home)
    assert "ZZHOME" in words(alone)


def test_a_store_that_cannot_be_searched_costs_only_itself(world):
    from memoryfs.index import schema

    parent = world / "work" / ".memory"
    import apsw

    MemoryStore.open(parent).recall("x")
    db = apsw.Connection(str(parent / ".memoryfs" / "index.db"))
    db.pragma("user_version", schema.SCHEMA + 1)  # written by a newer version
    db.close()
    found = recall(world / "work" / "alpha", ALL)
    assert "ZZALPHA" in words(found) and any(str(parent) in p["path"] for p in found["problems"])


def test_scope_arguments(tmp_path, world):
    with pytest.raises(UsageError):
        scoped.stores_for("sideways", tmp_path, {})
    with pytest.raises(NoStoreError):
        scoped.stores_for("up", tmp_path, {"MEMORYFS_HOME": str(tmp_path / "none")})
    done = subprocess.run(
        [sys.executable, "-m", "memoryfs", "recall", "x", "--store", str(world / "work" / ".memory"), "--scope", "all"],
        capture_output=True, timeout=60,
    )
    assert done.returncode == 2


def test_all_finds_descendants_and_siblings_once(world):
    cwd = world / "work"
    found = scoped.stores_for("all", cwd, {"MEMORYFS_HOME": "/none"})
    roots = [s.root for s in found]
    assert roots[0] == cwd / ".memory" and len(roots) == len(set(roots))
    assert {cwd / "alpha" / ".memory", cwd / "beta" / ".memory"} <= set(roots)
    assert all(s.distance == 1 for s in found[1:])


def test_as_of_and_empty_query_are_refused_once(world):
    pairs = [(MemoryStore.open(s.root), s.distance) for s in scoped.stores_for("up", world / "work" / "alpha", {})]
    with pytest.raises(UsageError):
        scoped.recall(pairs, "port", as_of="nonsense")
