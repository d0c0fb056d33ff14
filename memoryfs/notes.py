"""In: files and folders of other tools' memories. Out: topic files that hold the same text, with their provenance.

Known kinds: Claude Code auto memory, OpenClaw workspaces, basic-memory notes, Cline memory banks, and instruction
files (CLAUDE.md, AGENTS.md, GEMINI.md). A note's text is copied byte for byte; only `imported_from` is added to its
front matter, where that can be done safely. Importing again brings a changed note up to date unless a person has
edited our copy since: then both stay and the report says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs import ledger, topic, topic_edit
from memoryfs.errors import MemoryfsError, UnwritableFileError
from memoryfs.importers.cleaning import clean_name
from memoryfs.importers.run import shown, source_name
from memoryfs.model import Problem
from memoryfs.redact import redact
from memoryfs.textfile import digest_of, inside, read_file, slug, write_atomic

INSTRUCTIONS = ("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md")
OPENCLAW = ("soul.md", "user.md", "identity.md", "tools.md", "heartbeat.md", "bootstrap.md")
DAY = re.compile(r"^\d{4}-\d{2}-\d{2}(?:-.*)?\.md$")
MAX_BYTES = 4 * 1024 * 1024
FOLDER = {"instructions": "preferences"}  # kinds that are not filed under notes/
KINDS = ("claude-memory", "openclaw", "basic-memory", "cline", "instructions")


@dataclass(frozen=True)
class Imported:
    """One note: where it stood, the topic file it became, and `new`, `updated`, `unchanged` or `kept` (edited here)."""

    source: str
    topic: str
    status: str


@dataclass(frozen=True)
class NotesReport:
    """What became of the notes that were found."""

    imported: tuple[Imported, ...]
    problems: tuple[Problem, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"notes": [vars(i) for i in self.imported], "problems": [p.to_dict() for p in self.problems]}


def kind_of(path: Path) -> str | None:
    """The tool that wrote the note at `path`, by its name, its folder and its first lines; None for any other file."""
    name = path.name.casefold()
    if not name.endswith(".md"):
        return None
    if name in INSTRUCTIONS:
        return "instructions"
    folder = path.parent.name.casefold()
    if folder in ("memory-bank", "memory_bank"):
        return "cline"
    workspace = path.parent if folder != "memory" else path.parent.parent
    if _holds(workspace, OPENCLAW) and (name in OPENCLAW or name == "memory.md" or (folder == "memory" and DAY.match(name))):
        return "openclaw"
    if folder == "memory":
        return "openclaw" if DAY.match(name) else "claude-memory"
    head = _head(path)
    if re.search(r"(?m)^permalink:\s*\S", head):
        return "basic-memory"
    return None


def _holds(folder: Path, names: Iterable[str]) -> bool:
    try:
        return any(entry.name.casefold() in names for entry in os.scandir(folder))
    except OSError:
        return False


def _head(path: Path) -> str:
    """The text of a closed front-matter block at the file's start, or nothing."""
    try:
        with path.open("rb") as file:
            text = file.read(8192).decode("utf-8-sig", "replace")
    except OSError:
        return ""
    match = re.match(r"---\r?\n(.*?)\r?\n---\r?(?:\n|$)", text, re.DOTALL)
    return match[1] if match else ""


def find(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Every note below `paths` with its kind, in the order of their names; hidden folders are read, `.git` is not."""
    for path in paths:
        if path.is_dir():
            for folder, folders, files in os.walk(path):
                folders[:] = sorted(f for f in folders if f not in (".git", "node_modules", ".memoryfs", ".obsidian"))
                for name in sorted(files):
                    kind = kind_of(Path(folder, name))
                    if kind:
                        yield Path(folder, name), kind
        else:
            kind = kind_of(path)
            if kind:
                yield path, kind


def import_notes(root: Path, notes: Iterable[tuple[Path, str]], *, now: datetime) -> NotesReport:
    """Copy each (path, kind) into the store at `root`. A note that cannot be read costs only itself."""
    entries, problems = ledger.read(root)
    last = {e.extra.get("from"): e for e in entries if e.action == "import"}
    done: list[Imported] = []
    found: list[Problem] = list(problems)
    for path, kind in notes:
        try:
            imported, entry = _import_one(root, path, kind, last, now)
        except (OSError, MemoryfsError) as error:
            message = error.message if isinstance(error, MemoryfsError) else error.strerror or str(error)
            found.append(Problem(clean_name(shown(path)), f"not imported: {clean_name(message)}"))
            continue
        done.append(imported)
        if entry is not None:
            ledger.append(root, [entry])
            last[entry.extra["from"]] = entry
        if imported.status == "kept":
            found.append(Problem(imported.topic, f"was edited here and has changed in {imported.source} since; it was left as it is",
                                 "Merge by hand, or delete the topic file and import again.", severity="warning"))
    return NotesReport(tuple(done), tuple(found))


def _import_one(
    root: Path, path: Path, kind: str, last: dict[Any, ledger.Entry], now: datetime
) -> tuple[Imported, ledger.Entry | None]:
    source = source_name(root, path)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise MemoryfsError(f"{size:,} bytes is more than a note of {MAX_BYTES:,}", remedy="Split it.")
    data = path.read_bytes()
    digest = digest_of(data)
    before = last.get(source)
    target = before.topic if before else _free(root, _target(Path(clean_name(shown(path))), kind), {e.topic for e in last.values()})
    place = inside(root, target)
    current = read_file(place).digest if place.exists() else ""
    if before and before.extra.get("digest") == digest:
        return Imported(source, target, "unchanged"), None
    if before and current and current != before.extra.get("copy"):
        return Imported(source, target, "kept"), None
    copy = _with_provenance(data, target, source, kind)
    write_atomic(place, copy, expect=current)
    entry = ledger.Entry(
        time=now.isoformat(), actor="person", action="import", id="", topic=target, why=f"imported from {kind}",
        extra={"from": source, "digest": digest, "copy": digest_of(copy)},
    )
    return Imported(source, target, "updated" if before else "new"), entry


def _target(path: Path, kind: str) -> str:
    """`notes/KIND/PROJECT-NAME.md`: readable, and the same on every machine."""
    parents = [p for p in path.parts[:-1] if p.casefold() not in ("memory", "memory-bank", "memory_bank", ".claude", "docs", "/")]
    project = parents[-1] if parents else ""
    name = slug(f"{project} {path.stem}" if project else path.stem)
    return f"{FOLDER.get(kind, 'notes/' + kind)}/{name}.md"


def _free(root: Path, wanted: str, taken: set[str]) -> str:
    stem, number, name = wanted.removesuffix(".md"), 2, wanted
    while name in taken or (root / name).exists():
        name, number = f"{stem}-{number}.md", number + 1
    return name


def _with_provenance(data: bytes, target: str, source: str, kind: str) -> bytes:
    clean = redact(data.decode("utf-8", "surrogateescape")).text.encode("utf-8", "surrogateescape")
    parsed = topic.parse(clean, target)
    try:
        for key, value in (("imported_from", source), ("imported_as", kind)):
            parsed = topic_edit.set_meta(parsed, key, value)
    except UnwritableFileError:
        return clean  # not ours to mend: the copy is exact, its provenance stands in the ledger
    return topic.render(parsed)
