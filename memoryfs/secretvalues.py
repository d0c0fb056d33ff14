"""In: a value that stands where a secret could. Out: whether it is a placeholder, code or plain words, or mixed as a key is."""

from __future__ import annotations

import re

from memoryfs.patterns import lazy


def is_mixed(value: str) -> bool:
    """Letters and digits (or signs) together, as in a key, and not a path, a version, a time or a plain
    name."""
    if value.startswith(("/", "./", "../", "~/", "http://", "https://", "-")) or re.fullmatch(
        r"v?[\d.,:TZ+-]+", value
    ):
        return False
    if re.fullmatch(
        r"[\w.-]+\.(?:go|py|ts|tsx|js|rs|md|json|ya?ml|toml|txt|sh|java|rb|c|h|cpp|html|css|log|lock)(?::\d+)?",
        value,
    ):
        return False
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    if digits and letters:
        return True
    return letters > 0 and bool(re.search(r"[!@#%^&*+~?]", value)) and len(value) >= 8


_PLACEHOLDER = lazy(
    r"(?i)(?:[$%{<\[(*].*|.*\$\{.*|.*\{\{.*|.*<[\w -]+>.*|x{3,}.*|.*x{5,}.*|\.{3,}.*|.*\.{3,}|…+.*|.*…|.*\*{3,}.*|#.*|-+|=+.*|_+"
    r"|(?:your|my|the|some|insert|enter|add|put|replace|new|old|example|sample|dummy|placeholder|change)[-_ ].*"
    r"|(?:user)?(?:name)?:?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|apikey|api_key|access_token|credentials?)"
    r"|string|str|number|int|integer|bool(?:ean)?|bytes|any|object|none|null|nil|undefined|true|false|required|optional|yes|no"
    r"|todo|tbd|n/a|empty|hidden|redacted|masked|unset|unknown|invalid|valid|missing|changeme|disabled|enabled"
    r"|(?:os\.environ|os\.getenv|process\.env|import\.meta|env[.:\[]|secrets\.|vars\.|config\.|settings\.|self\.|this\."
    r"|args\.|ctx\.|cfg\.|opts\.|options\.|req\.|request\.|res\.|params\.|props\.|state\.|data\.|user\.|c\.|s\.|r\.|t\.).*)\Z"
)


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for a secret: a variable, a word, stars."""
    value = value.strip()
    return (
        not value
        or (len(set(value)) == 1 and len(value) > 3 and value[0] in "*xX.-_#0")
        or bool(_PLACEHOLDER.match(value))
    )


FILE = lazy(
    r"(?:[\w.~-]*/)+[\w.-]+\.\w{1,10}"
)  # a path with a suffix: where a secret is, not what it is
ACCESS = lazy(
    r"&?[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]|[\[(])"
)  # an attribute, a call, an element
_CODE = lazy(
    r"(?:[A-Za-z_][\w]*)(?:(?:\.|->|::|\?\.)[A-Za-z_][\w]*)+\Z|[A-Za-z_]\w*\Z|&?[A-Za-z_]\w*[.\[(].*|[A-Za-z]+(?:[-/][A-Za-z]+)*\Z"
)


def is_expression(value: str) -> bool:
    """Whether a bare value reads as code (a name, an attribute, a call) or as plain words and not as a
    key."""
    if not _CODE.match(value):
        return False
    digits = sum(c.isdigit() for c in value)
    return digits < 3 or digits < len(value) / 12
