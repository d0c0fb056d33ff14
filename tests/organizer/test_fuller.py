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


def facts(root: Path, *more: str) -> Path:
    path = root / "projects/desk.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Desk\n\n## Facts\n" + "".join(f"{line}\n" for line in more) + "\n[^aaaaaa:1]: 2026-05-12\n[^aaaaaa:5]: 2026-05-13\n")
    return path


def run(root: Path) -> Any:
    return pipeline.run(root, config=Config(), now=NOW, judges=LineJudges())


def test_two_that_stand_there_and_say_the_same_become_the_fuller_one(tmp_path: Path) -> None:
    facts(tmp_path, f"- {SHORT} [^aaaaaa:1] ^m-000001", f"- {FULL} [^aaaaaa:5] ^m-000002")
    report = run(tmp_path)
    assert report.notices == ["said twice: 1 memories moved to History, their sources to the ones that stay"]
    found = learned(tmp_path)
    assert (found[SHORT].superseded_by, found[FULL].status) == ("m-000002", "active")
    assert [r.label for r in found[FULL].source_range] == ["aaaaaa:5", "aaaaaa:1"]
    before = snapshot(tmp_path)
    run(tmp_path)
    assert snapshot(tmp_path) == before


def test_a_persons_words_stay_whatever_says_more(tmp_path: Path) -> None:
    for name, lines, ended in (
        ("more", (f"- {FULL}", f"- {SHORT} [^aaaaaa:5] ^m-000002"), {SHORT}), ("less", (f"- {SHORT}", f"- {FULL} [^aaaaaa:5] ^m-000002"), set()),
        ("both", (f"- {SHORT}", f"- {FULL}"), set()),
    ):
        path = facts(tmp_path / name, *lines)
        run(tmp_path / name)
        assert {text for text, m in learned(tmp_path / name).items() if m.status == "superseded"} == ended
        assert f"{lines[0]} [^person:2026-06-01]" in path.read_text()


def test_what_a_person_brings_back_from_history_stays_back(tmp_path: Path) -> None:
    path = facts(tmp_path, f"- {SHORT} [^aaaaaa:1] ^m-000001", f"- {FULL} [^aaaaaa:5] ^m-000002")
    run(tmp_path)
    rows = [r for r in path.read_text().splitlines(True) if "^m-000001" not in r]
    rows.insert(next(n for n, r in enumerate(rows) if r.startswith("- ")), f"- {SHORT} [^aaaaaa:1] ^m-000001\n")
    path.write_text("".join(rows))
    run(tmp_path)
    run(tmp_path)
    assert {m.status for m in learned(tmp_path).values()} == {"active"}


def test_near_but_different_ones_stay_two(tmp_path: Path) -> None:
    facts(tmp_path, "- The cookie lives 7 days. [^aaaaaa:1] ^m-000001", "- The cookie lives 14 days. [^aaaaaa:5] ^m-000002",
          "- [ ] a", "- 备份保存7天。 [^aaaaaa:1] ^m-000003", "- 备份保存14天。 [^aaaaaa:5] ^m-000004")
    run(tmp_path)
    assert {m.status for m in learned(tmp_path).values()} == {"active"}


def test_pointers_follow_what_a_person_moved_in_an_editor(tmp_path: Path) -> None:
    path = facts(tmp_path, "- Cameras are lent for a week. [^aaaaaa:1] ^m-000001", "- Lamps are old. [^aaaaaa:5] ^m-000002", "", "## History",
                 "- ~~Cameras are lent for a day.~~ superseded by [[#^m-000001]] on 2026-05-12 [^aaaaaa:1] ^m-000003")
    run(tmp_path)
    line = "- Cameras are lent for a week. [^aaaaaa:1] ^m-000001\n"
    path.write_text(path.read_text().replace(line, ""))
    (tmp_path / "projects/cameras.md").write_text(f"# Cameras\n\n## Facts\n{line}\n[^aaaaaa:1]: 2026-05-12\n")
    run(tmp_path)
    assert "superseded by [[projects/cameras#^m-000001]] on 2026-05-12" in path.read_text()
