"""Sessions that fail or kill their run: tried again after a pause, set aside, named; the others go on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, contents, transcript

from memoryfs import __version__, runs
from memoryfs.errors import EXIT_DONE, EXIT_FAILED, EXIT_PARTIAL
from memoryfs.textfile import STATE
from organizer import pipeline

Organize_ = Callable[..., Any]
BAD = [("user", "BOOM\nFACT: The router is in room 4.")]
GOOD = [("user", "FACT: Keys hang in room 12.")]


@pytest.fixture
def sessions(tmp_path: Path, judges: LineJudges) -> Path:
    transcript(tmp_path / "in" / "a.jsonl", "session-a", "2026-05-12", BAD)
    transcript(tmp_path / "in" / "b.jsonl", "session-b", "2026-05-13", GOOD)
    judges.fail_on = "BOOM"
    return tmp_path / "in"


def tries(organize: Organize_, sessions: Path, *minutes: float) -> list[str]:
    """What became of the bad session in runs so many minutes after the first: failed or held."""
    told = []
    for after in minutes:
        report = organize(sessions, now=NOW + timedelta(minutes=after))
        told.append("failed" if any(s.status == "failed" for s in report.sessions) else "held" if report.held else "")
    return told


def test_org_11_a_failing_session_is_tried_with_pauses_then_set_aside_and_named(
    store: Path, sessions: Path, organize: Organize_
) -> None:
    assert organize(sessions).exit_code == EXIT_PARTIAL
    assert "Keys hang in room 12." in "".join(contents(store).values())
    assert tries(organize, sessions, 10, 20, 71) == ["failed", "held", "failed"]
    assert tries(organize, sessions, 72, 320, 400, 1300) == ["held", "failed", "held", "failed"]
    report = organize(sessions, now=NOW + timedelta(days=60))
    assert not report.sessions and report.exit_code == EXIT_DONE
    assert [(h.failures, h.retry_at) for h in report.held] == [(5, "")]
    assert report.held[0].thread in report.summary_text() and "set aside" in report.summary_text()
    assert "cannot judge BOOM" in report.to_dict()["held"][0]["message"]


def test_a_session_that_was_set_aside_is_tried_when_a_person_asks_when_it_grows_and_when_the_record_is_lost(
    store: Path, sessions: Path, organize: Organize_, judges: LineJudges
) -> None:
    tries(organize, sessions, 0, 1, 100, 400, 2000)
    later = NOW + timedelta(days=9)
    assert organize(sessions, now=later).held
    assert [s.status for s in organize(sessions, now=later, retry=True).sessions] == ["failed"]
    (store / STATE / runs.FAILURES).unlink()
    assert [s.status for s in organize(sessions, now=later).sessions] == ["failed"]
    tries(organize, sessions, *(20_000 + 2000 * n for n in range(5)))
    transcript(sessions / "a.jsonl", "session-a", "2026-05-12", [*BAD, ("user", "FACT: It moved.")])
    judges.fail_on = ""
    assert [s.status for s in organize(sessions, now=later).sessions] == ["done"]
    assert not (store / STATE / runs.FAILURES).exists()


def test_a_session_that_kills_its_run_is_set_aside_in_the_end(
    store: Path, sessions: Path, organize: Organize_, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Aborted(BaseException):
        """As a native crash would: nothing after it runs."""

    honest = pipeline.organize_session

    def dies(library: Any, thread: str, *rest: Any, **more: Any) -> Any:
        if thread.startswith("2026-05-12"):
            raise Aborted
        return honest(library, thread, *rest, **more)

    monkeypatch.setattr(pipeline, "organize_session", dies)
    for _ in range(runs.ATTEMPTS):
        with pytest.raises(Aborted):
            organize(sessions)
    report = organize(sessions)
    assert len(report.held) == 1 and [s.status for s in report.sessions] == ["done"]
    assert "Keys hang in room 12." in "".join(contents(store).values())


def test_one_death_is_no_reason_to_wait(store: Path, sessions: Path, organize: Organize_, judges: LineJudges) -> None:
    judges.fail_on = ""
    organize()
    runs.begin(store, "2026-05-12-ffffff", 10)
    assert [s.status for s in organize(sessions).sessions] == ["done", "done"]
    assert runs.died_at(store) is None


def test_a_journal_that_cannot_be_carried_out_stops_no_run(
    store: Path, sessions: Path, organize: Organize_, judges: LineJudges, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges.fail_on = ""
    honest = pipeline.write
    calls = []

    def fails(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) <= 2:
            raise ZeroDivisionError
        return honest(*arguments)

    monkeypatch.setattr(pipeline, "write", fails)
    assert organize(sessions).exit_code != EXIT_DONE
    organize(sessions)
    assert organize(sessions).exit_code == EXIT_DONE
    text = "".join(contents(store).values())
    assert "Keys hang in room 12." in text and "The router is in room 4." in text


def test_the_result_of_every_run_is_kept_and_the_third_failure_in_a_row_is_told_in_memory_md(
    store: Path, sessions: Path, organize: Organize_, judges: LineJudges, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges.fail_on = ""
    organize(sessions, scheduled=True)
    last = runs.last(store)
    assert last is not None and last.exit_code == EXIT_DONE and last.scheduled == last.time

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no such thing")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "_adopt", broken)
        for number in range(1, runs.ALARM + 1):
            with pytest.raises(RuntimeError):
                organize(sessions)
            last = runs.last(store)
            assert last is not None and (last.exit_code, last.failures) == (EXIT_FAILED, number)
            assert (runs.ALARM_START in (store / "MEMORY.md").read_text()) == (number == runs.ALARM)
    organize(sessions)
    assert runs.ALARM_START not in (store / "MEMORY.md").read_text()
    assert runs.failures(store, __version__) == {}


def test_a_dry_run_leaves_no_record(store: Path, sessions: Path, organize: Organize_) -> None:
    organize(sessions, dry_run=True)
    assert runs.last(store) is None and not (store / STATE / runs.FAILURES).exists()
