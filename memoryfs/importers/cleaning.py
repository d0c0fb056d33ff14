"""In: an event, a path, a problem, as a transcript has them. Out: the same without secrets, fit for the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from memoryfs.model import Problem
from memoryfs.redact import redact
from memoryfs.thread import EventDraft

SHORTEST = 8  # characters of a name that can hold a secret
_REMEMBERED = 400  # characters up to which a text is worth remembering: directories, branches and models come again and again
_OFFSETS = ("parts", "redacted")


def redact_draft(draft: EventDraft) -> tuple[EventDraft, int]:
    """The draft without secrets, its parts moved accordingly and `redacted` noting the placeholders; how
    many."""
    result = redact(draft.text)
    metadata, count = clean_metadata(draft.metadata)
    if not result.spans:
        if not count:
            return draft, 0
        return replace(draft, metadata=metadata), count
    about = dict(metadata)
    if "parts" in about:
        parts = [[result.moved(a), result.moved(b)] for a, b in about["parts"]]
        about["parts"] = [[a, b] for a, b in parts if b > a]
    about["redacted"] = [list(span) for span in result.spans]
    return replace(draft, text=result.text, metadata=about), count + len(result.spans)


def clean_metadata(metadata: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """The metadata without secrets in any of its texts, and how many there were."""
    count = 0

    def cleaned(value: Any) -> Any:
        nonlocal count
        if isinstance(value, str):
            text, found = _cleaned(value)
            count += found
            return text
        if isinstance(value, dict):
            return {cleaned(k): cleaned(v) for k, v in value.items()}
        if isinstance(value, list):
            return [cleaned(v) for v in value]
        return value

    fresh = {k: v if k in _OFFSETS else cleaned(v) for k, v in metadata.items()}
    return (fresh, count) if count else (metadata, 0)


def _cleaned(text: str) -> tuple[str, int]:
    if len(text) < SHORTEST:
        return text, 0
    return _again(text) if len(text) <= _REMEMBERED else _once(text)


def _once(text: str) -> tuple[str, int]:
    result = redact(text)
    return result.text, len(result.spans)


_again = lru_cache(2000)(_once)


def clean_name(name: str) -> str:
    """A name, a message or a session's id without secrets."""
    return _cleaned(name)[0]


def clean_path(path: str) -> str:
    """A path without secrets. One that held some ends in `~` and six digits, which tell it from others that held others."""
    clean = clean_name(path)
    return path if clean == path else f"{clean}~{digest(path)[:6]}"


def clean_key(path: str) -> str:
    """What stands for a path: itself, or its digest where it holds a secret."""
    return path if clean_name(path) == path else f"sha256:{digest(path)}"


def digest(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def clean_problem(problem: Problem) -> Problem:
    """The problem as it may be written into a report."""
    return replace(
        problem, path=clean_name(problem.path), message=clean_name(problem.message), remedy=clean_name(problem.remedy)
    )
