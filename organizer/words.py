"""In: the name of a word list. Out: its words, from organizer/data/words.toml, read once."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).resolve().parent / "data" / "words.toml"


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    return {name: frozenset(text.split()) for name, text in tomllib.loads(FILE.read_text(encoding="utf-8")).items()}


def listed(name: str) -> frozenset[str]:
    """The words of one list, folded; KeyError for a name that is not there."""
    return _lists()[name]
