"""In: results and text from notes. Out: plain lines that a terminal shows and never obeys."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and newline, and the direction overrides that can make a line read as another.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """`text` with control characters, direction overrides and lone surrogates written as escapes (`\\x1b`)."""
    return _CONTROL.sub(lambda m: m[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def one_line(text: str, width: int = 0) -> str:
    """`text` safe and on one line, cut to `width` characters with an ellipsis (0: not cut)."""
    line = " ".join(safe(text).split())
    return line if not width or len(line) <= width else line[: width - 1] + "…"


def table(rows: list[tuple[str, ...]], widths: tuple[int, ...] = ()) -> str:
    """Rows in aligned columns, two spaces apart; a cell is one safe line, and the last column is not padded."""
    if not rows:
        return ""
    cells = [[one_line(c, widths[i] if i < len(widths) else 0) for i, c in enumerate(row)] for row in rows]
    size = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join(
        "  ".join(c.ljust(size[i]) if i < len(row) - 1 else c for i, c in enumerate(row)).rstrip() for row in cells
    )
