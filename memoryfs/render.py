"""In: results and text from notes. Out: plain lines that a terminal shows and never obeys, as wide as it shows them.

Widths are in terminal cells: a wide character (CJK, most emoji) takes two, a combining mark none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from memoryfs.patterns import lazy

# C0 and C1 controls but tab and newline, and the direction overrides that can make a line read as another.
_CONTROL = lazy("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WORD = lazy(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef][、。，．！？」』）]*|\S+?(?=[\u2e80-\u9fff\uac00-\ud7af])|\S+")
_PRINTED = 80  # cells of a page that goes to a file or a pipe
_LINKING = {"iTerm.app", "WezTerm", "vscode", "Hyper", "ghostty", "Tabby", "rio", "WarpTerminal"}
_LINKING_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")


def safe(text: str) -> str:
    """`text` with control characters, direction overrides and lone surrogates written as escapes (`\\x1b`)."""
    return _CONTROL.sub(lambda m: m[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def one_line(text: str, width: int = 0) -> str:
    """`text` safe and on one line, cut to `width` cells with an ellipsis (0: not cut)."""
    return cut(" ".join(safe(text).split()), width)


def cells(text: str) -> int:
    """How many cells of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """`text`, cut to `width` cells with an ellipsis; 0 cuts nothing."""
    if not width or cells(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def pad(text: str, width: int) -> str:
    """`text` filled with blanks to `width` cells."""
    return text + " " * max(0, width - cells(text))


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """`text`, safe, in lines of at most `width` cells (0: one line), each after `indent`, the first after `first`.

    Broken at blanks and between CJK characters; a longer word (a path, a hash) stays whole, so that it can be copied.
    """
    start = indent if first is None else first
    clean = " ".join(safe(text).split())
    if not width:
        return [start + clean]
    lines: list[str] = []
    line, fresh = start, True
    at = 0
    for match in _WORD.finditer(clean):
        gap = " " if match.start() > at and not fresh else ""
        at = match.end()
        if not fresh and cells(line) + len(gap) + cells(match[0]) > width:
            lines.append(line)
            line, gap = indent, ""
        line += gap + match[0]
        fresh = False
    return [*lines, line]


def table(rows: list[tuple[str, ...]], widths: tuple[int, ...] = ()) -> str:
    """Rows in aligned columns, two spaces apart; a cell is one safe line, and the last column is not padded."""
    if not rows:
        return ""
    texts = [[one_line(c, widths[i] if i < len(widths) else 0) for i, c in enumerate(row)] for row in rows]
    size = [max(cells(row[i]) for row in texts) for i in range(len(texts[0]))]
    return "\n".join(
        "  ".join(pad(c, size[i]) if i < len(row) - 1 else c for i, c in enumerate(row)).rstrip() for row in texts
    )


@dataclass(frozen=True)
class Paper:
    """What a page is written on: `width` in cells, whether it shows colour, whether it follows links (OSC 8).

    The texts given to its methods must be safe already.
    """

    width: int = _PRINTED
    colour: bool = False
    links: bool = False
    terminal: bool = False

    def bold(self, text: str) -> str:
        return self._painted("1", text)

    def dim(self, text: str) -> str:
        return self._painted("2", text)

    def warn(self, text: str) -> str:
        return self._painted("33", text)

    def good(self, text: str) -> str:
        return self._painted("32", text)

    def bad(self, text: str) -> str:
        return self._painted("31", text)

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def link(self, text: str, path: Path, line: int = 0) -> str:
        """`text`, leading to a file where the terminal follows links."""
        if not self.links:
            return text
        from urllib.parse import quote

        place = quote(os.path.abspath(path).encode("utf-8", "surrogateescape"))
        return f"\x1b]8;;file://{place}{f'#{line}' if line else ''}\x1b\\{text}\x1b]8;;\x1b\\"


def paper(stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> Paper:
    """What `stream` is: escape codes only go to a terminal, and not where NO_COLOR is set or it is a dumb one."""
    terminal = stream is not None and not stream.closed and stream.isatty()
    if not terminal:
        return Paper()
    import shutil  # here: a start of `memoryfs brief` must not pay for it

    width = min(max(40, shutil.get_terminal_size((80, 24)).columns), 120)
    plain = bool(environ.get("NO_COLOR")) or environ.get("TERM", "dumb") == "dumb"
    return Paper(width, not plain, not plain and _follows_links(environ), True)


def _follows_links(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is one that is known to understand OSC 8; inside tmux or screen it depends on too much."""
    term = environ.get("TERM", "")
    if term.startswith(("screen", "tmux")) or environ.get("TMUX"):
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM_PROGRAM") in _LINKING or term.startswith(_LINKING_TERMS) or bool(environ.get("WT_SESSION"))
        or bool(environ.get("KONSOLE_VERSION")) or bool(environ.get("KITTY_WINDOW_ID"))
        or (vte.isdigit() and int(vte) >= 5000)
    )
