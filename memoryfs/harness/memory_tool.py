"""In: a command of the Anthropic memory tool (`memory_20250818`). Out: its documented answer, done on a store's files.

`/memories` is the store: its topic files and what else the model keeps there, never threads/, archive/, the ledger, the settings or
dot files. Every write is atomic and hash-checked, secrets are redacted first, and the ledger learns who wrote: bullets that
the model adds get an id and a footnote as the agent's, not as a person's. Nothing is unlinked: `delete` moves to archive/.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from memoryfs.errors import MemoryfsError, OutsideStoreError, UsageError
from memoryfs.files import BRIEFING
from memoryfs.harness.memory_tool_text import (
    MemoryToolError,
    bytes_below,
    given,
    lines_of,
    numbered,
    places_of,
    plain,
    size,
    text_of,
)
from memoryfs.redact import redact
from memoryfs.store import Clock, MemoryStore, system_clock
from memoryfs.textfile import StoreLock, digest_of, inside, read_file, write_atomic

if TYPE_CHECKING:
    from memoryfs.ledger import Entry
    from memoryfs.topic import Topic

ROOT = "/memories"
MAX_LINES = 999_999
MAX_BYTES = 2_000_000
WAIT_SECONDS = 10.0
_OWN = {"threads", "archive", "ledger.jsonl", "memoryfs.toml", "inbox.md"}  # inbox.md: a tick there is a person's word


class MemoryTool:
    """The backend: `call(command)` gives the answer as text, and raises MemoryToolError with the documented message."""

    def __init__(self, root: str | os.PathLike[str], *, actor: str = "agent", clock: Clock = system_clock) -> None:
        self.store = MemoryStore.open(root, clock=clock)
        self.root = self.store.root.resolve()
        self.actor = actor

    def call(self, command: Mapping[str, Any]) -> str:
        """Do one command: view, create, str_replace, insert, delete or rename."""
        name = command.get("command")
        verbs = {"view": self._view, "create": self._create, "str_replace": self._str_replace, "insert": self._insert,
                 "delete": self._delete, "rename": self._rename}
        if name not in verbs:
            raise MemoryToolError(f"Unknown command: {str(name)[:60]}. Commands: {', '.join(verbs)}.")
        try:
            return verbs[name](command)
        except MemoryToolError:
            raise
        except MemoryfsError as error:
            raise MemoryToolError(f"{error.message} {error.remedy}".strip()) from error
        except OSError as error:
            raise MemoryToolError(f"The path cannot be used: {error.strerror or error}") from error

    # -- paths ----------------------------------------------------------------------------------------------------

    def _path(self, command: Mapping[str, Any], key: str = "path") -> tuple[str, str, Path]:
        """(as the model wrote it, relative to the store, absolute). Links are not followed out of the store."""
        shown = text_of(command, key)
        if shown != ROOT and not shown.startswith(ROOT + "/"):
            raise MemoryToolError(f"Path must start with {ROOT}, got: {shown[:200]}")
        relative = shown.removeprefix(ROOT).strip("/")
        parts = PurePosixPath(relative).parts
        odd = "\\" in relative or any(ord(c) < 32 for c in relative) or any(len(p.encode()) > 200 for p in parts)
        if ".." in shown.split("/") or "%2e" in relative.lower() or "%2f" in relative.lower() or odd:
            raise MemoryToolError(f"Path {shown[:200]} would escape {ROOT} directory")
        if any(part.startswith(".") for part in parts) or (parts and parts[0].casefold() in _OWN):
            raise MemoryToolError(f"The path {shown[:200]} does not exist. Please provide a valid path.")
        try:
            absolute = inside(self.root, relative) if relative else self.root
        except (OutsideStoreError, UsageError):
            raise MemoryToolError(f"Path {shown[:200]} would escape {ROOT} directory") from None
        if not absolute.exists() and redact(shown).spans:
            raise MemoryToolError("The path holds what looks like a secret. Name the file by what it is about.")
        return shown, relative, absolute

    def _file(self, command: Mapping[str, Any]) -> tuple[str, str, Path, str]:
        """A file that may be edited, with its text."""
        shown, relative, absolute = self._path(command)
        if not absolute.exists():
            raise MemoryToolError(f"The path {shown} does not exist. Please provide a valid path.")
        if not absolute.is_file():
            raise MemoryToolError(f"The path {shown} is not a file.")
        self._not_compiled(relative, shown)
        return shown, relative, absolute, self._read(absolute, shown)

    def _not_compiled(self, relative: str, shown: str) -> None:
        if relative.casefold() == BRIEFING.casefold():
            raise MemoryToolError(f"{shown} is compiled from the topic files. Edit those, for example {ROOT}/notes/general.md.")

    def _read(self, path: Path, shown: str) -> str:
        data = read_file(path).data
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise MemoryToolError(f"The file {shown} is not UTF-8 text.") from None

    # -- commands -------------------------------------------------------------------------------------------------

    def _view(self, command: Mapping[str, Any]) -> str:
        shown, _, absolute = self._path(command)
        if absolute.is_dir():
            return self._listing(shown, absolute)
        if not absolute.is_file():
            raise MemoryToolError(f"The path {shown} does not exist. Please provide a valid path.")
        lines = self._read(absolute, shown).split("\n")
        if len(lines) > MAX_LINES:
            raise MemoryToolError(f"File {shown} exceeds maximum line limit of 999,999 lines.")
        first, last = 1, len(lines)
        span = command.get("view_range")
        if span:
            if not isinstance(span, (list, tuple)) or len(span) != 2 or not all(type(n) is int for n in span):
                raise MemoryToolError("Invalid `view_range` parameter: two line numbers are expected.")
            first, last = max(1, span[0]), len(lines) if span[1] == -1 else span[1]
        return f"Here's the content of {shown} with line numbers:\n" + numbered(lines[first - 1 : max(last, 0)], first)

    def _listing(self, shown: str, folder: Path) -> str:
        rows = [f"{size(bytes_below(folder))}\t{shown}"]
        base = shown.rstrip("/")

        def walk(path: Path, name: str, depth: int) -> None:
            for entry in sorted(os.scandir(path), key=lambda e: e.name):
                if entry.name.startswith(".") or (path == self.root and entry.name.casefold() in _OWN) or entry.is_symlink():
                    continue
                if entry.is_dir():
                    rows.append(f"{size(bytes_below(Path(entry.path)))}\t{name}/{entry.name}/")
                    if depth < 2:
                        walk(Path(entry.path), f"{name}/{entry.name}", depth + 1)
                elif entry.is_file():
                    rows.append(f"{size(entry.stat().st_size)}\t{name}/{entry.name}")

        walk(folder, base, 1)
        header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
        return "\n".join([header, *rows])

    def _create(self, command: Mapping[str, Any]) -> str:
        shown, relative, absolute = self._path(command)
        self._not_compiled(relative, shown)
        if absolute.exists() or os.path.lexists(absolute):
            raise MemoryToolError(f"File {shown} already exists")
        self._write(relative, absolute, None, given(command, "file_text"))
        return f"File created successfully at: {shown}"

    def _str_replace(self, command: Mapping[str, Any]) -> str:
        shown, relative, absolute, old = self._file(command)
        wanted, by = text_of(command, "old_str"), given(command, "new_str", default="")
        count = old.count(wanted)
        if count == 0:
            raise MemoryToolError(
                f"No replacement was performed, old_str `{wanted}` did not appear verbatim in {shown}.")
        if count > 1:
            places = [str(old.count("\n", 0, at) + 1) for at in places_of(old, wanted)]
            raise MemoryToolError(f"No replacement was performed. Multiple occurrences of old_str `{wanted}` in lines: "
                                  f"{', '.join(places)}. Please ensure it is unique")
        line = old.count("\n", 0, old.index(wanted))
        lines = self._write(relative, absolute, old, old.replace(wanted, by)).split("\n")
        first = max(0, line - 2)
        return ("The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
                + numbered(lines[first : line + 3], first + 1))

    def _insert(self, command: Mapping[str, Any]) -> str:
        shown, relative, absolute, old = self._file(command)
        text, at = given(command, "insert_text"), command.get("insert_line")
        newline = "\r\n" if "\r\n" in old else "\n"
        lines = lines_of(old)
        if type(at) is not int or not 0 <= at <= len(lines):
            raise MemoryToolError(f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}].")
        piece = text.rstrip("\n").replace("\r\n", "\n").replace("\n", newline) + newline
        if at and not lines[at - 1].endswith("\n"):
            piece = newline + piece.removesuffix(newline)
        self._write(relative, absolute, old, "".join([*lines[:at], piece, *lines[at:]]))
        return f"The file {shown} has been edited."

    def _delete(self, command: Mapping[str, Any]) -> str:
        shown, relative, absolute = self._path(command)
        if not relative:
            raise MemoryToolError(f"Cannot delete the {ROOT} directory itself")
        self._not_compiled(relative, shown)
        if not absolute.exists():
            raise MemoryToolError(f"The path {shown} does not exist")
        with StoreLock(self.root, "edit", wait_seconds=WAIT_SECONDS):
            target = self.root / "archive" / relative
            number = 2
            while target.exists():
                target = (self.root / "archive" / relative).with_name(f"{absolute.stem} ({number}){absolute.suffix}")
                number += 1
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(absolute, target)
        self.store.refresh()
        return f"Successfully deleted {shown}"

    def _rename(self, command: Mapping[str, Any]) -> str:
        old_shown, old, source = self._path(command, "old_path")
        new_shown, new, target = self._path(command, "new_path")
        if not old or not new:
            raise MemoryToolError(f"Cannot rename the {ROOT} directory itself")
        for relative, shown in ((old, old_shown), (new, new_shown)):
            self._not_compiled(relative, shown)
        if not source.exists():
            raise MemoryToolError(f"The path {old_shown} does not exist")
        if os.path.lexists(target):
            raise MemoryToolError(f"The destination {new_shown} already exists")
        if target.is_relative_to(source):
            raise MemoryToolError(f"{old_shown} cannot be moved into itself")
        moved = [(path, new + path.removeprefix(old)) for path in self._topics_below(old)]
        with StoreLock(self.root, "edit", wait_seconds=WAIT_SECONDS):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(source, target)
            self._tell([e for a, b in moved for e in self._move_entries(a, b)])
        self.store.refresh()
        return f"Successfully renamed {old_shown} to {new_shown}"

    # -- writing --------------------------------------------------------------------------------------------------

    def _write(self, relative: str, path: Path, old: str | None, new: str) -> str:
        """Write `new` over `old` (None: there is no file); the text as it then stands, with ids where bullets had none."""
        if len(new.encode("utf-8")) > MAX_BYTES:
            raise MemoryToolError(f"The file would be larger than {MAX_BYTES} bytes.")
        text, entries = self._signed(relative, old or "", new) if relative.lower().endswith(".md") else (new, [])
        with StoreLock(self.root, "edit", wait_seconds=WAIT_SECONDS):
            write_atomic(path, text.encode("utf-8"), expect="" if old is None else digest_of(old.encode("utf-8")))
            self._tell(entries)
        self.store.refresh()
        return text

    def _signed(self, relative: str, old: str, new: str) -> tuple[str, list[Entry]]:
        """`new` with the agent's mark on what it added, and what the ledger is told of it."""
        from memoryfs import topic as topics
        from memoryfs import topic_edit

        before, after = topics.parse(old.encode("utf-8"), relative), topics.parse(new.encode("utf-8"), relative)
        if not after.writable:
            if before.writable:
                why = next((p for p in after.problems if p.severity == "error"), None)
                place = f" (line {why.line})" if why and why.line else ""
                raise MemoryToolError(f"The file would no longer be readable as memory{place}: {why.message if why else 'damaged'}")
            return new, []
        known = {plain(m.summary) for m in before.memories}
        today = self.store.clock().date().isoformat()
        while True:
            bare = [m for m in after.memories if not m.metadata.get("adopted", True) and plain(m.summary) not in known]
            if not bare:
                break
            last = bare[-1]  # from the end, so that the lines above stay where they are
            after = topic_edit.set_id(after, last.line, last.id, source_label=f"{self.actor}:{today}")
        return after.text, self._differences(relative, before, after)

    def _differences(self, relative: str, before: Topic, after: Topic) -> list[Entry]:
        from memoryfs.ledger import Entry

        now = self._now()
        was = {m.id: m for m in before.memories if m.metadata.get("adopted", True)}
        entries = []
        for memory in after.memories:
            if not memory.metadata.get("adopted", True):
                continue
            if memory.id not in was:
                entries.append(Entry(now, self.actor, "add", memory.id, relative, memory.summary, memory.kind, (), "memory tool",
                                     {"stated_by": self.actor}))
            elif memory.summary != was[memory.id].summary:
                entries.append(Entry(now, self.actor, "edit", memory.id, relative, memory.summary, memory.kind, (), "memory tool"))
        here = {m.id for m in after.memories}
        entries += [
            Entry(now, self.actor, "withdraw", m.id, relative, m.summary, m.kind, tuple(r.label for r in m.source_range), "memory tool")
            for m in was.values() if m.id not in here
        ]
        return entries

    def _move_entries(self, source: str, target: str) -> list[Entry]:
        from memoryfs import topic as topics
        from memoryfs.ledger import Entry

        parsed = topics.parse(read_file(self.root / target).data, target)
        return [Entry(self._now(), self.actor, "move", m.id, target, extra={"from": source})
                for m in parsed.memories if m.metadata.get("adopted", True)]

    def _topics_below(self, relative: str) -> list[str]:
        from memoryfs.files import topic_paths

        return [p for p in topic_paths(self.root, self.store.config) if p == relative or p.startswith(relative + "/")]

    def _tell(self, entries: list[Entry]) -> None:
        from memoryfs import ledger

        if entries:
            ledger.append(self.root, entries)

    def _now(self) -> str:
        now: datetime = self.store.clock()
        return now.isoformat(timespec="seconds")


def anthropic_tool(root: str | os.PathLike[str], *, actor: str = "agent", clock: Clock = system_clock) -> Any:
    """A tool for the Anthropic SDK's tool runner over the store at `root`. Needs the package `anthropic`."""
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

    backend = MemoryTool(root, actor=actor, clock=clock)

    def do(command: Any) -> str:
        fields = command if isinstance(command, Mapping) else command.model_dump(exclude_none=True)
        try:
            return backend.call(fields)
        except MemoryToolError as error:
            raise ToolError(str(error)) from error

    class StoreMemoryTool(BetaAbstractMemoryTool):
        """The SDK's memory tool on a memoryfs store."""

        def view(self, command: Any) -> str:
            return do(command)

        create = str_replace = insert = delete = rename = view

    return StoreMemoryTool()
