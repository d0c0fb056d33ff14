"""In: requests as dicts. Out: the worker's answers, or `ModelUnavailableError` whatever happened to the process.

One `Child` owns one `worker.py` process: started at the first request, restarted after a crash (at most twice), killed
when a request takes too long. A library that cannot be imported or a file that cannot be loaded is final.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from memoryfs.errors import ModelUnavailableError

WORKER = Path(__file__).with_name("worker.py")
OPEN_SECONDS = 180.0  # a few GB from a slow disk
OPEN_LEAST = 10.0  # of it, where a request must be answered sooner
REQUEST_SECONDS = 300.0
CRASHES = 3
_INSTALL = "Reinstall it (`pip install --force-reinstall 'memoryfs[llm]'`) or work with --no-model; everything works without."
_CRASH = (
    "If it was an illegal instruction, rebuild llama-cpp-python with CMAKE_ARGS=-DGGML_NATIVE=OFF; "
    "if memory ran out, lower models.context or use a smaller model. --no-model works without."
)
_SLOW = "Use a smaller model, or --no-model."


def thread_count(setting: int) -> int:
    """The threads to use: the setting, or every processor this process may run on."""
    if setting > 0:
        return setting
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


class Child:
    """A worker process for one model; `opening` is its `open` request. Safe to share between threads."""

    def __init__(
        self, label: str, opening: dict[str, Any], *, threads: int = 0, request_seconds: float = REQUEST_SECONDS
    ) -> None:
        self.label = label
        self._threads = thread_count(threads)
        self._opening = {"op": "open", "threads": self._threads, **opening}
        self._request_seconds = request_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stop: weakref.finalize | None = None
        self._rest = b""
        self._serial = 0
        self._crashes = 0
        self._final: ModelUnavailableError | None = None
        self._errors: Any = None
        self.info: dict[str, Any] = {}

    @property
    def running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start the process without waiting for the model to load: the caller may import numpy meanwhile."""
        with self._lock:
            self._spawn()

    def open(self) -> dict[str, Any]:
        """What the model says of itself; loads it if need be."""
        with self._lock:
            self._ready()
            return self.info

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """One request, one answer. Raises ModelUnavailableError for a crash, a timeout or an error in the model."""
        with self._lock:
            self._ready()
            answer = self._exchange({"op": op, **fields}, self._request_seconds)
            if not answer["ok"]:
                raise ModelUnavailableError(f"{self.label}: {answer['error']}", remedy=_SLOW)
            return answer

    def close(self) -> None:
        """End the process; the next request starts it again."""
        with self._lock:
            self._end()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready(self) -> None:
        if self._final:
            raise self._final
        if self.info and self._process and self._process.poll() is None:
            return
        self._spawn()
        answer = self._exchange(self._opening, min(OPEN_SECONDS, max(OPEN_LEAST, self._request_seconds)))
        if not answer["ok"]:
            self._end()
            self._final = ModelUnavailableError(f"{self.label}: {answer['error']}", remedy=_INSTALL)
            raise self._final
        self.info = answer

    def _spawn(self) -> None:
        if self._process and self._process.poll() is None:
            return
        self._end()
        import tempfile

        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (native chatter; its tail explains a crash)
        # PASSIVE: threads that spin at a barrier starve each other on a busy machine (24 lines scored with two threads
        # on two loaded cores: 5.5 s, and over 40 s with spinning).
        environment = {**os.environ, "OMP_NUM_THREADS": str(self._threads), "OMP_WAIT_POLICY": "PASSIVE"}
        try:
            # -P: a llama_cpp.py in the working directory is not ours to run.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, env=environment,
            )
        except OSError as error:
            raise ModelUnavailableError(f"{self.label}: cannot start a process: {error}") from error
        self._stop = weakref.finalize(self, _terminate, self._process)
        self._rest = b""
        self.info = {}

    def _exchange(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self._process and self._process.stdin and self._process.stdout
        self._serial += 1
        request["id"] = self._serial
        deadline = time.monotonic() + seconds
        try:
            self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._crashed() from error
        while True:
            line = self._line(deadline, seconds)
            try:
                answer = json.loads(line)
            except ValueError:
                continue  # not the protocol: nothing but the worker writes here, so a torn line of a killed one
            if answer.get("id") == self._serial:
                return answer

    def _line(self, deadline: float, seconds: float) -> bytes:
        assert self._process and self._process.stdout
        fd = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(fd, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._end()
                    raise ModelUnavailableError(f"{self.label}: no answer within {seconds:.0f} s", remedy=_SLOW)
                data = os.read(fd, 1 << 20)
                if not data:
                    raise self._crashed()
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _crashed(self) -> ModelUnavailableError:
        """What to raise for a process that ended by itself."""
        assert self._process
        code = self._process.wait()
        how = f"exit code {code}"
        if code < 0:
            try:
                how = signal.Signals(-code).name
            except ValueError:
                how = f"signal {-code}"
        tail = self._tail()
        self._end()
        self._crashes += 1
        error = ModelUnavailableError(f"{self.label}: its process died ({how}){': ' + tail if tail else ''}", remedy=_CRASH)
        if self._crashes >= CRASHES:
            self._final = error
        return error

    def _tail(self) -> str:
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 2000))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def _end(self) -> None:
        if self._stop:
            self._stop()
            self._stop = None
        if self._errors:
            self._errors.close()
            self._errors = None
        self._process = None
        self.info = {}


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes, which ends a worker at once, and reap it."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(0.5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
