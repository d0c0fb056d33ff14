"""In: any text. Out: the exact values in it (regex, SQL, path, command, …) with their offsets, verbatim.

An exact value is what a summary must never retype: it is copied byte for byte from where it stands. Patterns use
bounded quantifiers, so the time is linear in the text; a table in order of precedence decides which kind a span gets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from memoryfs.patterns import lazy

KINDS = (
    "url", "email", "regex", "sql", "command", "env", "hash", "path", "port", "version", "identifier", "number", "quoted",
)


@dataclass(frozen=True, slots=True, order=True)
class ExactValue:
    """`text[start:end]` of the text it was found in, offsets in code points; `kind` is one of `KINDS`."""

    kind: str
    start: int
    end: int
    text: str


# --- quotation: a layer of its own, because a quoted span may hold a path, a command or a regex ---------------------

_QUOTED = lazy(
    r"```[^\n`]*\n(?P<fence>.{0,20000}?)\n[ \t]*```"
    r"|(?P<ticks>`{1,2})(?P<code>[^`\n]{1,400})(?P=ticks)"
    r"|(?<![\w\"])\"(?P<double>[^\"\n]{1,300})\"(?!\w)"
    r"|(?<![\w'])'(?P<single>[^'\n]{1,200})'(?!\w)"
    r"|“(?P<curly>[^”\n]{1,300})”|「(?P<corner>[^」\n]{1,300})」|『(?P<white>[^』\n]{1,300})』",
    re.S,
)


def _quoted(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans between quotation marks, with the name of the mark."""
    for match in _QUOTED.finditer(text):
        name = match.lastgroup
        if name == "ticks":
            name = "code"
        assert name is not None
        start, end = match.span(name)
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start:
            yield start, end, name


# --- the kinds ------------------------------------------------------------------------------------------------------

_SCHEME = r"(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://"
_URL = lazy(_SCHEME + r"[^\s<>\"'`|\\\u3000-\u303f\uff00-\uff65\uac00-\ud7af\u3040-\u30ff\u4e00-\u9fff]{1,2000}")
_EMAIL = lazy(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}", re.A)
_SLASHED = lazy(r"(?<![\w/.~*])/(?![/*\s])(?:[^/\n\\]|\\.){2,300}/[gimsuy]{0,6}(?![\w/])", re.A)
_ANCHORED = lazy(r"(?<!\S)\^[^\s`]{2,300}\$(?![\w{])")
_REGEX_SIGNS = lazy(
    r"\\[dwsbDWSBAZ.+*?()\[\]{}/|$^-]|\(\?[:=!<P]|\[\^?[^\]\s]{0,40}\w-\w[^\]]{0,40}\]|\[\^[^\]]+\]"
    r"|[\])\w.][*+]\??[\[($)|\\]|\.[*+]|[\])]\{\d+(?:,\d*)?\}|^\^|\$$|\)\?|[\])][*+]"
)
_SQL = lazy(
    r"\b(?:SELECT\b(?=.{1,600}?\bFROM\b)|INSERT\s+(?:OR\s+\w+\s+)?INTO\b|UPDATE\s+\S{1,80}\s+SET\b|DELETE\s+FROM\b"
    r"|(?:CREATE|DROP|ALTER)\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+|UNIQUE\s+|VIRTUAL\s+)?"
    r"(?:TABLE|INDEX|VIEW|TRIGGER|DATABASE|SCHEMA|TYPE|FUNCTION)\b|WITH\s+\w{1,60}\s+AS\s*\(|PRAGMA\s+\w|EXPLAIN\s+\w)"
    r"[^;`]{0,3000}?(?:;|(?=`)|(?=\n\s*\n)|\Z)",
    re.S,
)
_SQL_ANY_CASE = lazy(_SQL.pattern, re.S | re.I)
_ONE_LINE_END = lazy(r"\n(?!\s+\S|\s*(?i:from|where|and|or|on|join|left|inner|set|values|group|order|having|limit)\b)")
_PROGRAMS = (
    "apt apt-get aws az bash brew bun bundle cargo cat chmod chown clang cmake composer conda cp createdb curl deno "
    "dig docker docker-compose dotnet dropdb echo eslint export ffmpeg find flutter gcc gcloud gem gh git go gofmt "
    "gradle grep helm java jest jq just kill kubectl launchctl ln ls lsof make mise mkdir mv mvn mypy mysql netlify "
    "nginx node npm npx nvm openssl perl php pip pip3 pipx playwright pm2 pnpm poetry prettier prisma psql pytest "
    "python python3 rails redis-cli rg rm rsync ruby ruff rustup scp sed sh sqlite3 ssh sudo supabase swift "
    "systemctl tail tar terraform tox tsc turbo uv uvx vercel vite vitest wget xcodebuild yarn zsh"
)
_PROGRAM = "(?:" + "|".join(re.escape(p) for p in sorted(_PROGRAMS.split(), key=len, reverse=True)) + ")"
_COMMAND_LINE = lazy(
    rf"(?:\$\s+)?(?:[A-Z_][A-Z0-9_]*=\S+\s+)*(?:{_PROGRAM}|\./[\w./-]+)(?![\w.:(=,-])(?:[ \t]+\S.*)?", re.S
)
_PROMPT = lazy(r"(?m)^[ \t]*[$%❯][ \t]+(\S[^\n]{1,400})$")
_WORDS = (
    "add|apply|audit|branch|build|bundle|checkout|ci|clean|clone|commit|compose|config|create|deploy|dev|diff|down|exec|fetch|fmt|"
    "format|get|init|install|lint|list|log|login|logs|merge|mod|pack|publish|pull|push|rebase|remote|remove|reset|restart|"
    "run|serve|set|show|start|stash|status|stop|switch|sync|tag|test|tidy|uninstall|up|update|upgrade|version|worktree"
)
_ARG = r"(?:--?[A-Za-z][\w-]*(?:=[^\s,;。、)`]+)?|[A-Za-z0-9_@~-]*[./:=@][A-Za-z0-9_./:=@*~-]*[A-Za-z0-9_/*]|[a-z]+[:-][a-z:-]*[a-z])"
_INLINE_COMMAND = lazy(
    rf"(?<![\w./`-]){_PROGRAM}[ ](?:(?:{_WORDS})(?![\w-])(?:(?<=run)[ ][a-z][\w:-]*|(?<=compose)[ ](?:{_WORDS})\b)?(?:[ ]{_ARG}){{0,8}}|(?:-{{1,2}}[A-Za-z][\w-]*(?:=\S+)?)(?:[ ]{_ARG}){{0,8}})", re.A
)
_ENV = lazy(
    r"\$\{[A-Za-z_][A-Za-z0-9_]{1,80}(?::?[-=?+][^}\n]{0,100})?\}|\$[A-Z_][A-Z0-9_]{1,80}\b"
    r"|(?<![A-Za-z0-9_$.-])[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,10}(?![A-Za-z0-9_(])"
    r"(?:=(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s`\"';)、。」]{1,200}))?"
)
_HASH = lazy(
    r"(?<![\w-])(?:sha(?:1|256|512):[0-9A-Fa-f]{8,128}"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|(?=[a-f0-9]{0,63}[a-f])(?=[a-f0-9]{0,63}\d)[0-9a-f]{7,64}|0x[0-9A-Fa-f]{2,64})(?![\w-])", re.A
)
_SEGMENT = r"[A-Za-z0-9_.@+%~\[\]{}$-]"
_EXTENSION = (
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|rb|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|php|lua|sh|zsh|bash|sql|proto|vue|svelte|css|"
    "scss|less|html?|xml|svg|json[lc5]?|ya?ml|toml|ini|cfg|conf|env|lock|md|mdx|rst|txt|csv|tsv|parquet|db|sqlite3?|duckdb|"
    "log|pdf|png|jpe?g|gif|webp|ico|zip|t?gz|tar|zst|whl|gguf|onnx|ipynb|tf|tfvars|gradle|plist|service|timer|patch|diff|"
    "mod|sum|pem|key|crt|ps1|bat|exe|dll|so|dylib|wasm|docx?|xlsx?|pptx?|ex|exs|scala|dart|hcl|nix|el|vim|tmpl|tpl|erb"
)
_PATH = lazy(
    rf"(?<![\w/.~:@-])(?:"
    rf"[A-Za-z]:\\(?:[^\s\\/:*?\"<>|`]{{1,100}}\\){{0,20}}[^\s\\/:*?\"<>|`,;。、]{{1,100}}"
    rf"|(?:~|\.{{1,2}}|[A-Za-z]:)?/(?:{_SEGMENT}{{1,120}}/){{0,30}}{_SEGMENT}{{0,120}}"
    rf"|(?:{_SEGMENT}{{1,120}}/){{2,30}}{_SEGMENT}{{0,120}}"
    rf"|(?:{_SEGMENT}{{1,120}}/){{0,2}}{_SEGMENT}{{0,119}}[A-Za-z0-9_\]}}]\.(?:{_EXTENSION})(?![A-Za-z0-9_])"
    rf"|{_SEGMENT}{{1,120}}/(?![\w/])"
    rf"|\.(?!\.)[A-Za-z][\w-]{{2,40}}(?:\.[\w-]{{1,20}})?(?![\w/(])"
    rf"|(?:Makefile|Dockerfile|Gemfile|Procfile|LICENSE|README)(?![\w.])"
    rf")(?::\d{{1,6}}(?:[-:]\d{{1,6}})?)?", re.A
)
_PORT = lazy(
    r"(?<![\w.-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):\d{2,5}(?![\d:\w-]|\.\d)"
    r"|(?i:\bports?\b|ポート(?:番号)?|포트(?:\s?번호)?|端口号?|通訊埠|連接埠)(?:\s|は|が|を|는|은|를|을|로|is|to|from|at|number|=|:|：|改为|是|为|`)"
    r"{0,4}(?P<word>\d{2,5})(?!\d)"
    r"|(?<![\w.:])(?P<after>\d{2,5})(?=\s?(?:番ポート|번\s?포트|端口|/tcp|/udp|\s+port\b))"
    r"|(?<![\w:.]):(?P<colon>\d{4,5})(?![\d:\w]|\.\d)", re.A
)
_VERSION = lazy(
    r"(?<![\w.$/-])(?:(?:[<>~^]=?|==)\s?)?(?:[vV]\d{1,6}(?:\.\d{1,6}){0,4}|\d{1,6}(?:\.\d{1,6}){2,4})"
    r"(?:[-+](?:[0-9A-Za-z]+[.-]?){1,6})?(?!\.?\d)(?![A-Za-z_/])"
    r"|(?<![\w.])(?:[<>~^]=?|==)\s?\d{1,6}(?:\.\d{1,6}){0,3}(?!\w|\.\d)"
    r"|(?<=@)\d{1,6}(?:\.\d{1,6}){0,3}(?!\w|\.\d)", re.A
)
_IP = lazy(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?!\w|\.\d)", re.A)
_IDENTIFIER = lazy(
    r"(?<![\w-])--?[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:=[^\s`,;)。、]+)?(?![\w])(?<!-)"  # a flag
    r"|(?<![\w#])(?:[A-Z][A-Z0-9]{1,9}-\d{1,7}|(?:(?:PR|MR|GH|[Ii]ssue)\s?)?#\d{1,7})(?!\w)"
    r"|(?<![A-Za-z0-9_.])[A-Za-z_$][A-Za-z0-9_]{0,80}(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_]{0,80}){1,8}(?:\(\))?(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]{0,80}\(\)"
    r"|(?<![A-Za-z0-9_])(?:[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}[A-Z]*|[A-Z]{2,}[a-z]+[A-Z]\w*"
    r"|_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?![A-Za-z0-9_])"
    r"|(?<![\w/])@[a-z0-9][\w-]*/[\w.-]*\w", re.A
)
_UNIT = (
    r"%|％|ms|µs|ns|[KMGT]i?B|kB|bytes?|bits?|kbps|[KMG]bps|[kMG]?Hz|px|rem|em|pt|dpi|fps|rpm|qps|rps|[ck]?m|mm|kg|mg|g|°C|℃|"
    r"(?:milli)?seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|[smhdw]|tokens?|lines?|users?|requests?|"
    r"times|items?|rows?|events?|characters?|chars?|words?|files?|pages?|retries|attempts?|connections?|workers?|threads?|"
    r"USD|EUR|GBP|JPY|KRW|dollars?|euros?|yen|円|ドル|ユーロ|秒|分(?!か)|時間|日(?:間)?|週間?|[かヶケカ]月|年|件|人|個|回|文字|行|台|名|歳|"
    r"초|분|시간|일|주|개월|년|개|명|원|번|줄|자|회|秒钟?|分钟|小时|天|周|个月|元|块|次|条|个|位|字"
)
_NUMBER = lazy(
    r"(?<![\w.,:/-])\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\w-])"
    r"|(?<![\w:.])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])(?:\s?[AaPp]\.?[Mm]\.?)?"
    r"|[$€£¥₩]\s?\d[\d,]*(?:\.\d+)?[kKMB]?(?!\w)"
    rf"|(?<![A-Za-z0-9_.,-])[-+±~≈<>≤≥]?\d[\d,]*(?:\.\d+)?\s?[-–]?\s?(?:{_UNIT})(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9_.,/-])\d+\.\d+(?!\w|\.\d)"
    r"|(?<![A-Za-z0-9_.,/#-])\d{1,3}(?:,\d{3})+(?![\w,])"
    r"|(?<![A-Za-z0-9_.,/#:-])\d{3,12}(?![\w.,]\w|\w)", re.A
)


def _trim(text: str, start: int, end: int) -> int:
    """`end` without the punctuation that belongs to the sentence rather than to the value."""
    while end > start:
        last = text[end - 1]
        if last in ".,;:!?*_~'\"`" or (last in ")]}" and text.count(last, start, end) > text.count("([{"[")]}".index(last)], start, end)):
            end -= 1
        else:
            break
    return end


def looks_like_regex(text: str) -> bool:
    """Whether a quoted piece reads as a regular expression: two signs of one, or one that means nothing else."""
    if len(text) < 3 or "://" in text:
        return False
    signs = _REGEX_SIGNS.findall(text)
    strong = any(s.startswith(("\\d", "\\w", "\\s", "\\b", "(?", "[^")) or "-" in s for s in signs)
    if text[0].isalpha() and ":\\" in text[:3]:
        return False
    if " " in text.strip() and not strong:
        return False
    return len(signs) >= 2 or (strong and any(c in text for c in "+*{$^"))


def _of_path(text: str, start: int, end: int) -> bool:
    body = text[start:end]
    if body in ("/", "./", "../", "~/", "//", "..", "."):
        return False
    core = body.rstrip("/")
    if "/" in core and not re.search(r"[A-Za-z]", core):
        return False
    if body.count("/") == 1 and body.endswith("/") and not re.search(r"[._-]|^[a-z]{2,}", body):
        return False
    return not (body.startswith("/") and len(body) < 3)


def _of_version(text: str, start: int, end: int) -> bool:
    return not _IP.fullmatch(text[start:end])


def _of_identifier(text: str, start: int, end: int) -> bool:
    body = text[start:end]
    if body.startswith("-"):
        return body.startswith("--") or (start > 0 and text[start - 1] in "` ")
    if "." in body and not body.endswith("()") and not body[0].isdigit():
        parts = body.split(".")
        return body.lower() not in ("e.g", "i.e", "a.m", "p.m", "u.s") and all(len(p) > 1 for p in parts)
    return len(body) > 2


def _spans(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    def find(text: str) -> Iterator[tuple[int, int]]:
        for match in pattern.finditer(text):
            yield match.span(match.lastgroup) if match.lastgroup else match.span()

    return find


def _sql(text: str, quoted: list[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    for start, end, _ in quoted:
        match = _SQL_ANY_CASE.match(text[start:end])
        if match:
            yield start, start + match.end()
    for match in _SQL.finditer(text):
        start, end = match.span()
        broken = _ONE_LINE_END.search(text, start, end)
        yield start, broken.start() if broken else end


def _regex(text: str, quoted: list[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    for start, end, name in quoted:
        if name != "fence" and looks_like_regex(text[start:end]):
            yield start, end
    for pattern in (_SLASHED, _ANCHORED):
        for match in pattern.finditer(text):
            if looks_like_regex(match.group().strip("/")):
                yield match.span()


def _command(text: str, quoted: list[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    for start, end, name in quoted:
        if name == "fence":
            at = start
            for line in text[start:end].split("\n"):
                lead = len(line) - len(line.lstrip())
                body = line.strip()
                if body and _COMMAND_LINE.fullmatch(body) and " " in body:
                    skip = 2 if body.startswith("$ ") else 0
                    yield at + lead + skip, at + lead + len(body)
                at += len(line) + 1
        elif name == "code" and _COMMAND_LINE.fullmatch(text[start:end]) and (" " in text[start:end]):
            yield start, end
    for match in _PROMPT.finditer(text):
        if _COMMAND_LINE.match(match.group(1)):
            yield match.span(1)
    for match in _INLINE_COMMAND.finditer(text):
        yield match.span()


def _find(kind: str, text: str, quoted: list[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """All spans of one kind, untrimmed and unchecked."""
    if kind == "regex":
        yield from _regex(text, quoted)
    elif kind == "sql":
        yield from _sql(text, quoted)
    elif kind == "command":
        yield from _command(text, quoted)
    else:
        for find in _SIMPLE[kind]:
            yield from find(text)


_SIMPLE = {
    "url": (_spans(_URL),), "email": (_spans(_EMAIL),), "env": (_spans(_ENV),), "hash": (_spans(_HASH),),
    "path": (_spans(_PATH),), "port": (_spans(_PORT),), "version": (_spans(_VERSION),),
    "identifier": (_spans(_IP), _spans(_IDENTIFIER)), "number": (_spans(_NUMBER),),
}
# In this order: an earlier kind takes its span and later kinds get what is left.
_ORDER = ("url", "email", "regex", "sql", "command", "env", "path", "port", "hash", "version", "number", "identifier")
_CHECKS: dict[str, Callable[[str, int, int], bool]] = {
    "path": _of_path, "identifier": _of_identifier, "version": _of_version,
}
_KEEP_END = {"regex", "sql", "command"}


def exact_values(text: str, kinds: Collection[str] = KINDS) -> list[ExactValue]:
    """The exact values of `text`, by place. Kinds other than `quoted` don't overlap; a `quoted` span may hold others
    (and is left out where another value is all of it). With `kinds`, only these are looked for, which takes less time;
    what another kind would take first (but a URL) is then theirs."""
    quoted = list(_quoted(text))
    taken: list[tuple[int, int]] = []
    found: list[ExactValue] = []
    for kind in _ORDER:
        if kind not in kinds and kind != "url":
            continue
        check = _CHECKS.get(kind)
        for start, end in _find(kind, text, quoted):
            end = end if kind in _KEEP_END else _trim(text, start, end)
            while end > start and text[end - 1].isspace():
                end -= 1
            if end <= start or (check and not check(text, start, end)):
                continue
            at = bisect_left(taken, (start, end))
            if (at < len(taken) and taken[at][0] < end) or (at > 0 and taken[at - 1][1] > start):
                continue
            taken.insert(at, (start, end))
            found.append(ExactValue(kind, start, end, text[start:end]))
    whole = set(taken)
    found += [
        ExactValue("quoted", start, end, text[start:end])
        for start, end, name in quoted if "quoted" in kinds and name != "fence" and (start, end) not in whole
    ]
    return sorted((v for v in found if v.kind in kinds), key=lambda v: (v.start, -v.end, v.kind))
