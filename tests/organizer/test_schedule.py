"""`memoryfs schedule`, with stand-ins for crontab, systemctl and launchctl on PATH."""

from __future__ import annotations

import json
import os
import plistlib
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from organizer_kit import transcript

from memoryfs import MemoryStore, runs
from memoryfs.cli import cli
from memoryfs.cli.context import Settings
from memoryfs.errors import UsageError
from organizer.schedule import plan
from organizer.schedule.install import Launchd, ScheduleError, Systemd

CRONTAB = """#!/bin/sh
# a crontab of one user: its text is the file $FAKE_CRONTAB, which need not exist
case "$1" in
-l) if [ -n "$FAKE_REFUSES" ]; then echo "you are not allowed to use this program" >&2; exit 1; fi
    if [ -e "$FAKE_CRONTAB" ]; then cat "$FAKE_CRONTAB"; else echo "no crontab for me" >&2; exit 1; fi ;;
-r) rm -f "$FAKE_CRONTAB" ;;
-) cat >"$FAKE_CRONTAB"; echo write >>"$FAKE_CRONTAB.log" ;;
esac
"""
NOTING = '#!/bin/sh\necho "$@" >>"$FAKE_LOG"\nexit 0\n'
OTHERS = b"# mine\nMAILTO=me@example.org\n\n5 4 * * 1 /usr/bin/backup --all \\% # memoryfs is not this\n*/5 * * * * /opt/caf\xe9\n"


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that stands for the user's crontab."""
    program(tmp_path / "bin", "crontab", CRONTAB)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_CRONTAB", str(tmp_path / "crontab.txt"))
    for name in plan.PINNED:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "crontab.txt"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return MemoryStore.init(tmp_path / "it's 100% my store").root


def schedule(root: Path, *arguments: str) -> Any:
    result = CliRunner().invoke(cli, ["--store", str(root), "schedule", *arguments], obj=Settings())
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_install_adds_one_line_and_remove_gives_the_crontab_back(crontab: Path, root: Path) -> None:
    crontab.write_bytes(OTHERS)
    assert schedule(root, "install", "--every", "30", "--active", "8-20").exit_code == 0
    lines = crontab.read_bytes().split(b"\n")
    assert crontab.read_bytes().startswith(OTHERS) and len(lines) == OTHERS.count(b"\n") + 2
    minutes, hours, *rest = lines[-2].split(b" ")
    assert len(minutes.split(b",")) == 2 and hours == b"8,9,10,11,12,13,14,15,16,17,18,19" and rest[:3] == [b"*"] * 3
    assert schedule(root, "remove").exit_code == 0
    assert crontab.read_bytes() == OTHERS
    assert runs.timetable(root) is None


def test_a_crontab_that_was_not_there_is_not_there_afterwards(crontab: Path, root: Path) -> None:
    schedule(root, "install")
    assert crontab.exists()
    schedule(root, "remove")
    assert not crontab.exists()


def test_installing_again_writes_nothing_and_a_new_interval_replaces_the_line(crontab: Path, root: Path) -> None:
    crontab.write_bytes(OTHERS)
    schedule(root, "install")
    once, log = crontab.read_bytes(), crontab.with_name("crontab.txt.log").read_text()
    since = runs.timetable(root)
    assert "already" in schedule(root, "install").stderr
    assert crontab.read_bytes() == once and crontab.with_name("crontab.txt.log").read_text() == log
    assert runs.timetable(root) == since
    schedule(root, "install", "--every", "15")
    assert crontab.read_bytes().count(b"\n") == once.count(b"\n") and crontab.read_bytes() != once


def test_two_stores_have_two_lines(crontab: Path, root: Path, tmp_path: Path) -> None:
    other = MemoryStore.init(tmp_path / "other").root
    schedule(root, "install")
    schedule(other, "install")
    assert crontab.read_text().count("\n") == 2
    schedule(root, "remove")
    assert str(other) in crontab.read_text() and crontab.read_text().count("\n") == 1


def test_a_line_that_the_person_commented_out_stays(crontab: Path, root: Path) -> None:
    schedule(root, "install")
    crontab.write_text("#" + crontab.read_text())
    assert schedule(root, "status").exit_code == 5
    schedule(root, "remove")
    assert crontab.read_text().startswith("#")


def test_a_dry_run_shows_the_line_and_changes_nothing(crontab: Path, root: Path) -> None:
    crontab.write_bytes(OTHERS)
    shown = schedule(root, "install", "--dry-run").stdout
    assert "-m memoryfs" in shown and "umask 077" in shown
    schedule(root, "install")
    assert shown.encode() in crontab.read_bytes()
    before = crontab.read_bytes()
    assert schedule(root, "remove", "--dry-run").stdout == shown
    assert crontab.read_bytes() == before


def test_a_crontab_that_cannot_be_read_is_not_taken_for_an_empty_one(
    crontab: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crontab.write_bytes(OTHERS)
    monkeypatch.setenv("FAKE_REFUSES", "1")
    with pytest.raises(ScheduleError, match="not allowed"):
        schedule(root, "install")
    assert crontab.read_bytes() == OTHERS


def test_hook_09_the_line_runs_with_an_empty_environment_and_tells_doctor(
    crontab: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = tmp_path / "claude's folder"
    path = transcript(claude / "projects" / "p" / "a.jsonl", "session-a", "2026-05-12",
                      [("user", "Always use pnpm, never npm. We decided that the server listens on port 7443.")],
                      cwd=str(tmp_path))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("MEMORYFS_HOME", str(root))
    schedule(root, "install")
    line = crontab.read_text().rstrip("\n").split(" ", 5)[5].replace("\\%", "%")
    done = subprocess.run(["/usr/bin/env", "-i", "/bin/sh", "-c", line], cwd="/", capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    last = runs.last(root)
    assert last is not None and last.exit_code == 0 and last.scheduled == last.time
    threads = list((root / "threads").rglob("*.jsonl"))
    assert threads and threads[0].stat().st_mode & 0o077 == 0
    status = schedule(root, "status").stdout
    assert "scheduled with cron" in status and last.time in status and "next run" in status


def test_hook_09_a_store_that_is_gone_is_one_clear_line_and_a_failure(crontab: Path, root: Path) -> None:
    schedule(root, "install")
    line = crontab.read_text().rstrip("\n").split(" ", 5)[5].replace("\\%", "%")
    root.rename(root.with_name("moved"))
    done = subprocess.run(["/usr/bin/env", "-i", "/bin/sh", "-c", line], cwd="/", capture_output=True, timeout=60, check=False)
    assert done.returncode != 0 and b"Traceback" not in done.stderr and root.name.encode() in done.stderr
    assert not root.exists()


def test_status_as_json(crontab: Path, root: Path) -> None:
    schedule(root, "install")
    data = json.loads(schedule(root, "status", "--json").stdout)
    assert data["installed"] == ["cron"] and data["missed"] == 0 and data["last"] is None and data["next"]


@pytest.mark.parametrize(("every", "active"), [
    ("7", ""), ("90", ""), ("60", "8"), ("60", "8-8"), ("60", "25-30"), ("60", "a-b"), ("2000", ""),
])
def test_what_cron_cannot_say_is_refused(crontab: Path, root: Path, every: str, active: str) -> None:
    with pytest.raises(UsageError):
        schedule(root, "install", "--every", every, "--active", active)
    assert not crontab.exists()


def test_times() -> None:
    assert plan.timetable(60, "22-2").hours == (22, 23, 0, 1)
    assert plan.timetable(120, "8-20").hours == (8, 10, 12, 14, 16, 18)
    assert plan.timetable(1440, "3-4", offset=75) == runs.Timetable((3,), (15,))
    assert plan.timetable(20, "", offset=45) == runs.Timetable(tuple(range(24)), (5, 25, 45))
    assert plan.timetable(60, "0-24").hours == tuple(range(24))
    zone = timezone(timedelta(hours=9))
    table = runs.Timetable((9, 21), (30,))
    now = datetime(2026, 3, 8, 21, 30, tzinfo=zone)
    assert table.missed(now - timedelta(days=1), now) == 2
    assert table.missed(datetime(2026, 3, 8, 0, 29, tzinfo=UTC), now) == 2
    assert table.missed(now, now) == 0
    assert table.next_after(now) == now + timedelta(hours=12)


def test_a_systemd_timer_is_installed_and_removed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("FAKE_LOG", str(log))
    timer = Systemd(str(program(tmp_path / "bin", "systemctl", NOTING)), tmp_path / "config" / "systemd" / "user")
    job = plan.job(Path('/a b/50% "$x"'), "/usr/bin/python3", 30, "8-10", {"CODEX_HOME": "/c d"})
    timer.install(job)
    service, unit = (p.read_text() for p in sorted(timer.folder.iterdir()))
    assert r'"/a b/50%% \"$$x\""' in service and "UMask=0077" in service and 'Environment="CODEX_HOME=/c d"' in service
    assert "Persistent=true" in unit and "OnCalendar=*-*-* 08,09:" in unit
    assert timer.installed(job) == timer.text(job)
    timer.remove(job)
    assert not list(timer.folder.iterdir()) and not timer.installed(job)
    assert log.read_text().splitlines() == [
        "--user daemon-reload", f"--user enable --now {job.name}.timer",
        f"--user disable --now {job.name}.timer", "--user daemon-reload",
    ]


def test_systemd_reads_its_units_as_meant(tmp_path: Path) -> None:
    import shutil

    analyse = shutil.which("systemd-analyze")
    if not analyse:
        pytest.skip("no systemd-analyze here")
    job = plan.job(Path("/a b/50%"), "/usr/bin/env", 30, "8-10", {})
    line = next(x for x in plan.systemd_units(job)[f"{job.name}.timer"].splitlines() if x.startswith("OnCalendar="))
    done = subprocess.run([analyse, "calendar", line.partition("=")[2]], capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr


def test_a_launchd_agent_is_installed_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    agent = Launchd(str(program(tmp_path / "bin", "launchctl", NOTING)), tmp_path / "LaunchAgents")
    job = plan.job(Path("/a & b"), "/usr/bin/python3", 30, "8-9", {})
    agent.install(job)
    data = plistlib.loads(next(agent.folder.iterdir()).read_bytes())
    assert data["ProgramArguments"] == list(job.command) and data["Umask"] == 0o077
    assert data["StartCalendarInterval"] == [{"Hour": 8, "Minute": m} for m in job.table.minutes]
    agent.remove(job)
    assert not list(agent.folder.iterdir())
    assert [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()] == ["bootstrap", "bootout"]
