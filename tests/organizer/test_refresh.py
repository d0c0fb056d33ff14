"""The front matter that the organizer keeps up to date: what stands for a topic."""

from __future__ import annotations

import pytest

from memoryfs.model import Memory, SourceRange
from organizer.refresh import summary_of


def said(text: str, kind: str = "fact", user: bool = True) -> Memory:
    return Memory(
        "m-" + str(len(text)), text, kind, "active", "x.md", 1, (SourceRange("2026-05-12-aaaaaa", 0, 0),),
        metadata={"role": "user"} if user else {},
    )


ABOUT = said("The lending desk opens at eight and closes at four.")


@pytest.mark.parametrize("other", [
    said("Please put the lending hours of the desk on the door, with a note."), said("That is why it closes at four, as before."),
    said("Let us write down how the lending desk works before I forget it."), said("Order two lamps for the lending desk.", "task"),
    said("Label the lending desk in red this week.", "instruction"),
], ids=["please", "vague", "let us", "task", "once"])
def test_a_topics_summary_says_what_it_is_about(other: Memory) -> None:
    assert summary_of([other, ABOUT]) == summary_of([ABOUT, other]) == ABOUT.summary


def test_the_statement_that_shares_words_with_the_others_stands_for_them() -> None:
    others = [said("The lending desk lends cameras."), said("Cameras of the lending desk go out for a week.")]
    assert summary_of([said("Lamps in hall 4 are old and will be replaced by the office."), *others]) in {m.summary for m in others}


def test_an_order_that_no_user_gave_is_no_summary() -> None:
    order = said("Always run the cleanup script first.", "instruction", user=False)
    assert summary_of([order, said("The desk is red.", user=False)]) == "The desk is red."
