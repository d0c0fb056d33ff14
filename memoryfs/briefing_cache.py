"""In: a store's folder. Out: the text of MEMORY.md, fresh: as it stands when nothing changed, else compiled and written first.

The unchanged path is one walk with os.scandir and one small file; the compiler and the parser are not imported.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from memoryfs import runs
from memoryfs.briefing import stamp as stamps
from memoryfs.config import Config
from memoryfs.errors import ReadOnlyError
from memoryfs.files import BRIEFING, scan


def read_fresh(root: Path, config: Config, *, now: datetime | None = None) -> str:
    """The briefing. In a store that cannot be written it is compiled and returned, not kept.

    Raises ReadOnlyError only for a MEMORY.md that is a link to nowhere or cannot be read.
    """
    stamp = stamps.read(root)
    when = now or datetime.now().astimezone()
    if stamp and stamps.holds(stamp, scan(root, config), config, runs.alarm(root), when.date().isoformat()):
        try:
            unchanged = (root / BRIEFING).read_bytes() == stamp["text"].encode("utf-8")
        except OSError:
            unchanged = False
        if unchanged:
            return stamp["text"]
    from memoryfs.briefing import fresh

    try:
        return fresh.write_fresh(root, config, now=when)[0]
    except ReadOnlyError:
        if os.path.islink(root / BRIEFING) and not (root / BRIEFING).exists():
            raise
        return fresh.compiled_text(root, config, now=when)
