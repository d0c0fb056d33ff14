"""In: a harness's name, the environment, and how memoryfs is started. Out: the files it reads settings from, and our entries in them.

Shapes and places follow each harness's documentation: Claude Code (settings.json, .claude.json), Codex (hooks.json,
config.toml), Cursor (hooks.json, mcp.json), OpenCode (opencode.json, a plug-in file), OpenClaw (openclaw.json).
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.errors import UsageError
from memoryfs.files import BRIEFING
from memoryfs.harness import call

NAME = "memoryfs"
MARK = "<!-- memoryfs -->"  # ends our line in a file of instructions
TIMEOUT_SECONDS = 10
EDITS = "Edit|MultiEdit|Write|NotebookEdit"
HARNESSES = ("claude-code", "codex", "cursor", "openclaw", "opencode")
AFTER = {  # what is left for the person to do
    "codex": "Codex asks once to trust new hooks (/hooks shows them); versions that know hooks only as a feature need "
             "`[features] hooks = true` in config.toml.",
    "cursor": "Cursor takes no memories with a prompt; its agent recalls them through the MCP tools.",
    "openclaw": "OpenClaw recalls through the MCP tools; sessions are imported with `memoryfs import`.",
}


@dataclass(frozen=True)
class Entry:
    """One entry of ours: the member at `path` is `value`; with `item`, one item of the array at `path` is."""

    path: tuple[str, ...]
    value: Any
    item: bool = False
    keep: bool = False  # set only where it is missing, and never taken away (a file's version number)


@dataclass(frozen=True)
class Target:
    """A file of a harness: `kind` json or toml with our entries; text, the whole of which is ours; line, one line of it."""

    path: Path
    kind: str
    entries: tuple[Entry, ...] = ()
    text: str = ""


def targets(
    harness: str, environ: Mapping[str, str], command: Sequence[str], *, memory_folder: Path | None = None,
    instructions: tuple[Path, Path] | None = None, edits: bool = False,
) -> tuple[Target, ...]:
    """What to write for `harness`. `command` starts memoryfs, by absolute path. `memory_folder`: also make it the folder
    of Claude Code's own memory. `instructions`: a CLAUDE.md or AGENTS.md, and the store that one line of it shall name.
    `edits`: a hook before Claude Code changes a file, too. Raises UsageError."""
    if harness not in HARNESSES:
        raise UsageError(f"unknown harness {harness!r}", remedy=f"Harnesses: {', '.join(HARNESSES)}.")
    if (memory_folder is not None or edits) and harness != "claude-code":
        raise UsageError("only claude-code has this")
    made = {"claude-code": _claude, "codex": _codex, "cursor": _cursor, "openclaw": _openclaw, "opencode": _opencode}
    found = made[harness](_home(environ), environ, tuple(command))
    if memory_folder is not None:
        first = found[0]
        entry = Entry(("autoMemoryDirectory",), str(memory_folder))
        found = (Target(first.path, first.kind, (*first.entries, entry)), *found[1:])
    if edits:
        (group,) = _hooks(command, (call.PRE_TOOL,))
        entry = Entry(group.path, {"matcher": EDITS, **group.value}, item=True)
        found = (Target(found[0].path, found[0].kind, (*found[0].entries, entry)), *found[1:])
    if instructions is not None:
        found = (*found, Target(instructions[0], "line", text=_instruction(harness, *instructions)))
    return found


def _instruction(harness: str, file: Path, store: Path) -> str:
    """Claude Code imports a file that a line names with `@`; others are told where it is."""
    where = os.path.relpath(store / BRIEFING, file.parent)
    if harness == "claude-code":
        return f"@{where} {MARK}"
    return f"What earlier sessions learned: read {where}; for exact values run `memoryfs recall`. {MARK}"


def _home(environ: Mapping[str, str]) -> Path:
    if environ.get("HOME"):
        return Path(environ["HOME"])
    try:
        return Path.home()
    except RuntimeError:
        raise UsageError("no home directory is known", remedy="Set HOME.") from None


def _server(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": [*command[1:], "mcp"]}


def _line(command: Sequence[str], event: str) -> str:
    """A shell command: each word quoted where it has to be."""
    return shlex.join([*command, "hook", event])


def _hooks(command: Sequence[str], events: Sequence[str]) -> tuple[Entry, ...]:
    """Claude Code's shape, which Codex shares: groups of commands under each event; the timeout is in seconds."""
    return tuple(
        Entry(("hooks", call.HOST_NAMES[event]), {
            "hooks": [{"type": "command", "command": _line(command, event), "timeout": TIMEOUT_SECONDS}]}, item=True)
        for event in events
    )


def _claude(home: Path, environ: Mapping[str, str], command: Sequence[str]) -> tuple[Target, ...]:
    given = environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(given) if given else home / ".claude"
    events = (call.SESSION_START, call.PROMPT, call.PRE_COMPACT, call.SESSION_END)
    state = folder / ".claude.json" if given else home / ".claude.json"
    server = {"type": "stdio", **_server(command)}
    return (
        Target(folder / "settings.json", "json", _hooks(command, events)),
        Target(state, "json", (Entry(("mcpServers", NAME), server),)),
    )


def _codex(home: Path, environ: Mapping[str, str], command: Sequence[str]) -> tuple[Target, ...]:
    folder = Path(environ["CODEX_HOME"]) if environ.get("CODEX_HOME") else home / ".codex"
    events = (call.SESSION_START, call.PROMPT, call.PRE_COMPACT, call.STOP)
    return (
        Target(folder / "config.toml", "toml", (Entry(("mcp_servers", NAME), _server(command)),)),
        Target(folder / "hooks.json", "json", _hooks(command, events)),
    )


def _cursor(home: Path, environ: Mapping[str, str], command: Sequence[str]) -> tuple[Target, ...]:
    names = {"sessionStart": call.SESSION_START, "preCompact": call.PRE_COMPACT, "sessionEnd": call.SESSION_END}
    hooks = tuple(
        Entry(("hooks", name), {"command": _line(command, event), "timeout": TIMEOUT_SECONDS}, item=True)
        for name, event in names.items()
    )
    return (
        Target(home / ".cursor" / "mcp.json", "json", (Entry(("mcpServers", NAME), _server(command)),)),
        Target(home / ".cursor" / "hooks.json", "json", (Entry(("version",), 1, keep=True), *hooks)),
    )


def _openclaw(home: Path, environ: Mapping[str, str], command: Sequence[str]) -> tuple[Target, ...]:
    given = environ.get("OPENCLAW_CONFIG_PATH")
    path = Path(given) if given else home / ".openclaw" / "openclaw.json"
    return (Target(path, "json", (Entry(("mcp", "servers", NAME), _server(command)),)),)


def _opencode(home: Path, environ: Mapping[str, str], command: Sequence[str]) -> tuple[Target, ...]:
    base = environ.get("XDG_CONFIG_HOME")
    folder = (Path(base) if base else home / ".config") / "opencode"
    config = folder / "opencode.jsonc"
    if not config.exists():
        config = folder / "opencode.json"
    server = {"type": "local", "command": [*command, "mcp"], "enabled": True}
    return (
        Target(config, "json", (Entry(("mcp", NAME), server),)),
        Target(folder / "plugins" / "memoryfs.js", "text", text=_plugin(command)),
    )


def _plugin(command: Sequence[str]) -> str:
    return template("opencode-plugin.js").replace("[/* command */]", json.dumps(list(command)))


def template(name: str) -> str:
    """A file of templates/, beside the package in a checkout and inside it when installed."""
    here = Path(__file__).resolve().parents[1]
    for folder in (here / "templates", here.parent / "templates"):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise FileNotFoundError(name)
