"""In: candidates with their features. Out: the same, scored and sorted, each with the parts of its score."""

from __future__ import annotations

from collections.abc import Iterable

from memoryfs.recall.events import Candidate

# Weights of the views. unit, small, large, thread: RECALL-NOTES' sum, untrained. The others were set by hand on
# three LoCoMo conversations and the coding sets, and checked on the rest.
LEXICAL = {"unit": 1.0, "small": 1.0, "large": 1.0, "thread": 0.5}
DENSE = {"dense": 1.0, "dense_near": 0.3}
OTHER = {"when": 0.6, "speaker": 0.3, "memory": 0.8, "literal": 1.0}
QUESTION = -0.3
TOOL = 0.8


def rank(items: Iterable[Candidate], *, dense: bool) -> list[Candidate]:
    """Score = Σ weight × feature; tool output counts for a little less, a question is seldom its own answer."""
    out = list(items)
    weights = {**LEXICAL, **OTHER, **(DENSE if dense else {})}
    for item in out:
        why = {name: weight * value for name, weight in weights.items() if (value := getattr(item, name))}
        if item.question:
            why["question"] = QUESTION
        score = sum(why.values())
        if not item.message or item.role == 2:
            score *= TOOL
            why["tool"] = TOOL
        item.score = score
        item.why = why
    out.sort(key=lambda item: (-item.score, item.doc))
    return out
