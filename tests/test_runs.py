"""What is kept of runs: results, failures, the timetable; and what doctor and MEMORY.md make of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoryfs import MemoryStore, __version__, doctor, runs
from memoryfs.textfile import STATE

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    made = MemoryStore.init(tmp_path / "store", clock=lambda: NOW)
    made.remember("The gateway listens on port 7443", topic="infrastructure/gateway.md", hints=["gateway"])
    made.brief()
    return made


def red(store: MemoryStore) -> set[str]:
    return {c.name for c in doctor.examine(store) if not c.ok}


def ran(root: Path, *, failed: bool, hours: float = 0, scheduled: bool = True) -> runs.Last:
    return runs.record(root, now=NOW - timedelta(hours=hours), exit_code=1 if failed else 0,
                       message="the disk is full" if failed else "", failed=failed, scheduled=scheduled)


def test_failures_in_a_row_are_counted_and_end_with_a_good_run(store: MemoryStore) -> None:
    assert runs.last(store.root) is None and runs.alarm(store.root) == ""
    for hours in (4, 3, 2):
        ran(store.root, failed=True, hours=hours)
    last = runs.last(store.root)
    assert last is not None and last.failures == 3 and last.failing_since == "2026-06-01T08:00:00+00:00"
    assert "since 2026-06-01" in runs.alarm(store.root)
    ran(store.root, failed=False)
    assert runs.alarm(store.root) == "" and runs.last(store.root).failures == 0


def test_memory_md_says_in_one_line_that_runs_keep_failing_and_no_longer_when_they_work(store: MemoryStore) -> None:
    before = store.brief()
    for _ in range(runs.ALARM - 1):
        ran(store.root, failed=True)
    assert store.brief() == before
    ran(store.root, failed=True)
    text = store.brief()
    assert next(line for line in text.splitlines() if line not in before.splitlines()) == runs.alarm(store.root)
    ran(store.root, failed=True)
    assert store.brief() == text  # the same bytes while it lasts
    (store.root / "MEMORY.md").write_text(text + "my own words\n")
    ran(store.root, failed=False)
    healed = store.brief()
    assert runs.ALARM_START not in healed and "my own words" in healed


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"time": 3}', b"\xff", b'{"time": "yesterday", "exit_code": 0}'])
def test_damaged_records_count_as_none(store: MemoryStore, content: bytes) -> None:
    for name in (runs.LAST, runs.TIMETABLE, runs.FAILURES, runs.WORKING):
        (store.root / STATE / name).write_bytes(content)
    assert (runs.last(store.root), runs.timetable(store.root), runs.died_at(store.root)) == (None, None, None)
    assert runs.failures(store.root, __version__) == {} and runs.overdue(store.root, NOW) == (0, "")
    assert red(store) == set()


def test_a_session_is_retried_after_growing_pauses_and_then_set_aside(store: MemoryStore) -> None:
    failure = None
    pauses = []
    for _ in range(runs.ATTEMPTS):
        failure = runs.failed_again(failure, "t", 100, "bad", now=NOW)
        pauses.append(failure.retry_at and (datetime.fromisoformat(failure.retry_at) - NOW).total_seconds() / 60)
    assert pauses == ["", 60, 240, 960, 960] and failure.set_aside and failure.waits(NOW + timedelta(days=90))
    assert runs.failed_again(failure, "t", 200, "bad", now=NOW).count == 1  # it has grown
    runs.keep_failures(store.root, __version__, {"t": failure})
    assert runs.failures(store.root, __version__) == {"t": failure}
    assert runs.failures(store.root, "another version") == {}


def test_doctor_names_a_session_that_was_set_aside_and_nothing_else_is_red(store: MemoryStore) -> None:
    failure = runs.Failure("2026-05-01-abcdef", 10, runs.ATTEMPTS, NOW.isoformat(), "", "KeyError: 'x'")
    runs.keep_failures(store.root, __version__, {failure.thread: failure})
    assert red(store) == {"sessions"}
    problem = next(c for c in doctor.examine(store) if c.name == "sessions").problems[0]
    assert failure.thread in problem.path and "KeyError" in problem.message and "--retry" in problem.remedy
    runs.keep_failures(store.root, __version__, {})
    assert red(store) == set()


def test_hook_09_doctor_shows_time_and_result_of_the_last_run_and_of_the_last_scheduled_one(store: MemoryStore) -> None:
    def told() -> str:
        return next(c for c in doctor.examine(store) if c.name == "last run").detail

    assert "No run is known" in told()
    ran(store.root, failed=False, hours=5)
    ran(store.root, failed=True, scheduled=False)
    assert "Last: 2026-06-01T12:00:00+00:00, exit code 1; last scheduled: 2026-06-01T07:00:00+00:00." in told()


def test_doctor_says_that_the_last_run_failed_and_why(store: MemoryStore) -> None:
    ran(store.root, failed=True)
    assert red(store) == {"last run"}
    ran(store.root, failed=False)
    assert red(store) == set()


def test_hook_09_doctor_warns_when_scheduled_runs_do_not_happen(store: MemoryStore) -> None:
    since = (NOW - timedelta(hours=2)).isoformat()
    runs.set_timetable(store.root, runs.Timetable(tuple(range(24)), (30,), "cron", since))
    assert red(store) == set()  # two due times: a nap of the machine
    runs.set_timetable(store.root, runs.Timetable(tuple(range(24)), (30,), "cron", "2026-05-30T12:00:00+00:00"))
    assert red(store) == {"schedule"}
    ran(store.root, failed=False, scheduled=False)
    assert red(store) == {"schedule"}  # a run by hand does not show that cron works
    ran(store.root, failed=False, hours=1)
    assert red(store) == set()


def test_a_night_without_active_hours_is_not_overdue(store: MemoryStore) -> None:
    ran(store.root, failed=False, hours=15)  # 21:00 the evening before
    runs.set_timetable(store.root, runs.Timetable((10, 11, 20), (0,), "cron", "2026-05-01T00:00:00+00:00"))
    assert runs.overdue(store.root, NOW) == (0, "")
    assert runs.overdue(store.root, NOW + timedelta(hours=8))[0] == 3


def test_without_a_timetable_nothing_is_overdue(store: MemoryStore) -> None:
    ran(store.root, failed=False, hours=10_000)
    assert red(store) == set()
    assert json.loads((store.root / STATE / runs.LAST).read_text())["exit_code"] == 0
