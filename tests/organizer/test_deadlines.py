"""Deadlines in four languages: the day that passes, and dates that are none."""

from __future__ import annotations

from datetime import date

import pytest

from organizer.deadlines import deadline

SAID = "2026-03-02"  # a Monday


@pytest.mark.parametrize(("text", "day"), [
    ("The report is due by 2026-03-14.", "2026-03-14"),
    ("Send the forms by Friday.", "2026-03-06"),
    ("The deadline for the grant is March 20.", "2026-03-20"),
    ("Registration closes on 5 April 2026.", "2026-04-05"),
    ("Hand it in no later than Jan 10th.", "2027-01-10"),
    ("The certificate is valid until 2026-11-30.", "2026-11-30"),
    ("Finish it by next week.", "2026-03-15"),
    ("申請は3月14日まで。", "2026-03-14"),
    ("報告書の締切は2026年4月1日です。", "2026-04-01"),
    ("レポートは3月20日が締め切り。", "2026-03-20"),
    ("신청서는 3월 14일까지 낸다.", "2026-03-14"),
    ("마감은 2026년 4월 2일이다.", "2026-04-02"),
    ("报告要在3月14日之前交。", "2026-03-14"),
    ("截止日期是2026年3月31日。", "2026-03-31"),
    ("3月20日前完成测试。", "2026-03-20"),
])
def test_a_deadline_is_known(text, day):
    assert deadline(text, SAID) == date.fromisoformat(day)


@pytest.mark.parametrize("text", [
    "The rule was settled on 2026-02-14.", "The trip is on March 20.", "Since 2026-01-01 the port is 8443.", "3月14日に会議がある。",
    "회의는 3월 14일이다.", "3月14日开会。", "Send the forms soon.", "Due on February 31.", "It ships before long.",
    "The cookie lives 7 days until it is renewed.",
])
def test_other_dates_are_none(text):
    assert deadline(text, SAID) is None


def test_a_day_without_a_year_needs_to_know_when_it_was_said():
    assert deadline("Due by March 14.", None) is None
    assert deadline("Due by 2026-03-14.", None) == date(2026, 3, 14)
    assert deadline("Due by Feb 20.", SAID) == date(2026, 2, 20), "just passed"
