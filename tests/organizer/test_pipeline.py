"""The whole run: what is written, that it is written once, and that nothing is lost or overwritten."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, contents, snapshot, transcript

from memoryfs import MemoryStore
from memoryfs.config import Briefing, Config, Organize
from memoryfs.errors import EXIT_DONE, EXIT_NOTHING, EXIT_PARTIAL, EXIT_REVIEW, LockedError
from memoryfs.textfile import StoreLock
from organizer import pipeline
from organizer.pipeline import Budget

Organize_ = Callable[..., Any]

FIRST = [
    ("user", "We need an e-mail rule for the school app.\nFACT: The cookie lives 7 days."),
    ("assistant", "Understood.\nFACT: The validator stands in src/auth/validate.ts."),
    ("user", "RULE: Always run the auth tests before a commit."),
    ("assistant", "EVENT: Added the validator and its tests.\nTASK: Add a test for sub-domains."),
]
LATER = [
    ("user", "About the cookie again.\nFACT: The cookie now lives 14 days."),
    ("assistant", "EVENT: Changed the cookie lifetime."),
]


def topics(root: Path) -> str:
    return "\n".join(t for n, t in contents(root).items() if "/" in n and not n.startswith("episodes/"))


def topic_with(root: Path, text: str) -> Path:
    return next(root / n for n, t in contents(root).items() if "/" in n and not n.startswith("episodes/") and text in t)


def test_a_session_becomes_topics_an_episode_and_a_briefing(store: Path, tmp_path: Path, organize: Organize_) -> None:
    report = organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    assert report.exit_code == EXIT_DONE
    assert report.counts() == {"add": 5}
    written = contents(store)
    assert "The cookie lives 7 days." in topics(store)
    episode = next(text for name, text in written.items() if name.startswith("episodes/2026/2026-05-12-"))
    for section in ("## Asked", "## Done", "## Decided", "## Left open"):
        assert section in episode
    assert "e-mail rule for the school app" in episode
    assert "^m-" in episode and "threads/2026/05/2026-05-12-" in episode
    assert "Always run the auth tests before a commit." in written["MEMORY.md"]
    assert len(written["MEMORY.md"].encode()) <= Briefing().max_bytes
    actions = [json.loads(line)["action"] for line in written["ledger.jsonl"].splitlines()]
    assert actions.count("add") == 5 and actions[-1] == "organize"


def test_the_users_rule_reaches_the_briefing_and_the_assistants_does_not(
    store: Path, tmp_path: Path, organize: Organize_
) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", [
        ("user", "RULE: Always answer in short sentences please."), ("assistant", "RULE: Always deploy on Friday evening."),
    ]))
    briefing = (store / "MEMORY.md").read_text()
    assert "Always answer in short sentences" in briefing
    assert "Always deploy on Friday evening" not in briefing


def test_a_memory_tells_whose_words_it_is_and_the_report_why_another_fades(store: Path, tmp_path: Path, organize: Organize_) -> None:
    report = organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", [*FIRST, ("assistant", "FACT: I'm reading the cookie code now.")]))
    said = {m.summary: m.said_by for t in MemoryStore.open(store).topics().values() for m in t.memories if m.stated_by == "organizer"}
    assert (said["The cookie lives 7 days."], said["The validator stands in src/auth/validate.ts."]) == ("user", "assistant")
    (faded,) = [item for session in report.sessions for item in session.items if item.action == "drop"]
    assert (faded.text, faded.why) == ("I'm reading the cookie code now.", "the assistant speaks of its own work")


def test_organizing_again_writes_nothing(store: Path, tmp_path: Path, organize: Organize_, judges: LineJudges) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    before, read = snapshot(store), len(judges.seen)
    report = organize(path)
    assert snapshot(store) == before
    assert len(judges.seen) == read
    assert (report.sessions, report.unchanged, report.exit_code) == ([], 1, EXIT_DONE)


def test_a_run_without_new_events_opens_no_model_and_reads_no_topic(
    store: Path, tmp_path: Path, organize: Organize_, monkeypatch: pytest.MonkeyPatch
) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    organize()  # takes in what the first run wrote
    called: list[str] = []
    monkeypatch.setattr(pipeline, "open_judges", lambda *_, **__: called.append("models"))
    monkeypatch.setattr(pipeline, "open_library", lambda *_, **__: called.append("topics"))
    assert organize(judges=None).unchanged == 1
    assert not called


def test_org_03_the_same_session_by_another_path_adds_nothing(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    before = snapshot(store)
    copy = tmp_path / "elsewhere" / "b.jsonl"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    organize(copy)
    organize(path, copy)
    assert snapshot(store) == before


def test_a_grown_session_is_read_from_where_it_was_left(
    store: Path, tmp_path: Path, organize: Organize_, judges: LineJudges
) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    judges.seen.clear()
    transcript(path, "session-a", "2026-05-12", [*FIRST, ("user", "FACT: The printer is a Brother."), ("assistant", "Noted.")])
    report = organize(path)
    assert [index for _, index in judges.seen] == [4, 5]
    assert report.counts() == {"add": 1}
    pages = [name for name in contents(store) if name.startswith("episodes/")]
    assert len(pages) == 1
    assert "The printer is a Brother." in contents(store)[pages[0]]
    assert "The cookie lives 7 days." in contents(store)[pages[0]]


def test_losing_the_derived_folder_changes_nothing(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    before = snapshot(store)
    shutil.rmtree(store / ".memoryfs")
    organize(path)
    assert snapshot(store) == before


def test_losing_the_ledger_too_duplicates_nothing(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    before = {n: d for n, d in contents(store).items() if n.endswith(".md")}
    shutil.rmtree(store / ".memoryfs")
    (store / "ledger.jsonl").unlink()
    organize(path)
    assert {n: d for n, d in contents(store).items() if n.endswith(".md")} == before


def test_org_06_a_correction_supersedes_with_pointers_both_ways(store: Path, tmp_path: Path, organize: Organize_) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    report = organize(transcript(tmp_path / "b.jsonl", "session-b", "2026-05-14", LATER))
    assert report.counts()["supersede"] == 1 and report.exit_code == EXIT_DONE
    text = topics(store)
    history = text[text.index("## History"):]
    assert "~~The cookie lives 7 days.~~ superseded by [[" in history
    new = next(i for i in report.items("supersede"))
    assert f"#^{new.id}]]" in history and "2026-05-14" in history
    briefing = (store / "MEMORY.md").read_text()
    assert "7 days" not in briefing


def test_chain_a_b_a_ends_with_a_current(store: Path, tmp_path: Path, organize: Organize_) -> None:
    says = {"a": "FACT: The cookie lives 7 days.", "b": "FACT: The cookie now lives 14 days.", "c": "FACT: The cookie now lives 7 days."}
    for number, (name, line) in enumerate(says.items()):
        organize(transcript(tmp_path / f"{name}.jsonl", f"session-{name}", f"2026-05-1{number}", [("user", f"On the cookie.\n{line}")]))
    text = topics(store)
    current = text[text.index("## Facts"):text.index("## History")]
    assert "The cookie now lives 7 days." in current and "14 days" not in current
    assert text[text.index("## History"):].count("superseded by") == 2
    before = snapshot(store)
    organize(*sorted(tmp_path.glob("*.jsonl")))
    assert snapshot(store) == before


def test_org_05_a_contradiction_is_flagged_and_both_stay(store: Path, tmp_path: Path, organize: Organize_) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", [("user", "FACT: Production deploys are allowed.")]))
    report = organize(transcript(
        tmp_path / "b.jsonl", "session-b", "2026-05-14", [("assistant", "hm"), ("user", "FACT: Production deploys are not allowed.")],
    ))
    assert report.exit_code == EXIT_REVIEW
    text = topics(store)
    assert "## Needs review" in text and "## History" not in text
    assert "Production deploys are allowed." in text and "Production deploys are not allowed." in text
    assert "Needs review" in (store / "MEMORY.md").read_text()


def test_org_10_a_line_that_a_person_edited_stays(store: Path, tmp_path: Path, organize: Organize_) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    path = topic_with(store, "The cookie lives 7 days.")
    path.write_text(path.read_text().replace("The cookie lives 7 days.", "The cookie lives 9 days."))
    report = organize(transcript(tmp_path / "b.jsonl", "session-b", "2026-05-14", LATER))
    assert report.counts().get("supersede", 0) == 0 and report.counts()["conflict"] == 1
    assert "- The cookie lives 9 days." in path.read_text()


def test_what_a_person_deleted_does_not_return(store: Path, tmp_path: Path, organize: Organize_) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    path = topic_with(store, "The cookie lives 7 days.")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "The cookie lives 7 days." not in line))
    organize(transcript(tmp_path / "b.jsonl", "session-b", "2026-05-14", [("user", "Again.\nFACT: The cookie lives 7 days.")]))
    assert "The cookie lives 7 days." not in topics(store)


def test_an_episode_that_a_person_edited_or_deleted_stays_so(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    page = next((store / "episodes").rglob("*.md"))
    page.write_text(page.read_text() + "\nMy own remark.\n")
    mine = page.read_bytes()
    transcript(path, "session-a", "2026-05-12", [*FIRST, ("user", "FACT: The printer is a Brother.")])
    organize(path)
    assert page.read_bytes() == mine
    page.unlink()
    transcript(path, "session-a", "2026-05-12", [*FIRST, ("user", "FACT: The printer is a Brother."), ("user", "One more thing.")])
    organize(path)
    assert not list((store / "episodes").rglob("*.md"))


def test_front_matter_that_a_person_set_is_kept(store: Path, tmp_path: Path, organize: Organize_) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    path = topic_with(store, "The cookie lives 7 days.")
    lines = path.read_text().splitlines(True)
    path.write_text("".join("summary: Mine, about auth.\n" if line.startswith("summary:") else line for line in lines))
    organize(transcript(tmp_path / "b.jsonl", "session-b", "2026-05-14", LATER))
    assert "summary: Mine, about auth.\n" in path.read_text()
    assert "updated_at: 2026-05-14" in path.read_text()


def test_a_failing_session_costs_only_itself(store: Path, tmp_path: Path, organize: Organize_, judges: LineJudges) -> None:
    folder = tmp_path / "all"
    transcript(folder / "a.jsonl", "session-a", "2026-05-12", FIRST)
    transcript(folder / "b.jsonl", "session-b", "2026-05-13", [("user", "BOOM\nFACT: The router is in room 4.")])
    transcript(folder / "c.jsonl", "session-c", "2026-05-14", LATER)
    judges.fail_on = "BOOM"
    report = organize(folder)
    assert report.exit_code == EXIT_PARTIAL
    assert [s.status for s in report.sessions] == ["done", "failed", "done"]
    assert any("cannot judge BOOM" in p.message for p in report.problems)
    judges.fail_on = ""
    assert organize(folder).exit_code == EXIT_DONE
    assert "The router is in room 4." in topics(store)


def test_a_file_that_must_not_be_edited_keeps_its_session_open(store: Path, tmp_path: Path, organize: Organize_) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    path = topic_with(store, "The cookie lives 7 days.")
    good = path.read_bytes()
    broken = good + b"\n<<<<<<< mine\na\n=======\nb\n>>>>>>> theirs\n"
    path.write_bytes(broken)
    session = transcript(tmp_path / "b.jsonl", "session-b", "2026-05-14", LATER)
    report = organize(session)
    assert report.exit_code == EXIT_PARTIAL and path.read_bytes() == broken
    path.write_bytes(good)
    assert organize(session).counts()["supersede"] == 1
    assert "14 days" in path.read_text()


def test_con_03_a_second_run_is_refused_and_a_stale_lock_is_not_a_lock(
    store: Path, tmp_path: Path, organize: Organize_
) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    with StoreLock(store, "organize"), pytest.raises(LockedError):
        organize(path)
    for stale in (b"held by process 1\n", b"", b"\xff\x00garbage"):
        (store / ".memoryfs" / "organize.lock").write_bytes(stale)
        assert organize(path).exit_code == EXIT_DONE


def test_budgets_stop_between_sessions_and_the_next_run_goes_on(store: Path, tmp_path: Path, organize: Organize_) -> None:
    folder = tmp_path / "all"
    for number in range(3):
        transcript(folder / f"{number}.jsonl", f"session-{number}", f"2026-05-1{number}", [("user", f"FACT: Rack {number} stands in hall {number}.")])
    report = organize(folder, budget=Budget(sessions=2))
    assert len(report.sessions) == 2 and "1 sessions wait" in report.stopped and report.exit_code == EXIT_DONE
    assert organize(folder, budget=Budget(seconds=0.000001)).sessions == []
    assert len(organize(folder).sessions) == 1
    assert all(f"Rack {n} stands" in topics(store) for n in range(3))


def test_a_dry_run_writes_nothing_and_says_what_it_would(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    report = organize(path, dry_run=True)
    assert report.dry_run and report.counts() == {"add": 5}
    assert snapshot(store) == {}
    assert "The cookie lives 7 days." in report.to_text()


def test_what_is_not_certain_is_reported_and_not_written(store: Path, tmp_path: Path, organize: Organize_) -> None:
    report = organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", [("user", "MAYBE: The server may move.")]))
    assert report.counts() == {"inbox": 1}
    assert "The server may move" not in topics(store)


def test_a_topic_over_its_size_is_continued_in_another(store: Path, tmp_path: Path, organize: Organize_) -> None:
    config = Config(organize=Organize(topic_max_bytes=3000))
    for number in range(6):
        lines = "\n".join(f"FACT: Locker {number}{n} belongs to class {number}{n} and opens with key {number}{n}." for n in range(4))
        organize(transcript(tmp_path / f"{number}.jsonl", f"session-{number}", f"2026-05-1{number}", [("user", lines)]), config=config)
    files = sorted((store / "projects").glob("*.md"))
    assert len(files) > 1
    assert all(f.stat().st_size < 3000 + 4 * 600 for f in files)
    assert sum(f.read_text().count("^m-") for f in files) == 24


def test_nothing_found_has_its_own_exit_code(store: Path, tmp_path: Path, organize: Organize_) -> None:
    (tmp_path / "empty").mkdir()
    assert organize(tmp_path / "empty").exit_code == EXIT_NOTHING


def test_two_stores_organized_alike_hold_the_same_bytes(tmp_path: Path, judges: LineJudges) -> None:
    from organizer.pipeline import run

    transcript(tmp_path / "t" / "a.jsonl", "session-a", "2026-05-12", FIRST)
    transcript(tmp_path / "t" / "b.jsonl", "session-b", "2026-05-14", LATER)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        run(tmp_path / name, paths=[tmp_path / "t"], config=Config(), now=NOW, judges=judges)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_branch_of_a_session_is_read_only_where_it_differs(
    store: Path, tmp_path: Path, organize: Organize_, judges: LineJudges
) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    judges.seen.clear()
    other = [FIRST[0], FIRST[1], ("user", "FACT: The bell rings at eight."), ("assistant", "Noted.")]
    transcript(path, "session-a", "2026-05-12", other)
    report = organize(path)
    assert [s.thread[-2:] for s in report.sessions] == ["~2"]
    assert [index for _, index in judges.seen] == [2, 3]
    assert report.counts() == {"add": 1}


def test_a_resumed_session_that_repeats_its_history_only_reinforces(
    store: Path, tmp_path: Path, organize: Organize_
) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    report = organize(transcript(tmp_path / "b.jsonl", "session-b", "2026-05-12", [*FIRST, ("user", "FACT: The bell rings at eight.")]))
    assert report.counts().get("add") == 1 and set(report.counts()) <= {"add", "reinforce", "ignore"}
    assert topics(store).count("- The cookie lives 7 days.") == 1


def test_org_11_a_huge_tool_result_does_not_stop_a_session(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    big = {"type": "user", "sessionId": "session-a", "timestamp": "2026-05-12T10:00:00Z", "uuid": "big", "cwd": "/src/school",
           "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "a line of output\n" * 150_000}]}}
    with path.open("a") as file:
        file.write(json.dumps(big) + "\n")
    report = organize(path)
    assert report.exit_code == EXIT_DONE and report.counts()["add"] == 5
    thread = next((store / "threads").rglob("*.jsonl"))
    assert thread.stat().st_size > 2_000_000  # the thread keeps all of it


def test_org_02_a_second_run_makes_no_model_call(store: Path, tmp_path: Path) -> None:
    from memoryfs.models.fakes import ScriptedGenerator
    from organizer.pipeline import run

    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    run(store, paths=[path], config=Config(), now=NOW, generator=ScriptedGenerator(scores={}))
    generator = ScriptedGenerator(scores={})
    run(store, paths=[path], config=Config(), now=NOW, generator=generator)
    assert generator.scored == [] and generator.prompts == []


def test_con_01_a_person_can_remember_while_a_run_goes_on(
    store: Path, tmp_path: Path, organize: Organize_, judges: LineJudges, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lock or transaction that a writer or reader needs is held while a session is judged."""
    from memoryfs.store import MemoryStore

    weigh = judges.weigh

    def slow(found: Any) -> Any:
        MemoryStore.open(store).remember("The gym is closed in August.", topic="notes/gym.md")
        assert MemoryStore.open(store).recall("gym closed").memories
        return weigh(found)

    monkeypatch.setattr(judges, "weigh", slow)
    assert organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)).exit_code == EXIT_DONE
    assert "The gym is closed in August." in topics(store) and "The cookie lives 7 days." in topics(store)


def test_org_12_repeated_chatter_does_not_grow_the_store(store: Path, tmp_path: Path, organize: Organize_) -> None:
    folder = tmp_path / "t"
    for number in range(24):
        day = f"2026-05-{number + 1:02d}"
        transcript(folder / f"{number}.jsonl", f"session-{number}", day, [("assistant", "FACT: The build uses pnpm in CI."), ("user", "ok")])
    organize(folder)
    assert topics(store).count("- The build uses pnpm in CI.") == 1
    assert max(p.stat().st_size for p in (store / "projects").rglob("*.md")) < 8192
