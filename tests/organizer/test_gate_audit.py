"""organize --audit: a sample to judge, verdicts that last, the junk rate, and a gate that learns from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from organizer_kit import NOW, LineJudges, transcript

from memoryfs import ledger
from memoryfs.cli import cli
from memoryfs.config import Config
from memoryfs.errors import UsageError
from organizer import audit, gate
from organizer.judges import open_judges
from organizer.nouns import Candidate
from organizer.rules.features import features
from organizer.verdicts import verdicts

KEPT = ["The cookie lives 7 days.", "Racks stand in hall 4.", "Keys hang in room 12."]
LOST = ["Lamps are bright today.", "The weather was fine."]


class Dropping(LineJudges):
    """MAYBE lines are dropped by the gate."""

    def weigh(self, found: Any) -> list[Candidate]:
        from dataclasses import replace

        return [replace(c, gate="drop" if c.gate == "inbox" else c.gate) for c in found]


@pytest.fixture
def organized(store: Path, organize: Callable[..., Any], tmp_path: Path) -> Path:
    lines = [f"FACT: {t}" for t in KEPT] + [f"MAYBE: {t}" for t in LOST]
    organize(transcript(tmp_path / "a.jsonl", "session-a", "2026-05-12", [("user", "\n".join(lines))]), judges=Dropping())
    return store


def test_the_sample_holds_kept_and_dropped_and_nothing_twice(organized: Path) -> None:
    items = audit.sample(organized, Config(), 10)
    assert {i.text for i in items if i.kept} == set(KEPT) and {i.text for i in items if not i.kept} == set(LOST)
    assert {i.role for i in items} == {"user"}
    assert len(audit.sample(organized, Config(), 1)) == 2
    assert audit.sample(organized, Config(), 2) == audit.sample(organized, Config(), 2)
    audit.judge(organized, items[0], True, now=NOW)
    assert items[0] not in audit.sample(organized, Config(), 10)


def test_answers_are_recorded_one_by_one_and_give_the_rates(organized: Path) -> None:
    items = sorted(audit.sample(organized, Config(), 10), key=lambda i: i.text)
    answers = iter(["y", "s", "n", "y", "q"])
    done = audit.ask(items, lambda words, number, of: next(answers), lambda i, w: audit.judge(organized, i, w, now=NOW))
    assert done == 3
    given = {v.text: v.worth for v in verdicts(ledger.read(organized)[0])}
    assert given == {"Keys hang in room 12.": True, "Racks stand in hall 4.": False, "The cookie lives 7 days.": True}
    assert audit.standing(organized).to_dict() == {
        "kept": 3, "junk": 1, "junk_rate": 0.333, "dropped": 0, "missed": 0, "missed_rate": None}


def test_the_last_verdict_on_an_item_counts(organized: Path) -> None:
    item = audit.sample(organized, Config(), 1)[0]
    for worth in (True, False):
        audit.judge(organized, item, worth, now=NOW)
    assert [v.worth for v in verdicts(ledger.read(organized)[0])] == [False]


def test_the_command_lists_takes_verdicts_in_and_tells_the_rate(organized: Path) -> None:
    run = CliRunner().invoke
    listed = json.loads(run(cli, ["--store", str(organized), "--json", "organize", "--audit", "5"]).stdout)
    assert len(listed["items"]) == 5 and listed["rates"]["junk_rate"] is None
    given = "\n".join(json.dumps({"item": i["item"], "worth": i["text"] == KEPT[0] or not i["kept"]}) for i in listed["items"])
    result = run(cli, ["--store", str(organized), "organize", "--verdicts", "-"], input=given)
    assert "5 verdicts recorded" in result.output and "junk: 2 of 3 kept (67%); missed: 2 of 2 dropped (100%)" in result.output
    assert "Nothing left to judge" in run(cli, ["--store", str(organized), "organize", "--audit", "5"]).output
    wrong = run(cli, ["--store", str(organized), "organize", "--verdicts", "-"], input='{"item": "m-none", "worth": true}\n')
    assert isinstance(wrong.exception, UsageError) and "line 1" in str(wrong.exception)


def test_the_gate_of_the_next_run_has_learned_from_the_verdicts(organized: Path) -> None:
    text = "Racks stand in hall 4."
    shipped = gate.load()
    before = gate.worth(features(text, "user"), shipped)
    assert open_judges(organized, generator=None, embedder=None).gate == shipped
    for item in audit.sample(organized, Config(), 10):
        if item.kept:
            audit.judge(organized, item, False, now=NOW)
    after = open_judges(organized, generator=None, embedder=None).gate
    assert gate.worth(features(text, "user"), after) < before


def test_answers_in_the_inbox_and_judgements_teach_the_gate_but_make_no_rate(
    store: Path, organize: Callable[..., Any], tmp_path: Path
) -> None:
    organize(transcript(tmp_path / "a.jsonl", "s", "2026-05-12", [("user", f"MAYBE: {KEPT[0]}\nMAYBE: {LOST[0]}\nFACT: {KEPT[1]}")]))
    path = store / "inbox.md"
    path.write_text("".join(x for x in path.read_text().replace(f"[ ] {KEPT[0]}", f"[x] {KEPT[0]}").splitlines(True) if LOST[0] not in x))
    organize()
    id = next(e.id for e in ledger.read(store)[0] if e.action == "add" and e.text == KEPT[1])
    ledger.append(store, [ledger.Entry(NOW.isoformat(), "person", "wrong", id)])
    found = {v.text: v.worth for v in verdicts(ledger.read(store)[0])}
    assert found == {KEPT[0]: True, LOST[0]: False, KEPT[1]: False}
    assert audit.standing(store).kept == 0


def test_a_purged_statement_teaches_nothing_more(organized: Path) -> None:
    item = next(i for i in audit.sample(organized, Config(), 10) if i.text == KEPT[0])
    audit.judge(organized, item, True, now=NOW)
    ledger.purge(organized, item.item)
    assert not verdicts(ledger.read(organized)[0])
    assert KEPT[0] not in (organized / "ledger.jsonl").read_text()
