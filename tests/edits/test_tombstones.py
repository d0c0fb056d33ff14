"""What was withdrawn is known again in other words, and what merely looks like it is not."""

from __future__ import annotations

import pytest

from memoryfs.edits.tombstones import Tombstones, is_tombstoned
from memoryfs.ledger import Known
from memoryfs.model import SourceRange


def state(text: str, *, status: str = "withdrawn", sources=("3f9a21:1-4",)) -> dict[str, Known]:
    return {"m-1": Known("m-1", "projects/x.md", text, "fact", status, "organizer", sources)}


@pytest.mark.parametrize(("withdrawn", "text"), [
    ("Use pnpm, not npm.", "use `pnpm`, not npm"),
    ("Backups run at night on the old server", "The backups run at night on the old server"),
    ("Kim owns the billing service now", "Kim owns the billing services now"),
    ("メールは学校のドメインだけ許可する", "メールは学校のドメインだけを許可する"),
    ("The deploy key lives in the vault of the ops team", "the deploy key lives in the vault of the ops team, as agreed"),
])
def test_the_same_statement_in_other_words(withdrawn: str, text: str):
    assert is_tombstoned(state(withdrawn), text)
    assert is_tombstoned(state(text), withdrawn)


@pytest.mark.parametrize(("withdrawn", "text"), [
    ("Production deploys are allowed", "Production deploys are not allowed"),
    ("Production deploys are not allowed", "Production deploys are no longer allowed on Fridays"),
    ("The port is 8080", "The port is 8081"), ("Kim owns the billing service now", "Lee owns the billing service now"),
    ("deploy to prod-a from main", "deploy to prod-b from main"), ("The team uses tabs", "The team uses spaces"),
    ("メールは学校のドメインだけ許可する", "メールは学校のドメインだけ許可しない"), ("", "anything"), ("allowed", "not allowed"),
])
def test_org_05_another_statement(withdrawn: str, text: str):
    assert not is_tombstoned(state(withdrawn), text)
    assert not is_tombstoned(state(text), withdrawn)


def test_from_the_same_source_a_looser_likeness_is_enough():
    withdrawn, text = "We always use pnpm for installs", "Always use pnpm for installs in this repo"
    assert not is_tombstoned(state(withdrawn), text)
    assert is_tombstoned(state(withdrawn), text, ["3f9a21:3-9"])
    assert is_tombstoned(state(withdrawn), text, [SourceRange("2026-05-12-3f9a21", 4, 4)])
    assert not is_tombstoned(state(withdrawn), text, ["3f9a21:5-9"])
    assert not is_tombstoned(state(withdrawn), "The port is 8080", ["3f9a21:1-4"])


@pytest.mark.parametrize("status", ["active", "superseded", "archived", "conflicted"])
def test_only_what_was_withdrawn_is_a_tombstone(status: str):
    assert not is_tombstoned(state("The port is 8080", status=status), "The port is 8080")


def test_find_names_the_grave():
    assert Tombstones(state("The port is 8080.")).find("the port is 8080").id == "m-1"
