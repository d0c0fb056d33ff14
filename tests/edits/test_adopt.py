"""What a person does in an editor is understood: each kind of hand edit, in the files, the ledger and the report."""

from __future__ import annotations

import os
import shutil
from datetime import date

import pytest
from edits.conftest import SCHOOL

from memoryfs import ledger, topic_edit
from memoryfs.edits import is_tombstoned

FILE = "projects/school.md"
PERSON = "[^person:2026-11-29]"


def test_a_clone_or_lost_ledger_is_taken_in_without_a_byte_changed(store):
    store.write(FILE, SCHOOL)
    report = store.adopt()
    assert {c.action for c in report.changes} == {"adopt", "conflict"} and not report.files
    assert store.text(FILE) == SCHOOL
    known = store.state()["m-000001"]
    assert (known.stated_by, known.status, known.sources) == ("organizer", "active", ("3f9a21:1-2",))
    assert store.state()["m-000003"].status == "conflicted"
    assert store.done() == [] and store.text(FILE) == SCHOOL


def test_a_second_adoption_finds_nothing_and_leaves_times_alone(school):
    path = school.root / FILE
    before = path.stat().st_mtime_ns
    size = (school.root / ledger.FILE).stat().st_size
    assert school.done() == [] and school.done() == []
    assert path.stat().st_mtime_ns == before and (school.root / ledger.FILE).stat().st_size == size


def test_a_new_bullet_is_adopted_as_the_persons(school):
    school.change(FILE, "## Tasks\n", "## Tasks\n- [ ] Ask Kim about SSO.\n")
    ((action, id, topic),) = school.done()
    assert (action, topic) == ("adopt", FILE)
    assert f"- [ ] Ask Kim about SSO. {PERSON} ^{id}\n" in school.text(FILE)
    assert f"{PERSON}: 2026-11-29; stated by a person\n" in school.text(FILE)
    memory = school.memory(id)
    assert (memory.stated_by, memory.kind, memory.date) == ("person", "task", "2026-11-29")
    assert school.entries(id) == [("person", "adopt")] and school.state()[id].stated_by == "person"
    assert school.done() == []


def test_only_the_lines_that_must_change_do(school):
    school.change(FILE, "## Tasks\n", "## Tasks\n- [ ] Ask Kim about SSO.\n")
    before = school.text(FILE).splitlines()
    school.adopt()
    after = school.text(FILE).splitlines()
    assert [line for line in before if line not in after] == ["- [ ] Ask Kim about SSO."]
    assert len([line for line in after if line not in before]) == 2


def test_a_new_file_of_the_persons_is_adopted(school):
    school.write("contacts/kim.md", "# Kim\n\n## Facts\n- Works on Mondays.\n- Likes tea.\n")
    done = school.done()
    assert [(a, t) for a, _, t in done] == [("adopt", "contacts/kim.md")] * 2
    assert school.text("contacts/kim.md").startswith("# Kim\n\n## Facts\n- Works on Mondays. [^person:")


def test_org_10_an_edited_bullet_keeps_its_id_and_is_the_persons(school):
    school.change(FILE, "The port is 8080.", "The port is 9090.")
    assert school.done() == [("edit", "m-000002", FILE)]
    assert f"- The port is 9090. [^3f9a21:5] {PERSON} ^m-000002\n" in school.text(FILE)
    known = school.state()["m-000002"]
    assert (known.text, known.stated_by) == ("The port is 9090.", "person")
    assert school.memory("m-000002").stated_by == "person"
    assert school.done() == []
    school.change(FILE, "9090", "9091")
    assert school.done() == [("edit", "m-000002", FILE)]
    assert school.text(FILE).count(f"{PERSON}:") == 1


def test_new_line_breaks_are_no_edit(school):
    school.change(FILE, "- The port is 8080. [", "- The port\n  is 8080. [")
    before = school.text(FILE)
    assert school.done() == [] and school.text(FILE) == before


def test_a_moved_bullet_moves(school):
    line = "- The port is 8080. [^3f9a21:5] ^m-000002\n"
    school.change(FILE, line, "")
    school.write("infrastructure/prod.md", f"## Facts\n{line}\n[^3f9a21:5]: 2026-05-12\n")
    assert school.done() == [("move", "m-000002", "infrastructure/prod.md")]
    known = school.state()["m-000002"]
    assert (known.topic, known.stated_by, known.status) == ("infrastructure/prod.md", "organizer", "active")


def test_a_bullet_moved_to_another_section_changes_its_kind(school):
    line = "- The port is 8080. [^3f9a21:5] ^m-000002\n"
    school.change(FILE, line, "")
    school.change(FILE, "## Tasks\n", f"## Instructions\n{line}\n## Tasks\n")
    assert school.done() == [("edit", "m-000002", FILE)]
    assert school.state()["m-000002"].kind == "instruction"


def test_a_deleted_bullet_is_withdrawn_and_never_returns(school):
    school.change(FILE, "- The port is 8080. [^3f9a21:5] ^m-000002\n", "")
    assert school.done() == [("withdraw", "m-000002", FILE)]
    state = school.state()
    assert (state["m-000002"].status, state["m-000002"].withdrawn_by) == ("withdrawn", "person")
    assert is_tombstoned(state, "the port is **8080**") and not is_tombstoned(state, "The port is 8081.")
    assert school.done() == []


def test_a_pasted_back_bullet_is_restored(school):
    line = "- The port is 8080. [^3f9a21:5] ^m-000002\n"
    school.change(FILE, line, "")
    school.adopt()
    school.change(FILE, "## Facts\n", f"## Facts\n{line}")
    assert school.done() == [("restore", "m-000002", FILE)]
    assert (school.state()["m-000002"].status, school.state()["m-000002"].stated_by) == ("active", "person")
    school.change(FILE, f"- The port is 8080. [^3f9a21:5] {PERSON} ^m-000002\n", "")
    school.adopt()
    school.change(FILE, "## Facts\n", "## Facts\n- The port is 8080.\n")
    assert school.done() == [("restore", "m-000002", FILE)]
    assert school.done() == [] and not is_tombstoned(school.state(), "The port is 8080.")


def test_a_bullet_that_lost_its_id_gets_it_back(school):
    school.change(FILE, " [^3f9a21:5] ^m-000002", " [^3f9a21:5]")
    assert school.done() == [("edit", "m-000002", FILE)]
    assert "- The port is 8080. [^3f9a21:5] ^m-000002\n" in school.text(FILE)
    assert school.memory("m-000002").stated_by == "organizer"


def test_a_struck_out_bullet_is_superseded_and_goes_to_history(school):
    school.change(FILE, "- The port is 8080.", "- ~~The port is 8080.~~")
    assert school.done() == [("supersede", "m-000002", FILE)]
    history = school.text(FILE).partition("## History\n")[2]
    assert history.splitlines()[0] == "- ~~The port is 8080.~~ [^3f9a21:5] ^m-000002"
    known = school.state()["m-000002"]
    assert (known.status, known.superseded_by) == ("superseded", "")
    assert school.entries("m-000002")[-1] == ("person", "supersede")
    assert school.done() == []


def test_a_struck_out_bullet_with_a_remark_stays_as_the_person_left_it(school):
    school.change(FILE, "- The port is 8080.", "- ~~The port is 8080.~~ moved")
    assert school.done() == [("supersede", "m-000002", FILE)]
    assert "- ~~The port is 8080.~~ moved [^3f9a21:5] ^m-000002\n" in school.text(FILE)
    assert school.done() == []


def test_taking_a_line_out_of_history_brings_it_back(school):
    school.change(FILE, "- The port is 8080.", "- ~~The port is 8080.~~")
    school.adopt()
    text = school.text(FILE)
    line = "- ~~The port is 8080.~~ [^3f9a21:5] ^m-000002\n"
    assert line in text
    school.write(FILE, text.replace(line, "").replace("## Facts\n", "## Facts\n- The port is 8080. [^3f9a21:5] ^m-000002\n"))
    assert school.done() == [("restore", "m-000002", FILE)]
    assert school.state()["m-000002"].status == "active"


def test_a_new_struck_bullet_is_adopted_as_past(school):
    school.change(FILE, "## Facts\n", "## Facts\n- ~~We used MySQL.~~\n")
    ((action, id, _),) = school.done()
    assert action == "adopt" and school.memory(id).status == "superseded"
    assert school.state()[id].status == "superseded" and school.done() == []


def test_a_ticked_task_is_done(school):
    school.change(FILE, "- [ ] Add", "- [x] Add")
    assert school.done() == [("edit", "m-000005", FILE)]
    assert school.state()["m-000005"].done and school.state()["m-000005"].stated_by == "organizer"
    assert school.done() == []


def test_a_ticked_review_accepts_the_newer_statement(school):
    school.change(FILE, "- [ ] [[#^m-000003]]", "- [x] [[#^m-000003]]")
    assert school.done() == [("resolve", "r-000001", FILE)]
    text = school.text(FILE)
    assert "^r-000001" not in text
    assert "- ~~Cookies live 7 days.~~ superseded by [[#^m-000004]] on 2026-11-29 [^3f9a21:3] ^m-000003\n" in text
    state = school.state()
    assert (state["m-000003"].status, state["m-000003"].superseded_by) == ("superseded", "m-000004")
    assert state["m-000004"].status == "active" and school.memory("m-000004").status == "active"
    assert school.entries("r-000001") == [("organizer", "conflict"), ("person", "resolve")]
    assert school.done() == []


def test_a_deleted_review_keeps_both(school):
    text = school.text(FILE)
    line = next(line for line in text.splitlines(keepends=True) if "^r-000001" in line)
    school.write(FILE, text.replace(line, ""))
    assert school.done() == [("resolve", "r-000001", FILE)]
    assert {school.state()[id].status for id in ("m-000003", "m-000004")} == {"active"}
    assert school.done() == []


def test_a_review_of_memories_in_two_files_is_settled_in_both(school):
    line = "- Cookies live 7 days. [^3f9a21:3] ^m-000003\n"
    text = school.text(FILE).replace(line, "").replace("[[#^m-000003]]", "[[infrastructure/web#^m-000003]]")
    school.write(FILE, text)
    school.write("infrastructure/web.md", f"## Facts\n{line}\n[^3f9a21:3]: 2026-05-12\n")
    assert school.done() == [("move", "m-000003", "infrastructure/web.md")]
    school.change(FILE, "- [ ] [[infra", "- [x] [[infra")
    assert school.done() == [("resolve", "r-000001", FILE)]
    assert "superseded by [[projects/school#^m-000004]]" in school.text("infrastructure/web.md")
    assert school.done() == []


def test_front_matter_edits_are_recorded_by_key(school):
    school.change(FILE, "tags: [auth]", "tags: [auth, mail]")
    assert school.done() == [("edit", "", FILE)]
    entry = ledger.read(school.root)[0][-1]
    assert (entry.actor, entry.extra["meta"]) == ("person", {"tags": ["auth", "mail"]})
    school.change(FILE, "status: active", "status: archived")
    assert school.done() == [("edit", "", FILE)]
    assert ledger.read(school.root)[0][-1].extra["meta"] == {"status": "archived"}
    assert school.done() == []


def test_a_renamed_file_keeps_ids_and_history(school):
    (school.root / "archive-of-old").mkdir()
    (school.root / FILE).rename(school.root / "archive-of-old/auth.md")
    assert {(a, t) for a, _, t in school.done()} == {("move", "archive-of-old/auth.md")}
    assert {k.status for k in school.state().values()} == {"active", "conflicted"}
    assert school.done() == []


def test_idx_07_a_case_only_rename_keeps_the_ids(school):
    (school.root / FILE).rename(school.root / "projects/School.md")
    assert {a for a, _, _ in school.done()} == {"move"}
    assert school.memory("m-000001").topic == "projects/School.md"


def test_merged_and_split_files_keep_their_ids(school):
    school.write("projects/other.md", "## Facts\n- Other. [^3f9a21:7] ^m-0000f1\n\n[^3f9a21:7]: 2026-05-12\n")
    school.adopt()
    merged = school.text(FILE).replace("## Facts\n", "## Facts\n- Other. [^3f9a21:7] ^m-0000f1\n") + "[^3f9a21:7]: 2026-05-12\n"
    school.write(FILE, merged)
    (school.root / "projects/other.md").unlink()
    assert school.done() == [("move", "m-0000f1", FILE)]
    first, _, rest = school.text(FILE).partition("## Tasks\n")
    school.write(FILE, first)
    school.write("tasks/school.md", "## Tasks\n" + rest)
    assert ("move", "m-000005", "tasks/school.md") in school.done()
    assert not [k for k in school.state().values() if k.status == "withdrawn"]


def test_a_deleted_file_withdraws_its_memories_and_bringing_it_back_restores_them(school):
    text = school.text(FILE)
    (school.root / FILE).unlink()
    assert {a for a, _, _ in school.done()} == {"withdraw", "resolve"}
    assert {k.status for k in school.state().values()} == {"withdrawn"}
    school.write(FILE, text)
    assert {a for a, _, _ in school.done()} == {"restore", "conflict"}
    assert {k.status for k in school.state().values()} <= {"active", "conflicted"}


def test_a_file_moved_to_archive_is_archived_not_withdrawn(school):
    (school.root / "archive").mkdir()
    (school.root / FILE).rename(school.root / "archive/school.md")
    assert ("move", "m-000001", "archive/school.md") in school.done()
    assert school.state()["m-000001"].status == "archived" and school.done() == []
    (school.root / "archive/school.md").rename(school.root / FILE)
    assert ("move", "m-000001", FILE) in school.done()
    assert school.state()["m-000001"].status == "active"


BREAKAGES = {
    "yaml": lambda t: t.replace("title: School auth", "title: a: b"),
    "conflict": lambda t: t.replace("## Tasks", "<<<<<<< HEAD\n## Tasks\n=======\n>>>>>>> x"),
    "bytes": lambda t: t.replace("Prose", "Pr\udcffse"),
    "nul": lambda t: t.replace("Prose", "Pr\0se"),
    "double": lambda t: t.replace("## Tasks", "- again ^m-000001\n\n## Tasks"),
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_a_broken_file_is_named_left_alone_and_withdraws_nothing(school, kind):
    broken = BREAKAGES[kind](school.text(FILE).replace("- The port is 8080. [^3f9a21:5] ^m-000002\n", "- new one\n"))
    school.write(FILE, broken)
    before = school.bytes()
    report = school.adopt()
    assert school.bytes() == before and not report.changes
    assert FILE in {p.path for p in report.problems}
    assert {k.status for k in school.state().values()} <= {"active", "conflicted"}
    school.write(FILE, SCHOOL)
    assert school.done() == []


def test_an_unreadable_file_withdraws_nothing(school):
    text = school.text(FILE)
    (school.root / FILE).unlink()
    with open(os.fsencode(school.root) + b"/projects/bad\xff.md", "w") as file:
        file.write(text)
    report = school.adopt()
    assert "withdraw" not in {c.action for c in report.changes}
    assert {k.status for id, k in school.state().items() if id.startswith("m-")} <= {"active", "conflicted"}


def test_idx_09_a_sync_conflict_copy_is_named_and_not_merged(school):
    copy = school.text(FILE).replace("8080", "8081")
    school.write("projects/school.sync-conflict-20261129-120000-ABCDEF.md", copy)
    report = school.adopt()
    assert not report.changes and any("sync conflict" in p.message for p in report.problems)
    assert school.text("projects/school.sync-conflict-20261129-120000-ABCDEF.md") == copy


def test_a_copied_file_is_reported_and_not_merged(school):
    shutil.copy(school.root / FILE, school.root / "projects/zz-backup.md")
    before = school.bytes()
    report = school.adopt()
    assert "adopt" not in {c.action for c in report.changes} and school.bytes() == before
    assert {p.path for p in report.problems} == {"projects/zz-backup.md"}
    assert school.state()["m-000001"].topic == FILE


def test_idx_03_two_copies_moved_together_stay_two_files(school):
    shutil.copy(school.root / FILE, school.root / "projects/zz-backup.md")
    school.adopt()
    (school.root / "projects").rename(school.root / "work")
    assert ("move", "m-000001", "work/school.md") in school.done()
    assert (school.root / "work/zz-backup.md").exists()


def test_our_interrupted_move_is_finished(school):
    school.write("infrastructure/prod.md", "## Facts\n- The port is 8080. [^3f9a21:5] ^m-000002\n\n[^3f9a21:5]: 2026-05-12\n")
    ledger.append(school.root, (ledger.Entry("t", "agent", "move", "m-000002", "infrastructure/prod.md", extra={"from": FILE}),))
    assert school.done() == [("move", "m-000002", "infrastructure/prod.md")]
    assert "^m-000002" not in school.text(FILE) and school.done() == []


def test_con_04_our_own_write_without_its_ledger_line_is_no_persons_edit(school):
    from memoryfs.edits import edit_topic
    from memoryfs.model import SourceRange
    from memoryfs.topic_edit import add_source, supersede

    edit_topic(school.root, FILE, lambda t: add_source(
        t, "m-000001", SourceRange("2026-05-20-aaaaaa", 3, 4), date=date(2026, 5, 20).isoformat()))
    edit_topic(school.root, FILE, lambda t: supersede(t, "m-000002", by="m-000001", on="2026-05-20"))
    assert school.done() == [("supersede", "m-000002", FILE)]
    assert school.entries("m-000002")[-1] == ("organizer", "supersede")
    assert school.state()["m-000001"].stated_by == "organizer" and PERSON not in school.text(FILE)


def test_a_dry_run_tells_and_writes_nothing(school):
    school.change(FILE, "## Tasks\n", "## Tasks\n- [ ] Ask Kim.\n")
    before, size = school.bytes(), (school.root / ledger.FILE).stat().st_size
    report = school.adopt(dry_run=True)
    assert [c.action for c in report.changes] == ["adopt"] and report.files == (FILE,)
    assert school.bytes() == before and (school.root / ledger.FILE).stat().st_size == size


def test_episodes_are_not_adopted(store):
    store.write("episodes/2026/2026-05-14-x.md", "# X\n\n## Tasks\n- [ ] left open\n")
    assert store.done() == []
    assert "^m-" not in store.text("episodes/2026/2026-05-14-x.md")


def test_two_equal_bullets_are_two_memories(store):
    store.write(FILE, "## Facts\n- same\n- same\n")
    done = store.done()
    assert len({id for _, id, _ in done}) == 2 and store.done() == []


def test_crlf_and_bom_stay(store):
    store.write(FILE, "\ufeff# T\r\n\r\n## Facts\r\n- one\r\n- two\r\n")
    store.adopt()
    text = store.text(FILE)
    assert text.startswith("\ufeff# T\r\n") and "\n" not in text.replace("\r\n", "")


def test_a_scripted_day(school):
    """Adopt, edit, move, delete, strike, tick, rename, merge and settle a conflict, all at once."""
    text = school.text(FILE)
    text = text.replace("The port is 8080.", "The port is 9090.")
    text = text.replace("- teacher.example.ed.jp is allowed. [^3f9a21:1-2] ^m-000001\n", "")
    text = text.replace("- [ ] [[#^m-000003]]", "- [x] [[#^m-000003]]").replace("- [ ] Add", "- [x] Add")
    text = text.replace("## Tasks\n", "## Tasks\n- [ ] New one.\n").replace("tags: [auth]", "tags: [login]")
    (school.root / FILE).unlink()
    school.write("projects/login.md", text)
    done = school.done()
    new = next(id for action, id, _ in done if action == "adopt")
    assert {(a, i) for a, i, _ in done} >= {
        ("adopt", new), ("edit", "m-000002"), ("withdraw", "m-000001"), ("resolve", "r-000001"), ("edit", "m-000005"),
    }
    state = school.state()
    assert {id: (k.status, k.stated_by, k.topic) for id, k in state.items()} == {
        "m-000001": ("withdrawn", "organizer", FILE),
        "m-000002": ("active", "person", "projects/login.md"),
        "m-000003": ("superseded", "organizer", "projects/login.md"),
        "m-000004": ("active", "organizer", "projects/login.md"),
        "m-000005": ("active", "organizer", "projects/login.md"),
        new: ("active", "person", "projects/login.md"),
    }
    assert school.done() == []


def test_a_file_that_cannot_be_written_is_put_off_and_named(school, monkeypatch):
    from memoryfs.edits import write
    from memoryfs.errors import ReadOnlyError

    def refuse(path, data, **more):
        raise ReadOnlyError(str(path), "No space left on device")

    school.change(FILE, "## Tasks\n", "## Tasks\n- [ ] Ask Kim.\n")
    before, size = school.bytes(), (school.root / ledger.FILE).stat().st_size
    monkeypatch.setattr(write, "write_atomic", refuse)
    report = school.adopt()
    assert not report.changes and "No space left" in next(p.message for p in report.problems if p.path == FILE)
    assert school.bytes() == before and (school.root / ledger.FILE).stat().st_size == size
    monkeypatch.undo()
    assert [a for a, _, _ in school.done()] == ["adopt"]


def test_a_footnote_that_a_person_defined_again_stays(school):
    own = "[^3f9a21:5]: my own words on the port\n"
    school.write(FILE, school.text(FILE) + own)
    school.change(FILE, "- The port is 8080.", "- ~~The port is 8080.~~")
    assert school.done() == [("supersede", "m-000002", FILE)]
    assert school.text(FILE).count("[^3f9a21:5]: ") == 2 and own in school.text(FILE)


def test_a_thousand_bullets_are_adopted_at_once(school, monkeypatch):
    from memoryfs.topic_edit import check

    reads = []
    real = check.parse
    monkeypatch.setattr(check, "parse", lambda *args: reads.append(1) or real(*args))
    bullets = [f"- Fact number {n} of a long list." for n in range(1000)]
    school.write("notes/long.md", "## Facts\n" + "\n".join(bullets) + "\n")
    assert len(school.done()) == 1000 and len(reads) < 10
    assert [line.split(" [^")[0] for line in school.text("notes/long.md").splitlines()[1:1001]] == bullets
    assert school.done() == []


def test_one_bullet_that_cannot_be_marked_costs_only_itself(school, monkeypatch):
    from memoryfs.errors import UnwritableFileError

    real = topic_edit.set_ids

    def refuse(topic, ids, **more):
        if any(m.line in ids and "odd" in m.summary for m in topic.memories):
            raise UnwritableFileError(topic.path, "odd")
        return real(topic, ids, **more)

    monkeypatch.setattr(topic_edit, "set_ids", refuse)
    school.write("notes/odd.md", "## Facts\n- One.\n- Two.\n- An odd one.\n- Four.\n- Five.\n")
    report = school.adopt()
    assert [c.detail for c in report.changes] == ["One.", "Two.", "Four.", "Five."]
    assert any("odd" in p.message for p in report.problems)
    assert "\n- An odd one.\n" in school.text("notes/odd.md")


@pytest.mark.parametrize("new", ["", "- ~~Cookies live 14 days.~~ [^3f9a21:9] ^m-000004\n"])
def test_a_review_with_one_statement_left_is_resolved(school, new):
    school.change(FILE, "- Cookies live 14 days. [^3f9a21:9] ^m-000004\n", new)
    done = school.done()
    assert ("resolve", "r-000001", FILE) in done
    assert "r-000001" not in school.text(FILE) and "- Cookies live 7 days." in school.text(FILE)
    assert school.memory("m-000003").status == "active" and school.state()["m-000003"].status == "active"
    assert school.done() == []


def test_a_review_whose_statement_stands_in_a_broken_file_stays_open(school):
    line = "- Cookies live 14 days. [^3f9a21:9] ^m-000004\n"
    school.change(FILE, line, "")
    school.write("projects/broken.md", "---\ntags: [a\n---\n## Facts\n" + line)
    assert school.done() == [] and "^r-000001" in school.text(FILE)
