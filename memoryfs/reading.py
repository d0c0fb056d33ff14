"""In: a reference (a topic, a section, a memory id, a range of a thread). Out: the text that stands there, unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs import thread
from memoryfs import topic as topics
from memoryfs.config import Config
from memoryfs.edits import load_topics, moved_to
from memoryfs.errors import NotFoundError, UsageError
from memoryfs.files import raw_ids
from memoryfs.model import Event, Memory, SourceRange
from memoryfs.textfile import inside, read_file

MAX_EVENTS = 200  # a range without an end is cut to this many events


@dataclass(frozen=True)
class Reading:
    """What `read` found: `kind` is topic, section, memory or thread; `events` only for a thread."""

    ref: str
    kind: str
    text: str
    path: str = ""
    memory: Memory | None = None
    events: tuple[Event, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"ref": self.ref, "kind": self.kind, "text": self.text}
        if self.path:
            out["path"] = self.path
        if self.memory:
            out["memory"] = self.memory.to_dict()
        if self.events:
            out["events"] = [e.to_dict() for e in self.events]
        return out


def read(root: Path, config: Config, ref: str) -> Reading:
    """Resolve `ref` in the order memory id, thread range, topic. Raises NotFoundError, OutsideStoreError."""
    cleaned = ref.strip()
    if cleaned.lstrip("[#").startswith(("^m-", "m-")):
        return _memory(root, config, cleaned)
    wanted = SourceRange.parse(cleaned)
    full = thread.resolve(root, wanted.thread if wanted else cleaned)
    if full is not None:
        return _thread(root, cleaned, wanted and SourceRange(full, wanted.start, wanted.end), full)
    if wanted is not None:
        raise NotFoundError(f"thread {wanted.thread}", remedy="`memoryfs list --threads` names the threads.")
    return _topic(root, config, cleaned)


def _memory(root: Path, config: Config, ref: str) -> Reading:
    wanted = memory_ref(ref)
    close: list[str] = []
    for path, topic in sorted(load_topics(root, config).items()):
        for memory in topic.memories:
            if memory.id == wanted:
                line = topic.lines[memory.line - 1].rstrip("\r\n")
                return Reading(ref, "memory", line, path=path, memory=memory)
            close.append(memory.id)
    from difflib import get_close_matches

    if (archived := _archived(root, ref, wanted)):
        return archived
    if (elsewhere := moved_to(root, wanted)):
        raise NotFoundError(f"memory ^{wanted} here; it moved to {elsewhere}", remedy="Read it there, with --store.")
    near = get_close_matches(wanted, close, n=3, cutoff=0.6)
    raise NotFoundError(f"memory ^{wanted}", remedy=f"Close ids: {', '.join('^' + n for n in near)}." if near
                        else "`memoryfs list` shows the ids.")


def _archived(root: Path, ref: str, wanted: str) -> Reading | None:
    """The memory where it stands in `archive/`, if it does."""
    for file in sorted((root / thread.ARCHIVE).rglob("*.md")):
        if wanted not in raw_ids(file):
            continue
        path = file.relative_to(root).as_posix()
        topic = topics.parse(read_file(file).data, path)
        memory = next((m for m in topic.memories if m.id == wanted), None)
        if memory is not None:
            return Reading(ref, "memory", topic.lines[memory.line - 1].rstrip("\r\n"), path=path, memory=memory)
    return None


def _thread(root: Path, ref: str, wanted: SourceRange | None, full: str) -> Reading:
    start, end = (wanted.start, wanted.end) if wanted else (0, MAX_EVENTS - 1)
    events = tuple(thread.read_events(root, full, start, end))
    if not events:
        raise NotFoundError(f"events {start}-{end} of thread {full}")
    text = "\n".join(f"[{e.index}] {e.role}/{e.kind} {e.time or ''}\n{e.text}\n" for e in events)
    return Reading(ref, "thread", text, path=thread.thread_path(root, full).relative_to(root).as_posix(),
                   events=events)


def _topic(root: Path, config: Config, ref: str) -> Reading:
    name, _, heading = ref.partition("#")
    path = inside(root, name)
    if not path.is_file() and not name.endswith(".md"):
        path = inside(root, name + ".md")
    if not path.is_file():  # a file whose own name holds a `#`
        path, heading = inside(root, ref), ""
    if not path.is_file():
        near = [p for p in load_topics(root, config) if name.removesuffix(".md").rsplit("/", 1)[-1].casefold() in p.casefold()]
        raise NotFoundError(ref, remedy=f"Close: {', '.join(sorted(near)[:3])}." if near
                            else "`memoryfs list` shows the topics.")
    relative = path.relative_to(root.resolve()).as_posix()
    data = read_file(path).data
    parsed = topics.parse(data, relative)
    if not heading:
        return Reading(ref, "topic", data.decode("utf-8", "replace"), path=relative)
    for section in parsed.sections:
        if section.title.casefold() == heading.strip().casefold():
            lines = parsed.lines[section.start : section.end]
            return Reading(ref, "section", "".join(lines), path=relative)
    names = ", ".join(s.title for s in parsed.sections)
    raise NotFoundError(f"section {heading!r} in {relative}", remedy=f"Its sections: {names}.")


def memory_ref(ref: str) -> str:
    """`m-7c01d2` from `^m-7c01d2`, `[[#^m-7c01d2]]` or itself; UsageError for anything else (a list position, say)."""
    bare = ref.strip().strip("[]").rpartition("^")[2]
    if not bare.startswith("m-") or len(bare) < 4:
        raise UsageError(f"{ref!r} is not a memory id", remedy="Ids look like ^m-7c01d2; recall and list show them.")
    return bare
