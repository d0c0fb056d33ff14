"""Scanning: the sessions that this machine's harnesses have finished, each with the store it belongs to."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import transcript

from memoryfs.model import Problem
from organizer import opencode
from organizer.intake import take_in
from organizer.scan import scan, working_directory

OLD = 1_700_000_000.0
LATER = OLD + 7200


def aged(path: Path, when: float = OLD) -> Path:
    os.utime(path, (when, when))
    return path


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, Path]:
    """A home folder with two projects, one of which has a store."""
    home, project, other = tmp_path / "home", tmp_path / "work" / "school", tmp_path / "work" / "shop"
    (project / ".memory").mkdir(parents=True)
    other.mkdir(parents=True)
    home.mkdir()
    return {"home": home, "project": project, "other": other}


def environ(machine: dict[str, Path]) -> dict[str, str]:
    return {"HOME": str(machine["home"])}


def claude(machine: dict[str, Path], name: str, cwd: Path) -> Path:
    path = machine["home"] / ".claude" / "projects" / "p" / f"{name}.jsonl"
    return aged(transcript(path, name, "2026-05-12", [("user", "Hello there")], cwd=str(cwd)))


def codex(machine: dict[str, Path], name: str, cwd: Path) -> Path:
    path = machine["home"] / ".codex" / "sessions" / "2026" / "05" / "12" / f"rollout-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = {"timestamp": "2026-05-12T09:00:00Z", "type": "session_meta", "payload": {"id": name, "cwd": str(cwd)}}
    path.write_text(json.dumps(meta) + "\n")
    return aged(path)


def test_sessions_of_every_harness_go_to_the_store_of_their_directory(machine: dict[str, Path]) -> None:
    a = claude(machine, "a", machine["project"] / "src")
    b = codex(machine, "b", machine["project"])
    c = claude(machine, "c", machine["other"])
    found = scan(environ(machine), now=LATER, idle_minutes=30)
    assert {(s.path, s.harness) for s in found.sessions} == {(a, "claude-code"), (b, "codex")}
    assert {s.store for s in found.sessions} == {machine["project"] / ".memory"}
    assert [s.path for s in found.homeless] == [c]


def test_a_session_that_still_runs_waits(machine: dict[str, Path]) -> None:
    aged(claude(machine, "a", machine["project"]), LATER - 60)
    found = scan(environ(machine), now=LATER, idle_minutes=30)
    assert (found.sessions, found.running) == ((), 1)


def test_a_named_store_gets_only_its_own(machine: dict[str, Path]) -> None:
    claude(machine, "a", machine["project"])
    (machine["other"] / ".memory").mkdir()
    mine = claude(machine, "c", machine["other"])
    found = scan(environ(machine), now=LATER, idle_minutes=30, store=machine["other"] / ".memory")
    assert [s.path for s in found.sessions] == [mine]


def test_the_users_own_store_takes_what_no_other_does(machine: dict[str, Path]) -> None:
    (machine["home"] / ".memory").mkdir()
    claude(machine, "c", machine["other"])
    own = {**environ(machine), "MEMORYFS_HOME": str(machine["home"] / ".memory")}
    assert [s.store for s in scan(own, now=LATER, idle_minutes=30).sessions] == [machine["home"] / ".memory"]


def test_hook_09_no_home_and_no_harness_is_simply_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scan({"HOME": str(tmp_path)}, now=LATER, idle_minutes=30).sessions == ()

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert scan({}, now=LATER, idle_minutes=30).sessions == ()


def test_configured_folders_are_used(machine: dict[str, Path], tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    aged(transcript(moved / "projects" / "x" / "a.jsonl", "a", "2026-05-12", [("user", "Hi")], cwd=str(machine["project"])))
    found = scan({**environ(machine), "CLAUDE_CONFIG_DIR": str(moved)}, now=LATER, idle_minutes=30)
    assert len(found.sessions) == 1


@pytest.mark.parametrize("line", [
    b"", b"not json\n", b'{"cwd": 3}\n', b'{"cwd": "relative"}\n', b'[1, 2]\n', b'{"payload": []}\n', b"\xff\xfe\x00\n",
    b'{"cwd": "/a\\u0000b"}\n',
])
def test_a_directory_that_is_not_told_is_none(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line)
    assert working_directory(path) is None


def _records(session: str, directory: str) -> tuple[dict[str, Any], list[tuple[dict[str, Any], list[dict[str, Any]]]]]:
    info = {"id": session, "directory": directory, "title": "Cookie rule", "version": "1.0", "time": {"created": 1, "updated": 2}}
    turns = []
    for number, (role, text) in enumerate((("user", "Cookies live 7 days."), ("assistant", "Noted. token ghp_" + "a1B2" * 9))):
        message = {"id": f"msg_{number}", "sessionID": session, "role": role, "time": {"created": 1_700_000_000_000 + number}}
        part = {"id": f"prt_{number}", "sessionID": session, "messageID": message["id"], "type": "text", "text": text}
        turns.append((message, [part]))
    return info, turns


def _as_files(base: Path, session: str, directory: str) -> None:
    info, turns = _records(session, directory)
    storage = base / "storage"
    (storage / "session" / "proj").mkdir(parents=True)
    (storage / "session" / "proj" / f"{session}.json").write_text(json.dumps(info))
    for message, parts in turns:
        place = storage / "message" / session / f"{message['id']}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(message))
        for part in parts:
            at = storage / "part" / message["id"] / f"{part['id']}.json"
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(json.dumps(part))


def _as_database(base: Path, session: str, directory: str) -> None:
    info, turns = _records(session, directory)
    base.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(base / "opencode.db")) as db, db:
        db.execute("CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created, time_updated)")
        db.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created, data TEXT)")
        db.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        db.execute("INSERT INTO session VALUES (?, NULL, ?, ?, ?, 1, 1700000000000)", (session, directory, info["title"], info["version"]))
        for message, parts in turns:
            data = {k: v for k, v in message.items() if k not in ("id", "sessionID")}
            db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (message["id"], session, message["time"]["created"], json.dumps(data)))
            for part in parts:
                kept = {k: v for k, v in part.items() if k in ("type", "text")}
                db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (part["id"], message["id"], session, json.dumps(kept)))


@pytest.mark.parametrize("write", [_as_files, _as_database], ids=["files", "database"])
def test_opencode_sessions_are_exported_redacted_and_imported_once(
    machine: dict[str, Path], write: Any, tmp_path: Path
) -> None:
    base = machine["home"] / ".local" / "share" / "opencode"
    write(base, "ses_1", str(machine["project"]))
    found = scan(environ(machine), now=9e9, idle_minutes=30)
    assert [s.harness for s in found.sessions] == ["opencode"] and found.problems == ()
    stored = [s.stored for s in found.sessions if s.stored]
    root = machine["project"] / ".memory"
    taken = take_in(root, [], stored, progress=lambda *_: None)
    assert (taken.added, taken.problems) == (2, ())
    assert "ghp_a1B2" not in "".join(p.read_text() for p in root.rglob("*.json*"))
    again = take_in(root, [], stored, progress=lambda *_: None)
    assert again.added == 0


def test_both_stores_of_opencode_give_the_same_export(tmp_path: Path) -> None:
    exports = []
    for name, write in (("files", _as_files), ("database", _as_database)):
        write(tmp_path / name, "ses_1", "/src/school")
        problems: list[Problem] = []
        (session,) = opencode.sessions(tmp_path / name, problems)
        data = json.loads(opencode.export(session))
        exports.append([(m["info"]["id"], m["info"]["role"], [p["text"] for p in m["parts"]]) for m in data["messages"]])
    assert exports[0] == exports[1] and len(exports[0]) == 2


def test_a_damaged_opencode_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "opencode.db").write_bytes(b"no database at all, but long enough to be read as one" * 50)
    problems: list[Problem] = []
    assert list(opencode.sessions(tmp_path, problems)) == []
    assert len(problems) == 1 and "opencode export" in problems[0].remedy


@pytest.mark.parametrize("cwd", ["/" + "a" * 5000, "/a" * 3000, "/a\0b"], ids=["long name", "long path", "NUL"])
def test_a_folder_that_cannot_be_hides_no_other_session(machine: dict[str, Path], cwd: str) -> None:
    claude(machine, "odd", Path(cwd))
    codex(machine, "odd", Path(cwd))
    stored = machine["home"] / ".local" / "share" / "opencode" / "storage" / "session" / "p"
    stored.mkdir(parents=True)
    for name, folder in (("one", cwd), ("two", 5)):
        (stored / f"{name}.json").write_text(json.dumps({"id": name, "directory": folder}))
        aged(stored / f"{name}.json")
    a = claude(machine, "a", machine["project"])
    found = scan(environ(machine), now=LATER, idle_minutes=30)
    assert [s.path for s in found.sessions] == [a] and len(found.homeless) == 4 and not found.problems
