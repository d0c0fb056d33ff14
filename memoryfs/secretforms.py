"""In: a text. Out: where a secret stands in a sentence, a table, a tag, a command or a URL that says what it is."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from memoryfs.patterns import lazy
from memoryfs.secretnames import NAME, Span, kind_of
from memoryfs.secretvalues import (
    ACCESS,
    is_keylike,
    is_mixed,
    is_placeholder,
    is_sample,
    is_technical,
    is_told,
)

# One of these stands in every text in which `secretnames` or `secretforms` finds a secret by what it is called.
WORDS = (
    "token", "passw", "pwd", "secret", "key", "credential", "bearer", "authorization", "passphrase", "passcode",
    "パスワード", "비밀번호", "密码", "curl", "_pass", "auth", "signature",
)
_CALLED = (
    r"(?P<name>pass(?:word|wd|phrase|code)|(?:api|(?:secret )?access|secret|private|signing|encryption|licen[sc]e|subscription|master"
    r"|account|auth|service|deploy|storage|webhook) key|(?:client|app|shared|webhook|signing) secret|secret|token)"
)
_ASCII = r"[^\s\"'`,«»\u0370-\U0010ffff]"  # and Latin letters: a word of another script goes on with the sentence
_OF = r"(?:\s{1,3}(?:for|of|to|on)(?:\s{1,3}[\w@.-]{1,40}){1,4}?)?"
_SPOKEN = lazy(
    r"(?:(?i:\b" + _CALLED + _OF + r"(?:\*\*)?(?:\s{0,3}[:：=](?:\*\*)?|\s{1,3}(?:is|was):?(?=\s)))\s{0,3}"
    r"|(?P<cjk>パスワード|비밀번호|密码)\s{0,3}(?:は|:|：|=|은|는|是|が|を)\s{0,3})"
    r"(?:\*\*)?[\"'`「『]?(?P<value>" + _ASCII + r"{6,128})"
)
_FENCED = lazy(r"(?:```|~~~)[\w-]{0,20}[ \t]{0,3}\r?\n[ \t]{0,8}(?P<value>\S{6,512})[ \t]{0,8}\r?\n[ \t]{0,8}(?:```|~~~)")
_BEFORE = lazy(r"(?i:\b" + _CALLED + r")(?:\*\*)?[ \t]{0,3}[:：]?(?:\*\*)?[ \t]{0,3}\r?\n(?:[ \t]{0,8}\r?\n){0,2}[ \t]{0,8}\Z")
_CELL = lazy(
    r"\|[ \t]{0,40}(?:\*\*|`)?(?i:(?:[\w.-]{1,30} ){0,3}?" + NAME + r")(?:\*\*|`)?[ \t]{0,40}\|[ \t]{0,40}(?:\*\*|`)?(?P<value>[^\s|`]{6,256}?)(?:\*\*|`)?"
    r"[ \t]{0,40}(?:\||\r?\n|$)"
)
_TAG = lazy(r"<(?i:" + NAME + r")(?:\s[^<>\n]{0,100})?>\s{0,40}(?P<value>[^<>\s]{4,256})\s{0,40}</")
_PLIST = lazy(r"<key>(?i:" + NAME + r")</key>\s{0,40}<string>(?P<value>[^<>\s]{4,256})</string>")
_PAIR = lazy(
    r"(?i:\b(?:key|name)\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?<![A-Za-z0-9_.-])" + NAME
    + r"\\?[\"']?,?\s{1,40}-?\\?[\"']?value\\?[\"']?\s{0,3}[:=]\s{0,3})"
    r"(?:\\?[\"'](?P<value>[^\"'\s\\]{4,512})|(?P<plain>[^\"'\s\\<>{},]{4,512}))"
)
_SET = lazy(
    r"(?:\bset[ \t]{1,3}(?:-{1,2}[A-Za-z]{1,12}[ \t]{1,3}){1,4}|\b(?i:setx|setenv)[ \t]{1,3}(?:/[mM][ \t]{1,3})?)(?i:" + NAME + r")[ \t]{1,3}[\"']?"
    r"(?P<value>[^\s\"']{4,512})"
)
_FLAG = lazy(
    r"(?<![\w-])--?(?:[a-z]{1,20}-){0,4}(?:password|passwd|pass|token|api-?key|secret|auth-token)(?:[ =])[\"']?(?P<value>[^\s\"'`]{4,256})"
)
_NETRC = lazy(
    r"\b(?:machine\s{1,20}\S{1,253}|default)\s{1,20}login\s{1,20}\S{1,128}\s{1,20}(?:account\s{1,20}\S{1,128}\s{1,20})?password\s{1,20}(?P<value>\S{4,256})"
)
_MYSQL = lazy(
    r"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mycli)\b[^\n|;&]{0,200}?\s-p[\"']?(?P<value>[^\s\"'|;&]{4,128})"
)
_COMMAND = lazy(
    r"\bsshpass[ \t]{1,3}(?:-[a-oq-z]\S{0,40}[ \t]{1,3}){0,3}-p[ \t]{0,3}[\"']?(?P<value>[^\s\"']{4,128})"
    r"|\b(?:docker|podman|helm|oras|buildah|skopeo)[ \t]{1,3}(?:registry[ \t]{1,3})?login\b[^\n|;&]{0,200}?\s-p[ \t]{0,3}[\"']?(?P<login>[^\s\"']{4,256})"
    r"|\bredis-cli\b[^\n|;&]{0,200}?\s-a[ \t]{1,3}[\"']?(?P<redis>[^\s\"']{4,256})"
    r"|\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,128}:(?P<curl>[^\s\"'@]{3,200})"
)
_QUERY = lazy(r"[?&](?i:key|sig|signature|x-amz-signature|x-goog-signature)=(?P<value>[A-Za-z0-9_.~%+/-]{20,512})")
_DOCKER = lazy(r"\\?\"auth\\?\"\s{0,4}:\s{0,4}\\?\"(?P<value>[A-Za-z0-9+/]{8,512}={0,2})")
_PORTS = lazy(r"[\d:.]+(?:/(?:tcp|udp))?")


def by_words(text: str) -> Iterator[Span]:
    """Every value that a sentence, a table, a tag, an option or a pair of name and value gives away."""
    for match in _SPOKEN.finditer(text):
        value = match["value"].removesuffix("**").rstrip(".;)")
        kind = "password" if match["cjk"] else kind_of(match["name"])
        if is_told(value, password=kind == "password"):
            yield match.start("value"), match.start("value") + len(value), kind
    for match in _FENCED.finditer(text) if "```" in text or "~~~" in text else ():
        called = _BEFORE.search(text[max(0, match.start() - 80) : match.start()])
        if called and is_told(match["value"], password=kind_of(called["name"]) == "password"):
            yield *match.span("value"), kind_of(called["name"])
    for mark, pattern in (("|", _CELL), ("<key>", _PLIST), ("</", _TAG)):
        for match in pattern.finditer(text) if mark in text else ():
            kind = kind_of(match["name"])
            if is_told(match["value"], password=kind == "password"):
                yield *match.span("value"), kind
    for match in _PAIR.finditer(text):
        group = "value" if match["value"] is not None else "plain"
        kind = kind_of(match["name"])
        if is_told(match[group], password=kind == "password"):
            yield *match.span(group), kind
    for match in _SET.finditer(text):
        value = match["value"]
        if not is_placeholder(value) and is_mixed(value) and not is_technical(value) and not is_sample(value):
            yield *match.span("value"), kind_of(match["name"])
    for match in _FLAG.finditer(text):
        value = match["value"].rstrip(".;)")
        if not is_placeholder(value) and not ACCESS.match(value) and is_mixed(value) and not is_technical(value):
            yield match.start("value"), match.start("value") + len(value), "password"
    for match in _QUERY.finditer(text):
        if is_keylike(match["value"]):
            yield *match.span("value"), "token"
    for match in _DOCKER.finditer(text):
        if _is_login(match["value"]):
            yield *match.span("value"), "password"


def by_command(text: str, low: str) -> Iterator[Span]:
    """Every password that is handed to a program on its command line, or stands in a netrc file."""
    if "machine" in low or "default" in low:
        for match in _NETRC.finditer(text):
            if not is_placeholder(match["value"]):
                yield *match.span("value"), "password"
    if "mysql" in low or "mariadb" in low or "mycli" in low:
        for match in _MYSQL.finditer(text):
            if not is_placeholder(match["value"]) and not _PORTS.fullmatch(match["value"]):
                yield *match.span("value"), "password"
    if "sshpass" in low or "login" in low or "redis-cli" in low or "curl" in low:
        for match in _COMMAND.finditer(text):
            group = next(name for name, value in match.groupdict().items() if value is not None)
            if not is_placeholder(match[group]):
                yield *match.span(group), "password"


def _is_login(value: str) -> bool:
    """Whether it is base64 of `name:password`."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (ValueError, UnicodeDecodeError):
        return False
    name, colon, word = plain.partition(":")
    return bool(name and colon and word) and plain.isprintable()
