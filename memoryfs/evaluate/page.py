"""In: an `Evaluation`. Out: one self-contained HTML page: inline CSS and SVG, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from memoryfs.evaluate.run import ArmResult, Evaluation
from memoryfs.evaluate.stats import Rate
from memoryfs.evaluate.table import metric_rows, shown
from memoryfs.render import one_line

COLOURS = {"raw": "#8a8f98", "summary": "#c98a2b", "breadcrumb": "#2b6fc9", "floor": "#6b9e5b"}
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child, td.text { text-align: left; white-space: normal }
caption { text-align: left; font-weight: 600; padding: .3rem 0 }
svg { max-width: 100%; height: auto } svg text { fill: currentColor; font: 12px system-ui, sans-serif }
.wide { overflow-x: auto } .note { opacity: .75 }
"""


def bars(title: str, groups: Sequence[tuple[str, Sequence[tuple[str, Rate]]]]) -> str:
    """Grouped bars between 0 and 1 with their 95 % intervals as whiskers; groups of (label, [(arm, rate)])."""
    bar, gap, left, height, top = 22, 26, 44, 180, 16
    widest = max((len(rates) for _, rates in groups), default=1)
    step = max(widest * bar + gap, 104)  # room for the label
    width = left + step * len(groups) + 10
    parts = [
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height + top + 40}" width="{width}">',
        f"<title>{escape(title)}</title>",
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - tick)
        parts.append(f'<line x1="{left}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" opacity=".2"/>'
                     f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i, (label, rates) in enumerate(groups):
        x0 = left + (step - widest * bar) / 2 + i * step
        for j, (arm, value) in enumerate(rates):
            if value.value is None or value.interval is None:
                continue
            x, h = x0 + j * bar, height * value.value
            low, high = (top + height * (1 - end) for end in value.interval)
            middle = x + (bar - 4) / 2
            parts.append(
                f'<rect x="{x:.1f}" y="{top + height - h:.1f}" width="{bar - 4}" height="{h:.1f}" '
                f'fill="{COLOURS.get(arm, "#888")}"><title>{escape(arm)} {escape(label)}: '
                f'{escape(shown(value))} of {value.n}</title></rect>'
                f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="currentColor"/>'
            )
        centre = x0 + len(rates) * bar / 2
        parts.append(f'<text x="{centre:.1f}" y="{top + height + 18}" text-anchor="middle">{escape(label)}</text>')
    return "".join([*parts, "</svg>"])


def legend(arms: Sequence[ArmResult]) -> str:
    marks = "".join(
        f'<svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" '
        f'fill="{COLOURS.get(arm.name, "#888")}"/></svg> {escape(arm.name)} &nbsp; '
        for arm in arms
    )
    return f"<p>{marks}</p>"


def grid(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; every cell is escaped here."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><caption>{escape(caption)}</caption><tr>{top}</tr>{body}</table></div>'


def page(evaluation: Evaluation, title: str = "memoryfs eval") -> str:
    """The whole page as text; write it as UTF-8."""
    arms = evaluation.arms
    measured = {arm.name: arm.metrics() for arm in arms}
    near = "source_hit_near" if evaluation.tolerance else "source_hit"
    within = f", within {evaluation.tolerance} lines" if evaluation.tolerance else ""
    out = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1><p>{len(evaluation.questions)} questions; at most {evaluation.k} events and "
        f"{evaluation.max_tokens} tokens an answer. Whiskers and brackets are 95 % intervals "
        "(Wilson; bootstrap for means).</p>",
        legend(arms), f"<h2>Source Hit{escape(within)}</h2>",
        bars("Source Hit", [
            (f"@{k}", [(arm.name, measured[arm.name][f"{near}@{k}"]) for arm in arms]) for k in (1, 5, 10)
        ]),
        "<h2>Right and wrong</h2>",
        bars("Right and wrong", [
            (label, [(arm.name, measured[arm.name][name]) for arm in arms])
            for label, name in (("exact value", "exact_value"), ("wrong memory", "wrong_memory"),
                                ("abstain prec.", "abstain_precision"), ("abstain recall", "abstain_recall"),
                                ("verbatim", "verbatim"))
        ]),
        grid("All metrics", ["metric", *(arm.name for arm in arms)], [
            [label, *(shown(measured[arm.name].get(name)) for arm in arms)]
            for label, name in metric_rows(evaluation.tolerance)
        ]),
    ]
    breakdowns = {arm.name: arm.breakdown() for arm in arms}
    for kind in ("type", "language", "tag"):
        names = sorted({name for parts in breakdowns.values() for name in parts[kind]})
        shown_names = [name for name in names if any(parts[kind][name][f"{near}@5"].n for parts in breakdowns.values())]
        if not shown_names:
            continue
        out += [
            f"<h2>By {kind}</h2>",
            bars(f"Source Hit@5 by {kind}", [
                (one_line(name), [(arm.name, breakdowns[arm.name][kind][name][f"{near}@5"]) for arm in arms])
                for name in shown_names
            ]),
            grid(f"Source Hit@1 / @5 / @10{within} by {kind}", [kind, "n", *(arm.name for arm in arms)], [
                [one_line(name), str(breakdowns[arms[0].name][kind][name][f"{near}@5"].n), *(
                    " / ".join(shown(breakdowns[arm.name][kind][name][f"{near}@{k}"], interval=False)
                               for k in (1, 5, 10)) for arm in arms)]
                for name in shown_names
            ]),
        ]
    out += [_misses(evaluation), "</body></html>"]
    return "\n".join(out)


def _misses(evaluation: Evaluation) -> str:
    arm = next((arm for arm in evaluation.arms if arm.name == "breadcrumb"), evaluation.arms[0])
    rows = []
    for question, outcome in zip(evaluation.questions, arm.outcomes, strict=True):
        rank = outcome.near_rank if evaluation.tolerance else outcome.rank
        what = [
            *(["source not found"] if outcome.anchored and rank is None else []),
            *([f"source only at rank {rank}"] if rank is not None and rank > 5 else []),
            *(["exact value missing"] if outcome.exact is False else []),
            *(["superseded value as current"] if outcome.wrong else []),
            *(["refused"] if outcome.abstained and question.answerable else []),
            *(["answered without support"] if question.type == "abstain" and not outcome.abstained else []),
        ]
        if what:
            rows.append([question.id, one_line(question.question), question.type, "; ".join(what)])
    return grid(f"Where {arm.name} fails ({len(rows)})", ["id", "question", "type", "what"], rows) if rows else ""
