"""In: a transcript that is being written. Out: the last things said in it and the files it was about, for a prompt like "go on".

Only the last TAIL_BYTES are read; a torn first or last line costs only itself. Understands the records of Claude Code, of
Codex, and plain `{"role", "content"}` lines; what memoryfs itself put there is left out.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

TAIL_BYTES = 128 << 10
TURNS = 4
_BLOCK = re.compile(r"<(memoryfs[\w:-]*|system-reminder)\b.*?</\1>", re.S)


def last_turns(path: str, *, max_chars: int = 800) -> str:
    """Words of the last turns, newest first, at most `max_chars`; "" if the file cannot be read."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).split(b"\n")
    except (OSError, ValueError):
        return ""
    if size > TAIL_BYTES:
        lines = lines[1:]
    texts: list[str] = []
    files: list[str] = []
    for line in reversed(lines):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(record, dict):
            continue
        text = " ".join(_BLOCK.sub(" ", _said(record, files)).split())
        if text and text not in texts:
            texts.append(text[:300])
        if len(texts) >= TURNS:
            break
    return " ".join([*files[:5], *texts])[:max_chars]


def _said(record: dict[str, Any], files: list[str]) -> str:
    """The words of a user's or assistant's message; the names of files it touches go to `files`."""
    if record.get("isMeta") or record.get("isSidechain"):
        return ""
    payload = record.get("payload")
    if isinstance(payload, dict):
        record = payload
    message = record.get("message")
    if not isinstance(message, dict):
        message = record
    if message.get("role") not in ("user", "assistant"):
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") in ("text", "input_text", "output_text") and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            named = block["input"].get("file_path") or block["input"].get("path")
            if isinstance(named, str):
                name = os.path.basename(named.rstrip("/"))
                if name and name not in files:
                    files.append(name)
    return " ".join(texts)
