"""In: the lines of a Markdown file. Out: where its front matter is, its values as a person means them, what is wrong.

Every scalar is text as it stands in the file (`no`, `on`, `12:30`, `007`, `1.10`, `1_000`, dates, `true`); only an
empty value, `~` and `null` are None. Keys are text. Of two equal keys the last counts, and a warning names both lines.
Lists and mappings are lists and dicts; anchors, aliases and merge keys are followed, up to a size no bomb fits in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryfs.model import Problem

MAX_BLOCK = 1 << 20  # characters
MAX_NODES = 300_000  # values after aliases are followed
_KEYISH = re.compile(r"^[\w.-]+[ \t]*:(?:\s|$)", re.M)
_MENDED_BY_HAND = "Mend the front matter by hand; until then the file is read but not written."


@dataclass(frozen=True)
class FrontMatter:
    """Lines `start` to `end` (0-based, end excluded) hold the block with its fences.

    `kind`: none; yaml (read); foreign (a fence, but no mapping in it: a letterhead, a list, a scalar; it belongs to
    the text); unclosed (no closing fence; it belongs to the text); broken (meant as front matter, not readable).
    """

    kind: str = "none"
    start: int = 0
    end: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def has_block(self) -> bool:
        return self.kind in ("yaml", "broken")


def is_fence(line: str, marks: Sequence[str] = ("---",)) -> bool:
    return line.rstrip() in marks and line[:1] in "-."


def read(lines: Sequence[str], path: str = "") -> FrontMatter:
    """Reads the block at the top of `lines` (a byte-order mark already removed); never raises."""
    start = 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start == len(lines) or not is_fence(lines[start]):
        return FrontMatter()
    end = next((n + 1 for n in range(start + 1, len(lines)) if is_fence(lines[n], ("---", "..."))), 0)
    if not end:
        return _unclosed(lines, path, start)
    block = "".join(lines[start + 1:end - 1])
    problems: list[Problem] = []
    values = _load(block, path, start + 2, problems)
    if isinstance(values, dict):
        if start:
            problems.append(Problem(path, "blank lines stand before the front matter",
                                    "Other programs see it only on line 1.", 1, severity="warning"))
        return FrontMatter("yaml", start, end, values, tuple(problems))
    if start:
        return FrontMatter()  # a rule somewhere below a blank line, not front matter
    if values is _BROKEN and _KEYISH.search(block):
        head = _until_blank(lines[1:end - 1])
        if head and isinstance(_load(head, path, 2, []), dict):
            return _unclosed(lines, path, start)
        return FrontMatter("broken", start, end, {}, tuple(problems))
    what = {list: "a list", _Broken: "not YAML"}.get(type(values), "a single value")
    note = Problem(path, f"the block between the `---` lines is {what}; it is read as text",
                   "Nothing is written into it; use `key: value` lines if it was meant as front matter.", 1,
                   severity="warning")
    return FrontMatter("foreign", start, end, {}, (note,))


def _unclosed(lines: Sequence[str], path: str, start: int) -> FrontMatter:
    if len(lines) == start + 1:
        return FrontMatter()  # a lone `---` is a rule
    note = Problem(path, f"the front matter opened on line {start + 1} is not closed; the file is read as text",
                   "Close it with a line `---`.", start + 1, severity="warning")
    return FrontMatter("unclosed", start, start, {}, (note,))


def _until_blank(lines: Sequence[str]) -> str:
    """The lines up to the first blank one, if there is a blank one."""
    for number, line in enumerate(lines):
        if not line.strip():
            return "".join(lines[:number])
    return ""


class _Broken:
    """The type of the mark for a block that YAML cannot read."""


_BROKEN = _Broken()


def _load(block: str, path: str, first_line: int, problems: list[Problem]) -> Any:
    """The block's value, `{}` for an empty one, or `_BROKEN`; trouble goes to `problems`, counted from `first_line`."""
    import yaml

    if len(block) > MAX_BLOCK:
        problems.append(Problem(path, f"the front matter is larger than {MAX_BLOCK >> 20} MiB and was not read",
                                _MENDED_BY_HAND, first_line - 1))
        return _BROKEN
    text = re.sub("[\ud800-\udfff]", "\ufffd", block)
    try:
        node = compose(text)
        if node is None:
            return {}
        builder = _Builder(text, path, first_line, problems)
        if builder.size(node) > MAX_NODES:
            raise yaml.YAMLError("its aliases expand to too many values")
        value = builder.build(node)
    except yaml.YAMLError as error:
        problems.append(_problem(error, text, path, first_line))
        return _BROKEN
    except RecursionError:
        problems.append(Problem(path, "the front matter is nested too deeply", _MENDED_BY_HAND, first_line))
        return _BROKEN
    tab = text.find("\t")
    if tab >= 0 and isinstance(value, dict):
        line, column = _place(text, tab)
        problems.append(Problem(path, "a tab in the front matter: some YAML readers refuse it", "Use spaces.",
                                first_line + line, column + 1, "warning"))
    return value


def loader() -> Any:
    """PyYAML's loader that leaves scalars as text: the one in C where it was built."""
    import yaml

    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def compose(text: str) -> Any:
    """The YAML node graph of `text`, or None; raises yaml.YAMLError."""
    import yaml

    return yaml.compose(text, Loader=loader())


def _problem(error: Any, text: str, path: str, first_line: int) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    if mark is not None:
        line, column = mark.line, mark.column
    else:
        line, column = _place(text, getattr(error, "position", 0) or 0)
    return Problem(path, f"the front matter is not valid YAML: {reason}", _MENDED_BY_HAND,
                   first_line + line, column + 1)


def _place(text: str, offset: int) -> tuple[int, int]:
    before = re.sub(r"\r\n?", "\n", text[:offset])
    return before.count("\n"), len(before) - before.rfind("\n") - 1


class _Builder:
    """Turns a node graph into values; counts first, so that an alias bomb is refused before it is built."""

    def __init__(self, text: str, path: str, first_line: int, problems: list[Problem]) -> None:
        self.text, self.path, self.first_line, self.problems = text, path, first_line, problems
        self.sizes: dict[int, int] = {}
        self.built: dict[int, Any] = {}

    def size(self, node: Any) -> int:
        """The number of values under `node` with every alias followed; raises on an alias to its own container."""
        import yaml

        known = self.sizes.get(id(node))
        if known is not None:
            if known < 0:
                raise yaml.YAMLError("an alias stands inside the value it names")
            return known
        if isinstance(node.value, str):
            return 1
        self.sizes[id(node)] = -1
        total = 1
        for child in node.value:
            total += self.size(child[0]) + self.size(child[1]) if isinstance(child, tuple) else self.size(child)
        self.sizes[id(node)] = total
        return total

    def build(self, node: Any) -> Any:
        if isinstance(node.value, str):
            empty = not node.style and node.value in ("", "~", "null", "Null", "NULL")
            return None if empty else node.value
        if id(node) not in self.built:
            mapping = node.id == "mapping"
            self.built[id(node)] = self.mapping(node) if mapping else [self.build(child) for child in node.value]
        return self.built[id(node)]

    def mapping(self, node: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node.value, str):
                key = self.text[key_node.start_mark.index:key_node.end_mark.index].strip()
            elif key_node.value == "<<" and not key_node.style and not isinstance(value_node.value, str):
                value = self.build(value_node)
                for part in [value] if isinstance(value, dict) else reversed(value):
                    merged.update(part if isinstance(part, dict) else {})
                continue
            else:
                key = key_node.value
            line = self.first_line + key_node.start_mark.line
            if key in lines:
                self.problems.append(Problem(
                    self.path, f"`{key}` stands twice in the front matter (lines {lines[key]} and {line}); "
                    "the last one counts", "Remove one of them.", line, severity="warning"))
            lines[key] = line
            out[key] = self.build(value_node)
        return {**merged, **out} if merged else out
