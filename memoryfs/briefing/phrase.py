"""In: any text and any path. Out: one line of Markdown that is safe in a briefing: clipped whole, escaped, with a pointer.

Grapheme clusters follow UAX #29 in what matters for a cut: combining marks, joiners, variation selectors, emoji
modifiers and tags, regional-indicator pairs, Hangul syllables and Indic conjuncts stay whole.
"""

from __future__ import annotations

import re
import unicodedata

ARROW = " → "
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_PLAIN_PATH = re.compile(r"[\w./~+@=,-]+\Z")
_LINKS = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_BLOCK_START = re.compile(
    r"#{1,6}(?:\s|\Z)|>|`{3}|~{3}|[-+*](?:\s|\Z)|\d{1,9}[.)](?:\s|\Z)|<[!?/a-zA-Z]|\[[^\]]*\]:|={2,}|-{2,}|_{3,}|\*{3,}|\|"
)


def one_line(text: str) -> str:
    """White space collapsed, control characters and lone surrogates out, wiki links reduced to their words."""
    text = _LINKS.sub(lambda match: match[1].rpartition("#^")[2] or match[1], text)
    kept = "".join(
        " " if char.isspace() else char
        for char in text
        if char.isspace() or (unicodedata.category(char) not in ("Cc", "Cs") and char not in _BIDI)
    )
    return " ".join(kept.split())


def escape(line: str) -> str:
    """No HTML comment can open or close in it, and its start is text, not a heading, fence, list, quote or table."""
    line = line.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    if _BLOCK_START.match(line):
        digits = re.match(r"\d+", line)
        at = digits.end() if digits else 0
        return f"{line[:at]}\\{line[at:]}"
    return line


def _extends(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or code in (0x200C, 0x200D)
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or 0xFE00 <= code <= 0xFE0F
        or 0xFF9E <= code <= 0xFF9F
    )


def _hangul(char: str) -> str:
    code = ord(char)
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "T"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    return ""


def _regional(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def is_boundary(text: str, at: int) -> bool:
    """Whether `text` may be cut before index `at` without splitting what a reader sees as one character."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return False
    if _extends(after) or before == "\u200d":
        return False
    if unicodedata.combining(before) == 9 and unicodedata.category(after)[0] == "L":  # virama + consonant
        return False
    pair = _hangul(before), _hangul(after)
    if pair[0] and pair[1] and (
        (pair[0] == "L" and pair[1] != "T")
        or (pair[0] in ("LV", "V") and pair[1] in ("V", "T"))
        or (pair[0] in ("LVT", "T") and pair[1] == "T")
    ):
        return False
    if _regional(before) and _regional(after):
        start = at
        while start and _regional(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 0
    return True


def cut(text: str, max_bytes: int) -> str:
    """The longest beginning of `text` of at most `max_bytes` of UTF-8 that ends at a grapheme boundary."""
    data = text.encode("utf-8")
    if len(data) <= max_bytes:
        return text
    at = len(data[: max(0, max_bytes)].decode("utf-8", "ignore"))
    while at and not is_boundary(text, at):
        at -= 1
    return text[:at]


def _open_span(text: str) -> int:
    """Where a code span or link begins that `text` does not close; len(text) if there is none."""
    position = 0
    while match := re.compile(r"\\.|(`+)|\[").search(text, position):
        position = match.end()
        if match[1]:
            close = re.compile(rf"(?<!`){match[1]}(?!`)").search(text, position)
            if not close:
                return match.start()
            position = close.end()
        elif match[0] == "[":
            link = re.compile(r"[^\[\]]*\](?:\((?:<[^<>]*>|[^()\s]*)\))?").match(text, position)
            if not link:
                return match.start()
            if not link[0].endswith(")") and link.end() < len(text) and text[link.end()] == "(":
                return match.start()
    return len(text)


def clip(text: str, max_bytes: int) -> str:
    """`text` whole if it fits, else its beginning and `…`, at most `max_bytes`; no code span or link is cut open.

    Cuts between words where that loses less than half, so that a value is left out rather than halved.
    """
    if len(text.encode("utf-8")) <= max_bytes:
        return text
    room = max_bytes - len("…".encode())
    if room <= 0:
        return ""
    short = cut(text, room)
    word = short.rpartition(" ")[0]
    if not text[len(short) : len(short) + 1].isspace() and len(word) * 2 > len(short):
        short = word
    inside = _open_span(short)
    if inside < len(short):
        short = short[:inside]
    short = short.rstrip()
    return f"{short}…" if short else ""


def destination(path: str) -> str:
    """`path` as the destination of a Markdown link: `<…>`, with what would end it or mean a fragment escaped."""
    return "<" + "".join(f"%{ord(c):02X}" if c in '%#?<>\\"' or ord(c) < 32 else c for c in path) + ">"


def pointer(path: str) -> str:
    """` → projects/x.md`; a path that is more than letters, digits and `./-_` becomes a Markdown link that resolves."""
    if _PLAIN_PATH.match(path):
        return ARROW + path
    label = re.sub(r"([\\\[\]`*_<>!&|~])", r"\\\1", "".join(c if c.isprintable() else "?" for c in path))
    return f"{ARROW}[{label}]({destination(path)})"


_POINTER = re.compile(r" → (?:\[(?:\\.|[^\]\\])*\]\(<(?P<link>[^<>]*)>\)|(?P<plain>[\w./~+@=,-]+))\Z")


def target_of(line: str) -> str | None:
    """The path that a line's pointer names; None if the line does not end with one."""
    match = _POINTER.search(line.rstrip())
    if not match:
        return None
    if match["plain"]:
        return match["plain"]
    return re.sub(r"%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), match["link"])
