"""Passing facts that come back to be checked again, and how their days live with the other marks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from organizer_kit import NOW, contents, snapshot
from repo_kit import LATER, SYMBOL, commit, stale

from memoryfs import MemoryStore, ledger
from memoryfs.config import Config, Recheck

VERSION = "The app runs on Node 20.11."


def dates(store: Path) -> dict[str, str]:
    return {m.summary: m.metadata["recheck"] for m in MemoryStore.open(store).list() if "recheck" in m.metadata}


def test_a_passing_fact_gets_its_day_and_comes_back_after_it(store, say, organize):
    report = say("FACT: " + VERSION, "FACT: The hosting costs $20 a month.", "FACT: The rule is simple.", "RULE: Use Node 20.11.",
                 "EVENT: Installed Node 20.11.", "TASK: Hand in the report by 2026-05-14.")
    assert dates(store) == {VERSION: "2026-07-30", "The hosting costs $20 a month.": "2026-06-30", "Hand in the report by 2026-05-14.": "2026-05-15"}
    assert report.to_dict()["stale"]["dated"] == 3
    page = "".join(p.read_text() for p in store.rglob("*.md"))
    assert "; recheck 2026-07-30" in page
    assert stale(store) == {"Hand in the report by 2026-05-14.": "to be checked again since 2026-05-15"}
    before = snapshot(store)
    organize()
    assert snapshot(store) == before
    organize(now=NOW + timedelta(days=80))
    assert len(stale(store, NOW + timedelta(days=80))) == 3
    changed = {n for n, data in snapshot(store).items() if data[0] != before.get(n, (b"", 0))[0]}
    assert changed == {"MEMORY.md"}, "a day that passes changes no file but the briefing"


def test_the_briefing_marks_it_only_after_its_day(store, say, organize):
    say("FACT: " + VERSION)
    first = (store / "MEMORY.md").read_text()
    assert VERSION in first and "(check again)" not in first
    organize(now=NOW + timedelta(days=30))
    assert (store / "MEMORY.md").read_text() == first
    organize(now=NOW + timedelta(days=70))
    assert f"{VERSION} (check again)" in (store / "MEMORY.md").read_text()


def test_said_again_or_found_useful_it_gets_a_new_day(store, say, organize):
    say("FACT: " + VERSION)
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    assert dates(store) == {VERSION: "2026-08-19"}
    late = NOW + timedelta(days=100)
    assert stale(store, late)
    opened = MemoryStore.open(store, clock=lambda: late)
    opened.judge(opened.list()[0].id, "useful")
    assert not stale(store, late) and dates(store) == {VERSION: (late.date() + timedelta(days=90)).isoformat()}
    before = snapshot(store)
    organize(now=late)
    assert snapshot(store) == before
    opened.undo(opened.list()[0].id)
    organize(now=late)
    assert dates(store) == {VERSION: "2026-08-19"}


def test_a_day_that_a_person_wrote_holds(store, say, organize):
    say("FACT: " + VERSION, "FACT: The rule is simple.")
    path = next(p for p in store.rglob("*.md") if "; recheck 2026-07-30" in p.read_text())
    path.write_text(path.read_text().replace("recheck 2026-07-30", "recheck 2027-01-31"))
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    organize(now=NOW + timedelta(days=100))
    assert dates(store) == {VERSION: "2027-01-31"}
    later = datetime(2027, 2, 2, 12, tzinfo=UTC)
    organize(now=later)
    assert dates(store) == {VERSION: "2027-01-31"} and stale(store, later)
    say("FACT: " + VERSION, day="2027-02-01", name="s3", now=later)
    assert dates(store) == {VERSION: "2027-05-02"}, "it has passed, and the memory was said again"


def test_a_day_that_a_person_took_out_does_not_come_back(store, say, organize):
    say("FACT: " + VERSION)
    path = next(p for p in store.rglob("*.md") if "; recheck 2026-07-30" in p.read_text())
    path.write_text(path.read_text().replace("; recheck 2026-07-30", ""))
    organize()
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    assert dates(store) == {}


def test_a_day_for_what_does_not_pass_can_be_written(store, say, organize):
    say("FACT: The rule is simple.")
    path = next(p for p in store.rglob("*.md") if "[^" in p.read_text() and p.name != "MEMORY.md")
    lines = [line.replace(": 2026-05-01", ": 2026-05-01; recheck 2026-05-25", 1) if line.startswith("[^") else line
             for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    organize()
    assert dates(store) == {"The rule is simple.": "2026-05-25"} and stale(store)
    say("FACT: The rule is simple.", day="2026-05-28", name="s2")
    assert not stale(store)


def test_settings_turn_kinds_off_and_take_the_days_along(store, say, organize):
    say("FACT: " + VERSION, "TASK: Hand in the report by 2026-05-14.")
    assert len(dates(store)) == 2
    organize(config=Config(recheck=Recheck(version_days=0, deadline_days=0)))
    assert dates(store) == {}
    organize(config=Config(recheck=Recheck(version_days=30)))
    assert dates(store) == {VERSION: "2026-05-31", "Hand in the report by 2026-05-14.": "2026-05-15"}


def test_a_run_killed_before_the_ledger_was_told_is_completed_by_the_next(store, repo, say, organize):
    say("FACT: " + VERSION, "FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize()
    whole = contents(store)
    path = store / ledger.FILE
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines() if '"stale"' not in line and '"recheck"' not in line))
    organize()
    assert {n: t for n, t in contents(store).items() if n != ledger.FILE} == {n: t for n, t in whole.items() if n != ledger.FILE}
    assert sorted(contents(store)[ledger.FILE].splitlines()) == sorted(whole[ledger.FILE].splitlines())
    say("FACT: " + VERSION, day="2026-05-21", name="s2")
    assert dates(store) == {VERSION: "2026-08-19"}, "the day is known as ours"


def test_what_is_pinned_does_not_pass(store, say):
    say(f"FACT: {VERSION.removesuffix('.')} #pinned")
    assert dates(store) == {}


def test_a_memory_that_comes_to_share_a_footnote_does_not_inherit_the_day(store, say, organize):
    say("FACT: " + VERSION)
    path = next(p for p in store.rglob("*.md") if "; recheck 2026-07-30" in p.read_text())
    line = next(row for row in path.read_text().splitlines() if row.startswith("- " + VERSION))
    label = line[line.index("[^"):line.index("]") + 1]
    path.write_text(path.read_text().replace(line, f"{line}\n- The rule is simple. {label}"))
    organize()
    assert dates(store) == {VERSION: "2026-07-30"}
    before = snapshot(store)
    organize()
    assert snapshot(store) == before


def test_marks_do_not_keep_a_memory_from_fading(store, repo, say, organize):
    from organizer import lifecycle

    say("FACT: " + SYMBOL)
    commit(repo, {"src/auth.ts": "x\n"}, at=LATER)
    organize(now=NOW + timedelta(days=300))
    assert any(e.action == "stale" for e in ledger.read(store)[0])
    topics = {m.topic: MemoryStore.open(store).topics()[m.topic] for m in MemoryStore.open(store).list()}
    opened = MemoryStore.open(store)
    opened.judge(opened.list()[0].id, "wrong")
    entries = [e for e in ledger.read(store)[0] if e.action != "wrong"] + [e for e in ledger.read(store)[0] if e.action == "wrong"][:0]
    wrong = ledger.Entry(NOW.isoformat(), "person", "wrong", opened.list()[0].id)
    due = lifecycle.due(topics, [*entries, wrong], Config(), today=(NOW + timedelta(days=370)).date())
    assert due, "its age counts from when it was said"
