"""In: a session's events, the gate. Out: lines for its page: how each turn ended, what was found, what changed, what failed.

Every line is made of the session's own words and names the few events that tell it in full: a question with its answer, a
report with the edits that hold its exact values, an error with the edit that followed it. `changed` are edits of settings
and documents: what they hold is asked for later, and often said nowhere else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from memoryfs.exact import exact_values
from memoryfs.model import Event
from organizer.gate import Gate
from organizer.rules.candidates import NEVER, REACH, SHORT_ANSWER, Sighting, readable, sightings
from organizer.rules.cues import cues
from organizer.rules.features import words
from organizer.rules.sentences import clean, is_output

WIDTH = 190  # characters of a line's words
SENTENCES, NEAR = 2, 1.5  # of a report; log-odds by which the second may be worth less than the first
EDITS = 2  # that a report is linked to
ON_THE_WAY = 2  # findings that a question is linked to
SHORT_REPORT = 40  # characters: less tells nothing
FOUND_FROM = 0.3  # worth (probability) of a sentence on the way
ERROR_CHARS = 6_000  # of a tool's output that are looked at for what failed
EVENT_VALUES = 200_000  # characters of an edit that are searched for values
_FINDS = frozenset({"cause", "outcome", "decision", "correction", "setting", "relation", "condition", "strong"})
_FAILED = re.compile(r"^(?:exit code [1-9]|error\b|fatal\b|<tool_use_error>)", re.I)
_ERROR = re.compile(
    r"\b(?:errors?|failed|failure|fatal|panic|exception|undefined|unknown|cannot|can.t|could not|unable|denied|refused|"
    r"not (?:found|allowed|permitted|supported|defined)|no such|invalid|missing|mismatch|timed? ?out|unexpected|expected|FAIL|warning)\b"
    r"|エラー|失敗|見つかりません|실패|오류|错误|失败|找不到", re.I,
)
_NAMED = re.compile(r"(?:(?:\w+ ?)?(?:error|fatal|panic|fail(?:ed|ure)?|traceback|exception)\b.{0,40}: |--- FAIL|E {2,}\S|npm ERR!|[\w.]*(?:Error|Exception)\b: )", re.I)
_PLACED = re.compile(r"\S+:\d+(?::\d+)?: .*")  # path:line: what a compiler, a linter or a test says
_RULE = re.compile(r"\s\([a-z][a-z0-9_/-]+\)$")  # the linter's rule
_NOISE = re.compile(r"^(?:exit code \d+|[0-9a-f]{7,40} |.{0,200}\b(?:INFO|DEBUG|TRACE)\b|\[?[\w:.-]+\]? (?:\$|ERROR task failed)|ok\s|\?\s|PASS|=== )|^\W*$", re.I)
_TOOL_ERROR = re.compile(r"</?tool_use_error>")
_ASKS = re.compile(r"[?？]")
_SETTINGS = re.compile(
    r"(?:^|/)(?:\.[\w.-]+|[\w.-]+\.(?:ya?ml|toml|ini|cfg|conf|env|properties|jsonc?|mod|mk)|(?:Dockerfile|Makefile|Justfile|Procfile|Caddyfile)[\w.-]*)$", re.I
)
_DOCUMENT = re.compile(r"\.(?:md|mdc|markdown|rst|adoc)$", re.I)
_VALUE = re.compile(r"[:=]\s*\S")
_LOCK = re.compile(r"(?:^|[-.])lock(?:\.|$)|-lock\.", re.I)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Line:
    """Words and the events (indexes in the thread) that tell them in full; `worth` ranks lines of one kind."""

    text: str
    events: tuple[int, ...]
    worth: float = 0.0


@dataclass(frozen=True, slots=True)
class Turns:
    """The lines of a session, each kind in the order of the thread. `answers`: a user's message → the messages
    that belong to it: the question that it answers, what was found on the way, and the one that ends its turn."""

    answers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    reports: tuple[Line, ...] = ()
    found: tuple[Line, ...] = ()
    changed: tuple[Line, ...] = ()
    failed: tuple[Line, ...] = ()


NOTHING = Turns()


def turns(events: Sequence[Event], gate: Gate) -> Turns:
    """The lines that a session's turns give."""
    said: dict[int, list[Sighting]] = {}
    for sight in sightings(events, gate):
        if sight.event.role == "assistant":
            said.setdefault(sight.position, []).append(sight)
    answers: dict[int, tuple[int, ...]] = {}
    reports, found, failed = [], [], []
    seen: set[str] = set()
    for start, end in _spans(events):
        last = next((at for at in range(end - 1, start, -1) if _speaks(events[at])), None)
        if last is not None:
            text, worth = _words(events[last], said.get(last, ()), gate)
            if text:
                reports.append(Line(text, (*_edits(events, start, end, events[last].text), events[last].index), worth))
        on_the_way = [line for at in range(start, end) if at != last and at in said and (line := _finding(said[at], gate))]
        found += on_the_way
        best = sorted(on_the_way, key=lambda line: -line.worth)[:ON_THE_WAY]
        ends = () if last is None else (events[last].index,)
        answers[events[start].index] = (*_asked(events, start), *sorted(line.events[0] for line in best), *ends)
        for at in range(start, end):
            line = _failure(events, at, end)
            if line and line.text not in seen:
                seen.add(line.text)
                failed.append(line)
    return Turns(answers, tuple(reports), tuple(found), tuple(_changes(events)), tuple(failed))


def _spans(events: Sequence[Event]) -> Iterator[tuple[int, int]]:
    """(start, end) positions of each turn: from a user's message up to the next."""
    starts = [at for at, e in enumerate(events) if e.role == "user" and readable(e)]
    yield from pairwise([*starts, len(events)])


def _asked(events: Sequence[Event], start: int) -> tuple[int, ...]:
    """The assistant's question that a short message of the user answers."""
    if words(events[start].text[:2000]) > SHORT_ANSWER:
        return ()
    before = next((e for e in reversed(events[max(0, start - REACH) : start]) if readable(e)), None)
    if before is None or before.role != "assistant" or not _ASKS.search(before.text[-600:]):
        return ()
    return (before.index,)


def _speaks(event: Event) -> bool:
    return event.role == "assistant" and readable(event) and len(event.text.strip()) >= SHORT_REPORT


def _words(event: Event, said: Sequence[Sighting], gate: Gate) -> tuple[str, float]:
    """The telling sentences of a report, in their order, and the worth of the best."""
    telling = [s for s in said if not s.shown & {"narration", "chatter"} and not s.unit.clean.endswith((":", "：", "?", "？"))]
    ranked = sorted(telling, key=lambda s: (-s.logit, s.unit.start))
    best = [s for s in ranked[:SENTENCES] if s.logit >= ranked[0].logit - NEAR]
    if not best:
        lines = (clean(part) for part in event.text.splitlines())
        line = next((t for t in lines if len(t) >= SHORT_REPORT // 2 and not cues(t) & (NEVER | {"narration"})), "")
        return line[:WIDTH], 0.0
    worth = gate.probability(best[0].logit)
    texts = [s.unit.clean for s in sorted(best, key=lambda s: s.unit.start)]
    if sum(map(len, texts)) > WIDTH:
        texts = [best[0].unit.clean]
    return " · ".join(texts), worth


def _finding(said: Sequence[Sighting], gate: Gate) -> Line | None:
    """What a message on the way found out, if anything."""
    telling = [s for s in said if s.shown & _FINDS and not s.shown & {"narration", "chatter", "question", "option"}]
    if not telling or max(gate.probability(s.logit) for s in telling) < FOUND_FROM:
        return None
    text, worth = _words(telling[0].event, telling, gate)
    return Line(text, (telling[0].event.index,), worth)


def _edits(events: Sequence[Event], start: int, end: int, report: str) -> list[int]:
    """The edits of a turn that hold exact values of its report which few of its edits hold."""
    values = {v.text for v in exact_values(report[:ERROR_CHARS]) if v.kind not in ("number", "path", "url") and len(v.text) > 3}
    edits = [e for e in events[start:end] if e.kind == "file_edit" and not e.metadata.get("error")]
    if not values or not edits:
        return []
    held = [{v for v in values if v in e.text[:EVENT_VALUES]} for e in edits]
    common = Counter(v for found in held for v in found)
    worth = [sum(1 / common[v] for v in found) for found in held]
    best = sorted((i for i, w in enumerate(worth) if w), key=lambda i: (-worth[i], i))[:EDITS]
    return [edits[i].index for i in sorted(best)]


def _failure(events: Sequence[Event], at: int, end: int) -> Line | None:
    """What a tool says went wrong, with the edit that follows."""
    event = events[at]
    if event.kind != "tool_result" or event.metadata.get("skip") or event.metadata.get("rejected"):
        return None
    flagged = bool(event.metadata.get("error") or _FAILED.match(event.text))
    body = _ANSI.sub("", _TOOL_ERROR.sub("", event.text[:ERROR_CHARS]))
    lines = [" ".join(line.split()) for line in body.splitlines()]
    lines = [line for line in lines if len(line) >= 12 and not _NOISE.match(line)]
    told = [
        line for line in lines
        if (flagged and _NAMED.match(line)) or (_PLACED.match(line) and (_RULE.search(line) or (flagged and _ERROR.search(line))))
    ]
    told = told or [line for line in lines if flagged and _ERROR.search(line) and not is_output(line)]
    line = told[0] if told else ""
    if not line or cues(line) & NEVER:
        return None
    fix = next((e.index for e in events[at + 1:end] if e.kind == "file_edit"), None)
    return Line(line[:WIDTH], (event.index,) if fix is None else (event.index, fix))


def _changes(events: Sequence[Event]) -> list[Line]:
    """Edits of settings and documents, with the first thing that they put in; a file's last edit is worth more than earlier ones."""
    found: list[tuple[str, Line]] = []
    for event in events:
        parts, files = event.metadata.get("parts"), event.metadata.get("files") or ()
        if event.kind != "file_edit" or len(files) != 1 or event.metadata.get("error") or not parts or len(parts) < 3:
            continue
        name = files[0].rsplit("/", 1)[-1]
        if _LOCK.search(name) or not (_SETTINGS.search(files[0]) or _DOCUMENT.search(name)):
            continue
        texts = [event.text[a:b] for a, b in parts[2:]]
        line = _put_in(texts[-1], "" if len(texts) == 1 else texts[-2], bool(_DOCUMENT.search(name)))
        if line:
            found.append((files[0], Line(f"{name}: {line}"[:WIDTH], (event.index,))))
    found = list({line.text: (file, line) for file, line in found}.values())  # what was put in again stands where it was last
    last = {file: at for at, (file, _) in enumerate(found)}
    return [replace(line, worth=1.0 if last[file] == at else 0.5) for at, (file, line) in enumerate(found)]


def _put_in(new: str, old: str, document: bool) -> str:
    """The first telling line of `new` that `old` does not hold: of a document a sentence, of settings a value."""
    had = {" ".join(line.split()) for line in old.splitlines()}
    lines = [" ".join(line.split()) for line in new[:ERROR_CHARS].splitlines()]
    fresh = [line for line in lines if line not in had and len(line) >= 6 and not cues(line) & NEVER]
    if document:
        return next((clean(line) for line in fresh if not line.startswith(("#", "|", "```")) and words(line) >= 5), "")
    values = [line for line in fresh if not line.startswith(("#", "//", ";", "/*"))]
    return next((line for line in values if _VALUE.search(line)), next(iter(values), ""))
