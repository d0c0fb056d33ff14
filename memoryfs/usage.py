"""In: how a memory was judged (`useful`, `wrong`; `memoryfs.ledger.judgements`) and seen. Out: how much it matters, as a number.

Pure. The briefing ranks by it, the organizer's lifecycle lets fade what matters little, the gate learns from the same judgements.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoryfs.model import Memory

USEFUL, WRONG = 0.15, -0.4  # what one judgement moves
MOST = (-0.8, 0.45)  # what all of them together may move
_KIND = {"instruction": 0.7, "task": 0.6, "fact": 0.5, "event": 0.3}
_PERSON, _AGAIN, _MOST_AGAIN = 0.2, 0.1, 3  # said by a person; each further source, of so many


def moved(given: Iterable[str]) -> float:
    """What the judgements of one memory add to its importance: up for `useful`, down, and further, for `wrong`."""
    total = sum(USEFUL if verdict == "useful" else WRONG for verdict in given)
    return round(max(MOST[0], min(MOST[1], total)), 6)


def importance(memory: Memory, given: Iterable[str] = ()) -> float:
    """0 to 1: by kind, who said it, from how many sources it is known, and how it was judged."""
    value = _KIND.get(memory.kind, 0.5) + (_PERSON if memory.from_person or memory.stated_by == "agent" else 0.0)
    value += _AGAIN * min(_MOST_AGAIN, max(0, len(memory.source_range) - 1)) + moved(given)
    return round(max(0.0, min(1.0, value)), 6)
