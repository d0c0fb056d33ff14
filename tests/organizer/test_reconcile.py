"""Reconcile: what replaces what, what is asked, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from memoryfs.model import Memory, SourceRange
from organizer.compare import contradiction
from organizer.dedupe import Known
from organizer.nouns import Candidate
from organizer.reconcile import decide
from organizer.statement import analyse

OLD = SourceRange("2026-05-12-aaaaaa", 10, 12)
NEW = SourceRange("2026-05-14-bbbbbb", 20, 22)


def memory(text: str, id: str = "m-000001", **more: Any) -> Memory:
    fields: dict[str, Any] = {"kind": "fact", "status": "active", "source_range": (OLD,), "date": "2026-05-12", **more}
    return Memory(id=id, summary=text, topic="projects/x.md", line=1, **fields)


def said(text: str, *, source: SourceRange = NEW, **more: Any) -> Candidate:
    fields: dict[str, Any] = {
        "kind": "fact", "topic_key": "", "quote": text, "event_index": source.start, "source": source, "role": "user",
        "stated_by": "user", "time": f"{source.thread[:10]}T10:00:00Z", **more,
    }
    return Candidate(summary=text, **fields)


def action(text: str, *memories: Memory, **more: Any) -> str:
    return decide(said(text, **more), Known(memories)).action


CONTRADICTIONS = [
    ("The cookie lives 7 days", "The cookie lives 14 days", "value"),
    ("Device A is a Synology NAS", "Device A is a QNAP NAS", "value"),
    ("The API runs on port 8080", "The API runs on port 9090", "value"),
    ("Production deploys are allowed", "Production deploys are not allowed", "negation"),
    ("Telemetry is enabled by default", "Telemetry is disabled by default", "negation"),
    ("Use npm for installs", "Use pnpm, not npm", "contrast"),
    ("Deploy with make deploy", "Deploy with make release instead of make deploy", "contrast"),
    ("Parsing lives in parse_header", "Rename parse_header to read_header", "contrast"),
    ("The orders queue runs on RabbitMQ", "We migrated the orders queue from RabbitMQ to NATS", "contrast"),
    ("ウェブアプリは npm で入れる", "ウェブアプリの npm はやめて、pnpm にして", "contrast"),
    ("웹 앱은 npm 으로 설치한다", "웹 앱에서는 npm 말고 pnpm으로 해줘", "contrast"),
    ("前端应用用 npm 安装依赖", "前端应用不用 npm 了，改成 pnpm", "contrast"),
    ("alumni.example.ed.jp も許可", "古い alumni.example.ed.jp はもう通さないで", "negation"),
    ("セッションの有効期限は7日", "セッションの有効期限は14日に変更", "value"),
    ("포트는 3000이다", "포트는 이제 4000이다", "value"),
    ("端口是3000", "端口改为4000", "value"),
    ("卒業生も機材を予約するから、alumni.example.ed.jp も許可することにする", "古い alumni.example.ed.jp はもう通さないで", "negation"),
    ("SESSION_COOKIE_MAX_AGE=604800 とする", "docs/security.md says SESSION_COOKIE_MAX_AGE=1209600", "value"),
    ("セッションの Cookie の有効期間は 7 日にして", "The session cookie lives for 14 days", "value"),
]
COMPATIBLE = [
    ("Use pytest", "Use ruff"),
    ("Device A is a Synology NAS", "Device B is a Synology NAS"),
    ("The gateway timeout is 30 minutes", "We changed the session timeout from 30 minutes to 60 minutes"),
    ("貸出の上限は5冊です", "同時予約の上限を5冊から8冊に変更しました"),
    ("장바구니 만료는 7일이다", "세션 만료를 7일에서 14일로 변경했습니다"),
    ("审计日志保留期是30天", "把普通会话的期限从30天改为90天"),
    ("The API runs on port 8080", "Metrics run on port 9090"),
    ("student.example.ed.jp is allowed", "alumni.example.ed.jp is allowed"),
    ("Timeout is 30 s for uploads", "Timeout is 30 s for downloads"),
    ("Survey A: side effects were not observed in mice", "Survey B: migration was not observed in birds"),
    ("The parser keeps comments", "The printer does not keep comments"),
    ("Rejected sign-ins are logged with reason and domain only", "Rejected sign-ins are logged with the reason, never the full address"),
    ("The tests failed because commit.gpgsign=true is set globally", "commit.gpgsign=false is set for each test repository"),
    ("Cookie は7日", "The locker code changes every 14 days"),
    ("Logs go to .entire/logs", "Settings go to .entire/settings.json"),
]


@pytest.mark.parametrize(("old", "new", "how"), CONTRADICTIONS)
def test_contradictions_are_seen(old: str, new: str, how: str) -> None:
    found = contradiction(analyse(old), analyse(new))
    assert found is not None and found.how == how


@pytest.mark.parametrize(("old", "new"), COMPATIBLE)
def test_what_can_both_hold_is_not_a_contradiction(old: str, new: str) -> None:
    assert contradiction(analyse(old), analyse(new)) is None
    assert action(new, memory(old)) == "add"


def test_org_03_the_same_source_again_is_ignored() -> None:
    assert action("The cookie lives 7 days", memory("The cookie lives 7 days", source_range=(NEW,))) == "ignore"


def test_org_03_another_source_reinforces_once() -> None:
    known = Known([memory("The cookie lives 7 days")])
    assert decide(said("The cookie lives 7 days"), known).action == "reinforce"


def test_a_source_learned_in_other_words_is_not_learned_again() -> None:
    kept = memory("Cookie lifetime: one week", source_range=(NEW,), quote="The cookie lives 7 days")
    assert action("The cookie lives 7 days", kept) == "ignore"


def test_org_05_negation_is_flagged_with_both_kept() -> None:
    decision = decide(said("Production deploys are not allowed"), Known([memory("Production deploys are allowed")]))
    assert (decision.action, decision.target_id) == ("conflict", "m-000001")


def test_org_05_narrower_negation_is_flagged_never_merged() -> None:
    assert action("Production deploys are no longer allowed on Fridays", memory("Production deploys are allowed")) == "conflict"


def test_org_06_an_explicit_later_correction_by_the_user_supersedes() -> None:
    decision = decide(said("Correction: Device A is a QNAP NAS", correction=True), Known([memory("Device A is a Synology NAS")]))
    assert (decision.action, decision.target_id) == ("supersede", "m-000001")


def test_the_assistant_saying_so_only_asks() -> None:
    old = memory("The cookie lives 7 days")
    assert action("The cookie now lives 14 days", old) == "supersede"
    assert action("The cookie now lives 14 days", old, role="assistant", stated_by="assistant") == "conflict"


def test_the_assistant_correcting_itself_in_one_session_asks_nobody() -> None:
    old = memory("The cookie lives 7 days", source_range=(SourceRange(NEW.thread, 3, 3),))
    assert action("The cookie lives 14 days", old, role="assistant", stated_by="assistant") == "add"
    assert action("The cookie lives 14 days", old) == "conflict"


def test_a_longer_sentence_with_a_not_somewhere_is_no_contradiction() -> None:
    old = memory("The `resumeFromCurrentBranch()` function only looks at the HEAD commit.")
    new = "The `resumeFromCurrentBranch` function only looks at HEAD, not at commits unique to this branch."
    assert action(new, old) == "merge"


def test_a_change_said_earlier_than_what_stands_only_asks() -> None:
    early = SourceRange("2026-05-01-cccccc", 1, 2)
    assert action("The cookie now lives 14 days", memory("The cookie lives 7 days"), source=early) == "conflict"


def test_org_10_a_persons_line_is_never_replaced() -> None:
    person = memory("The cookie lives 7 days", stated_by="person")
    assert action("The cookie now lives 14 days", person, correction=True, score=1.0) == "conflict"


def test_what_a_person_withdrew_does_not_return() -> None:
    decision = decide(said("The cookie lives 7 days"), Known(), withdrawn=lambda text, source: True)
    assert decision.action == "ignore"


def test_chain_a_b_a_makes_a_new_memory_that_replaces_b() -> None:
    a = memory("The cookie lives 7 days", status="superseded", superseded_by="m-000002")
    b = memory("The cookie lives 14 days", "m-000002", date="2026-05-13")
    decision = decide(said("The cookie lives 7 days again from now on", quote="make it 7 days again from now on"), Known([a, b]))
    assert decision.action in ("supersede", "conflict")
    assert decision.target_id == "m-000002"
    exact = decide(said("The cookie lives 7 days", quote="change it back to 7 days"), Known([a, b]))
    assert (exact.action, exact.target_id) == ("supersede", "m-000002")


def test_statements_of_two_repositories_do_not_meet() -> None:
    known = Known([memory("The API runs on port 8080")])
    decision = decide(said("The API runs on port 9090"), known, scope_of=lambda topic: "shop", scope="school")
    assert decision.action == "add"


def test_events_and_tasks_never_contradict() -> None:
    old = memory("The build took 7 minutes", kind="event")
    assert action("The build took 9 minutes", old, kind="event") == "add"


SHORT, LONG = "The lending desk hands out cameras.", "The lending desk hands out cameras and the tripods that belong to them."


@pytest.mark.parametrize(("more_of_old", "more_of_new", "expected"), [
    ({}, {}, "merge"),
    ({"stated_by": "person"}, {}, "reinforce"),
    ({"metadata": {"role": "user"}}, {"stated_by": "assistant"}, "reinforce"),
    ({"metadata": {"role": "user"}}, {}, "merge"),
    ({"stated_by": "agent"}, {"stated_by": "assistant"}, "reinforce"),
    ({"status": "conflicted"}, {}, "reinforce"),
    ({"kind": "event"}, {}, "reinforce"),
    ({}, {"gate": "inbox"}, "reinforce"),
])
def test_what_says_more_takes_the_place_of_what_weighs_no_more(more_of_old: dict[str, Any], more_of_new: dict[str, Any], expected: str) -> None:
    assert action(LONG, memory(SHORT, **more_of_old), **more_of_new) == expected
    assert action(SHORT, memory(LONG, **more_of_old), **more_of_new) == "reinforce"


def test_a_change_that_the_assistant_made_replaces_what_it_said_and_never_what_a_user_said() -> None:
    done, planned = "Renamed `parse_header` to `read_header`", "I will rename `parse_header` to `read_header`"
    before = "Parsing lives in parse_header"
    assert action(done, memory(before), stated_by="assistant") == "supersede"
    assert action(done, memory(before, metadata={"role": "user"}), stated_by="assistant") == "conflict"
    assert action(done, memory(before, stated_by="person"), stated_by="assistant") == "conflict"
    assert action(planned, memory(before), stated_by="assistant") != "supersede"
