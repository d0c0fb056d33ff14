"""In: the event named on the command line, stdin, stdout. Out: the host's JSON within the deadline; always exit 0.

The work is done in a thread. When it is late or fails, the session gets the last good MEMORY.md (at a start) or nothing,
and the store's `.memoryfs/hooks.log` says why. Inside our own runs (MEMORYFS_RUN) a hook does nothing at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memoryfs.harness import call as calls
from memoryfs.harness import fence, hooks
from memoryfs.harness.call import Call
from memoryfs.harness.stdin import read_object
from memoryfs.patterns import lazy

OWN_RUN = "MEMORYFS_RUN"
LOG = ".memoryfs/hooks.log"
LOG_BYTES = 128 << 10
CATCH_UP = ".memoryfs/hooks/catch-up"
CATCH_UP_SECONDS = 60.0
DEADLINE_SECONDS = 0.8  # until the store's own setting is known
_HARMLESS = lazy(r"[\w-]{0,12}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
SILENCE_SECONDS, STDIN_SECONDS = 0.35, 0.6  # a host that says nothing for so long, or is not done by then, says nothing


def run(name: str, environ: Mapping[str, str], *, store: Path | None = None) -> None:
    """Answer one event of a harness over stdin and stdout. Ends the process where work is still going on."""
    if environ.get(OWN_RUN):
        return
    begun = time.monotonic()
    event = calls.event_name(name)
    if event is None:
        return
    call = calls.read_call(event, read_object(0, silence=SILENCE_SECONDS, total=STDIN_SECONDS), environ)
    progress = hooks.Progress()
    result: list[str] = []
    trouble: list[str] = []

    def work() -> None:
        try:
            result.append(hooks.answer(call, environ, now=datetime.now().astimezone(), progress=progress, store=store))
        except BaseException as error:  # a hook must not fail: the log has the reason
            trouble.append(f"{type(error).__name__}: {error}")

    worker = threading.Thread(target=work, daemon=True, name="memoryfs-hook")
    worker.start()
    while worker.is_alive():
        deadline = min(progress.config.hooks.deadline_ms / 1000, 10.0) if progress.root else DEADLINE_SECONDS
        left = begun + deadline - time.monotonic()
        if left <= 0:
            break
        worker.join(min(left, 0.05))
    late = worker.is_alive()
    text = result[0] if result else _fallback(call, progress)
    data = rendered(call, text)
    _write(data)
    why = "late" if late else trouble[0] if trouble else "ok"
    _log(progress.root, call, why, bytes_out=len(data), seconds=time.monotonic() - begun)
    if progress.root is not None:
        if progress.queued and call.event == calls.SESSION_END and progress.config.hooks.organize:
            _start(progress.root, environ, "organize")
        elif late and call.event in (calls.SESSION_START, calls.PROMPT) and _first_lately(progress.root):
            _start(progress.root, environ, "brief" if call.event == calls.SESSION_START else "index")
    if late:
        os._exit(0)  # the thread holds nothing: writes are renames, locks are the kernel's, SQLite rolls back


def _fallback(call: Call, progress: hooks.Progress) -> str:
    if call.event != calls.SESSION_START or not progress.last_good.strip():
        return ""
    lines = progress.last_good.splitlines()
    room = hooks.budget(progress.config) - 300
    text = fence.first_lines(lines, room - len(lines), "({} lines left out: memoryfs brief)")
    while text and hooks.json_bytes(fence.escape(text)) > room:
        text = fence.first_lines(lines, len(text.encode("utf-8")) * 9 // 10, "({} lines left out: memoryfs brief)")
    return fence.fenced(fence.BRIEFING, text, store=str(progress.root))


def rendered(call: Call, text: str) -> bytes:
    """The host's JSON for `text`, as UTF-8; b"" where there is nothing to say or the host takes nothing."""
    if not text:
        return b""
    if call.style == "cursor":
        if call.event != calls.SESSION_START:
            return b""
        answer: dict[str, object] = {"additional_context": text}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": calls.HOST_NAMES[call.event], "additionalContext": text}}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _write(data: bytes) -> None:
    with contextlib.suppress(OSError):  # closed, or the host is gone
        while data:
            data = data[os.write(1, data):]


def _log(root: Path | None, call: Call, why: str, *, bytes_out: int, seconds: float) -> None:
    if root is None:
        return
    row = {
        "time": datetime.now().astimezone().isoformat(timespec="seconds"), "event": call.event,
        "session": _clean(call.session)[:64], "ms": round(seconds * 1000), "bytes": bytes_out, "result": _clean(why)[:400],
    }
    path = root / LOG
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        if path.exists() and path.stat().st_size > LOG_BYTES:
            os.replace(path, path.with_suffix(".log.1"))
        with open(path, "ab") as file:
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _clean(text: str) -> str:
    """Without secrets; what every call logs is known to have none, which spares it the rules."""
    if _HARMLESS.fullmatch(text):
        return text
    from memoryfs.redact import redact

    return redact(text).text


def _first_lately(root: Path) -> bool:
    """Whether nothing was started to catch up within CATCH_UP_SECONDS."""
    mark = root / CATCH_UP
    try:
        if mark.exists() and time.time() - mark.stat().st_mtime < CATCH_UP_SECONDS:
            return False
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_bytes(b"")
    except OSError:
        return False
    return True


def _start(root: Path, environ: Mapping[str, str], command: str) -> None:
    """A detached run of low priority: of the organizer (its lock keeps a second one from doing anything), or of what
    was too slow for the deadline, so that the next call finds it done."""
    import subprocess
    import sys

    with contextlib.suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-P", "-m", "memoryfs", "--quiet", "--store", str(root), command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
            env={**environ, OWN_RUN: "1"}, start_new_session=True, preexec_fn=_lower_priority,
        )


def _lower_priority() -> None:
    os.nice(15)
