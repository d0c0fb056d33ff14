"""The person's words in MEMORY.md survive whatever they did to the rest of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memoryfs.briefing.notes import checksum, leaves_open, part, parts, persons_text

HEAD = [
    "# Memory", "<!-- memoryfs: everything but Notes is compiled; edit the topic files, or write under Notes -->",
    "## Instructions", "- Use pnpm, not npm. → preferences/tooling.md", "## Projects", "- App: e-mail rule → projects/app.md",
    "## Notes",
]
TRAILER = f"<!-- exact values (regex, port, path, SQL, command): recall them, never retype them from here · #{checksum(HEAD)} -->"


def compiled(notes: str = "mine\n\nmore\n") -> str:
    return "\n".join(HEAD) + "\n" + notes + TRAILER + "\n"


OURS = set(HEAD) | {TRAILER}


@pytest.mark.parametrize("last", [compiled(), None, compiled("other\n")])
def test_untouched_files_give_back_the_notes(last):
    assert persons_text(compiled(), last) == "mine\n\nmore\n"


def test_parts():
    assert parts(compiled()) == (HEAD, "mine\n\nmore\n", TRAILER)


@pytest.mark.parametrize("text", ["# My memory\nold\n", "", "## Notes\nx\n", "- a → b.md\n", "no line end"])
def test_a_file_without_our_marker_is_the_persons_from_end_to_end(text: str):
    assert persons_text(text, None) == text


@pytest.mark.parametrize("place", range(len(HEAD)))
@pytest.mark.parametrize("last", [compiled(), None])
def test_cap_07_a_line_typed_among_ours_moves_to_the_notes(place: int, last):
    lines = [*HEAD[:place], "typed by hand", *HEAD[place:]]
    text = "\n".join(lines) + "\nmine\n\nmore\n" + TRAILER + "\n"
    assert persons_text(text, last) == "typed by hand\n\nmine\n\nmore\n"


def test_cap_07_a_changed_line_of_ours_is_kept_as_the_persons():
    text = compiled().replace("Use pnpm, not npm.", "Use yarn.")
    assert persons_text(text, compiled()) == "- Use yarn. → preferences/tooling.md\n\nmine\n\nmore\n"


@pytest.mark.parametrize("gone", ["## Notes\n", HEAD[1] + "\n", TRAILER + "\n", "# Memory\n", HEAD[1] + "\n## Instructions\n"])
def test_cap_07_removed_markers_lose_nothing(gone: str):
    assert persons_text(compiled().replace(gone, ""), compiled()) == "mine\n\nmore\n"


def test_cap_07_doubled_markers_lose_nothing():
    text = compiled().replace("## Notes\n", "## Notes\n## Notes\n") + TRAILER + "\nafter the end\n"
    kept = persons_text(text, compiled())
    assert "mine\n\nmore\n" in kept and "after the end\n" in kept
    assert "Use pnpm" not in kept and "# Memory" not in kept


def test_words_after_our_last_line_are_kept():
    for last in (compiled(), None):
        assert persons_text(compiled() + "- appended by a tool\n", last).endswith("- appended by a tool\n")
        assert "mine" in persons_text(compiled() + "- appended by a tool\n", last)


@pytest.mark.parametrize("change", [
    lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.replace("\n## ", "\n\n## "),
    lambda t: t.replace("\n- ", "\n* "), lambda t: t.rstrip("\n"),
])
def test_a_formatter_does_not_turn_our_lines_into_the_persons(change):
    kept = persons_text(change(compiled()), compiled())
    assert "pnpm" not in kept and "# Memory" not in kept and "<!--" not in kept
    assert "mine" in kept and "more" in kept


def test_a_file_compiled_elsewhere_is_known_by_its_checksum():
    other = [*HEAD[:3], "- Another machine's line. → projects/other.md", HEAD[-1]]
    text = "\n".join(other) + "\nmine\n" + TRAILER.replace(checksum(HEAD), checksum(other)) + "\n"
    assert persons_text(text, compiled()) == "mine\n"


def test_git_conflict_markers_among_our_lines_go():
    text = compiled().replace("## Projects", "<<<<<<< HEAD\n## Projects\n=======\n>>>>>>> other")
    assert persons_text(text, compiled()) == "mine\n\nmore\n"


words = st.lists(st.sampled_from(["alpha\n", "- beta\n", "\n", "## Own\n", "```\n", "## Notes\n", "gamma é 漢\r\n", "~~~\n", "x\n"]), max_size=8)


@settings(max_examples=300, deadline=None)
@given(notes=words, typed=words, at=st.integers(0, 8))
def test_no_word_is_ever_lost(notes: list[str], typed: list[str], at: int):
    before = compiled("".join(notes))
    lines = before.splitlines(keepends=True)
    after = "".join([*lines[:at], *typed, *lines[at:]])
    for last in (before, None):
        kept = persons_text(after, last).splitlines()
        for word in ("alpha", "- beta", "## Own", "gamma é 漢", "x", "```", "~~~"):
            wanted = sum(line.strip() == word for line in (*notes, *typed))
            assert sum(line.strip() == word for line in kept) == wanted, (word, kept)
    assert persons_text(before, before) == "".join(notes)


@pytest.mark.parametrize(("text", "expected"), [
    ("```\ncode\n", True), ("```\ncode\n```\n", False), ("~~~\n```\n", True), ("````\n```\n", True), ("- ```\n  x\n", True),
    ("<!-- open\n", True), ("<!-- shut -->\n", False), ("<script>\n", True), ("plain `` text\n", False), ("``` a`b\n", False),
    ("<pre>x</pre> <!--\n-->\n", False),
])
def test_leaves_open(text: str, expected: bool):
    assert leaves_open(text) is expected


BLOCKS = [
    "a paragraph of words\nover two lines\n", "- item one\n  nested words\n- item two\n", "```py\ncode\n\nmore code\n```\n",
    "# heading\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "see [it][ref]\n", "[ref]: https://example.org/x\n", "<!-- note\n\nstill -->\n",
    "1. one\n\n   its second paragraph\n", "> quote\n",
]


@settings(max_examples=300, deadline=None)
@given(blocks=st.lists(st.sampled_from(BLOCKS), max_size=12), size=st.integers(0, 400), lines=st.integers(0, 40))
def test_cap_05_notes_are_parted_between_whole_blocks(blocks: list[str], size: int, lines: int):
    text = "\n".join(blocks)
    head, tail = part(text, size, lines)
    assert head + tail == text
    assert len(head.encode()) <= size and head.count("\n") <= lines
    assert not leaves_open(head) or leaves_open(text)
    html = MarkdownIt("commonmark").enable("table").render(head)
    assert "[it][ref]" not in html or "[ref]:" not in text
    assert html.count("<table>") == html.count("</table>")
    assert head.count("| 1 | 2 |") == head.count("|---|---|")


def test_one_block_that_does_not_fit_moves_whole():
    assert part("x" * 5000 + "\n", 4096, 200) == ("", "x" * 5000 + "\n")
