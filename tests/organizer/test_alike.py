"""Topics that look like one are proposed for merging, once; and what only resembles is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, snapshot, transcript
from test_split import made

from memoryfs import MemoryStore, ledger
from memoryfs.config import Config, Organize
from memoryfs.edits import load_topics, resolve, undo
from memoryfs.edits.merged import proposal_id
from memoryfs.errors import NotFoundError
from memoryfs.topic import parse
from organizer import pipeline
from organizer.alike import Pair, alike

ANY = Config()
COOKIES = ("The session cookie lives 7 days.", "A login sets the session cookie.", "The session cookie is signed at login.")
MORE = ("Logout removes the session cookie.", "Login fails without the session cookie.", "The session cookie is renewed at every login.")
PRINTER = ("The printer stands in room 4.", "The printer jams when the paper tray is damp.", "Paper for the printer comes from the office.")
SAME = {
    "en": (("school · session cookie", COOKIES), ("school · login cookie", MORE)),
    "ja": (("クッキーの期限", ("クッキーの期限は七日である。", "ログインでクッキーを発行する。", "クッキーはログイン時に署名する。")),
           ("クッキーとログイン", ("ログアウトでクッキーを消す。", "ログインのたびにクッキーを更新する。", "クッキーがなければログインは失敗する。"))),
    "ko": (("로그인 쿠키", ("쿠키는 칠일 동안 유효하다.", "로그인하면 쿠키를 발급한다.", "쿠키는 로그인할 때 서명한다.")),
           ("쿠키 로그인", ("로그아웃하면 쿠키를 삭제한다.", "로그인할 때마다 쿠키를 갱신한다.", "쿠키가 없으면 로그인은 실패한다."))),
    "zh": (("登录 令牌", ("会话 令牌 有效七天。", "登录 发放 令牌。", "令牌 在登录 时签名。")),
           ("令牌 登录", ("退出 删除 令牌。", "登录 更新 令牌。", "没有 令牌 登录 失败。"))),
}


def store_of(root: Path, *topics: tuple[str, str, tuple[str, ...]], repo: str = "school") -> list[Pair]:
    root.mkdir(exist_ok=True)
    number = 0
    for path, title, texts in topics:
        made(root, [f"{t}" for t in texts], path, title, repo, first=number)
        number += 100
    return found(root)


def found(root: Path, config: Config = ANY) -> list[Pair]:
    return alike(load_topics(root, config), ledger.read(root)[0], config)


@pytest.mark.parametrize("language", SAME)
def test_two_topics_on_one_subject_are_found(tmp_path: Path, language: str) -> None:
    (one, first), (two, second) = SAME[language]
    (pair,) = store_of(tmp_path / "s", ("projects/a.md", one, first), ("projects/b.md", two, second), ("projects/c.md", "school · printer", PRINTER))
    assert {pair.keep, pair.other} == {"projects/a.md", "projects/b.md"} and pair.words


def test_the_topic_in_which_a_person_wrote_stays_else_the_larger(tmp_path: Path) -> None:
    (pair,) = store_of(tmp_path / "s", ("projects/a.md", "school · cookie", COOKIES), ("projects/b.md", "school · login cookie", (*MORE, "Cookies are small.")))
    assert (pair.keep, pair.other) == ("projects/b.md", "projects/a.md")
    path = tmp_path / "s" / "projects/a.md"
    path.write_text(path.read_text().replace("# school · cookie\n", "# school · cookie\n\nMine.\n"))
    assert [(p.keep, p.other) for p in found(tmp_path / "s")] == [("projects/a.md", "projects/b.md")]


@pytest.mark.parametrize(("one", "two"), [
    (("projects/a.md", "school · cookie", COOKIES), ("projects/b.md", "school · printer", PRINTER)),
    (("projects/a.md", "school · cookie", COOKIES), ("notes/b.md", "school · cookie", MORE)),
    (("contacts/alex-chen.md", "Alex Chen", ("Alex is the maintainer of the school app.", "Alex answers mail about the school app.")),
     ("contacts/alex-park.md", "Alex Park", ("Alex is the maintainer of the shop app.", "Alex answers mail about the school app."))),
])
def test_what_only_resembles_is_not_proposed(tmp_path: Path, one: Any, two: Any) -> None:
    assert store_of(tmp_path / "s", one, two) == []


def test_one_person_in_two_files_is(tmp_path: Path) -> None:
    said = ("Alex is the maintainer of the school app.", "Alex answers mail about the school app.")
    (pair,) = store_of(tmp_path / "s", ("contacts/alex-chen.md", "Alex Chen", said), ("contacts/chen-alex.md", "Chen, Alex", (said[0] + " Really.", "Alex reads mail.")))
    assert pair.keep.startswith("contacts/")


def test_topics_of_two_repositories_and_pinned_and_large_ones_are_not(tmp_path: Path) -> None:
    root = tmp_path / "s"
    assert len(store_of(root, ("projects/a.md", "cookie", COOKIES), ("projects/b.md", "login cookie", MORE))) == 1
    assert found(root, Config(organize=Organize(topic_split_memories=5))) == []
    path = root / "projects/a.md"
    text = path.read_text()
    path.write_text(text.replace("repo: school", "repo: shop"))
    assert found(root) == []
    path.write_text(text.replace("status: active", "status: active\npinned: true"))
    assert found(root) == []


def test_vectors_decide_between_what_words_leave_open(tmp_path: Path) -> None:
    root = tmp_path / "s"
    assert store_of(root, ("projects/a.md", "school · session cookie", COOKIES), ("projects/b.md", "school · sign-in session", (
        "A visitor stays signed in by the session cookie.", "Signing out forgets the session cookie.", "The login asks for a name."))) == []
    topics, entries = load_topics(root, ANY), ledger.read(root)[0]
    asked: list[tuple[str, str]] = []

    def near(a: str, b: str) -> float:
        asked.append((a, b))
        return 0.95

    assert len(alike(topics, entries, ANY, near)) == 1 and "sign-in session" in asked[0][1]
    assert alike(topics, entries, ANY, lambda a, b: 0.9) == []


def organize(root: Path, folder: Path, **more: Any) -> Any:
    return pipeline.run(root, paths=[folder], config=Config(), now=NOW, judges=LineJudges(), **more)


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Path, Path, str]:
    """A store in which a run has proposed a pair; the folder of its sessions; the proposal's id."""
    root, folder = tmp_path / "s", tmp_path / "t"
    store_of(root, ("projects/a.md", "school · session cookie", COOKIES), ("projects/b.md", "school · login cookie", MORE))
    transcript(folder / "a.jsonl", "a", "2026-05-12", [("user", "FACT: Ladders hang in the shed.")])
    report = organize(root, folder)
    assert "to review: projects/a.md and projects/b.md look like one topic" in report.notices
    return root, folder, proposal_id("projects/a.md", "projects/b.md")


def test_a_run_proposes_once_and_the_briefing_says_so(asked: tuple[Path, Path, str]) -> None:
    root, folder, id = asked
    assert f"^{id}" in (root / "projects/a.md").read_text() and "## Needs review (1)" in (root / "MEMORY.md").read_text()
    assert [(e.actor, e.action) for e in ledger.read(root)[0] if e.id == id] == [("organizer", "propose")]
    before = snapshot(root)
    organize(root, folder)
    assert snapshot(root) == before


def test_rejected_it_is_never_asked_again(asked: tuple[Path, Path, str]) -> None:
    root, folder, id = asked
    resolve(root, Config(), id, "reject", actor="person", now=NOW)
    transcript(folder / "b.jsonl", "b", "2026-05-14", [("user", "FACT: Keys hang in room 12.")])
    organize(root, folder)
    assert f"^{id}" not in (root / "projects/a.md").read_text() and found(root) == []


def test_ticked_in_the_file_it_is_merged_by_the_next_run(asked: tuple[Path, Path, str]) -> None:
    root, folder, id = asked
    path = root / "projects/a.md"
    path.write_text(path.read_text().replace("- [ ] [[projects/b]]", "- [x] [[projects/b]]"))
    transcript(folder / "b.jsonl", "b", "2026-05-14", [("user", "FACT: The session cookie is renewed by the login page.")])
    report = organize(root, folder)
    assert any(n.startswith("merged into projects/a.md: ") for n in report.notices)
    kept = parse(path.read_bytes(), "projects/a.md")
    assert {m.summary for m in kept.memories} >= {*COOKIES, *MORE}
    before = snapshot(root)
    organize(root, folder)
    assert snapshot(root) == before
    undo(root, Config(), id, actor="person", now=NOW)
    assert not {m.summary for m in parse(path.read_bytes(), "projects/a.md").memories} & set(MORE)


def test_what_was_merged_takes_nothing_more(asked: tuple[Path, Path, str]) -> None:
    root, folder, id = asked
    resolve(root, Config(), id, "accept", actor="person", now=NOW)
    going = (root / "projects/b.md").read_bytes()
    assert b"status: superseded" in going
    transcript(folder / "b.jsonl", "b", "2026-05-14", [("user", "FACT: A login cookie without a session is refused at login.")])
    organize(root, folder)
    assert (root / "projects/b.md").read_bytes().decode() == going.decode()
    assert "projects/b.md" not in (root / "MEMORY.md").read_text()
    assert "refused at login" in (root / "projects/a.md").read_text()
    assert MemoryStore.open(root).recall("login cookie refused", vectors=False).memories[0].memory.topic == "projects/a.md"


def test_a_proposal_about_a_topic_that_is_gone_is_taken_out(asked: tuple[Path, Path, str]) -> None:
    root, folder, id = asked
    (root / "projects/b.md").unlink()
    organize(root, folder)
    assert f"^{id}" not in (root / "projects/a.md").read_text()
    assert [(e.actor, e.extra["choice"], e.why) for e in ledger.read(root)[0] if (e.id, e.action) == (id, "resolve")] == [("organizer", "reject", "projects/b.md is gone")]


def test_a_proposal_about_a_topic_that_went_there_before_is_no_rejection(asked: tuple[Path, Path, str]) -> None:
    root, folder, id = asked
    path = root / "projects/b.md"
    path.write_text(path.read_text().replace("status: active", "status: superseded\nsuperseded_by: projects/a.md").partition("## Facts")[0])
    transcript(folder / "b.jsonl", "b", "2026-05-14", [("user", "FACT: Keys hang in room 12.")])
    organize(root, folder)
    assert [(e.actor, e.extra["choice"], e.why) for e in ledger.read(root)[0] if (e.id, e.action) == (id, "resolve")] == [("organizer", "accept", "projects/b.md went here")]
    with pytest.raises(NotFoundError):
        undo(root, Config(), id, actor="person", now=NOW)


@pytest.fixture
def settled(asked: tuple[Path, Path, str]) -> tuple[Path, Path, str]:
    """The same, with a run since that had nothing new to say of the two."""
    root, folder, id = asked
    organize(root, folder)
    transcript(folder / "b.jsonl", "b", "2026-05-14", [("user", "FACT: Keys hang in room 12.")])
    return root, folder, id


def two(root: Path) -> list[str]:
    return [(root / path).read_text() for path in ("projects/a.md", "projects/b.md")]


def test_undone_after_a_run_the_front_matter_is_as_it_was(settled: tuple[Path, Path, str]) -> None:
    root, folder, id = settled
    before = two(root)
    resolve(root, Config(), id, "accept", actor="person", now=NOW)
    organize(root, folder)
    assert two(root)[0].partition("# ")[0] != before[0].partition("# ")[0]
    undo(root, Config(), id, actor="person", now=NOW)
    assert two(root) == before
    organize(root, folder)
    assert two(root) == before and not [e for e in ledger.read(root)[0] if "front matter edited" in e.why]


def test_undone_after_a_run_what_a_person_set_since_stays(settled: tuple[Path, Path, str]) -> None:
    root, folder, id = settled
    resolve(root, Config(), id, "accept", actor="person", now=NOW)
    organize(root, folder)
    path = root / "projects/a.md"
    path.write_text(re.sub(r"(?m)^summary: .*$", "summary: Cookies, all of them.", path.read_text()))
    undo(root, Config(), id, actor="person", now=NOW)
    assert "summary: Cookies, all of them." in path.read_text() and f"^{id}" in path.read_text()


def test_killed_before_the_ledger_knows_the_next_run_completes_it_and_undo_undoes_it(
    settled: tuple[Path, Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, folder, id = settled
    before, append = two(root), ledger.append

    def dies(root: Path, entries: Any) -> None:
        listed = list(entries)
        if any(e.action == "resolve" for e in listed):
            raise KeyboardInterrupt
        append(root, listed)

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "append", dies)
        with pytest.raises(KeyboardInterrupt):
            resolve(root, Config(), id, "accept", actor="person", now=NOW)
    report = organize(root, folder)
    assert [(c["action"], c["id"]) for c in report.adopted] == [("resolve", id)]
    last = [e for e in ledger.read(root)[0] if e.id == id][-1]
    assert (last.actor, last.extra["choice"], last.why) == ("person", "accept", "the topics are one")
    undo(root, Config(), id, actor="person", now=NOW)
    assert two(root) == before
    organize(root, folder)
    assert two(root) == before
