"""`memoryfs organize` as a person or cron runs it: output, exit codes, stores."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from organizer_kit import contents, snapshot, transcript

from memoryfs.cli import cli
from memoryfs.cli.context import Settings

TURNS = [
    ("user", "For this school app: always use pnpm, never npm. The database listens on port 5433 in CI."),
    ("assistant", "Understood. The root cause of the failing login was that `AUTH_COOKIE_DAYS` was read as text."),
    ("user", "We decided that reservations are limited to 3 days. Please remember that."),
]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["organize", *arguments], obj=Settings(), catch_exceptions=False)


def test_organize_a_path_makes_the_store_and_tells_what_was_done(tmp_path: Path) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS)
    result = run(str(path), "--store", str(tmp_path / "s"), "--no-model")
    assert result.exit_code == 0
    assert "organized 1 session" in result.stdout and "MEMORY.md" in result.stdout
    assert (tmp_path / "s" / "MEMORY.md").exists() and (tmp_path / "s" / ".gitignore").exists()
    assert list((tmp_path / "s" / "episodes").rglob("*.md"))
    before = snapshot(tmp_path / "s")
    assert run(str(path), "--store", str(tmp_path / "s"), "--no-model").exit_code == 0
    assert snapshot(tmp_path / "s") == before


def test_json_is_one_document_on_stdout_and_progress_is_not_in_it(tmp_path: Path) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS)
    result = run(str(path), "--store", str(tmp_path / "s"), "--no-model", "--json")
    data = json.loads(result.stdout)
    assert data["exit_code"] == 0 and data["generator"] == "" and len(data["sessions"]) == 1
    assert set(data["kept_by"]) <= {"rules"}
    assert "organize 1/1" in result.stderr and "\x1b" not in result.stderr


def test_quiet_says_nothing_on_stderr(tmp_path: Path) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS)
    run("--store", str(tmp_path / "s"), str(path), "--no-model")
    assert run(str(path), "--store", str(tmp_path / "s"), "--no-model", "--quiet").stderr == ""


def test_a_dry_run_tells_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS)
    result = run(str(path), "--store", str(tmp_path / "s"), "--no-model", "--dry-run")
    assert result.exit_code == 0 and "would organize 1 session" in result.stdout
    assert contents(tmp_path / "s") == {}


@pytest.mark.parametrize(("content", "code"), [
    (None, 1),  # no such file
    (b"", 5),  # empty: nothing found
    (b"\x00\x01\x02\xff" * 100, 5),  # no transcript
    (b'{"type": "user", "sessionId": "s", "mess', 5),  # torn
])
def test_bad_input_has_a_clear_line_and_a_code(tmp_path: Path, content: bytes | None, code: int) -> None:
    path = tmp_path / "a.jsonl"
    if content is not None:
        path.write_bytes(content)
    result = run(str(path), "--store", str(tmp_path / "s"), "--no-model")
    assert result.exit_code == code
    assert str(path) in result.stderr and "Traceback" not in result.stderr


def test_one_bad_file_among_good_ones_is_a_partial_success(tmp_path: Path) -> None:
    good = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", TURNS)
    result = run(str(good), str(tmp_path / "gone.jsonl"), "--store", str(tmp_path / "s"), "--no-model")
    assert result.exit_code == 7
    assert "gone.jsonl" in result.stderr and "organized 1 session" in result.stdout


def test_without_a_path_sessions_go_to_the_store_of_their_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "work" / "school"
    (project / ".memory").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    path = transcript(home / ".claude" / "projects" / "p" / "a.jsonl", "session-a", "2026-05-12", TURNS, cwd=str(project))
    elsewhere = transcript(home / ".claude" / "projects" / "q" / "b.jsonl", "session-b", "2026-05-12", TURNS, cwd="/nowhere")
    running = transcript(home / ".claude" / "projects" / "p" / "c.jsonl", "session-c", "2026-05-13", TURNS, cwd=str(project))
    for old in (path, elsewhere):
        os.utime(old, (1_700_000_000, 1_700_000_000))
    result = run("--no-model")
    assert result.exit_code == 0
    assert "organized 1 session" in result.stdout
    assert "still running" in result.stderr and "no store" in result.stderr
    assert list((project / ".memory" / "threads").rglob("*.jsonl"))
    assert running.exists()
    assert "organized 0 sessions, 1 unchanged" in run("--no-model").stdout


def test_hook_09_nothing_to_do_anywhere_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    from memoryfs.errors import NoStoreError

    with pytest.raises(NoStoreError, match="No memory store"):
        run("--no-model")


def test_a_wrong_option_is_a_usage_error() -> None:
    assert run("--budget-seconds", "-3").exit_code == 2
