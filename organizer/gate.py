"""In: what is known of a candidate (features, scores of models). Out: its worth, and keep, inbox or drop.

A logistic model with readable weights (organizer/data/gate.json). Its features are cues, role, length and place; the scores
of an embedding classifier and of a generator are further terms, each with the weight that it earned on labelled lines and 0
where it earned none. A person's verdicts move the weights a little (`learn`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memoryfs.models.protocols import Embedder
from organizer.nouns import Candidate

FILE = Path(__file__).resolve().parent / "data" / "gate.json"

NEAR = 0.7  # log-odds from a bar within which a weak signal may turn the outcome; embedding more would be time for nothing

# Exact values that are worth keeping by themselves: a person cannot guess them and a search will ask for them.
HARD_VALUES = frozenset({"regex", "sql", "command", "env", "port", "version", "email"})


@dataclass(frozen=True)
class Direction:
    """A linear classifier over one embedding model's vectors: `fingerprint` names the model, `weights` has one a dimension."""

    fingerprint: str
    bias: float
    weights: tuple[float, ...]
    share: float  # weight of its log-odds in the sum


@dataclass(frozen=True)
class Gate:
    """Weights by feature name, thresholds as probabilities: from `keep` on it is kept, from `inbox` on it waits for a
    person; `detail` is the lower bar for a statement that holds a hard exact value, `user` for a rule or a task of the
    user's, which to miss costs more than a line too many, and for whatever the user says in a language with fewer cues than English.
    `trust` is what both bars are lowered by for what the user says, and for such languages: of what an assistant writes in
    English between .50 and .58, two readers found a half and three fifths not worth keeping."""

    weights: Mapping[str, float]
    keep: float = 0.5
    inbox: float = 0.3
    detail: float = 0.4
    user: float = 1.0
    trust: float = 0.0
    generator: float = 0.0  # weight of the generator's standardised score
    direction: Direction | None = None
    trained: Mapping[str, object] = field(default_factory=dict)

    @staticmethod
    def probability(logit: float) -> float:
        """The chance that a person would keep it, in 0..1."""
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def load(path: Path = FILE) -> Gate:
    """The gate of a weights file. Raises ValueError or KeyError where the file is not one."""
    data = json.loads(path.read_text(encoding="utf-8"))
    raw = data.get("embedding")
    direction = None
    if raw:
        direction = Direction(raw["fingerprint"], raw["bias"], tuple(raw["weights"]), raw["share"])
    return Gate(
        {k: float(v) for k, v in data["weights"].items()}, data["thresholds"]["keep"], data["thresholds"]["inbox"],
        data["thresholds"]["detail"], data["thresholds"].get("user", 1.0), data["thresholds"].get("trust", 0.0), data.get("generator", 0.0), direction,
        data.get("trained", {}),
    )


def worth(features: Mapping[str, float], gate: Gate) -> float:
    """The log-odds that the sentence with these features is worth keeping."""
    weights = gate.weights
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


def explain(features: Mapping[str, float], gate: Gate, limit: int = 5) -> list[tuple[str, float]]:
    """The features that moved the worth most, with what each added."""
    parts = [(name, round(value * gate.weights.get(name, 0.0), 3)) for name, value in features.items() if name != "bias"]
    return sorted((p for p in parts if p[1]), key=lambda p: (-abs(p[1]), p[0]))[:limit]


def outcome(candidate: Candidate, probability: float, gate: Gate) -> str:
    """keep, inbox or drop for a probability of worth."""
    bar = gate.detail if any(v.kind in HARD_VALUES for v in candidate.values) else gate.keep
    if candidate.stated_by == "user" or candidate.language != "en":
        bar -= gate.trust
    if candidate.stated_by == "user" and (candidate.kind in ("instruction", "task") or candidate.language != "en"):
        bar = min(bar, gate.user)
    if probability >= bar:
        return "keep"
    return "inbox" if probability >= gate.inbox else "drop"


def by_meaning(texts: Sequence[str], gate: Gate, embedder: Embedder | None) -> list[float]:
    """What the embedding classifier adds to each log-odds; zeros without the embedder that it was trained for."""
    direction = gate.direction
    if embedder is None or direction is None or embedder.fingerprint != direction.fingerprint or not texts:
        return [0.0] * len(texts)
    import numpy as np

    vectors = embedder.embed_passages(list(texts))
    logits = vectors @ np.asarray(direction.weights, dtype=np.float32) + direction.bias
    return [float(v) * direction.share for v in logits]


def by_model(scores: Sequence[float], threshold: float) -> list[float]:
    """A generator's scores as distances from its calibrated threshold in units of their own spread, cut to ±2; zeros
    where there are too few to tell the spread."""
    if len(scores) < 8:
        return [0.0] * len(scores)
    mean = sum(scores) / len(scores)
    spread = math.sqrt(sum((s - mean) ** 2 for s in scores) / len(scores)) or 1.0
    return [max(-2.0, min(2.0, (s - threshold) / spread)) for s in scores]


def weigh(
    found: Sequence[Candidate], gate: Gate, *, embedder: Embedder | None = None, scores: Mapping[int, float] | None = None
) -> list[Candidate]:
    """Candidates with `score` (probability of worth) and `gate` set. `scores` are standardised generator scores by position
    in `found`; positions without one are judged without."""
    logits = [float(c.metadata.get("logit", math.log(max(c.score, 1e-6) / max(1 - c.score, 1e-6)))) for c in found]
    bars = [math.log(p / (1 - p)) for p in (gate.keep, gate.keep - gate.trust, gate.detail, gate.detail - gate.trust, gate.user, gate.inbox) if p < 1]
    near = [i for i, logit in enumerate(logits) if any(abs(logit - bar) <= NEAR for bar in bars)]
    for i, extra in zip(near, by_meaning([found[i].summary for i in near], gate, embedder), strict=True):
        logits[i] += extra
    for i, score in (scores or {}).items():
        logits[i] += gate.generator * score
    out = []
    for candidate, logit in zip(found, logits, strict=True):
        probability = gate.probability(logit)
        out.append(replace(candidate, score=round(probability, 4), gate=outcome(candidate, probability, gate)))
    return out


def learn(gate: Gate, verdicts: Iterable[tuple[Mapping[str, float], bool]], *, strength: float = 0.5) -> Gate:
    """The gate after a person's verdicts (features, kept): the shipped weights are the prior, and the fewer verdicts
    there are, the nearer the result stays to them (maximum a posteriori; `strength` is the prior's variance)."""
    data = [(dict(f), 1.0 if kept else 0.0) for f, kept in verdicts]
    if not data:
        return gate
    weights = dict(gate.weights)
    moved: dict[str, float] = {}
    rate = 2.0 / (1.0 / strength + len(data))
    for _ in range(100):
        gradient = {name: delta / strength for name, delta in moved.items()}
        for row, kept in data:
            logit = sum(v * (weights.get(n, 0.0) + moved.get(n, 0.0)) for n, v in row.items())
            error = gate.probability(logit) - kept
            for name, value in row.items():
                gradient[name] = gradient.get(name, 0.0) + error * value
        for name, slope in gradient.items():
            moved[name] = moved.get(name, 0.0) - rate * slope / 4
    return replace(gate, weights={n: weights.get(n, 0.0) + moved.get(n, 0.0) for n in {*weights, *moved}})
