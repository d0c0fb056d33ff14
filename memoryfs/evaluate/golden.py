"""In: golden questions, one JSON object a line (DESIGN §8). Out: `Question`s, and where an event answers to one.

A golden `source` is the transcript's path or its tail; a stored one may be shortened too (`~/…`, or relative to
the store). So two sources are the same file when either is a tail of the other, component by component.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memoryfs.model import Problem

TYPES = ("exact", "policy", "superseded", "multi-hop", "temporal", "open-domain", "single-hop", "abstain")
_KNOWN = {"id", "question", "answer", "type", "language", "evidence", "superseded_value", "as_of", "transcript"}


@dataclass(frozen=True, slots=True)
class Place:
    """One piece of evidence: any of `lines` (0-based, physical) of `source`; no lines means anywhere in it."""

    source: str
    lines: tuple[int, ...] = ()
    quote: str = ""
    old: bool = False  # holds the superseded value, so it is not a hit

    def holds(self, source: str, line: int, tolerance: int = 0) -> bool:
        """Whether the event that stood at `line` of `source` is this place, or within `tolerance` lines of it."""
        if self.lines and not any(abs(line - own) <= tolerance for own in self.lines):
            return False
        return same_source(self.source, source)


@dataclass(frozen=True, slots=True)
class Question:
    """A golden question; `tags` are the keys set to true in its line (`low_overlap`, `multi_hop`, …)."""

    id: str
    question: str
    answer: str | None
    type: str
    language: str
    evidence: tuple[Place, ...] = ()
    superseded_value: str | None = None
    as_of: str | None = None
    tags: tuple[str, ...] = field(default=())

    @property
    def current(self) -> tuple[Place, ...]:
        """The places that answer the question as of now."""
        return tuple(place for place in self.evidence if not place.old)

    @property
    def answerable(self) -> bool:
        return self.type != "abstain"


def components(source: str) -> tuple[str, ...]:
    """The parts of a path that a tail may consist of: no drive, root, `.` or `~`."""
    return tuple(part for part in re.split(r"[\\/]+", source) if part not in ("", ".", "~"))


def same_source(one: str, other: str) -> bool:
    """Whether one path is the other's tail, whole components only."""
    a, b = components(one), components(other)
    n = min(len(a), len(b))
    return n > 0 and a[-n:] == b[-n:]


def language_of(text: str) -> str:
    """`ko`, `ja`, `zh` or `en` by script: Hangul, then kana, then Han alone, then anything else."""
    if re.search(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]", text):
        return "ko"
    if re.search(r"[\u3040-\u30ff\uff66-\uff9f]", text):
        return "ja"
    if re.search(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]", text):
        return "zh"
    return "en"


def _place(data: Mapping[str, Any]) -> Place:
    line, also = data.get("line"), data.get("also_at") or []
    lines = () if line is None else (int(line), *(int(other) for other in also))
    return Place(str(data["source"]), lines, str(data.get("quote") or ""), data.get("role") == "old")


def question_from(data: Mapping[str, Any], number: int = 0) -> Question:
    """A question from its JSON object; KeyError, TypeError or ValueError when it is not one."""
    text = data["question"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError("`question` is empty")
    evidence = tuple(_place(item) for item in data.get("evidence") or ())
    answer = data.get("answer")
    kind = data.get("type") or ("single-hop" if evidence else "abstain")
    old = data.get("superseded_value")
    return Question(
        id=str(data.get("id") or f"q-{number}"), question=text, answer=None if answer is None else str(answer),
        type=str(kind), language=str(data.get("language") or language_of(text)), evidence=evidence,
        superseded_value=None if old is None else str(old), as_of=data.get("as_of"),
        tags=tuple(sorted(key for key, value in data.items() if value is True and key not in _KNOWN)),
    )


def read(lines: Iterable[str], path: str = "") -> tuple[tuple[Question, ...], tuple[Problem, ...]]:
    """All questions of a golden file; a line that cannot be read costs only itself and is named."""
    questions: list[Question] = []
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            if not isinstance(data, dict):
                raise TypeError("not a JSON object")
            questions.append(question_from(data, number))
        except KeyError as error:
            problems.append(Problem(path, f"the key {error} is missing", line=number))
        except (TypeError, ValueError) as error:
            problems.append(Problem(path, f"not a golden question: {error}", line=number))
    return tuple(questions), tuple(problems)


def load(path: Path | str) -> tuple[tuple[Question, ...], tuple[Problem, ...]]:
    """`read` of a file (UTF-8, a byte-order mark is fine); OSError and UnicodeDecodeError pass through."""
    return read(Path(path).read_text(encoding="utf-8-sig").split("\n"), str(path))
