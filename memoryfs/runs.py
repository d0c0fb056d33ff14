"""In: a store's folder and the clock. Out: how its runs fare: the timetable, the last run, sessions that failed, the alarm.

Small files under `.memoryfs/`, derived and disposable: without them a store counts as not scheduled, and what failed is
simply tried again. Imports nothing slow: the briefing asks for the alarm on every start of a session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

STATE = ".memoryfs"
TIMETABLE, LAST, FAILURES, WORKING = "schedule.json", "last-run.json", "failures.json", "working.json"
REPORTS = "reports"  # folder of the run reports, YYYYMMDD-HHMMSS.json and .md
SCHEDULED = "MEMORYFS_SCHEDULED"  # set in the environment of a run that a timetable started
OVERDUE = 3  # due times that may pass without a run: a machine that slept through one or two is no fault
ALARM = 3  # failed runs in a row from which MEMORY.md says so
ALARM_START = "> memoryfs: new sessions are not being learned"
ATTEMPTS = 5  # at one session, after which it is set aside
WAITS = (0, 60, 240, 960)  # minutes after the first, second … failure; the first is tried again by the next run
_COUNTED = 200  # due times that are counted at most


@dataclass(frozen=True, slots=True)
class Timetable:
    """When runs are due, in local time: at each of `minutes` of each of `hours`. `by` is cron, systemd or launchd;
    `since` is the RFC 3339 time of its installation."""

    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    by: str = ""
    since: str = ""

    def missed(self, after: datetime, now: datetime) -> int:
        """How many due times lie after `after` and not after `now`, counted in the zone of `now` (at most 200)."""
        start = after.astimezone(now.tzinfo)
        day = start.replace(hour=0, minute=0, second=0, microsecond=0)
        count = 0
        while day <= now and count < _COUNTED:
            for hour in self.hours:
                for minute in self.minutes:
                    count += start < day.replace(hour=hour, minute=minute) <= now
            day += timedelta(days=1)
        return min(count, _COUNTED)

    def next_after(self, now: datetime) -> datetime | None:
        """The first due time after `now`."""
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        due = (
            (day + timedelta(days=ahead)).replace(hour=hour, minute=minute)
            for ahead in (0, 1) for hour in self.hours for minute in self.minutes
        )
        return min((time for time in due if time > now), default=None)


@dataclass(frozen=True, slots=True)
class Last:
    """The last run: when it ended, its exit code and what was wrong. `failures` counts the failed runs in a row up to it
    and `failing_since` is the time of their first; `scheduled` is when the last run ended that a schedule had started."""

    time: str
    exit_code: int
    message: str = ""
    failures: int = 0
    failing_since: str = ""
    scheduled: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A session that could not be organized: how often, when its thread had `size` bytes; `retry_at` "" is at once."""

    thread: str
    size: int
    count: int
    since: str
    retry_at: str
    message: str

    @property
    def set_aside(self) -> bool:
        return self.count >= ATTEMPTS

    def waits(self, now: datetime) -> bool:
        """Whether it is left alone at `now`."""
        return self.set_aside or bool(self.retry_at and now < datetime.fromisoformat(self.retry_at))


def timetable(root: Path) -> Timetable | None:
    """The store's timetable; None where nothing is scheduled."""
    data = _read(root, TIMETABLE)
    try:
        return Timetable(tuple(map(int, data["hours"])), tuple(map(int, data["minutes"])), str(data["by"]), _time(data["since"]))
    except (KeyError, TypeError, ValueError):
        return None


def set_timetable(root: Path, table: Timetable | None) -> None:
    """Keep the store's timetable, or forget it."""
    if table is None:
        (root / STATE / TIMETABLE).unlink(missing_ok=True)
    else:
        _write(root, TIMETABLE, asdict(table))


def last(root: Path) -> Last | None:
    """The last run of the organizer; None if none is known."""
    data = _read(root, LAST)
    try:
        return Last(
            _time(data["time"]), int(data["exit_code"]), str(data["message"]), int(data["failures"]),
            data["failing_since"] and _time(data["failing_since"]), data["scheduled"] and _time(data["scheduled"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def record(root: Path, *, now: datetime, exit_code: int, message: str = "", failed: bool, scheduled: bool) -> Last:
    """Keep the result of a run that ended at `now`. Raises ReadOnlyError."""
    before, time = last(root), now.isoformat(timespec="seconds")
    failures = (before.failures if before else 0) + 1 if failed else 0
    since = (before.failing_since if before else "") or time
    run = Last(time, exit_code, message, failures, since if failed else "",
               time if scheduled else before.scheduled if before else "")
    _write(root, LAST, asdict(run))
    return run


def alarm(root: Path) -> str:
    """One line for MEMORY.md when runs keep failing, else "". It says the same until they work again."""
    run = last(root)
    if run is None or run.failures < ALARM:
        return ""
    return f"{ALARM_START}: every run since {run.failing_since[:10]} has failed; `memoryfs doctor` says why"


def overdue(root: Path, now: datetime) -> tuple[int, str]:
    """How many scheduled runs have not happened, and since when; (0, "") where all is well or nothing is scheduled."""
    table, run = timetable(root), last(root)
    if table is None:
        return 0, ""
    since = max(filter(None, (table.since, run.scheduled if run else "")), key=datetime.fromisoformat)
    count = table.missed(datetime.fromisoformat(since), now)
    return (count, since) if count >= OVERDUE else (0, "")


def failures(root: Path, version: str) -> dict[str, Failure]:
    """Sessions that failed under this version of the program, by thread: a newer one tries them all again."""
    data = _read(root, FAILURES)
    found: dict[str, Failure] = {}
    if data.get("version") != version:
        return found
    for row in data.get("sessions") or ():
        try:
            failure = Failure(str(row["thread"]), int(row["size"]), int(row["count"]), _time(row["since"]),
                              row["retry_at"] and _time(row["retry_at"]), str(row["message"]))
        except (KeyError, TypeError, ValueError):
            continue
        found[failure.thread] = failure
    return found


def keep_failures(root: Path, version: str, found: Mapping[str, Failure]) -> None:
    """Keep which sessions failed. Raises ReadOnlyError."""
    if found:
        _write(root, FAILURES, {"version": version, "sessions": [asdict(f) for _, f in sorted(found.items())]})
    else:
        (root / STATE / FAILURES).unlink(missing_ok=True)


def failed_again(old: Failure | None, thread: str, size: int, message: str, *, now: datetime, died: bool = False) -> Failure:
    """The failure of a session whose thread has `size` bytes now; one that has grown since `old` starts anew.

    `died`: the process ended in the middle. That may have been the machine, so it is tried again at once, but counts.
    """
    time = now.isoformat(timespec="seconds")
    if old is None or old.size != size:
        old = Failure(thread, size, 0, time, "", "")
    minutes = 0 if died else WAITS[min(old.count, len(WAITS) - 1)]
    retry = (now + timedelta(minutes=minutes)).isoformat(timespec="seconds") if minutes else ""
    return replace(old, count=old.count + 1, retry_at=retry, message=message)


def begin(root: Path, thread: str, size: int) -> None:
    """Note which session is being worked on, so that the next run knows if this process dies of it."""
    _write(root, WORKING, {"thread": thread, "size": size})


def end(root: Path) -> None:
    """The session is done, or has failed in a way that was reported."""
    (root / STATE / WORKING).unlink(missing_ok=True)


def died_at(root: Path) -> tuple[str, int] | None:
    """The session (thread, bytes) that an earlier process was at when it died."""
    data = _read(root, WORKING)
    thread, size = data.get("thread"), data.get("size")
    return (thread, size) if isinstance(thread, str) and isinstance(size, int) else None


def _time(text: str) -> str:
    """`text` if it is an RFC 3339 time with its offset; ValueError otherwise."""
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(f"a time without an offset: {text}")
    return text


def _read(root: Path, name: str) -> dict[str, Any]:
    try:
        data = json.loads((root / STATE / name).read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _write(root: Path, name: str, data: Mapping[str, Any]) -> None:
    from memoryfs.textfile import write_atomic

    write_atomic(root / STATE / name, json.dumps(data, ensure_ascii=True).encode())
