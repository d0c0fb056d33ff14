"""In: a store, or its parsed topics. Out: MEMORY.md: compiled, kept fresh, fitted to a harness, explained.

Names are loaded when first used, so that the stamp can be checked without the compiler (`memoryfs.briefing_cache`).
"""

from __future__ import annotations

from typing import Any

__all__ = ["HARNESS_LIMITS", "Compiled", "compile_briefing", "explain", "for_harness", "refresh"]


def __getattr__(name: str) -> Any:
    if name in ("HARNESS_LIMITS", "Compiled", "compile_briefing", "for_harness"):
        from memoryfs.briefing import compile as home
    elif name in ("explain", "refresh"):
        from memoryfs.briefing import fresh as home
    else:
        raise AttributeError(name)
    return getattr(home, name)
