"""In: what a memory says. Out: what it names of a repository: paths, and identifiers or exact values that stand in files.

Pure. What cannot be looked up by its letters alone (a duration, an issue's number, a commit, a sentence) is not named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryfs.exact import ExactValue, exact_values

SHORTEST = 3  # characters of a value, and of its longest word
LONGEST = 200
_PLACE = re.compile(r":\d{1,6}(?:[-:]\d{1,6})?$")  # src/auth.ts:42
_PATTERN = re.compile(r"[*?<>{}$%]|\[|\.\.\.|…")
_ISSUE = re.compile(r"^(?:(?:PR|MR|GH|[Ii]ssue)\s?)?#\d+$|^[A-Z][A-Z0-9]{1,9}-\d+$")
_YEAR = re.compile(r"^(?:19|20)\d\d$")
_CODE_SHAPED = re.compile(r"[a-z][A-Z]|_|[A-Z]{2,}[a-z]|^[A-Z][a-z]+[A-Z]")
_CHANGE = re.compile(
    r"\b(?:rename[ds]?|remov\w+|delet\w+|replac\w+|drop(?:s|ped)?|deprecat\w+|obsolete|no longer|not any ?more|used to|formerly|previously|legacy"
    r"|instead of|rather than|in favou?r of|migrat\w+|mov(?:e|ed|es|ing)|switch\w*|gone|until now|unused|retired?)\b"
    r"|廃止|削除|消し|改名|変更|置き換え|移行|移動|代わり|やめ|使わない|使っていない|以前|旧|かつて|もう"
    r"|삭제|제거|폐지|이름을? ?바|변경|교체|대체|이전|옮|대신|더 ?이상|사용하지 않|안 쓰|예전|구버전|없앴"
    r"|删除|移除|废弃|弃用|改名|重命名|改为|改成|替换|替代|迁移|取代|代替|不再|不用|以前|旧|原来", re.I)


@dataclass(frozen=True, slots=True)
class Named:
    """`paths` as written, `values` without quotation marks and brackets, both in the order in which they stand."""

    paths: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.paths or self.values)


def tells_of_change(text: str) -> bool:
    """Whether it says that something was renamed, removed or replaced: what it names is then gone because it says so."""
    return bool(_CHANGE.search(text))


def named(text: str) -> Named:
    """What `text` names."""
    paths: dict[str, None] = {}
    values: dict[str, None] = {}
    for value in exact_values(text[: LONGEST * 20]):
        if value.kind in ("path", "command"):
            parts = [value] if value.kind == "path" else exact_values(value.text, ("path",))
            for part in parts:
                if part.kind == "path" and (path := _path(part.text)):
                    paths[path] = None
                    if path.startswith("/"):  # a route of an API, as well as a file's place
                        values[path] = None
        else:
            values |= dict.fromkeys(_values(text, value))
    return Named(tuple(paths), tuple(values))


def _path(text: str) -> str:
    text = _PLACE.sub("", text).replace("\\", "/").removeprefix("./").rstrip("/")
    return "" if _PATTERN.search(text) or not re.search(r"\w", text) or len(text) > LONGEST else text


def _values(text: str, value: ExactValue) -> list[str]:
    """The letters to look for, for one exact value; [] where there are none."""
    found = value.text
    if value.kind == "identifier":
        if _ISSUE.match(found):
            return []
        found = found.removesuffix("()")
        last = re.split(r"\.|::|->", found)[-1]
        wanted = [last] if last != found and _CODE_SHAPED.search(last) else [found]
    elif value.kind == "env":
        name = found.partition("=")[0].strip("${}").split(":")[0]
        wanted = [name] + ([found] if "=" in found else [])
    elif value.kind == "version":
        found = found.lstrip("<>=^~ ").removeprefix("v")
        wanted = [found] if "." in found else []
    elif value.kind == "number":
        wanted = [found] if re.fullmatch(r"\d{4,12}", found) and not _YEAR.match(found) else []
    elif value.kind == "quoted":
        code = text[value.start - 1 : value.start] == "`" and not re.search(r"\s", found)
        wanted = [found.removesuffix("()")] if code else []
    elif value.kind in ("url", "email", "port", "regex"):
        wanted = [found]
    else:
        wanted = []
    return [w for w in wanted if SHORTEST <= len(w) <= LONGEST and word_of(w) and not _PATTERN_ONLY.fullmatch(w)]


_WORDS = re.compile(r"[A-Za-z0-9_]+")
_PATTERN_ONLY = re.compile(r"[\W_]+")


def word_of(value: str) -> str:
    """The longest word of ASCII letters, digits and `_` in a value, by which it is found quickly; "" if it has none."""
    word = max(_WORDS.findall(value), key=len, default="")
    return word if len(word) >= SHORTEST or (word and re.search(r"\d\.\d", value)) else ""
