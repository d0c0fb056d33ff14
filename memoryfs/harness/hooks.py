"""In: a `Call` and the environment. Out: what the session is given, as text, and what was noted for the organizer.

Session start: the briefings of the stores that apply, nearest first. A prompt: the memories that matter for it, or
nothing; likewise for a file about to be changed. Before a compaction and at an end: the transcript's path goes to the queue. Nothing is given twice.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs import briefing_cache, scope
from memoryfs import config as settings
from memoryfs.config import Config
from memoryfs.files import BRIEFING
from memoryfs.harness import call as calls
from memoryfs.harness import fence, queue, seen
from memoryfs.harness.call import Call
from memoryfs.scope import Scope

if TYPE_CHECKING:
    from memoryfs.harness.relevant import Match

MIN_ROOM = 400  # bytes; less is not worth a block
SYNC_SHARE = 0.35  # of the deadline, for bringing the index up to date


@dataclass
class Progress:
    """What is known so far; the caller reads it if the work takes too long."""

    root: Path | None = None
    config: Config = field(default_factory=Config)
    last_good: str = ""  # the nearest store's MEMORY.md as it stands
    queued: bool = False


def answer(
    call: Call, environ: Mapping[str, str], *, now: datetime, progress: Progress, store: Path | None = None
) -> str:
    """The text for the session, "" for none. Raises MemoryfsError and OSError; the caller fails open."""
    scopes = (Scope(store, 0),) if store is not None else scope.cascade(call.cwd, environ)
    scopes = tuple(s for s in scopes if s.root.is_dir())
    if not scopes:
        return ""
    progress.root = scopes[0].root
    progress.config, _ = settings.load(scopes[0].root)
    if call.event == calls.SESSION_START:
        progress.last_good = _read(scopes[0].root / BRIEFING)
        return _start(call, scopes, progress, now)
    if call.event == calls.PROMPT:
        return _prompt(call, scopes, progress, now)
    if call.event == calls.PRE_TOOL:
        return _edit(call, scopes, progress, now)
    progress.queued = queue.add(progress.root, call.transcript, event=call.event, cwd=str(call.cwd))
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _start(call: Call, scopes: Sequence[Scope], progress: Progress, now: datetime) -> str:
    root = scopes[0].root
    room = budget(progress.config)
    blocks: list[str] = []
    texts: list[str] = []
    for place in scopes:
        config = progress.config if place.root == root else settings.load(place.root)[0]
        text = briefing_cache.read_fresh(place.root, config, now=now)
        block = fit(text, place.root, room)
        if not block or not _says_something(text):
            continue
        blocks.append(block)
        texts.append(text)
        room -= len(block.encode("utf-8")) + 1
        if room < MIN_ROOM:
            break
    had = seen.load(root, call.session)
    mark = seen.digest("\0".join(texts))
    if call.source == "resume" and had.briefing == mark:
        return ""
    if call.source != "resume":
        had.ids.clear()
    had.briefing = mark
    seen.save(root, call.session, had)
    return "\n".join(blocks)


def _says_something(text: str) -> bool:
    return any(line.startswith(("- ", "* ")) and "Nothing here yet" not in line for line in text.splitlines()) or (
        "## Notes\n" in text and bool(text.partition("## Notes\n")[2].partition("<!--")[0].strip()))


def budget(config: Config) -> int:
    """Bytes of text that a hook may give: what its JSON around it needs is taken off."""
    return max(0, config.hooks.max_bytes - 200)


def fit(text: str, root: Path, room: int) -> str:
    """The briefing as a block of at most `room` bytes, counted as they will stand in JSON; "" if that is too little."""
    where = str(root)
    limit = room - json_bytes(fence.fenced(fence.BRIEFING, "", store=where))
    for _ in range(6):
        if limit < MIN_ROOM // 2:
            return ""
        if json_bytes(fence.escape(text)) <= limit:
            return fence.fenced(fence.BRIEFING, text, store=where)
        from memoryfs.briefing import for_harness

        shorter = for_harness(text, None, max_bytes=limit - (json_bytes(text) - len(text.encode("utf-8"))))
        block = fence.fenced(fence.BRIEFING, shorter, store=where)
        if shorter and json_bytes(block) <= room:
            return block
        limit -= max(64, limit // 10)
    return ""


def json_bytes(text: str) -> int:
    """The bytes of `text` inside a JSON string."""
    import json

    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2


def _prompt(call: Call, scopes: Sequence[Scope], progress: Progress, now: datetime) -> str:
    from memoryfs.harness import relevant
    from memoryfs.harness.tail import last_turns

    limit = progress.config.hooks.memories
    if not call.prompt.strip() or call.prompt.lstrip().startswith("/") or limit <= 0:
        return ""
    context = last_turns(call.transcript) if call.transcript and relevant.wants_context(call.prompt) else ""
    root = scopes[0].root
    had = seen.load(root, call.session)
    given = "\n".join(_read(s.root / BRIEFING) for s in scopes) if had.briefing else ""
    found = relevant.relevant(
        scopes, relevant.question(call.prompt, context), limit=limit + len(had.ids), now=now,
        seconds=progress.config.hooks.deadline_ms / 1000 * SYNC_SHARE, penalty=progress.config.recall.scope_penalty,
    )
    new = [m for m in found if key(m) not in had.ids and m.memory.summary not in given][:limit]
    return _given(new, had, call, root, progress)


def key(match: Match) -> str:
    """How a memory is named among those that a session was given."""
    return f"{match.root}#{match.memory.id}"


def _edit(call: Call, scopes: Sequence[Scope], progress: Progress, now: datetime) -> str:
    """What is known of a file that is about to be changed; once a file and session."""
    from memoryfs import filewise
    from memoryfs.harness import relevant

    name = os.path.basename(call.file.rstrip("/"))
    root = scopes[0].root
    had = seen.load(root, call.session)
    mark = f"file:{seen.digest(call.file)}"
    if not name or mark in had.ids or Path(call.file).is_relative_to(root):
        return ""
    had.ids.add(mark)
    seen.save(root, call.session, had)
    found = relevant.relevant(
        scopes, name, limit=50, now=now, seconds=progress.config.hooks.deadline_ms / 1000 * SYNC_SHARE,
        penalty=progress.config.recall.scope_penalty,
    )
    file = filewise.wanted(call.file, root, call.cwd)
    about = [m for m in found if key(m) not in had.ids and file.mentions(filewise.words_of(m.memory))]
    return _given(about[: progress.config.hooks.memories], had, call, root, progress)


def _given(new: Sequence[Match], had: seen.Seen, call: Call, root: Path, progress: Progress) -> str:
    """The block that says `new`, as far as it fits; what is said is noted for the session."""
    if not new:
        return ""
    lines = []
    for match in new:
        memory = match.memory
        state = " [contradicted; needs review]" if memory.status == "conflicted" else ""
        stale = " ".join(fence.escape(str(memory.metadata.get("stale") or "")).split())
        state += f" [{stale[:160]}]" if stale else ""
        date = f" ({memory.date})" if memory.date else ""
        place = memory.topic if match.root == root else os.path.join(str(match.root), memory.topic)
        summary = " ".join(fence.escape(memory.summary).split())
        id = f" ^{memory.id}" if memory.id.startswith("m-") else ""  # a block of a person's prose has none
        lines.append(f"- {summary}{date}{state} → {place}{id}")
    note = "({} more left out: memoryfs recall)"
    room = budget(progress.config) - json_bytes(fence.fenced(fence.RECALL, "", store=str(root)))
    lines = [line for line in lines if json_bytes(line) <= room // 2]
    text = fence.first_lines(lines, room - sum(json_bytes(line) - len(line.encode()) for line in lines), note)
    shown = sum(line in lines for line in text.split("\n"))
    if not shown:
        return ""
    had.ids.update(key(m) for m in new[: len(new) - len(lines) + shown])
    seen.save(root, call.session, had)
    return fence.fenced(fence.RECALL, text, store=str(root))
