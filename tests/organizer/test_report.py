"""The report of a run: data, and a page that a person reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from organizer_kit import NOW, transcript

from memoryfs.model import Problem
from memoryfs.runs import REPORTS
from memoryfs.textfile import STATE
from organizer.page import DROPPED, page
from organizer.report import KEPT_REPORTS, Held, Item, RunReport, SessionReport

Organize_ = Callable[..., Any]
FIRST = [("user", "FACT: The cookie lives 7 days.\nFACT: Racks stand in hall 4.\nFACT: The door code is 4422.\nMAYBE: The lamp is green.")]
LATER = [("user", "FACT: The cookie now lives 14 days."), ("assistant", "FACT: The door code is 5533.")]


def pages(store: Path) -> list[Path]:
    return sorted((store / STATE / REPORTS).glob("2*.md"))


def section(text: str, title: str) -> str:
    return next((part for part in text.split("\n## ") if part.startswith(title)), "")


def test_the_page_says_what_was_learned_replaced_asked_and_left_out_and_why(
    store: Path, tmp_path: Path, organize: Organize_
) -> None:
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST))
    first = pages(store)[-1].read_text()
    assert "The cookie lives 7 days." in section(first, "Learned (3)") and "by rules" in section(first, "Learned")
    assert "The lamp is green." in section(first, "Waiting in inbox.md (1)")
    report = organize(transcript(tmp_path / "b.jsonl", "session-b", "2026-05-14", LATER), now=NOW + timedelta(hours=1))
    text = pages(store)[-1].read_text()
    replaced = section(text, "Replaced (1)")
    assert "The cookie now lives 14 days." in replaced and "before: The cookie lives 7 days." in replaced
    assert "a later change by the user" in replaced
    asked = section(text, "For you to settle (1)")
    assert "5533" in asked and "the other: The door code is 4422." in asked and "said by the assistant" in asked
    assert "time:" in text and "no generator; 0 tokens" in text and "rules" in section(text, "Who did what")
    data = json.loads(pages(store)[-1].with_suffix(".json").read_text())
    assert data == json.loads(json.dumps(report.to_dict()))
    assert {i["before"] for s in data["sessions"] for i in s["items"] if i["action"] == "supersede"} == {"The cookie lives 7 days."}


def test_reports_are_bounded_and_the_newest_stay(store: Path, tmp_path: Path, organize: Organize_) -> None:
    for number in range(KEPT_REPORTS + 3):
        turns = [("user", f"FACT: Shelf number {number} holds {number + 100} boxes.")]
        organize(transcript(tmp_path / f"{number}.jsonl", f"session-{number}", "2026-05-12", turns),
                 now=NOW + timedelta(minutes=number))
    kept = pages(store)
    assert len(kept) == KEPT_REPORTS and len(list((store / STATE / REPORTS).glob("2*.json"))) == KEPT_REPORTS
    assert kept[-1].stem == (NOW + timedelta(minutes=KEPT_REPORTS + 2)).strftime("%Y%m%d-%H%M%S")


def test_a_run_that_changes_nothing_adds_no_page(store: Path, tmp_path: Path, organize: Organize_) -> None:
    path = transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", FIRST)
    organize(path)
    organize(path, now=NOW + timedelta(hours=1))
    assert len(pages(store)) == 1 and (store / STATE / REPORTS / "last.json").exists()


def test_dropped_statements_stand_under_their_reason_with_a_bounded_number_of_examples() -> None:
    items = tuple(Item("drop", f"statement {n}", "inference: a question", source="t:1-1") for n in range(DROPPED + 5))
    text = page(RunReport(sessions=[SessionReport("t", items=(*items, Item("drop", "x", "not worth keeping")))]))
    left = section(text, f"Left out ({len(items) + 1})")
    assert f"inference: a question: {len(items)}" in left and "… and 5 more" in left and left.count("statement") == DROPPED


def test_failed_and_held_sessions_and_problems_are_named() -> None:
    text = page(RunReport(
        sessions=[SessionReport("2026-05-01-aaaaaa", status="failed", message="KeyError: 'x' (segment.py:3)")],
        held=[Held("2026-05-02-bbbbbb", 5, "ValueError: no")], problems=[Problem("notes/a.md", "cannot be read", "Mend it.")],
    ))
    assert "KeyError" in section(text, "Sessions") and "2026-05-02-bbbbbb failed 5 times" in section(text, "Not tried")
    assert "notes/a.md" in section(text, "Trouble") and "Mend it." in text


def test_text_of_a_transcript_cannot_act_on_the_page() -> None:
    evil = "a <img src=x onerror=y> ![i](http://h/p) [l](http://h) \x1b[31m \u202e\u200b\n## Learned (99)\n- ^m-000000"
    item = Item("add", evil, "new", "m-123456", "notes/a.md", "fact", source="t:1-1")
    text = page(RunReport(sessions=[SessionReport("t", evil, items=(item,), message=evil)], notices=[evil]))
    assert "<img" not in text and "](" not in text and "![" not in text and "\x1b" not in text
    assert "\u202e" not in text and "\u200b" not in text and "\n## Learned (99)" not in text
