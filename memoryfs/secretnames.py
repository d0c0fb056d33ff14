"""In: a text. Out: where a secret stands by the name it is given: `FOO_TOKEN=…`, `password: "…"`, Bearer headers, options."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryfs.patterns import lazy
from memoryfs.secretvalues import ACCESS, FILE, is_expression, is_mixed, is_placeholder

Span = tuple[int, int, str]

WORDS = (
    "token",
    "passw",
    "pwd",
    "secret",
    "key",
    "credential",
    "bearer",
    "authorization",
    "passphrase",
    "パスワード",
    "비밀번호",
    "密码",
    "curl",
    "_pass",
    "auth",
)
_NAME = (
    r"(?P<name>[A-Za-z0-9_.-]{0,60}?(?:secret|token|passw(?:or)?d|passphrase|pwd|[_.-]pass|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|secret[_-]?key|auth[_-]?key|encryption[_-]?key|signing[_-]?key|master[_-]?key|account[_-]?key|service[_-]?key"
    r"|storage[_-]?key|webhook[_-]?key|license[_-]?key|credentials?|_auth)(?:[_-]?(?:id|\d{1,2}|base64|b64|value|prod|dev))?)"
)
_ASSIGN = lazy(
    r"(?i:(?<![A-Za-z0-9_.-])" + _NAME + r")(?P<mark>\\?[\"'`]?\]?[ \t]*(?::=|=>|[=:])[ \t]*)"
    r"(?:(?P<open>\\?[\"'`])(?P<quoted>[^\"'`\n\\]{3,512})(?=\\?[\"'`]|$)|(?P<bare>[^\s\"'`,;(){}<>\[\]|&\\]{4,512})(?P<after>[(\[{<]?))"
)
_BEARER = lazy(
    r"(?i:(?:authorization[\"']?\s*[:=]\s*[\"']?\s*(?:bearer|basic|token|digest|apikey)\s+|\bbearer\s+))([A-Za-z0-9._~+/=-]{12,})"
)
_FLAG = lazy(
    r"(?<![\w-])--?(?:[a-z]+-)*(?:password|passwd|pass|token|api-?key|secret|auth-token)(?:[ =])[\"']?([^\s\"'`]{4,256})"
)
_USERPASS = lazy(r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:([^\s\"'@]{3,200})")
_SPOKEN = lazy(
    r"(?i:\b(?:password|passphrase|passwd|api key|token)|パスワード|비밀번호|密码)(?:\s*(?:は|:|：|=|은|는|是|が|を)\s*|\s+is\s+)"
    r"[\"'`「『]?([^\s\"'`」』。、,]{6,128})"
)


def by_name(text: str) -> Iterator[Span]:
    """Every value that a telling name, a header, an option or a sentence gives away."""
    for match in _ASSIGN.finditer(text):
        group = "quoted" if match["quoted"] is not None else "bare"
        if _assigned(match, group):
            yield *match.span(group), kind_of(match["name"])
    for pattern, kind in ((_BEARER, "bearer-token"), (_USERPASS, "password")):
        for match in pattern.finditer(text):
            value = match[1]
            if not is_placeholder(value) and (
                kind == "password" or any(c.isdigit() for c in value) or len(value) > 30
            ):
                yield *match.span(1), kind
    for pattern in (_FLAG, _SPOKEN):
        for match in pattern.finditer(text):
            value = match[1].rstrip(".;)")
            if not is_placeholder(value) and not ACCESS.match(value) and is_mixed(value):
                yield match.start(1), match.start(1) + len(value), "password"


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
