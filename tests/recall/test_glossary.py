"""A question in a language that the store does not speak finds what it names, in words alone; one in its own is left as it is."""

import csv
from importlib.resources import files

import pytest
from index import stores

from memoryfs import index as indexes
from memoryfs.recall import glossary, recall
from memoryfs.recall.query import analyse

DAY = "2026-05-12-aaaaaa"
ENGLISH = ["The weather is fine and we go to the lake.", "The backup job failed because of the full disk, and the log is lost.",
           "The deadline of the release moved to June and the team agreed to it.", "Lunch and the meeting were late, to be honest."]
JAPANESE = ["今日は晴れました。", "バックアップの失敗はディスクがいっぱいだったためでした。", "リリースの締め切りは6月にしました。", "会議は長かったです。"]
KOREAN = ["오늘은 날씨가 좋습니다.", "백업 실패는 디스크가 가득 찼기 때문입니다.", "릴리스 마감은 6월입니다.", "회의를 하고 점심을 먹었습니다."]
CHINESE = ["今天的天气很好了。", "备份失败的原因是磁盘满了。", "发布的截止日期是六月。", "会议的时间很长了。"]


def ask(root, query):
    with indexes.open(root) as index:
        index.sync()
        return recall(index, query, now=stores.NOW, level="2")


@pytest.mark.parametrize("texts", [ENGLISH, JAPANESE, KOREAN, CHINESE])
@pytest.mark.parametrize("question", [
    "Why did the backup fail?", "バックアップが失敗した原因は?", "백업 실패 원인은 뭐였지?", "备份失败的原因是什么?",
])  # fmt: skip
def test_what_a_question_names_is_found_in_any_of_four_languages(tmp_path, texts, question):
    stores.thread(tmp_path, DAY, texts)
    answer = ask(tmp_path, question)
    assert answer.evidence[0].index == 1 and not answer.abstained


def test_a_question_in_the_stores_own_language_is_left_as_it_is(tmp_path):
    stores.thread(tmp_path, DAY, ENGLISH)
    with indexes.open(tmp_path) as index:
        index.sync()
        own, other = analyse("Why did the backup fail?"), analyse("バックアップが失敗した原因は?")
        assert glossary.widened(index, own) is own
        wider = glossary.widened(index, other)
        assert dict(other.terms).items() <= dict(wider.terms).items() and "backup" in dict(wider.terms)
        assert dict(wider.terms)["backup"] < 1


def test_an_empty_store_and_a_question_without_known_matters_change_nothing(tmp_path):
    with indexes.open(tmp_path) as index:
        index.sync()
        query = analyse("バックアップ")
        assert glossary.widened(index, query) is query
    stores.thread(tmp_path, DAY, ENGLISH)
    with indexes.open(tmp_path) as index:
        index.sync()
        query = analyse("ほにゃらら")
        assert glossary.widened(index, query) is query


def test_one_character_is_a_word_only_when_it_stands_alone():
    def terms(text, script):
        return {term for term, _ in glossary.translations(text, script, ["latin"])}

    assert "dog" in terms("개는 어디?", "hangul") and "dog" not in terms("개발은 끝났어?", "hangul")
    assert "hous" in terms("家はどこ?", "kana") and "hous" not in terms("国家とは?", "kana")


def test_the_glossary_is_whole():
    text = files("memoryfs.recall").joinpath("data/glossary.tsv").read_text(encoding="utf-8")
    rows = [row for row in csv.reader(text.splitlines(), delimiter="\t") if not row[0].startswith("#")]
    assert len(rows) > 300 and all(len(row) == 4 and all(row[:3]) for row in rows)
    assert all(row[0].isascii() and not row[1].isspace() for row in rows)
