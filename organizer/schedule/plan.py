"""In: a store, an interval, active hours, the environment. Out: the job as data, and as the text that each scheduler wants.

Pure. Every path is absolute and quoted; the command needs no PATH, no HOME and no working directory.
"""

from __future__ import annotations

import hashlib
import plistlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryfs.errors import UsageError
from memoryfs.runs import SCHEDULED, Timetable

PINNED = ("MEMORYFS_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME")  # where stores and transcripts are
_HOURS = re.compile(r"(\d{1,2})\s*[-–]\s*(\d{1,2})\Z")


@dataclass(frozen=True, slots=True)
class Job:
    """What is to run and when. `name` is the same for the same store, `environ` what its run needs to find everything."""

    store: Path
    python: str
    table: Timetable
    environ: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return "memoryfs-" + hashlib.sha256(str(self.store).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    @property
    def command(self) -> tuple[str, ...]:
        return (self.python, "-P", "-m", "memoryfs", "--store", str(self.store), "--quiet", "organize")


def timetable(every_minutes: int, active_hours: str, *, offset: int = 0) -> Timetable:
    """When runs are due. `every_minutes` divides 60 or is whole hours that divide a day; `offset` moves the minute within
    the interval, so that not every machine starts at the full hour. UsageError for what cron cannot say."""
    hours = _hours(active_hours)
    if 0 < every_minutes <= 60 and 60 % every_minutes == 0:
        first = offset % every_minutes
        return Timetable(hours, tuple(range(first, 60, every_minutes)))
    if every_minutes % 60 == 0 and every_minutes > 0 and 24 % (every_minutes // 60) == 0:
        return Timetable(tuple(sorted(hours[:: every_minutes // 60])), (offset % 60,))
    raise UsageError(f"cannot run every {every_minutes} minutes",
                     remedy="Use a divisor of 60 (5, 10, 15, 20, 30, 60), or 120, 180, 240, 360, 480, 720 or 1440.")


def _hours(text: str) -> tuple[int, ...]:
    """The active hours in the order of the day's run: "22-2" is 22, 23, 0, 1."""
    if not text.strip():
        return tuple(range(24))
    match = _HOURS.fullmatch(text.strip())
    start, end = (int(match[1]), int(match[2])) if match else (-1, -1)
    if not ((0 <= start < 24 and 0 <= end <= 24 and start != end % 24) or (start, end) == (0, 24)):
        raise UsageError(f"{text!r} are no active hours", remedy="Write them as 8-20, or 22-6 over midnight.")
    return tuple(hour % 24 for hour in range(start, end if end > start else end + 24))


def job(store: Path, python: str, every_minutes: int, active_hours: str, environ: Mapping[str, str]) -> Job:
    """The job of a store. UsageError for a path that no crontab can hold."""
    pinned = tuple((name, environ[name]) for name in PINNED if environ.get(name))
    for text in (str(store), python, *(value for _, value in pinned)):
        if any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise UsageError(f"{text!r} cannot stand in a schedule", remedy="Use a folder whose name has no control characters.")
    offset = int(hashlib.sha256(str(store).encode("utf-8", "surrogatepass")).hexdigest()[:6], 16) % 60
    return Job(store, python, timetable(every_minutes, active_hours, offset=offset), pinned)


def shell_command(job: Job) -> str:
    """The job as a line for /bin/sh; it works with an empty environment."""
    variables = [f"{SCHEDULED}=1", *(f"{name}={shlex.quote(value)}" for name, value in job.environ)]
    return f"umask 077; {' '.join(variables)} {shlex.join(job.command)} >/dev/null"


def tag(job: Job) -> str:
    """What ends the job's line in a crontab, and tells it from all others."""
    return f"# {job.name}"


def cron_line(job: Job) -> str:
    """The job's line for a crontab, where % means a line end unless it is escaped."""
    table = job.table
    times = f"{_list(table.minutes, 60)} {_list(table.hours, 24)} * * *"
    return f"{times} {shell_command(job)} {tag(job)}".replace("%", "\\%")


def _list(numbers: tuple[int, ...], full: int) -> str:
    return "*" if len(numbers) == full else ",".join(map(str, sorted(numbers)))


def systemd_units(job: Job) -> dict[str, str]:
    """The user units by file name: a service that runs once and its timer, which makes up for a run slept through."""
    table = job.table
    hours = "*" if len(table.hours) == 24 else ",".join(f"{h:02d}" for h in sorted(table.hours))
    minutes = ",".join(f"{m:02d}" for m in table.minutes)
    environment = "".join(f"Environment={_unit_word(f'{n}={v}', dollar=False)}\n" for n, v in ((SCHEDULED, "1"), *job.environ))
    service = (
        f"[Unit]\nDescription=Learn from finished agent sessions ({_plain(str(job.store))})\n\n[Service]\nType=oneshot\n"
        f"UMask=0077\nNice=10\nSuccessExitStatus=4 5\n{environment}"
        f"ExecStart={' '.join(_unit_word(word) for word in job.command)}\nStandardOutput=null\n"
    )
    timer = (
        f"[Unit]\nDescription=When to learn from finished agent sessions ({_plain(str(job.store))})\n\n[Timer]\n"
        f"OnCalendar=*-*-* {hours}:{minutes}:00\nPersistent=true\nRandomizedDelaySec=30\n\n[Install]\nWantedBy=timers.target\n"
    )
    return {f"{job.name}.service": service, f"{job.name}.timer": timer}


def _plain(text: str) -> str:
    return text.replace("%", "%%").replace("\\", "\\\\")


def _unit_word(text: str, *, dollar: bool = True) -> str:
    """One word of a unit file: quoted, with its specifiers (and, in a command, its variables) escaped."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text.replace("$", "$$") if dollar else text}"'


def launchd_agent(job: Job) -> bytes:
    """The property list of a launchd agent."""
    table = job.table
    hours: tuple[int | None, ...] = (None,) if len(table.hours) == 24 else tuple(sorted(table.hours))
    times = [
        {"Minute": minute} if hour is None else {"Hour": hour, "Minute": minute}
        for hour in hours for minute in table.minutes
    ]
    return plistlib.dumps({
        "Label": job.name, "ProgramArguments": list(job.command), "StartCalendarInterval": times, "Umask": 0o077,
        "Nice": 10, "ProcessType": "Background", "StandardOutPath": "/dev/null",
        "EnvironmentVariables": {SCHEDULED: "1", **dict(job.environ)},
    })
