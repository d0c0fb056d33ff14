"""In: candidates with their features. Out: the same, scored and sorted; and, on demand, the parts of a score."""

from __future__ import annotations

from collections.abc import Iterable

from memoryfs.recall.events import Candidate
from memoryfs.recall.query import Query

# The four lexical views began as RECALL-NOTES' untrained sum 1 : 1 : 1 : 1/2. All weights were then moved by hand-rounded
# coordinate steps on LoCoMo conv-26, 30, 41, the first half of LongMemEval dev, the two coding sets and the project's own
# Japanese, Korean and Chinese set together, and looked at on LoCoMo conv-42, 43 and the second half afterwards. Heavier
# vectors (1.6, 0.5, 0.6) find two more of a hundred places on LoCoMo 26 and none on the others, and cost coding sets rank 1.
WEIGHTS = {
    "unit": 0.9, "small": 0.6, "large": 1.2, "thread": 1.1, "near": 0.4, "peak": 0.3, "said": 0.2, "length": 0.1,
    "speaker": 1.3, "when": 2.5, "memory": 1.2,
}
THREADS = {"peaks": 0.5, "said": 0.5}  # besides, where the evidence stands in several threads
DENSE = {"dense": 1.0, "dense_near": 0.4, "dense_thread": 0.25}
QUESTION = -0.15  # a question is seldom its own answer
TIMED, COUNTED = 0.4, 0.2  # for "when" and "how many"
NOW = 0.6  # the latest, for a question about the present state
VALUE = 1.2  # for a place that holds a value of the kind asked for (a port, a regex …)
TOOL = 0.85  # tool output, beside what was said, where words alone decide: it has no vectors of its own

ACROSS = 0.6
FREE, SAME_THREAD = 7, 0.7  # from its eighth event on, each one of a thread counts for this much less: room for others
LAST, OTHER_THREAD = 8, 0.5  # from the ninth place on, an event of a thread that has none yet counts for this much more


def parts(item: Candidate, query: Query, *, dense: bool) -> dict[str, float]:
    """What the candidate's score is the sum of (`tool` is a factor)."""
    weights = {**WEIGHTS, **DENSE} if dense else WEIGHTS
    why = {name: weight * value for name, weight in weights.items() if (value := getattr(item, name))}
    if query.asks_across:
        for name, weight in THREADS.items():
            why[name] = why.get(name, 0.0) + weight * getattr(item, name)
    if item.question:
        why["question"] = QUESTION
    if item.timed and query.asks_when:
        why["timed"] = TIMED
    if item.counted and query.asks_count:
        why["counted"] = COUNTED
    if item.late and query.asks_now:
        why["late"] = NOW * item.late
    if not dense and (not item.message or item.role == 2):
        why["tool"] = TOOL
    return why


def rank(items: Iterable[Candidate], query: Query, *, dense: bool) -> list[Candidate]:
    """The candidates with their scores, best first."""
    out = list(items)
    w, d = WEIGHTS, DENSE if dense else dict.fromkeys(DENSE, 0.0)
    peaks, said = (THREADS["peaks"], w["said"] + THREADS["said"]) if query.asks_across else (0.0, w["said"])
    timed, counted, now = TIMED * query.asks_when, COUNTED * query.asks_count, NOW * query.asks_now
    for c in out:
        score = (
            w["unit"] * c.unit + w["small"] * c.small + w["large"] * c.large + w["thread"] * c.thread + w["near"] * c.near
            + w["peak"] * c.peak + peaks * c.peaks + said * c.said + w["length"] * c.length
            + w["speaker"] * c.speaker + w["when"] * c.when + w["memory"] * c.memory
            + d["dense"] * c.dense + d["dense_near"] * c.dense_near + d["dense_thread"] * c.dense_thread
            + timed * c.timed + counted * c.counted + now * c.late + QUESTION * c.question
        )
        c.score = score if dense or (c.message and c.role != 2) else score * TOOL
    out.sort(key=lambda c: (-c.score, c.doc))
    return out


def spread(events: list[tuple[float, int]], k: int, *, across: bool = False) -> list[int]:
    """The places of the k best of (score, thread), chosen one by one, each further one of a thread counting for less.

    `across`: from the second event of a thread on, for questions whose evidence stands in several sessions.
    """
    free, penalty = (1, ACROSS) if across else (FREE, SAME_THREAD)
    taken: dict[int, int] = {}
    chosen: list[int] = []
    left = dict(enumerate(events))

    def worth(place: int) -> float:
        score, thread = left[place]
        had = taken.get(thread, 0)
        return score - penalty * max(0, had - free + 1) + (OTHER_THREAD if not had and len(chosen) >= LAST else 0.0)

    while left and len(chosen) < k:
        place = max(left, key=lambda p: (worth(p), -p))
        thread = left.pop(place)[1]
        taken[thread] = taken.get(thread, 0) + 1
        chosen.append(place)
    return chosen
