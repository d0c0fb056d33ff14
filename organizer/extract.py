"""In: the events of a thread, its segments, a gate, perhaps a generator. Out: candidates by the rules and by the model.

The rules always work. A generator that passed the check for writing reads the thread in chunks of about 10,000 characters,
line-indexed and role-labelled, relative dates resolved, two events of overlap: once for what matters and, in threads of nine
events or more, once for exact details. What it writes is checked before it becomes a candidate: the event must be one that it
was shown, the quote must stand there, and neither prompt nor refusal may come back. Both are merged by quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memoryfs.errors import ModelAnswerError, ModelUnavailableError
from memoryfs.exact import exact_values
from memoryfs.model import MEMORY_KINDS, Event, SourceRange
from memoryfs.text import similarity_key
from organizer.dates import with_dates, zone_of
from organizer.gate import Gate, worth
from organizer.nouns import Candidate, Segment
from organizer.prompts import DETAIL, FULL, echoes
from organizer.rules.candidates import NEVER, candidates, importance, kind_of, readable
from organizer.rules.cues import cues, language_of
from organizer.rules.features import features
from organizer.rules.hints import retrieve_when
from organizer.rules.sentences import clean

if TYPE_CHECKING:
    from memoryfs.models.protocols import Generator

CHUNK_CHARS = 10_000
OVERLAP = 2  # events
DETAIL_FROM = 9  # events a thread must have for the detail pass
EVENT_CHARS = 4_500  # of one event that a model sees; the middle of a longer one is left out
TOOL_CHARS = 400
TRIES = 2  # for an answer that cannot be used
MODEL_BONUS = 0.7  # log-odds: a model that passed the check for writing took the trouble to write it down
MERGE_SHARE = 0.5  # of the shorter of two quotes that must overlap for them to be one
_DATE_ADDED = re.compile(r" \(\d{4}-\d{2}-\d{2}(?:/\d{4}-\d{2}-\d{2})?\)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events as a model sees them: `text`, and the events that it shows by their index."""

    text: str
    events: Mapping[int, Event]


@dataclass(frozen=True, slots=True)
class Extraction:
    """Candidates in the order of the thread; what the model did (`calls`, `written`, `rejected` by reason) and what failed."""

    candidates: tuple[Candidate, ...]
    calls: int = 0
    written: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def shown(event: Event, zone: str | None = None) -> str:
    """One event as a model sees it: `[12] user 2026-05-12: text`; "" for what stays out of extraction."""
    if event.metadata.get("skip") or not event.text.strip():
        return ""
    text, most = event.text, EVENT_CHARS if readable(event) else TOOL_CHARS
    if len(text) > most:
        text = f"{text[:most * 2 // 3]} [… {len(text) - most} characters left out …] {text[-(most // 3):]}"
    if readable(event):
        text = with_dates(text, event.time, zone_of(zone))
    else:
        text = " ".join(text.split())
    day = f" {event.time[:10]}" if event.time else ""
    role = event.role if event.kind == "message" else event.kind.replace("_", " ")
    return f"[{event.index}] {role}{day}: {text}"


def chunks(
    events: Sequence[Event], *, size: int = CHUNK_CHARS, overlap: int = OVERLAP, zone: str | None = None,
    fits: Callable[[str], bool] = lambda text: True,
) -> list[Chunk]:
    """The thread in chunks of about `size` characters, neighbours sharing `overlap` events. Where `fits` says no (the model's
    context counts tokens, and a CJK text has many), a chunk is halved, down to single events."""
    lines = [(e, line) for e in events if (line := shown(e, zone))]
    out: list[Chunk] = []
    begin = 0
    while begin < len(lines):
        end, length = begin, 0
        while end < len(lines) and (end == begin or length + len(lines[end][1]) <= size):
            length += len(lines[end][1]) + 1
            end += 1
        while end - begin > 1 and not fits("\n".join(line for _, line in lines[begin:end])):
            end = begin + (end - begin) // 2
        out.append(Chunk("\n".join(line for _, line in lines[begin:end]), {e.index: e for e, _ in lines[begin:end]}))
        if end >= len(lines):
            break
        begin = max(end - overlap, begin + 1)
    return out


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`: verbatim, or but for blanks, quotation marks at its ends and dates that were put in."""
    for wanted in (quote, quote.strip(" \t\r\n\"'“”「」`"), _DATE_ADDED.sub("", quote)):
        at = text.find(wanted) if wanted.strip() else -1
        if at >= 0:
            return at, at + len(wanted)
    parts = quote.split()
    if not 2 <= len(parts) <= 200:
        return None
    match = re.search(r"\s+".join(map(re.escape, parts)), text)
    return match.span() if match else None


def read_answer(
    answer: Mapping[str, Any], chunk: Chunk, gate: Gate, *, prompt: str
) -> tuple[list[Candidate], list[str]]:
    """The usable candidates of a model's answer, and the reasons for which others were refused."""
    found: list[Candidate] = []
    refused: list[str] = []
    items = answer.get("memories")
    for item in items if isinstance(items, list) else []:
        made = _read_item(item, chunk, gate, prompt)
        if isinstance(made, str):
            refused.append(made)
        elif any(c.event_index == made.event_index and c.quote_start == made.quote_start for c in found):
            refused.append("twice the same")
        else:
            found.append(made)
    return found, refused


def _read_item(item: object, chunk: Chunk, gate: Gate, prompt: str) -> Candidate | str:
    if not isinstance(item, dict):
        return "not an object"
    number, quote, summary = item.get("event"), item.get("quote"), item.get("summary")
    if not isinstance(number, int) or isinstance(number, bool) or number not in chunk.events:
        return "names an event that it was not shown"
    if not isinstance(quote, str) or not isinstance(summary, str) or not summary.strip():
        return "no quote or no summary"
    event = chunk.events[number]
    if not readable(event):
        return "quotes what a tool printed"
    span = find_quote(event.text, quote)
    if span is None:
        return "the quote does not stand in the event"
    if echoes(summary, prompt) or echoes(quote, prompt):
        return "an echo of the prompt"
    text = event.text[span[0]:span[1]]
    summary = clean(summary)
    language = language_of(text)
    seen = cues(clean(text), language)
    if NEVER & (seen | cues(summary)):
        return "a refusal, an order to machines, or memory about memory"
    kind = item.get("kind") if item.get("kind") in MEMORY_KINDS else kind_of(clean(text), event.role, seen)
    if kind == "instruction" and event.role != "user":
        kind = "fact"
    hints = item.get("hints")
    named = tuple(dict.fromkeys(
        h.strip() for h in (hints if isinstance(hints, list) else []) if isinstance(h, str) and 1 < len(h.strip()) <= 48
    ))[:8]
    logit = worth(features(clean(text), event.role, language=language, shown=seen), gate) + MODEL_BONUS
    return Candidate(
        kind=kind, summary=summary, topic_key="", quote=text, quote_start=span[0], event_index=event.index,
        source=SourceRange(event.thread, event.index, event.index), query_hints=named, retrieve_when=retrieve_when(named),
        importance=importance(kind, event.role, seen, gate.probability(logit)), role=event.role, stated_by=event.role,
        time=event.time, when=(event.time or "")[:10] or None, by="model", score=round(gate.probability(logit), 4),
        correction=event.role == "user" and "correction" in seen, values=tuple(exact_values(text)), why=tuple(sorted(seen)),
        language=language, metadata={"logit": round(logit, 4)},
    )


def merge(rules: Iterable[Candidate], written: Iterable[Candidate]) -> list[Candidate]:
    """Both lists as one, in the order of the thread. Where the quotes of the two overlap, the rules' words stay (they are the
    source's own), and the model's agreement raises the worth and adds its hints."""
    out = list(rules)
    by_event: dict[int, list[int]] = {}
    for i, candidate in enumerate(out):
        by_event.setdefault(candidate.event_index, []).append(i)
    for new in written:
        for i in by_event.get(new.event_index, []):
            old = out[i]
            shared = min(old.quote_start + len(old.quote), new.quote_start + len(new.quote)) - max(old.quote_start, new.quote_start)
            same = similarity_key(old.summary) == similarity_key(new.summary)
            if same or shared >= MERGE_SHARE * min(len(old.quote), len(new.quote)):
                if old.by == "rules" and "model" not in old.why:
                    logit = float(old.metadata.get("logit", 0.0)) + MODEL_BONUS
                    hints = tuple(dict.fromkeys((*old.query_hints, *new.query_hints)))[:8]
                    out[i] = replace(
                        old, score=round(Gate.probability(logit), 4), query_hints=hints, why=(*old.why, "model"),
                        metadata={**old.metadata, "logit": round(logit, 4)},
                    )
                break
        else:
            by_event.setdefault(new.event_index, []).append(len(out))
            out.append(new)
    return sorted(out, key=lambda c: (c.event_index, c.quote_start))


def extract(
    events: Sequence[Event], segments: Sequence[Segment], gate: Gate, *, generator: Generator | None = None,
    trusted: frozenset[str] = frozenset(), zone: str | None = None, workers: int = 1, context: int = 6000,
    more: Callable[[], bool] = lambda: True,
) -> Extraction:
    """The candidates of one thread. `generator` writes only if `trusted` holds "extract"; `context` bounds a chunk in tokens,
    `workers` is how many chunks are under way at once (more than one only makes sense for a served model), and `more()` is
    asked before each chunk whether the budget allows another."""
    by_rules = candidates(events, segments, gate, zone=zone)
    if generator is None or FULL.name not in trusted or (not by_rules and not any(readable(e) for e in events)):
        return Extraction(tuple(by_rules))
    writer: Generator = generator
    pieces = chunks(events, zone=zone, fits=lambda text: writer.count_tokens(text) <= context)
    passes = [FULL, DETAIL] if sum(1 for e in events if not e.metadata.get("skip")) >= DETAIL_FROM else [FULL]
    jobs = [(task, chunk) for task in passes for chunk in pieces]

    def run(job: tuple[Any, Chunk]) -> tuple[list[Candidate], list[str], int, str]:
        task, chunk = job
        if not more():
            return [], [], 0, "the budget was used up"
        for attempt in range(1, TRIES + 1):
            try:
                answer = writer.write(task.prompt.replace("{text}", chunk.text), task.schema, task.max_tokens)
            except ModelAnswerError as error:
                if attempt == TRIES:
                    return [], [], attempt, f"events {min(chunk.events)}-{max(chunk.events)}: {error}"
                continue
            except ModelUnavailableError as error:
                return [], [], attempt, str(error)
            found, refused = read_answer(answer, chunk, gate, prompt=task.prompt)
            return found, refused, attempt, ""
        return [], [], TRIES, ""

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            results = list(pool.map(run, jobs))
    else:
        results = [run(job) for job in jobs]
    written = [c for found, _, _, _ in results for c in found]
    rejected: dict[str, int] = {}
    for _, refused, _, _ in results:
        for reason in refused:
            rejected[reason] = rejected.get(reason, 0) + 1
    return Extraction(
        tuple(merge(by_rules, _with_topics(written, by_rules))), sum(calls for _, _, calls, _ in results), len(written),
        rejected, tuple(dict.fromkeys(p for _, _, _, p in results if p)),
    )


def _with_topics(written: Sequence[Candidate], rules: Sequence[Candidate]) -> list[Candidate]:
    """The model's candidates with the topic key of the rules' nearest one."""
    if not rules:
        return list(written)
    near = [min(rules, key=lambda r: abs(r.event_index - c.event_index)) for c in written]
    return [replace(c, topic_key=other.topic_key) for c, other in zip(written, near, strict=True)]
