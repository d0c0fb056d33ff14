"""In: a topic file and the text of a form. Out: what the new text means (the check), and the file saved, or not and why.

A browser's form knows one line end (CRLF); `merged` gives every line that did not change its own end back, so that a
form saved unchanged writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher, unified_diff
from pathlib import Path
from typing import Any

from memoryfs import edits
from memoryfs.config import Config
from memoryfs.edits import AdoptReport
from memoryfs.model import Memory, Problem
from memoryfs.textfile import StoreLock, inside, write_atomic
from memoryfs.topic import Topic, parse, split_lines

_WAIT_SECONDS = 10.0
_SHOWN = 40  # lines of a difference


@dataclass(frozen=True)
class Check:
    """What the new text would mean. `summary` names each memory that is new, changed or gone."""

    problems: tuple[Problem, ...]
    memories: int
    writable: bool
    summary: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "problems": [problem.to_dict() for problem in self.problems], "memories": self.memories,
            "writable": self.writable, "summary": list(self.summary),
        }


def form_text(topic: Topic) -> str:
    """The file's text as a form shows it: LF only, no byte-order mark."""
    return topic.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def merged(old: str, new: str) -> str:
    """`new` with the line ends of `old`: unchanged lines keep theirs, new lines take the most common one."""
    mark = "\ufeff" if old.startswith("\ufeff") else ""
    before = split_lines(old.removeprefix("\ufeff"))
    bare = [line.rstrip("\r\n") for line in before]
    text = new.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    after = text.split("\n")
    whole = text.endswith("\n") or not text
    if whole:
        after.pop()
    ends = [line[len(plain):] for line, plain in zip(before, bare, strict=True)]
    usual = max(("\n", "\r\n", "\r"), key=ends.count)
    out = [line + usual for line in after]
    for tag, a, b, c, _ in SequenceMatcher(None, bare, after, autojunk=False).get_opcodes():
        if tag == "equal":
            for step in range(b - a):
                out[c + step] = after[c + step] + (ends[a + step] or usual)
    if out and not whole:
        out[-1] = after[-1]
    return mark + "".join(out)


def check(path: str, old: Topic, text: str) -> Check:
    """Reads the form's text again as the file it would be."""
    new = parse(merged(old.text, text).encode("utf-8", "surrogatepass"), path)
    return Check(new.problems, len(new.memories), new.writable, _difference(old, new))


def _difference(old: Topic, new: Topic) -> tuple[str, ...]:
    before = {memory.id: memory for memory in old.memories}
    after = {memory.id: memory for memory in new.memories}
    # A bullet without an id is known by its words; as it changes, so does its provisional id.
    lines: list[str] = []
    for id, memory in after.items():
        was = before.get(id)
        if was is None:
            lines.append(f"new {memory.kind}: {memory.summary}")
        elif was.summary != memory.summary:
            lines.append(f"^{id} now says: {memory.summary}")
        elif _state(was) != _state(memory):
            lines.append(f"^{id} is now {_state(memory)}: {memory.summary}")
    lines += [f"gone: {memory.summary} (^{id})" for id, memory in before.items() if id not in after]
    return tuple(lines)


def _state(memory: Memory) -> str:
    return f"{memory.status} {memory.kind}" + (", done" if memory.done else "")


def save(root: Path, config: Config, path: str, text: str, digest: str, *, now: datetime) -> AdoptReport:
    """Writes the form's text if the file still has `digest`, and takes in what the edit means.

    Raises ChangedMeanwhileError (the file is left as someone else saved it), ReadOnlyError, NotFoundError.
    """
    with StoreLock(root, "edit", wait_seconds=_WAIT_SECONDS):
        topic, _ = edits.read_topic(root, path, config)
        target = inside(root, path, follow_links_outside=config.follow_links_outside)
        data = merged(topic.text, text).encode("utf-8", "surrogatepass")
        write_atomic(target, data, expect=digest)
    return edits.adopt(root, config, now=now)


def told(changes: AdoptReport, path: str) -> str:
    """One line for the page: what was understood of the edit."""
    here = [change for change in changes.changes if change.topic == path]
    words: Mapping[str, str] = {
        "adopt": "new", "edit": "changed", "withdraw": "withdrawn", "supersede": "superseded", "restore": "restored",
        "move": "moved", "resolve": "settled",
    }
    counts: dict[str, int] = {}
    for change in here:
        word = words.get(change.action, change.action)
        counts[word] = counts.get(word, 0) + 1
    return "Saved." + (" Understood: " + ", ".join(f"{n} {word}" for word, n in counts.items()) + "." if counts else "")


def difference(old: str, new: str) -> str:
    """A unified difference of two texts, cut to some lines."""
    lines = list(unified_diff(old.splitlines(), new.splitlines(), "as it stands now", "your text", lineterm="", n=1))
    return "\n".join(lines[:_SHOWN] + (["…"] if len(lines) > _SHOWN else []))
