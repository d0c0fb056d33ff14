"""In: weighed candidates and a generator that passed its check. Out: its score of each, for the gate.

Only candidates near a bar are scored: elsewhere a weak signal would turn nothing, and each costs about a tenth of a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from organizer.gate import NEAR, Gate, by_model
from organizer.nouns import Candidate
from organizer.prompts import KEEP, spoken

if TYPE_CHECKING:
    from memoryfs.models.protocols import Generator

MOST = 200  # candidates of one thread


def model_scores(
    found: Sequence[Candidate], gate: Gate, generator: Generator, threshold: float, *, most: int = MOST
) -> dict[int, float]:
    """Standardised scores by position in `found`, for `gate.weigh(..., scores=...)`. `threshold` is that of the generator's
    calibration for `prompts.KEEP`. Raises ModelUnavailableError."""
    if not gate.generator:
        return {}
    bars = [math.log(p / (1 - p)) for p in (gate.keep, gate.detail, gate.inbox)]
    distance = {
        i: min(abs(float(c.metadata.get("logit", 0.0)) - bar) for bar in bars) for i, c in enumerate(found)
    }
    chosen = sorted(sorted((i for i, d in distance.items() if d <= NEAR), key=lambda i: (distance[i], i))[:most])
    if not chosen:
        return {}
    scores = KEEP.scores(generator, [spoken(found[i].role, found[i].summary) for i in chosen])
    return dict(zip(chosen, by_model(scores, threshold), strict=True))
