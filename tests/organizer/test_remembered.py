"""What an agent remembers is there at once and checked by the next run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from organizer_kit import NOW, contents, snapshot

from memoryfs import MemoryStore, ledger
from memoryfs.errors import EXIT_REVIEW
from organizer import journal


@pytest.fixture
def opened(store) -> MemoryStore:
    return MemoryStore.init(store, clock=lambda: NOW)


def say(opened: MemoryStore, text: str, **more) -> str:
    return opened.remember(text, actor="agent", **more).id


def status(opened: MemoryStore) -> dict[str, str]:
    return {m.id: m.status for m in opened.list()}


def test_readable_at_once_and_checked_once(opened, organize):
    id = say(opened, "The staging host is stage-3.example.net.", topic="infrastructure/hosts")
    assert opened.recall("staging host", vectors=False).memories[0].memory.id == id
    assert organize().notices == ["remembered by agents: 1 checked"]
    before = snapshot(opened.root)
    assert organize().notices == [] and snapshot(opened.root) == before
    assert status(opened) == {id: "active"}


def test_the_same_in_other_words_is_joined_to_the_older(opened, organize, tmp_path):
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "The gateway service listens on port 7443.", "time": "2026-05-01T09:00:00Z"}))
    thread = opened.import_transcripts([talk]).outcomes[0].thread
    old = opened.remember("The gateway service listens on port 7443.", topic="projects/gateway").id
    new = say(opened, "The gateway service is listening on port 7443", topic="notes/other", source=f"{thread}:0")
    report = organize()
    assert status(opened) == {old: "active", new: "superseded"}
    kept = next(m for m in opened.list() if m.id == old)
    assert [r.thread for r in kept.source_range] == [thread] and kept.stated_by == "person"
    assert f"superseded by [[projects/gateway#^{old}]]" in contents(opened.root)["notes/other.md"]
    assert report.notices == ["remembered by agents: 1 checked (1 known before)"]
    state = ledger.state(ledger.read(opened.root)[0])
    assert state[new].status == "superseded" and state[new].superseded_by == old
    assert not [c for c in organize().adopted if c["id"] in (old, new)]


def test_of_two_by_agents_the_older_stays(opened, organize):
    one = say(opened, "The gateway service listens on port 7443.", topic="projects/gateway")
    two = say(opened, "The gateway service is listening on port 7443.", topic="notes/other")
    organize()
    assert status(opened) == {one: "active", two: "superseded"}


def test_a_contradiction_is_asked_about(opened, organize):
    old = opened.remember("The gateway service listens on port 7443.", topic="projects/gateway").id
    new = say(opened, "The gateway service listens on port 8443.", topic="projects/gateway")
    report = organize()
    assert status(opened) == {old: "conflicted", new: "conflicted"}
    (review,) = [r for t in opened.topics().values() for r in t.reviews]
    assert set(review.memory_ids) == {old, new} and "1 to review" in report.notices[0]
    assert report.exit_code == EXIT_REVIEW and {r["action"] for r in report.remembered} == {"conflict"}
    opened.resolve(review.id, "accept")
    organize()
    assert status(opened) == {old: "superseded", new: "active"}


def test_a_value_that_the_source_does_not_hold_is_reported(opened, organize, tmp_path):
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "The gateway listens on port 7443.", "time": "2026-05-01T09:00:00Z"}))
    thread = opened.import_transcripts([talk]).outcomes[0].thread
    wrong = say(opened, "The gateway listens on port 7444.", source=f"{thread}:0")
    say(opened, "The gateway listens on port 7443.", source=f"{thread}:0", topic="x")
    told = [p for p in organize().problems if wrong in p.message]
    assert len(told) == 1 and "7444" in told[0].message and told[0].severity == "warning"


def test_what_a_person_wrote_or_forgot_is_not_checked(opened, organize):
    opened.remember("The gateway service listens on port 7443.", topic="a")
    opened.remember("The gateway service is listening on port 7443.", topic="b")
    opened.forget(say(opened, "Something else.", topic="c"), actor="agent")
    assert organize().notices == [] and set(status(opened).values()) == {"active"}


def test_a_kill_before_the_last_line_is_completed(opened, organize, monkeypatch):
    old = opened.remember("The gateway service listens on port 7443.", topic="projects/gateway").id
    new = say(opened, "The gateway service is listening on port 7443", topic="notes/other")
    with monkeypatch.context() as patch:
        patch.setattr("organizer.pipeline.write", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            organize()
    assert journal.path_of(Path(opened.root)).exists()
    organize()
    assert status(opened) == {old: "active", new: "superseded"}
    assert [e.action for e in ledger.read(opened.root)[0] if e.id == new] == ["add", "supersede"]
