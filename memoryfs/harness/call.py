"""In: an event's name and the object a harness wrote about it. Out: `Call`: the same fields for every harness.

Claude Code and Codex send `session_id`, `transcript_path`, `cwd`, `prompt`, `source`; Cursor sends `conversation_id` and
`workspace_roots`; the OpenCode plug-in sends Claude Code's fields. Anything may be missing or of another type.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SESSION_START, PROMPT, PRE_TOOL, PRE_COMPACT, SESSION_END, STOP = (
    "session-start", "user-prompt-submit", "pre-tool-use", "pre-compact", "session-end", "stop",
)
EVENTS = (SESSION_START, PROMPT, PRE_TOOL, PRE_COMPACT, SESSION_END, STOP)
HOST_NAMES = {
    PRE_TOOL: "PreToolUse",
    SESSION_START: "SessionStart", PROMPT: "UserPromptSubmit", PRE_COMPACT: "PreCompact", SESSION_END: "SessionEnd",
    STOP: "Stop",
}
_OTHER_NAMES = {"before-submit-prompt": PROMPT, "user-prompt": PROMPT, "prompt": PROMPT, "compact": PRE_COMPACT}
MAX_PROMPT = 20_000


@dataclass(frozen=True)
class Call:
    """One call of a hook. `cwd` is absolute; what the harness did not say is empty."""

    event: str
    cwd: Path
    session: str = ""
    prompt: str = ""
    transcript: str = ""
    source: str = ""  # startup, resume, clear, compact
    file: str = ""  # that a tool is about to change
    style: str = "claude"  # whose JSON is answered: claude (Codex too) or cursor


def event_name(name: str) -> str | None:
    """One of EVENTS, from itself or a harness's own spelling (SessionStart, beforeSubmitPrompt); None if unknown."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.strip()).replace("_", "-").lower()
    plain = _OTHER_NAMES.get(plain, plain)
    return plain if plain in EVENTS else None


def read_call(event: str, data: Mapping[str, Any], environ: Mapping[str, str]) -> Call:
    """The call; never raises for odd data."""
    tool = data.get("tool_input")
    cursor = "conversation_id" in data or "cursor_version" in data
    return Call(
        event=event, cwd=_directory(data, environ), session=_text(data, "session_id", "conversation_id", "sessionId")[:400],
        prompt=_text(data, "prompt", "user_prompt")[:MAX_PROMPT], transcript=_text(data, "transcript_path"),
        source=_text(data, "source", "trigger"),
        file=_text(tool, "file_path", "notebook_path", "path")[:4000] if isinstance(tool, Mapping) else "", style="cursor" if cursor else "claude",
    )


def _text(data: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = data.get(name)
        if isinstance(value, str) and value:
            return value.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return ""


def _directory(data: Mapping[str, Any], environ: Mapping[str, str]) -> Path:
    roots = data.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    for value in (_text(data, "cwd"), first, environ.get("CLAUDE_PROJECT_DIR", "")):
        if value and "\0" not in value and os.path.isabs(value):
            return Path(value)
    try:
        return Path.cwd()
    except OSError:  # the working directory was deleted
        return Path("/")
