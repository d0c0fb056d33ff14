"""Pointers go where memories went: the program's own lead there, a person's words stay as they were typed."""

from __future__ import annotations

import pytest
from edits.conftest import NOW, SCHOOL

from memoryfs import notation
from memoryfs.edits import move
from memoryfs.edits.regroup import bring_over, follow
from memoryfs.topic import parse
from memoryfs.topic_edit import linked_by_hand, new_topic, repoint

FILE, NEW = "projects/school.md", "projects/school-cookies.md"
HISTORY = "\n## History\n- ~~Cookies live 3 days.~~ superseded by [[#^m-000003]] on 2026-05-12 [^3f9a21:3] ^m-000009\n"


def with_history(store) -> None:
    store.change(FILE, "\n[^3f9a21:1-2]:", HISTORY + "\n[^3f9a21:1-2]:")
    store.adopt()


def test_pointers_in_reviews_and_history_follow_a_move(school):
    with_history(school)
    move(school.root, school.config, "m-000003", NEW, actor="person", now=NOW)
    text = school.text(FILE)
    assert "- [ ] [[projects/school-cookies#^m-000003]] says 7 days (2026-05-12); [[#^m-000004]] says 14 days" in text
    assert "superseded by [[projects/school-cookies#^m-000003]] on 2026-05-12" in text
    move(school.root, school.config, "m-000009", NEW, actor="person", now=NOW)
    assert "superseded by [[projects/school-cookies#^m-000003]] on 2026-05-12" in school.text(NEW)
    move(school.root, school.config, "m-000003", FILE, actor="person", now=NOW)
    assert "superseded by [[projects/school#^m-000003]]" in school.text(NEW)
    assert "[[#^m-000003]] says 7 days" in school.text(FILE) and school.done() == []


def test_other_files_and_the_archive_follow_too(school):
    school.write("archive/projects/old.md", "---\nstatus: archived\n---\n# Old\n\n## History\n"
                 "- ~~Cookies live a day.~~ superseded by [[projects/school#^m-000003]] on 2026-05-10 [^3f9a21:3] ^m-000008\n\n[^3f9a21:3]: 2026-05-12\n")
    school.write("projects/other.md", "# Other\n\n## Needs review\n- [ ] [[school#^m-000003]] and [[projects/school#^m-000001]] differ. ^r-000002\n")
    school.adopt()
    move(school.root, school.config, "m-000003", NEW, actor="person", now=NOW)
    assert "superseded by [[projects/school-cookies#^m-000003]]" in school.text("archive/projects/old.md")
    assert "[[projects/school-cookies#^m-000003]] and [[projects/school#^m-000001]] differ" in school.text("projects/other.md")


def test_a_persons_words_are_not_rewritten_but_known(school):
    school.change(FILE, "Prose that a person wrote.", "See [[#^m-000003]], not `[[#^m-000001]]`.")
    school.write("notes/mine.md", "# Mine\n\n## Facts\n- as in [[projects/school#^m-000002]]\n")
    school.adopt()
    before = school.text("notes/mine.md")
    move(school.root, school.config, "m-000003", NEW, actor="person", now=NOW)
    assert "See [[#^m-000003]], not `[[#^m-000001]]`." in school.text(FILE) and school.text("notes/mine.md") == before
    assert linked_by_hand(parse(school.text(FILE).encode(), FILE)) == {"m-000003"}
    assert linked_by_hand(parse(before.encode(), "notes/mine.md")) == {"m-000002"}


@pytest.mark.parametrize(("text", "expected"), [
    ("a [[#^m-1]] b", "a [[x/y#^m-1]] b"), ("[[p#^m-1|the port]]", "[[x/y#^m-1|the port]]"), ("`[[#^m-1]]` \\[[#^m-1]]", "`[[#^m-1]]` \\[[#^m-1]]"),
    ("[[#^m-2]] and [[#^m-1]]", "[[#^m-2]] and [[x/y#^m-1]]"), ("日本語[[メモ#^m-1]]です", "日本語[[x/y#^m-1]]です"), ("", ""),
])
def test_a_pointers_path_alone_is_changed(text, expected):
    assert notation.repoint(text, lambda path, id: "x/y" if id == "m-1" else None) == expected


def test_repointing_what_leads_there_changes_nothing():
    topic = parse(SCHOOL.encode(), FILE)
    assert repoint(topic, {"m-000003": FILE, "m-000004": FILE}) is topic


def bring(store, ids):
    return bring_over(store.root, store.config, FILE, NEW, ids, actor="organizer", now=NOW, why="by subject",
                      create=lambda: new_topic(NEW, title="school · cookies", created_at="2026-05-12"))


def test_a_group_goes_with_its_footnotes_and_again_changes_nothing(school):
    assert bring(school, ["m-000003", "m-000004", "m-ffffff"]) == ("m-000003", "m-000004")
    text = school.text(NEW)
    assert "- Cookies live 7 days. [^3f9a21:3] ^m-000003\n- Cookies live 14 days. [^3f9a21:9] ^m-000004\n" in text
    assert "[^3f9a21:3]: 2026-05-12\n" in text and "[^3f9a21:3]:" not in school.text(FILE) and "Prose that a person wrote." in school.text(FILE)
    before, told = school.bytes(), school.entries("m-000003")
    assert told[-1] == ("organizer", "move")
    bring(school, ["m-000003", "m-000004"])
    assert (school.bytes(), school.entries("m-000003")) == (before, told) and school.done() == []


@pytest.mark.parametrize("after", [False, True])
def test_con_04_a_group_killed_between_two_writes_is_finished_by_doing_it_again(school, monkeypatch, after):
    from memoryfs.edits import regroup

    whole = school.bytes()
    bring(school, ["m-000003", "m-000004"])
    follow(school.root, school.config, {"m-000003": NEW, "m-000004": NEW}, now=NOW)
    wanted, told = school.bytes(), school.entries("m-000003")
    real = regroup.edit_topic
    for left in range(3):
        for path in wanted:
            (school.root / path).unlink()
        for path, data in whole.items():
            (school.root / path).write_bytes(data)
        lines = (school.root / "ledger.jsonl").read_text().splitlines(True)
        (school.root / "ledger.jsonl").write_text("".join(line for line in lines if '"move"' not in line))
        calls = []

        def dies(*args, calls=calls, left=left, **more):
            calls.append(1)
            if len(calls) > left and not after:
                raise KeyboardInterrupt
            done = real(*args, **more)
            if len(calls) > left:
                raise KeyboardInterrupt
            return done

        monkeypatch.setattr(regroup, "edit_topic", dies)
        with pytest.raises(KeyboardInterrupt):
            bring(school, ["m-000003", "m-000004"])
            follow(school.root, school.config, {"m-000003": NEW, "m-000004": NEW}, now=NOW)
        monkeypatch.undo()
        bring(school, ["m-000003", "m-000004"])
        follow(school.root, school.config, {"m-000003": NEW, "m-000004": NEW}, now=NOW)
        assert school.bytes() == wanted and school.entries("m-000003") == told


def test_words_that_a_person_changed_meanwhile_are_not_taken_out(school, monkeypatch):
    from memoryfs.edits import regroup

    real = regroup.edit_topic

    def changed(root, path, *args, **more):
        if path == FILE:
            school.change(FILE, "Cookies live 7 days.", "Cookies live 8 days.")
        return real(root, path, *args, **more)

    monkeypatch.setattr(regroup, "edit_topic", changed)
    bring(school, ["m-000003"])
    assert "Cookies live 8 days." in school.text(FILE)
