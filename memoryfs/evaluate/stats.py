"""In: counts, or lists of numbers. Out: rates and means with 95 % confidence intervals, and percentiles.

Rates carry the Wilson score interval (Wilson 1927), which behaves at 0 and 1 and on few questions. Means carry a
percentile bootstrap interval (Efron 1979) with a fixed seed, so the same answers give the same report.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `n`; `value`, `low` and `high` are between 0 and 1, or None when n is 0."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.hits, self.n) if self.n else None

    def to_dict(self) -> dict[str, float | int | None]:
        low, high = self.interval or (None, None)
        return {"value": _rounded(self.value), "hits": self.hits, "n": self.n, "low": _rounded(low),
                "high": _rounded(high)}


def rate(values: Iterable[bool]) -> Rate:
    """The share of true values."""
    listed = list(values)
    return Rate(sum(listed), len(listed))


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean with its bootstrap interval, median and 95th percentile of some numbers (None when there are none)."""

    n: int
    mean: float | None
    low: float | None
    high: float | None
    p50: float | None
    p95: float | None

    def to_dict(self) -> dict[str, float | int | None]:
        names = ("mean", "low", "high", "p50", "p95")
        return {"n": self.n, **{name: _rounded(getattr(self, name)) for name in names}}


def spread(values: Iterable[float]) -> Spread:
    listed = sorted(values)
    if not listed:
        return Spread(0, None, None, None, None, None)
    low, high = bootstrap_mean(listed)
    return Spread(len(listed), sum(listed) / len(listed), low, high, percentile(listed, 50), percentile(listed, 95))


def wilson(hits: int, n: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval of `hits` in `n` > 0 trials."""
    p, zz = hits / n, z * z
    middle = p + zz / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + zz / (4 * n * n))
    return max(0.0, (middle - half) / (1 + zz / n)), min(1.0, (middle + half) / (1 + zz / n))


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile of numbers that are sorted already."""
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def bootstrap_mean(values: Sequence[float], resamples: int = RESAMPLES, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean."""
    rng = random.Random(seed)
    n = len(values)
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(resamples))
    return percentile(means, 2.5), percentile(means, 97.5)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
