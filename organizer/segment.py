"""In: the events of one thread, in order. Out: its segments, every event in exactly one of them, order kept.

Limits (DESIGN §3): up to 40 events or 6,000 tokens; a fragment under 10 events joins a neighbour where both fit into
60 events and the token limit. Cuts fall where something ends: a topic is changed, work pauses, a turn begins,
a file was edited, a test or tool has answered. A single event over the token limit is a segment of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memoryfs.model import Event
from memoryfs.text import estimate_tokens
from organizer.dates import parse_time
from organizer.nouns import Segment


@dataclass(frozen=True, slots=True)
class Limits:
    """`events` and `tokens` of a segment as it is built, `most` events after joining, `least` to stand alone,
    `pause_minutes` between two events that count as a long pause."""

    events: int = 40
    most: int = 60
    least: int = 10
    tokens: int = 6000
    pause_minutes: float = 30.0


# How strongly something ends before an event: 0 never cut here if it can be helped (between a call and its result).
NEVER, PLAIN, TOOL, EDIT, TEST, TURN, TOPIC = range(7)
HARD = TOPIC

_TOPIC_CHANGE = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|good|nice|perfect|thanks?(?: you)?|alright|right)[\s,.!-]+)*"
    r"(?:next (?:topic|up|thing|question|issue|task)|new (?:topic|task|question|issue|subject)|(?:on|now) to something else|"
    r"something (?:else|different)|(?:a )?different (?:topic|question|subject)|another (?:topic|thing|question|issue|task|bug)|"
    r"(?:now )?let'?s (?:move on|switch to|turn to|talk about|start (?:on|with))|moving on|by the way|btw\b|unrelated|"
    r"change of (?:topic|subject)|separately,|"
    r"ところで|さて|話(?:は|を)変(?:わ|え)|別件|別の(?:話|件|質問)|次(?:の(?:話|件|タスク|課題|質問)|に行|へ進)|それでは次|"
    r"그런데|그건 그렇고|다른 (?:얘기|이야기|건|질문|주제)|다음 (?:주제|작업|질문|과제)|별개로|"
    r"另外|换个(?:话题|问题)|下一个(?:话题|问题|任务)|顺便|说到别的|另一个(?:问题|话题|任务))",
    re.I,
)
_TEST_RESULT = re.compile(
    r"\b\d+ (?:passed|failed|passing|failing)\b|^(?:PASS|FAIL|ok)\b|\btests? (?:passed|failed)\b|--- (?:PASS|FAIL)|"
    r"\btest result:|Tests:\s+\d|✓ \d|BUILD (?:SUCCESSFUL|FAILED)",
    re.M,
)


def changes_topic(text: str) -> bool:
    """Whether a user's message opens with an explicit change of topic (English, Japanese, Korean, Chinese)."""
    return bool(_TOPIC_CHANGE.match(text[:120]))


def _strength(before: Event, after: Event, pause_minutes: float) -> int:
    """How strongly something ends between two neighbouring events."""
    if after.kind == "tool_result" and before.kind in ("tool_call", "file_edit", "tool_result"):
        return NEVER
    earlier, later = parse_time(before.time), parse_time(after.time)
    if earlier and later and abs((later - earlier).total_seconds()) >= pause_minutes * 60:
        return TOPIC
    if after.role == "user" and after.kind == "message":
        return TOPIC if changes_topic(after.text) else TURN
    if before.kind == "tool_result":
        return TEST if _TEST_RESULT.search(before.text[-4000:]) else TOOL
    if before.kind == "file_edit" or after.kind == "file_edit":
        return EDIT
    return TOOL if after.kind == "tool_call" else PLAIN


Choose = Callable[[Sequence[Event], Sequence[int]], int | None]


def segment(
    events: Iterable[Event], *, limits: Limits | None = None, count: Callable[[str], int] = estimate_tokens,
    choose: Choose | None = None,
) -> tuple[Segment, ...]:
    """The segments of one thread. `count` estimates the tokens of a text.

    `choose(events, places)` may pick where a full segment is split: it gets the events and the possible places (positions
    in the list at which the second part would begin) and returns one of them, or None to leave it to the rule.
    """
    limits = limits or Limits()
    all_events = list(events)
    if not all_events:
        return ()
    tokens = [count(e.text) for e in all_events]
    strength = [HARD] + [
        _strength(a, b, limits.pause_minutes) for a, b in pairwise(all_events)
    ]
    runs: list[tuple[int, int]] = []  # [start, end) positions
    begin = 0
    for at in range(1, len(all_events) + 1):
        if at == len(all_events) or strength[at] >= HARD:
            runs.extend(_cut(all_events, tokens, strength, begin, at, limits, choose))
            begin = at
    runs = _join(runs, tokens, limits)
    return tuple(
        Segment(all_events[a].thread, all_events[a].index, all_events[b - 1].index, sum(tokens[a:b])) for a, b in runs
    )


def _cut(
    events: list[Event], tokens: list[int], strength: list[int], begin: int, end: int, limits: Limits,
    choose: Choose | None,
) -> Iterable[tuple[int, int]]:
    """Pieces of [begin, end) within the limits, each as long as fits and cut at the best place of its second half."""
    while begin < end:
        stop, total = begin, 0
        while stop < end and stop - begin < limits.events and (total + tokens[stop] <= limits.tokens or stop == begin):
            total += tokens[stop]
            stop += 1
        if stop < end:
            stop = _best_place(events, strength, begin, stop, choose)
        yield begin, stop
        begin = stop


def _best_place(events: list[Event], strength: list[int], begin: int, full: int, choose: Choose | None) -> int:
    places = [at for at in range(max(begin + 1, (begin + full + 1) // 2), full + 1)]
    if choose is not None and len(places) > 1:
        picked = choose(events[begin:full + 1], [at - begin for at in places if strength[at] > NEVER])
        if picked is not None and begin + picked in places:
            return begin + picked
    return max(places, key=lambda at: (strength[at], at))


def _join(runs: list[tuple[int, int]], tokens: list[int], limits: Limits) -> list[tuple[int, int]]:
    """Fragments joined to the smaller neighbour that has room for them."""
    sizes = [sum(tokens[a:b]) for a, b in runs]

    def fits(i: int, j: int) -> bool:
        return (
            i >= 0 and j < len(runs) and runs[j][1] - runs[i][0] <= limits.most and sizes[i] + sizes[j] <= limits.tokens
        )

    at = 0
    while at < len(runs):
        if runs[at][1] - runs[at][0] >= limits.least:
            at += 1
            continue
        options = [i for i in (at - 1, at) if fits(i, i + 1)]
        if not options:
            at += 1
            continue
        left = min(options, key=lambda i: (sizes[i] + sizes[i + 1], i))
        runs[left:left + 2] = [(runs[left][0], runs[left + 1][1])]
        sizes[left:left + 2] = [sizes[left] + sizes[left + 1]]
        at = max(left - 1, 0)
    return runs
