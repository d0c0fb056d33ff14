"""A memory lifted into another store: what arrives, what stays behind, and a kill at every step."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryfs import MemoryStore, edits, ledger, thread
from memoryfs.cli import main
from memoryfs.edits import lifting
from memoryfs.errors import NoStoreError, NotFoundError, UsageError

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def clock() -> datetime:
    return NOW


def store_at(folder: Path) -> MemoryStore:
    return MemoryStore.init(folder / ".memory", clock=clock)


@pytest.fixture
def world(tmp_path, monkeypatch) -> Path:
    """A project with a store and a session, in a folder with a store."""
    monkeypatch.setenv("MEMORYFS_HOME", str(tmp_path / "home" / ".memory"))
    store_at(tmp_path / "work")
    project = store_at(tmp_path / "work" / "app")
    talk = tmp_path / "talk.jsonl"
    rows = [{"role": "user", "content": f"Line {n}: ZZ{n}", "time": f"2026-05-12T10:0{n}:00Z"} for n in range(8)]
    talk.write_text("".join(json.dumps(r) + "\n" for r in rows))
    name = project.import_transcripts([talk]).outcomes[0].thread
    project.remember("Always write British English.", topic="preferences/style", kind="instruction", source=f"{name}:3-4",
                     hints=("spelling",))
    project.remember("The app listens on 4001.", topic="preferences/style")
    return tmp_path


def open_(world: Path, place: str) -> MemoryStore:
    return MemoryStore.open(world / place / ".memory", clock=clock)


def texts(store: MemoryStore) -> list[str]:
    return [m.summary for m in store.list()]


def lifted_id(world: Path) -> str:
    return next(m.id for m in open_(world, "work/app").list() if "British" in m.summary)


def test_it_arrives_with_id_sources_and_history_and_leaves_a_link(world):
    app, work = open_(world, "work/app"), open_(world, "work")
    id = lifted_id(world)
    before = next(m for m in app.list() if m.id == id)
    assert app.move(f"^{id}", str(world / "work")).action == "move"
    (after,) = work.list()
    assert (after.id, after.summary, after.kind, after.source_range, after.query_hints, after.topic) == (
        id, before.summary, before.kind, before.source_range, before.query_hints, "preferences/style.md")
    assert texts(app) == ["The app listens on 4001."]
    left = (app.root / "preferences" / "style.md").read_text()
    assert f"[{id}](<../../../.memory/preferences/style.md#^{id}>)" in left and "British" not in left
    assert (app.root / "preferences" / "../../../.memory/preferences/style.md").resolve().is_file()
    here, there = (ledger.read(s.root)[0] for s in (app, work))
    assert ledger.state(here)[id].status == "withdrawn" and ledger.state(there)[id].status == "active"
    assert [(e.action, e.actor) for e in there if e.id] == [("add", "person"), ("move", "person")]
    assert "British" in work.brief() and "British" not in app.brief()


def test_its_range_resolves_there_and_nothing_else_of_the_session_crosses(world):
    id = lifted_id(world)
    open_(world, "work/app").move(id, str(world / "work"))
    work = open_(world, "work")
    (range_,) = work.list()[0].source_range
    assert [e.text for e in work.read(f"{range_.thread}:{range_.start}-{range_.end}").events] == ["Line 3: ZZ3", "Line 4: ZZ4"]
    assert work.recall("ZZ3", level=2).evidence and not [e for e in work.recall("ZZ6", level=2).evidence if "ZZ6" in e.text]
    assert thread.check_thread(work.root, range_.thread) == []
    open_(world, "work/app").remember("Line five matters.", topic="x", source=f"{range_.thread}:1")
    other = next(m.id for m in open_(world, "work/app").list() if "five" in m.summary)
    open_(world, "work/app").move(other, str(world / "work"))
    assert [e.index for e in thread.iter_events(work.root, range_.thread)] == [1, 3, 4]


def test_hand_edits_are_not_seen_in_it_and_it_does_not_come_back(world):
    app, work = open_(world, "work/app"), open_(world, "work")
    id = lifted_id(world)
    app.move(id, str(world / "work"))
    for store in (app, work):
        report = edits.adopt(store.root, store.config, now=NOW)
        assert [c for c in report.changes if c.id == id] == [] and not report.problems
    again = app.remember("Always write British English.", kind="instruction", actor="agent")
    assert again.action == "ignored" and again.detail.startswith("it moved to ")
    with pytest.raises(NotFoundError, match=r"it moved to .*preferences/style\.md"):
        app.read(f"^{id}")


@pytest.mark.parametrize("after", range(1, 9))
def test_a_kill_between_any_two_writes_loses_nothing(world, monkeypatch, after):
    class Killed(BaseException):
        pass

    count = 0

    def killing(real):
        def write(*args, **kwargs):
            nonlocal count
            if count == after:
                raise Killed
            count += 1
            return real(*args, **kwargs)
        return write

    id = lifted_id(world)
    with monkeypatch.context() as patch:
        for module, name in ((lifting, "edit_topic"), (lifting, "write_atomic"), (lifting.ledger, "append")):
            patch.setattr(module, name, killing(getattr(module, name)))
        with suppress(Killed):
            open_(world, "work/app").move(id, str(world / "work"))
    stores = open_(world, "work/app"), open_(world, "work")
    for store in stores:
        edits.adopt(store.root, store.config, now=NOW)
    assert any(id == m.id for store in stores for m in store.list())
    if id in {m.id for m in stores[0].list()}:
        stores[0].move(id, str(world / "work"))  # calling again finishes
    (there,) = stores[1].list()
    assert there.id == id and len(there.source_range) == 1
    assert texts(stores[0]) == ["The app listens on 4001."]
    assert [e.action for e in ledger.read(stores[1].root)[0] if e.id == id].count("move") <= 1


def test_the_same_words_there_get_the_sources_instead(world):
    app, work = open_(world, "work/app"), open_(world, "work")
    kept = work.remember("Always write British English.", topic="preferences/language", kind="instruction").id
    id = lifted_id(world)
    assert app.move(id, str(work.root)).id == kept
    (there,) = work.list()
    assert there.id == kept and len(there.source_range) == 1 and there.topic == "preferences/language.md"
    assert f"language.md#^{kept}" in (app.root / "preferences" / "style.md").read_text()


def test_to_a_profile_and_what_is_not_a_store(world):
    app, id = open_(world, "work/app"), lifted_id(world)
    with pytest.raises(NoStoreError):
        app.move(id, "profile:writing")
    with pytest.raises(NoStoreError):
        app.move(id, str(world / "nowhere"))
    with pytest.raises(UsageError, match="in that store already"):
        app.move(id, str(app.root))
    MemoryStore.init(world / "home" / ".memory" / "profiles" / "writing")
    app.move(id, "profile:writing")
    assert texts(MemoryStore.open(world / "home" / ".memory" / "profiles" / "writing")) == ["Always write British English."]
    assert app.move(app.list()[0].id, "projects/app").topic == "projects/app.md"  # a topic is still a topic


def test_a_contradicted_memory_is_settled_first(world):
    root = world / "work" / "app" / ".memory"
    (root / "facts.md").write_text(
        "# F\n\n## Facts\n- Seven. [^person:2026-05-01] ^m-000003\n- Eight. [^person:2026-05-02] ^m-000004\n\n## Needs review\n"
        "- [ ] [[#^m-000003]] or [[#^m-000004]]? ^r-000001\n\n[^person:2026-05-01]: 2026-05-01; stated by a person\n"
        "[^person:2026-05-02]: 2026-05-02; stated by a person\n")
    with pytest.raises(UsageError, match="settled first"):
        open_(world, "work/app").move("m-000003", str(world / "work"))


def test_by_command(world, monkeypatch, capsys):
    monkeypatch.chdir(world / "work" / "app")
    id = lifted_id(world)
    with pytest.raises(SystemExit) as ended:
        main(["move", f"^{id}", "--to", "..", "--json"])
    assert ended.value.code == 0 and json.loads(capsys.readouterr().out)["action"] == "move"
    assert texts(open_(world, "work")) == ["Always write British English."]


def test_doctor_finds_nothing_wrong_after_it(world):
    from memoryfs.doctor import examine

    app, id = open_(world, "work/app"), lifted_id(world)
    (app.root / "notes").mkdir()
    (app.root / "notes" / "see.md").write_text(f"# See\n\n## Facts\n- See [[preferences/style#^{id}]]. ^m-00aa00\n")
    app.move(id, str(world / "work"))
    for store in (app, open_(world, "work")):
        store.index()
        told = [p.message for check in examine(store, with_models=False) for p in check.problems if check.name in (
            "pointers", "sources", "thread files", "duplicate ids", "topic files", "ledger file", "index", "briefing")]
        assert not told, told


def test_the_other_stores_organizer_learns_nothing_from_the_excerpt(world):
    from organizer.shelf import pending, sessions_done

    app, work = open_(world, "work/app"), open_(world, "work")
    app.move(lifted_id(world), str(world / "work"))
    assert thread.list_threads(work.root) and pending(work.root, sessions_done(ledger.read(work.root)[0])) == []


def test_a_shorter_version_of_the_session_there_is_not_mixed_with_it(world):
    app, work = open_(world, "work/app"), open_(world, "work")
    name = app.list(kind="instruction")[0].source_range[0].thread
    events = list(thread.iter_events(app.root, name))[:2]
    path = thread.live_path(work.root, name)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(map(thread.encode_event, events)))
    with pytest.raises(UsageError, match="shorter version"):
        app.move(lifted_id(world), str(world / "work"))
    assert not work.list() and len(app.list()) == 2 and list(thread.iter_events(work.root, name)) == events
