"""In: a question and the moment it is asked. Out: the days it speaks of, as [start, end) in epoch seconds.

"last week", "yesterday", "3 days ago", "in March", "on 7 May 2023", 先週, 昨日, 3日前, 3月, 지난주, 어제, 上周, 昨天. A week
begins on Monday. A month or day without a year is the last one that has begun. What is found only raises what was said
in those days; it removes nothing.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta, tzinfo

from memoryfs.patterns import lazy

_MONTHS = {m: i for i, m in enumerate(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"], 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_MONTH = "(?P<m>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10,
            "couple": 2, "few": 3, "一": 1, "二": 2, "三": 3, "两": 2, "四": 4, "五": 5}  # fmt: skip

_RELATIVE = [
    (r"\bday before yesterday\b|一昨日|おととい|그저께|그제|前天", "day", -2),
    (r"\byesterday\b|\blast night\b|昨日|きのう|어제|昨天|昨晚", "day", -1),
    (r"\btoday\b|\bthis morning\b|今日|きょう|오늘|今天", "day", 0),
    (r"\bweek before last\b|先々週|지지난주|上上周", "week", -2),
    (r"\blast week\b|\bprevious week\b|先週|지난\s?주|上(?:个)?(?:周|星期|礼拜)|저번\s?주", "week", -1),
    (r"\bthis week\b|今週|이번\s?주|这(?:个)?(?:周|星期)|本周", "week", 0),
    (r"\blast month\b|\bprevious month\b|先月|지난\s?달|上(?:个)?月|저번\s?달", "month", -1),
    (r"\bthis month\b|今月|이번\s?달|这个月|本月", "month", 0),
    (r"\blast year\b|去年|昨年|작년|지난\s?해", "year", -1),
    (r"\bthis year\b|今年|올해", "year", 0),
    (r"\brecently\b|最近|최근", "recent", 0),
]
_RELATIVE_RE = [(lazy(pattern, re.I), unit, step) for pattern, unit, step in _RELATIVE]
_AGO = lazy(
    r"\b(?P<n>\d{1,3}|a|an|one|two|three|four|five|six|seven|ten|couple of|a few|few)\s+(?P<u>day|week|month|year)s?\s+(?:ago|back)\b"
    r"|(?P<n2>\d{1,3}|[一二三两四五])\s?(?P<u2>日|天|週間|周|か月|ヶ月|个月|年|일|주|개월|달|년)\s?(?:前|전|以前|之前)", re.I,
)
_LAST_DAY = lazy(rf"\blast\s+(?P<d>{'|'.join(_DAYS)})\b", re.I)
_ISO = lazy(r"(?<!\d)(?P<y>\d{4})[-/](?P<m>\d{1,2})(?:[-/](?P<d>\d{1,2}))?(?![\d-])")
_DAY_MONTH = lazy(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<y>\d{{4}}))?\b", re.I)
_MONTH_DAY = lazy(rf"\b{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<y>\d{{4}}))?\b", re.I)
_MONTH_YEAR = lazy(rf"\b{_MONTH},?\s+(?:of\s+)?(?P<y>\d{{4}})\b", re.I)
_IN_MONTH = lazy(rf"\b(?:in|during|since|by|of|early|late|mid)[\s-]+{_MONTH}(?![\w])", re.I)
_EAST = lazy(r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?P<m>\d{1,2})\s?[月월](?:\s?(?P<d>\d{1,2})\s?[日号일])?")
_YEAR = lazy(r"\bin\s+(?P<y>(?:19|20)\d{2})\b|(?<!\d)(?P<y2>(?:19|20)\d{2})\s?[年년]")


def parse_moment(text: str, zone: tzinfo | None) -> int:
    """A date (its end), or a date and time, as epoch seconds. Raises ValueError for anything else."""
    text = text.strip()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        day = date.fromisoformat(text) + timedelta(days=1)
        return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()) - 1
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp())


def spans(text: str, now: datetime) -> list[tuple[int, int]]:
    """The days the text speaks of, as [start, end) in epoch seconds of `now`'s zone."""
    today = now.date()
    found: list[tuple[date, date]] = []
    for pattern, unit, step in _RELATIVE_RE:
        if pattern.search(text):
            found.append(_period(today, unit, step))
    for match in _AGO.finditer(text):
        found.append(_ago(today, match))
    for match in _LAST_DAY.finditer(text):
        back = (today.weekday() - _DAYS.index(match["d"].lower()) - 1) % 7 + 1
        day = today - timedelta(days=back)
        found.append((day, day + timedelta(days=1)))
    taken: list[tuple[int, int]] = []
    for pattern in (_ISO, _DAY_MONTH, _MONTH_DAY, _MONTH_YEAR, _IN_MONTH, _EAST):
        for match in pattern.finditer(text):
            if any(a < match.end() and match.start() < b for a, b in taken):
                continue
            span = _calendar(today, match.groupdict())
            if span:
                taken.append(match.span())
                found.append(span)
    for match in _YEAR.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in taken):
            year = int(match["y"] or match["y2"])
            found.append((date(year, 1, 1), date(year + 1, 1, 1)))
    return [(_epoch(a, now.tzinfo), _epoch(b, now.tzinfo)) for a, b in found]


def nearness(at: int, ranges: list[tuple[int, int]]) -> float:
    """1 inside a range, falling off outside it over a range's own length (at least two days); 0 with no ranges."""
    best = 0.0
    for start, end in ranges:
        if start <= at < end:
            return 1.0
        slack = max(172_800, end - start)
        gap = start - at if at < start else at - end
        best = max(best, 0.5 * (1 - gap / slack))
    return max(0.0, best)


def _epoch(day: date, zone: tzinfo | None) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())


def _month(year: int, month: int) -> tuple[date, date]:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1), date(year, month, monthrange(year, month)[1]) + timedelta(days=1)


def _period(today: date, unit: str, step: int) -> tuple[date, date]:
    if unit == "day":
        day = today + timedelta(days=step)
        return day, day + timedelta(days=1)
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
        return monday, monday + timedelta(days=7)
    if unit == "month":
        return _month(today.year, today.month + step)
    if unit == "recent":
        return today - timedelta(days=14), today + timedelta(days=1)
    return date(today.year + step, 1, 1), date(today.year + step + 1, 1, 1)


def _ago(today: date, match: re.Match[str]) -> tuple[date, date]:
    raw = (match["n"] or match["n2"]).lower().removesuffix(" of").removeprefix("a ") or "a"
    number = int(raw) if raw.isdigit() else _NUMBERS.get(raw, 1)
    unit = (match["u"] or match["u2"]).lower()
    if unit in ("day", "日", "天", "일"):
        return _period(today, "day", -number)
    if unit in ("week", "週間", "周", "주"):
        return _period(today, "week", -number)
    if unit in ("year", "年", "년"):
        return _period(today, "year", -min(number, today.year - 1))
    return _month(today.year, today.month - min(number, today.year * 12 - 24))


def _calendar(today: date, parts: dict[str, str | None]) -> tuple[date, date] | None:
    name = (parts.get("m") or "").lower()
    month = int(name) if name.isdigit() else _MONTHS.get(name, 0)
    year = int(parts["y"]) if parts.get("y") else 0
    day = int(parts["d"]) if parts.get("d") else 0
    if not 1 <= month <= 12 or (year and not 1900 <= year <= 2999):
        return None
    try:
        if day:
            exact = date(year or today.year, month, day)
            if not year and exact > today:
                exact = date(today.year - 1, month, day)
            return exact, exact + timedelta(days=1)
    except ValueError:
        return None
    if not year:
        year = today.year if month <= today.month else today.year - 1
    return _month(year, month)
