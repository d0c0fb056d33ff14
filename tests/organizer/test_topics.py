"""Placing: a statement goes where a person would look for it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from memoryfs.config import Config
from memoryfs.exact import exact_values
from memoryfs.model import SourceRange
from organizer.nouns import Candidate
from organizer.subject import About, Frequency, repository, subject
from organizer.topics import Place, Shelf, category_of, place

CATEGORIES = Config().categories
SCHOOL = About("school", "Tighten the e-mail rule", "please tighten the e-mail rule of the school app")


def said(text: str, kind: str = "fact", role: str = "user", **more: Any) -> Candidate:
    return Candidate(
        kind=kind, summary=text, topic_key="", quote=text, event_index=0, source=SourceRange("2026-05-12-aaaaaa", 0, 0),
        role=role, stated_by=role, values=tuple(exact_values(text)), **more,
    )


def placed(texts: list[str], about: About, shelves: dict[str, Shelf] | None = None, **more: Any) -> list[Place]:
    shelves = shelves or {}
    return place([said(t, **more) for t in texts], about, shelves, Frequency(), categories=CATEGORIES)


def shelf(path: str, title: str, *texts: str, repo: str = "school") -> Shelf:
    made = Shelf(path, title, repo)
    made.learn(title, 3)
    for text in texts:
        made.learn(text)
    return made


@pytest.mark.parametrize(("text", "kind", "about", "category"), [
    ("Always answer in short sentences.", "instruction", SCHOOL, "preferences"),
    ("今後は必ず日本語で返信してください。", "instruction", SCHOOL, "preferences"),
    ("앞으로는 항상 pnpm을 사용해 주세요.", "instruction", SCHOOL, "preferences"),
    ("Never change src/auth/rules.ts by hand.", "instruction", SCHOOL, "projects"),
    ("Kim Mina is responsible for releases, reach her at mina@example.com.", "fact", SCHOOL, "contacts"),
    ("The staging server listens on port 8443.", "fact", SCHOOL, "infrastructure"),
    ("The cookie lives 7 days.", "fact", SCHOOL, "projects"),
    ("The cookie lives 7 days.", "fact", About(), "notes"),
    ("Write the report.", "task", About(), "tasks"),
])
def test_categories(text: str, kind: str, about: About, category: str) -> None:
    assert category_of(said(text, kind), about, CATEGORIES) == category


def test_a_category_that_the_settings_lack_is_not_made() -> None:
    assert category_of(said("Always be brief.", "instruction"), SCHOOL, ("notes", "work")) == "notes"
    assert category_of(said("Always be brief.", "instruction"), SCHOOL, ("work",)) == "work"


def test_what_is_left_of_a_session_opens_one_topic_named_by_its_subject() -> None:
    places = placed([
        "The e-mail rule allows teacher addresses.", "The e-mail rule refuses alumni addresses.",
        "The e-mail rule lives beside the login form.", "Every address is compared in lower case.",
    ], SCHOOL)
    assert len({p.path for p in places}) == 1
    assert re.fullmatch(r"projects/school-[a-z-]*(?:mail|address)[a-z-]*\.md", places[0].path)
    assert places[0].new and places[0].title.startswith("school · ")


def test_few_statements_go_to_the_projects_own_page() -> None:
    assert [p.path for p in placed(["The cookie lives 7 days."], SCHOOL)] == ["projects/school.md"]


def test_a_statement_goes_to_the_topic_whose_words_it_shares() -> None:
    shelves = {
        s.path: s for s in (
            shelf("projects/school-cookies.md", "school · cookies", "The cookie lives 7 days.", "The cookie is signed."),
            shelf("projects/school-printing.md", "school · printing", "The printer stands in room 4.", "Printing is free."),
        )
    }
    assert [p.path for p in placed(["The cookie is renewed at login.", "The printer jams."], SCHOOL, shelves)] == [
        "projects/school-cookies.md", "projects/school-printing.md",
    ]


def test_org_18_a_topic_of_another_repository_takes_nothing() -> None:
    other = {"projects/shop-cookies.md": shelf("projects/shop-cookies.md", "shop · cookies", "The cookie is signed.", repo="shop")}
    assert [p.path for p in placed(["The cookie is renewed."], SCHOOL, other)] == ["projects/school.md"]


def test_a_full_topic_is_continued() -> None:
    full = shelf("projects/school.md", "school", "The cookie lives 7 days.")
    full.bytes = 65536
    found = placed(["The cookie lives."], SCHOOL, {full.path: full})
    assert [(p.path, p.new) for p in found] == [("projects/school-2.md", True)]


@pytest.mark.parametrize(("about", "texts"), [
    (About("", "貸出のきまり", "備品の貸出のきまりを決めたい"), ["貸出は三日まで。", "貸出には承認が必要。", "貸出の記録は残す。"]),
    (About("", "예약 규칙", "예약 규칙을 정하자"), ["예약은 최대 3일이다.", "예약은 교사가 승인한다.", "예약 기록은 남긴다."]),
    (About("", "借用规则", "我们来定借用规则"), ["借用最多三天。", "借用需要批准。", "借用记录保留。"]),
])
def test_names_are_readable_in_every_script(about: About, texts: list[str]) -> None:
    path = placed(texts, about)[0].path
    assert path.startswith("notes/") and path.endswith(".md") and "topic-" not in path
    assert not path.isascii()


@pytest.mark.parametrize(("repo", "expected"), [("CON", "con"), ("a/../b", "a-b"), ("Ünïcode App", "ünïcode-app"), ("..", "topic-")])
def test_mcp_05_names_cannot_lead_out_of_the_store(repo: str, expected: str) -> None:
    path = placed(["The cookie lives."], About(repo))[0].path
    assert path.startswith(f"projects/{expected}") and ".." not in path and path.count("/") == 1


def test_words_that_name_the_sessions_files_come_first() -> None:
    texts = ["Settings are merged after loading.", "Settings are written by merging.", "Merging keeps unknown settings."]
    about = About("cli", files=("src/settings.go", "src/settings_test.go"))
    assert subject([said(t) for t in texts], about, Frequency())[0] == "settings"


def test_placing_is_deterministic() -> None:
    texts = [f"Rule {n} of the e-mail form concerns field {n}." for n in range(12)]
    assert placed(texts, SCHOOL) == placed(texts, SCHOOL)


@pytest.mark.parametrize(("cwd", "name"), [
    ("/Users/user/Work/entire/devenv/cli", "cli"),
    ("/Users/user/workspace/cli/.worktrees/soph/fix-date/cmd", "cli"),
    ("/Users/user/src/entireio/20260205-cli", "cli"),
    ("/home/user", ""), ("/root", ""), ("", ""), (None, ""),
])
def test_org_18_repositories_by_directory(cwd: str | None, name: str) -> None:
    assert repository(cwd) == name


def test_a_topic_is_not_named_by_an_odd_pair() -> None:
    about = About("", "Write down how billing is run", "Let us write down how billing is run. The export key expires in June.")
    texts = [
        "The billing export starts at 02:00.", "An export of one school takes four minutes.", "Rotate the export key before June.",
        "The export key is kept by the office.", "Invoices are part of the export.", "Every export is logged.",
    ]
    found = subject([said(t) for t in texts], about, Frequency())
    assert found[0] == "export"


def test_a_word_of_the_sessions_title_names_its_topic_and_staging_is_no_deed() -> None:
    about = About("", "How staging is run", "Let us write down how staging is run.")
    texts = ["Releases go to staging by hand.", "The staging pool holds 20 rows.", "The pool was empty on Monday.", "Staging sleeps at night."]
    assert subject([said(t) for t in texts], about, Frequency())[0] == "staging"
