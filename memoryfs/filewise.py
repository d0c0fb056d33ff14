"""In: a file of the project, with or without a question. Out: the memories that concern the file, each with its age and
whether the file changed since.

A memory concerns a file when its topic lists it (`metadata: {files: […]}`), its words, hints or quote name it, or an event
of its source reads or edits it. Standing instructions come first, then open tasks, decisions, causes of bugs, the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs import gitfacts
from memoryfs.errors import UsageError
from memoryfs.files import topic_paths
from memoryfs.model import Breadcrumb, Evidence, Memory, Recall, SourceRange
from memoryfs.scope import FOLDER
from memoryfs.staleness import marked
from memoryfs.text import estimate_tokens

if TYPE_CHECKING:
    from memoryfs.config import Config
    from memoryfs.index.core import Index
    from memoryfs.model import Event
    from memoryfs.topic import Topic

MAX_UNITS = 2_000  # of the source that name the file and are looked at, the latest
WIDE_RANGE = 12  # events; a longer range that merely passes the file says nothing of it
FEW_FILES = 3  # a topic that lists more is not about each of them alone
STRENGTH = {"files": 0.4, "path": 0.4, "name": 0.35, "source": 0.15, "among files": 0.1}
UNCHECKED = 0.1  # what a memory that should be checked again loses
STAGED = 0.1  # what a memory of an unmerged branch loses
CONCERNS = ("instruction", "task", "decision", "bug", "fact", "event")
_RANK = 0.1  # a step in CONCERNS
_HALF_LIFE_DAYS = 90.0
_BUG = re.compile(
    r"\b(?:bugs?|crash\w*|fail(?:s|ed|ing|ure)?|broke\w*|regress\w*|root cause|caused by|race|deadlock|leaks?|wrong|error)\b"
    r"|バグ|不具合|原因|버그|원인|错误|故障|原因", re.I)
_DECISION = re.compile(r"\b(?:decid\w+|decision|chose|chosen|instead of|settled|agreed|because)\b|決め|決定|採用|결정|决定", re.I)
_WORD = r"\w.@~+/\\-"


@dataclass(frozen=True)
class Wanted:
    """A file, as the words of memories and sessions may name it: `path` absolute, `project` the folder it belongs to."""

    path: Path
    project: Path

    @property
    def shown(self) -> str:
        """The path below the project, else the whole."""
        return self.path.relative_to(self.project).as_posix() if self.path.is_relative_to(self.project) else str(self.path)

    def named_by(self, mention: str) -> bool:
        """Whether `mention`, written as a path or a tail of one, can mean this file."""
        absolute = mention.startswith(("/", "~")) or bool(re.match(r"[A-Za-z]:[/\\]", mention))
        said = [p for p in re.split(r"[/\\]+", mention) if p not in ("", ".", "..", "~")]
        own = [p for p in self.path.parts if p not in ("/", "\\")]
        if not said:
            return False
        if _tail(own, said):
            return not absolute or len(said) == len(own) or mention.startswith("~")
        below = list(self.path.relative_to(self.project).parts) if self.path.is_relative_to(self.project) else own
        return absolute and _tail(said, below if len(below) > 1 else [self.project.name, *below])

    def mentions(self, text: str) -> str:
        """How `text` names the file: "path" with a folder before it, "name" alone, "" not at all."""
        best = ""
        name = self.path.name
        for match in re.finditer(re.escape(name), text, re.I):
            start, end = match.span()
            if re.match(r"\w|[.-]\w", text[end:]):  # auth.ts.bak, auth.tsx
                continue
            while start and re.match(f"[{_WORD}]", text[start - 1]):
                start -= 1
            mention = text[start:end].lstrip("@+-")
            if not self.named_by(mention):
                continue
            if re.search(r"[/\\]", mention):
                return "path"
            best = "name"
        return best

    def listed_in(self, files: Iterable[object]) -> bool:
        """Whether a topic's `files` list the file, its folder (`src/`) or a pattern that it fits (`src/*.ts`)."""
        for entry in map(str, files):
            folder = entry.endswith(("/", "/**"))
            plain = entry.removesuffix("**").rstrip("/")
            if self.named_by(entry) or fnmatchcase(self.shown, entry):
                return True
            if folder and plain and (self.shown.startswith(plain + "/") or str(self.path).startswith(plain + "/")):
                return True
        return False


def _tail(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    return bool(shorter) and [p.casefold() for p in longer[-len(shorter) :]] == [p.casefold() for p in shorter]


def wanted(file: str, root: Path, cwd: Path) -> Wanted:
    """The file that `file` names, read from `cwd` or, where there is none, from the store's project. Raises UsageError."""
    if not file.strip() or "\0" in file or not os.path.basename(file.rstrip("/\\")):
        raise UsageError(f"{file!r} is not a file's path", remedy="Name a file, as src/auth.ts.")
    project = root.parent if root.name == FOLDER else cwd
    given = Path(os.path.abspath(cwd / Path(file.strip()).expanduser()))
    other = Path(os.path.abspath(project / file.strip()))
    return Wanted(other if not os.path.exists(given) and os.path.exists(other) else given, project)


def recall(
    index: Index, root: Path, config: Config, query: str, file: str, *, k: int, level: str, status: Sequence[str],
    max_tokens: int, as_of: str | None, now: datetime, cwd: Path, **options: Any,
) -> Recall:
    """The memories about `file`, best first; with a query those that answer it, and the evidence that names the file.

    Raises UsageError for a path that names no file, and what `memoryfs.recall` raises.
    """
    from memoryfs.recall import recall as search
    from memoryfs.recall.time import parse_moment

    about = wanted(file, root, cwd)
    until = ""
    if as_of:
        try:
            now = datetime.fromtimestamp(parse_moment(as_of, now.tzinfo), now.tzinfo)
        except ValueError:
            raise UsageError(f"{as_of!r} is not a date", remedy="Write 2026-05-14 or 2026-05-14T10:00:00+09:00.") from None
        until = now.date().isoformat()
    touching = _touching(index, about)
    crumbs = [
        c for c in _crumbs(root, config, about, touching, status, now) if not (until and (c.memory.date or "") > until)
    ]
    places = {c.memory.id: c for c in crumbs}
    notices: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    decision, chosen, abstained = "summary_ok", 2 if level in ("2", "3") else 0, not crumbs
    if query.strip():
        found = search(index, query, file=about.path.name, k=min(200, 4 * k), level=level, max_tokens=4 * max_tokens,
                       status=status, as_of=as_of, now=now, **options)
        answering = [m for m in found.memories if m.memory.id in places]
        ranges = [r for m in answering for r in m.memory.source_range]
        evidence = tuple(_bounded((e for e in found.evidence if _proves(e, touching, ranges)), k, max_tokens))
        notices, decision, chosen = found.notices, found.decision, found.level
        abstained = found.abstained or not (answering or evidence)
        if answering or evidence:
            crumbs = [replace(m, about=places[m.memory.id].about, why={**m.why, **places[m.memory.id].why}) for m in answering]
        elif crumbs:
            notices = (*notices, f"Nothing about {about.shown} answers the question. What is listed is all that concerns the file.")
    elif chosen:
        evidence = tuple(_bounded(_spans(touching, as_of, now), k, max_tokens))
        abstained = not (crumbs or evidence)
    if not query.strip() and abstained:
        notices = (f"Nothing is remembered about {about.shown}.",)
    shown = tuple(_dated(c, about, index) for c in crumbs[:k])
    tokens = sum(estimate_tokens(e.text) for e in evidence) + sum(estimate_tokens(m.memory.summary) for m in shown)
    return Recall(
        query=query, decision=decision, level=chosen, abstained=abstained, tokens=tokens, memories=shown,
        evidence=evidence, notices=notices, file=_file(about),
    )


def _file(about: Wanted) -> dict[str, Any]:
    moment = gitfacts.modified(about.path)
    return {"path": about.shown, "exists": moment is not None}


# -- what concerns the file ---------------------------------------------------------------------------------------

@dataclass(frozen=True)
class _Touch:
    event: Event
    start: int  # of the unit that names the file
    end: int
    how: str


def _touching(index: Index, about: Wanted) -> dict[tuple[str, int], _Touch]:
    """The events that name the file, by (thread, index)."""
    from memoryfs.index.units import MASK, SHIFT
    from memoryfs.text import index_terms

    terms = index_terms(about.path.name).split()
    if not terms:
        return {}
    term = max(terms, key=len)
    docs = sorted((d for d in index.lexicon.postings(term) if d >> SHIFT), reverse=True)[:MAX_UNITS]
    found: dict[tuple[str, int], _Touch] = {}
    by_thread: dict[int, list[int]] = {}
    for doc in docs:
        by_thread.setdefault(doc >> SHIFT, []).append(doc & MASK)
    for number, units in by_thread.items():
        thread = index.thread(number)
        if thread is None:
            continue
        events = index.sources.events(thread, (thread.event[u] for u in units))
        for unit in units:
            event = events.get(thread.event[unit])
            if event is None:
                continue
            how = about.mentions(event.text[thread.start[unit] : thread.end[unit]])
            if how:
                found[event.thread, event.index] = _Touch(event, thread.start[unit], thread.end[unit], how)
    return found


def _crumbs(
    root: Path, config: Config, about: Wanted, touching: Mapping[tuple[str, int], _Touch], status: Sequence[str], now: datetime
) -> list[Breadcrumb]:
    from memoryfs.topic import parse

    name = about.path.name.casefold().encode("utf-8")
    threads = {thread.encode() for thread, _ in touching} | {thread.rsplit("-", 1)[-1].encode() for thread, _ in touching}
    crumbs: list[Breadcrumb] = []
    for path in topic_paths(root, config):
        try:
            data = (root / path).read_bytes()
        except OSError:
            continue  # `recall` names it among its problems
        folded = data.lower()
        if name in folded or b"files:" in folded or any(thread in data for thread in threads):
            crumbs += _of_topic(parse(data, path), about, touching, status, now)
    crumbs.sort(key=lambda c: (-c.score, c.memory.topic, c.memory.line))
    return crumbs


def _of_topic(
    topic: Topic, about: Wanted, touching: Mapping[tuple[str, int], _Touch], status: Sequence[str], now: datetime
) -> Iterable[Breadcrumb]:
    meta = topic.meta.get("metadata")
    files = meta.get("files") if isinstance(meta, dict) else None
    files = [files] if isinstance(files, str) else list(files) if isinstance(files, (list, tuple)) else []
    listed = "" if not about.listed_in(files) else "files" if len(files) <= FEW_FILES else "among files"
    for memory in topic.memories:
        if (status and memory.status not in status) or memory.done:
            continue
        said = about.mentions(words_of(memory))
        how = max((h for h in (said, listed, _by_source(memory, touching)) if h), key=lambda h: STRENGTH[h], default="")
        if how:
            concern = _concern(memory)
            age = _age(memory, now)
            recent = 0.1 * 0.5 ** (max(0, age) / _HALF_LIFE_DAYS) if age is not None else 0.0
            why = {"file": STRENGTH[how], "kind": round(_RANK * (len(CONCERNS) - CONCERNS.index(concern)), 4),
                   "recency": round(recent, 4)} | ({"branch": -STAGED} if memory.metadata.get("branch") else {})
            memory = marked(memory, now.date())
            why |= {"unchecked": -UNCHECKED} if memory.metadata.get("stale") else {}
            yield Breadcrumb(memory, sum(why.values()), why, about={"how": how, "concern": concern, "age_days": age})


def words_of(memory: Memory) -> str:
    """Everything a memory says in which a file may be named."""
    return "\n".join((memory.summary, *memory.query_hints, memory.quote))


def _by_source(memory: Memory, touching: Mapping[tuple[str, int], _Touch]) -> str:
    for range_ in memory.source_range:
        for index in range(range_.start, min(range_.end, range_.start + 200) + 1):
            touch = touching.get((range_.thread, index))
            if touch and (touch.event.kind == "file_edit" or range_.end - range_.start < WIDE_RANGE):
                return "source"
    return ""


def _concern(memory: Memory) -> str:
    if memory.kind in ("instruction", "task"):
        return memory.kind
    if memory.topic.startswith("decisions/"):
        return "decision"
    if _BUG.search(memory.summary):
        return "bug"
    return "decision" if _DECISION.search(memory.summary) else memory.kind


def _age(memory: Memory, now: datetime) -> int | None:
    try:
        return (now.date() - date.fromisoformat((memory.date or "")[:10])).days
    except ValueError:
        return None


def _dated(crumb: Breadcrumb, about: Wanted, index: Index) -> Breadcrumb:
    """With `changed_since`: true, false, or None where it cannot be told; git is asked only if the clock says changed."""
    told = {**crumb.about, "changed_since": None}
    day = (crumb.memory.date or "")[:10]
    moment = gitfacts.modified(about.path)
    if moment is None or crumb.about["age_days"] is None:
        return replace(crumb, about=told)
    said = _said_at(crumb.memory, index)
    if said is None and moment.date().isoformat() == day:
        said = _written_at(crumb.memory, index.root)
    known, by = moment, "mtime"
    if moment.date().isoformat() >= day and not (said and moment.timestamp() <= said):
        known, by = gitfacts.last_change(about.path) or (moment, "mtime")
    if said is not None:
        changed: bool | None = known.timestamp() > said
    else:
        last = known.date().isoformat()
        changed = None if last == day else last > day
    return replace(crumb, about={**told, "changed_since": changed, "changed_at": known.isoformat(timespec="seconds"), "by": by})


def _said_at(memory: Memory, index: Index) -> float | None:
    """When the last event of its source was, epoch seconds; None if no source is known here."""
    from memoryfs.index.units import NO_TIME

    times: list[int] = []
    for range_ in memory.source_range:
        number = index.thread_number(range_.thread)
        thread = index.thread(number) if number is not None else None
        if thread is not None:
            times += [t for n, t in zip(thread.index, thread.at, strict=False) if range_.start <= n <= range_.end and t != NO_TIME]
    return max(times, default=None)


def _written_at(memory: Memory, root: Path) -> float | None:
    """When the ledger recorded it first, epoch seconds, if that was on the memory's day."""
    from memoryfs import ledger

    first = next((e.time for e in ledger.read(root)[0] if e.id == memory.id and e.time), "")
    try:
        moment = datetime.fromisoformat(first)
    except ValueError:
        return None
    return moment.timestamp() + 1 if first[:10] == (memory.date or "")[:10] else None  # it is recorded in whole seconds


# -- evidence -----------------------------------------------------------------------------------------------------

def _proves(proof: Evidence, touching: Mapping[tuple[str, int], _Touch], ranges: Sequence[SourceRange]) -> bool:
    return (proof.thread, proof.index) in touching or any(
        r.thread == proof.thread and r.start <= proof.index <= r.end for r in ranges
    )


def _spans(touching: Mapping[tuple[str, int], _Touch], as_of: str | None, now: datetime) -> Iterable[Evidence]:
    """The passages that name the file, the latest first."""
    for touch in sorted(touching.values(), key=lambda t: (t.event.time or "", t.event.index), reverse=True):
        event = touch.event
        if as_of and (event.time or "") > now.isoformat():
            continue
        yield Evidence(
            thread=event.thread, index=event.index, start=touch.start, end=touch.end, text=event.text[touch.start : touch.end],
            event_id=event.id, role=event.role, time=event.time, source=event.source, line=event.line,
            score=STRENGTH[touch.how], why={"file": STRENGTH[touch.how]},
        )


def _bounded(evidence: Iterable[Evidence], k: int, max_tokens: int) -> Iterable[Evidence]:
    events: set[tuple[str, int]] = set()
    for proof in evidence:
        size = estimate_tokens(proof.text)
        key = (proof.thread, proof.index)
        if size <= max_tokens and (key in events or len(events) < k):
            events.add(key)
            max_tokens -= size
            yield proof
