"""In: a text. Out: where a secret stands by the name it is given: `FOO_TOKEN=…`, `password: "…"`, Bearer headers, options.

Other ways to say the name (a sentence, a table, a tag, a command) are in `secretforms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryfs.patterns import lazy
from memoryfs.secretvalues import (
    ACCESS,
    FILE,
    is_diced,
    is_expression,
    is_mixed,
    is_placeholder,
    is_sample,
    is_technical,
    is_told,
)

Span = tuple[int, int, str]

NAME = (
    r"(?P<name>[A-Za-z0-9_.-]{0,60}?(?:secret|token|passw(?:or)?d|passphrase|pwd|[_.-]pass|api[ _-]?key|access[ _-]?key|private[ _-]?key"
    r"|secret[ _-]?key|auth[ _-]?key|encryption[ _-]?key|signing[ _-]?key|master[ _-]?key|account[ _-]?key|service[ _-]?key"
    r"|storage[ _-]?key|webhook[ _-]?key|license[ _-]?key|credentials?|_auth)(?:[_-]?(?:id|\d{1,2}|base64|b64|value|prod|dev)| value)?)"
)
# Letters of other scripts end a bare value: `password: 12文字以上`.
_BARE = r"[^\s\"'`,;(){}<>\[\]|&\\\u0370-\U0010ffff]"
_ASSIGN = lazy(
    r"(?i:(?<![A-Za-z0-9_.-])" + NAME + r")(?P<mark>(?:\\?[\"'`]|\*\*|__)?\]?(?:[ \t]?\([^()\n]{1,40}\))?[ \t]*"
    r"(?::[ \t]?&?(?:'static[ ])?(?:[Ss]tring[?!]?|str)[ \t]*=|:=|=>|[=:：])"
    r"(?:\*\*|__)?[ \t]*(?:\*\*)?)"
    r"(?:(?P<open>\\?[\"'`])(?P<quoted>[^\"'`\n\\]{3,512})(?=\\?[\"'`]|$)|(?P<bare>" + _BARE + r"{4,512})(?P<after>[(\[{<]?))"
)
_MAKER = lazy(r"(?:.*[.:])?(?:String|Str|str|Secret\w*|Some|[Bb]ytes|of|from|new|literal|encode)")  # `String::from("…")`
_ARGUMENT = lazy(r"[ \t]{0,8}b?[\"'](?P<value>[^\"'\s\\]{8,512})[\"']")
_BEARER = lazy(
    r"(?i:(?:authorization[\"']?\s*[:=]\s*(?:[\"']\s*)?(?:bearer|basic|token|digest|apikey)\s+|\bbearer\s+))([A-Za-z0-9._~+/=-]{12,})"
)


def by_name(text: str) -> Iterator[Span]:
    """Every value that is assigned to a telling name or stands in a header of authorization."""
    for match in _ASSIGN.finditer(text):
        group = "quoted" if match["quoted"] is not None else "bare"
        if _assigned(match, group):
            yield *match.span(group), kind_of(match["name"])
        elif match["after"] == "(" and _MAKER.fullmatch(match["bare"]):
            argument = _ARGUMENT.match(text, match.end())
            if argument and is_told(argument["value"], password=False) and not argument["value"].isupper():
                yield *argument.span("value"), kind_of(match["name"])
    for match in _BEARER.finditer(text):
        value = match[1]
        if not is_placeholder(value) and (any(c.isdigit() for c in value) or len(value) > 30):
            yield *match.span(1), "bearer-token"


def kind_of(name: str) -> str:
    """The kind of secret that a name tells of."""
    low = name.lower()
    return "password" if "pass" in low or "pwd" in low else "token" if "token" in low else "secret"


def _assigned(match: re.Match[str], group: str) -> bool:
    """Whether the value that a telling name is given looks like a secret and not like code or prose."""
    name, value = match["name"], match[group]
    password = kind_of(name) == "password"
    shouted = name.upper() == name and "=" in match["mark"]  # FOO_TOKEN=…
    tight = match["mark"] in ("=", ":")
    if is_placeholder(value) or value.lower() == name.lower() or FILE.fullmatch(value):
        return False
    if is_technical(value) or (not password and is_sample(value)):
        return False
    if password and is_diced(value, 3 if "phrase" in name.lower() else 4):
        return True
    if group == "bare":
        value = value.rstrip(".:")
        if match["after"] or ACCESS.match(value) or len(value) < 4:
            return False
        if shouted and tight:
            return password or not value.isdigit()
        if password and any(c.isdigit() for c in value) and not value.lower().startswith(("pass", "pwd")):
            return len(value) >= 6 and is_mixed(value)
        return len(value) >= 6 and is_mixed(value) and not is_expression(value)
    if " " in value.strip():
        return shouted and tight and len(value.split()) <= 6
    if is_expression(value) and not any(c.isdigit() for c in value):
        return False
    if password or shouted:
        return not (value.startswith(("/", "./", "~/")) or (value.isdigit() and not password))
    return is_mixed(value) and len(value) >= 6
