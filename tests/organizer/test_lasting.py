"""What lasts beyond its session and what does not, in lines of our own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoryfs.exact import exact_values
from memoryfs.model import Event, SourceRange, event_id
from organizer.lasting import Session, passing, said_more_fully, session_of
from organizer.nouns import Candidate
from organizer.rules.candidates import kind_of
from organizer.rules.cues import cues, language_of

THREAD = "2026-05-12-abcdef"
LATER = Session(last_edit=99)  # a session that goes on to edit files


def said(text: str, role: str = "assistant", kind: str = "", at: int = 0) -> Candidate:
    shown = cues(text)
    return Candidate(
        kind=kind or kind_of(text, role, shown), summary=text, topic_key="", quote=text, event_index=at, source=SourceRange(THREAD, at, at), role=role,
        stated_by=role, values=tuple(exact_values(text)), why=tuple(sorted(shown)), language=language_of(text), gate="keep",
    )


def event(index: int, role: str, text: str, kind: str = "message") -> Event:
    return Event(THREAD, index, event_id(THREAD, role, text), role, kind, None, text, "a.jsonl", index, {})


@pytest.mark.parametrize(("role", "text"), [
    ("user", "It should also look at the last one of them"),
    ("user", "(if we do that, the loan form needs another field)"),
    ("user", "These fields need to be on one page but not on both."),
    ("user", "それも直しておいてほしい"),
    ("assistant", "I fixed that and added a check."),
    ("assistant", "Here is a list of all events that the desk can raise."),
    ("assistant", "In `[REDACTED:password]` the value is compared twice."),
])
def test_a_sentence_that_names_nothing_does_not_last(role: str, text: str) -> None:
    assert passing(said(text, role), Session())


@pytest.mark.parametrize("text", [
    "Can you now check all the places that still call the old form?",
    "Read docs/loans.md and plan the next sprint",
    "Then update the README and commit",
    "First, let's add a tab for the returns",
    "Let's have \"Find a book\" as \"Search the shelf\"",
    "The table on line 28 is too wide",
    "Now implement your suggestions",
    "You are a senior librarian with ten years of experience.",
    "ログを確認してください",
    "이 문서 정리해 주세요",
    "检查一下这个配置",
    "(home / \"loans\").mkdir(parents=True, exist_ok=True) (home / \"returns\").mkdir(exist_ok=True)",
    "3.2 Before Return Runs before a copy is taken back.",
])
def test_what_a_user_asked_for_once_does_not_last(text: str) -> None:
    assert passing(said(text, "user", "instruction"), Session())


@pytest.mark.parametrize("text", [
    "Always check the late fee before you push.",
    "Check the late fee after each return",
    "The loan form must always name the class.",
    "Use pnpm instead of npm in the loan desk",
    "We keep one row per copy, not one per title, in the stock list.",
    "Lend requests carry the class number.",
    "I'd like to support the Kobo reader as well.",
    "貸出票には必ず学年を入れてください",
    "Then let's use PostgreSQL for the stock list",
    "Now make the cookie live 14 days",
    "This is the repository for the loan desk of the school.",
    "오류 코드는 409로 통일하고, 응답 본문은 {\"error\": \"LOAN_OVERLAP\"} 형식으로 해 주세요.",
])
def test_rules_and_requirements_of_a_user_last(text: str) -> None:
    assert not passing(said(text, "user"), LATER)


@pytest.mark.parametrize("text", [
    "Right now the importer skips rows without a class.",
    "The docs don't explain how a copy gets its number.",
    "Missing clarity on the return date: nothing says who sets it.",
])
def test_a_fault_lasts_only_while_the_session_did_not_mend_it(text: str) -> None:
    assert passing(said(text), LATER)
    assert not passing(said(text), Session())


def test_a_corrected_figure_lasts() -> None:
    text = "No, it is 14 days, not 7 days"
    assert not passing(replace(said(text, "user", "fact"), correction=True), LATER)
    assert passing(said("It is about 14 days", "user", "fact"), LATER)


def test_a_cause_lasts_though_it_was_mended() -> None:
    assert not passing(said("The import fails because the CSV has a byte-order mark before `class`."), LATER)


@pytest.mark.parametrize("text", [
    "I'm replacing the loan table now.",
    "I've read all reports and will draft the summary.",
    "If helpful, I can add a flag `--dry-run` to the importer.",
    "The failure is probably the clock of the runner.",
    "The test should open the form directly.",
    "Removed the redundant check in `loan()` (2 more places)",
    "Moved the returns row to the top of the table.",
    "`pytest -q tests/loans.py && git status`",
    "You're absolutely right, we should follow the simpler plan with `one_table`.",
])
def test_the_assistant_at_work_does_not_last(text: str) -> None:
    assert passing(said(text), Session())


@pytest.mark.parametrize("text", [
    "Added `--force` to skip the question when a loan is overdue.",
    "Changed the cookie lifetime.",
    "The importer reads `loans.csv` with a semicolon.",
    "Loans older than 90 days are archived by `nightly.sh`.",
    "ポートは `8443` です",
])
def test_what_an_assistant_found_and_made_lasts(text: str) -> None:
    assert not passing(said(text), LATER)


def test_what_a_session_replaces_or_does_later_does_not_last() -> None:
    events = [
        event(0, "assistant", "`readLoans` opens the file."), event(1, "assistant", "Renamed `readLoans` to `loadLoans`."),
        event(2, "user", "We also need a page with all overdue loans."), event(3, "assistant", "Added a page with all overdue loans."),
    ]
    session = session_of(events)
    assert passing(said("`readLoans` opens the file.", at=0), session) == "replaced in event 1 of its session"
    assert not passing(said("`readLoans` opens the file.", at=2), session)
    assert passing(said("We also need a page with all overdue loans.", "user", "task", at=2), session) == "done in event 3 of its session"


def test_only_long_explanations_in_a_mere_talk_are_general_knowledge() -> None:
    essay = "A queue is a list that gives back first what came in first. " * 12
    talk = session_of([event(0, "user", "What is a queue?"), event(1, "assistant", essay), event(2, "assistant", "The desk uses port 8443.")])
    assert passing(said("A queue is a list that gives back first what came in first.", at=1), talk)
    assert not passing(said("The desk uses port 8443.", at=2), talk)
    assert not passing(said("A queue is a list that gives back first what came in first.", at=1), Session(worked=True, said=talk.said))


FULL = "`readLoans` only looks at the first shelf, but after a move the newest loans stand on the second shelf."


@pytest.mark.parametrize(("short", "dropped"), [
    ("`readLoans` only looks at the first shelf.", True),
    ("`readReturns` only looks at the first shelf.", False),
    ("`readLoans` looks at the first 3 shelves only.", False),
    ("`readLoans` never looks at the first shelf.", False),
    ("`readLoans` writes a log line for every copy that is overdue.", False),
])
def test_what_a_session_says_again_more_fully_is_kept_once(short: str, dropped: bool) -> None:
    assert said_more_fully([said(short), said(FULL, at=4)]) == ({0: 1} if dropped else {})
    assert said_more_fully([said(FULL), said(short, at=4)]) == ({1: 0} if dropped else {})
    assert not said_more_fully([said(short, "user"), said(FULL, at=4)])
