import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoryfs.notation import (
    Note,
    fold,
    pointers,
    read_item,
    read_note,
    read_summary,
    write_note,
    write_summary,
)

MARKS = ["~~", "~", "\\", "`", "``", "```", " ", "[^person:2026-01-02]", "[^3f9a21:1-2]", "^m-abc1", "^r-1", "<!--", "-->",
         "&lt;!--", "&amp;lt;!--", "- ", "1. ", "# ", "> ", "[x] ", "a", "\n", '"', ";", ",", "hints: ", "2026-01-01",
         "[a]:", "---", "m-abc123: ", "superseded by [[#^m-1]]", "thread x", "\x00", "\x1b", "\u2028", "\xa0"]
texts = st.lists(st.sampled_from(MARKS), max_size=9).map("".join) | st.text(max_size=20)


@settings(max_examples=500)
@given(texts)
@example("\\[^3f9a21:1-2]")
@example("~\\~\\")
@example("\\`[^person:2026-01-02]`")
def test_a_summary_reads_back_and_is_nothing_but_text(text):
    written = write_summary(text)
    assert "\n" not in written and read_summary(written) == fold(text)
    item = read_item(written + " [^3f9a21:7-9] ^m-ffffff")
    assert (item.summary, item.id, item.labels) == (fold(text), "m-ffffff", ("3f9a21:7-9",))
    assert not item.struck and not item.checkbox and not item.other_ids


@settings(max_examples=500)
@given(texts, st.lists(texts, max_size=3), texts)
def test_a_note_reads_back(quote, hints, other):
    note = Note("2026-01-02", "2026-01-01-3f9a21", tuple(hints), quote, "", (("m-abc123", tuple(hints), other),))
    written = write_note(note)
    read = read_note(written)
    kept = tuple(hint for hint in map(fold, hints) if hint)
    assert "\n" not in written and (read.date, read.thread) == (note.date, note.thread)
    assert read.of("m-zzz") == (kept, fold(quote)) and read.of("m-abc123") == (kept, fold(other))


@pytest.mark.parametrize("quote", [
    r"^[a-z]+\.ed\.jp$", "C:\\Users\\x", 'she said "no"; then "yes"', "[^3f9a21:12-30]: x", "line one\nline two", "<script>",
    "--> <!-- ", "a `b` ``c``", "`", "SELECT * FROM t WHERE a = 'b';", "$HOME/.config", "%%hidden%%", "==x==", "#tag",
])
def test_exact_values_in_quotes_read_back_the_same(quote):
    assert read_note(write_note(Note("2026-01-01", quote=quote))).quote == " ".join(quote.split())


def test_notes_that_people_write_are_read():
    note = read_note('2026-05-12; hints: a_b, c; see the wiki; "he said "x" there"')
    assert (note.date, note.hints, note.text, note.quote) == ("2026-05-12", ("a_b", "c"), "see the wiki", 'he said "x" there')
    assert read_note("just words").text == "just words"
    assert read_note('"open end').quote == "open end"


@pytest.mark.parametrize(("text", "written"), [
    ("--dry-run first", "--dry-run first"), ("- dash", "\\- dash"), ("1. one", "1\\. one"), ("1.10 is out", "1.10 is out"),
    ("# head", "\\# head"), ("> q", "\\> q"), ("[ ] box", "\\[ ] box"), ("~/.config", "~/.config"), ("#7 is open", "#7 is open"),
    (r"\d+\.jp$", r"\d+\.jp$"), ("see `[^3f9a21:1]`", "see `[^3f9a21:1]`"), ("regex [^@]+@x", "regex [^@]+@x"),
])
def test_summaries_stay_legible(text, written):
    assert write_summary(text) == written


def test_pointers_outside_code():
    assert pointers("[[#^m-1]] `[[#^m-2]]` [[projects/x#^m-3|the third]] [[x]] \\[[#^m-4]]") == (
        ("", "m-1"), ("projects/x", "m-3"))
