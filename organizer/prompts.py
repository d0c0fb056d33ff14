"""In: the prompt files of templates/prompts. Out: the tasks that a generator may do, with their known answers for its check."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from memoryfs.models.check import Example, Task, WritingExample, WritingTask
from memoryfs.text import similarity_key

_HERE = Path(__file__).resolve().parent
_PLACES = (_HERE.parent / "templates" / "prompts", _HERE.parent / "memoryfs" / "templates" / "prompts")
LINES = _HERE / "data" / "gate_lines.jsonl"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "maxItems": 12,
            "items": {
                "type": "object",
                "properties": {
                    "event": {"type": "integer"},
                    "quote": {"type": "string", "maxLength": 600},
                    "summary": {"type": "string", "maxLength": 320},
                    "kind": {"type": "string", "enum": ["fact", "event", "instruction", "task"]},
                    "hints": {"type": "array", "maxItems": 6, "items": {"type": "string", "maxLength": 48}},
                },
                "required": ["event", "quote", "summary", "kind", "hints"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


def read_prompt(name: str) -> str:
    """The text of a prompt file. Raises FileNotFoundError where the installation lacks it."""
    for place in _PLACES:
        path = place / f"{name}.txt"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"prompt {name}.txt in {_PLACES[0]}")


KEEP = Task("keep", read_prompt("keep"), (" yes", " no"), "{text}\nKeep:")
FULL = WritingTask("extract", read_prompt("extract"), SCHEMA, 900)
DETAIL = WritingTask("detail", read_prompt("detail"), SCHEMA, 900)

WRITING_EXAMPLES = (
    WritingExample("[4] user 2026-03-02: Lockers are given out by class, never by pupil. Please remember that.\n[5] assistant: Understood.",
                   ("class",), ("Understood",)),
    WritingExample("[7] user: hi\n[8] assistant: Hello! What shall we do today?", (), ("Hello",)),
    WritingExample("[1] user: ロッカーの鍵は職員室の番号7の棚に置いてください。\n[2] assistant: 承知しました。", ("職員室",), ("承知",)),
    WritingExample("[3] assistant: The import failed because `locker_id` was read as a number and lost its leading zero.\n[4] user: ok",
                   ("locker_id",), ()),
    WritingExample("[9] user: 사물함 예약은 최대 3일까지만 가능하게 해 주세요.\n[10] assistant: 네.", ("3일",), ()),
    WritingExample("[2] user: 柜子编号一律四位数，不够的前面补零。\n[3] assistant: 好的。", ("四位",), ()),
)


@lru_cache(maxsize=1)
def keep_examples() -> tuple[Example, ...]:
    """The labelled lines that a scoring model is checked on: four languages, written for it."""
    rows = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines() if line.strip()]
    return tuple(Example(spoken(row["role"], row["text"]), bool(row["keep"])) for row in rows)


def spoken(role: str, text: str) -> str:
    """A line as the scoring prompt shows it."""
    return f"{role}: {' '.join(text.split())}"


@lru_cache(maxsize=8)
def _prompt_lines(prompt: str) -> frozenset[str]:
    keys = set()
    for line in prompt.split("\n"):
        for part in (line, line.partition(": ")[2]):
            key = similarity_key(part)
            if len(key) >= 12:
                keys.add(key)
    return frozenset(keys)


def echoes(text: str, prompt: str) -> bool:
    """Whether `text` is a line of the prompt, its examples included, given back."""
    key = similarity_key(text)
    return len(key) >= 12 and any(key in line or line in key for line in _prompt_lines(prompt))
