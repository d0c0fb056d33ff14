"""In: what `doctor` knows, the harnesses' settings and transcripts. Out: findings: a hook or server that cannot start, a session about
to be deleted before it was imported."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs import scope, thread
from memoryfs.errors import MemoryfsError
from memoryfs.harness import hosts
from memoryfs.harness.hosts import NAME
from memoryfs.model import Problem

if TYPE_CHECKING:
    from memoryfs.doctor import Context

DEFAULT_DAYS = 30  # of Claude Code's cleanupPeriodDays
NOTICE_DAYS = 7  # before the deletion
DAY = 86_400
_HEAD = 60  # lines of a transcript in which its directory stands
_PLUGIN = re.compile(r"COMMAND\s*=\s*(\[[^\]]*\])")


def hooks_and_servers(context: Context) -> Iterator[Problem]:
    """The hooks and MCP servers by which harnesses start memoryfs can be started."""
    for harness in hosts.HARNESSES:
        try:
            targets = hosts.targets(harness, context.environ, (NAME,))
        except MemoryfsError:
            return  # no home directory: no harness either
        for target in targets:
            yield from _settings(harness, target.path, context.environ)


def _settings(harness: str, path: Path, environ: Mapping[str, str]) -> Iterator[Problem]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        yield Problem(str(path), f"cannot be read, so nobody knows whether {harness} starts memoryfs: {error}",
                      "Check its permissions.", severity="warning")
        return
    if NAME not in text:
        return
    try:
        programs = dict.fromkeys(_programs(path, text))
    except ValueError as error:
        yield Problem(str(path), f"{harness} cannot read its settings: {error}", "Mend the file; `memoryfs setup` keeps backups.")
        return
    for program in programs:
        if shutil.which(program, path=environ.get("PATH", os.defpath)) is None:
            yield Problem(str(path), f"{harness} shall start {program}, which is not there",
                          f"`memoryfs setup {harness}` writes where memoryfs is now; with --remove it takes it out.")


def _programs(path: Path, text: str) -> Iterator[str]:
    """The programs of our entries. Raises ValueError for a file that its harness cannot read either."""
    if path.suffix == ".js":
        for match in _PLUGIN.finditer(text):
            yield from json.loads(match[1])[:1]
        return
    if path.suffix == ".toml":
        data: Any = tomllib.loads(text)
    else:
        from memoryfs.harness import jsonc

        data = jsonc.parse(text).value
    yield from _walk(data, ours=False)


def _walk(value: Any, *, ours: bool) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, ours=ours)
        return
    if not isinstance(value, dict):
        return
    command = value.get("command")
    if isinstance(command, list) and command and (ours or any(NAME in str(word) for word in command)):
        yield str(command[0])
    elif isinstance(command, str) and "args" in value:
        if ours or NAME in command:
            yield command
    elif isinstance(command, str) and (ours or NAME in command):
        words = [word for word in shlex.split(command) if not re.match(r"\w+=", word)]
        yield from words[:1]
    for key, item in value.items():
        yield from _walk(item, ours=ours or key == NAME)


def transcripts(context: Context) -> Iterator[Problem]:
    """No session of this store is about to be deleted by its harness before it is imported."""
    given = context.environ.get("CLAUDE_CONFIG_DIR")
    try:
        folder = Path(given) if given else Path(context.environ.get("HOME") or Path.home()) / ".claude"
    except RuntimeError:
        return
    days = _period(folder / "settings.json")
    if days is None:
        return
    if days <= 0:
        yield Problem(str(folder / "settings.json"), "cleanupPeriodDays is 0: Claude Code keeps no transcript to learn from",
                      "Set it to 30 or more.", severity="warning")
        return
    lost = _lost(context, folder, context.store.clock().timestamp() - (days - NOTICE_DAYS) * DAY)
    if lost:
        many = f"{len(lost)} session{'s' * (len(lost) != 1)}"
        yield Problem(str(lost[0]), f"{many} that Claude Code deletes within {NOTICE_DAYS} days (cleanupPeriodDays is {days}) "
                      f"{'are' if len(lost) != 1 else 'is'} not imported",
                      "`memoryfs organize` imports what is finished, `memoryfs import PATH` any file.", severity="warning")


def _period(settings: Path) -> int | None:
    """Days that transcripts are kept; None if Claude Code is not installed here, or its settings cannot be read."""
    try:
        data = json.loads(settings.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return DEFAULT_DAYS if settings.parent.is_dir() else None
    except (OSError, ValueError):
        return None
    days = data.get("cleanupPeriodDays", DEFAULT_DAYS) if isinstance(data, dict) else DEFAULT_DAYS
    return int(days) if isinstance(days, (int, float)) and not isinstance(days, bool) else DEFAULT_DAYS


def _lost(context: Context, folder: Path, before: float) -> list[Path]:
    """Transcripts last written before a Unix time whose session belongs to this store and is not in it, oldest first."""
    root = context.store.root
    have = {name.rsplit("-", 1)[-1].partition("~")[0] for name in thread.list_threads(root)}
    out: list[tuple[float, Path]] = []
    for path in sorted((folder / "projects").glob("*/*.jsonl")):
        try:
            changed = path.stat().st_mtime
        except OSError:
            continue
        if changed >= before or hashlib.sha256(path.stem.encode()).hexdigest()[:6] in have:
            continue
        home = _directory(path)
        store = scope.store_for(Path(home), context.environ) if home else None
        if store is not None and os.path.realpath(store) == os.path.realpath(root):
            out.append((changed, path))
    return [path for _, path in sorted(out)]


def _directory(path: Path) -> str | None:
    """The directory that a transcript says it was run in."""
    try:
        with path.open("rb") as file:
            for _, line in zip(range(_HEAD), file, strict=False):
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if isinstance(row, dict) and isinstance(row.get("cwd"), str):
                    return row["cwd"]
    except OSError:
        return None
    return None


CHECKS = (hooks_and_servers, transcripts)
