"""In: a settings file's text: JSON, JSON with comments, JSON5. Out: the same text with one entry more or less, the rest as it was.

The text is read into nodes with their places; an edit touches only its own place, so that order, comments, indentation
and odd spacing stay. ValueError names line and column of what cannot be read.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

_SPACE = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.S)
_WORD = re.compile(r"[^\s,:\[\]{}\"'/]+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)", re.S)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
MAX_DEPTH = 200


@dataclass(frozen=True)
class Node:
    """A value at [start, end) of the text. `children` of an object or array, in order; `keys` of an object, and where each starts."""

    kind: str  # object, array, scalar
    start: int
    end: int
    scalar: Any = None
    children: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()  # where a member (its key) or item starts

    @property
    def value(self) -> Any:
        if self.kind == "object":
            return dict(zip(self.keys, (c.value for c in self.children), strict=True))
        return [c.value for c in self.children] if self.kind == "array" else self.scalar


def parse(text: str) -> Node:
    """The one value in `text`. Raises ValueError."""
    reader = _Reader(text)
    node = reader.value(0)
    if reader.space() != len(text):
        reader.fail("something follows after the end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, why: str) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        raise ValueError(f"line {line}, column {column}: {why}")

    def space(self) -> int:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def peek(self) -> str:
        self.space()
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self.fail("nested too deeply")
        first = self.peek()
        if first == "{":
            return self.container(depth, "object", "}")
        if first == "[":
            return self.container(depth, "array", "]")
        start = self.at
        if first in ('"', "'"):
            string = self.string()
            return Node("scalar", start, self.at, string)
        word = self.word()
        if word in _WORDS:
            return Node("scalar", start, self.at, _WORDS[word])
        try:
            number: Any = int(word, 0) if re.fullmatch(r"[+-]?0[xX][0-9a-fA-F]+", word) else json.loads(word)
        except ValueError:
            try:
                number = float(word)
            except ValueError:
                self.at = start
                self.fail(f"{word[:20]!r} is no value")
        return Node("scalar", start, self.at, number)

    def word(self) -> str:
        match = _WORD.match(self.text, self.at)
        if not match:
            self.fail("a value is missing")
        self.at = match.end()
        return match[0]

    def string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if not match:
            self.fail("the string does not end on its line")
        self.at = match.end()
        return _ESCAPED.sub(_unescaped, match[0][1:-1])

    def key(self) -> str:
        if self.peek() in ('"', "'"):
            return self.string()
        start = self.at
        name = self.word()
        if not _NAME.match(name):
            self.at = start
            self.fail(f"{name[:20]!r} is no key")
        return name

    def container(self, depth: int, kind: str, close: str) -> Node:
        start = self.at
        self.at += 1
        children: list[Node] = []
        keys: list[str] = []
        starts: list[int] = []
        while (char := self.peek()) != close:
            if children:
                if char != ",":
                    self.fail(f"`,` or `{close}` is missing")
                self.at += 1
                if self.peek() == close:
                    break
            elif not char:
                self.fail(f"`{close}` is missing")
            starts.append(self.space())
            if kind == "object":
                keys.append(self.key())
                if self.peek() != ":":
                    self.fail("`:` is missing")
                self.at += 1
            children.append(self.value(depth + 1))
        self.at += 1
        return Node(kind, start, self.at, None, tuple(children), tuple(keys), tuple(starts))


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "ux" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _LETTERS.get(code, code)


def child(node: Node, key: str) -> Node | None:
    """The member `key` of an object. Raises ValueError if it stands there twice, or `node` is no object."""
    if node.kind != "object":
        raise ValueError(f"an object with `{key}` is expected where there is another value")
    found = [c for k, c in zip(node.keys, node.children, strict=True) if k == key]
    if len(found) > 1:
        raise ValueError(f"the key `{key}` stands there twice")
    return found[0] if found else None


def append(text: str, box: Node, value: Any, key: str | None = None) -> str:
    """`text` with `value` as the last item of `box`, or with `key` its last member."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    spread = _spread(text, box)
    outer = _indent_of(text, box.start)
    indent = outer + unit
    if box.children and spread:
        indent = _indent_of(text, box.starts[-1])
    shown = json.dumps(value, ensure_ascii=False, indent=unit if spread else None)
    if key is not None:
        shown = f"{json.dumps(key, ensure_ascii=False)}: {shown}"
    shown = shown.replace("\n", newline + indent)
    if not box.children:
        inside = text[box.start + 1 : box.end - 1].rstrip()
        if spread or inside:
            return f"{text[: box.start + 1]}{inside}{newline}{indent}{shown}{newline}{outer}{text[box.end - 1 :]}"
        return f"{text[: box.start + 1]}{shown}{text[box.end - 1 :]}"
    last = box.children[-1].end
    rest = text[last : box.end - 1]
    comma = _comma(rest)
    if not spread:
        if comma is None:
            return f"{text[:last]}, {shown}{text[last:]}"
        at = last + comma + 1
        return f"{text[:at]} {shown},{text[at:]}"
    kept = rest.rstrip()
    if comma is None:
        kept = "," + kept
    return f"{text[:last]}{kept}{newline}{indent}{shown}{',' if comma is not None else ''}{rest[len(rest.rstrip()):]}{text[box.end - 1 :]}"


def replace(text: str, node: Node, value: Any) -> str:
    """`text` with `value` where `node` stands."""
    newline = "\r\n" if "\r\n" in text else "\n"
    spread = "\n" in text
    shown = json.dumps(value, ensure_ascii=False, indent=_unit(text) if spread else None)
    return text[: node.start] + shown.replace("\n", newline + _indent_of(text, node.start)) + text[node.end :]


def delete(text: str, box: Node, index: int) -> str:
    """`text` without one item or member of `box`; comments around it stay."""
    start, end = box.starts[index], box.children[index].end
    after = text[end : box.starts[index + 1] if index + 1 < len(box.children) else box.end - 1]
    comma = _comma(after)
    if index + 1 < len(box.children):
        rest = (after[:comma] + after[comma + 1 :]) if comma is not None else after
        return text[:start] + rest.lstrip() + text[box.starts[index + 1] :]
    if index:
        gap = text[box.children[index - 1].end : start]
        if comma is None:  # the comma before it goes with it
            at = _comma(gap) or 0
            gap = gap[:at] + gap[at + 1 :]
        else:
            after = after[:comma] + after[comma + 1 :]
        return text[: box.children[index - 1].end] + gap.rstrip() + after + text[box.end - 1 :]
    if comma is not None:
        after = after[:comma] + after[comma + 1 :]
    inside = text[box.start + 1 : start].rstrip() + after.rstrip()
    tail = after[len(after.rstrip()) :] if inside else ""
    return text[: box.start + 1] + inside + tail + text[box.end - 1 :]


def _comma(text: str) -> int | None:
    """Where the comma stands that follows spaces and comments; None if there is none."""
    match = _SPACE.match(text)
    at = match.end() if match else 0
    return at if text[at : at + 1] == "," else None


def _spread(text: str, box: Node) -> bool:
    """Whether a container's children stand on lines of their own, or would in this file."""
    if box.children:
        return "\n" in text[box.start : box.starts[0]]
    return "\n" in text[box.start : box.end] or "\n" in text.strip() or text.strip() in ("{}", "[]")


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    """The file's step of indentation: that of its first indented line."""
    match = re.search(r"\n([ \t]+)[\"'\w]", text)
    return match[1] if match else "  "
