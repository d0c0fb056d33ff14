"""In: the lines of a file, its front matter, a key and a new value. Out: the lines with only that key's lines changed.

Edits are made by span: the places of keys and values come from PyYAML's events, everything between them (comments,
quotes, blank lines, other keys, line ends) stays byte for byte. A block mapping, or a list with comments that would
be lost, goes through ruamel.yaml, that one key alone. Text is quoted whenever a YAML 1.1 or 1.2 reader could take it
for something else.
"""

from __future__ import annotations

import datetime
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoryfs import frontmatter
from memoryfs.frontmatter import FrontMatter

DATE_KEYS = ("created_at", "updated_at")  # written without quotes, as people and Dataview write them
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
# Plain in block and flow context alike, in every YAML reader: starts with a letter and holds no
# indicator. A thread's name is neither a date nor a number to any of them.
_THREAD = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-z~-]*[0-9a-z]\Z")
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+;=’…–—·、。・「」『』（）ー-]*[\w.)+’…。」』）-])?\Z")
_COMMENT = re.compile(r"(?:^|[ \t])#", re.M)


class CannotEditError(Exception):
    """Why a front matter cannot be edited safely; the caller names the file."""


def scalar(value: Any, style: str | None = None, *, date: bool = False) -> str:
    """One value as YAML on one line. `style` is the quote it should keep (`'`, `"` or None for plain)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return format(value, ".6f").rstrip("0").rstrip(".") if abs(value) < 1e6 else str(int(value))
    if isinstance(value, datetime.date):
        return value.isoformat()
    text = str(value)
    word = _PLAIN.match(text) and text.casefold() not in _WORDS
    if style is None and (word or _THREAD.match(text) or (date and _DATE.match(text))):
        return text
    printable = text.isprintable() or all(c.isprintable() or c in "\u3000\u200d\u200c\ufe0f" for c in text)
    if (style != '"' and printable and "\\" not in text) or ("\\" in text and printable and '"' in text):
        return "'" + text.replace("'", "''") + "'"
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(r"[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]", _escape, quoted)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def flow(value: Any, *, date: bool = False) -> str:
    """Any value on one line: lists and mappings in flow style."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value, date=date)


def key_rows(key: str, value: Any) -> list[str]:
    """A new key and its value: one line, or one more for each mapping of a list."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, Mapping) for item in value):
        return [f"{scalar(key)}:", *[f"  - {flow(item)}" for item in value]]
    return [f"{scalar(key)}: {flow(value, date=key in DATE_KEYS)}"]


def plain(value: Any) -> Any:
    """The value as `frontmatter.read` gives it back: scalars as text, sequences as lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str) else scalar(value)


@dataclass(frozen=True)
class _Node:
    """A value's place: offsets into the block, `kind` scalar, alias, sequence or mapping; `children` of a sequence."""

    start: int
    end: int
    kind: str
    style: str | None = None
    is_flow: bool = False
    children: tuple[_Node, ...] = ()


@dataclass(frozen=True)
class _Entry:
    key: str
    start: int
    key_end: int
    node: _Node


def set_key(lines: Sequence[str], front: FrontMatter, key: str, value: Any) -> list[str]:
    """`lines` with `key` set to `value` (None removes the key). Raises CannotEditError."""
    if front.kind in ("foreign", "unclosed", "broken"):
        raise CannotEditError(f"its first block is not front matter we can edit ({front.kind})")
    value = list(value) if isinstance(value, tuple) else value
    if front.kind == "yaml" and key in front.values and front.values[key] == plain(value) and value is not None:
        return list(lines)
    if front.kind == "none":
        return list(lines) if value is None else _new_block(lines, key, value)
    inner = lines[front.start + 1:front.end - 1]
    texts = [line.rstrip("\r\n") for line in inner]
    ends = [line[len(text):] for line, text in zip(inner, texts, strict=True)]
    block = "\n".join(texts) + ("\n" if texts else "")
    entries = _entries(block)
    found = [entry for entry in entries if entry.key == key]
    if not found:
        if value is None:
            return list(lines)
        indent = entries[0].start - (block.rfind("\n", 0, entries[0].start) + 1) if entries else 0
        pieces = _Lines(texts, ends, _line_end(lines, front.start))
        pieces.replace(len(texts), len(texts), [" " * indent + row for row in key_rows(key, value)])
    else:
        pieces = _Lines(texts, ends, _line_end(lines, front.start))
        _change(pieces, block, entries, found[-1], value, front.values.get(key))
    return [*lines[:front.start + 1], *pieces.result(), *lines[front.end - 1:]]


def _line_end(lines: Sequence[str], near: int) -> str:
    for line in (*lines[near:], *lines[:near]):
        end = line[len(line.rstrip("\r\n")):]
        if end:
            return end
    return "\n"


def _new_block(lines: Sequence[str], key: str, value: Any) -> list[str]:
    end = _line_end(lines, 0)
    head = [f"---{end}", *[row + end for row in key_rows(key, value)], f"---{end}"]
    if lines and lines[0].startswith("\ufeff"):
        return ["\ufeff" + head[0], *head[1:], lines[0][1:], *lines[1:]]
    return [*head, *lines]


class _Lines:
    """Lines and their ends, changed by ranges of the original numbering; later ranges first."""

    def __init__(self, texts: list[str], ends: list[str], default: str) -> None:
        self.texts, self.ends, self.default = list(texts), list(ends), default

    def replace(self, first: int, last: int, new: list[str]) -> None:
        old = self.ends[first:last]
        near = old[-1] if old else self.ends[first - 1] if first else self.default
        ends = [*old[:len(new)], *[near or self.default] * (len(new) - len(old))]
        self.texts[first:last], self.ends[first:last] = new, ends

    def result(self) -> list[str]:
        return [text + end for text, end in zip(self.texts, self.ends, strict=True)]


def _entries(block: str) -> list[_Entry]:
    """Keys and values of the top mapping with their offsets."""
    import yaml

    events = list(yaml.parse(re.sub("[\ud800-\udfff]", "\ufffd", block), Loader=frontmatter.loader()))
    events = [e for e in events if not isinstance(e, (yaml.StreamStartEvent, yaml.StreamEndEvent,
                                                      yaml.DocumentStartEvent, yaml.DocumentEndEvent))]
    if not events:
        return []
    if not isinstance(events[0], yaml.MappingStartEvent) or events[0].flow_style:
        raise CannotEditError("its front matter is one flow mapping")
    out, place = [], 1
    while not isinstance(events[place], yaml.MappingEndEvent):
        key_event = events[place]
        key_node, place = _node(events, place, block)
        value_node, place = _node(events, place, block)
        if key_node.kind == "scalar":
            out.append(_Entry(key_event.value, key_node.start, key_node.end, value_node))
    return out


def _node(events: list[Any], place: int, block: str) -> tuple[_Node, int]:
    import yaml

    event = events[place]
    start = event.start_mark.index
    if isinstance(event, yaml.ScalarEvent):
        return _Node(start, event.end_mark.index, "scalar", event.style), place + 1
    if isinstance(event, yaml.AliasEvent):
        return _Node(start, event.end_mark.index, "alias"), place + 1
    kind = "sequence" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
    children, place = [], place + 1
    while not isinstance(events[place], (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
        child, place = _node(events, place, block)
        children.append(child)
    end = events[place].end_mark.index
    return _Node(start, end, kind, None, bool(event.flow_style), tuple(children)), place + 1


def _row(block: str, offset: int) -> int:
    return block.count("\n", 0, offset)


def _column(block: str, offset: int) -> int:
    return offset - (block.rfind("\n", 0, offset) + 1)


def _last_row(texts: list[str], first: int, last: int, column: int) -> int:
    """The end (excluded) of a value's rows: blank lines and comments that stand left of it belong to what follows."""
    while last > first + 1:
        text = texts[last - 1]
        indent = len(text) - len(text.lstrip(" "))
        if text.strip() and not (text.lstrip().startswith("#") and indent <= column):
            break
        last -= 1
    return last


def _change(pieces: _Lines, block: str, entries: list[_Entry], entry: _Entry, value: Any, old: Any) -> None:
    after = next((other for other in entries if other.start > entry.start), None)
    first, column = _row(block, entry.start), _column(block, entry.start)
    last = _row(block, after.start) if after else len(pieces.texts)
    last = _last_row(pieces.texts, first, last, column)
    node, texts = entry.node, pieces.texts
    if value is None:
        return pieces.replace(first, last, [])
    one_row = _row(block, node.start) == _row(block, node.end)
    if isinstance(value, list) and isinstance(old, list) and node.kind == "sequence":
        if not node.is_flow:
            return _block_list(pieces, block, entry, last, value, old)
        if one_row:
            return _put(pieces, block, node, _flow_list(block, node, value, old))
    if node.kind in ("scalar", "alias") and one_row and node.style not in ("|", ">"):
        quote = node.style if node.style in ("'", '"') and isinstance(value, str) else None
        date = entry.key in DATE_KEYS or (not node.style and isinstance(old, str) and bool(_DATE.match(old)))
        new = scalar(value, quote, date=date) if not isinstance(value, (list, Mapping)) else flow(value)
        return _put(pieces, block, node, new)
    whole = "\n".join(texts[first:last])
    value_part = whole[entry.key_end - entry.start:]
    if (node.kind == "mapping" and not node.is_flow and isinstance(value, Mapping)) or (
            node.kind in ("sequence", "mapping") and _COMMENT.search(value_part)):
        return pieces.replace(first, last, _with_ruamel(whole, entry.key, value, old))
    if one_row:
        return _put(pieces, block, node, flow(value))
    tail = re.search(r"[ \t]+#.*$", texts[first]) if node.style in ("|", ">") else None
    new = flow(value, date=entry.key in DATE_KEYS)
    head = block[block.rfind("\n", 0, entry.start) + 1:entry.key_end]
    pieces.replace(first, last, [f"{head}: {new}{tail[0] if tail else ''}"])


def _put(pieces: _Lines, block: str, node: _Node, new: str) -> None:
    row, column = _row(block, node.start), _column(block, node.start)
    text = pieces.texts[row]
    width = node.end - node.start
    gap = " " if column and text[column - 1] not in " \t" else ""
    rest = text[column + width:]
    pieces.texts[row] = text[:column] + gap + new + (" " if gap and rest.startswith("#") else "") + rest


def _flow_list(block: str, node: _Node, value: list[Any], old: list[Any]) -> str:
    """The flow list with the source text of every item that stays."""
    sources = [(plain(item), block[child.start:child.end]) for item, child in zip(old, node.children, strict=True)]
    out = []
    for item in value:
        kept = next((pair for pair in sources if pair[0] == plain(item)), None)
        if kept:
            sources.remove(kept)
        out.append(kept[1] if kept else flow(item))
    opening = block[node.start:node.children[0].start] if node.children else "["
    closing = block[node.children[-1].end:node.end] if node.children else "]"
    return opening + ", ".join(out) + closing if out else "[]"


def _block_list(pieces: _Lines, block: str, entry: _Entry, last: int, value: list[Any], old: list[Any]) -> None:
    texts, children = pieces.texts, entry.node.children
    rows = [_dash_row(block, child) for child in children]
    if not value or len(set(rows)) < len(rows):
        first = _row(block, entry.start)
        head = block[block.rfind("\n", 0, entry.start) + 1:entry.key_end]
        if _COMMENT.search("\n".join(texts[first:last])):
            raise CannotEditError("comments in the list would be lost")
        return pieces.replace(first, last, [f"{head}: {flow(value)}"])
    column = texts[rows[0]].index("-") if rows else 0
    ends = [_last_row(texts, row, end, column) for row, end in zip(rows, [*rows[1:], last], strict=True)]
    indent = texts[rows[0]][:column]
    matcher = difflib.SequenceMatcher(None, [json.dumps(plain(item), sort_keys=True) for item in old],
                                      [json.dumps(plain(item), sort_keys=True) for item in value], autojunk=False)
    for tag, a, b, c, d in reversed(matcher.get_opcodes()):
        if tag == "equal":
            continue
        new = [f"{indent}- {flow(item)}" for item in value[c:d]]
        if b > a:
            for number in range(b - 1, a, -1):
                pieces.replace(rows[number], ends[number], [])
            pieces.replace(rows[a], ends[a], new)
        else:
            at = ends[a - 1] if a else rows[0]
            pieces.replace(at, at, new)


def _dash_row(block: str, child: _Node) -> int:
    """The row of the `-` in front of a block list's item."""
    return _row(block, block.rindex("-", 0, child.start) if child.start and block[child.start:child.start + 1] != "-"
                else child.start)


def _with_ruamel(source: str, key: str, value: Any, old: Any) -> list[str]:
    """One key's lines with the value merged in by ruamel.yaml, comments kept."""
    import io

    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20
    dashes = re.search(r"^( *)-", source, re.M)
    if dashes:
        yaml.indent(mapping=2, sequence=len(dashes[1]) + 2, offset=len(dashes[1]))
    try:
        data = yaml.load(source + "\n")
        _merge(data, key, value, old)
        out = io.StringIO()
        yaml.dump(data, out)
    except (YAMLError, NotImplementedError, AttributeError, TypeError, KeyError) as error:
        raise CannotEditError(f"`{key}` cannot be changed in place: {str(error).splitlines()[0]}") from error
    return out.getvalue().rstrip("\n").split("\n")


def _merge(data: Any, key: Any, value: Any, was: Any) -> None:
    """Changes in ruamel's `data[key]`, which we read as `was`, only what differs from `value`."""
    old = data[key]
    if isinstance(value, Mapping) and isinstance(old, dict) and isinstance(was, dict):
        names = {str(name): name for name in old}
        for name in [name for name in was if name not in value and name in names]:
            del old[names[name]]
        for name, item in value.items():
            if name not in was:
                old[name] = _quoted(item)
            elif was[name] != plain(item):
                _merge(old, names[name], item, was[name])
    elif isinstance(value, list) and isinstance(old, list) and isinstance(was, list):
        wanted, texts = [plain(item) for item in value], list(was)
        for number in range(len(texts) - 1, -1, -1):
            if texts[number] not in wanted:
                del old[number], texts[number]
        for number, item in enumerate(value):
            if number >= len(texts) or texts[number] != wanted[number]:
                old.insert(number, _quoted(item))
                texts.insert(number, wanted[number])
        del old[len(value):]
    else:
        data[key] = _quoted(value)


def _quoted(value: Any) -> Any:
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(value, str):
        return value if scalar(value) == value else SingleQuotedScalarString(value)
    if isinstance(value, Mapping):
        return {str(name): _quoted(item) for name, item in value.items()}
    return [_quoted(item) for item in value] if isinstance(value, list) else value
