"""Which files of a store are topics: links, loops, twins, foreign and conflict copies, odd names."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from memoryfs.config import Config
from memoryfs.files import raw_ids, scan, shown, topic_paths


def make(root: Path, *paths: str, text: str = "text\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def paths(root: Path, **settings) -> list[str]:
    return list(topic_paths(root, Config(**settings)))


def messages(root: Path, **settings) -> dict[str, str]:
    return {p.path: p.message for p in scan(root, Config(**settings)).problems}


def test_topics_are_markdown_files_in_order(tmp_path: Path):
    make(tmp_path, "projects/b.md", "projects/a.md", "episodes/2026/x.md", "Root.MD", "notes.md", "a.txt")
    assert paths(tmp_path) == ["Root.MD", "episodes/2026/x.md", "notes.md", "projects/a.md", "projects/b.md"]


def test_our_own_files_are_not_topics(tmp_path: Path):
    make(tmp_path, "MEMORY.md", "threads/2026/x.md", "archive/old.md", ".memoryfs/x.md", "projects/threads/kept.md")
    assert paths(tmp_path) == ["projects/threads/kept.md"]


def test_an_empty_or_missing_store_has_no_topics(tmp_path: Path):
    assert paths(tmp_path) == []
    assert "cannot be read" in messages(tmp_path / "gone")["."]


def test_idx_06_loops_end_and_each_file_is_read_once(tmp_path: Path):
    root = tmp_path / "store"
    make(root, "projects/a.md")
    os.symlink(".", root / "loop")
    os.symlink("b", root / "a")
    os.symlink("a", root / "b")
    os.symlink("projects", root / "again")
    os.symlink("projects/a.md", root / "a-link.md")
    for number in range(45):
        os.symlink(f"chain{number + 1}.md", root / f"chain{number}.md")
    started = time.perf_counter()
    assert paths(root) == ["projects/a.md"]
    assert time.perf_counter() - started < 2
    assert "leads nowhere" in messages(root)["chain0.md"]


def test_idx_06_links_out_are_refused_or_followed_once(tmp_path: Path):
    root, outside = tmp_path / "store", tmp_path / "outside"
    make(outside, "x.md", "deep/y.md")
    os.symlink("../outside", outside / "deep" / "back")
    make(root, "a.md")
    os.symlink(outside, root / "linked")
    os.symlink(outside / "x.md", root / "one.md")
    os.symlink("..", root / "up")
    assert paths(root) == ["a.md"]
    assert "out of the store" in messages(root)["linked"] and "out of the store" in messages(root)["one.md"]
    assert paths(root, follow_links_outside=True) == ["a.md", "linked/deep/y.md", "linked/x.md", "one.md"]


def test_a_store_reached_by_a_link_is_read(tmp_path: Path):
    make(tmp_path / "real", "projects/a.md")
    os.symlink(tmp_path / "real", tmp_path / "store")
    assert paths(tmp_path / "store") == ["projects/a.md"]


def test_idx_07_twins_by_form_or_case_are_kept_with_a_warning(tmp_path: Path):
    make(tmp_path, "caf\u00e9.md", "cafe\u0301.md", "note.md", "Note.md")
    found = scan(tmp_path, Config())
    if len(found.files) < 4:
        pytest.skip("this file system knows no such twins")
    assert [(p.path, p.severity) for p in found.problems] == [("caf\u00e9.md", "warning"), ("note.md", "warning")]


def test_idx_08_foreign_files_are_left_alone(tmp_path: Path):
    make(
        tmp_path, ".git/a.md", ".obsidian/a.md", "node_modules/x/README.md", ".trash/a.md", "projects/.hidden.md",
        "projects/~$a.md", "projects/a.md~", "projects/#a.md#", "projects/a.tmp.md", ".memoryfs/organize.lock",
        f"projects/{'n' * 247}.md",
    )
    os.mkfifo(tmp_path / "x.md")
    (tmp_path / "y.md").mkdir()
    started = time.perf_counter()
    assert paths(tmp_path) == [f"projects/{'n' * 247}.md"]
    assert time.perf_counter() - started < 2


def test_idx_08_odd_names_are_shown_escaped(tmp_path: Path):
    name = 'a\n"b\x1b.sync-conflict-20260101-120000-ABC.md'
    make(tmp_path, name, 'line\n"quote.md')
    assert paths(tmp_path) == ['line\n"quote.md']
    (problem,) = scan(tmp_path, Config()).problems
    assert problem.path == 'a\\n"b\\x1b.sync-conflict-20260101-120000-ABC.md'
    assert shown("日本語 é") == "日本語 é"


def test_cli_03_a_name_that_is_not_utf8_is_named_and_set_aside(tmp_path: Path):
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb") as file:
        file.write(b"- x ^m-7c01d2\n")
    found = scan(tmp_path, Config())
    assert not found.files and found.problems[0].path == "bad\\udcff.md"
    assert [raw_ids(path) for path in found.aside] == [{"m-7c01d2"}]


@pytest.mark.parametrize("name", [
    "note.sync-conflict-20260101-120000-ABCDEF.md", "note (conflicted copy).md", "note (Conflicted copy kim 202601011200).md",
    "note (kim's conflicted copy 2026-01-01).md", "note (Case Conflict).md", "note 2.md", "note (2).md", "note copy.md",
])
def test_idx_09_conflict_copies_are_set_aside_and_named(tmp_path: Path, name: str):
    make(tmp_path, "note.md", text="# Note\n\n- The port is 8080. ^m-7c01d2\n")
    make(tmp_path, name, text="# Note\n\n- The port is 8081. ^m-7c01d2\n")
    assert paths(tmp_path) == ["note.md"]
    assert "sync conflict" in messages(tmp_path)[name]


def test_idx_09_a_numbered_topic_of_its_own_is_no_copy(tmp_path: Path):
    make(tmp_path, "Chapter.md", text="# One\n- Alpha. ^m-000001\n")
    make(tmp_path, "Chapter 2.md", text="# Two\n- Beta. ^m-000002\n")
    make(tmp_path, "Lonely 3.md")
    assert paths(tmp_path) == ["Chapter 2.md", "Chapter.md", "Lonely 3.md"]


def test_hard_links_are_one_file(tmp_path: Path):
    make(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    assert paths(tmp_path) == ["a.md"]
    assert "second name" in messages(tmp_path)["b.md"]


def test_ignored_by_the_settings(tmp_path: Path):
    make(tmp_path, "projects/a.md", "drafts/b.md", "projects/README.md")
    assert paths(tmp_path, ignore=("drafts/", "README.md")) == ["projects/a.md"]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    make(tmp_path, "projects/a.md", "closed/b.md")
    (tmp_path / "closed").chmod(0)
    try:
        assert paths(tmp_path) == ["projects/a.md"]
        assert "cannot be read" in messages(tmp_path)["closed"]
    finally:
        (tmp_path / "closed").chmod(0o700)
