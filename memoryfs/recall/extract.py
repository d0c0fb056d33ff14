"""In: ranked events and the query's weighted terms. Out: verbatim spans of them, within a token budget.

A short event is given whole. Of a long one the stretch of lines or sentences is taken that covers most of the query's
weight (and, where an exact value is asked, holds one), with the lines around it as far as the event's share of the budget
goes. No span crosses a border between the parts of an event, or a redacted place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoryfs.model import Event
from memoryfs.patterns import lazy
from memoryfs.text import estimate_tokens, scan

_PIECE = lazy(r"[^\n]*\n?")
_SENTENCE = lazy(r"(?<=[.!?。！？])\s+|(?<=[。！？])")
_REDACTED = lazy(r"\[REDACTED:[\w .-]+\]")
# What an exact value looks like, roughly: `memoryfs.exact` knows better, but costs more than the rest of a cold recall.
_VALUE = lazy(r"[`\d=\\|^$]|\w[_/.:]\w|--\w|\w\(|\"[^\"]+\"|「")
LONG_PIECE = 320
REACH = 2600  # characters around the best unit that are looked at
VALUE_BONUS = 0.25
FLOOR_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event to quote from: `spans` are its best units, best first; `values` places that hold what is asked for."""

    event: Event
    spans: tuple[tuple[int, int], ...]
    score: float
    values: tuple[tuple[int, int], ...] = ()


def shares(count: int, max_tokens: int) -> list[int]:
    """Tokens for each of `count` events: proportional to 1/(rank + 2), so that the first gets most and the last enough."""
    weights = [1.0 / (rank + 2.0) for rank in range(count)]
    total = sum(weights)
    return [int(max_tokens * w / total) for w in weights]


def extract(
    wanted: Sequence[Wanted], weights: Mapping[str, float], max_tokens: int, *, exact: bool,
) -> list[list[tuple[int, int]]]:
    """For each event its [start, end) spans, in order; empty where the budget is used up. What one leaves goes on."""
    out: list[list[tuple[int, int]]] = []
    left = max_tokens
    planned = shares(len(wanted), max_tokens)
    carried = 0
    for item, share in zip(wanted, planned, strict=True):
        room = min(left, share + carried)
        spans = best_spans(item, weights, room, exact=exact) if room > 0 else []
        used = sum(estimate_tokens(item.event.text[a:b]) for a, b in spans)
        left -= used
        carried = max(0, room - used)
        out.append(spans)
    return out


def borders(event: Event) -> list[tuple[int, int]]:
    """The stretches that a span must stay inside of: parts, less the redacted places."""
    parts = event.metadata.get("parts") or [(0, len(event.text))]
    cuts = [m.span() for m in _REDACTED.finditer(event.text)] if "[REDACTED:" in event.text else []
    cuts += [(int(a), int(b)) for a, b in event.metadata.get("redacted") or ()]
    out: list[tuple[int, int]] = []
    for start, end in parts:
        position = int(start)
        for a, b in sorted(cuts):
            if a < end and b > position:
                if a > position:
                    out.append((position, a))
                position = max(position, b)
        if position < end:
            out.append((position, int(end)))
    return out


def best_spans(item: Wanted, weights: Mapping[str, float], room: int, *, exact: bool) -> list[tuple[int, int]]:
    """At most two spans of one event that fit `room` tokens together."""
    text = item.event.text
    inside = borders(item.event)
    regions = [_region(inside, text, span) for span in item.spans] or [_region(inside, text, (0, len(text)))]
    spans: list[tuple[int, int]] = []
    for region in regions:
        for start, end in region:
            if any(a < end and start < b for a, b in spans):
                continue
            cut = _best_window(text, start, end, weights, room, exact, item.values)
            if cut:
                spans.append(cut)
                room -= estimate_tokens(text[cut[0] : cut[1]])
            break
        if len(spans) == 2 or room < FLOOR_TOKENS:
            break
    return sorted(spans)


def _region(inside: list[tuple[int, int]], text: str, span: tuple[int, int]) -> list[tuple[int, int]]:
    """The bordered stretches that touch the unit, the largest overlap first, each reaching a little beyond it."""
    touching = [(a, b) for a, b in inside if a < span[1] and span[0] < b and text[a:b].strip()]
    touching.sort(key=lambda r: -(min(r[1], span[1]) - max(r[0], span[0])))
    slack = max(0, (REACH - (span[1] - span[0])) // 2)
    return [(max(a, span[0] - slack), min(b, span[1] + slack)) for a, b in touching]


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines; long ones cut at sentence ends, and very long ones by length."""
    out: list[tuple[int, int]] = []
    for match in _PIECE.finditer(text, start, end):
        a, b = match.span()
        if a == b:
            continue
        if b - a <= LONG_PIECE:
            out.append((a, b))
            continue
        position = a
        for stop in [m.end() for m in _SENTENCE.finditer(text, a, b)] + [b]:
            while stop - position > 2 * LONG_PIECE:
                blank = text.rfind(" ", position + LONG_PIECE // 2, position + LONG_PIECE)
                cut = blank + 1 if blank > 0 else position + LONG_PIECE
                out.append((position, cut))
                position = cut
            if stop > position:
                out.append((position, stop))
                position = stop
    return out


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _best_window(
    text: str, start: int, end: int, weights: Mapping[str, float], room: int, exact: bool,
    values: Sequence[tuple[int, int]] = (),
) -> tuple[int, int] | None:
    start, end = _trim(text, start, end)
    if start >= end or room <= 0:
        return None
    if estimate_tokens(text[start:end]) <= room:
        return start, end
    pieces = _pieces(text, start, end)
    tokens = [estimate_tokens(text[a:b]) for a, b in pieces]
    found = [{term: weights[term] for term, _ in scan(text[a:b]) if term in weights} for a, b in pieces]
    bonus = [0.0] * len(pieces)
    if exact and weights:
        unit = VALUE_BONUS * max(weights.values())
        bonus = [unit if _VALUE.search(text, a, b) else 0.0 for a, b in pieces]
    if values:  # what is asked for is worth the best word
        most = max(weights.values(), default=1.0)
        bonus = [most if any(a < y and x < b for x, y in values) else 0.0 for a, b in pieces]
    best, window = -1.0, (0, 0)
    high = 0
    counts: dict[str, int] = {}
    size = 0
    value = 0.0
    extra = 0.0
    for low in range(len(pieces)):
        while high < len(pieces) and size + tokens[high] <= room:
            for term, weight in found[high].items():
                counts[term] = counts.get(term, 0) + 1
                value += weight if counts[term] == 1 else 0.1 * weight
            extra += bonus[high]
            size += tokens[high]
            high += 1
        if high > low:
            score = value + min(extra, 3 * bonus_unit(bonus))
            if score > best + 1e-9:
                best, window = score, (low, high)
        if high == low:
            high = low + 1
            continue
        for term, weight in found[low].items():
            counts[term] -= 1
            value -= weight if counts[term] == 0 else 0.1 * weight
        extra -= bonus[low]
        size -= tokens[low]
    low, high = window
    if high > low:
        low, high = _centre(low, high, tokens, found, bonus, room)
        start, end = _trim(text, pieces[low][0], pieces[high - 1][1])
        if end > start:
            return start, end
    # Not one piece fits, or only empty lines do: the beginning of the best one.
    number = max(range(len(pieces)), key=lambda n: sum(found[n].values()))
    return _cut_to(text, pieces[number], weights, room)


def bonus_unit(bonus: Sequence[float]) -> float:
    return max(bonus, default=0.0)


def _centre(
    low: int, high: int, tokens: list[int], found: list[dict[str, float]], bonus: list[float], room: int
) -> tuple[int, int]:
    """Move the window so that what matched stands in its middle, with as many lines before as behind."""
    useful = [n for n in range(low, high) if found[n] or bonus[n]]
    if not useful:
        return low, high
    a, b = useful[0], useful[-1] + 1
    size = sum(tokens[a:b])
    behind = True
    while True:
        down = b < len(tokens) and size + tokens[b] <= room
        up = a > 0 and size + tokens[a - 1] <= room
        if not down and not up:
            return a, b
        if (behind and down) or not up:
            size += tokens[b]
            b += 1
        else:
            a -= 1
            size += tokens[a]
        behind = not behind


def _cut_to(text: str, piece: tuple[int, int], weights: Mapping[str, float], room: int) -> tuple[int, int] | None:
    """A stretch of one long piece, around the first place where a query word stands."""
    start, end = piece
    words = sorted((t for t in weights if t.isalnum()), key=lambda t: -weights[t])
    lowered = text[start:end].lower()
    at = next((i for t in words if (i := lowered.find(t)) >= 0), 0)
    length = room * 4 if text[start:end].isascii() else room
    begin = start + max(0, at - length // 3)
    while begin > start and not text[begin - 1].isspace() and begin > start + max(0, at - length // 2):
        begin -= 1
    stop = min(end, begin + length)
    while stop > begin and estimate_tokens(text[begin:stop]) > room:
        stop -= max(1, (stop - begin) // 16)
    begin, stop = _trim(text, begin, stop)
    return (begin, stop) if stop > begin else None
