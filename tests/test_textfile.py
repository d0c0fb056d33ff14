import errno
import hashlib
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryfs.errors import ChangedMeanwhileError, LockedError, OutsideStoreError, ReadOnlyError, UsageError
from memoryfs.textfile import (
    StoreLock,
    append_lines,
    atomic,
    clean_litter,
    digest_of,
    inside,
    read_file,
    slug,
    write_atomic,
)
from memoryfs.textfile.swap import exchange, open_for_writing


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_read_gives_bytes_digest_and_strict_text(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes("é\r\n".encode())
    file = read_file(path)
    assert (file.data, file.text, file.digest) == ("é\r\n".encode(), "é\r\n", hashlib.sha256(file.data).hexdigest())
    path.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        _ = read_file(path).text


def test_a_fifo_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.md")
    with pytest.raises(OSError, match="not a regular file"):
        read_file(tmp_path / "x.md")
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)


def test_write_makes_folders_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "projects" / "a.md"
    write_atomic(path, b"one", expect="")
    write_atomic(path, b"two", expect=digest_of(b"one"))
    write_atomic(path, b"three")
    assert path.read_bytes() == b"three" and names(path.parent) == ["a.md"]


def test_equal_bytes_are_not_written(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"same")
    os.utime(path, ns=(1, 1))
    inode = path.stat().st_ino
    write_atomic(path, b"same", expect="not even looked at")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (1, inode)


def test_a_changed_or_existing_file_is_left_as_it_was_saved(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"theirs")
    for expect in ("", digest_of(b"mine")):
        with pytest.raises(ChangedMeanwhileError):
            write_atomic(path, b"ours", expect=expect)
    path.unlink()
    with pytest.raises(ChangedMeanwhileError):
        write_atomic(path, b"ours", expect=digest_of(b"theirs"))
    assert names(tmp_path) == []


def test_rt_06_a_line_added_between_check_and_rename_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_bytes(b"old\n")

    def save_first(one, other):
        with open(path, "ab") as file:
            file.write(b"a person's line\n")
        monkeypatch.setattr(atomic, "exchange", exchange)
        return exchange(one, other)

    monkeypatch.setattr(atomic, "exchange", save_first)
    write_atomic(path, b"ours\n", expect=digest_of(b"old\n"))
    assert path.read_bytes() == b"ours\na person's line\n" and names(tmp_path) == ["a.md"]


def test_rt_06_an_editor_that_renames_in_that_moment_wins(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_bytes(b"old")

    def rename_first(one, other):
        (tmp_path / "new").write_bytes(b"saved by an editor")
        os.rename(tmp_path / "new", path)
        monkeypatch.setattr(atomic, "exchange", exchange)
        return exchange(one, other)

    monkeypatch.setattr(atomic, "exchange", rename_first)
    with pytest.raises(ChangedMeanwhileError):
        write_atomic(path, b"ours", expect=digest_of(b"old"))
    assert path.read_bytes() == b"saved by an editor" and names(tmp_path) == ["a.md"]


def test_rt_06_an_editor_that_has_the_file_open_is_waited_for_and_its_line_kept(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_bytes(b"old\n")
    editor = open(path, "ab", buffering=0)  # noqa: SIM115 opened before our swap, written after it
    if not open_for_writing(path):
        pytest.skip("no file leases here")
    looked = []

    def look(swap):
        looked.append(swap)
        if len(looked) == 2:
            editor.write(b"late\n")
            editor.close()
        return open_for_writing(swap)

    monkeypatch.setattr(atomic, "open_for_writing", look)
    write_atomic(path, b"ours\n", expect=digest_of(b"old\n"))
    assert path.read_bytes() == b"ours\nlate\n"


def test_rt_06_an_editor_that_rewrites_the_open_file_wins(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_bytes(b"old\n")
    editor = open(path, "r+b", buffering=0)  # noqa: SIM115 opened before our swap, rewritten after it

    def look(swap):
        if not editor.closed:
            editor.write(b"new words\n")
            editor.close()
        return False

    monkeypatch.setattr(atomic, "open_for_writing", look)
    with pytest.raises(ChangedMeanwhileError):
        write_atomic(path, b"ours\n", expect=digest_of(b"old\n"))
    assert path.read_bytes() == b"new words\n" and names(tmp_path) == ["a.md"]


def test_without_a_swap_of_names_the_check_still_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    write_atomic(path, b"new", expect=digest_of(b"old"))
    with pytest.raises(ChangedMeanwhileError):
        write_atomic(path, b"newer", expect=digest_of(b"old"))
    assert path.read_bytes() == b"new" and names(tmp_path) == ["a.md"]


_APPENDER = """
import sys, time
for number in range(int(sys.argv[2])):
    with open(sys.argv[1], "a") as file:
        file.write(f"person {number}\\n")
    time.sleep(0.002)
"""


def test_rt_06_two_hundred_rounds_against_an_appending_editor_lose_no_line(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"start\n")
    rounds = 200
    editor = subprocess.Popen([sys.executable, "-c", _APPENDER, str(path), str(rounds)])
    ours = 0
    deadline = time.monotonic() + 60
    while editor.poll() is None:
        assert time.monotonic() < deadline
        file = read_file(path)
        try:
            write_atomic(path, file.data + f"ours {ours}\n".encode(), expect=file.digest)
            ours += 1
        except ChangedMeanwhileError:
            pass
    lines = path.read_text().splitlines()
    assert sorted(line for line in lines if line.startswith("person")) == sorted(f"person {n}" for n in range(rounds))
    assert [line for line in lines if line.startswith("ours")] == [f"ours {n}" for n in range(ours)]
    assert ours > 0 and names(tmp_path) == ["a.md"]


def test_rt_04_links_stay_links_and_modes_stay(tmp_path):
    real = tmp_path / "dotfiles" / "real.md"
    real.parent.mkdir()
    real.write_bytes(b"old")
    real.chmod(0o600)
    (tmp_path / "middle.md").symlink_to(real)
    (tmp_path / "a.md").symlink_to("middle.md")
    write_atomic(tmp_path / "a.md", b"new", expect=digest_of(b"old"))
    assert (tmp_path / "a.md").is_symlink() and (tmp_path / "middle.md").is_symlink()
    assert real.read_bytes() == b"new" and stat.S_IMODE(real.stat().st_mode) == 0o600
    assert names(real.parent) == ["real.md"]


def test_rt_04_a_dangling_link_or_a_loop_is_a_clear_error(tmp_path):
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "loop.md").symlink_to("loop.md")
    with pytest.raises(ReadOnlyError, match=r"link to nowhere\.md"):
        write_atomic(tmp_path / "gone.md", b"x")
    with pytest.raises(ReadOnlyError, match=r"link to loop\.md"):
        write_atomic(tmp_path / "loop.md", b"x")
    assert not (tmp_path / "nowhere.md").exists()


def test_rt_04_the_other_name_of_a_hard_link_keeps_the_old_text(tmp_path):
    (tmp_path / "a.md").write_bytes(b"old")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    write_atomic(tmp_path / "a.md", b"new")
    assert ((tmp_path / "a.md").read_bytes(), (tmp_path / "b.md").read_bytes()) == (b"new", b"old")


def test_mode_can_be_given_and_a_write_protected_file_is_respected(tmp_path):
    path = tmp_path / "a.md"
    write_atomic(path, b"x", mode=0o640)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o444)
    with pytest.raises(ReadOnlyError, match="write-protected"):
        write_atomic(path, b"y")
    assert path.read_bytes() == b"x"


def test_con_04_no_space_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_bytes(b"old")

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ReadOnlyError, match="No space left") as caught:
        write_atomic(path, b"new", expect=digest_of(b"old"))
    assert caught.value.exit_code != 0
    assert path.read_bytes() == b"old" and names(tmp_path) == ["a.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_named(tmp_path):
    folder = tmp_path / "store"
    folder.mkdir(mode=0o500)
    with pytest.raises(ReadOnlyError, match="Permission denied"):
        write_atomic(folder / "a.md", b"x")
    with pytest.raises(ReadOnlyError), StoreLock(folder):
        raise AssertionError("locked a folder that cannot be written")


_WRITER = """
import sys
from memoryfs.textfile import read_file, write_atomic
for number in range(10**9):
    data = (str(number) + "\\n").encode() * 20000
    write_atomic(sys.argv[1], data, expect=read_file(sys.argv[1]).digest)
"""


@pytest.mark.parametrize("round_", range(4))
def test_con_04_killed_in_mid_write_the_file_is_whole_and_the_next_run_cleans(tmp_path, round_):
    path = tmp_path / "a.md"
    path.write_bytes(b"start\n")
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)])
    while path.read_bytes() == b"start\n":
        time.sleep(0.01)
    time.sleep(0.013 * round_)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    lines = path.read_bytes().splitlines()
    assert len(lines) == 20000 and len(set(lines)) == 1
    clean_litter(tmp_path)
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_litter_of_a_living_writer_and_files_of_others_stay(tmp_path):
    import fcntl

    alive = tmp_path / ".memoryfs-00112233445566aa.part"
    dead = tmp_path / ".memoryfs-00112233445566bb.part"
    other = tmp_path / ".memoryfs-notes.part"
    for path in (alive, dead, other):
        path.write_bytes(b"x")
    with open(alive) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        clean_litter(tmp_path)
        assert names(tmp_path) == [alive.name, other.name]


def test_a_version_nobody_has_seen_comes_back_after_a_crash(tmp_path):
    old, new = digest_of(b"old")[:12], digest_of(b"new")[:12]
    (tmp_path / f".memoryfs-00112233445566aa-{new}-{old}.swap").write_bytes(b"old")
    (tmp_path / f".memoryfs-00112233445566bb-{new}-{old}.swap").write_bytes(b"saved in that instant")
    clean_litter(tmp_path)
    assert names(tmp_path) == ["recovered-00112233445566bb.md"]
    assert (tmp_path / "recovered-00112233445566bb.md").read_bytes() == b"saved in that instant"


def test_append_adds_whole_lines_and_repairs_a_torn_one(tmp_path):
    path = tmp_path / "deep" / "ledger.jsonl"
    append_lines(path, ['{"a": 1}'])
    with open(path, "ab") as file:
        file.write(b'{"torn')
    append_lines(path, ['{"b": 2}', "é"])
    assert path.read_text(encoding="utf-8").split("\n") == ['{"a": 1}', '{"torn', '{"b": 2}', "é", ""]
    with pytest.raises(ValueError, match="line end"):
        append_lines(path, ["a\nb"])


def test_append_is_all_or_nothing_when_the_disk_is_full(tmp_path, monkeypatch):
    path = tmp_path / "ledger.jsonl"
    append_lines(path, ["one"])
    real, calls = os.write, []

    def half(descriptor, data):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, bytes(data)[:3])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(ReadOnlyError, match="No space"):
        append_lines(path, ["two", "three"])
    assert path.read_bytes() == b"one\n"


def _append_many(path: str, name: str) -> None:
    for number in range(50):
        append_lines(path, [f"{name} {number}", f"{name} {number} again"])


def test_two_appending_processes_keep_each_others_lines_whole(tmp_path):
    path = tmp_path / "ledger.jsonl"
    workers = [multiprocessing.get_context("spawn").Process(target=_append_many, args=(str(path), name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    lines = path.read_text().splitlines()
    assert len(lines) == 200
    assert all(lines[n + 1] == lines[n] + " again" for n in range(0, 200, 2))


def test_con_03_the_kernel_decides_not_what_the_file_says(tmp_path):
    lock = tmp_path / ".memoryfs" / "organize.lock"
    lock.parent.mkdir()
    for content in (b"", b"1", str(os.getpid()).encode(), b"held by process 1\n", b"\xff\xfe garbage"):
        lock.write_bytes(content)
        with StoreLock(tmp_path):
            assert lock.exists()


def test_con_03_an_overlap_ends_at_once_with_its_own_code(tmp_path):
    with StoreLock(tmp_path):
        begun = time.monotonic()
        with pytest.raises(LockedError, match=r"organize\.lock") as caught, StoreLock(tmp_path):
            raise AssertionError("locked twice")
        assert caught.value.exit_code == 3 and time.monotonic() - begun < 1
        with StoreLock(tmp_path, "index"):
            pass
    with StoreLock(tmp_path):
        pass


_HOLDER = """
import sys, time
from memoryfs.textfile import StoreLock
with StoreLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_con_03_a_killed_holder_frees_the_lock(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(LockedError), StoreLock(tmp_path):
        raise AssertionError("locked twice")
    holder.kill()
    holder.wait()
    with StoreLock(tmp_path, wait_seconds=5):
        pass


def test_a_child_does_not_inherit_the_lock(tmp_path):
    with StoreLock(tmp_path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        with StoreLock(tmp_path):
            pass
    finally:
        child.communicate(b"\n")


def test_a_lock_is_waited_for(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER.replace("60", "0.4"), str(tmp_path)],
                              stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    with StoreLock(tmp_path, wait_seconds=10):
        pass
    holder.wait()


@pytest.mark.parametrize("path", [
    "../../etc/passwd", "/etc/passwd", "a/../../b", "..\\..\\x", "..", "~/x", "C:\\x", "\\\\server\\x", "x\0y",
])
def test_mcp_05_paths_that_lead_out_are_refused(tmp_path, path):
    store = tmp_path / "store"
    store.mkdir()
    with pytest.raises(OutsideStoreError):
        inside(store, path)


def test_mcp_05_paths_inside_are_resolved(tmp_path):
    store = tmp_path / "store"
    (store / "projects").mkdir(parents=True)
    (store / "in.md").symlink_to("projects/x.md")
    (store / "out.md").symlink_to(tmp_path / "elsewhere.md")
    assert inside(store, "projects/x.md") == store.resolve() / "projects/x.md"
    assert inside(store, "%2e%2e/x").is_relative_to(store.resolve())
    assert inside(store, "in.md") == store.resolve() / "projects/x.md"
    with pytest.raises(OutsideStoreError):
        inside(store, "out.md")
    assert inside(store, "out.md", follow_links_outside=True) == tmp_path.resolve() / "elsewhere.md"
    with pytest.raises(UsageError, match="too long"):
        inside(store, "a" * 300 + ".md")


@pytest.mark.parametrize(("title", "name"), [
    ("School auth", "school-auth"), ("a/b", "a-b"), ("../../x", "x"), ("CON", "con-topic"), ("nul", "nul-topic"),
    ("x.md:ads", "x-md-ads"), ("trailing. ", "trailing"), ("C#", "c-sharp"), ("C++", "c-plus-plus"),
    ("メールアドレス 検証", "メールアドレス-検証"), ("Straße", "strasse"), ("-rf", "rf"), ("a\nb\0c", "a-b-c"),
    ("re\u0301sume\u0301", "résumé"), ("COM1", "com1-topic"), ("Issue #7", "issue-7"),
])
def test_mcp_05_titles_become_safe_names(title, name):
    assert slug(title) == name


@given(st.text(), st.integers(8, 100))
@example("🚀", 80)
@example("\ud800", 80)
@example("İ" * 100, 80)
@example("é" * 300, 80)
def test_a_slug_is_a_safe_file_name(title, max_bytes):
    name = slug(title, max_bytes)
    assert name and len(name.encode("utf-8")) <= max(max_bytes, 12) + 6
    assert name == unicodedata.normalize("NFC", name) and name == name.strip(". -")
    assert not set(name) & set('/\\:*?"<>|\0\n\r') and slug(name, 200) == name
