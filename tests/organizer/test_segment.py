"""segment: every event in exactly one segment, order kept, limits held."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memoryfs.model import Event
from organizer.segment import Limits, changes_topic, segment

START = datetime(2026, 5, 12, 9, 0, tzinfo=UTC)


def event(index, *, role="assistant", kind="message", text="words " * 10, minutes=None):
    when = (START + timedelta(minutes=index if minutes is None else minutes)).isoformat()
    return Event("2026-05-12-aaaaaa", index, f"{index:032x}", role, kind, when, text, "t.jsonl", index)


def words(text):
    return len(text.split())


shape = st.lists(
    st.tuples(
        st.sampled_from([("user", "message"), ("assistant", "message"), ("assistant", "tool_call"), ("tool", "tool_result"),
                         ("assistant", "file_edit")]),
        st.integers(0, 60) | st.integers(50, 700),
        st.integers(0, 45),
        st.booleans(),
    ),
    max_size=220,
)


@settings(max_examples=80, deadline=None)
@given(shape)
def test_every_event_in_exactly_one_segment_in_order_within_limits(items):
    minute, events = 0, []
    for index, ((role, kind), size, pause, topic) in enumerate(items):
        minute += pause
        text = ("Next topic: " if topic and role == "user" else "") + "w " * size
        events.append(event(index, role=role, kind=kind, text=text, minutes=minute))
    limits = Limits(tokens=600)
    segments = segment(events, limits=limits, count=words)
    covered = [i for s in segments for i in range(s.start, s.end + 1)]
    assert covered == list(range(len(events)))
    for s in segments:
        assert s.tokens == sum(words(e.text) for e in events[s.start:s.end + 1])
        assert len(s) <= limits.most
        assert s.tokens <= limits.tokens or len(s) == 1
    for a, b in pairwise(segments):
        if min(len(a), len(b)) < limits.least:
            assert len(a) + len(b) > limits.most or a.tokens + b.tokens > limits.tokens
    assert segments == segment(events, limits=limits, count=words)


def test_no_events_no_segments():
    assert segment([]) == ()


def test_limit_of_forty_events_is_cut_at_a_turn():
    events = [event(i, role="user" if i in (0, 30) else "assistant") for i in range(80)]
    assert next((s.start, s.end) for s in segment(events, count=words)) == (0, 29)


def test_call_and_result_stay_together():
    kinds = [("assistant", "tool_call"), ("tool", "tool_result")]
    events = [event(i, role=kinds[i % 2][0], kind=kinds[i % 2][1]) for i in range(121)]
    for s in segment(events, count=words)[:-1]:
        assert events[s.end].kind == "tool_result"


def test_long_pause_and_topic_change_are_boundaries():
    events = [event(i, role="user" if i % 2 == 0 else "assistant", minutes=i + (90 if i >= 12 else 0)) for i in range(24)]
    assert [(s.start, s.end) for s in segment(events, count=words)] == [(0, 11), (12, 23)]
    events = [event(i, role="user" if i % 2 == 0 else "assistant", text="ところで、別の話です" if i == 14 else "続き") for i in range(28)]
    assert [(s.start, s.end) for s in segment(events)] == [(0, 13), (14, 27)]


def test_fragment_joins_its_neighbour():
    events = [event(i, role="user", minutes=i + (90 if i >= 20 else 0)) for i in range(24)]
    assert [(s.start, s.end) for s in segment(events, count=words)] == [(0, 23)]


def test_org_11_huge_event_is_alone_and_whole():
    events = [event(0), event(1, role="tool", kind="tool_result", text="x " * 50_000), event(2)]
    segments = segment(events, count=words)
    assert [(s.start, s.end) for s in segments] == [(0, 0), (1, 1), (2, 2)]


def test_a_model_may_choose_the_cut_but_only_among_the_places():
    events = [event(i) for i in range(50)]
    assert segment(events, count=words, choose=lambda e, places: places[0])[0].end == 19
    wild = segment(events, count=words, choose=lambda e, places: 10_000)
    assert wild == segment(events, count=words)


def test_topic_change_cues():
    for text in ("OK, let's move on to billing", "Next topic: deploy", "ところで、ポートの件", "그런데 다른 얘기", "另外,数据库"):
        assert changes_topic(text), text
    for text in ("let's fix this", "what is next?", "これを直して", "고쳐 주세요", "请修改"):
        assert not changes_topic(text), text
