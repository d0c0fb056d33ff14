"""MEMORY.md on disk: written only when it changes, always whole, hand edits kept, cheap to read when nothing changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryfs import briefing, files
from memoryfs.briefing import fresh, gist, stamp
from memoryfs.briefing.phrase import target_of
from memoryfs.briefing_cache import read_fresh
from memoryfs.config import Briefing, Config
from memoryfs.errors import ReadOnlyError
from memoryfs.files import scan

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
FACT = "## Facts\n- The port is 8080. [^person:2026-11-20] ^m-000001\n\n[^person:2026-11-20]: 2026-11-20; stated by a person\n"


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(text.encode("utf-8"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "projects/app.md", f"---\ntitle: App\nsummary: the school app\n---\n{FACT}")
    return tmp_path


def settle(root: Path) -> None:
    """Makes every topic file old enough for the stamp to hold."""
    for path in root.rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    data = stamp.read(root)
    if data:
        data["racy"] = False
        found = stamp.fingerprint(scan(root, Config()), Config())
        (root / stamp.FILE).write_text(json.dumps(data | {"fingerprint": found}))


def refresh(root: Path, config: Config | None = None) -> bool:
    return briefing.refresh(root, config or Config(), now=NOW)


def test_rt_02_a_second_refresh_writes_nothing(root: Path):
    assert refresh(root) is True
    before = (root / "MEMORY.md").stat().st_mtime_ns
    assert refresh(root) is False
    assert (root / "MEMORY.md").stat().st_mtime_ns == before


def test_read_fresh_gives_what_stands_in_the_file(root: Path):
    text = read_fresh(root, Config(), now=NOW)
    assert text == (root / "MEMORY.md").read_text() and "the school app" in text
    settle(root)
    assert read_fresh(root, Config(), now=NOW) == text


def test_the_unchanged_path_compiles_nothing(root: Path, monkeypatch):
    refresh(root)
    settle(root)
    monkeypatch.setattr(fresh, "write_fresh", lambda *a, **k: pytest.fail("compiled"))
    assert "the school app" in read_fresh(root, Config())


def test_the_unchanged_path_imports_nothing_slow(root: Path):
    refresh(root)
    settle(root)
    code = (
        "import sys\nfrom pathlib import Path\nfrom memoryfs.briefing_cache import read_fresh\nfrom memoryfs.config import Config\n"
        "read_fresh(Path(sys.argv[1]), Config())\n"
        "heavy = {'yaml', 'frontmatter', 'markdown_it', 'ruamel', 'rich', 'numpy', 'apsw', 'rapidfuzz', 'difflib', 'memoryfs.topic',"
        " 'memoryfs.briefing.compile', 'asyncio', 'subprocess', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_only_changed_files_are_parsed_again(root: Path, monkeypatch):
    from memoryfs import topic

    for number in range(5):
        write(root, f"projects/topic-{number}.md", f"# Topic {number}\n{FACT.replace('m-00000', f'm-{number}0000')}")
    for path in root.rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr(files, "TICK_NS", 0)  # as if the files were old
    refresh(root)
    before = (root / "MEMORY.md").read_text()
    real, parsed = topic.parse, []
    monkeypatch.setattr(topic, "parse", lambda data, path: parsed.append(path) or real(data, path))
    write(root, "projects/topic-3.md", "# Another title\n")
    refresh(root)
    assert parsed == ["projects/topic-3.md"] and "Another title" in (root / "MEMORY.md").read_text()
    write(root, "projects/topic-3.md", f"# Topic 3\n{FACT.replace('m-00000', 'm-30000')}")
    refresh(root)
    assert (root / "MEMORY.md").read_text() == before
    for broken in ('{"version": 1, "topics": [', '{"version": 1, "topics": [1]}', '{"version": 1, "topics": {"projects/app.md": [1]}}', "[]"):
        (root / gist.FILE).write_text(broken)
        (root / "MEMORY.md").unlink()
        refresh(root)
        assert (root / "MEMORY.md").read_text() == before


@pytest.mark.parametrize("change", [
    lambda r: write(r, "projects/new.md", "# New topic\n"), lambda r: (r / "projects/app.md").unlink(),
    lambda r: (r / "projects/app.md").rename(r / "projects/other.md"),
    lambda r: write(r, "projects/app.md", "# Renamed title\n"), lambda r: (r / "MEMORY.md").unlink(),
    lambda r: write(r, "MEMORY.md", "# mine\n"),
])
def test_every_change_is_seen(root: Path, change):
    refresh(root)
    settle(root)
    change(root)
    text = read_fresh(root, Config(), now=NOW)
    assert text == fresh.compiled_text(root, Config(), now=NOW) == (root / "MEMORY.md").read_text()


def test_idx_04_same_size_and_time_is_seen(root: Path):
    refresh(root)
    settle(root)
    path = root / "projects/app.md"
    times = path.stat()
    path.write_text(path.read_text().replace("the school app", "the skhool app"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    assert "skhool" in read_fresh(root, Config(), now=NOW)


def test_a_save_in_the_same_tick_as_the_stamp_is_seen(root: Path):
    refresh(root)
    assert stamp.read(root)["racy"] is True


def test_other_caps_are_a_change(root: Path):
    read_fresh(root, Config(), now=NOW)
    settle(root)
    assert len(read_fresh(root, Config(briefing=Briefing(220, 200)), now=NOW).encode()) <= 220


def test_cap_07_words_typed_anywhere_survive_a_refresh(root: Path):
    refresh(root)
    text = (root / "MEMORY.md").read_text()
    write(root, "MEMORY.md", text.replace("## Projects\n", "typed here\n## Projects\n").replace("## Notes\n", "## Notes\nand here\n"))
    refresh(root)
    assert "## Notes\ntyped here\n\nand here\n" in (root / "MEMORY.md").read_text()
    assert refresh(root) is False


def test_cap_07_adding_one_memory_keeps_the_rest(root: Path):
    write(root, "MEMORY.md", "# About me\n\n- I prefer tabs.\n")
    refresh(root)
    write(root, "projects/app.md", (root / "projects/app.md").read_text().replace("## Facts\n", "## Facts\n- New. [^person:2026-11-20] ^m-000002\n"))
    refresh(root)
    text = (root / "MEMORY.md").read_text()
    assert "# About me\n\n- I prefer tabs.\n" in text and "New." in text and "8080" in text


def test_notes_without_room_move_to_notes_md_once(root: Path):
    config = Config(briefing=Briefing(2000, 200))
    notes = "".join(f"paragraph {n} of mine\n\n" for n in range(200))
    write(root, "MEMORY.md", notes)
    refresh(root, config)
    text, more = (root / "MEMORY.md").read_text(), (root / "notes.md").read_text()
    assert len(text.encode()) <= 2000 and "- more notes → notes.md\n" in text
    assert all((f"paragraph {n} of mine" in text) != (f"paragraph {n} of mine" in more) for n in range(200))
    assert refresh(root, config) is False and (root / "notes.md").read_text() == more


def test_con_04_killed_between_the_two_files_no_note_is_lost_or_doubled(root: Path, monkeypatch):
    class Killed(BaseException):
        pass

    config = Config(briefing=Briefing(2000, 200))
    notes = "".join(f"paragraph {n} of mine\n\n" for n in range(200))
    write(root, "MEMORY.md", notes)
    real = fresh.write_atomic

    def die(path, data, **more):
        if Path(path).name == "MEMORY.md":
            raise Killed
        real(path, data, **more)

    monkeypatch.setattr(fresh, "write_atomic", die)
    with pytest.raises(Killed):
        refresh(root, config)
    assert (root / "MEMORY.md").read_text() == notes
    monkeypatch.undo()
    refresh(root, config)
    everything = (root / "MEMORY.md").read_text() + (root / "notes.md").read_text()
    assert [everything.count(f"paragraph {n} of mine\n") for n in range(200)] == [1] * 200


def test_con_04_killed_at_random_points_the_file_is_whole(root: Path):
    code = (
        "import sys\nfrom datetime import UTC, datetime\nfrom pathlib import Path\nfrom memoryfs.briefing import refresh\n"
        "from memoryfs.config import Config\nimport memoryfs.briefing.fresh\nroot = Path(sys.argv[1])\nprint('go', flush=True)\nn = 0\n"
        "while True:\n    n += 1\n    (root / 'projects/n.md').write_text(f'# Title {n}\\n')\n"
        "    refresh(root, Config(), now=datetime(2026, 11, 29, tzinfo=UTC))\n"
    )
    refresh(root)
    for run in range(8):
        process = subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(0.01 + run * 0.017)
        process.kill()
        process.wait()
        process.stdout.close()
        text = (root / "MEMORY.md").read_text()
        assert text.startswith("# Memory\n") and text.rstrip().endswith("-->") and "## Notes\n" in text
        refresh(root)
        assert f"- {(root / 'projects/n.md').read_text()[2:].strip()} →" in (root / "MEMORY.md").read_text() or \
            not (root / "projects/n.md").read_text()


def test_rt_06_a_save_during_the_refresh_is_kept(root: Path, monkeypatch):
    refresh(root)
    real, calls = fresh.read_gists, []

    def slow(*args):
        if not calls:
            write(root, "MEMORY.md", (root / "MEMORY.md").read_text().replace("## Notes\n", "## Notes\nsaved meanwhile\n"))
        calls.append(1)
        return real(*args)

    write(root, "projects/new.md", "# New topic\n")
    monkeypatch.setattr(fresh, "read_gists", slow)
    refresh(root)
    text = (root / "MEMORY.md").read_text()
    assert "saved meanwhile\n" in text and "New topic" in text


@pytest.mark.parametrize("before", ["", "an older note\n"])
def test_rt_06_notes_moved_while_a_person_saves_are_not_doubled(root: Path, monkeypatch, before: str):
    config = Config(briefing=Briefing(2000, 200))
    write(root, "MEMORY.md", "".join(f"paragraph {n} of mine\n\n" for n in range(200)))
    if before:
        write(root, "notes.md", before)
    real, saves = fresh.write_atomic, []

    def interrupted(path, data, **more):
        if Path(path).name == "MEMORY.md" and len(saves) < 3:
            saves.append(f"line {len(saves)} saved meanwhile\n")
            write(root, "MEMORY.md", (root / "MEMORY.md").read_text() + "\n" + saves[-1])
        real(path, data, **more)

    monkeypatch.setattr(fresh, "write_atomic", interrupted)
    refresh(root, config)
    everything = (root / "MEMORY.md").read_text() + (root / "notes.md").read_text()
    assert len(saves) == 3 and [everything.count(line) for line in saves] == [1, 1, 1]
    assert [everything.count(f"paragraph {n} of mine\n") for n in range(200)] == [1] * 200
    assert (root / "notes.md").read_text().startswith(before)


def test_rt_04_a_link_stays_a_link(root: Path, tmp_path_factory):
    repo = tmp_path_factory.mktemp("dotfiles")
    (repo / "mem.md").write_text("# mine\n")
    (repo / "mem.md").chmod(0o600)
    os.symlink(repo / "mem.md", root / "MEMORY.md")
    refresh(root)
    assert (root / "MEMORY.md").is_symlink() and "the school app" in (repo / "mem.md").read_text()
    assert (repo / "mem.md").stat().st_mode & 0o777 == 0o600


def test_rt_04_a_dangling_link_is_a_clear_error(root: Path):
    os.symlink(root / "nowhere" / "x.md", root / "MEMORY.md")
    with pytest.raises(ReadOnlyError, match="link"):
        read_fresh(root, Config(), now=NOW)


def test_a_store_that_cannot_be_written_still_briefs(root: Path, monkeypatch):
    def refuse(path, data, **more):
        raise ReadOnlyError(str(path), "Read-only file system")

    monkeypatch.setattr(fresh, "write_atomic", refuse)
    assert "the school app" in read_fresh(root, Config(), now=NOW)
    assert not (root / "MEMORY.md").exists()


@pytest.mark.parametrize(("data", "expected"), [
    (b"caf\xe9 notes\n", "café notes\n"), ("メモ\n".encode("utf-16"), "メモ\n"), (b"\x81\x92 odd\n", "\x81\x92 odd\n"),
])
def test_a_memory_file_that_is_not_utf8_is_kept_beside(root: Path, data: bytes, expected: str):
    (root / "MEMORY.md").write_bytes(data)
    refresh(root)
    assert f"## Notes\n{expected}" in (root / "MEMORY.md").read_bytes().decode("utf-8")
    assert (root / "MEMORY.bak").read_bytes() == data
    refresh(root)
    assert not (root / "MEMORY.2.bak").exists()


def test_cap_06_pointers_lead_to_files_and_dead_ones_go(root: Path):
    write(root, "projects/a (b) [c] #1.md", "# Odd\n")
    write(root, "projects/code.md", "# Code\n\n```\n[[:space:]] [t](example.md)\n```\n")
    refresh(root)
    (root / "projects/app.md").rename(root / "projects/app 2 日本.md")
    (root / "projects/code.md").unlink()
    write(root, "projects/dropped-in.md", "# Dropped in\n")
    refresh(root)
    paths = {path for line in (root / "MEMORY.md").read_text().splitlines() if (path := target_of(line))}
    assert paths == {"projects/a (b) [c] #1.md", "projects/app 2 日本.md", "projects/dropped-in.md"}
    assert all((root / path).is_file() for path in paths)


def test_explain_lists_what_is_in_and_what_is_not(root: Path):
    for number in range(5):
        write(root, f"projects/topic-{number}.md", f"# Topic {number}\n")
    found = briefing.explain(root, Config(briefing=Briefing(260, 200)))
    assert {item["section"] for item in found} == {"Projects", "Recent"}
    assert {item["shown"] for item in found} == {True, False}
    assert not (root / "MEMORY.md").exists()


def test_a_broken_topic_costs_only_itself(root: Path):
    write(root, "projects/bad.md", "---\ntitle: a: b\n---\nx\n")
    (root / "projects/latin.md").write_bytes(b"# caf\xe9\n")
    refresh(root)
    text = (root / "MEMORY.md").read_text()
    assert "the school app" in text and "projects/bad.md" in text and "projects/latin.md" in text
