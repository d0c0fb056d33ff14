"""In: an `Evaluation`. Out: rich tables for a terminal, or the same as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memoryfs.evaluate.run import Evaluation
from memoryfs.evaluate.stats import Rate, Spread
from memoryfs.render import one_line

if TYPE_CHECKING:
    from rich.table import Table

ROWS = (
    ("Memory Hit@{k}", "memory_hit@{k}"),
    ("Source Hit@{k}", "source_hit@{k}"),
    ("Source Hit@{k} ±{t} lines", "source_hit_near@{k}"),
    ("all sources @{k}", "source_all@{k}"),
)
SINGLE = (
    ("Exact Value Accuracy", "exact_value"),
    ("– where the source was hit", "exact_value_of_hits"),
    ("Wrong Memory Rate", "wrong_memory"),
    ("Abstention precision", "abstain_precision"),
    ("Abstention recall", "abstain_recall"),
    ("answerable, but refused", "refused_answerable"),
    ("evidence equal to source", "verbatim"),
    ("Token Cost (mean; p50/p95)", "tokens"),
    ("Latency warm, ms (mean; p50/p95)", "warm_ms"),
    ("Latency cold, ms (mean; p50/p95)", "cold_ms"),
)


def metric_rows(tolerance: int, ks: tuple[int, ...] = (1, 5, 10)) -> Iterator[tuple[str, str]]:
    """(label, metric name) of every line of the report."""
    for title, name in ROWS:
        if "±" in title and not tolerance:
            continue
        for k in ks:
            yield title.format(k=k, t=tolerance), name.format(k=k)
    yield from SINGLE


def shown(value: Rate | Spread | None, *, interval: bool = True) -> str:
    """`.583 [.43-.72]` for a rate, `412; 380/900` for a spread, a dash where nothing was measured."""
    if isinstance(value, Rate):
        if value.value is None:
            return "–"
        text = _short(value.value)
        if not interval or value.interval is None:
            return text
        low, high = value.interval
        return f"{text} [{_short(low, 2)}-{_short(high, 2)}]"
    if isinstance(value, Spread) and value.mean is not None and value.p50 is not None and value.p95 is not None:
        return f"{value.mean:.4g}; {value.p50:.4g}/{value.p95:.4g}"
    return "–"


def _short(value: float, digits: int = 3) -> str:
    if value > 1 - 1e-9:
        return "1"
    return f"{min(value, 1 - 10**-digits):.{digits}f}".removeprefix("0")  # what is not all does not read as all


def tables(evaluation: Evaluation) -> list[Table]:
    """The main table, and one each by type, language and tag (breadcrumb beside the floor, or what there is)."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    main = Table(
        title=f"{len(evaluation.questions)} questions, k={evaluation.k}, {evaluation.max_tokens} tokens",
        box=box.SIMPLE, title_justify="left",
    )
    main.add_column("metric", no_wrap=True)
    for arm in evaluation.arms:
        main.add_column(arm.name, justify="right", no_wrap=True)
    measured = [arm.metrics() for arm in evaluation.arms]
    for title, name in metric_rows(evaluation.tolerance):
        main.add_row(title, *(shown(metrics.get(name)) for metrics in measured))
    out = [main]
    hit = "source_hit_near" if evaluation.tolerance else "source_hit"
    for kind in ("type", "language", "tag"):
        parts = [(arm.name, arm.breakdown()[kind]) for arm in evaluation.arms]
        names = sorted({name for _, members in parts for name in members})
        if not names:
            continue
        within = f" (±{evaluation.tolerance} lines)" if evaluation.tolerance else ""
        part = Table(title=f"by {kind}: Source Hit@1 / @5 / @10{within}", box=box.SIMPLE, title_justify="left")
        part.add_column(kind, no_wrap=True)
        part.add_column("n", justify="right")
        for arm_name, _ in parts:
            part.add_column(arm_name, justify="right", no_wrap=True)
        for name in names:
            cells = [_hits(members.get(name), hit) for _, members in parts]
            n = sum(1 for outcome in evaluation.arms[0].outcomes if name in (
                (outcome.type,) if kind == "type" else (outcome.language,) if kind == "language" else outcome.tags))
            part.add_row(escape(one_line(name)), str(n), *cells)
        out.append(part)
    return out


def _hits(metrics: dict[str, Any] | None, name: str) -> str:
    if metrics is None or not metrics[f"{name}@1"].n:
        return "–"
    return " / ".join(shown(metrics[f"{name}@{k}"], interval=False) for k in (1, 5, 10))


def table(evaluation: Evaluation, width: int = 160) -> str:
    """All tables as plain text."""
    import io

    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    for part in tables(evaluation):
        console.print(part)
    if evaluation.lost:
        console.print(f"not in this store: the evidence of {len(evaluation.lost)} questions "
                      f"({one_line(', '.join(evaluation.lost[:5]))}{', …' if len(evaluation.lost) > 5 else ''})",
                      markup=False)
    return console.file.getvalue()  # type: ignore[attr-defined]
