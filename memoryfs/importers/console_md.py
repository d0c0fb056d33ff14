"""In: a terminal session of Claude Code or Gemini CLI pasted into a file. Out: its turns, each line a
verbatim piece.

`> ` begins what the person typed, `⏺`/`●`/`✦` an answer or a tool call (`Name(arguments)`), `✻ Thinking` what the model thinks,
`⎿` or a box a tool's output. Text is hard-wrapped as the terminal showed it; padding and box lines are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memoryfs.importers import injected
from memoryfs.importers.base import Item, Turn, physical_lines
from memoryfs.importers.mdtext import block

NAME = "console"
_ANSWER = re.compile(r"^\s{0,2}[⏺●✦]\s+")
_THINKING = re.compile(r"^\s{0,2}[✻✽✶]\s+Thinking\b")
_PROMPT = re.compile(r"^ {0,1}> (?=\S)")
_RESULT = re.compile(r"^\s+⎿")
_CALL = re.compile(r"^\s{0,2}[⏺●]\s+[A-Z][A-Za-z _-]*\(.*")
_BOX = re.compile(r"^\s*[╭╰│─╮╯]")
_PAD = re.compile(r"^[\s\u00a0]*(?:[⏺●✦⎿>│][\s\u00a0]*)?|[\s\u00a0]*│?[\s\u00a0]*$")
_CWD = re.compile(r"cwd: (/\S+)")
_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


def sniff(text: str) -> bool:
    """Whether lines of answers and of prompts or results stand in the text as a terminal shows them."""
    lines = text.splitlines()
    answers = sum(1 for line in lines if _ANSWER.match(line))
    return answers >= 2 and any(
        _PROMPT.match(line) or _RESULT.match(line) or _BOX.match(line) for line in lines
    )


def _role(line: str, role: str) -> tuple[str, bool]:
    """Who speaks in this line, and whether a new turn begins."""
    if _CALL.match(line):
        return "call", True
    if _ANSWER.match(line):
        return "assistant", True
    if _THINKING.match(line):
        return "thinking", True
    if _PROMPT.match(line):
        return "user", role != "user"
    if _RESULT.match(line):
        return "tool", role != "tool"
    if _BOX.match(line):
        return "tool", role != "tool"
    if role == "tool" and line.strip() and not line.startswith((" ", "\t", "\u00a0")):
        return "assistant", True
    return role, False


def parse(path: Path, source: str) -> Iterator[Item]:
    """The turns in the order of the file; `line` is where a turn's text begins. There are no times."""
    day = _DATE.search(path.name)
    about = {"harness": NAME, **({"date": day[1]} if day else {})}
    role, lines, started = "system", [], False

    def finish() -> Iterator[Turn]:
        nonlocal started
        who, kind = {"call": ("assistant", "tool_call"), "tool": ("tool", "tool_result"), "thinking": ("assistant", "message")}.get(
            role, (role, "message")
        )
        why = {"system": injected.INJECTED, "thinking": injected.THINKING}.get(role)
        skip = {"skip": why} if why else {}
        found = block(lines, who, kind, metadata=skip, strip=lambda text: _PAD.sub("", text))
        if found is None:
            return
        if not started:
            started = True
            found = found.noting({"session": about})
        yield Turn("", found)

    for number, line in physical_lines(path):
        if "cwd" not in about and role == "system" and (match := _CWD.search(line)):
            about["cwd"] = match[1]
        now, begins = ("system", False) if role == "system" and _BOX.match(line) else _role(line, role)
        if begins or now != role:
            yield from finish()
            role, lines = now, []
        lines.append((number, line))
    yield from finish()
