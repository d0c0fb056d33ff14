"""Which kind of exact value a question asks for, in four languages, and that a place that holds one ranks first."""

from datetime import UTC, datetime

import pytest
from index import stores

from memoryfs import index as indexes
from memoryfs.recall import kinds, recall

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(("question", "kind"), [
    ("What is the regular expression for sign-in addresses?", "regex"), ("サインインの正規表現は?", "regex"),
    ("주소를 검사하는 정규식이 뭐였지?", "regex"), ("登录地址的正则是什么", "regex"),
    ("Which port does the database listen on?", "port"), ("ポート番号はいくつ", "port"), ("포트가 몇 번이지?", "port"),
    ("数据库的端口是多少", "port"), ("Which command deploys to staging?", "command"), ("백업 명령어가 뭐였지?", "command"),
    ("Which environment variable turns it off?", "env"), ("どのファイルに書いた?", "path"),
    ("Which version constraint was put on it?", "version"), ("What is the URL of staging?", "url"),
    ("Which query lists idle connections?", "sql"), ("Which commit fixed it?", "hash"),
])  # fmt: skip
def test_kind_that_is_asked_for(question, kind):
    assert kind in kinds.asked(question)


@pytest.mark.parametrize("question", [
    "Why did we stop?", "Lint rejected the first version of the check, why?",
    "support for exporting reports",
])  # fmt: skip
def test_no_kind_where_none_is_asked_for(question):
    assert not kinds.asked(question)


def test_the_value_itself_ranks_before_talk_about_it(tmp_path):
    talk = [{"text": f"The regular expression for sign-in addresses needs care, point {n}."} for n in range(6)]
    stores.thread(tmp_path, "2026-05-14-0561dc", [
        *talk, {"text": "Done, addresses are matched by `^[a-z.]+@(?:teacher|student)\\.example\\.jp$` now.", "role": "assistant"},
    ])
    with indexes.open(tmp_path) as index:
        index.sync()
        found = recall(index, "What is the regular expression for sign-in addresses?", now=NOW)
    assert "(?:teacher|student)" in found.evidence[0].text


def test_values_are_places_in_the_whole_text():
    text = "port 5433 here, and later port 5390"
    assert [text[a:b] for a, b in kinds.values(text, frozenset({"port"}), 10)] == ["5390"]


@pytest.mark.parametrize(("question", "name"), [
    ("How many days do we keep the logs?", "period"), ("ログは何日間残しますか?", "period"), ("로그는 며칠 보관해?", "period"), ("日志保留多少天?", "period"),
    ("What percentage of coverage does CI insist on?", "percentage"), ("カバレッジは何パーセント必要?", "percentage"),
    ("How much does the hosting cost?", "price"), ("利用料金はいくらですか", "price"), ("서버 비용은 얼마였지?", "price"), ("云服务费用是多少?", "price"),
    ("What is the phone number of the vet?", "phone number"), ("動物病院の電話番号は?", "phone number"), ("What colour is the logo?", "colour"),
    ("How many days passed between the audit and the release?", ""), ("How long had she been ill?", ""), ("两次之间过了多少天?", ""),
    ("After how many weeks did she call again?", ""),
    ("What percentage of the budget is the rent?", ""), ("Why did the import fail?", ""), ("手机号怎么脱敏?", ""),
])  # fmt: skip
def test_the_class_of_amounts_asked_for(question, name):
    assert (kinds.amount(question) or ("",))[0] == name


@pytest.mark.parametrize(("name", "text"), [
    ("How long are logs kept?", "they go after two weeks"), ("ログは何日間残しますか?", "30日で消す"), ("What percentage is free?", "about 12 %"),
    ("How much does it cost?", "it is €40 a month"), ("비용은 얼마였지?", "월 3만 원"), ("What is the phone number?", "call +49 (0) 62 32 / 14 23 - 0"),
    ("What colour is it?", "a teal one"), ("何色ですか", "青い屋根"),
])  # fmt: skip
def test_how_a_text_holds_them(name, text):
    assert kinds.amount(name)[1].search(text) and not kinds.amount(name)[1].search("nothing of the kind")
