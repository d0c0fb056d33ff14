"""Routes from folders to stores: which applies, where it stands among the others, and what a missing one must not do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memoryfs import MemoryStore, config, scope, scoped
from memoryfs.errors import NoStoreError


@pytest.fixture
def world(tmp_path):
    """A user's store with routes, two profiles, and folders."""
    own = tmp_path / "home" / ".memory"
    for name in ("work", "client"):
        MemoryStore.init(own / "profiles" / name)
    MemoryStore.init(own)
    (own / "memoryfs.toml").write_text(
        f'[routes]\n"{tmp_path}/jobs/**" = "profile:work"\n"{tmp_path}/jobs/*/client-?" = "profile:client"\n'
        f'"{tmp_path}/gone" = "profile:gone"\n"{tmp_path}/bad" = "profile:../x"\n"relative/**" = "profile:work"\n', encoding="utf-8")
    for name in ("jobs/a/src", "jobs/a/client-1/src", "jobs/a/client-22", "play", "gone/x", "bad", "jobshop"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path, {"MEMORYFS_HOME": str(own)}


def roots(world, place: str) -> list[str]:
    base, environ = world
    return [str(s.root.relative_to(base)) for s in scope.cascade(base / place, environ)]


WORK, CLIENT, OWN = "home/.memory/profiles/work", "home/.memory/profiles/client", "home/.memory"


@pytest.mark.parametrize(("place", "stores"), [
    ("jobs", [WORK, OWN]), ("jobs/a/src", [WORK, OWN]), ("jobs/a/client-1/src", [CLIENT, OWN]), ("jobs/a/client-22", [WORK, OWN]),
    ("play", [OWN]), ("jobshop", [OWN]), ("bad", [OWN]),
])
def test_the_deepest_pattern_that_fits_applies(world, place, stores):
    assert roots(world, place) == stores
    assert scope.store_for(world[0] / place, world[1]) == world[0] / stores[0]
    assert scope.locate(None, None, world[0] / place, world[1]) == world[0] / stores[0]


def test_a_projects_own_store_is_nearer_and_one_above_the_pattern_further(world):
    for place in ("jobs/a/.memory", ".memory"):
        (world[0] / place).mkdir()
    assert roots(world, "jobs/a/src") == ["jobs/a/.memory", WORK, ".memory", OWN]


def test_a_route_to_a_store_that_is_not_there_sends_nothing_elsewhere(world):
    base, environ = world
    assert scope.store_for(base / "gone" / "x", environ) is None
    with pytest.raises(NoStoreError, match="profiles/gone"):
        scope.locate(None, None, base / "gone", environ)
    with pytest.raises(NoStoreError, match="profiles/gone"):
        scoped.stores_for("here", base / "gone", environ)
    (base / "gone" / "x" / ".memory").mkdir()
    assert roots(world, "gone/x")[0] == "gone/x/.memory"


def test_a_worktree_goes_where_its_repository_goes(world):
    base, _ = world
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", str(base / "play" / "tree")]):
        subprocess.run([*git, *words], cwd=base / "jobs" / "a", check=True, capture_output=True, timeout=30)
    assert roots(world, "play/tree") == [WORK, OWN]


def test_all_does_not_look_into_the_other_profiles(world):
    base, environ = world
    assert [s.root for s in scoped.stores_for("all", base / "jobs" / "a", environ)] == [base / WORK, base / OWN]


def test_org_18_only_the_users_own_settings_route(world):
    base, _ = world
    (base / "play" / ".memory").mkdir()
    (base / "play" / ".memory" / "memoryfs.toml").write_text(f'[routes]\n"{base}/play/**" = "profile:work"\n')
    assert roots(world, "play") == ["play/.memory", OWN]


def test_settings_that_are_no_routes_are_named(tmp_path):
    (tmp_path / "memoryfs.toml").write_text('[routes]\n"~/x" = 1\n')
    loaded, problems = config.load(tmp_path)
    assert loaded.routes == {} and "`routes` must be a table of strings" in problems[0].message


def test_doctor_names_the_routes_that_cannot_work(world):
    base, environ = world
    own = config.load(base / OWN)[0].routes
    said = [p.message for p in scope.route_problems(base / OWN, own, environ)]
    assert [m.rpartition(" leads to ")[2] or m for m in said] == [
        f"{base / OWN}/profiles/gone, which is not there", "'profile:../x', which is no store", "the route 'relative/**' names no folder"]
    assert "user's own store only" in next(scope.route_problems(base / "play", own, environ)).message
    assert list(scope.route_problems(base / "play", {}, environ)) == []


@pytest.mark.parametrize("folder", ["/" + "a" * 5000, "/a" * 3000, "/a\0b"], ids=["long name", "long path", "NUL"])
def test_a_folder_that_cannot_be_has_the_users_own_store(world, folder):
    base, environ = world
    assert [s.root for s in scope.cascade(Path(folder), environ)] == [base / OWN]
    assert scope.store_for(Path(folder), environ) == base / OWN
    assert scope.named(folder[1:], base, environ) is None
