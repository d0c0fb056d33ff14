"""edit_topic never loses what someone else saved: re-applied on their text, or given up with the file as they left it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memoryfs.edits import edit_topic
from memoryfs.errors import ChangedMeanwhileError, NotFoundError, OutsideStoreError
from memoryfs.topic_edit import add_statement, set_meta

FILE = "projects/school.md"


def mark(topic):
    return add_statement(topic, "m-000001", by="person", date="2026-11-29")


def test_nothing_is_written_when_nothing_changes(school):
    before = (school.root / FILE).stat().st_mtime_ns
    edit_topic(school.root, FILE, lambda topic: topic)
    assert (school.root / FILE).stat().st_mtime_ns == before


@pytest.mark.parametrize("how", ["in place", "atomic"])
def test_rt_06_a_save_between_read_and_write_is_kept(school, how):
    calls = []

    def fn(topic):
        if not calls:
            text = school.text(FILE) + "\nsaved meanwhile\n"
            if how == "in place":
                school.write(FILE, text)
            else:
                (school.root / "tmp").write_text(text, encoding="utf-8")
                os.replace(school.root / "tmp", school.root / FILE)
        calls.append(1)
        return mark(topic)

    edit_topic(school.root, FILE, fn)
    assert len(calls) == 2
    assert "saved meanwhile\n" in school.text(FILE) and "[^person:2026-11-29] ^m-000001" in school.text(FILE)


def test_rt_06_a_file_saved_again_and_again_is_left_as_saved(school):
    saves = []

    def fn(topic):
        saves.append(1)
        school.write(FILE, school.text(FILE) + f"save {len(saves)}\n")
        return mark(topic)

    with pytest.raises(ChangedMeanwhileError):
        edit_topic(school.root, FILE, fn, retries=3)
    assert len(saves) == 4 and school.text(FILE).endswith("save 4\n") and "^person" not in school.text(FILE)


def test_a_file_deleted_meanwhile_stays_deleted(school):
    def fn(topic):
        (school.root / FILE).unlink(missing_ok=True)
        return mark(topic)

    with pytest.raises(NotFoundError):
        edit_topic(school.root, FILE, fn)
    assert not (school.root / FILE).exists()


def test_a_link_out_of_the_store_is_not_written_through(school, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text(school.text(FILE))
    os.symlink(outside, school.root / "linked.md")
    with pytest.raises(OutsideStoreError):
        edit_topic(school.root, "linked.md", mark)
    assert "[^person" not in outside.read_text()


def test_rt_01_one_key_changes_one_line(school):
    before = school.text(FILE).splitlines()
    edit_topic(school.root, FILE, lambda topic: set_meta(topic, "reviewed", "2026-05-01"))
    after = school.text(FILE).splitlines()
    assert len(set(after) - set(before)) == 1 and not set(before) - set(after)


def _append(root: str, number: int) -> None:
    from datetime import UTC, datetime

    from memoryfs.config import Config
    from memoryfs.edits import remember
    from memoryfs.model import Memory

    for n in range(5):
        memory = Memory("", f"writer {number} says {n}", "fact", "active", FILE, 0)
        remember(Path(root), Config(), memory, actor="agent", now=datetime(2026, 11, 29, tzinfo=UTC))


def test_two_writers_lose_nothing(school):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append, args=(str(school.root), n)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [w.exitcode for w in writers] == [0, 0]
    text = school.text(FILE)
    assert all(f"writer {w} says {n} " in text for w in range(2) for n in range(5))
    assert school.done() == []


@pytest.mark.slow
def test_con_04_killed_at_random_points_each_file_is_whole(school):
    code = (
        "import sys\nfrom datetime import UTC, datetime\nfrom pathlib import Path\nfrom memoryfs.config import Config\n"
        "from memoryfs.edits import remember, forget, move\nfrom memoryfs.model import Memory\n"
        "root, now = Path(sys.argv[1]), datetime(2026, 11, 29, tzinfo=UTC)\nprint('go', flush=True)\nn = 0\n"
        "while True:\n"
        "    n += 1\n"
        "    c = remember(root, Config(), Memory('', f'run {sys.argv[2]} fact {n}', 'fact', 'active', 'a/x.md', 0), actor='agent', now=now)\n"
        "    if n % 3 == 1: move(root, Config(), c.id, 'b/y.md', actor='agent', now=now)\n"
        "    if n % 3 == 2: forget(root, Config(), c.id, actor='agent', now=now)\n"
    )
    for run in range(25):
        process = subprocess.Popen([sys.executable, "-c", code, str(school.root), str(run)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(0.01 + 0.013 * run)
        process.kill()
        process.wait()
        process.stdout.close()
        school.adopt()
        again = school.adopt()
        assert not again.changes and not again.problems
        state = school.state()
        from memoryfs.edits import load_topics

        standing = {m.id for t in load_topics(school.root, school.config).values() for m in t.memories}
        assert standing == {id for id, k in state.items() if k.status != "withdrawn"}
        assert not [k for k in state.values() if k.stated_by == "person"]
