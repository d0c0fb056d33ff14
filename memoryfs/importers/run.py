"""In: a store and paths of transcripts. Out: its threads brought up to date, and a report that names every
trouble.

Secrets are redacted before anything reaches the disk. A stamp of each file's content
(`.memoryfs/imports.json`, a cache: deleting it changes nothing but the time) lets a second import skip what
it has read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memoryfs.config import load
from memoryfs.errors import ReadOnlyError, UsageError
from memoryfs.files import BRIEFING, OWN_FOLDERS, topic_paths
from memoryfs.importers.base import Turn, labelled
from memoryfs.importers.cleaning import clean_key, clean_name, clean_path, clean_problem, redact_draft
from memoryfs.importers.formats import BY_NAME, FORMATS, SUFFIXES, Format, Head, read_head
from memoryfs.model import Problem
from memoryfs.textfile import STATE, StoreLock, write_atomic
from memoryfs.thread import EventDraft, thread_path
from memoryfs.threadstore import ImportOutcome, ThreadNames, ThreadWriter

VERSION = 2  # of the parsers and redaction rules: a stamp of another version is not believed
STAMPS = "imports.json"
LOCK_SECONDS = 60.0
_SKIPPED_FOLDERS = {".git", ".memoryfs", "node_modules", "__pycache__", ".venv", "venv", "threads", "archive"}


@dataclass(frozen=True)
class ImportReport:
    """What an import did: one outcome a thread, problems by file, and how many secrets were taken out."""

    outcomes: tuple[ImportOutcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    redactions: int = 0

    @property
    def threads(self) -> tuple[str, ...]:
        """The threads that are new or changed, each once."""
        return tuple(dict.fromkeys(o.thread for o in self.outcomes if o.status != "unchanged"))

    def to_dict(self) -> dict[str, Any]:
        return {
            "outcomes": [o.to_dict() for o in self.outcomes],
            "problems": [p.to_dict() for p in self.problems],
            "redactions": self.redactions,
        }


def shown(path: str | os.PathLike[str]) -> str:
    """A path as text that can be written anywhere: undecodable bytes as `\\xff`."""
    return os.fspath(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def source_name(root: Path, path: Path) -> str:
    """How events name their transcript: relative to the store if inside it, `~/…` if at home, else
    absolute; without the secrets in it."""
    path = Path(os.path.abspath(path))
    for base, prefix in ((Path(os.path.abspath(root)), ""), (Path(os.path.expanduser("~")), "~/")):
        if base != Path("/") and path.is_relative_to(base):
            return clean_path(prefix + shown(path.relative_to(base)))
    return clean_path(shown(path))


def find_transcripts(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """The files named, and those inside the folders named that may be transcripts, in a fixed order, each
    once."""
    seen: set[str] = set()
    for path in paths:
        found: Iterable[Path] = _inside(Path(path)) if os.path.isdir(path) else (Path(path),)
        for each in found:
            key = os.path.realpath(each)
            if key not in seen:
                seen.add(key)
                yield each


def _inside(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            if name.lower().endswith(SUFFIXES) and name != "ledger.jsonl":
                yield Path(here, name)


class _Stamps:
    """Which files were read already, by the hash of their content."""

    def __init__(self, root: Path) -> None:
        self.path = root / STATE / STAMPS
        self.root = root
        self.files: dict[str, Any] = {}
        self.changed = False
        try:
            data = json.loads(self.path.read_bytes())
            if data.get("version") == VERSION:
                self.files = dict(data["files"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # a cache: without it everything is read again

    def known(self, key: str, digest: str, format_name: str) -> list[ImportOutcome] | None:
        stamp = self.files.get(key)
        try:
            if stamp["sha256"] != digest or stamp["format"] != format_name:
                return None
            for name, size in stamp["sizes"].items():
                path = thread_path(self.root, name)
                if os.stat(path).st_size < size and path.suffix != ".zst":  # a cold thread is whole, and smaller
                    return None
            return [
                ImportOutcome(
                    o["thread"], 0, o["total"], "unchanged", o["source"], (), o["session"], o["redactions"]
                )
                for o in stamp["outcomes"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError, OSError):
            return None

    def note(self, key: str, digest: str, format_name: str, outcomes: list[ImportOutcome]) -> None:
        sizes = {o.thread: os.stat(thread_path(self.root, o.thread)).st_size for o in outcomes}
        kept = [
            {
                "thread": o.thread,
                "total": o.total,
                "source": o.source,
                "session": clean_name(o.session),
                "redactions": o.redactions,
            }
            for o in outcomes
        ]
        stamp = {"sha256": digest, "format": format_name, "sizes": sizes, "outcomes": kept}
        if self.files.get(key) != stamp:
            self.files[key] = stamp
            self.changed = True

    def save(self) -> None:
        if self.changed:
            data = json.dumps({"version": VERSION, "files": self.files}, indent=0, sort_keys=True)
            write_atomic(self.path, data.encode("utf-8"))


def _digest(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class _OwnFiles:
    """The files that are the store: topics, briefing, ledger, threads, archive. The store is walked only when asked
    about a file below it."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._topics: frozenset[str] | None = None

    def __contains__(self, path: Path) -> bool:
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.root):
            return False
        relative = real.relative_to(self.root)
        if relative.parts[:1] and relative.parts[0] in {*OWN_FOLDERS, BRIEFING, "ledger.jsonl"}:
            return True
        if self._topics is None:
            self._topics = frozenset(topic_paths(self.root, load(self.root)[0]))
        return relative.as_posix() in self._topics


def import_paths(
    root: str | os.PathLike[str],
    paths: Iterable[str | os.PathLike[str]],
    *,
    format: str = "auto",
    progress: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> ImportReport:
    """Brings the store's threads up to date with these transcripts (files or folders).

    `format` is a name of the table or `auto` (by content); `progress(done, of, name)` is called before each
    file. Trouble with one file or line is a problem in
    the report and costs only itself. Raises UsageError for an unknown format, LockedError while another
    import runs, and ReadOnlyError where the store cannot be written.
    """
    if format != "auto" and format not in BY_NAME:
        raise UsageError(
            f"unknown format {format!r}", remedy="Known formats: auto, " + ", ".join(BY_NAME) + "."
        )
    root = Path(root)
    problems: list[Problem] = []
    work: list[tuple[int, int, Path, Format]] = []
    own = _OwnFiles(root)
    for number, path in enumerate(find_transcripts(paths)):
        if path in own:  # what was learned once is not learned again
            problems.append(Problem(shown(path), "a file of the store itself; it is not imported",
                                    "Name transcripts.", severity="warning"))
            continue
        chosen = _recognised(path, format, problems)
        if chosen:
            work.append((chosen.rank, number, path, chosen))
    outcomes: list[ImportOutcome] = []
    if work:
        with StoreLock(root, "import", wait_seconds=LOCK_SECONDS):
            stamps, names = _Stamps(root), ThreadNames(root)
            try:
                for done, (_rank, _number, path, chosen) in enumerate(sorted(work, key=lambda w: w[:2])):
                    progress(done, len(work), clean_name(shown(path.name)))
                    outcomes += _import_file(root, path, chosen, stamps, names, problems)
            finally:
                stamps.save()
    return ImportReport(
        tuple(outcomes), tuple(clean_problem(p) for p in problems), sum(o.redactions for o in outcomes if o.status != "unchanged")
    )


def _recognised(path: Path, wanted: str, problems: list[Problem]) -> Format | None:
    name = shown(path)
    try:
        if not path.exists():
            problems.append(Problem(name, "there is no such file", "Check the path."))
            return None
        if not path.is_file():
            problems.append(
                Problem(name, "not a regular file", "Name a transcript file or a folder of them.")
            )
            return None
        head: Head = read_head(path)
    except (OSError, ValueError) as error:
        problems.append(_unreadable(name, error))
        return None
    if not head.text.strip("\0 \t\r\n"):
        problems.append(Problem(name, "the file is empty", "Nothing to import.", severity="warning"))
        return None
    if wanted != "auto":
        return BY_NAME[wanted]
    found = next((f for f in FORMATS if f.sniff(head)), None)
    if found is None:
        what = "a binary file" if head.binary else "no transcript of a known format"
        remedy = "Name its format with --format (" + ", ".join(BY_NAME) + "), or leave it out."
        problems.append(Problem(name, what, remedy, severity="warning"))
    return found


def _unreadable(name: str, error: Exception) -> Problem:
    reason = getattr(error, "strerror", None) or str(error)
    return Problem(name, f"cannot be read: {reason}", "Check its permissions; import it again afterwards.")


def _import_file(
    root: Path, path: Path, chosen: Format, stamps: _Stamps, names: ThreadNames, problems: list[Problem]
) -> list[ImportOutcome]:
    source = source_name(root, path)
    try:
        digest = _digest(path)
    except OSError as error:
        problems.append(_unreadable(shown(path), error))
        return []
    key = clean_key(shown(os.path.abspath(path)))
    known = stamps.known(key, digest, chosen.name)
    if known is not None:
        return known
    before = len(problems)
    writers: dict[str, ThreadWriter] = {}
    try:
        _collect(root, path, chosen, source, names, writers, problems)
        outcomes = [replace(o, session=clean_name(o.session)) for w in writers.values() if (o := w.finish()) is not None]
    finally:
        for writer in writers.values():
            writer.close()
    for outcome in outcomes:
        problems.extend(outcome.problems)
    if not outcomes and len(problems) == before:
        problems.append(
            Problem(
                shown(path), f"holds no messages ({chosen.name})", "Nothing to import.", severity="warning"
            )
        )
    if len(problems) == before:
        stamps.note(key, digest, chosen.name, outcomes)
    return outcomes


def _collect(
    root: Path,
    path: Path,
    chosen: Format,
    source: str,
    names: ThreadNames,
    writers: dict[str, ThreadWriter],
    problems: list[Problem],
) -> None:
    try:
        for item in chosen.parse(path, source):
            if not isinstance(item, Turn):
                problems.append(item)
                continue
            draft, count = redact_draft(labelled(item.draft))
            writer = writers.get(item.session)
            if writer is None:
                writer = writers[item.session] = ThreadWriter(root, item.session, source, names)
                draft = _with_parent(draft, writers)
            writer.redactions += count
            writer.add(draft)
    except ReadOnlyError:
        raise
    except OSError as error:
        problems.append(_unreadable(shown(path), error))


def _with_parent(draft: EventDraft, writers: dict[str, ThreadWriter]) -> EventDraft:
    """Names the thread that a side chain belongs to, where that is known, instead of its session."""
    about = draft.metadata.get("session") or {}
    parent = writers.get(about.get("parent") or "")
    if parent is None or not parent.thread:
        return draft
    return draft.noting({"session": {**about, "parent": parent.thread}})
