"""Recall end to end: evidence, budgets, levels, time, history, abstention, dedupe."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from index.stores import NOW, fact_file, thread, topic

from memoryfs import index
from memoryfs.errors import UsageError
from memoryfs.model import Event
from memoryfs.recall import decide, dedupe, extract, recall, time
from memoryfs.recall.query import analyse
from memoryfs.text import estimate_tokens
from memoryfs.thread import read_events

T1, T2, T3 = "2026-05-12-aaaaaa", "2026-05-14-bbbbbb", "2026-06-01-cccccc"
FILLER = ["The weather is fine.", "Lunch was late.", "Let us go on.", "Tests are green.", "See you tomorrow."]


def ask(root, query, **over):
    over.setdefault("now", NOW)
    with index.open(root) as opened:
        opened.sync(now=NOW)
        return recall(opened, query, **over)


@pytest.fixture
def store(tmp_path):
    thread(tmp_path, T1, [
        *FILLER, "alumni.example.ed.jp is allowed too.",
        {"text": "validateEmail = re.compile(r'^[^@]+@(teacher|student)\\.example\\.ed\\.jp$')", "role": "assistant"},
        {"text": "x" * 900 + "\n" + "\n".join(f"line {n} of the build log" for n in range(400))
         + "\nERROR: AUTH_ALLOWED_DOMAINS is missing alumni\n" + "\n".join(f"more {n}" for n in range(400)),
         "role": "tool", "kind": "tool_result"},
    ])  # fmt: skip
    thread(tmp_path, T2, [*FILLER, "From today alumni.example.ed.jp is not allowed any more."])
    topic(tmp_path, "projects/school-auth.md", f"""---
title: School auth
tags: [auth]
summary: Email policy and allowed domains
retrieve_when: asked about email domains
source_range:
  - {{thread: {T1}, start: 0, end: 7}}
  - {{thread: {T2}, start: 0, end: 5}}
---
# School auth

## Facts
- alumni.example.ed.jp is not allowed. [^bbbbbb:5] ^m-7c01d2

## History
- ~~alumni.example.ed.jp is allowed too.~~ superseded by [[#^m-7c01d2]] on 2026-05-14 [^aaaaaa:5] ^m-02ddee

[^bbbbbb:5]: 2026-05-14; "From today alumni.example.ed.jp is not allowed any more."
[^aaaaaa:5]: 2026-05-12; "alumni.example.ed.jp is allowed too."
""")
    return tmp_path


@pytest.mark.parametrize("query", ["validateEmail regex", "AUTH_ALLOWED_DOMAINS error", "alumni allowed?", "weather", "build log line 3"])
@pytest.mark.parametrize("max_tokens", [20, 100, 1500])
def test_evidence_is_verbatim_and_within_its_bounds(store, query, max_tokens):
    answer = ask(store, query, level="2", k=4, max_tokens=max_tokens)
    assert sum(estimate_tokens(e.text) for e in answer.evidence) <= max_tokens
    assert len({(e.thread, e.index) for e in answer.evidence}) <= 4
    for piece in answer.evidence:
        event = read_events(store, piece.thread, piece.index, piece.index)[0]
        assert piece.text == event.text[piece.start : piece.end]
        assert piece.event_id == event.id and piece.source == event.source and piece.line == event.line
        assert piece.why
    json.dumps(answer.to_dict())


def test_the_exact_value_is_in_the_span(store):
    answer = ask(store, "What regular expression does validateEmail compile?")
    assert answer.decision == decide.EXACT and answer.level == 2
    assert r"^[^@]+@(teacher|student)\.example\.ed\.jp$" in answer.evidence[0].text
    found = ask(store, "Which error names AUTH_ALLOWED_DOMAINS?").evidence[0]
    assert "ERROR: AUTH_ALLOWED_DOMAINS is missing alumni" in found.text
    assert estimate_tokens(found.text) < 600


def test_org_06_the_correction_comes_first_and_the_old_value_is_marked(store):
    answer = ask(store, "is alumni.example.ed.jp allowed?", level="2")
    assert [m.memory.id for m in answer.memories] == ["m-7c01d2"]
    marked = {(e.thread, e.index): e.superseded_by for e in answer.evidence}
    assert marked[T1, 5] == "m-7c01d2" and marked[T2, 5] is None
    order = list(marked)
    assert order.index((T2, 5)) < order.index((T1, 5))
    history = ask(store, "is alumni.example.ed.jp allowed?", status=("superseded",))
    assert [m.memory.id for m in history.memories] == ["m-02ddee"]
    both = ask(store, "is alumni.example.ed.jp allowed?", status=())
    assert [m.memory.id for m in both.memories] == ["m-7c01d2", "m-02ddee"]


def test_levels(store):
    brief = ask(store, "Give me an overview of the school auth email domains")
    assert (brief.decision, brief.level, brief.evidence) == (decide.SUMMARY, 0, ())
    assert brief.memories[0].memory.id == "m-7c01d2"
    assert ask(store, "Give me an overview of the school auth email domains", level="2").evidence
    short = ask(store, "build log line 3", level="1")
    assert short.evidence and short.tokens < ask(store, "build log line 3", level="2").tokens
    with pytest.raises(UsageError):
        ask(store, "x", level="4")


def test_a_store_without_memories_goes_to_the_source(tmp_path):
    thread(tmp_path, T1, [*FILLER, "The gateway listens on port 7443"])
    answer = ask(tmp_path, "gateway port")
    assert answer.level == 2 and answer.evidence[0].text == "The gateway listens on port 7443"


def test_memories_lead_to_events_that_share_no_word_with_the_question(tmp_path):
    thread(tmp_path, T1, [*FILLER, "Wir nehmen ab jetzt den blauen Knopf.", *FILLER])
    topic(tmp_path, "decisions/ui.md", f"""---
title: UI
source_range:
  - {{thread: {T1}, start: 5, end: 5}}
---
# UI

## Facts
- The submit control is blue. [^aaaaaa:5] ^m-000001

[^aaaaaa:5]: 2026-05-12; "Wir nehmen ab jetzt den blauen Knopf."
""")
    answer = ask(tmp_path, "Which colour has the submit control?", level="2")
    assert answer.evidence[0].index == 5
    assert answer.evidence[0].why["memory"] > 0


def test_identifiers_of_the_first_hop_open_a_second(tmp_path):
    thread(tmp_path, T1, [*FILLER, "The nightly export broke because of EXPORT_BUCKET_NAME."])
    thread(tmp_path, T2, [*FILLER, "Fixed: EXPORT_BUCKET_NAME=acme-prod-7 in deploy.env", *FILLER])
    answer = ask(tmp_path, "What broke the nightly export?", level="2")
    assert (answer.evidence[0].thread, answer.evidence[0].index) == (T1, 5)
    assert "EXPORT_BUCKET_NAME=acme-prod-7" in " ".join(e.text for e in answer.evidence)


def test_as_of_hides_what_came_later(store):
    answer = ask(store, "is alumni.example.ed.jp allowed?", level="2", as_of="2026-05-12")
    assert {e.thread for e in answer.evidence} == set()  # events of the fixture carry a later time of their own
    thread(store, T3, [{"text": "alumni policy draft", "time": "2026-01-02T00:00:00Z"}])
    answer = ask(store, "alumni policy", level="2", as_of="2026-05-12")
    assert [e.thread for e in answer.evidence] == [T3]
    with pytest.raises(UsageError):
        ask(store, "alumni", as_of="soon")


def test_parts_and_redacted_places_are_not_crossed(tmp_path):
    text = "cp alpha.txt betaword\nsecond part gammaword"
    cut = text.index("second")
    thread(tmp_path, T1, [
        *FILLER, {"text": text, "kind": "tool_call", "role": "assistant", "metadata": {"parts": [[0, cut], [cut, len(text)]]}},
        "token [REDACTED:aws] and the deltaword behind it",
    ])  # fmt: skip
    pieces = [e for e in ask(tmp_path, "betaword gammaword", level="2").evidence if e.index == 5]
    assert pieces and all(not piece.start < cut < piece.end for piece in pieces)
    for piece in ask(tmp_path, "deltaword token", level="2").evidence:
        assert "REDACTED" not in piece.text


def test_equal_texts_count_once(tmp_path):
    same = "The gateway of the resumed session listens on port 7443 at night."
    thread(tmp_path, T1, [same])
    thread(tmp_path, "2026-05-12-aaaaaa~2", [same])
    assert len(ask(tmp_path, "gateway port", level="2").evidence) == 1


def test_one_long_session_does_not_fill_the_list(tmp_path):
    thread(tmp_path, T1, [f"the gateway port again, number {n}" for n in range(60)])
    thread(tmp_path, T2, [*FILLER, "a word on the gateway port in another session"])
    answer = ask(tmp_path, "gateway port", level="2", k=10)
    assert T2 in {e.thread for e in answer.evidence}


@pytest.mark.parametrize(
    "query", ["What is the airspeed velocity of an unladen swallow?", "ズボンの色は何ですか", "Which PostgreSQL version is used?"]
)
def test_it_says_so_when_nothing_answers(store, query):
    answer = ask(store, query, level="2")
    assert answer.abstained and answer.notices


def test_someone_else_said_it(tmp_path):
    def said(who, text):
        return {"text": text, "metadata": {"name": who}}

    talk = [said("Bea", f"I have a story number {n} to tell you about my long and busy week at work.") for n in range(12)]
    thread(tmp_path, T1, [
        *[said("Ana", f"My day {n} was quiet, I slept and had some tea in the garden with the cat.") for n in range(12)],
        *talk, said("Bea", "I ran a charity race for mental health on Sunday!"), *talk,
    ])  # fmt: skip
    assert ask(tmp_path, "When did Ana run the charity race?", level="2").abstained
    assert not ask(tmp_path, "When did Bea run the charity race?", level="2").abstained


def test_a_question_that_counts_gets_many_sessions(tmp_path):
    for day in range(1, 9):
        thread(tmp_path, f"2026-05-{day:02d}-aaaaaa", [f"I saw doctor number {n}{day}" for n in range(12 if day == 1 else 1)])
    answer = ask(tmp_path, "How many doctors did I see?", level="2", k=8)
    assert len({e.thread for e in answer.evidence}) >= 6


# -- the steps alone -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the exact regex?", decide.EXACT), ("Which port?", decide.EXACT), ("How many retries?", decide.EXACT),
        ("正規表現を教えて", decide.EXACT), ("ポートは何番？", decide.EXACT), ("정규식이 뭐였지?", decide.EXACT), ("포트 번호는?", decide.EXACT),
        ("端口是多少", decide.EXACT), ("Summarise the auth project", decide.SUMMARY), ("Give me an overview", decide.SUMMARY),
        ("プロジェクトの概要", decide.SUMMARY), ("프로젝트 요약", decide.SUMMARY), ("项目总结", decide.SUMMARY),
        ("why did it fail", decide.AMBIGUOUS), ("validateEmail", decide.EXACT),
        ("an overview of the exact ports", decide.EXACT),
    ],
)
def test_decide(text, expected):
    assert decide.decide(analyse(text)) == expected


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yesterday", "2026-11-28", "2026-11-28"), ("昨日", "2026-11-28", "2026-11-28"), ("어제", "2026-11-28", "2026-11-28"),
        ("昨天", "2026-11-28", "2026-11-28"), ("last week", "2026-11-16", "2026-11-22"), ("先週", "2026-11-16", "2026-11-22"),
        ("지난주", "2026-11-16", "2026-11-22"), ("上周", "2026-11-16", "2026-11-22"), ("in March", "2026-03-01", "2026-03-31"),
        ("in December", "2025-12-01", "2025-12-31"), ("3 days ago", "2026-11-26", "2026-11-26"), ("3日前", "2026-11-26", "2026-11-26"),
        ("2026-05-12", "2026-05-12", "2026-05-12"), ("on 7 May 2023", "2023-05-07", "2023-05-07"), ("May 7th", "2026-05-07", "2026-05-07"),
        ("3月5日", "2026-03-05", "2026-03-05"), ("in 2024", "2024-01-01", "2024-12-31"), ("two weeks ago", "2026-11-09", "2026-11-15"),
        ("last Monday", "2026-11-23", "2026-11-23"), ("last month", "2026-10-01", "2026-10-31"),
    ],
)
def test_time(text, first, last):
    (start, end), *others = time.spans(f"what did we do {text}", NOW)
    assert not others
    assert datetime.fromtimestamp(start, UTC).date().isoformat() == first
    assert datetime.fromtimestamp(end - 1, UTC).date().isoformat() == last
    assert time.nearness(start, [(start, end)]) == 1.0 > time.nearness(end + 3600, [(start, end)]) > 0


@given(st.text(max_size=60))
def test_time_takes_any_text(text):
    assert isinstance(time.spans(text, NOW), list)


def test_last_week_is_preferred(tmp_path):
    for day in (2, 18, 25):
        thread(tmp_path, f"2026-11-{day:02d}-aaaaaa", [{"text": "we talked about the gateway", "time": f"2026-11-{day:02d}T09:00:00Z"}])
    assert ask(tmp_path, "the gateway talk last week", level="2").evidence[0].thread == "2026-11-18-aaaaaa"


@settings(max_examples=60)
@example("1111\n\n1", 1, False)
@given(st.text(alphabet="ab cd.\n設定é1_`/-", max_size=3000), st.integers(1, 400), st.booleans())
def test_spans_hold_their_bounds(text, room, exact):
    event = Event(T1, 0, "i", "user", "message", None, text, "s", 0)
    spans = extract.best_spans(extract.Wanted(event, ((0, len(text)),), 1.0), {"ab": 1.0, "cd": 2.0}, room, exact=exact)
    assert all(0 <= a < b <= len(text) and text[a:b].strip() == text[a:b] for a, b in spans)
    assert sum(estimate_tokens(text[a:b]) for a, b in spans) <= room


def test_dedupe(store):
    with index.open(store) as opened:
        opened.sync(now=NOW)
        assert dedupe(opened, "Alumni.example.ed.jp is NOT allowed")["verdict"] == "exact"
        assert dedupe(opened, "alumni.example.ed.jp is not allowed, says the head")["verdict"] == "possible"
        assert dedupe(opened, "The cookie lives 14 days")["verdict"] == "new"
        assert dedupe(opened, "...")["verdict"] == "unknown"
        match = dedupe(opened, "alumni.example.ed.jp is not allowed")["matches"][0]
        assert match["id"] == "m-7c01d2" and match["topic"] == "projects/school-auth.md"


def test_mcp_08_every_hit_has_an_id(store):
    topic(store, "notes/prose.md", "# Prose\n\nA person wrote about walruses here.\n")
    answer = ask(store, "walruses alumni", level="2")
    assert all(m.memory.id and m.memory.topic for m in answer.memories)
    assert all(e.thread and e.event_id for e in answer.evidence)


def test_con_fact_file_helper_is_read(tmp_path):
    topic(tmp_path, "projects/a.md", fact_file("The newt is shy.", title="Newts"))
    assert ask(tmp_path, "newt").memories[0].memory.id == "m-000001"


def test_what_was_said_on_the_day_asked_about_is_found_without_its_words(tmp_path):
    day = "2026-11-24T10:00:00Z"  # five days before NOW
    thread(tmp_path, "2026-11-24-cccccc", [{"text": "I joined the #PlankChallenge and posted a video.", "time": day}])
    thread(tmp_path, "2026-10-01-dddddd", [{"text": "What social media activity is best?", "time": "2026-10-01T10:00:00Z"}])
    thread(tmp_path, "2026-10-02-eeeeee", [{"text": f"An activity of club {n}.", "time": "2026-10-02T10:00:00Z"} for n in range(20)])
    answer = ask(tmp_path, "What was the social media activity I took part in 5 days ago?", level="2", k=6)
    assert "2026-11-24-cccccc" in [e.thread for e in answer.evidence]
