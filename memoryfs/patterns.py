"""In: a regular expression. Out: the same, compiled at its first use: most of those in the modules of a recall are not used by it."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)  # found without this detour from now on
        return value


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled pattern; an error in it shows at its first use (a test uses each)."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
