"""Relative dates are resolved against the event's own time and zone."""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from organizer.dates import local_day, parse_time, relative_dates, with_dates, zone_of


def test_org_16_dates_come_from_the_events_own_zone(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):
        time.tzset()
    said, zone = "2026-03-08T06:30Z", zone_of("America/Los_Angeles")
    assert with_dates("we shipped yesterday, demo next Friday at 9", said, zone) == (
        "we shipped yesterday (2026-03-06), demo next Friday (2026-03-13) at 9"
    )
    assert os.environ["TZ"] == "UTC"
    assert with_dates("yesterday", "2026-03-07T22:30:00-08:00") == "yesterday (2026-03-06)"


def test_org_16_naive_zoned_and_date_only_times_compare():
    times = [parse_time(t) for t in ("2026-03-08", "2026-03-08T01:00", "2026-03-08T00:30Z", "2026-03-08T09:10:00.123456789+09:00")]
    assert [t.isoformat() for t in sorted(times)] == [
        "2026-03-08T00:00:00+00:00", "2026-03-08T09:10:00.123456+09:00", "2026-03-08T00:30:00+00:00", "2026-03-08T01:00:00+00:00",
    ]
    assert parse_time("not a time") is None and parse_time(None) is None


@pytest.mark.parametrize(("text", "days"), [
    ("昨日リリース、来週の金曜日にデモ。3日前", ["2026-03-06", "2026-03-13", "2026-03-04"]),
    ("어제 배포, 다음 주 금요일 데모, 3일 전", ["2026-03-06", "2026-03-13", "2026-03-04"]),
    ("昨天发布，下周五演示，3天前", ["2026-03-06", "2026-03-13", "2026-03-04"]),
    ("last week; in 2 weeks; 5 days ago; by Monday; last Friday", [
        "2026-02-23/2026-03-01", "2026-03-21", "2026-03-02", "2026-03-09", "2026-03-06"]),
    ("soon, some day, on Monday, weekly", []),
])
def test_four_languages(text, days):
    assert [m.iso for m in relative_dates(text, "2026-03-07T22:30:00+09:00")] == days


def test_unknown_time_resolves_nothing():
    assert with_dates("yesterday", None) == "yesterday"
    assert local_day("bad") is None and zone_of("No/Where") is None and zone_of(None) is None


@given(st.text(max_size=60), st.sampled_from(["", " yesterday ", " 999 weeks ago ", "来月", "in 999 weeks"]))
def test_text_stays_and_only_dates_are_added(noise, mention):
    text = noise + mention
    out = with_dates(text, "0001-01-02T00:00:00Z")
    for m in reversed(relative_dates(text, "0001-01-02T00:00:00Z")):
        assert text[m.start:m.end] == m.text
    assert len(out) >= len(text)
