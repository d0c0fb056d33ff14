"""Dedupe: what is one statement, and what only looks like one."""

from __future__ import annotations

import random
import time

import pytest

from memoryfs.model import Memory
from organizer.compare import why_different
from organizer.dedupe import EXACT, NEW, POSSIBLE, Known
from organizer.statement import analyse


def memory(text: str, id: str = "m-000001", **more: object) -> Memory:
    return Memory(id, text, str(more.pop("kind", "fact")), str(more.pop("status", "active")), "projects/x.md", 1, **more)  # type: ignore[arg-type]


SAME = [
    ("Use pnpm, not npm.", "use pnpm, not npm"),
    ("The cookie lives 7 days.", "The cookie lives 7 days"),
    ("`entire enable` writes the settings file.", "entire enable writes the settings file"),
    ("メールアドレスは学校ドメインだけ許可する。", "メールアドレスは学校ドメインだけ許可する"),
    ("Sessions are stored in the metadata branch", "Sessions are stored in the metadata branch now"),
    ("The hook runs in the repository's root folder", "The hook runs in the root folder of the repository"),
    ("비밀번호는 저장하지 않는다", "비밀번호는 저장하지 않는다."),
    ("端口配置在环境变量里", "端口配置在环境变量里。"),
]

NEAR_BUT_DIFFERENT = [
    ("The cookie lives 7 days", "The cookie lives 14 days", "number"),
    ("Production deploys are allowed", "Production deploys are not allowed", "negation"),
    ("Telemetry is enabled by default", "Telemetry is disabled by default", "negation"),
    ("Device A is a Synology NAS", "Device B is a Synology NAS", "name"),
    ("The retry limit holds for uploads over slow links", "The retry limit holds for downloads over slow links", "scope"),
    ("Deploys run every night in production", "Deploys run every night in staging", "scope"),
    ("The service listens on port 8080", "The service listens on port 9090", "number"),
    ("The rule stands in src/auth.ts", "The rule stands in src/mail.ts", "value"),
    ("Kim Mina approves releases of the app", "Kim Jisoo approves releases of the app", "name"),
    ("パスワードは8文字以上にする", "パスワードは12文字以上にする", "number"),
    ("先生だけがログインできる", "生徒だけがログインできる", "scope"),
    ("비밀번호는 8자 이상이다", "비밀번호는 12자 이상이다", "number"),
    ("允许学生登录系统", "不允许学生登录系统", "negation"),
    ("端口是3000", "端口是4000", "number"),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_one_statement_in_two_spellings(old: str, new: str) -> None:
    match = Known([memory(old)]).find(new)
    assert match.outcome in (EXACT, POSSIBLE)
    assert match.memory is not None and match.memory.summary == old


@pytest.mark.parametrize(("old", "new", "difference"), NEAR_BUT_DIFFERENT)
def test_near_but_different_is_never_merged(old: str, new: str, difference: str) -> None:
    assert why_different(analyse(old), analyse(new)) == difference
    assert Known([memory(old)]).find(new).outcome == NEW
    assert Known([memory(new)]).find(old).outcome == NEW


@pytest.mark.parametrize("text", ["", "   ", "…", "[[", "a", "的", "🚀🚀", "\ud83d"])
def test_odd_texts_are_new_and_do_not_raise(text: str) -> None:
    assert Known([memory("The cookie lives 7 days")]).find(text).outcome == NEW


def test_superseded_memories_are_not_reinforced() -> None:
    known = Known([memory("The cookie lives 7 days", status="superseded")])
    assert known.find("The cookie lives 7 days").outcome == NEW


def test_vectors_join_paraphrases_but_not_across_a_guard() -> None:
    always = lambda a, b: 0.99  # noqa: E731
    known = Known([memory("Login tokens expire after one hour of idling")], similarity=always)
    assert known.find("After one hour of idling login tokens become invalid").outcome == NEW  # the sign differs
    assert known.find("Login tokens of idling sessions expire after one hour").outcome == POSSIBLE
    assert known.find("Login tokens of idling sessions expire after 2 hours").outcome == NEW


def test_known_forgets_what_is_removed_and_replaces_what_changed() -> None:
    known = Known([memory("The cookie lives 7 days")])
    known.add(memory("The cookie lives 14 days"))
    assert len(known) == 1
    assert known.find("The cookie lives 7 days").outcome == NEW
    known.remove("m-000001")
    assert known.find("The cookie lives 14 days").outcome == NEW


def test_thousand_lookups_among_two_thousand_memories_are_quick() -> None:
    chance = random.Random(7)
    words = [f"w{a}{b}" for a in "bcdfghklmn" for b in ("ake", "orm", "ist", "ull", "ent", "ard")]
    texts = [" ".join(chance.choice(words) for _ in range(14)) for _ in range(3000)]
    known = Known(memory(t, f"m-{i:06x}") for i, t in enumerate(texts[:2000]))
    begun = time.perf_counter()
    for text in texts[2000:]:
        known.find(text)
    assert time.perf_counter() - begun < 10.0


FULLER = [
    ("The `resumeFromCurrentBranch()` function only looks at the HEAD commit.",
     "The `resumeFromCurrentBranch` function only looks at HEAD, not at commits unique to this branch."),
    ("The lending desk hands out cameras.", "The lending desk hands out cameras and the tripods that belong to them."),
    ("備品の貸出には承認が必要である。", "備品の貸出には承認が必要であり、担任が与える。"),
    ("예약 기록은 사무실에 남긴다.", "예약 기록은 사무실에 서면으로 남긴다."),
    ("借用 记录 保存 在 办公室。", "借用 记录 保存 在 办公室 的 柜子里。"),
]


@pytest.mark.parametrize(("old", "new"), FULLER)
def test_the_fuller_of_two_that_are_one_is_known_as_such(old: str, new: str) -> None:
    match = Known([memory(old)]).find(new)
    assert (match.outcome, match.fuller) == (POSSIBLE, True), match
    back = Known([memory(new)]).find(old)
    assert (back.outcome, back.fuller) == (POSSIBLE, False)


@pytest.mark.parametrize(("old", "new"), [
    ("Backups of the school run at night.", "Backups of the school run at night and are kept 30 days."),
    ("The lending desk hands out cameras.", "The lending desk hands out cameras to Kim Mina."),
    ("The lending desk hands out cameras.", "The lending desk hands out no cameras, not even to teachers."),
    ("Use npm for every install of the app.", "Use pnpm for every install of the app, not npm."),
    ("The report is sent to parents.", "The report is sent to parents unless they decline."),
])
def test_more_that_changes_what_is_said_is_not_the_same_said_more_fully(old: str, new: str) -> None:
    assert Known([memory(old)]).find(new).outcome == NEW


def test_a_word_that_says_little_tells_no_two_long_statements_apart() -> None:
    old = "Hook handlers now use `agentOf()` which uses the known agent from the command structure of the hooks"
    assert Known([memory(old)]).find(old.replace("uses the known agent", "gets the agent")).outcome == POSSIBLE
    assert Known([memory(old)]).find(old.replace("command", "folder")).outcome == NEW
    assert Known([memory("The desk uses the key")]).find("The desk gets the key").outcome == NEW


def test_what_only_leads_in_to_a_statement_is_not_its_name() -> None:
    old = "The lint error in `hooks.go:488` is a pre-existing bug (it prints `err` instead of `initErr`)."
    new = "Pre-existing issue: The lint error in `hooks.go:488` is a bug where `err` is printed instead of `initErr`."
    assert Known([memory(old)]).find(new).outcome == POSSIBLE
