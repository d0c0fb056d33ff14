"""Patterns compiled at first use are the patterns they stand for, and every one of them compiles."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from memoryfs.patterns import _Lazy, lazy

ROOT = Path(__file__).resolve().parents[1]


def test_a_lazy_pattern_is_the_pattern():
    words = lazy(r"(?P<word>[a-z]+)", re.I)
    assert [m["word"] for m in words.finditer("One two")] == ["One", "two"]
    assert words.sub("-", "One two") == "- -" and words.fullmatch("Three") and words.pattern == r"(?P<word>[a-z]+)"
    assert words.search == words.search  # kept after the first use


def test_every_lazy_pattern_compiles():
    seen = 0
    for path in sorted((ROOT / "memoryfs").rglob("*.py")):
        if "lazy(" in path.read_text(encoding="utf-8") and path.name != "patterns.py":
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
            for value in inside(vars(module).values()):
                assert value.pattern
                seen += 1
    assert seen > 100


def inside(values):
    """Every lazy pattern among the values, and in the tables among them."""
    for value in values:
        if isinstance(value, _Lazy):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from inside(value)
        elif isinstance(value, dict) and "__name__" not in value:
            yield from inside(value.values())
