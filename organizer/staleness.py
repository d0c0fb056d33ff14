"""In: the store, the repositories that its memories are about, the clock. Out: marks in footnotes, of what should be checked again.

*Source changed*: a file, symbol or value that a memory names left its repository after somebody last stood by the memory. A file that
was only edited is no change, nor is what moved to another file. Once the thing is back, or somebody stands by the memory again (says it,
rewords it, finds it useful), the mark goes; taken out by hand, it stays out. *Recheck*: a passing fact gets the day on which it becomes
stale; the next sighting moves it. A day that a person wrote holds until it has passed and the memory was confirmed after it.

A memory is about the repository that its topic names (`metadata: {repo: …}`), else that in which its session ran, else the store's
own. Where that is not here, nothing is said and marks stay. Nothing is done in a run before which nothing changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from memoryfs import gitfacts, ledger, staleness, topic_edit
from memoryfs.config import Config
from memoryfs.edits import edit_topic, load_topics
from memoryfs.errors import MemoryfsError, ReadOnlyError
from memoryfs.files import is_episode, scan
from memoryfs.model import Memory, Problem
from memoryfs.textfile import write_atomic
from memoryfs.topic import Topic
from organizer import vanished
from organizer.claims import Changed, Claim, Told, due, recheck, watched
from organizer.named import Named, named, tells_of_change
from organizer.places import Places, is_repository

STATE = ".memoryfs/stale.json"
VERSION = 1  # of the rules; raise it when they judge the same store otherwise
SETTLING = timedelta(days=14)  # in which a change comes about that a memory speaks of
SLACK = timedelta(hours=14)  # of a date without its time zone
MOST_NAMED = 3  # things that one mark names


@dataclass(frozen=True, slots=True)
class Marked:
    """One memory whose mark was set (`why` says what is gone) or lifted."""

    id: str
    topic: str
    text: str
    why: str
    lifted: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"action": "lifted" if self.lifted else "stale", "id": self.id, "topic": self.topic, "text": self.text, "why": self.why}


@dataclass
class Outcome:
    """What one run marked, how many days to check again it wrote, how many memories are stale now, and what could not be written."""

    marked: list[Marked] = field(default_factory=list)
    dated: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def notices(self) -> list[str]:
        """What the run says of it."""
        gone = sum(not m.lifted for m in self.marked)
        told = (
            (gone, "source changed since it was confirmed: {}"),
            (len(self.marked) - gone, "source changed no longer: {}"),
        )
        return [words.format(f"{count} {'memory' if count == 1 else 'memories'}") for count, words in told if count]


def stage(
    root: Path, config: Config, entries: Sequence[ledger.Entry], *, now: datetime, left: Callable[[], float] = lambda: float("inf"),
) -> Outcome:
    """One pass. `left` gives the seconds that the run may still take; without any, the next run does it. Raises ReadOnlyError."""
    out = Outcome()
    state = _State.read(root)
    key = _key(root, config)
    if left() <= 0 or state.holds(key):
        return out
    topics = {path: topic for path, topic in load_topics(root, config).items() if not is_episode(path)}
    told = Told(entries)
    places = Places(root, state.folders)
    claims = [
        claim for path, topic in sorted(topics.items()) if topic.writable
        for memory in topic.memories if watched(memory) and (claim := Claim(memory, topic, path)).markable
    ]
    changed, whole = _changed(root, config, claims, places, told, now, left)
    wanted: dict[str, dict[str, tuple[str, Changed]]] = {}
    dates: dict[str, str] = {}
    lines: list[ledger.Entry] = []
    for claim in claims:
        held = (claim.recheck, claim.changed)
        new = (recheck(claim, told, config, now), changed.get(claim.memory.id, claim.changed))
        if new != held or claim.lends(told):
            wanted.setdefault(claim.path, {})[claim.memory.id] = new
            continue
        if new[0] and new[0] == due(claim, told, config, now) != told.dates.get(claim.memory.id):
            dates[claim.memory.id] = new[0]  # ours; a run was killed before the ledger was told
        if new[1][0] and claim.memory.id not in told.marked:
            lines.append(_line(claim, now))
    _record(root, lines, dates, now)
    _write(root, config, wanted, topics, told, out, now)
    memories = [m for path, topic in topics.items() for m in topic.memories if path not in wanted]
    memories += [m for path, topic in load_topics(root, config).items() if path in wanted for m in topic.memories] if wanted else []
    out.counts = staleness.counts(memories, now.date())
    if whole and not wanted and not dates and not lines and not out.problems:
        _State(key, {str(place): _tip(place) for place in places.asked()}, places.folders).write(root)
    return out


# -- what left its repository ---------------------------------------------------------------------------------------

def _changed(
    root: Path, config: Config, claims: Iterable[Claim], places: Places, told: Told, now: datetime, left: Callable[[], float],
) -> tuple[dict[str, Changed], bool]:
    """By memory, what it should be marked with, for those of which that can be told; and whether all were looked at."""
    if not config.recheck.sources:
        return {claim.memory.id: ("", ()) for claim in claims}, True
    by_repo: dict[Path, list[tuple[Claim, Named]]] = {}
    out: dict[str, Changed] = {}
    for claim in claims:
        things = named(claim.memory.summary)
        if not things:
            out[claim.memory.id] = ("", ())
        elif repo := places.repository(claim.memory, claim.topic):
            by_repo.setdefault(repo, []).append((claim, things))
    for repo, about in sorted(by_repo.items()):
        if left() <= 0:
            return out, False
        if tip := _tip(repo):
            out |= _in_repository(root, repo, tip, about, told, now, min(left(), vanished.SECONDS))
    return out, True


def _tip(place: Path) -> str:
    """The newest commit of the repository at `place`; "" where there is none, or no folder."""
    return gitfacts.main_line(place) if is_repository(place) else ""


def _in_repository(
    root: Path, repo: Path, tip: str, about: Sequence[tuple[Claim, Named]], told: Told, now: datetime, seconds: float,
) -> dict[str, Changed]:
    inside = root.relative_to(repo).as_posix() if root.is_relative_to(repo) else ""
    stood = {claim.memory.id: _Stood(root, claim, told, now) for claim, _ in about}
    since = min(found.earliest for found in stood.values())
    values = {value for _, things in about for value in things.values}
    log = vanished.read_log(repo, tip, since, now.timestamp(), values, inside, seconds)
    paths = {path: _below(path, repo) for _, things in about for path in things.paths}
    values_gone = vanished.gone_values(log, repo, inside)
    paths_gone = vanished.gone_paths(log, repo, {p for p in paths.values() if p})
    if values_gone is None or paths_gone is None:
        return {}
    out: dict[str, Changed] = {}
    for claim, things in about:
        gone = [(path, paths_gone[paths[path]]) for path in things.paths if paths[path] in paths_gone]
        gone += [(value, values_gone[value]) for value in things.values if value in values_gone]
        found = _since(gone, len(things.paths) + len(things.values), claim.memory, stood[claim.memory.id], now)
        if found[0] or log.whole:
            out[claim.memory.id] = found
    return out


def _below(path: str, repo: Path) -> str:
    """A path as it may stand in the repository; "" for one outside."""
    if not path.startswith(("/", "~")):
        return path
    with contextlib.suppress(ValueError, RuntimeError):
        return Path(path).expanduser().relative_to(repo).as_posix()
    return ""


def _since(gone: Sequence[tuple[str, vanished.Gone]], all_named: int, memory: Memory, stood: _Stood, now: datetime) -> Changed:
    """The mark for what is gone since somebody stood by the memory."""
    late = [(name, found) for name, found in gone if found.time > stood.earliest]
    late = [(name, found) for name, found in late if found.time > stood.at]
    if late and memory.kind != "task" and tells_of_change(memory.summary):
        if len(gone) < all_named:  # what came in its place is still there
            return "", ()
        late = [(name, found) for name, found in late if found.time > stood.at + SETTLING.total_seconds()]
    if not late:
        return "", ()
    day = datetime.fromtimestamp(max(found.time for _, found in late), now.tzinfo).date().isoformat()
    told = [f"{name} now {found.now}" if found.now else f"{name} gone" for name, found in late[:MOST_NAMED]]
    return day, tuple(told)


class _Stood:
    """When somebody last stood by a memory, in epoch seconds: `earliest` is cheap and not later than `at`, which reads the sources."""

    def __init__(self, root: Path, claim: Claim, told: Told, now: datetime) -> None:
        self._root, self._memory = root, claim.memory
        confirmed = told.confirmed.get(claim.memory.id)
        removed = None if claim.changed[0] else told.marked.get(claim.memory.id)  # a mark that a person took out
        self._known = max((moment.timestamp() for moment in (confirmed, removed) if moment), default=0.0)
        try:
            day = datetime.combine(date.fromisoformat((claim.memory.date or "")[:10]), datetime.min.time(), now.tzinfo)
        except ValueError:
            day = now
        self._day = day
        self.earliest = max(self._known, (day - SLACK).timestamp())
        self._at: float | None = None

    @property
    def at(self) -> float:
        if self._at is None:
            self._at = max(self._known, self._said())
        return self._at

    def _said(self) -> float:
        """When the last event of its sources was; without one the end of the memory's day, unless the ledger knows better."""
        from memoryfs import thread
        from organizer.dates import parse_time

        times = []
        for place in self._memory.source_range:
            with contextlib.suppress(OSError, ValueError):
                times += [t.timestamp() for e in thread.read_events(self._root, place.thread, place.end, place.end)
                          if (t := parse_time(e.time))]
        if times or datetime.fromtimestamp(self._known, self._day.tzinfo).date() == self._day.date():
            return max(times, default=0.0)
        return (self._day + timedelta(days=1)).timestamp()


# -- writing --------------------------------------------------------------------------------------------------------------

def _write(
    root: Path, config: Config, wanted: Mapping[str, Mapping[str, tuple[str, Changed]]], topics: Mapping[str, Topic], told: Told,
    out: Outcome, now: datetime,
) -> None:
    dates: dict[str, str] = {}
    lines: list[ledger.Entry] = []
    for path, marks in wanted.items():
        before = {m.id: Claim(m, topics[path], path) for m in topics[path].memories if m.id in marks}
        try:
            after = edit_topic(root, path, lambda topic, marks=marks: _edited(topic, marks), config=config)
        except ReadOnlyError:
            raise
        except MemoryfsError as error:
            out.problems.append(Problem(path, f"not marked as stale: {error.message}", error.remedy, severity="warning"))
            continue
        here = {m.id: Claim(m, after, path) for m in after.memories if m.id in marks}
        for id, claim in here.items():
            day, changed = marks[id]
            if claim.recheck == day and day != before[id].recheck:
                dates[id] = day
                out.dated += bool(day)
            if claim.changed == changed and changed != before[id].changed:
                lines.append(_line(claim, now))
                out.marked.append(Marked(id, path, claim.memory.summary, lines[-1].why, not changed[0]))
    _record(root, lines, dates, now)


def _record(root: Path, lines: Sequence[ledger.Entry], dates: Mapping[str, str], now: datetime) -> None:
    days = [ledger.Entry(now.isoformat(timespec="seconds"), "organizer", "recheck", "", extra={"dates": dict(dates)})] if dates else []
    ledger.append(root, [*lines, *days])


def _line(claim: Claim, now: datetime) -> ledger.Entry:
    """What the ledger says of the mark that a memory now has, or has no more."""
    day, what = claim.changed
    why = f"{staleness.SOURCE} {day}: {', '.join(what)}" if day else "what it names is there again, or it was confirmed"
    extra = {"on": day} if day else {"lifted": True}
    return ledger.Entry(now.isoformat(timespec="seconds"), "organizer", "stale", claim.memory.id, claim.path, why=why, extra=extra)


def _edited(topic: Topic, marks: Mapping[str, tuple[str, Changed]]) -> Topic:
    here = {m.id for m in topic.memories}
    return topic_edit.set_marks(topic, {id: mark for id, mark in marks.items() if id in here})


# -- what need not be done again --------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class _State:
    """What the last pass saw, when it found nothing to write: derived, and disposable."""

    key: str = ""
    tips: Mapping[str, str] = field(default_factory=dict)  # folder or repository → its newest commit, "" where there was none
    folders: Mapping[str, str] = field(default_factory=dict)  # thread → the folder in which its session ran

    @classmethod
    def read(cls, root: Path) -> _State:
        try:
            data = json.loads((root / STATE).read_bytes())
            return cls(str(data["key"]), dict(data["tips"]), dict(data["folders"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def holds(self, key: str) -> bool:
        return bool(key) and self.key == key and all(_tip(Path(place)) == tip for place, tip in self.tips.items())

    def write(self, root: Path) -> None:
        data = {"key": self.key, "tips": dict(self.tips), "folders": dict(self.folders)}
        with contextlib.suppress(ReadOnlyError):
            write_atomic(root / STATE, json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _key(root: Path, config: Config) -> str:
    """Of everything but the repositories that this stage reads; "" while a topic file changes."""
    started = time.time_ns()
    files = scan(root, config).files
    if any(file.changed_about(started) for file in files):
        return ""
    try:
        size = (root / ledger.FILE).stat().st_size
    except OSError:
        size = 0
    rows = [(file.path, *file.stat) for file in files]
    return hashlib.sha256(repr((VERSION, config.recheck, config.ignore, size, rows)).encode("utf-8", "surrogatepass")).hexdigest()
