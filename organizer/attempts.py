"""In: a session that is worked on, fails, or kills its run. Out: when it is tried again, or that it is set aside.

The first failure is tried again by the next run, later ones after a growing pause; the fifth sets the session aside until
its transcript grows, the program is updated or a person says `--retry`. A run that dies in a session counts as a failure
of it. Losing this record only means trying again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from memoryfs import __version__, runs
from memoryfs import thread as threads
from memoryfs.errors import MemoryfsError
from memoryfs.redact import redact
from memoryfs.render import one_line
from organizer.report import Held


def hold_back(root: Path, unfinished: Sequence[str], *, now: datetime, retry: bool) -> tuple[list[str], list[Held]]:
    """The sessions to work on now, and those that failed and wait or were set aside; with `retry` none is held back."""
    known = {} if retry else runs.failures(root, __version__)
    waiting, held = [], []
    for thread in unfinished:
        failure = known.get(thread)
        if failure is not None and failure.waits(now) and threads.thread_path(root, thread).stat().st_size == failure.size:
            held.append(Held(thread, failure.count, failure.message, "" if failure.set_aside else failure.retry_at))
        else:
            waiting.append(thread)
    return waiting, held


@contextmanager
def at_work(root: Path, thread: str, size: int) -> Iterator[None]:
    """Notes the session while it is worked on; only a process that dies in it leaves the note behind."""
    runs.begin(root, thread, size)
    try:
        yield
    except (Exception, KeyboardInterrupt):
        runs.end(root)
        raise
    runs.end(root)


def count_death(root: Path, *, now: datetime) -> None:
    """Counts a failure of the session that an earlier run died in."""
    died = runs.died_at(root)
    if died is not None:
        failed(root, *died, "the run ended in the middle of it", now=now, died=True)
        runs.end(root)


def failed(root: Path, thread: str, size: int, message: str, *, now: datetime, died: bool = False) -> runs.Failure:
    """Counts a failure of a session whose thread has `size` bytes."""
    known = runs.failures(root, __version__)
    known[thread] = runs.failed_again(known.get(thread), thread, size, one_line(message, 300), now=now, died=died)
    runs.keep_failures(root, __version__, known)
    return known[thread]


def done(root: Path, thread: str) -> None:
    """The session is organized: its earlier failures are forgotten."""
    known = runs.failures(root, __version__)
    if known.pop(thread, None) is not None:
        runs.keep_failures(root, __version__, known)


def said(error: Exception) -> str:
    """An error in words, without the secrets that it may quote."""
    return redact(error.message if isinstance(error, MemoryfsError) else f"{type(error).__name__}: {error}").text


def remedy(failure: runs.Failure) -> str:
    """What happens next with a session that failed."""
    if failure.set_aside:
        return f"Set aside after {failure.count} failures; `memoryfs organize --retry` tries it again. The transcript is kept."
    when = f"after {failure.retry_at}" if failure.retry_at else "at the next run"
    return f"It is tried again {when}; the transcript is kept."
