"""A question about one person is not answered by what another said of himself; what is said *about* a person counts as his."""

import pytest
from index import stores

from memoryfs import index as indexes
from memoryfs.recall import recall, whose

DAY = "2026-05-12-aaaaaa"


def mismatch(question, person, *said, names=("Ana", "Bea")):
    weights = dict.fromkeys(["bowl", "kiln", "harbour", "marathon", "陶芸", "도자", "陶艺"], 1.0)
    return whose.mismatch(question, person, said, weights, 3.0, names)


def test_the_speaker_of_i_and_the_hearer_of_you_are_told_apart():
    asked = "Where did Ana fire her bowl?"
    assert mismatch(asked, "Ana", ("Bea", "I fired my bowl in the kiln at the harbour.")) > 0.2
    assert mismatch(asked, "Ana", ("Ana", "I fired my bowl in the kiln at the harbour.")) < -0.2
    assert mismatch(asked, "Ana", ("Bea", "Did you fire your bowl in the kiln at the harbour?")) < -0.1
    assert mismatch(asked, "Ana", ("Ana", "Your bowl from the kiln at the harbour is lovely.")) > 0.1


@pytest.mark.parametrize(("question", "mine", "yours"), [
    ("Anaは陶芸をどこで習った?", "私は港で陶芸を習いました。", "あなたは港で陶芸を習いましたね。"),
    ("Ana는 도자기를 어디서 배웠어?", "저는 항구에서 도자기를 배웠어요.", "당신은 항구에서 도자기를 배웠죠."),
    ("Ana在哪里学的陶艺?", "我在港口学的陶艺。", "你在港口学的陶艺。"),
])  # fmt: skip
def test_pronouns_of_four_languages(question, mine, yours):
    assert mismatch(question, "Ana", ("Bea", mine)) > mismatch(question, "Ana", ("Bea", yours))
    assert mismatch(question, "Ana", ("Bea", mine)) > 0 > mismatch(question, "Ana", ("Ana", mine))


def test_the_category_asked_for_counts_for_less():
    said = ("Bea", "I ran a marathon.")
    whole = mismatch("When did Ana run the marathon?", "Ana", said)
    assert 0 < mismatch("Which marathon did Ana run?", "Ana", said) < whole


def test_persons_by_first_name_and_in_cjk():
    assert whose.persons("When did Ana's sister call?", ["Ana Lind", "Bea"]) == {"Ana Lind"}
    assert whose.persons("Analysis of the banana", ["Ana", "Bea"]) == frozenset()
    assert whose.persons("健太はどこへ行った?", ["健太", "美咲"]) == {"健太"}
    assert whose.persons("", ["", "Ana"]) == frozenset()


TALK = [
    ("Ana", "I signed up for the sailing course at the lake, first lesson on Saturday."),
    ("Bea", "Great! I adopted a greyhound from the shelter and named her Comet."),
    ("Ana", "Your greyhound sounds lovely! I baked rye bread with caraway for the street party."),
    ("Bea", "I repaired the old accordion of my uncle, it took three weekends."),
    ("Ana", "I sold my motorbike to pay for the sails."),
    ("Bea", "I moved the vegetable beds, the tomatoes wanted sun."),
]
ANSWERED = [
    "What course did Ana sign up for?", "What did Bea adopt from the shelter?", "What did Ana bake for the street party?",
    "How long did Bea take to repair the accordion?", "Why did Ana sell the motorbike?", "Which vegetable wanted sun in Bea's beds?",
    "What is the name of Bea's greyhound?",
]
MISPLACED = [
    "When is Bea's first sailing lesson at the lake?", "What did Ana name the greyhound from the shelter?",
    "How did Bea bake the rye bread for the street party?", "How long did Ana take to repair the old accordion of her uncle?",
    "What did Bea pay for with her motorbike?",
]


@pytest.fixture
def talk(tmp_path):
    stores.thread(tmp_path, DAY, [{"text": text, "metadata": {"name": who}} for who, text in TALK])
    return tmp_path


def ask(root, query):
    with indexes.open(root) as index:
        index.sync()
        return recall(index, query, now=stores.NOW, level="2")


@pytest.mark.parametrize("question", ANSWERED)
def test_what_was_said_of_the_person_is_not_refused(talk, question):
    assert not ask(talk, question).abstained


@pytest.mark.parametrize("question", MISPLACED)
def test_what_was_said_of_the_other_does_not_answer(talk, question):
    answer = ask(talk, question)
    assert answer.abstained and answer.evidence  # the nearest is listed all the same
    assert any("someone else" in notice for notice in answer.notices)


def test_a_question_about_both_or_about_nobody_is_not_refused(talk):
    assert not ask(talk, "Who adopted a greyhound?").abstained
    assert not ask(talk, "Did Ana or Bea adopt a greyhound?").abstained


def test_the_answer_says_what_was_searched(talk):
    stores.topic(talk, "a.md", stores.fact_file("The lake has a jetty."))
    (notice,) = (n for n in ask(talk, MISPLACED[1]).notices if "someone else" in n)
    assert "Searched by words: 1 thread (2026-05-12 to 2026-05-12), 1 memory." in notice and "nearest" in notice


@pytest.mark.parametrize(("said", "asked", "refused"), [
    ("The hosting of the library app moved to Osaka last spring.", "How much does the hosting of the library app cost?", True),
    ("The hosting of the library app is $40 a month.", "How much does the hosting of the library app cost?", False),
    ("「ほんだな」の利用料金の案内を作る。", "「ほんだな」の利用料金はいくらですか", True),
    ("「ほんだな」の利用料金は年に1200円です。", "「ほんだな」の利用料金はいくらですか", False),
    ("창고지기의 서버 비용을 정리해야 한다.", "창고지기의 서버 비용은 얼마였지?", True),
    ("창고지기의 서버 비용은 월 3만 원이다.", "창고지기의 서버 비용은 얼마였지?", False),
    ("听雨平台的云服务费用要再算。", "听雨平台的云服务费用是多少?", True),
    ("听雨平台的云服务费用是一年900元。", "听雨平台的云服务费用是多少?", False),
    ("CI insists on test coverage before a merge.", "What percentage of test coverage does CI insist on?", True),
    ("CI insists on 80 % test coverage before a merge.", "What percentage of test coverage does CI insist on?", False),
])  # fmt: skip
def test_a_subject_without_the_value_asked_for_is_no_answer(tmp_path, said, asked, refused):
    stores.thread(tmp_path, DAY, [said, "Lunch was late.", "The weather is fine.", "今日は晴れ。", "점심은 늦었다.", "午饭很晚。", "Tea costs $3."])
    answer = ask(tmp_path, asked)
    assert answer.abstained is refused and answer.evidence


@pytest.mark.parametrize(("question", "refused"), [
    ("Which OAuth secret does the app use?", True), ("What does the WebSocket send?", False), ("Where is SITE_KEY set?", False),
    ("Which PostgreSQL release is it?", True),
])  # fmt: skip
def test_a_technical_name_is_known_whole_or_by_all_its_pieces(tmp_path, question, refused):
    stores.thread(tmp_path, DAY, ["The auth module of the app keeps a secret.", "A web socket sends the site its key.", "The sql is old, release it."])
    assert ask(tmp_path, question).abstained is refused


def test_where_nothing_is_listed_the_answer_still_says_what_was_searched(tmp_path):
    stores.thread(tmp_path, DAY, ["Lunch was late."])
    answer = ask(tmp_path, "zyzzyva?")
    assert answer.abstained and not answer.evidence and "Searched by words: 1 thread" in answer.notices[-1]
