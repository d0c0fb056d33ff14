"""In: an open store and golden questions. Out: an `Evaluation`: every arm's outcomes, metrics and breakdowns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memoryfs.errors import UsageError
from memoryfs.evaluate import arms as arm_module
from memoryfs.evaluate.arms import ARMS, Arm
from memoryfs.evaluate.corpus import Corpus
from memoryfs.evaluate.golden import Question
from memoryfs.evaluate.metrics import KS, Outcome, groups, judge, measure
from memoryfs.evaluate.stats import Spread, spread

COLD_QUESTIONS = 5
Progress = Callable[[str, int, int], None]  # arm, questions done, questions in all


@dataclass(frozen=True)
class ArmResult:
    """One arm's outcomes in the order of the questions; `cold` in milliseconds, of stores opened anew."""

    name: str
    outcomes: tuple[Outcome, ...]
    cold: Spread

    def metrics(self, ks: Sequence[int] = KS) -> dict[str, Any]:
        return {**measure(self.outcomes, ks), "cold_ms": self.cold}

    def breakdown(self, ks: Sequence[int] = KS) -> dict[str, dict[str, dict[str, Any]]]:
        return {
            kind: {name: measure(members, ks) for name, members in parts.items()}
            for kind, parts in groups(self.outcomes).items()
        }


@dataclass(frozen=True)
class Evaluation:
    """The whole comparison."""

    questions: tuple[Question, ...]
    arms: tuple[ArmResult, ...]
    k: int
    max_tokens: int
    tolerance: int
    unit: str = "event"
    lost: tuple[str, ...] = ()  # questions none of whose evidence is in the store

    def arm(self, name: str) -> ArmResult:
        return next(arm for arm in self.arms if arm.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: metrics as `{value, hits, n, low, high}` or `{mean, low, high, p50, p95, n}`."""
        return {
            "questions": len(self.questions), "k": self.k, "max_tokens": self.max_tokens,
            "tolerance": self.tolerance, "unit": self.unit, "evidence_not_in_store": list(self.lost),
            "arms": {
                arm.name: {
                    "metrics": _plain(arm.metrics()),
                    **{f"by_{kind}": {name: _plain(table) for name, table in parts.items()}
                       for kind, parts in arm.breakdown().items()},
                    "outcomes": [asdict(outcome) for outcome in arm.outcomes],
                }
                for arm in self.arms
            },
        }


def merge(evaluations: Sequence[Evaluation]) -> Evaluation:
    """One evaluation over several stores (a conversation each, say) that were asked with the same bounds."""
    first = evaluations[0]
    arms = tuple(
        ArmResult(
            arm.name, tuple(outcome for one in evaluations for outcome in one.arm(arm.name).outcomes),
            spread([one.arm(arm.name).cold.p50 or 0.0 for one in evaluations if one.arm(arm.name).cold.n]),
        )
        for arm in first.arms
    )
    questions = tuple(question for one in evaluations for question in one.questions)
    lost = tuple(id for one in evaluations for id in one.lost)
    return Evaluation(questions, arms, first.k, first.max_tokens, first.tolerance, first.unit, lost)


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value.to_dict() for name, value in table.items()}


def run_arm(
    name: str, ask: Arm, questions: Sequence[Question], corpus: Corpus, *, tolerance: int = 2, unit: str = "event",
    cold: Iterable[float] = (), progress: Progress | None = None,
) -> ArmResult:
    """Ask every question once (after one that warms up) and judge the answers."""
    if questions:
        ask(questions[0])
    outcomes = []
    for done, question in enumerate(questions, start=1):
        outcomes.append(judge(question, ask(question), corpus, tolerance=tolerance, unit=unit))
        if progress:
            progress(name, done, len(questions))
    return ArmResult(name, tuple(outcomes), spread(cold))


def cold_times(store: Any, questions: Sequence[Question], options: dict[str, Any]) -> list[float]:
    """Milliseconds to open the store anew and answer, for a few questions."""
    from memoryfs.store import MemoryStore

    times = []
    for question in questions[:COLD_QUESTIONS]:
        started = time.perf_counter()
        arm_module.breadcrumb(MemoryStore.open(store.root), **options)(question)
        times.append((time.perf_counter() - started) * 1000)
    return times


def evaluate(
    store: Any, questions: Sequence[Question], *, arms: Sequence[str] = ARMS, k: int = 10, max_tokens: int = 1500,
    tolerance: int = 2, unit: str = "event", corpus: Corpus | None = None, progress: Progress | None = None,
    **options: Any,
) -> Evaluation:
    """Run the named arms over the questions. `options` go to every recall (`vectors=False`, `level=…`).

    `tolerance` in physical lines is for the near metrics alone; the others are strict. Raises UsageError for an
    unknown arm or no questions.
    """
    unknown = [name for name in arms if name not in ARMS]
    if unknown:
        raise UsageError(f"unknown arm `{unknown[0]}`; there are {', '.join(ARMS)}")
    if not questions:
        raise UsageError("there are no golden questions to ask")
    corpus = corpus or Corpus.from_store(store.root)
    bounds: dict[str, Any] = {"k": k, "max_tokens": max_tokens}
    makers: dict[str, Callable[[], Arm]] = {
        "raw": lambda: arm_module.raw(store, **bounds, **options),
        "summary": lambda: arm_module.summary(store, **bounds, **options),
        "breadcrumb": lambda: arm_module.breadcrumb(store, **bounds, **options),
        "floor": lambda: arm_module.floor(corpus, **bounds),
    }
    results = []
    for name in dict.fromkeys(arms):
        cold = cold_times(store, questions, {**bounds, **options}) if name == "breadcrumb" else ()
        results.append(run_arm(
            name, makers[name](), questions, corpus, tolerance=tolerance, unit=unit, cold=cold, progress=progress,
        ))
    lost = tuple(
        q.id for q in questions if q.answerable and q.current and not any(corpus.at(place) for place in q.current)
    )
    return Evaluation(tuple(questions), tuple(results), k, max_tokens, tolerance, unit, lost)
