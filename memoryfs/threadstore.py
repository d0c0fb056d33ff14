"""In: the drafts of one session, streamed. Out: its thread file, new, grown, unchanged or branched.

A version of a session that begins like the stored one and goes on longer extends it; a shorter or equal one
changes nothing; one that disagrees is kept beside it as a branch. Sessions longer than a few megabytes wait
in a temporary file, not in memory. What is written here must have been redacted before.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date as Date
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.errors import ReadOnlyError
from memoryfs.model import Event, Problem, event_id, short_thread
from memoryfs.textfile import write_stream
from memoryfs.thread import (
    EventDraft,
    decode_event,
    encode_event,
    list_threads,
    live_path,
    raw_lines,
    thread_name,
    thread_path,
)

if TYPE_CHECKING:
    from memoryfs.redact import Redacted

IN_MEMORY = 1 << 20  # bytes of one session kept in memory before it waits on the disk
WAIT_FOR_TIME = 200  # drafts held back until one has a time, from which the thread gets its date
MAX_BRANCHES = 50
PLACEHOLDER = "[REDACTED:"


@dataclass(frozen=True)
class ImportOutcome:
    """What an import did to one thread: `status` is new, extended, unchanged or branched; counts are
    events."""

    thread: str
    added: int
    total: int
    status: str
    source: str
    problems: tuple[Problem, ...] = ()
    session: str = ""
    redactions: int = 0

    def to_dict(self) -> dict[str, object]:
        return {
            "thread": self.thread,
            "added": self.added,
            "total": self.total,
            "status": self.status,
            "source": self.source,
            "session": self.session,
            "redactions": self.redactions,
            "problems": [p.to_dict() for p in self.problems],
        }


class ThreadNames:
    """The names of a store's threads by their hash, read from the folders once and kept up to date by the
    writers."""

    def __init__(self, root: Path) -> None:
        self._by_hash: dict[str, list[str]] = {}
        for name in list_threads(root):
            self.add(name)

    def add(self, name: str) -> None:
        names = self._by_hash.setdefault(short_thread(name).partition("~")[0], [])
        if name not in names:
            names.append(name)

    def same_session(self, name: str) -> str:
        """The stored name of this session: the same hash on a day at most one apart, or undated; else
        `name`."""
        for other in self._by_hash.get(short_thread(name), ()):
            if "~" not in other and _days_apart(name, other) <= 1:
                return other
        return name


def _days_apart(one: str, two: str) -> int:
    try:
        return abs((Date.fromisoformat(one[:10]) - Date.fromisoformat(two[:10])).days)
    except ValueError:
        return 0


class ThreadWriter:
    """Collects one session's drafts, already redacted, and stores them at `finish`. The caller holds the import lock."""

    def __init__(self, root: Path, session: str, source: str, names: ThreadNames) -> None:
        self.root, self.session, self.source, self.names = root, session, source, names
        self.thread = ""
        self.count = 0
        self.redactions = 0
        self.partial = False
        self.last_time = ""
        self._early: list[EventDraft] = []
        self._spool = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, prefix="memoryfs-")  # noqa: SIM115

    def add(self, draft: EventDraft) -> None:
        if self.thread:
            self._write(draft)
            return
        self._early.append(draft)
        if draft.time or len(self._early) >= WAIT_FOR_TIME:
            self._name()

    def _name(self) -> None:
        first = self._early[0]
        about = first.metadata.get("session") or {}
        time = next((d.time for d in self._early if d.time), None) or about.get("date")
        self.partial = bool(about.get("partial"))
        session = self.session or fallback_identity(first, self.source)
        self.thread = self.names.same_session(thread_name(session, time))
        early, self._early = self._early, []
        for draft in early:
            self._write(draft)

    def _write(self, draft: EventDraft) -> None:
        event = Event(
            self.thread,
            self.count,
            event_id(self.thread, draft.role, draft.text),
            draft.role,
            draft.kind,
            draft.time,
            draft.text,
            self.source,
            draft.line,
            draft.metadata,
        )
        self._spool.write(encode_event(event))
        self.count += 1
        if draft.time and draft.time > self.last_time:
            self.last_time = draft.time

    def lines(self) -> Iterator[bytes]:
        self._spool.seek(0)
        for line in self._spool:  # noqa: UP028 - `yield from` would close the file with a generator left early
            yield line

    def close(self) -> None:
        self._spool.close()

    def finish(self) -> ImportOutcome | None:
        """Stores what was collected; None if there was nothing. Raises ReadOnlyError where the store cannot
        be written."""
        if self._early:
            self._name()
        if not self.count:
            return None
        try:
            return self._store()
        except OSError as error:
            raise ReadOnlyError(str(error.filename or self.root), error.strerror or str(error)) from error
        finally:
            self.close()

    def _store(self) -> ImportOutcome:
        base = self.thread
        versions = _versions(self.root, base)
        if self.partial and any(_richer(self.root, v, self.last_time) for v in versions):
            return self._outcome(base, 0, "unchanged")
        for version in versions:
            stored = _compare(thread_path(self.root, version), self)
            if not stored.agrees:
                continue
            if self.count < stored.count or (
                self.count == stored.count and not (stored.moved or stored.torn)
            ):
                return self._outcome(version, 0, "unchanged", stored.count)
            if self.count == stored.count and stored.source != self.source and not stored.telling:
                return self._outcome(version, 0, "unchanged", stored.count)
            self._rename(version)
            path = live_path(self.root, version)
            if stored.moved or stored.torn or not path.exists():
                write_stream(path, self.lines)
            else:
                _append(path, self.lines(), stored.count)
            return self._outcome(version, self.count - stored.count, "extended")
        name = base
        for number in range(2, MAX_BRANCHES + 1):
            if name not in versions:
                break
            name = f"{base}~{number}"
        else:
            problem = Problem(
                self.source,
                f"more than {MAX_BRANCHES} versions of one session that disagree",
                "Nothing was stored; look at this transcript.",
            )
            return ImportOutcome(
                base, 0, 0, "unchanged", self.source, (problem,), self.session, self.redactions
            )
        self._rename(name)
        write_stream(live_path(self.root, name), self.lines)
        self.names.add(name)
        return self._outcome(name, self.count, "branched" if versions else "new")

    def _rename(self, name: str) -> None:
        """Gives the collected events the name of a branch, and the ids that go with it."""
        if name == self.thread:
            return
        spool = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, prefix="memoryfs-")  # noqa: SIM115
        for line in self.lines():
            e = decode_event(line)
            if e is not None:
                spool.write(encode_event(replace(e, thread=name, id=event_id(name, e.role, e.text))))
        self._spool.close()
        self._spool, self.thread = spool, name

    def _outcome(self, thread: str, added: int, status: str, total: int | None = None) -> ImportOutcome:
        return ImportOutcome(
            thread,
            added,
            self.count if total is None else total,
            status,
            self.source,
            (),
            self.session,
            self.redactions,
        )


def fallback_identity(first: EventDraft, source: str) -> str:
    """What names a session whose format has no ids: its first event's text and time, or the file's stem
    without a time."""
    return "\0".join((first.time or Path(source).stem, first.role, first.text))


def _versions(root: Path, base: str) -> list[str]:
    found = []
    for number in range(1, MAX_BRANCHES + 1):
        name = base if number == 1 else f"{base}~{number}"
        if not thread_path(root, name).exists():
            break
        found.append(name)
    return found


@dataclass
class _Stored:
    """How a stored version relates to the new one; `moved`: source, lines or what is redacted differ; `torn`: it must be
    rewritten; `telling`: its source holds a secret."""

    agrees: bool = True
    count: int = 0
    moved: bool = False
    torn: bool = False
    source: str = ""
    telling: bool = False


def _compare(path: Path, new: ThreadWriter) -> _Stored:
    """Whether one of the two is the beginning of the other, event by event."""
    stored = _Stored()
    fresh = new.lines()
    for line in raw_lines(path):
        old = decode_event(line)
        if old is None or not line.endswith(b"\n"):
            stored.torn = True
            if old is None:
                continue
        stored.count += 1
        if not stored.source:
            stored.source, stored.telling = old.source, bool(_redacted(old.source).spans)
        raw = next(fresh, None)
        if raw is None or raw == line:
            continue
        event = decode_event(raw)
        if event is None or not _same(old, event):
            stored.agrees = False
            break
        stored.moved = stored.moved or (old.source, old.line, old.text) != (event.source, event.line, event.text) or _tells(old, event)
    return stored


def _same(old: Event, new: Event) -> bool:
    """Whether both are one event of the transcript, also where the older one was redacted by other rules."""
    if (old.role, old.kind, old.time) != (new.role, new.kind, new.time):
        return False
    if old.text == new.text or _redacted(old.text).text == new.text:
        return True
    return old.line == new.line and _but_for_secrets(old.text, new.text)


def _but_for_secrets(old: str, new: str) -> bool:
    """Whether both texts agree before the first placeholder in either and behind the last."""
    starts = [text.find(PLACEHOLDER) for text in (old, new) if PLACEHOLDER in text]
    if not starts:
        return False
    ends = [len(text) - text.index("]", text.rfind(PLACEHOLDER)) - 1 for text in (old, new) if _ends(text)]
    start, end = min(starts), min(ends, default=0)
    return bool(start or end) and old[:start] == new[:start] and old[len(old) - end :] == new[len(new) - end :]


def _ends(text: str) -> bool:
    at = text.rfind(PLACEHOLDER)
    return at >= 0 and "]" in text[at:]


def _tells(old: Event, new: Event) -> bool:
    """Whether what is stored about the event holds a secret that the new one does not."""
    if old.metadata == new.metadata:
        return False
    return bool(_redacted(json.dumps(old.metadata, ensure_ascii=False)).spans)


def _redacted(text: str) -> Redacted:
    from memoryfs.redact import redact

    return redact(text)


def _richer(root: Path, thread: str, last_time: str) -> bool:
    """Whether a stored version is the harness's own transcript and reaches at least as far in time."""
    latest = ""
    for number, line in enumerate(raw_lines(thread_path(root, thread))):
        event = decode_event(line)
        if event is None:
            continue
        if number == 0 and (event.metadata.get("session") or {}).get("partial"):
            return False
        latest = max(latest, event.time or "")
    return latest[:19] >= last_time[:19]


def _append(path: Path, lines: Iterable[bytes], skip: int) -> None:
    with open(path, "ab") as handle:
        for number, line in enumerate(lines):
            if number >= skip:
                handle.write(line)
        handle.flush()
        os.fsync(handle.fileno())
