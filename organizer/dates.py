"""In: a sentence and the time at which it was said. Out: its relative dates resolved to ISO dates, or left alone.

"yesterday" means the day before the speaker's own day: the date is computed from the event's own time and zone, never from
the clock of the machine that reads it. Only days, weekdays, weeks and months that are certain are resolved; "soon" is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

_FRACTION = re.compile(r"\.(\d{1,6})\d*")


def parse_time(text: str | None) -> datetime | None:
    """RFC 3339 text, a bare date or a naive time as an aware datetime (UTC where no zone is given); None if it is none."""
    if not text:
        return None
    try:
        value = datetime.fromisoformat(_FRACTION.sub(lambda m: "." + m[1].ljust(6, "0"), text.strip(), count=1))
    except ValueError:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def local_day(text: str | None, zone: tzinfo | None = None) -> date | None:
    """The calendar day of a time where it was said: in `zone` if one is known, else in the time's own offset."""
    value = parse_time(text)
    if value is None:
        return None
    return (value.astimezone(zone) if zone else value).date()


def zone_of(name: str | None) -> tzinfo | None:
    """The time zone of an IANA name (`America/Los_Angeles`); None where it is not known here."""
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class DateMention:
    """A relative date at `text[start:end]` and the day it means; `last` differs from `day` for a week or a month."""

    start: int
    end: int
    text: str
    day: date
    last: date

    @property
    def iso(self) -> str:
        """`2026-03-06`, or `2026-03-02/2026-03-08` for a span (ISO 8601 interval)."""
        return self.day.isoformat() + (f"/{self.last.isoformat()}" if self.last != self.day else "")


def _week(day: date, offset: int) -> tuple[date, date]:
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=offset)
    return monday, monday + timedelta(days=6)


def _month(day: date, offset: int) -> tuple[date, date]:
    index = day.year * 12 + day.month - 1 + offset
    first = date(index // 12, index % 12 + 1, 1)
    following = date((index + 1) // 12, (index + 1) % 12 + 1, 1)
    return first, following - timedelta(days=1)


_DAYS: dict[str, int] = {
    "the day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2,
    "一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1, "今日": 0, "本日": 0, "明日": 1, "あした": 1, "明後日": 2, "あさって": 2,
    "그저께": -2, "그제": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2,
    "前天": -2, "昨天": -1, "今天": 0, "明天": 1, "后天": 2, "後天": 2,
}
_SPANS: dict[str, tuple[Callable[[date, int], tuple[date, date]], int]] = {
    "last week": (_week, -1), "this week": (_week, 0), "next week": (_week, 1),
    "last month": (_month, -1), "this month": (_month, 0), "next month": (_month, 1),
    "先週": (_week, -1), "今週": (_week, 0), "来週": (_week, 1), "先月": (_month, -1), "今月": (_month, 0), "来月": (_month, 1),
    "지난주": (_week, -1), "이번 주": (_week, 0), "다음 주": (_week, 1), "지난달": (_month, -1), "이번 달": (_month, 0), "다음 달": (_month, 1),
    "上周": (_week, -1), "本周": (_week, 0), "这周": (_week, 0), "下周": (_week, 1), "上个月": (_month, -1), "这个月": (_month, 0), "下个月": (_month, 1),
}
_WEEKDAYS: dict[str, int] = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "月曜": 0, "火曜": 1, "水曜": 2, "木曜": 3, "金曜": 4, "土曜": 5, "日曜": 6,
    "월요일": 0, "화요일": 1, "수요일": 2, "목요일": 3, "금요일": 4, "토요일": 5, "일요일": 6,
    "周一": 0, "周二": 1, "周三": 2, "周四": 3, "周五": 4, "周六": 5, "周日": 6, "周天": 6,
    "星期一": 0, "星期二": 1, "星期三": 2, "星期四": 3, "星期五": 4, "星期六": 5, "星期日": 6, "星期天": 6,
}
_WHICH = {  # the word before a weekday, as weeks from this one; English "next Friday" is the coming one
    "last": "last", "next": "next", "this": "this", "by": "next", "until": "next",
    "先週の": -1, "今週の": 0, "来週の": 1, "次の": "next", "지난주 ": -1, "이번 주 ": 0, "다음 주 ": 1, "지난 ": "last", "다음 ": "next",
    "上": -1, "本": 0, "这": 0, "下": 1,
}
_UNITS = {
    "day": 1, "days": 1, "week": 7, "weeks": 7, "日": 1, "日間": 1, "週間": 7, "일": 1, "주": 7, "天": 1, "周": 7,
}


def _words(keys: object) -> str:
    return "|".join(re.escape(k) for k in sorted(keys, key=len, reverse=True))  # type: ignore[call-overload]


_MENTION = re.compile(
    rf"(?P<weekday>(?:(?P<which>\b(?:last|next|this|by|until)|先週の|今週の|来週の|次の|지난주 |이번 주 |다음 주 |지난 |다음 |上|本|这|下)\s?)"
    rf"(?P<name>{_words(_WEEKDAYS)})(?:日)?)"
    rf"|(?P<day>(?:\b(?:{_words(k for k in _DAYS if k.isascii())})\b|{_words(k for k in _DAYS if not k.isascii())}))"
    rf"|(?P<span>(?:\b(?:{_words(k for k in _SPANS if k.isascii())})\b|{_words(k for k in _SPANS if not k.isascii())}))"
    r"|(?P<ago>\b(?P<n1>\d{1,3})\s+(?P<u1>days?|weeks?)\s+(?P<d1>ago|earlier)\b|\bin\s+(?P<n2>\d{1,3})\s+(?P<u2>days?|weeks?)\b"
    r"|(?P<n3>\d{1,3})(?P<u3>日|週間)(?P<d3>前|後)|(?P<n4>\d{1,3})(?P<u4>일|주)\s?(?P<d4>전|후|뒤)|(?P<n5>\d{1,3})(?P<u5>天|周)(?P<d5>前|后))",
    re.I,
)
_BACK = {"ago", "earlier", "前", "전"}


def relative_dates(text: str, said: str | None, zone: tzinfo | None = None) -> list[DateMention]:
    """The relative dates in `text`, resolved against `said` (RFC 3339); none when the time is not known."""
    day = local_day(said, zone)
    if day is None:
        return []
    found = []
    for match in _MENTION.finditer(text):
        try:
            first, last = _resolve(match, day)
        except (OverflowError, ValueError):
            continue
        found.append(DateMention(match.start(), match.end(), match.group(), first, last))
    return found


def _resolve(match: re.Match[str], day: date) -> tuple[date, date]:
    if match["weekday"]:
        which, wanted = _WHICH[match["which"].lower()], _WEEKDAYS[match["name"].lower()]
        if which == "next":
            day += timedelta(days=(wanted - day.weekday() - 1) % 7 + 1)
        elif which == "last":
            day -= timedelta(days=(day.weekday() - wanted - 1) % 7 + 1)
        else:
            weeks = 0 if which == "this" else int(which)
            day = _week(day, weeks)[0] + timedelta(days=wanted)
        return day, day
    if match["day"]:
        day += timedelta(days=_DAYS[match["day"].lower()])
        return day, day
    if match["span"]:
        make, offset = _SPANS[match["span"].lower()]
        return make(day, offset)
    for i in "12345":
        if match[f"n{i}"]:
            amount = int(match[f"n{i}"]) * _UNITS[match[f"u{i}"].lower()]
            back = i != "2" and match[f"d{i}"].lower() in _BACK
            day += timedelta(days=-amount if back else amount)
            return day, day
    raise ValueError("no date")


def with_dates(text: str, said: str | None, zone: tzinfo | None = None) -> str:
    """`text` with each relative date followed by what it means: `yesterday (2026-03-06)`."""
    out, at = [], 0
    for mention in relative_dates(text, said, zone):
        out += [text[at:mention.end], f" ({mention.iso})"]
        at = mention.end
    return "".join(out) + text[at:]
