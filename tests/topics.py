"""Texts and strategies that the tests of topic files share."""

from __future__ import annotations

from hypothesis import strategies as st

SAMPLE = """---
title: School auth
status: active                      # active | superseded | archived | conflicted
tags: [auth, email-validation]
query_hints: [validateEmail, メールアドレス 正規表現]
importance: 0.9
source_range:
  - {thread: 2026-05-12-3f9a21, start: 128, end: 146}
created_at: 2026-05-12
---
# School auth

Prose that a person wrote, with [[a link]] and ![[an embed]].

## Facts
- teacher.example.ed.jp is allowed; alumni.example.ed.jp is not. [^3f9a21:128-146] ^m-7c01d2
- a hand-written one
  - with a child
  over two lines

## Tasks
- [ ] Add a test for sub-domains. [^3f9a21:150-152] ^m-90aa17
- [x] Rename the flag. [^person:2026-05-13] ^m-90aa18

## Needs review
- [ ] [[#^m-11b0c4]] says the cookie lives 7 days (2026-05-12); [[projects/x#^m-52e9f8]] says 14 days. ^r-4410aa

## History
- ~~alumni.example.ed.jp is allowed too.~~ superseded by [[#^m-7c01d2]] on 2026-05-14 [^3f9a21:12-30] ^m-02ddee

[^3f9a21:128-146]: 2026-05-12; hints: validateEmail, AUTH_ALLOWED_DOMAINS; "古い alumni.example.ed.jp はもう通さないで"
[^3f9a21:12-30]: 2026-05-12; "alumni も通して"
[^person:2026-05-13]: 2026-05-13; stated by a person
"""

PIECES = [
    "\n", "\r\n", "\r", "\n\n", "---\n", "...\n", "# H\n", "## Facts\n", "## Tasks\r\n", "### Facts\n", "## History\n",
    "## Needs review\n", "- x\n", "- two\n  lines\n", "  - child ^m-abc123\n", "* star\n", "1. one\n", "- [ ] t ^m-000001\n",
    "- ~~gone~~ superseded by [[#^m-000001]] ^m-000002\n", "- [ ] [[#^m-000001]]? ^r-000001\n", "para ^m-000003\n",
    "```\n", "~~~\n", "    code\n", "<!-- c\n", "-->\n", "<div>\n", "> - q\n", "| a | b |\n|---|---|\n", "[^1]: own\n",
    "[^3f9a21:1-2]: 2026-01-01; \"q\"\n", "- y [^3f9a21:1-2] ^m-000004\n", "\ufeff", "\t", "  ", "title: T\n", "tags: [a]\n",
    "k: [\n", "T\n===\n", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "\x85", "\u2028", "\x0b", "\x00", "é", "🚀", "text",
]

documents = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map(
    lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass"))


@st.composite
def mutations(draw):
    """The sample with pieces put in and stretches taken out."""
    data = bytearray(SAMPLE.encode())
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"]))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        if draw(st.booleans()):
            data[at:at] = draw(st.sampled_from(PIECES)).encode()
        else:
            del data[at:at + draw(st.integers(1, 30))]
    return bytes(data).replace(b"\n", end)
