"""In: any text. Out: the same text with secrets replaced by `[REDACTED:kind]`, and where that happened.

Three ways to see a secret: its form (`secretrules`), the name it is assigned to (`FOO_TOKEN=…`, `password:
"…"`, Bearer headers, passwords in URLs), and private keys as blocks, also when escaped or prefixed line by
line. A value that is a placeholder (`$FOO`, `your-key-here`, `os.environ[...]`, `***`, `string`) stays, and
so do look-alikes without a secret's form or name: commit hashes, UUIDs, `sha256:` digests, integrity hashes.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from memoryfs.patterns import lazy
from memoryfs.secretforms import WORDS, by_command, by_words
from memoryfs.secretnames import Span, by_name
from memoryfs.secretrules import Rule, base64_marks, literals, rules
from memoryfs.secretvalues import is_mixed, is_placeholder


@dataclass(frozen=True, slots=True)
class Redacted:
    """`spans` are the placeholders' [start, end) in `text`; `edits` say which [start, end) of the input
    they replace."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    edits: tuple[tuple[int, int, int, int], ...] = ()

    def moved(self, offset: int) -> int:
        """Where an offset of the input stands now; one inside a secret stands at its placeholder's end."""
        at = bisect_right(self.edits, (offset,)) - 1
        if at >= 0 and self.edits[at][0] == offset:
            return self.edits[at][2]
        if at < 0:
            return offset if not self.edits or offset != self.edits[0][0] else self.edits[0][2]
        _, old_end, _, new_end = self.edits[at]
        return new_end if offset <= old_end else new_end + offset - old_end


def redact(text: str) -> Redacted:
    """The text without secrets. Redacting twice changes nothing more."""
    spans = _merged(list(_find(text)))
    if not spans:
        return Redacted(text)
    spans = _merged([*spans, *_again(text, spans)])
    out, places, edits, position, length = [], [], [], 0, 0
    for start, end, kind in spans:
        out.append(text[position:start])
        length += start - position
        placeholder = f"[REDACTED:{kind}]"
        out.append(placeholder)
        places.append((length, length + len(placeholder)))
        edits.append((start, end, length, length + len(placeholder)))
        length += len(placeholder)
        position = end
    out.append(text[position:])
    return Redacted("".join(out), tuple(places), tuple(edits))


def _merged(spans: list[Span]) -> list[Span]:
    spans.sort(key=lambda s: (s[0], -s[1]))
    out: list[Span] = []
    for start, end, kind in spans:
        if out and start < out[-1][1]:
            if end > out[-1][1]:
                out[-1] = (out[-1][0], end, out[-1][2])
        elif end > start:
            out.append((start, end, kind))
    return out


SEARCHED = 64  # values looked for one by one; more are looked for together
HEAD = 8  # characters, at least, of a value that is looked for elsewhere
LONG = 16  # characters from which on a value is found inside longer words too


def _again(text: str, spans: list[Span]) -> Iterator[Span]:
    """Where else in the text a value stands that was found to be a secret."""
    values: dict[str, str] = {}
    for start, end, kind in spans:
        value = text[start:end]
        if HEAD <= len(value) <= 512 and is_mixed(value) and not any(c.isspace() for c in value):
            values.setdefault(value, kind)
    for at, value in _places(text, values):
        end = at + len(value)
        if len(value) >= LONG or not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            yield at, end, values[value]


def _places(text: str, values: Collection[str]) -> Iterator[tuple[int, str]]:
    if len(values) <= SEARCHED:
        for value in values:
            at = text.find(value)
            while at >= 0:
                yield at, value
                at = text.find(value, at + len(value))
        return
    sizes: dict[str, set[int]] = {}
    for value in values:
        sizes.setdefault(value[:HEAD], set()).add(len(value))
    for at in range(len(text) - HEAD + 1):
        for size in sizes.get(text[at : at + HEAD], ()):
            if text[at : at + size] in values:
                yield at, text[at : at + size]


def _find(text: str) -> Iterator[Span]:
    if len(text) < 6:
        return
    low = text.lower()
    present = {literal for literal in literals() if literal in low}
    for rule in rules():
        if not present.isdisjoint(rule.literals):
            yield from _by_form(text, low, rule)
    if "private key" in low:
        yield from _private_keys(text)
    if "://" in low:
        yield from _in_urls(text)
    if any(word in low for word in WORDS):
        yield from by_name(text)
        yield from by_words(text)
    yield from by_command(text, low)
    yield from _in_base64(text)


def _by_form(text: str, low: str, rule: Rule) -> Iterator[Span]:
    for match in rule.pattern.finditer(text):
        start, end = match.span(rule.group)
        if not rule.size or end - start < rule.size:
            end = _continued(text, end)
        yield start, end, rule.kind
    if rule.size and "\n" in text:
        yield from _broken(text, low, rule)


_REST = re.compile(
    r"[\"']?[ \t]*[+\\]?[ \t]*\r?\n[ \t]*(?:(?:[>#|*+]|//|\d+[→:|])[ \t]?)*[\"']?([A-Za-z0-9_-]{8,})(?=[\"'`,;)\\]*[ \t]*(?:\r?\n|$))"
)
_JOIN = re.compile(r"[\"']?[ \t]*[+\\]?[ \t]*\r?\n[ \t]*(?:(?:[>#|*+]|//|\d+[→:|])[ \t]?)*[\"']?")


def _continued(text: str, end: int) -> int:
    """The end of a key of open length that goes on alone in the next line."""
    rest = _REST.match(text, end)
    if rest and any(c.isdigit() for c in rest[1]) and any(c.isalpha() for c in rest[1]):
        return rest.end(1)
    return end


def _broken(text: str, low: str, rule: Rule) -> Iterator[Span]:
    """Keys of fixed length that were broken over two lines."""
    for literal in rule.literals:
        at = low.find(literal)
        while at >= 0:
            window = text[at : at + rule.size + 60]
            cut = _JOIN.search(window, len(literal))
            if cut and cut.start() < rule.size and not rule.pattern.match(text, at):
                head = window[: cut.start()]
                if not re.search(r"\s", head):
                    joined = head + window[cut.end() :]
                    match = rule.pattern.match(joined)
                    if match and match.end() > len(head):
                        length = min(match.end(), rule.size)
                        yield at, at + cut.end() + length - len(head), rule.kind
            at = low.find(literal, at + 1)


_PEM = re.compile(r"-{4,5} ?BEGIN ((?:[A-Z0-9]+ )*)PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_LINE = re.compile(
    r"(?:\\[nrt]|[\s\"'>#|*+,]|//|\d+[→:|])*(?:[A-Za-z0-9-]+: [^\n\\]{1,80}|[A-Za-z0-9+/=]{16,})"
)
_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
MAX_PEM = 20_000


def _private_keys(text: str) -> Iterator[Span]:
    for match in _PEM.finditer(text):
        end = _PEM_END.search(text, match.end(), match.end() + MAX_PEM)
        if end and not _PEM.search(text, match.end(), end.start()):
            body, stop = text[match.end() : end.start()], end.end()
        else:  # cut off before its end
            stop = match.end()
            while (line := _PEM_LINE.match(text, stop)) and line.end() > stop:
                stop = line.end()
            body = text[match.end() : stop]
        if sum(len(run) for run in _RUN.findall(body)) >= 32:
            yield match.start(), stop, "private-key"


_URL = lazy(
    r"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,20})://[^\s/:@\"'<>`\[]{0,128}:"
    r"(?P<value>[^\s/@\"'<>`]{1,512}(?:@[^\s/@\"'<>`?&=,;:()\[\]]{1,64}){0,3}|(?P<slashes>[^\s/@\"'<>`?]{1,256}/[^\s@\"'<>`?]{1,256}))@(?=[\w\[.$%-])"
)
_SERVER = lazy(  # what a password may hold slashes for; elsewhere what looks like one is a path
    r"(?i)(?:postgres(?:ql)?|mysql2?|mariadb|mssql|sqlserver|oracle|mongodb|rediss?|amqps?|clickhouse|cockroachdb|nats|kafka|smtps?|imaps?"
    r"|ldaps?|s?ftps?|neo4j|bolt|couchdb|cassandra|memcached|elasticsearch|https?)(?:\+\w{1,20})?"
)
_PORT = lazy(r"\d{1,5}[,/]")


def _in_urls(text: str) -> Iterator[Span]:
    for match in _URL.finditer(text):
        if match["slashes"] and not _may_hold_slashes(match["scheme"], match["slashes"]):
            continue
        if not is_placeholder(match["value"]):
            yield *match.span("value"), "password"


def _may_hold_slashes(scheme: str, value: str) -> bool:
    if not _SERVER.fullmatch(scheme) or _PORT.match(value):
        return False
    return not scheme.lower().startswith("http") or (value.count("/") == 1 and ":" not in value)


_TOKEN64 = re.compile(r"[A-Za-z0-9+/_-]*")
MAX_ENCODED = 8192


def _in_base64(text: str) -> Iterator[Span]:
    """Base64 of a text that holds a key of a known form."""
    for mark in base64_marks():
        at = text.find(mark)
        while at >= 0:
            start = at
            floor = max(0, at - MAX_ENCODED)
            while start > floor and (
                (text[start - 1].isalnum() and text[start - 1].isascii()) or text[start - 1] in "+/_-"
            ):
                start -= 1
            match = _TOKEN64.match(text, at)
            end = match.end() if match else at
            if 20 <= end - start <= MAX_ENCODED and _decodes_to_key(text[start:end]):
                yield start, end + len(text[end : end + 2]) - len(text[end : end + 2].lstrip("=")), "base64"
            at = text.find(mark, max(end, at + 1))


def _decodes_to_key(token: str) -> bool:
    token = token.replace("-", "+").replace("_", "/")
    try:
        plain = base64.b64decode(token[: len(token) // 4 * 4]).decode("ascii")
    except (ValueError, UnicodeDecodeError):
        return False
    low = plain.lower()
    for rule in rules():
        if any(literal in low for literal in rule.literals) and rule.pattern.search(plain):
            return True
    return any(True for _ in _private_keys(plain)) or any(True for _ in _in_urls(plain))
