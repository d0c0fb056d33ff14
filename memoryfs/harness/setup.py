"""In: a harness's name and whether to connect or disconnect it. Out: the changes to its settings files, shown or made.

What was there before is kept once, beside the file, as NAME.before-memoryfs. Disconnecting gives those bytes back if
nothing else changed meanwhile; otherwise only our entries are taken out. A file that cannot be read is never written.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryfs.errors import ReadOnlyError, UnwritableFileError
from memoryfs.harness import entries
from memoryfs.harness.hosts import MARK, Target, targets
from memoryfs.textfile import digest_of, read_file, write_atomic

BACKUP = ".before-memoryfs"
_BOM = "\ufeff"


@dataclass(frozen=True)
class FileChange:
    """A settings file before and after; None where there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    done_with_backup: bool = False  # our entries are gone: the backup has served

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """A unified diff, as `diff -u` writes it; "" if nothing changes."""
        from difflib import unified_diff

        if not self.changed:
            return ""
        old = (self.before or b"").decode("utf-8", "replace").splitlines(keepends=True)
        new = (self.after or b"").decode("utf-8", "replace").splitlines(keepends=True)
        names = ("/dev/null" if self.before is None else str(self.path), "/dev/null" if self.after is None else str(self.path))
        lines = []
        for line in unified_diff(old, new, *names):
            lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
        return "".join(lines)


def own_command() -> tuple[str, ...]:
    """How this memoryfs is started: its console script, or Python with the package, by absolute path.

    -P keeps modules of the folder that a hook happens to run in out of the way.
    """
    script = Path(sys.executable).with_name("memoryfs")
    if script.is_file() and os.access(script, os.X_OK):
        return (str(script),)
    return (sys.executable, "-P", "-m", "memoryfs")


def plan(
    harness: str, environ: Mapping[str, str], *, remove: bool = False, command: Sequence[str] | None = None,
    memory_folder: Path | None = None, instructions: tuple[Path, Path] | None = None,
    edits: bool = False,
) -> tuple[FileChange, ...]:
    """Every file of the harness with its change, if any. Raises UsageError; UnwritableFileError for a file that is not
    what it should be; ReadOnlyError for one that cannot be read."""
    if remove and harness == "claude-code":
        memory_folder, edits = _options_set(targets(harness, environ, ("memoryfs",))[0].path)
    wanted = targets(harness, environ, command or own_command(), memory_folder=memory_folder, instructions=instructions, edits=edits)
    return tuple(_removal(target) if remove else _addition(target) for target in wanted)


def apply(change: FileChange) -> None:
    """Make the change, after a backup. Raises ReadOnlyError; ChangedMeanwhileError if the harness wrote meanwhile."""
    backup = backup_of(change.path)
    if change.changed:
        if change.after is None:
            _same(change)
            os.unlink(change.path)
        else:
            _make_folder(change.path.parent)
            mode = stat.S_IMODE(os.stat(change.path).st_mode) if change.before is not None else None
            if change.before is not None and not change.done_with_backup and not backup.exists():
                write_atomic(backup, change.before, expect="", mode=mode)
            write_atomic(change.path, change.after, expect=digest_of(change.before) if change.before is not None else "")
    if change.done_with_backup and backup.exists():
        os.unlink(backup)


def backup_of(path: Path) -> Path:
    """Where the original of a settings file is kept; beside the file itself, where `path` is a link to it."""
    real = Path(os.path.realpath(path))
    return real.with_name(real.name + BACKUP)


def _options_set(settings: Path) -> tuple[Path | None, bool]:
    """What Claude Code's settings say: the folder of its own memory if that is a store of ours, and whether edits are hooked."""
    from memoryfs.harness import jsonc

    try:
        value = jsonc.parse(_text(settings, _read(settings))[1]).value
        folder, groups = value.get("autoMemoryDirectory"), value.get("hooks", {}).get("PreToolUse", [])
    except (ValueError, AttributeError, UnwritableFileError):
        return None, False
    ours = isinstance(folder, str) and (Path(folder) / ".memoryfs").is_dir()
    return Path(folder) if ours else None, isinstance(groups, list) and any(entries.is_ours(group) for group in groups)


def _same(change: FileChange) -> None:
    from memoryfs.errors import ChangedMeanwhileError

    if _read(change.path) != change.before:
        raise ChangedMeanwhileError(str(change.path))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReadOnlyError(str(folder), error.strerror or error) from error


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path).data
    except FileNotFoundError:
        if path.is_symlink():
            raise UnwritableFileError(str(path), "it is a link to nowhere") from None
        return None
    except OSError as error:
        raise ReadOnlyError(str(path), error.strerror or error) from error


def _text(path: Path, data: bytes | None) -> tuple[str, str]:
    """(byte-order mark, text) of a settings file."""
    try:
        text = (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnwritableFileError(str(path), f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _addition(target: Target) -> FileChange:
    before = _read(target.path)
    return FileChange(target.path, before, _added(target, before))


def _added(target: Target, before: bytes | None) -> bytes:
    if target.kind == "text":
        return target.text.encode("utf-8")
    mark, text = _text(target.path, before)
    try:
        if target.kind == "toml":
            for entry in target.entries:
                text = entries.add_toml(text, entry)
        elif target.kind == "line":
            text = entries.add_line(text, target.text, MARK)
        else:
            text = entries.add_json(text, target.entries)
    except ValueError as error:  # tomllib's and tomlkit's errors are ValueErrors too
        raise UnwritableFileError(str(target.path), str(error)) from error
    return (mark + text).encode("utf-8")


def _removal(target: Target) -> FileChange:
    before = _read(target.path)
    if before is None:
        return FileChange(target.path, None, None)
    if target.kind == "text":
        return FileChange(target.path, before, None)
    original = _read(backup_of(target.path))
    if original is not None and _added(target, original) == before:
        return FileChange(target.path, before, original, done_with_backup=True)
    mark, text = _text(target.path, before)
    old = _text(target.path, original)[1] if original is not None else None
    try:
        if target.kind == "toml":
            for entry in target.entries:
                text = entries.remove_toml(text, entry, old)
        elif target.kind == "line":
            text = entries.remove_line(text, MARK)
        else:
            text = entries.remove_json(text, target.entries, old)
    except ValueError as error:
        raise UnwritableFileError(str(target.path), str(error)) from error
    ours_alone = original is None and text.strip() in ("", "{}") and text.strip() != before.decode("utf-8").strip()
    after = None if ours_alone else (mark + text).encode("utf-8")
    return FileChange(target.path, before, after, done_with_backup=True)
