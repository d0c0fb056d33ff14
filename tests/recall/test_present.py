"""What holds now ranks before what held once; questions in another script than the store's are not refused by their words."""

import pytest
from index import stores

from memoryfs import index as indexes
from memoryfs.recall import history, recall
from memoryfs.text import estimate_tokens, script_of

OLD, NEW = "2026-03-02-aaaaaa", "2026-04-02-bbbbbb"
MARCH, APRIL = "2026-03-02T10:00:00Z", "2026-04-02T10:00:00Z"


def ask(root, query, **over):
    with indexes.open(root) as index:
        index.sync()
        return recall(index, query, now=stores.NOW, level="2", **over)


@pytest.mark.parametrize(("old", "new", "question"), [
    ("Students may reserve 5 books at the same time, 5 books each.", "Students may reserve more: the limit is changed to 8 books.",
     "How many books may students reserve at the same time now?"),
    ("同時に予約できるのは一人あたり5冊までです。生徒は5冊です。", "生徒の同時予約の上限を8冊に変更しました。", "生徒はいま何冊まで同時に予約できますか？"),
    ("학생은 동시에 3개까지 예약할 수 있습니다. 학생 3개.", "학생의 동시 예약을 5개로 변경했습니다.", "지금 학생은 동시에 몇 개까지 예약할 수 있나요?"),
    ("普通日志保留30天。普通日志30天后删除。", "普通日志的保留期从30天改为90天。", "现在普通日志要保留多少天？"),
])  # fmt: skip
def test_the_present_value_comes_first(tmp_path, old, new, question):
    stores.thread(tmp_path, OLD, [{"text": old, "time": MARCH}])
    stores.thread(tmp_path, NEW, [{"text": new, "time": APRIL}])
    assert ask(tmp_path, question).evidence[0].text == new


def test_a_later_remark_without_a_change_does_not_take_the_first_place(tmp_path):
    stores.thread(tmp_path, OLD, [{"text": "Students may now reserve 5 books at the same time.", "time": MARCH}])
    stores.thread(tmp_path, NEW, [{"text": "Books at the library are heavy.", "time": APRIL}])
    assert ask(tmp_path, "How many books may students reserve now?").evidence[0].thread == OLD


def test_restating_needs_a_figure_of_the_same_unit():
    assert history.restates("the limit is raised to 8 books", "5 books at most")
    assert not history.restates("the limit is raised to 8 users", "5 books at most")
    assert not history.restates("8 books stand there", "5 books at most")


def test_words_alone_do_not_refuse_a_question_in_another_script(tmp_path):
    text = "날짜는 항상 Asia/Tokyo 시간대로 보여 주고, 서버는 그대로 둡니다."
    stores.thread(tmp_path, OLD, [text, *[f"오늘은 {n}번째 작업을 했습니다." for n in range(20)]])
    answer = ask(tmp_path, "画面に出す日付の時間帯は Asia のどの都市にすると決めましたか、教えてください")
    assert answer.evidence and not answer.abstained


@pytest.mark.parametrize(("text", "script"), [
    ("When?", "latin"), ("Où ça ?", "latin"), ("いつ変更した", "kana"), ("什么时候", "han"), ("언제 変更", "hangul"),
])  # fmt: skip
def test_script_of(text, script):
    assert script_of(text) == script


def test_tokens_are_those_of_the_evidence_and_within_the_budget(tmp_path):
    stores.thread(tmp_path, OLD, [f"The gateway of house {n} listens on port {5000 + n}. " * 30 for n in range(12)])
    stores.topic(tmp_path, "a.md", stores.fact_file(*[f"The gateway of house {n} is old, so old. " * 9 for n in range(9)]))
    answer = ask(tmp_path, "gateway house port", max_tokens=300)
    assert answer.memories and 0 < answer.tokens <= 300
    assert answer.tokens == sum(estimate_tokens(e.text) for e in answer.evidence)
