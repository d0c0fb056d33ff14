"""In: a reference (a topic, a section, a memory id, a range of a thread). Out: the text that stands there, unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoryfs import thread
from memoryfs.errors import NotFoundError
from memoryfs.model import SourceRange
from memoryfs.textfile import inside, read_file

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore, Reading

MAX_EVENTS = 200  # a range without an end is cut to this many events


def read(store: MemoryStore, ref: str) -> Reading:
    """Resolve `ref` in the order memory id, thread range, topic. Raises NotFoundError, OutsideStoreError."""
    cleaned = ref.strip()
    if cleaned.lstrip("[#").startswith(("^m-", "m-")):
        return _memory(store, cleaned)
    wanted = SourceRange.parse(cleaned)
    full = thread.resolve(store.root, wanted.thread if wanted else cleaned)
    if full is not None:
        return _thread(store, cleaned, wanted and SourceRange(full, wanted.start, wanted.end), full)
    if wanted is not None:
        raise NotFoundError(f"thread {wanted.thread}", remedy="`memoryfs list --threads` names the threads.")
    return _topic(store, cleaned)


def _memory(store: MemoryStore, ref: str) -> Reading:
    from memoryfs.store import Reading, memory_ref

    wanted = memory_ref(ref)
    close: list[str] = []
    for path, topic in sorted(store.topics().items()):
        for memory in topic.memories:
            if memory.id == wanted:
                line = topic.lines[memory.line - 1].rstrip("\r\n")
                return Reading(ref, "memory", line, path=path, memory=memory)
            close.append(memory.id)
    from difflib import get_close_matches

    near = get_close_matches(wanted, close, n=3, cutoff=0.6)
    raise NotFoundError(f"memory ^{wanted}", remedy=f"Close ids: {', '.join('^' + n for n in near)}." if near
                        else "`memoryfs list` shows the ids.")


def _thread(store: MemoryStore, ref: str, wanted: SourceRange | None, full: str) -> Reading:
    from memoryfs.store import Reading

    start, end = (wanted.start, wanted.end) if wanted else (0, MAX_EVENTS - 1)
    events = tuple(thread.read_events(store.root, full, start, end))
    if not events:
        raise NotFoundError(f"events {start}-{end} of thread {full}")
    text = "\n".join(f"[{e.index}] {e.role}/{e.kind} {e.time or ''}\n{e.text}\n" for e in events)
    return Reading(ref, "thread", text, path=thread.thread_path(store.root, full).relative_to(store.root).as_posix(),
                   events=events)


def _topic(store: MemoryStore, ref: str) -> Reading:
    from memoryfs import topic as topics
    from memoryfs.store import Reading

    name, _, heading = ref.partition("#")
    path = inside(store.root, name)
    if not path.is_file() and not name.endswith(".md"):
        path = inside(store.root, name + ".md")
    if not path.is_file():  # a file whose own name holds a `#`
        path, heading = inside(store.root, ref), ""
    if not path.is_file():
        near = [p for p in store.topics() if name.removesuffix(".md").rsplit("/", 1)[-1].casefold() in p.casefold()]
        raise NotFoundError(ref, remedy=f"Close: {', '.join(sorted(near)[:3])}." if near
                            else "`memoryfs list` shows the topics.")
    relative = path.relative_to(store.root.resolve()).as_posix()
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
