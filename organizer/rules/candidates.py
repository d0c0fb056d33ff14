"""In: the events of a thread and its segments. Out: candidates, each one sentence of a message with its exact place.

Read are what the user and the assistant wrote, and nothing that was injected, recalled or printed by a tool. A sentence
becomes a candidate by what it says (cues), who says it and where; the gate's weights turn that into a worth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memoryfs.exact import exact_values
from memoryfs.model import Event, SourceRange
from organizer.dates import relative_dates, with_dates, zone_of
from organizer.gate import Gate, worth
from organizer.nouns import Candidate, Segment
from organizer.rules import hints as hint
from organizer.rules.cues import cues, language_of, table
from organizer.rules.features import Context, context_of, features, words
from organizer.rules.sentences import Unit, units

SUMMARY_CHARS = 320
PASTE_UNITS = 40  # sentences: a longer message of the user is a document, of which the user said only a part
PASTE_MALUS = 1.0  # log-odds
REACH = 6  # events
SHORT_ANSWER = 40  # words: a user's message up to this long may be an answer to the assistant's question

# A sentence that shows one of these is never learned, whoever says it.
NEVER = frozenset({"refusal", "injection", "memory"})
_PLAN_PASTE = re.compile(r"\s*(?:implement the following plan|以下の計画を実装|다음 계획을 구현|(?:请)?(?:实现|执行)以下计划)\s*[:：]", re.I)
_DIRECTIVE = frozenset({"decision", "instruction", "strong"})
_OPEN = re.compile(
    r"\b(?:todo|to-do|deferred?|follow[- ]?up|remaining|outstanding|not yet|yet to|left to do|backlog|postponed?|later|"
    r"(?:still|also) need|still to do|to be done|open (?:points?|items?|issues?|tasks?|ends?)|left open|we(?:.ll)? (?:will )?need|make (?:a )?note|open question|pending)\b"
    r"|あとで|後で|後回し|未(?:対応|実装|着手|完了|解決)|残り|残っている(?:の|作業|件|タスク|問題|もの)|課題|宿題|まだ|保留|나중에|아직|할 ?일|남은 (?:일|작업|과제|것)|남아 ?있|미(?:완료|구현|해결)|보류|추후|待办|以后再|稍后|还没|尚未|后续|后面要|遗留|暂缓|还(?:剩|差)|剩下的?(?:工作|任务|事|问题|部分)|未(?:完成|解决|实现)|待(?:解决|处理|确认)",
    re.I,
)
_REMEMBERED_WISH = re.compile(r"\b(?:i|we)(?:.d| would)? (?:like|want|prefer|need)\b|たい|ほしい|싶|希望|想要", re.I)


def readable(event: Event) -> bool:
    """Whether an event's text may be learned from: a message by the user or the assistant that nobody injected."""
    return event.kind == "message" and event.role in ("user", "assistant") and not event.metadata.get("skip")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A sentence in its place, with its features and worth (log-odds): what the gate weighs and an audit shows."""

    event: Event
    position: int
    unit: Unit
    role: str
    shown: frozenset[str]
    language: str
    context: Context
    logit: float


def sightings(events: Sequence[Event], gate: Gate) -> Iterator[Sighting]:
    """Every sentence that may be learned from, in order, with its worth."""
    for at, event in enumerate(events):
        if not readable(event):
            continue
        role = "assistant" if event.role == "user" and _PLAN_PASTE.match(event.text) else event.role
        pieces = units(event.text, role=event.role)
        pasted = PASTE_MALUS if event.role == "user" and len(pieces) > PASTE_UNITS else 0.0
        for unit in pieces:
            if unit.data:
                continue
            language = language_of(unit.clean)
            shown = cues(unit.clean, language)
            if shown & NEVER:
                continue
            context = context_of(unit.lead or unit.heading, event.text)
            logit = worth(features(unit.clean, role, context, language=language, shown=shown), gate) - pasted
            yield Sighting(event, at, unit, role, shown, language, context, logit)


# What something does or did, and an opinion on what was done, however often it says always or never.
_DESCRIBES = re.compile(r"^\W*(?:(?:and|but|so|yes|ok|hmm|well|no)\b[,.]* )*(?:(?:it|he|she|there|they)\b|i think (?:you|it|that|this|we) \w+(?:ed|ere|as)\b)", re.I)
_OBLIGES = re.compile(
    r"\b(?:must|should|shall|ought|needs? to|ha(?:s|ve) to|may not|can only|let.?s|please|make sure|don.?t|do not|want|instead|supposed to|better)\b", re.I
)


def _only_told(text: str) -> bool:
    """Whether the sentence orders nothing: it describes, or it speaks of a rule or a decision, and without those words no
    directive is left."""
    if _DESCRIBES.match(text) and not _OBLIGES.search(text):
        return True
    language = language_of(text)
    rest = text
    for lang in {language, "en"}:
        rest = table()["reported"][lang].sub(" ", rest)
    return rest != text and not cues(rest, language) & _DIRECTIVE and not is_standing(rest)


def kind_of(text: str, role: str, shown: frozenset[str]) -> str:
    """fact, event, instruction or task. Only what a user says can be an instruction: nobody else may order anything."""
    if role == "user":
        if "task" in shown and _OPEN.search(text) and "strong" not in shown:
            return "task"
        if (shown & _DIRECTIVE and not _only_told(text)) or ("preference" in shown and _REMEMBERED_WISH.search(text)):
            return "instruction"
        return "fact"
    if "task" in shown and _OPEN.search(text) and "outcome" not in shown:
        return "task"
    if "outcome" in shown and "cause" not in shown:
        return "event"
    return "fact"


_STANDING = re.compile(
    r"\b(?:always|never|every|all|any|must|only|whenever|from now on|going forward|as a rule|prefer\w*|convention|policy|by default|don.?t|do not|each)\b"
    r"|必ず|常に|絶対|いつも|今後|以後|ルール|禁止|原則|しないで|毎回|すべて|全て|항상|반드시|절대|앞으로|이제부터|규칙|금지|마다|모든|하지 ?마|말아|必须|始终|永远|一律|以后|今后|禁止|务必|不要|每次|所有|规则",
    re.I,
)
_BASE = {"instruction": 0.7, "task": 0.6, "fact": 0.5, "event": 0.4}


def is_standing(text: str) -> bool:
    """Whether an instruction is meant to last (always, never, every, from now on), rather than asked once."""
    return bool(_STANDING.search(text))


def importance(kind: str, role: str, shown: frozenset[str], probability: float, standing: bool = True) -> float:
    """0..1: by kind, who said it, how explicitly, whether it is meant to last, and how sure the gate is."""
    value = _BASE[kind] - (0.15 if kind == "instruction" and not standing else 0.0) + (0.1 if role == "user" else 0.0) + (0.1 if "strong" in shown else 0.0)
    return round(min(value + 0.2 * (probability - 0.5), 1.0), 2)


def summary_of(unit: Unit, shown: frozenset[str], said: str | None, zone: str | None) -> str:
    """The sentence as a memory: without marks, relative dates resolved, and under its lead-in where it says little alone."""
    text = with_dates(unit.clean, said, zone_of(zone))
    above = (unit.lead or unit.heading).rstrip(":： ")
    if above and len(above) <= 80 and ("vague" in shown or words(text) < 7) and above.casefold() not in text.casefold():
        text = f"{above}: {text}"
    if len(text) > SUMMARY_CHARS:
        cut = max(text.rfind(mark, 120, SUMMARY_CHARS - 1) for mark in (". ", "; ", ", ", "。", "、", " "))
        text = text[:cut if cut > 0 else SUMMARY_CHARS - 1].rstrip(" ,;、") + "…"
    return text


def source_of(events: Sequence[Event], at: int, shown: frozenset[str]) -> SourceRange:
    """The event with what it rests on: up to `REACH` events before it in the same turn for what the assistant found out, the
    message that it answers for a short or pointing reply of the user."""
    event = events[at]
    start = event.index
    if event.role == "assistant":
        for before in range(at - 1, max(at - REACH, 0) - 1, -1):
            other = events[before]
            if other.role == "user" and other.kind == "message" and not other.metadata.get("skip"):
                if "vague" in shown or before == at - 1:
                    start = other.index
                break
            if not other.metadata.get("skip"):
                start = other.index
    elif words(event.text[:2000]) <= SHORT_ANSWER or "vague" in shown:
        for before in range(at - 1, max(at - REACH, 0) - 1, -1):
            other = events[before]
            if readable(other):
                start = other.index if other.role == "assistant" else start
                break
    return SourceRange(event.thread, start, event.index)


def _cwds(events: Sequence[Event]) -> list[str]:
    """The working directory at each event, as the session's metadata tells it."""
    out, cwd = [], ""
    for event in events:
        cwd = hint.cwd_of(event) or cwd
        out.append(cwd)
    return out


def candidates(
    events: Sequence[Event], segments: Sequence[Segment], gate: Gate, *, zone: str | None = None, floor: float = 0.05
) -> list[Candidate]:
    """The rules' candidates of one thread, in order. Those worth less than `floor` (a probability) are left out. The gate
    still has to weigh them (`organizer.gate.weigh`): here `score` is the worth by cues, role and place."""
    seen = [s for s in sightings(events, gate) if gate.probability(s.logit) >= floor]
    if not seen:
        return []
    cwds = _cwds(events)
    first = events[0].index
    vocabularies: dict[int, Counter[str]] = {}
    ends = [(s.start - first, s.end - first) for s in segments] or [(0, len(events) - 1)]
    out = []
    place = 0
    for sight in seen:
        while place < len(ends) - 1 and sight.position > ends[place][1]:
            place += 1
        if place not in vocabularies:
            a, b = ends[place]
            vocabularies[place] = hint.vocabulary(
                (e.text[:4000], 2.0 if e.role == "user" else 1.0) for e in events[a:b + 1] if readable(e)
            )
        out.append(_candidate(events, sight, vocabularies[place], cwds[sight.position], gate, zone))
    return out


def _candidate(
    events: Sequence[Event], sight: Sighting, vocabulary: Counter[str], cwd: str, gate: Gate, zone: str | None
) -> Candidate:
    unit, event = sight.unit, sight.event
    values = tuple(exact_values(unit.quote))
    kind = kind_of(unit.clean, sight.role, sight.shown)
    probability = gate.probability(sight.logit)
    repo = hint.repository(cwd)
    found = hint.query_hints(unit.clean, values, vocabulary, heading=unit.lead or unit.heading)
    dates = relative_dates(unit.clean, event.time, zone_of(zone))
    said = (event.time or "")[:10] or None
    standing = is_standing(unit.clean)
    return Candidate(
        kind=kind, summary=summary_of(unit, sight.shown, event.time, zone),
        topic_key=hint.topic_key(f"{unit.clean} {unit.lead or unit.heading}", vocabulary, repo),
        quote=unit.quote, quote_start=unit.start, event_index=event.index,
        source=source_of(events, sight.position, sight.shown), query_hints=found, retrieve_when=hint.retrieve_when(found),
        importance=importance(kind, sight.role, sight.shown, probability, standing), role=event.role, stated_by=sight.role,
        time=event.time, when=dates[0].day.isoformat() if len(dates) == 1 else said, score=round(probability, 4),
        correction=sight.role == "user" and "correction" in sight.shown, values=values, why=tuple(sorted(sight.shown)),
        language=sight.language, metadata={"logit": round(sight.logit, 4)},
    )
