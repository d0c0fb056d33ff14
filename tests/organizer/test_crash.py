"""CON-04 for the organizer: killed at any write and run again, the store ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from organizer_kit import NOW, LineJudges, contents, transcript

from memoryfs import ledger, textfile
from memoryfs.config import Config
from organizer import apply, journal, pipeline

SESSIONS = {
    "a": ("2026-05-12", [
        ("user", "On cookies.\nFACT: The cookie lives 7 days.\nFACT: Racks stand in hall 4.\nRULE: Never push on Friday."),
        ("assistant", "EVENT: Wrote the cookie module.\nTASK: Test the cookie module."),
    ]),
    "b": ("2026-05-13", [("user", "FACT: The cookie now lives 14 days.\nFACT: Racks stand in hall 4.")]),
    "c": ("2026-05-14", [("user", "FACT: Racks stand in hall 5.\nFACT: Keys hang in room 12.")]),
}


class Killed(BaseException):
    """As a kill would: nothing after it runs."""


def write_sessions(folder: Path) -> Path:
    for name, (day, turns) in SESSIONS.items():
        transcript(folder / f"{name}.jsonl", f"session-{name}", day, turns)
    return folder


def run(root: Path, folder: Path) -> Any:
    return pipeline.run(root, paths=[folder], config=Config(), now=NOW, judges=LineJudges())


class Fuse:
    """Lets `left` writes happen, then kills before or after the next one."""

    def __init__(self, left: int, *, after: bool) -> None:
        self.left, self.after = left, after

    def guard(self, function: Any) -> Any:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left < 0 and not self.after:
                raise Killed
            result = function(*args, **kwargs)
            if self.left < 0:
                raise Killed
            return result

        return guarded


def arm(monkeypatch: pytest.MonkeyPatch, fuse: Fuse) -> None:
    from memoryfs.edits import write

    for module in (pipeline, journal, write):
        monkeypatch.setattr(module, "write_atomic", fuse.guard(textfile.write_atomic))
    monkeypatch.setattr(ledger, "append", fuse.guard(ledger.append))
    monkeypatch.setattr(journal, "end", fuse.guard(journal.end))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_con_04_killed_at_every_write_and_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    folder = write_sessions(tmp_path / "t")
    (tmp_path / "whole").mkdir()
    run(tmp_path / "whole", folder)
    wanted = contents(tmp_path / "whole")
    kills = 0
    for left in range(200):
        root = tmp_path / f"killed-{left}"
        root.mkdir()
        with monkeypatch.context() as patched:
            arm(patched, Fuse(left, after=after))
            try:
                run(root, folder)
                break
            except Killed:
                kills += 1
        run(root, folder)
        assert contents(root) == wanted, f"killed {'after' if after else 'before'} write {left}"
        assert journal.pending(root) is None
    assert kills >= 15


def test_a_torn_journal_is_dropped_and_the_session_organized_anew(tmp_path: Path) -> None:
    folder = write_sessions(tmp_path / "t")
    (tmp_path / "whole").mkdir()
    run(tmp_path / "whole", folder)
    root = tmp_path / "torn"
    (root / ".memoryfs").mkdir(parents=True)
    for torn in (b"", b"{", b"[]", b'{"version": 1, "plan": 3}', b"\xff\xfe"):
        journal.path_of(root).write_bytes(torn)
        assert journal.pending(root) is None
    run(root, folder)
    assert contents(root) == contents(tmp_path / "whole")


def test_a_plan_survives_its_way_through_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[journal.Work] = []
    begin = journal.begin

    def remember(root: Path, work: journal.Work) -> None:
        begin(root, work)
        kept.append(work)
        assert journal.pending(root) == work

    monkeypatch.setattr(journal, "begin", remember)
    (tmp_path / "s").mkdir()
    run(tmp_path / "s", write_sessions(tmp_path / "t"))
    assert len(kept) == 3
    assert any(t.replaced for w in kept for t in w.plan.topics)


def test_a_persons_deletion_between_kill_and_next_run_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_sessions(tmp_path / "t")
    root = tmp_path / "s"
    root.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(journal, "end", Fuse(0, after=False).guard(journal.end))
        with pytest.raises(Killed):
            run(root, folder)
    path = next(p for p in (root / "projects").glob("*.md") if "Racks stand in hall 4." in p.read_text())
    path.write_text("".join(x for x in path.read_text().splitlines(True) if not x.startswith("- Racks stand in hall 4.")))
    run(root, folder)
    assert "- Racks stand in hall 4." not in "".join(p.read_text() for p in (root / "projects").glob("*.md"))


_CHILD = """
import sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from test_crash import run
print("go", flush=True)
run(Path(sys.argv[1]), Path(sys.argv[2]))
"""


ROUNDS = int(os.environ.get("MEMORYFS_KILLS", "25"))  # random points of a run


def _child(root: Path, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _CHILD, str(root), str(folder), str(Path(__file__).parent)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ))
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_con_04_a_real_kill_at_any_time(tmp_path: Path, how: signal.Signals) -> None:
    folder = write_sessions(tmp_path / "t")
    (tmp_path / "whole").mkdir()
    with _child(tmp_path / "whole", folder) as child:
        begun = time.perf_counter()
        child.wait()
    whole = time.perf_counter() - begun
    wanted = contents(tmp_path / "whole")
    moments = random.Random(ROUNDS)
    for round_ in range(ROUNDS):
        root = tmp_path / f"r{round_}"
        root.mkdir()
        with _child(root, folder) as child:
            time.sleep(whole * moments.random())
            child.send_signal(how)
        run(root, folder)
        assert contents(root) == wanted, f"round {round_}"
        litter = [p for p in root.rglob("*") if p.name.endswith((".part", ".swap", ".tmp"))]
        assert not litter


def test_carrying_a_plan_out_twice_writes_nothing_the_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Any] = []
    carry_out = apply.carry_out

    def twice(root: Path, config: Config, plan: Any, *, entries: Any) -> Any:
        first = carry_out(root, config, plan, entries=entries)
        before = contents(root)
        plans.append(carry_out(root, config, plan, entries=list(ledger.read(root)[0])))
        assert contents(root) == before
        return first

    monkeypatch.setattr(apply, "carry_out", twice)
    (tmp_path / "s").mkdir()
    run(tmp_path / "s", write_sessions(tmp_path / "t"))
    assert len(plans) == 3
