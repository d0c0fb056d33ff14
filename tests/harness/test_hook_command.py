"""The hook as a harness runs it: a process with a stdin that may misbehave."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time

import pytest
from harness_kit import context, hook_command, run_hook

LIMIT = 1.0  # seconds that the hook itself may take (its log), whatever stdin does; starting Python comes on top
HEAVY = ("numpy", "markdown_it", "llama_cpp", "yaml", "rich", "rapidfuzz", "asyncio", "mcp", "detect_secrets", "zstandard")


@pytest.fixture
def patient(store):
    """The store with a deadline that a loaded machine keeps, for tests of what is said rather than when."""
    (store / "memoryfs.toml").write_text("[hooks]\ndeadline_ms = 10000\n")
    return store


def logged(store) -> dict:
    return json.loads((store / ".memoryfs" / "hooks.log").read_bytes().splitlines()[-1])


def timed(stdin, store, *, send: bytes = b"", event: str = "session-start", limit: float = LIMIT) -> bytes:
    """stdout of a hook in the project's folder, with this stdin; asserts exit 0 and the limit."""
    process = subprocess.Popen(
        hook_command(event), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=store.parent,
    )
    try:
        if send and process.stdin:
            process.stdin.write(send)
            process.stdin.flush()
        assert process.stdout is not None and process.stderr is not None
        out = process.stdout.read()
        assert process.wait(10) == 0, process.stderr.read()
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
    assert logged(store)["ms"] <= limit * 1000
    return out


def test_hook_02_silent_open_pipe(store):
    assert "pnpm" in context(timed(subprocess.PIPE, store))


def test_hook_02_half_a_json(store):
    assert "pnpm" in context(timed(subprocess.PIPE, store, send=b'{"session_id": "s", "cwd": "/'))


def test_hook_02_whole_json_on_a_pipe_that_stays_open(patient):
    store = patient
    data = json.dumps({"session_id": "s", "cwd": str(store.parent), "prompt": "session cookie days?"}).encode()
    assert "14 days" in context(timed(subprocess.PIPE, store, send=data, event="user-prompt-submit", limit=9))


def test_hook_02_dev_null(store):
    assert "pnpm" in context(timed(subprocess.DEVNULL, store))


def test_hook_02_terminal(store):
    master, slave = pty.openpty()
    try:
        assert "pnpm" in context(timed(slave, store))
    finally:
        os.close(master)
        os.close(slave)


def test_hook_02_closed_descriptors(store):
    script = f'exec <&-; exec "{sys.executable}" -m memoryfs hook session-start'
    done = subprocess.run(["sh", "-c", script], capture_output=True, cwd=store.parent, timeout=20)
    assert done.returncode == 0 and "pnpm" in context(done.stdout)
    done = subprocess.run(["sh", "-c", script + " >&-"], capture_output=True, cwd=store.parent, timeout=20)
    assert done.returncode == 0


def test_hook_02_five_megabytes(store):
    data = {"cwd": str(store.parent), "session_id": "s", "prompt": "session cookie days? " + "x y z " * 900_000}
    code, out, _ = run_hook("UserPromptSubmit", data)
    assert code == 0 and len(out) <= 9_500 and logged(store)["ms"] <= LIMIT * 1000


@pytest.mark.parametrize("encoding", ["cp932", "cp1252", "ascii"])
def test_hook_04_utf_8_whatever_the_locale(patient, encoding):
    store = patient
    folder = store.parent / "表あ🚀"
    folder.mkdir()
    data = {"cwd": str(folder), "session_id": encoding, "prompt": 'session cookie days ん" 、" 🚀'}
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, "LC_ALL": "C"}
    code, out, _ = run_hook("UserPromptSubmit", data, env=env)
    _, expected, _ = run_hook("UserPromptSubmit", {**data, "session_id": "utf-8"}, env={"PYTHONUTF8": "1"})
    assert code == 0 and out == expected and "14 days" in context(out)


def test_hook_03_no_heavy_import_on_the_unchanged_path(patient):
    store = patient
    script = (
        "import sys\nfrom memoryfs.cli import main\ntry:\n    main(['hook', sys.argv[1]])\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    data = {"cwd": str(store.parent), "session_id": "s", "prompt": "session cookie days?"}
    time.sleep(2.1)  # files younger than that are looked at again: they could change within the clock's grain
    for event in ("session-start", "user-prompt-submit"):
        run_hook(event, data)
        done = subprocess.run(
            [sys.executable, "-c", script, event], input=json.dumps({**data, "session_id": "t"}).encode(), capture_output=True, timeout=20,
        )
        assert done.stderr.decode().strip() == "[]", event
        assert done.stdout


def test_hook_03_locked_index_still_answers(patient):
    store = patient
    import apsw

    data = {"cwd": str(store.parent), "session_id": "s", "prompt": "session cookie days?"}
    run_hook("user-prompt-submit", data)
    (store / "projects" / "new.md").write_text("# New\n\n## Facts\n- A new fact.\n")
    other = apsw.Connection(str(store / ".memoryfs" / "index.db"))
    other.execute("BEGIN EXCLUSIVE")
    try:
        code, out, _ = run_hook("user-prompt-submit", {**data, "session_id": "t"})
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert code == 0 and "14 days" in context(out) and logged(store)["ms"] <= 5000


def test_hook_03_too_late_gives_the_last_good_briefing(store):
    (store / "memoryfs.toml").write_text("[hooks]\ndeadline_ms = 1\n")
    code, out, _ = run_hook("session-start", {"cwd": str(store.parent)})
    assert code == 0 and logged(store)["result"] in ("late", "ok")
    if out:
        assert context(out).startswith("<memoryfs-briefing")


def test_hook_fails_open_on_a_broken_store(patient):
    store = patient
    (store / "memoryfs.toml").write_text("[hooks]\ndeadline_ms = 10000\nnonsense = 1\n")
    (store / ".memoryfs" / "index.db").write_bytes(b"garbage" * 1000)
    (store / "projects" / "bad.md").write_bytes(b"---\na: [\n---\n\xff\xfe\n")
    assert run_hook("session-start", {"cwd": str(store.parent)})[0] == 0
    code, out, _ = run_hook("user-prompt-submit", {"cwd": str(store.parent), "prompt": "session cookie days?"})
    assert code == 0 and "14 days" in context(out)


def test_org_02_inside_our_own_run_nothing_happens(store, tmp_path):
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n")
    data = {"cwd": str(store.parent), "transcript_path": str(transcript), "prompt": "session cookie days?"}
    for event in ("session-start", "user-prompt-submit", "session-end"):
        assert run_hook(event, data, env={"MEMORYFS_RUN": "1"}) == (0, b"", b"")
    assert not (store / ".memoryfs" / "hooks.log").exists() and not (store / ".memoryfs" / "queue").exists()


@pytest.mark.parametrize("arguments", [[], ["NoSuchEvent"], ["session-start", "--what", "x"]])
def test_a_wrong_call_never_vetoes(store, arguments):
    done = subprocess.run(hook_command(*arguments), input=b"{}", capture_output=True, cwd=store.parent, timeout=20)
    assert done.returncode == 0


def test_hook_09_minimal_environment(store):
    data = json.dumps({"cwd": str(store.parent)}).encode()
    done = subprocess.run(hook_command("session-start"), input=data, capture_output=True, env={}, cwd="/", timeout=20)
    assert done.returncode == 0 and "pnpm" in context(done.stdout)


def test_session_end_starts_a_detached_run_with_our_mark(store, tmp_path):
    (store / "memoryfs.toml").write_text("[hooks]\norganize = false\n")
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n")
    code, out, _ = run_hook("SessionEnd", {"cwd": str(store.parent), "transcript_path": str(transcript)})
    assert (code, out) == (0, b"") and list((store / ".memoryfs" / "queue").glob("*.json"))


def test_what_was_too_late_is_caught_up_with(store, monkeypatch):
    from datetime import datetime

    from memoryfs.harness import hooks, runner

    started = []
    monkeypatch.setattr(runner, "_start", lambda root, environ, command: started.append(command))
    monkeypatch.setattr(runner, "read_object", lambda fd, **_: {"cwd": str(store.parent)})
    monkeypatch.setattr(runner.os, "_exit", lambda code: started.append(code))
    written = []
    monkeypatch.setattr(runner, "_write", written.append)

    def slow(call, environ, *, now: datetime, progress: hooks.Progress, store):
        progress.root = store
        progress.last_good = "# Memory\n- Use pnpm, not npm.\n"
        time.sleep(2)
        return "too late"

    monkeypatch.setattr(hooks, "answer", slow)
    begun = time.monotonic()
    for event in ("session-start", "session-start"):
        runner.run(event, {}, store=store)
    assert time.monotonic() - begun < 3
    assert started == ["brief", 0, 0]  # once a minute at most
    assert len(written) == 2 and "Use pnpm" in context(written[0]) and "too late" not in context(written[0])
    assert logged(store)["result"] == "late"


def test_log_is_bounded(store):
    from memoryfs.harness.runner import LOG_BYTES

    log = store / ".memoryfs" / "hooks.log"
    log.write_bytes(b"x" * (LOG_BYTES + 1))
    run_hook("stop", {"cwd": str(store.parent)})
    assert log.stat().st_size < 1000 and (store / ".memoryfs" / "hooks.log.1").exists()


def test_stdin_that_drips_is_given_up(tmp_path):
    from memoryfs.harness.stdin import read_bytes, read_object

    read, write = os.pipe()
    os.write(write, b'{"a": {"b": 1}')
    begun = time.monotonic()
    assert read_object(read, silence=0.1, total=0.3) == {}
    assert time.monotonic() - begun < 1
    os.write(write, b'{"a": {"b": 1}}')
    assert read_object(read, silence=5, total=5) == {"a": {"b": 1}}
    os.close(write)
    assert read_bytes(read, silence=5, total=5) == b""
    os.close(read)
    assert read_bytes(read, silence=5, total=5) == b""
