"""The order of places: no thread fills the list, and what counts with and without vectors."""

from __future__ import annotations

from memoryfs.recall import fuse
from memoryfs.recall.events import Candidate
from memoryfs.recall.query import analyse


def test_the_last_places_go_to_threads_that_have_none_yet():
    events = [(3.0 - n / 100, 1) for n in range(12)] + [(2.5, 2), (2.45, 3), (0.5, 4)]
    chosen = [events[place][1] for place in fuse.spread(events, 10)]
    assert chosen == [1] * 7 + [2, 3, 1] and 4 not in chosen  # nearly as good is enough, anything is not


def test_the_best_places_do_not_change_for_other_threads():
    events = [(3.0 - n / 100, 1) for n in range(6)] + [(2.8, 2)]
    assert fuse.spread(events, 5) == [0, 1, 2, 3, 4]


def test_questions_across_sessions_take_one_place_of_each_first():
    events = [(3.0, 1), (2.9, 1), (2.8, 1), (2.5, 2), (2.45, 3)]
    assert fuse.spread(events, 3, across=True) == [0, 3, 4]


def test_tool_output_counts_less_only_where_words_alone_decide():
    query = analyse("the port")
    tool = Candidate(1, unit=1.0, message=False, role=2)
    (by_words,) = fuse.rank([tool], query, dense=False)
    assert by_words.score == fuse.WEIGHTS["unit"] * fuse.TOOL and "tool" in fuse.parts(tool, query, dense=False)
    (with_vectors,) = fuse.rank([tool], query, dense=True)
    assert with_vectors.score == fuse.WEIGHTS["unit"] and "tool" not in fuse.parts(tool, query, dense=True)
