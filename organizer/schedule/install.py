"""In: a Job and the programs of this machine. Out: the job installed, found or removed; nobody else's line is touched.

Three schedulers with the same three verbs. A crontab that cannot be read is never taken for an empty one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memoryfs.errors import MemoryfsError
from memoryfs.textfile import write_atomic
from organizer.schedule.plan import Job, cron_line, launchd_agent, systemd_units, tag

_SECONDS = 20  # that a scheduler's own program may take


class ScheduleError(MemoryfsError):
    """{0}"""

    remedy = "Put the line that `memoryfs schedule install --dry-run` prints into the scheduler of your choice."


class Scheduler(Protocol):
    """`text` is what `install` writes; `installed` is what stands there of the same job, "" for nothing."""

    name: str

    def text(self, job: Job) -> str: ...
    def installed(self, job: Job) -> str: ...
    def install(self, job: Job) -> None: ...
    def remove(self, job: Job) -> None: ...


def schedulers(environ: Mapping[str, str], platform: str = sys.platform) -> dict[str, Scheduler]:
    """Those that this machine has, the usual one first."""
    found: dict[str, Scheduler] = {}
    config = _config_home(environ)
    launchctl, crontab, systemctl = (shutil.which(n, path=environ.get("PATH")) for n in ("launchctl", "crontab", "systemctl"))
    if platform == "darwin" and launchctl and environ.get("HOME"):
        found["launchd"] = Launchd(launchctl, Path(environ["HOME"]) / "Library" / "LaunchAgents")
    if crontab:
        found["cron"] = Cron(crontab)
    if systemctl and config and _run([systemctl, "--user", "show-environment"]).returncode == 0:
        found["systemd"] = Systemd(systemctl, config / "systemd" / "user")
    return found


def choose(found: Mapping[str, Scheduler], name: str | None) -> Scheduler:
    """The named one, or the usual one of this machine. ScheduleError if it is not there."""
    if name is None and found:
        return next(iter(found.values()))
    if name is None or name not in found:
        raise ScheduleError(f"{name or 'a scheduler'} is not available here" if name else
                            "this machine has neither cron, nor systemd user timers, nor launchd")
    return found[name]


def _config_home(environ: Mapping[str, str]) -> Path | None:
    if environ.get("XDG_CONFIG_HOME"):
        return Path(environ["XDG_CONFIG_HOME"])
    return Path(environ["HOME"]) / ".config" if environ.get("HOME") else None


def _run(command: list[str], data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Runs a scheduler's program, its messages in English. ScheduleError if it hangs or cannot be started."""
    try:
        return subprocess.run(command, input=data if data is not None else b"", capture_output=True, timeout=_SECONDS,
                              check=False, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ScheduleError(f"{command[0]} does not answer: {error}") from error


def _must(command: list[str], data: bytes | None = None) -> None:
    done = _run(command, data)
    if done.returncode:
        raise ScheduleError(f"`{' '.join(command[:3])}` failed: {_said(done)}")


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stderr or done.stdout).decode("utf-8", "replace").strip() or f"exit code {done.returncode}"


@dataclass(frozen=True, slots=True)
class Cron:
    """The user's crontab: one line a store, told by the tag at its end."""

    program: str
    name: str = "cron"

    def text(self, job: Job) -> str:
        return cron_line(job) + "\n"

    def installed(self, job: Job) -> str:
        return "".join(f"{_text(line)}\n" for line in self._read().split(b"\n") if _is_of(line, job))

    def install(self, job: Job) -> None:
        self._write(job, _bytes(cron_line(job)))

    def remove(self, job: Job) -> None:
        self._write(job, None)

    def _write(self, job: Job, new: bytes | None) -> None:
        """The job's line replaced in its place, added at the end, or taken out; all other bytes as they are."""
        old = self._read()
        lines = old.split(b"\n")
        at = [i for i, line in enumerate(lines) if _is_of(line, job)]
        kept = [line for i, line in enumerate(lines) if i not in at]
        if new is not None:
            kept.insert(at[0] if at else len(kept) - 1 if not lines[-1] else len(kept), new)
            if kept[-1]:
                kept.append(b"")
        data = b"\n".join(kept)
        if data == old:
            return
        if data.strip():
            _must([self.program, "-"], data)
        else:
            _must([self.program, "-r"])

    def _read(self) -> bytes:
        done = _run([self.program, "-l"])
        if done.returncode == 0:
            return done.stdout
        said = _said(done)
        if "no crontab" in said.lower() or "no such file" in said.lower():
            return b""
        raise ScheduleError(f"the crontab cannot be read: {said}")


def _is_of(line: bytes, job: Job) -> bool:
    return line.rstrip().endswith(b" " + tag(job).encode()) and not line.lstrip().startswith(b"#")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Systemd:
    """A timer of the user's systemd. It runs while the user is logged in, or always after `loginctl enable-linger`."""

    program: str
    folder: Path
    name: str = "systemd"

    def text(self, job: Job) -> str:
        return "".join(f"# {self.folder / name}\n{text}\n" for name, text in systemd_units(job).items())

    def installed(self, job: Job) -> str:
        paths = [self.folder / name for name in systemd_units(job)]
        if not all(p.is_file() for p in paths):
            return ""
        return "".join(f"# {p}\n{_text(p.read_bytes())}\n" for p in paths)

    def install(self, job: Job) -> None:
        for name, text in systemd_units(job).items():
            write_atomic(self.folder / name, _bytes(text))
        _must([self.program, "--user", "daemon-reload"])
        _must([self.program, "--user", "enable", "--now", f"{job.name}.timer"])

    def remove(self, job: Job) -> None:
        if not self.installed(job):
            return
        _must([self.program, "--user", "disable", "--now", f"{job.name}.timer"])
        for name in systemd_units(job):
            (self.folder / name).unlink(missing_ok=True)
        _must([self.program, "--user", "daemon-reload"])


@dataclass(frozen=True, slots=True)
class Launchd:
    """An agent of the user's launchd."""

    program: str
    folder: Path
    name: str = "launchd"

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.name}.plist"

    def text(self, job: Job) -> str:
        return launchd_agent(job).decode()

    def installed(self, job: Job) -> str:
        return self._path(job).read_text(encoding="utf-8") if self._path(job).is_file() else ""

    def install(self, job: Job) -> None:
        if self.installed(job):
            _run([self.program, "bootout", self._domain(), str(self._path(job))])
        write_atomic(self._path(job), launchd_agent(job))
        _must([self.program, "bootstrap", self._domain(), str(self._path(job))])

    def remove(self, job: Job) -> None:
        if self.installed(job):
            _run([self.program, "bootout", self._domain(), str(self._path(job))])
            self._path(job).unlink()

    def _domain(self) -> str:
        return f"gui/{os.getuid()}"
