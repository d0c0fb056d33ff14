"""In: nothing. Out: the nouns that the organizer's stages pass on, as frozen dataclasses.

Event indexes are 0-based, ranges inclusive at both ends, offsets in Unicode code points, times RFC 3339 text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoryfs.exact import ExactValue
from memoryfs.model import SourceRange


@dataclass(frozen=True, slots=True)
class Segment:
    """Events `start` to `end` of one thread; `tokens` is the estimate for all of them (a single event over the limit
    stays whole here and is cut only for the model)."""

    thread: str
    start: int
    end: int
    tokens: int

    def __len__(self) -> int:
        return self.end - self.start + 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may become a memory: `quote` stands verbatim in event `event_index` at `quote_start`.

    `role` is who said it (user, assistant, tool); `stated_by` is `user`, `assistant` or `tool`, lowered to `tool`
    where the words are data that a person only passed on. `values` are the exact values of the quote. `score` is the
    gate's worth in 0..1 once it has been weighed, else the extractor's own. `why` names the cues that fired.
    `correction` marks a statement that takes back an earlier one; `when` is the ISO date from which it is true.
    """

    kind: str
    summary: str
    topic_key: str
    quote: str
    event_index: int
    source: SourceRange
    quote_start: int = 0
    query_hints: tuple[str, ...] = ()
    retrieve_when: str = ""
    importance: float = 0.5
    role: str = "assistant"
    stated_by: str = "assistant"
    time: str | None = None
    when: str | None = None
    by: str = "rules"  # rules | model
    score: float = 0.0
    correction: bool = False
    values: tuple[ExactValue, ...] = ()
    why: tuple[str, ...] = ()
    language: str = "en"
    gate: str = ""  # keep | inbox | drop, once weighed
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check made of a candidate: pass, correct or drop; `candidate` is the corrected one when it is `correct`."""

    candidate: Candidate
    outcome: str
    reason: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a verified candidate: add, reinforce, merge, supersede, conflict, ignore or inbox; `target_id` is
    the memory that it reinforces, says more fully, replaces or contradicts."""

    action: str
    candidate: Candidate
    target_id: str | None = None
    why: str = ""
