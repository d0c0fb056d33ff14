"""CON-04 for merging: killed at any write of `accept` or `undo`, the next run or command ends where it would have ended undisturbed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from edits.conftest import GO, ID, KEEP, NOW, Store

from memoryfs import ledger
from memoryfs.cli import main
from memoryfs.edits import adopt, forget, resolve, undo, unfinished
from memoryfs.errors import NotFoundError, UnwritableFileError
from memoryfs.ledger import Entry
from memoryfs.textfile import atomic

KILLED = 77
WRITES = ("rename", "link", "unlink", "write")
REVIEW = "r-000001"  # a contradiction beside the proposal


def accept(store: Store) -> None:
    resolve(store.root, store.config, ID, "accept", actor="person", now=NOW)


def back(store: Store) -> None:
    undo(store.root, store.config, ID, actor="person", now=NOW)


def told(store: Store) -> list[Entry]:
    return list(ledger.read(store.root)[0])


def kept(store: Store) -> dict[str, bytes]:
    """Every file of the store."""
    return {str(p.relative_to(store.root)): p.read_bytes() for p in sorted(store.root.rglob("*")) if p.is_file()}


def reset(store: Store, files: dict[str, bytes]) -> None:
    for path in store.root.rglob("*"):
        if path.is_file() and str(path.relative_to(store.root)) not in files:
            path.unlink()
    for name, data in files.items():
        (store.root / name).write_bytes(data)


def killed(act: Callable[[Store], None], store: Store, left: int) -> bool:
    """Does it in a child that ends right after its write number `left`, counted from 0; whether it got so far."""
    child = os.fork()
    if child == 0:
        count = -1

        def fused(function: Callable) -> Callable:
            def fuse(*args, **more):
                nonlocal count
                count += 1
                try:
                    return function(*args, **more)
                finally:
                    if count == left:
                        os._exit(KILLED)
            return fuse

        try:
            for name in WRITES:
                setattr(os, name, fused(getattr(os, name)))
            atomic.exchange = fused(atomic.exchange)
            act(store)
            os._exit(0)
        except BaseException:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED), f"it failed at write {left}"
    return code == KILLED


def each_kill(act: Callable[[Store], None], store: Store) -> Iterator[str]:
    """The store as it is after a kill at each write of `act` in turn."""
    start, number = kept(store), 0
    while killed(act, store, number):
        yield f"after write {number}"
        reset(store, start)
        number += 1
    reset(store, start)


def run(store: Store) -> None:
    """As the next run begins."""
    adopt(store.root, store.config, now=NOW)


@pytest.fixture
def merged(pair: Store) -> Store:
    pair.adopt()
    accept(pair)
    return pair


def test_accept_killed_at_any_write_is_completed_by_the_next_run_and_undone(pair):
    before, start = pair.bytes(), kept(pair)
    accept(pair)
    wanted, entries = pair.bytes(), told(pair)
    back(pair)
    undone = told(pair)
    reset(pair, start)
    begun = 0
    for where in each_kill(accept, pair):
        started = unfinished.path_of(pair.root).exists()
        run(pair)
        if pair.bytes() == before:
            assert not started, where
            accept(pair)
        begun += started
        assert (pair.bytes(), told(pair), pair.done()) == (wanted, entries, []), where
        back(pair)
        assert (pair.bytes(), told(pair), pair.done()) == (before, undone, []), where
    assert begun > 10


def test_accept_killed_at_any_write_and_repeated_is_done_once(pair):
    before, start = pair.bytes(), kept(pair)
    accept(pair)
    wanted, entries = pair.bytes(), told(pair)
    reset(pair, start)
    for where in each_kill(accept, pair):
        try:
            accept(pair)
        except NotFoundError:  # it was killed after its last write
            assert not unfinished.path_of(pair.root).exists(), where
        assert (pair.bytes(), told(pair)) == (wanted, entries), where
        back(pair)
        assert pair.bytes() == before, where


def test_accept_killed_at_any_write_and_undone_at_once_leaves_both_as_they_were(pair):
    before = pair.bytes()
    for where in each_kill(accept, pair):
        try:
            back(pair)
        except NotFoundError:  # nothing was begun
            assert not any(e.action == "move" for e in told(pair)), where
        assert pair.bytes() == before and ledger.reviews(told(pair))[ID].open and pair.done() == [], where


@pytest.mark.parametrize("again", [run, back])
def test_undo_killed_at_any_write_is_completed_by_the_next_run_or_by_doing_it_again(merged, again):
    start, merging = kept(merged), merged.bytes()
    back(merged)
    wanted, entries = merged.bytes(), told(merged)
    reset(merged, start)
    begun = 0
    for where in each_kill(back, merged):
        started = unfinished.path_of(merged.root).exists()
        begun += started
        try:
            again(merged)
        except NotFoundError:  # it was killed after its last write
            assert not started, where
        if merged.bytes() == merging:
            assert not started, where
            back(merged)
        assert (merged.bytes(), told(merged), merged.done()) == (wanted, entries, []), where
        assert ledger.reviews(told(merged))[ID].open
    assert begun > 10


def test_reject_killed_at_any_write_is_the_persons(pair):
    before, start = pair.bytes(), kept(pair)

    def reject(store: Store) -> None:
        resolve(store.root, store.config, ID, "reject", actor="person", now=NOW)

    reject(pair)
    wanted, entries = pair.bytes(), told(pair)
    reset(pair, start)
    for where in each_kill(reject, pair):
        run(pair)
        if pair.bytes() == before:
            reject(pair)
        assert (pair.bytes(), told(pair)) == (wanted, entries), where
        back(pair)
        assert pair.bytes() == before, where


def half(store: Store, act: Callable[[Store], None], path: str) -> None:
    """Kills `act` right after it replaced `path`."""
    before = (store.root / path).read_bytes()
    start, number = kept(store), 0
    while (store.root / path).read_bytes() == before:
        reset(store, start)
        assert killed(act, store, number)
        number += 1


def test_another_answer_to_it_is_told_that_it_was_completed(pair):
    half(pair, accept, KEEP)
    with pytest.raises(NotFoundError, match="accept, which was interrupted, has just been completed"):
        resolve(pair.root, pair.config, ID, "reject", actor="person", now=NOW)
    back(pair)
    assert ID in pair.text(KEEP)


def test_the_list_of_reviews_completes_it_too(pair, capsys):
    half(pair, accept, GO)
    with pytest.raises(SystemExit):
        main(["--store", str(pair.root), "review"])
    assert ID not in capsys.readouterr().out and not unfinished.path_of(pair.root).exists()
    assert (told(pair)[-1].action, told(pair)[-1].actor, told(pair)[-1].extra["choice"]) == ("resolve", "person", "accept")


def test_what_a_person_writes_meanwhile_stays(pair):
    half(pair, accept, KEEP)
    pair.change(GO, "# Edge gateway\n", "# Edge gateway\n\nAsk Kim first.\n")
    pair.change(KEEP, "# Gateway\n", "# Gateway\n\nAsk Lee first.\n")
    run(pair)
    assert "Ask Kim first." in pair.text(GO) and "Ask Lee first." in pair.text(KEEP)
    assert "^m-000002" in pair.text(KEEP) and "^m-000002" not in pair.text(GO) and pair.done() == []
    half(pair, back, GO)
    pair.change(KEEP, "Ask Lee first.", "Ask Lee twice.")
    pair.change(GO, "Ask Kim first.", "Ask Kim twice.")
    run(pair)
    assert "Ask Lee twice." in pair.text(KEEP) and "Ask Kim twice." in pair.text(GO) and pair.done() == []
    assert "^m-000002" in pair.text(GO) and "^m-000002" not in pair.text(KEEP) and ID in pair.text(KEEP)


def test_what_a_person_changed_meanwhile_in_its_lines_is_left_and_said(merged):
    half(merged, back, GO)
    merged.change(KEEP, "Restarts on Sundays.", "Restarts on Saturdays.")
    with pytest.raises(UnwritableFileError, match="changed since"):
        back(merged)
    assert "Restarts on Saturdays." in merged.text(KEEP) and "Restarts on Sundays." in merged.text(GO)
    assert not unfinished.path_of(merged.root).exists()


def test_a_file_that_is_damaged_waits_and_stops_nothing_else(pair):
    half(pair, accept, KEEP)
    pair.change(GO, "title: Edge gateway", "title: a: b")
    report = pair.adopt()
    assert any("interrupted, is not complete" in p.message and p.path == KEEP for p in report.problems)
    for answer in (accept, back):
        with pytest.raises(UnwritableFileError):
            answer(pair)
    forget(pair.root, pair.config, "m-000001", actor="person", now=NOW)
    pair.change(GO, "title: a: b", "title: Edge gateway")
    run(pair)
    assert f"superseded_by: {KEEP}" in pair.text(GO) and ID not in pair.text(KEEP) and pair.done() == []


def test_files_that_are_gone_end_it(pair):
    half(pair, accept, KEEP)
    (pair.root / GO).unlink()
    run(pair)
    assert "^m-000002" in pair.text(KEEP) and ID not in pair.text(KEEP) and pair.done() == []
    with pytest.raises(NotFoundError):
        back(pair)
    assert "^m-000002" in pair.text(KEEP)
    half(pair, lambda store: forget(store.root, store.config, "m-000001", actor="person", now=NOW), KEEP)
    assert not unfinished.path_of(pair.root).exists()


def test_one_that_cannot_be_carried_out_does_not_stop_every_run(pair, monkeypatch):
    half(pair, accept, KEEP)

    def fails(*args, **more):
        raise ValueError("unforeseen")

    with monkeypatch.context() as patched:
        patched.setattr(unfinished, "received", fails)
        assert any("unforeseen" in p.message for p in pair.adopt().problems)
    assert not unfinished.path_of(pair.root).exists() and pair.adopt().problems == ()


def test_a_torn_journal_is_none(pair):
    for torn in (b"", b"{", b"[]", b'{"version": 1}', b"\xff\xfe"):
        unfinished.path_of(pair.root).write_bytes(torn)
        assert unfinished.pending(pair.root) is None and pair.done() == []


def test_a_dry_run_completes_nothing(pair):
    half(pair, accept, KEEP)
    before = pair.bytes()
    pair.adopt(dry_run=True)
    assert pair.bytes() == before and unfinished.path_of(pair.root).exists()
