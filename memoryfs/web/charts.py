"""In: counts by day, spans of time. Out: small SVG charts: no script, colours from the style sheet, a text for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from html import escape


def growth(counts: Mapping[str, int], label: str) -> str:
    """The running total of `counts` (ISO date → how many came) as a step line; "" for nothing."""
    days = sorted((_day(day), n) for day, n in counts.items() if _day(day) is not None)
    if not days:
        return ""
    first, last = days[0][0], days[-1][0]
    span, total = max(1, last - first), sum(n for _, n in days)
    width, height, left, top = 460, 150, 40, 10
    points, sum_ = [f"M{left} {top + height}"], 0
    for day, n in days:
        x = left + (width - left - 10) * (day - first) / span
        points.append(f"L{x:.1f} {top + height * (1 - sum_ / max(1, total)):.1f}")
        sum_ += n
        points.append(f"L{x:.1f} {top + height * (1 - sum_ / max(1, total)):.1f}")
    points.append(f"L{width - 10} {top + height * (1 - sum_ / max(1, total)):.1f}")
    said = f"{label}: {total} from {date.fromordinal(first)} to {date.fromordinal(last)}"
    return (
        f'<svg class="chart" role="img" aria-label="{escape(said)}" viewBox="0 0 {width} {height + 40}"><title>{escape(said)}</title>'
        f'<line class="axis" x1="{left}" x2="{width - 10}" y1="{top + height}" y2="{top + height}"/>'
        f'<text x="{left - 6}" y="{top + 8}" text-anchor="end">{total}</text>'
        f'<text x="{left - 6}" y="{top + height}" text-anchor="end">0</text>'
        f'<path class="line" d="{"".join(points)}"/>'
        f'<text x="{left}" y="{top + height + 20}">{date.fromordinal(first)}</text>'
        f'<text x="{width - 10}" y="{top + height + 20}" text-anchor="end">{date.fromordinal(last)}</text></svg>'
    )


def spans(rows: Sequence[tuple[str, str | None, str | None, str]], today: str, label: str) -> str:
    """Bars from a first to a last day (None: still true, thus to `today`); rows are (name, from, until, status)."""
    known = [(name, start, until, status) for name, since, until, status in rows if (start := _day(since)) is not None]
    if not known:
        return ""
    end = max([_day(today) or 0, *(_day(until) or start for _, start, until, _ in known)])
    first = min(start for _, start, _, _ in known)
    width, left, bar = 460, 8, 34
    scale = (width - 2 * left) / max(1, end - first)
    parts = [f'<svg class="chart spans" role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {len(known) * bar + 24}">'
             f"<title>{escape(label)}</title>"]
    for i, (name, start, until, status) in enumerate(known):
        x = left + scale * (start - first)
        wide = max(4.0, scale * ((_day(until) or end) - start))
        y = i * bar
        anchor, at = ("start", x) if x < width * 0.6 else ("end", min(width - left, x + wide))
        parts.append(f'<text x="{at:.1f}" y="{y + 14}" text-anchor="{anchor}">{escape(name)}</text>'
                     f'<rect class="span {escape(status)}" x="{min(x, width - left - 4):.1f}" y="{y + 18}" width="{wide:.1f}" height="9" rx="2"/>')
    y = len(known) * bar + 16
    parts.append(f'<text x="{left}" y="{y}">{date.fromordinal(first)}</text>'
                 f'<text x="{width - left}" y="{y}" text-anchor="end">{date.fromordinal(end)}</text></svg>')
    return "".join(parts)


def _day(text: str | None) -> int | None:
    try:
        return date.fromisoformat((text or "")[:10]).toordinal()
    except ValueError:
        return None
