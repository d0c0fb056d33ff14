"""Indexes that stay open between uses: shared by turns, never by two at once, closed when spare or broken."""

import shutil
import threading

import pytest

from index import stores
from memoryfs import MemoryStore
from memoryfs import index as indexes
from memoryfs.index import pool

NAME = "2026-05-12-aaaaaa"


@pytest.fixture(autouse=True)
def empty_pool():
    pool.close_all()
    yield
    pool.close_all()


@pytest.fixture
def store(tmp_path):
    stores.thread(tmp_path, NAME, ["The gateway listens on port 5433.", "Nothing else."])
    return MemoryStore.init(tmp_path)


def test_the_same_index_serves_again(store):
    with indexes.borrowed(store.root) as first:
        first.sync()
    with indexes.borrowed(store.root) as second:
        assert second is first


def test_two_at_once_get_one_each_and_spare_ones_are_closed(store):
    with indexes.borrowed(store.root) as first, indexes.borrowed(store.root) as second:
        assert first is not second
    held = [indexes.borrowed(store.root) for _ in range(pool.KEPT + 2)]
    opened = [one.__enter__() for one in held]
    for one in held:
        one.__exit__(None, None, None)
    assert len(pool._idle) == pool.KEPT and len(set(map(id, opened))) == pool.KEPT + 2


def test_an_index_in_which_something_failed_does_not_come_back(store):
    with pytest.raises(ValueError, match="boom"), indexes.borrowed(store.root) as first:
        raise ValueError("boom")
    with indexes.borrowed(store.root) as second:
        assert second is not first


def test_what_another_writes_or_deletes_meanwhile_is_noticed(store):
    assert store.recall("gateway port", level="2", vectors=False).evidence
    stores.thread(store.root, "2026-05-13-bbbbbb", ["The gateway of the annex listens on port 6500."])
    with indexes.open(store.root) as other:
        other.sync()
    assert any("6500" in e.text for e in store.recall("gateway annex port", level="2", vectors=False).evidence)
    shutil.rmtree(store.root / ".memoryfs")
    again = store.recall("gateway annex port", level="2", vectors=False)
    assert any("6500" in e.text for e in again.evidence)
    assert (store.root / ".memoryfs" / "index.db").exists()


def test_many_threads_ask_one_store(store):
    answers, errors = [], []

    def ask():
        try:
            answers.extend(store.recall("gateway port", level="2", vectors=False).evidence[0].text for _ in range(5))
        except Exception as error:  # whatever it is fails the test below
            errors.append(error)

    workers = [threading.Thread(target=ask) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert not errors and answers == ["The gateway listens on port 5433."] * 30
