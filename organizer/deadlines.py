"""In: what a memory says, and when it was said. Out: the day of the deadline in it, if there is one that is certain.

"by Friday", "until 2026-05-14", "3月14日まで", "3월 14일까지", "3月14日之前". A date counts where a word beside it makes it a deadline
(`memoryfs.volatile.BEFORE`, `AFTER`); a day without a year is the next one that comes after the memory was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from memoryfs.volatile import AFTER, BEFORE, LONGEST
from organizer.dates import relative_dates

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_DATE = re.compile(
    r"(?<!\d)(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})(?!\d)"
    r"|(?:(?P<y2>\d{4})\s?[年년]\s?)?(?<!\d)(?P<m2>\d{1,2})\s?[月월]\s?(?P<d2>\d{1,2})\s?[日号號일]"
    rf"|\b{_MONTH.format('m3')} (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y3>\d{{4}}))?"
    rf"|(?<!\d)(?P<d4>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH.format('m4')}(?:,? (?P<y4>\d{{4}}))?\b", re.I)
_PAST = timedelta(days=31)  # so long ago a day without a year may be; further back, the next one is meant


def deadline(text: str, said: str | None) -> date | None:
    """The last day that `text` names as a deadline; `said` is the ISO date of the memory, None where not known."""
    text = text[:LONGEST]
    days = [day for start, end, day in _days(text, said) if BEFORE.search(text[max(0, start - 48) : start]) or AFTER.search(text[end : end + 24])]
    return max(days, default=None)


def _days(text: str, said: str | None) -> Iterator[tuple[int, int, date]]:
    for match in _DATE.finditer(text):
        day = _day(match, said)
        if day:
            yield match.start(), match.end(), day
    for mention in relative_dates(text, said):
        # "by Friday" begins with the word that makes it a deadline
        lead = re.match(r"(?:by|until) ", mention.text, re.I)
        yield mention.start + (lead.end() if lead else 0), mention.end, mention.last


def _day(match: re.Match[str], said: str | None) -> date | None:
    number = next(n for n in "1234" if match[f"d{n}"])
    month = match[f"m{number}"]
    index = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    try:
        if match[f"y{number}"]:
            return date(int(match[f"y{number}"]), index, int(match[f"d{number}"]))
        if not said:
            return None
        start = date.fromisoformat(said[:10])
        found = date(start.year, index, int(match[f"d{number}"]))
        return found if found >= start - _PAST else found.replace(year=start.year + 1)
    except ValueError:
        return None
