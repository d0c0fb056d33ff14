"""Whatever a person does to a topic file: adopting it loses no words, settles at once, and the ledger agrees with the files."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from edits.conftest import NOW, SCHOOL, Store
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryfs.config import Config
from memoryfs.edits import adopt, load_topics, remember
from memoryfs.model import Memory

FILES = ("projects/school.md", "infrastructure/web.md")
EXTRA = "## Facts\n- Web fact. [^3f9a21:7] ^m-0000a1\n- Another one. ^m-0000a2\n\n[^3f9a21:7]: 2026-05-12\n"
words = st.sampled_from(["alpha", "a `b ~~c` d", "漢字 🚀", "~~gone~~", "x ^m-zz", "[[#^m-000001]] says", "9090", "- nested", "|a|b|", "*"])


@st.composite
def edit(draw, lines: list[str]) -> list[str]:
    lines = list(lines)
    at = draw(st.integers(0, max(0, len(lines) - 1)))
    kind = draw(st.sampled_from(["delete", "insert", "strike", "tick", "retype", "swap", "copy", "unmark", "heading", "indent"]))
    if not lines or kind == "insert":
        lines.insert(at, draw(st.sampled_from(["- ", "* ", "- [ ] ", "1. ", "", "> - "])) + draw(words))
    elif kind == "delete":
        del lines[at]
    elif kind == "strike":
        lines[at] = re.sub(r"^- (.*?)( \[\^| \^|$)", r"- ~~\1~~\2", lines[at], count=1)
    elif kind == "tick":
        lines[at] = lines[at].replace("[ ]", "[x]")
    elif kind == "retype":
        lines[at] = lines[at].replace("is", draw(words), 1)
    elif kind == "swap":
        other = draw(st.integers(0, len(lines) - 1))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == "copy":
        lines.insert(draw(st.integers(0, len(lines))), lines[at])
    elif kind == "unmark":
        lines[at] = re.sub(r" \^m-\w+", "", lines[at])
    elif kind == "heading":
        lines.insert(at, draw(st.sampled_from(["## Facts", "## Tasks", "## History", "## Own words", "```", "## Needs review"])))
    else:
        lines[at] = "  " + lines[at]
    return lines


@st.composite
def edited(draw, text: str) -> str:
    lines = text.split("\n")
    for _ in range(draw(st.integers(0, 4))):
        lines = draw(edit(lines))
    return "\n".join(lines)


def essence(text: str) -> list[str]:
    """The lines of a file without the marks that adoption may add and the places it may move them to."""
    bare = re.sub(r"\[\^[^\]]*\]|~~|\^[mr]-[\w-]+|superseded by \[\[[^\]]*\]\]|on 2026-11-29|2026-11-29; stated by a person|[\s\\:>*-]|\d+\.", "", text)
    return sorted(c for c in bare.replace("##", "").replace("History", ""))


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_edit_settles_and_loses_nothing(data):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), Config())
        store.write(FILES[0], SCHOOL)
        store.write(FILES[1], EXTRA)
        store.adopt()
        for path in FILES:
            store.write(path, data.draw(edited(store.text(path)), label=path))
        before = {path: store.text(path) for path in FILES}
        report = store.adopt()
        resolved = any(c.action == "resolve" and c.detail in ("accept", "withdrawn") for c in report.changes)
        for path in FILES:
            if not resolved:  # a ticked review line is removed, as asked, and one that asks nothing any more
                assert essence(store.text(path)) == essence(before[path]), path
        after = {path: store.text(path) for path in FILES}
        again = store.adopt()
        refused = {p.message.split(":")[0] for p in again.problems}
        assert [c for c in again.changes if f"^{c.id}" not in refused] == []
        assert {path: store.text(path) for path in FILES} == after
        topics = load_topics(store.root, store.config)
        if all(t.writable for t in topics.values()):
            places = [(m.id, m) for t in topics.values() for m in t.memories if m.metadata.get("adopted", True)]
            known = store.state()
            assert {id for id, _ in places} == {id for id, k in known.items() if k.status != "withdrawn"}
            for id, memory in places:
                if memory.topic != known[id].topic:  # a copy, which is reported and not used
                    assert any(f"^{id}" in p.message for p in again.problems) or not again.problems
                    continue
                assert (known[id].status == "superseded") == (memory.status == "superseded"), id


@settings(max_examples=60, deadline=None)
@given(text=st.text(min_size=1, max_size=40).filter(lambda t: " ".join(t.split()) and t.isprintable()), task=st.booleans())
def test_what_is_remembered_reads_back_and_is_no_hand_edit(text, task):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), Config())
        memory = Memory("", text, "task" if task else "fact", "active", "notes/x", 0)
        change = remember(store.root, store.config, memory, actor="agent", now=NOW)
        assert " ".join(store.memory(change.id).summary.split()) == " ".join(text.split())
        assert adopt(store.root, store.config, now=NOW).changes[1:] == ()
        assert store.state()[change.id].stated_by == "agent"
