"""In: a settings file's text and our entries. Out: the text with them, or without them; everything else as it was.

Each edit is checked by reading the result again: it must say what was meant and nothing else, or it is refused.
ValueError says why a file cannot be edited.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from typing import Any

from memoryfs.harness import jsonc
from memoryfs.harness.hosts import Entry
from memoryfs.harness.jsonc import Node

_OURS = re.compile(r"memoryfs['\"]?\s+hook\s")


def is_ours(item: Any) -> bool:
    """Whether an item of a list of hooks runs `memoryfs hook`."""
    return bool(_OURS.search(_commands(item)))


def _commands(value: Any) -> str:
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return "\n".join([*own, *(_commands(v) for v in value.values() if isinstance(v, (dict, list)))])
    return "\n".join(_commands(v) for v in value) if isinstance(value, list) else ""


# -- JSON ---------------------------------------------------------------------------------------------------------


def add_json(text: str, entries: Sequence[Entry]) -> str:
    """`text` (may be empty) with every entry, each once."""
    new = text if text.strip() else "{}\n"
    wanted = _plain(new)
    for entry in entries:
        new = _add(new, entry)
        _add_plain(wanted, entry)
    if _plain(new) != wanted:
        raise ValueError("the file has a form that cannot be edited safely")
    return new


def _plain(text: str) -> Any:
    value = copy.deepcopy(jsonc.parse(text).value)
    if not isinstance(value, dict):
        raise ValueError("an object is expected at the top")
    return value


def _add(text: str, entry: Entry) -> str:
    node = jsonc.parse(text)
    for depth, key in enumerate(entry.path):
        below = jsonc.child(node, key)
        last = depth == len(entry.path) - 1
        if below is None:
            value: Any = [entry.value] if entry.item else entry.value
            for outer in reversed(entry.path[depth + 1 :]):
                value = {outer: value}
            return jsonc.append(text, node, value, key)
        if last and not entry.item:
            return text if entry.keep or below.value == entry.value else jsonc.replace(text, below, entry.value)
        node = below
    if node.kind != "array":
        raise ValueError(f"a list is expected at `{'.'.join(entry.path)}`")
    ours = [n for n, c in enumerate(node.children) if is_ours(c.value)]
    if not ours:
        return jsonc.append(text, node, entry.value)
    for index in reversed(ours[1:]):
        text = jsonc.delete(text, node, index)
    if node.children[ours[0]].value != entry.value:
        text = jsonc.replace(text, node.children[ours[0]], entry.value)
    return text


def _add_plain(value: dict[str, Any], entry: Entry) -> None:
    for key in entry.path[:-1]:
        value = value.setdefault(key, {})
    key = entry.path[-1]
    if not entry.item:
        value[key] = value.get(key, entry.value) if entry.keep else entry.value
        return
    items = value.setdefault(key, [])
    places = [n for n, item in enumerate(items) if is_ours(item)]
    if not places:
        items.append(entry.value)
        return
    items[places[0]] = entry.value
    for place in reversed(places[1:]):
        del items[place]


def remove_json(text: str, entries: Sequence[Entry], original: str | None) -> str:
    """`text` without our entries; lists and objects left empty go too, unless `original` (None: there was no file) had them."""
    if not text.strip():
        return text
    had = jsonc.parse(original).value if original and original.strip() else {}
    for entry in sorted(entries, key=lambda entry: entry.keep):  # what is kept goes only from a file that has nothing else
        text = _remove(text, entry, had)
    return text


def _remove(text: str, entry: Entry, had: Any) -> str:
    root = jsonc.parse(text)
    chain: list[Node] = [root]
    for key in entry.path:
        below = jsonc.child(chain[-1], key) if chain[-1].kind == "object" else None
        if below is None:
            return text
        chain.append(below)
    if entry.keep:
        alone = set(root.keys) == {entry.path[0]} and entry.path[0] not in had
        return jsonc.delete(text, root, root.keys.index(entry.path[0])) if alone else text
    if entry.item:
        ours = [n for n, c in enumerate(chain[-1].children) if is_ours(c.value)] if chain[-1].kind == "array" else []
        if not ours:
            return text
        for index in reversed(ours):
            text = jsonc.delete(text, chain[-1], index)
    else:
        text = jsonc.delete(text, chain[-2], chain[-2].keys.index(entry.path[-1]))
    for depth in range(len(entry.path) if entry.item else len(entry.path) - 1, 0, -1):
        path = entry.path[:depth]
        if _at(had, path) is not None:
            break
        parents = [jsonc.parse(text)]
        for key in path:
            below = jsonc.child(parents[-1], key)
            assert below is not None
            parents.append(below)
        if parents[-1].children:
            break
        text = jsonc.delete(text, parents[-2], parents[-2].keys.index(path[-1]))
    return text


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


# -- one line of a Markdown file ----------------------------------------------------------------------------------


def add_line(text: str, line: str, mark: str) -> str:
    """`text` with `line`, which ends in `mark`, as its last paragraph, or in place of the line that ends so."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    ours = [n for n, old in enumerate(lines) if old.rstrip().endswith(mark)]
    if ours:
        end = "\r" if lines[ours[0]].endswith("\r") else ""
        lines[ours[0]] = line + end
        return "\n".join(old for n, old in enumerate(lines) if n not in ours[1:])
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{line}{newline}"


def remove_line(text: str, mark: str) -> str:
    """`text` without lines that end in `mark`, and without the blank line that was set before a last one."""
    lines = text.split("\n")
    kept = [line for line in lines if not line.rstrip().endswith(mark)]
    if len(kept) < len(lines) and len(kept) > 1 and not kept[-1] and not kept[-2].strip() and lines[-1] == "":
        del kept[-2]
    return "\n".join(kept)


# -- TOML ---------------------------------------------------------------------------------------------------------


def add_toml(text: str, entry: Entry) -> str:
    """`text` with the table `entry.path`: appended, or mended in place where there is one."""
    import tomllib

    before = tomllib.loads(text)
    table, name = entry.path
    if _at(before, entry.path) == entry.value:
        return text
    if not isinstance(before.get(table, {}), dict):
        raise ValueError(f"a table is expected at `{table}`")
    if _at(before, entry.path) is None:
        block = _block(entry, "\r\n" if "\r\n" in text else "\n")
        gap = "" if not text else block[0] if text.endswith("\n") else block[0] * 2
        new = f"{text}{gap}{''.join(block[1:])}"
        if _reads_as(new, before, entry):
            return new
    import tomlkit

    document = tomlkit.parse(text)
    outer: Any = document.get(table)
    made = tomlkit.inline_table() if isinstance(outer, tomlkit.items.InlineTable) else tomlkit.table()
    made.update(entry.value)
    outer[name] = made
    new = tomlkit.dumps(document)
    if not _reads_as(new, before, entry):
        raise ValueError("the file has a form that cannot be edited safely")
    return new


def _block(entry: Entry, newline: str) -> list[str]:
    lines = [f"[{'.'.join(entry.path)}]", *(f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in entry.value.items())]
    return [newline, *(line + newline for line in lines)]


def _reads_as(text: str, before: dict[str, Any], entry: Entry) -> bool:
    import tomllib

    expected = copy.deepcopy(before)
    expected.setdefault(entry.path[0], {})[entry.path[1]] = entry.value
    try:
        return tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        return False


def remove_toml(text: str, entry: Entry, original: str | None) -> str:
    """`text` without the table; an outer table left empty goes too, unless `original` had it."""
    import tomllib

    import tomlkit

    if _at(tomllib.loads(text), entry.path) is None:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    block = _block(entry, newline)
    for piece in ("".join(block), "".join(block[1:])):
        if text.count(piece) == 1:
            cut = text.replace(piece, "")
            if _at(tomllib.loads(cut), entry.path) is None:
                return cut
    document = tomlkit.parse(text)
    table: Any = document[entry.path[0]]
    del table[entry.path[1]]
    if not table and entry.path[0] not in (tomllib.loads(original) if original else {}):
        del document[entry.path[0]]
    new = tomlkit.dumps(document)
    expected = tomllib.loads(text)
    del expected[entry.path[0]][entry.path[1]]
    left = tomllib.loads(new)
    left.setdefault(entry.path[0], {})
    if left != expected:
        raise ValueError(f"[{'.'.join(entry.path)}] cannot be taken out safely; delete it by hand")
    return new
