"""In: a store whose files a person may have edited. Out: the edits understood: ids and sources written, the ledger told, a report.

The files are written first, then the ledger; a kill between leaves ids that the next run takes in as they stand. A file
that is saved again and again meanwhile, or that is not safe to write, is put off with a line in the report. When no
file changed since the last adoption, the files are hashed and nothing else is done. A merging that a kill left half done is
completed first: its traces are nobody's edits.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits import unfinished
from memoryfs.edits.diff import After, Before, diff, needed
from memoryfs.edits.load import read_topics
from memoryfs.edits.plan import AdoptReport, Finding, Step
from memoryfs.edits.steps import take_steps
from memoryfs.edits.write import edit_topic
from memoryfs.errors import ChangedMeanwhileError, MemoryfsError, NotFoundError, ReadOnlyError
from memoryfs.files import INBOX, raw_ids, scan
from memoryfs.model import Problem
from memoryfs.textfile import read_file, write_atomic
from memoryfs.topic import Topic

_STAMP = ".memoryfs/adopted.json"
_VERSION = 1


def adopt(root: Path, config: Config, *, now: datetime, dry_run: bool = False) -> AdoptReport:
    """Understands every hand edit since the last run (see `memoryfs.edits.diff` for the rules). Raises ReadOnlyError."""
    work, stuck = (None, ()) if dry_run else unfinished.complete(root, config)
    completed = (work.change,) if work else ()
    stamp = _fingerprint(root, config)
    if stamp is not None and stamp == _read_stamp(root):
        return AdoptReport(completed, stuck)
    entries, problems = ledger.read(root)
    topics, found = read_topics(root, config)
    before = Before(ledger.state(entries), ledger.reviews(entries), ledger.topic_meta(entries), ledger.own_meta(entries), not entries)
    findings, more = diff(before, _after(root, topics, found.aside), now=now.isoformat(timespec="seconds"))
    told = [*stuck, *problems, *found.problems, *(p for topic in topics.values() for p in topic.problems), *more]
    shown = tuple(finding.change for finding in findings if finding.change.action != "nothing")
    if dry_run:
        return AdoptReport(shown, tuple(told), tuple(needed(findings)))
    written, failed, refused = _write(root, config, findings, now.date().isoformat())
    done = [finding for finding in findings if _stands(finding, written, failed)]
    ledger.append(root, (entry for finding in done for entry in finding.entries))
    if not needed(findings) and stamp is not None:
        # A file written here may hold words that were saved after it was read: only unwritten ones are known.
        _write_stamp(root, {**stamp, "ledger": _ledger_size(root)})
    changes = tuple(finding.change for finding in done if finding.change.action != "nothing")
    return AdoptReport((*completed, *changes), (*told, *refused), tuple(sorted(written)))


def _after(root: Path, topics: dict[str, Topic], aside: Iterable[str]) -> After:
    held: set[str] = set(raw_ids(root / INBOX))
    for path, topic in topics.items():
        if not topic.writable:
            held |= raw_ids(root / path)
    for path in aside:
        held |= raw_ids(path)
    placed = {memory.id for topic in topics.values() for memory in topic.memories}
    return After(topics, frozenset(held - placed), _archived(root))


def _archived(root: Path) -> dict[str, str]:
    """Ids in the Markdown files of archive/, by path."""
    out: dict[str, str] = {}
    for folder, _, names in os.walk(root / "archive"):
        for name in sorted(names):
            if name.lower().endswith(".md"):
                path = Path(folder, name)
                for id in sorted(raw_ids(path)):
                    out.setdefault(id, path.relative_to(root).as_posix())
    return out


def _write(
    root: Path, config: Config, findings: tuple[Finding, ...], day: str
) -> tuple[dict[str, Topic], set[tuple[str, Step]], list[Problem]]:
    """Files written, steps that could not be taken, and why."""
    written: dict[str, Topic] = {}
    failed: set[tuple[str, Step]] = set()
    problems: list[Problem] = []
    for path, steps in needed(findings).items():
        refused: dict[Step, MemoryfsError] = {}

        def edit(topic: Topic, steps: tuple[Step, ...] = steps, refused: dict[Step, MemoryfsError] = refused) -> Topic:
            refused.clear()
            return take_steps(topic, steps, day=day, refused=refused)

        try:
            written[path] = edit_topic(root, path, edit, config=config)
        except ChangedMeanwhileError as error:
            problems.append(Problem(path, f"{error.message} Put off.", "The next run looks at it again.", severity="warning"))
            refused = dict.fromkeys(steps, error)
        except (ReadOnlyError, NotFoundError) as error:
            problems.append(Problem(path, error.message, error.remedy))
            refused = dict.fromkeys(steps, error)
        else:
            problems += [Problem(path, f"^{step.id}: {error.message}", error.remedy) for step, error in refused.items()]
            # The person's words stand without our mark or move to History too: those are recorded all the same.
            refused = {step: error for step, error in refused.items() if step.kind not in ("person", "strike")}
        failed |= {(path, step) for step in refused}
    return written, failed, problems


def _stands(finding: Finding, written: dict[str, Topic], failed: set[tuple[str, Step]]) -> bool:
    """Whether a finding's files were written as planned, so that it may be recorded."""
    for path, steps in finding.steps.items():
        if any((path, step) in failed for step in steps):
            return False
        ids = {memory.id for memory in written[path].memories}
        if any(step.kind == "adopt" and step.id not in ids for step in steps):
            return False
    return True


def _ledger_size(root: Path) -> int:
    try:
        return os.stat(root / ledger.FILE).st_size
    except FileNotFoundError:
        return 0


def _fingerprint(root: Path, config: Config) -> dict[str, object] | None:
    """Hashes of what adoption looks at; None if a file cannot be read just now."""
    digest = hashlib.sha256()
    found = scan(root, config)
    try:
        for file in found.files:
            digest.update(f"{file.path}\0{read_file(root / file.path).digest}\n".encode("utf-8", "surrogatepass"))
    except OSError:
        return None
    if found.problems:
        return None
    return {"version": _VERSION, "files": digest.hexdigest(), "ledger": _ledger_size(root)}


def _read_stamp(root: Path) -> dict[str, object] | None:
    try:
        return json.loads((root / _STAMP).read_bytes())
    except (OSError, ValueError):
        return None


def _write_stamp(root: Path, stamp: dict[str, object]) -> None:
    with contextlib.suppress(ReadOnlyError):  # without it the next adoption looks at every file again
        write_atomic(root / _STAMP, json.dumps(stamp).encode())
