"""A topic that has grown too large gives a subject away: ids, footnotes, links and what a person wrote survive it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from organizer_kit import NOW, LineJudges, contents, snapshot, transcript

from memoryfs import ledger, topic_edit
from memoryfs.config import Config, Organize
from memoryfs.edits import load_topics, move
from memoryfs.model import Memory, SourceRange
from memoryfs.notation import pointers
from memoryfs.topic import Topic, parse, render
from organizer import apply, pipeline, split, tidy
from organizer.clusters import find_group
from organizer.subject import Frequency
from organizer.topics import Place, Shelf, place

SMALL = Config(organize=Organize(topic_split_memories=8))
PRINTER = ("The printer stands in room 4.", "The printer jams when the paper tray is damp.", "The printer needs toner every month.",
           "Paper for the printer comes from the office.", "The printer tray holds 250 sheets of paper.")
COOKIES = ("The session cookie lives 7 days.", "A login sets the session cookie.", "The session cookie is signed at login.",
           "Logout removes the session cookie.", "Login fails without the session cookie.", "The login page names no session.")
LANGUAGES = {
    "en": (*PRINTER, *COOKIES),
    "ja": ("プリンターは4号室にある。", "プリンターのトナーは毎月替える。", "プリンターのトナーは事務室にある。", "プリンターはトナーが切れると止まる。",
           "クッキーの期限は七日である。", "ログインでクッキーを発行する。", "ログアウトでクッキーを消す。", "クッキーはログイン時に署名する。", "ログイン画面はクッキーを読まない。"),
    "ko": ("프린터는 4호실에 있다.", "프린터 토너는 매달 교체한다.", "프린터 토너는 사무실에 있다.", "프린터는 토너가 없으면 멈춘다.",
           "쿠키는 칠일 동안 유효하다.", "로그인하면 쿠키를 발급한다.", "로그아웃하면 쿠키를 삭제한다.", "쿠키는 로그인할 때 서명한다.", "로그인 화면은 쿠키를 읽지 않는다."),
    "zh": ("打印机在4号房间。", "打印机 墨粉 每月更换。", "打印机 墨粉 放在办公室。", "打印机 没有 墨粉 就停止。",
           "会话 令牌 有效七天。", "登录 发放 令牌。", "退出 删除 令牌。", "令牌 在登录 时签名。", "登录 页面不读 令牌。"),
}
SUBJECTS = {"printer", "paper", "tray", "cookie", "session", "login", "プリンター", "トナー", "クッキー", "ログイン", "프린터", "토너", "쿠키", "로그인", "打印机", "墨粉", "令牌", "登录"}


def memory(number: int, text: str, **more: Any) -> Memory:
    values: dict[str, Any] = {
        "id": f"m-{number:06x}", "summary": text, "kind": "fact", "status": "active", "topic": "projects/school.md", "line": 0,
        "source_range": (SourceRange("2026-05-12-aaaaaa", number * 3, number * 3 + 1),), "date": "2026-05-12", "quote": text,
    }
    return Memory(**values | more)


def made(root: Path, texts: tuple[str, ...] | list[str], path: str = "projects/school.md", title: str = "school", repo: str = "school",
         first: int = 0) -> list[str]:
    """A topic as a run of the organizer leaves it."""
    found = [memory(first + n + 1, text, topic=path) for n, text in enumerate(texts)]
    plan = apply.Plan((apply.TopicPlan(path, title, True, repo, ("src/printer.py", "src/cookie.py"), "2026-05-12", (), tuple(found)),), tuple(
        ledger.Entry("2026-05-12T09:00:00Z", "organizer", "add", m.id, path, m.summary, m.kind, tuple(r.label for r in m.source_range)) for m in found))
    assert not apply.carry_out(root, SMALL, plan, entries=[])
    return [m.id for m in found]


def refused(root: Path) -> bool:
    """Whether what a person wrote between the lines keeps a due split from being safe; then every byte stays."""
    entries = list(ledger.read(root)[0])
    before = {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
    for part in split.due(load_topics(root, SMALL), entries, SMALL):
        if said := split.carry_out(root, SMALL, part, entries, now=NOW):
            assert "not safe to edit" in said[0].message
            assert {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()} == before
            return True
    return False


def run(root: Path, config: Config = SMALL) -> list[split.Part]:
    """As the stage of the pipeline does it."""
    entries = list(ledger.read(root)[0])
    parts = split.due(load_topics(root, config), entries, config)
    for part in parts:
        assert not split.carry_out(root, config, part, entries, now=NOW)
    return parts


def topic(root: Path, path: str) -> Topic:
    return parse((root / path).read_bytes(), path)


def broken(root: Path) -> list[str]:
    """Pointers in the store that lead nowhere, as Obsidian would follow them."""
    topics = load_topics(root, SMALL)
    ids = {path: {m.id for m in t.memories} for path, t in topics.items()}
    return [
        f"{path}: {aim}#{id}" for path, t in topics.items() for line in t.lines for aim, id in pointers(line)
        if id not in ids.get(f"{aim}.md" if aim else path, ())
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_subject_gets_a_file_of_its_own(tmp_path: Path, language: str) -> None:
    texts = LANGUAGES[language]
    ids = made(tmp_path, texts)
    (part,) = run(tmp_path)
    gone, kept = topic(tmp_path, part.path), topic(tmp_path, "projects/school.md")
    assert part.word in SUBJECTS and all(part.word in m.summary.lower() for m in gone.memories)
    assert [m.id for m in gone.memories] == list(part.ids) and {m.id for m in gone.memories} | {m.id for m in kept.memories} == set(ids)
    assert part.word in part.why and part.path.startswith("projects/school-") and gone.title == f"school · {part.word}"
    assert all(m.quote == m.summary and m.source_range for m in gone.memories)
    assert run(tmp_path) == []


def test_front_matter_is_divided(tmp_path: Path) -> None:
    made(tmp_path, [*PRINTER, *COOKIES])
    (part,) = run(tmp_path)
    gone, kept = topic(tmp_path, part.path), topic(tmp_path, "projects/school.md")
    printer, rest = (gone, kept) if part.word in ("printer", "paper") else (kept, gone)
    assert "printer" in printer.tags and "cookie" not in printer.tags and printer.summary in PRINTER
    assert "printer" not in rest.tags and rest.summary in COOKIES and "cookie" in rest.retrieve_when
    for t in (gone, kept):
        assert {r.label for m in t.memories for r in m.source_range} and t.meta["metadata"]["repo"] == "school"
        assert all(any(r.thread == s.thread and s.start <= r.start and r.end <= s.end for s in t.source_range) for m in t.memories for r in m.source_range)
    assert [e.action for e in ledger.read(tmp_path)[0] if e.id == part.ids[0]] == ["add", "move"]


def test_the_second_time_changes_no_byte_and_the_same_input_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made(tmp_path / name, [*PRINTER, *COOKIES])
        run(tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    before = snapshot(tmp_path / "a")
    run(tmp_path / "a")
    assert snapshot(tmp_path / "a") == before


def test_what_a_person_moved_back_stays(tmp_path: Path) -> None:
    made(tmp_path, [*PRINTER, *COOKIES])
    (part,) = run(tmp_path)
    for id in part.ids:
        move(tmp_path, SMALL, id, part.source, actor="person", now=NOW)
    assert run(tmp_path) == [] and len(topic(tmp_path, part.source).memories) == 11


def test_one_moved_back_in_an_editor_stays_too(tmp_path: Path) -> None:
    from memoryfs.edits import adopt

    made(tmp_path, [*PRINTER, *COOKIES])
    adopt(tmp_path, SMALL, now=NOW)
    (part,) = run(tmp_path)
    gone, kept = topic(tmp_path, part.path), topic(tmp_path, part.source)
    for id in part.ids:
        kept, gone = topic_edit.bring(gone, kept, id), topic_edit.withdraw(gone, id)
    (tmp_path / part.source).write_bytes(render(kept))
    (tmp_path / part.path).unlink()
    adopt(tmp_path, SMALL, now=NOW)
    assert run(tmp_path) == [] and not (tmp_path / part.path).exists()


def test_what_comes_later_on_a_subject_that_was_given_away_goes_there(tmp_path: Path) -> None:
    made(tmp_path, [*PRINTER, *COOKIES])
    (part,) = run(tmp_path)
    late = [f"The {part.word} was looked at by {name} once." for name in ("Kim", "Mina", "Jun", "Sato")]
    t = topic(tmp_path, part.source)
    for n, text in enumerate(late):
        t = topic_edit.add_memory(t, memory(50 + n, text))
    (tmp_path / part.source).write_bytes(render(t))
    more = run(tmp_path)
    assert [(p.path, p.word, len(p.ids)) for p in more] == [(part.path, part.word, min(4, 8 - len(part.ids)))]
    held = len([m for m in topic(tmp_path, part.source).memories])
    assert held <= 8 and len(topic(tmp_path, part.path).memories) <= 8
    assert run(tmp_path) == []


def test_a_split_that_the_budget_leaves_no_time_for_waits_for_the_next_run(tmp_path: Path) -> None:
    made(tmp_path, [*PRINTER, *COOKIES])
    before = snapshot(tmp_path)
    assert tidy.tidy(tmp_path, SMALL, now=NOW, write=lambda work, entries: [], left=lambda: 0.0).notices == []
    assert snapshot(tmp_path) == before

    def write(work: Any, entries: list[ledger.Entry]) -> list[Any]:
        return pipeline.write(tmp_path, SMALL, work, entries)

    assert len(tidy.tidy(tmp_path, SMALL, now=NOW, write=write).notices) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_persons_file_gives_away_the_organizers_lines_and_keeps_every_other_byte(tmp_path: Path, end: str) -> None:
    made(tmp_path, [*PRINTER, *COOKIES])
    path = tmp_path / "projects/school.md"
    body = path.read_text().split("---\n", 2)[2]
    mine = "---\ntitle:   'School'  # mine\ntags: [ z,a ]\nowner: kim\n---\n# School\n\nAsk **Kim** first.\n"
    text = mine + body.split("\n", 2)[2] + "\n## Mine\n1. one\n2. two\n"
    path.write_bytes(text.replace("\n", end).encode())
    (part,) = run(tmp_path)
    kept = path.read_bytes().decode()
    gone = [row for row in text.split("\n") if any(f"^{id}" in row for id in part.ids)]
    notes = [row for row in text.split("\n") if row.startswith("[^") and row not in kept.split(end)]
    assert [row for row in text.split("\n") if row not in (*gone, *notes)] == [row for row in kept.split(end)]
    assert len(gone) == len(notes) == len(part.ids)
    assert [e.actor for e in ledger.read(tmp_path)[0] if e.id == part.ids[0]] == ["organizer", "organizer"]


TOUCHES = {
    "edited": lambda t: t.replace("- The printer stands in room 4. [", "- The printer stands in room 5. ["),
    "pinned": lambda t: t.replace("stands in room 4.", "stands in room 4. #pinned"),
    "linked": lambda t: t.replace("# school\n", "# school\n\nThe room: [[#^m-000001]].\n", 1),
    "nested": lambda t: re.sub(r"(\^m-000001\n)", r"\1  - it is the large room\n", t),
    "headed": lambda t: re.sub(r"(- The printer stands.*\n)", r"### Mine\n\1### Others\n", t),
    "asked": lambda t: t.replace("\n[^", "\n## Needs review\n- [ ] [[#^m-000001]] says 4; [[#^m-000002]] says damp. ^r-000001\n\n[^", 1),
}


@pytest.mark.parametrize("touch", TOUCHES)
def test_what_a_person_touched_stays_where_it_is(tmp_path: Path, touch: str) -> None:
    from memoryfs.edits import adopt

    made(tmp_path, [*PRINTER, "Printer drivers come with the printer paper.", *COOKIES])
    adopt(tmp_path, SMALL, now=NOW)
    path = tmp_path / "projects/school.md"
    text = path.read_text()
    assert TOUCHES[touch](text) != text
    path.write_text(TOUCHES[touch](text))
    adopt(tmp_path, SMALL, now=NOW)
    run(tmp_path)
    assert "m-000001" in {m.id for m in topic(tmp_path, "projects/school.md").memories}
    assert not broken(tmp_path)


def test_a_pinned_topic_and_a_switched_off_setting_stay_whole(tmp_path: Path) -> None:
    made(tmp_path, [*PRINTER, *COOKIES])
    assert run(tmp_path, Config(organize=Organize(topic_split_memories=0))) == []
    assert run(tmp_path, Config()) == []
    path = tmp_path / "projects/school.md"
    path.write_text(path.read_text().replace("status: active", "status: active\npinned: true"))
    assert run(tmp_path) == []


def test_history_goes_along_and_every_pointer_leads_somewhere(tmp_path: Path) -> None:
    ids = made(tmp_path, [*PRINTER, *COOKIES, "The printer stood in room 3.", "Cookies lived 3 days."])
    path = "projects/school.md"
    t = topic_edit.supersede(topic(tmp_path, path), ids[-2], by=ids[0], on="2026-05-13")
    t = topic_edit.supersede(t, ids[-1], by=ids[5], on="2026-05-13")
    (tmp_path / path).write_bytes(render(t))
    (tmp_path / "archive/projects").mkdir(parents=True)
    (tmp_path / "archive" / path).write_text(
        f"# old\n\n## History\n- ~~Room 2.~~ superseded by [[projects/school#^{ids[0]}]] on 2026-05-01 [^aaaaaa:1] ^m-0000aa\n\n[^aaaaaa:1]: 2026-05-01\n")
    (part,) = run(tmp_path)
    gone = topic(tmp_path, part.path)
    assert {m.id for m in gone.memories if m.status == "superseded"} == {ids[-2] if part.word == "printer" else ids[-1]}
    assert not broken(tmp_path)
    aim = part.path if ids[0] in part.ids else path
    assert f"[[{aim.removesuffix('.md')}#^{ids[0]}]]" in (tmp_path / "archive" / path).read_text()


def test_unrelated_statements_are_no_subject() -> None:
    words = ("lamp", "desk", "tree", "boat", "ladder", "kettle", "violin", "carpet", "garden", "pillow", "bottle", "bridge")
    loose = [memory(n, f"The {w} is seen from the {v} today.") for n, (w, v) in enumerate(zip(words, words[::-1], strict=True))]
    assert find_group(loose, {m.id for m in loose}, most=8) is None


def test_a_statement_is_put_into_the_part_that_was_split_off_a_page() -> None:
    from test_topics import CATEGORIES, SCHOOL, said, shelf

    page = shelf("preferences/testing.md", "Testing", "Always run the unit tests first.", repo="")
    part = shelf("preferences/testing-mocks.md", "Testing · mocks", "Never mock the database in tests.", "Mocks of the database hide errors.", repo="")
    shelves: dict[str, Shelf] = {s.path: s for s in (page, part)}
    found = place([said("Never use database mocks in tests.", "instruction"), said("Always run tests twice.", "instruction")],
                  SCHOOL, shelves, Frequency(), categories=CATEGORIES)
    assert found == [Place(part.path, part.title), Place(page.path, page.title)]


_LINE = st.sampled_from([*PRINTER, *COOKIES, *LANGUAGES["ja"], *LANGUAGES["ko"], *LANGUAGES["zh"]])
_PROSE = st.sampled_from(["A note in the middle.", "### Mine", "> quoted [[#^m-000002]]", "- a bullet of mine", "```\n- [[#^m-000001]]\n```", "- old\n  - older", ""])


_QUOTED = ["> quoted [[#^m-000002]]", "> quoted [[#^m-000002]]", ""]  # two quotations that would become one if what stands between them went
_MIXED = [
    "打印机在4号房间。", "会话 令牌 有效七天。", "프린터는 토너가 없으면 멈춘다.", "쿠키는 칠일 동안 유효하다.", "クッキーはログイン時に署名する。", "プリンターは4号室にある。",
    "The printer stands in room 4.", "로그인 화면은 쿠키를 읽지 않는다.", "프린터는 4호실에 있다.", "プリンターのトナーは毎月替える。", "打印机 墨粉 放在办公室。",
    "쿠키는 로그인할 때 서명한다.", "The printer needs toner every month.", "A login sets the session cookie.", "登录 发放 令牌。",
    "プリンターのトナーは事務室にある。", "로그인하면 쿠키를 발급한다.", "The printer tray holds 250 sheets of paper.", "クッキーの期限は七日である。", "프린터 토너는 매달 교체한다.",
    "프린터 토너는 사무실에 있다.", "Logout removes the session cookie.", "退出 删除 令牌。",
]


@settings(max_examples=25, deadline=None)
@example(lines=_MIXED, prose=_QUOTED, at=2)
@given(st.lists(_LINE, min_size=9, max_size=24, unique=True), st.lists(_PROSE, max_size=4), st.integers(0, 9))
def test_any_topic_keeps_every_id_every_link_and_every_byte_of_a_person(tmp_path_factory: Any, lines: list[str], prose: list[str], at: int) -> None:
    from memoryfs.edits import adopt

    root = tmp_path_factory.mktemp("any")
    made(root, lines)
    path = root / "projects/school.md"
    head, mark, rest = path.read_text().partition("## Facts\n")
    rows = rest.split("\n\n[^", 1)[0].split("\n")
    for n, text in enumerate(prose):
        rows.insert(min(len(rows), at + 2 * n), text)
    path.write_text(f"{head}{mark}" + "\n".join(rows) + "\n\n[^" + rest.split("\n\n[^", 1)[1])
    adopt(root, SMALL, now=NOW)
    before = topic(root, "projects/school.md")
    mine = [text for _, text in before.prose] + [m.summary for m in before.memories if m.stated_by == "person"]
    ids = {m.id: (m.summary, m.source_range, m.stated_by, m.query_hints) for m in before.memories}
    lost = set(broken(root))
    if refused(root):  # two quotations would become one
        return
    run(root)
    after = load_topics(root, SMALL)
    assert {m.id: (m.summary, m.source_range, m.stated_by, m.query_hints) for t in after.values() for m in t.memories} == ids
    kept = after["projects/school.md"]
    assert [text for _, text in kept.prose] + [m.summary for m in kept.memories if m.stated_by == "person"] == mine
    assert set(broken(root)) <= lost
    assert not [c for c in adopt(root, SMALL, now=NOW).changes]
    assert run(root) == []


def test_the_organizer_splits_what_has_grown_and_a_kill_at_any_write_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from test_crash import Fuse, Killed, arm

    from memoryfs.edits import regroup

    said = "\n".join(f"FACT: {line}" for line in (*PRINTER, *COOKIES))
    transcript(tmp_path / "t" / "a.jsonl", "s-a", "2026-05-12", [("user", f"Write down how the school works.\n{said}")])

    def organize(root: Path) -> Any:
        return pipeline.run(root, paths=[tmp_path / "t"], config=Config(organize=Organize(topic_split_memories=8)), now=NOW, judges=LineJudges())

    whole = tmp_path / "whole"
    whole.mkdir()
    report = organize(whole)
    assert any("split projects/" in notice for notice in report.notices)
    wanted = contents(whole)
    before = snapshot(whole)
    organize(whole)
    assert snapshot(whole) == before
    killed = 0
    for left in range(60):
        root = tmp_path / f"killed-{left}"
        root.mkdir()
        with monkeypatch.context() as patched:
            fuse = Fuse(left, after=bool(left % 2))
            arm(patched, fuse)
            patched.setattr(regroup, "edit_topic", fuse.guard(regroup.edit_topic))
            try:
                organize(root)
                break
            except Killed:
                killed += 1
        organize(root)
        assert contents(root) == wanted, left
    assert killed >= 15
