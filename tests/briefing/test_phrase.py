"""One line of a briefing: cut between graphemes, never inside code or a link, with a pointer that resolves."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memoryfs.briefing.phrase import clip, cut, escape, is_boundary, one_line, pointer, target_of

FAMILY = "👨‍👩‍👧‍👦"
CLUSTERS = [
    "é", "e\u0301", "漢", "🚀", FAMILY, "👍🏽", "🇯🇵", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "❤️", "각", "각",
    "क्षि", "नि", "ก็", "1️⃣", "a\u0308\u0323", "が", "ﾊﾟ",
]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_cap_03_a_grapheme_is_never_split(cluster: str):
    text = cluster * 3
    for size in range(len(text.encode()) + 1):
        kept = cut(text, size)
        assert len(kept.encode()) <= size
        assert len(kept) % len(cluster) == 0, (size, kept)


def test_flags_are_cut_in_pairs():
    flags = "🇯🇵🇰🇷🇩🇪"
    assert [is_boundary(flags, at) for at in range(1, 6)] == [False, True, False, True, False]


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.sampled_from([*CLUSTERS, "a", " ", "word "]), max_size=12), size=st.integers(0, 80))
def test_a_cut_is_a_beginning_within_the_size(parts: list[str], size: int):
    text = "".join(parts)
    for shorten in (cut, clip):
        kept = shorten(text, size)
        assert len(kept.encode()) <= size or kept == ""
        assert text.startswith(kept.removesuffix("…").rstrip())
    assert len(cut(text, size).encode()) <= size
    assert clip(text, len(text.encode())) == text


@pytest.mark.parametrize(("text", "expected"), [
    ("use `pnpm install --frozen-lockfile` here", "use…"),
    ("see [the long guide](https://example.org/guide) now", "see…"),
    ("a short word then anothervalue", "a short word then…"),
    ("`code` and [link](x.md) and more words", "`code` and [link](x.md)…"),
])
def test_cap_05_code_and_links_are_left_out_whole(text: str, expected: str):
    assert clip(text, len(expected.encode()) + 2) == expected


@pytest.mark.parametrize("path", [
    "projects/x.md", "a (b) [c] #1.md", "x%23.md", "日本語/メモ 帳.md", "a b/c d.md", "q\"'.md", "<x>.md", "a\\b.md", "50%.md",
    "tick`tock.md", "star*_.md", "?.md", "pipe|x.md", "& amp;.md", "~~x~~.md",
])
def test_cap_06_a_pointer_resolves_for_person_and_program(path: str):
    line = f"- text{pointer(path)}"
    assert target_of(line) == path
    if "[" in pointer(path):
        tokens = MarkdownIt().parse(line)
        inline = next(t for t in tokens if t.type == "inline")
        (link,) = [c for c in inline.children if c.type == "link_open"]
        assert unquote(link.attrs["href"]) == path
        label = "".join(c.content for c in inline.children if c.type in ("text", "text_special"))
        assert label == f"text → {path}"
    else:
        assert pointer(path) == f" → {path}"


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(lambda p: p.strip() == p))
def test_every_path_comes_back_from_its_pointer(path: str):
    assert target_of("- x" + pointer(path)) == path or not path.isprintable()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_a_line_stays_one_list_item_with_one_paragraph(text: str):
    line = escape(one_line(text))
    tokens = [t.type for t in MarkdownIt().parse(f"- {line} → x.md\n")]
    assert tokens == [
        "bullet_list_open", "list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close",
        "bullet_list_close",
    ]
    assert "<!--" not in line and "-->" not in line and "\n" not in line
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in line)


def test_wiki_links_become_their_words():
    assert one_line("see [[projects/x|the app]] and [[#^m-7c01d2]]") == "see the app and m-7c01d2"
    assert not re.search(r"\[\[", one_line("[[projects/x]] ![[y]]"))
