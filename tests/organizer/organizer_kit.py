"""Transcripts and judges for the organizer's tests: small, written here, and the same on every run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memoryfs.model import Event, SourceRange
from organizer import gate
from organizer.judges import Judges
from organizer.nouns import Candidate, Segment, Verdict

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
_LINE = re.compile(r"^(FACT|EVENT|RULE|TASK|MAYBE): (.+)$", re.MULTILINE)
_KINDS = {"FACT": "fact", "EVENT": "event", "RULE": "instruction", "TASK": "task", "MAYBE": "fact"}


class LineJudges(Judges):
    """Every line `FACT: …` (EVENT, RULE, TASK, MAYBE) of a message is a candidate; nothing else is."""

    def __init__(self) -> None:
        super().__init__(gate.load())
        self.seen: list[tuple[str, int]] = []  # (thread, index) of every event that was read
        self.fail_on = ""

    def extract(self, events: Sequence[Event], segments: Sequence[Segment]) -> list[Candidate]:
        self.seen += [(e.thread, e.index) for e in events]
        found = []
        for event in events:
            if self.fail_on and self.fail_on in event.text:
                raise ValueError(f"cannot judge {self.fail_on}")
            if event.metadata.get("skip") or event.kind != "message":
                continue
            for match in _LINE.finditer(event.text):
                found.append(Candidate(
                    kind=_KINDS[match[1]], summary=match[2], topic_key="", quote=match[2], event_index=event.index,
                    source=SourceRange(event.thread, event.index, event.index), quote_start=match.start(2),
                    query_hints=tuple(w for w in match[2].rstrip(".").split() if len(w) > 5)[:4], role=event.role,
                    stated_by=event.role, time=event.time, score=0.9, gate="inbox" if match[1] == "MAYBE" else "keep",
                ))
        return found

    def verify(self, found: Sequence[Candidate], events: Sequence[Event]) -> list[Verdict]:
        return [Verdict(c, "pass") for c in found]

    def weigh(self, found: Sequence[Candidate]) -> list[Candidate]:
        return list(found)


def transcript(path: Path, session: str, day: str, turns: Sequence[tuple[str, str]], *, cwd: str = "/src/school") -> Path:
    """A Claude Code session with these (role, text) turns, a minute apart from nine o'clock on `day`."""
    lines = []
    for number, (role, text) in enumerate(turns):
        record: dict[str, Any] = {
            "type": role, "sessionId": session, "uuid": f"{session}-{number}", "cwd": cwd, "gitBranch": "main",
            "parentUuid": f"{session}-{number - 1}" if number else None, "timestamp": f"{day}T09:{number:02d}:00.000Z",
            "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
        }
        lines.append(json.dumps(record, ensure_ascii=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of change of every file of the store but the derived ones."""
    return {
        p.relative_to(root).as_posix(): (p.read_bytes(), p.stat().st_mtime_ns)
        for p in sorted(root.rglob("*")) if p.is_file() and ".memoryfs" not in p.parts
    }


def contents(root: Path) -> dict[str, str]:
    """Text of every Markdown file and of the ledger."""
    return {n: d.decode() for n, (d, _) in snapshot(root).items() if n.endswith(".md") or n == "ledger.jsonl"}


def talk(path: Path, session: str, turns: Sequence[tuple[str, str]], *, cwd: str = "/src/school") -> Path:
    """A Claude Code session of (who, text): user and assistant say it, `call` runs it in a shell, `tool` is what comes back."""
    lines = []
    for number, (who, text) in enumerate(turns):
        content: Any = text
        if who == "assistant":
            content = [{"type": "text", "text": text}]
        elif who == "call":
            content = [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}]
        elif who == "tool":
            content = [{"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text}]
        role = "assistant" if who in ("assistant", "call") else "user"
        record: dict[str, Any] = {
            "type": role, "sessionId": session, "uuid": f"{session}-{number}", "cwd": cwd, "gitBranch": "main",
            "parentUuid": f"{session}-{number - 1}" if number else None, "timestamp": f"2026-05-12T09:{number % 60:02d}:00.000Z",
            "message": {"role": role, "content": content},
        }
        if who == "tool":
            record["toolUseResult"] = {"stdout": text, "stderr": ""}
        lines.append(json.dumps(record, ensure_ascii=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
    return path
