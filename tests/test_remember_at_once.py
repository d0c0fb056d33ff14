"""`remember` does not wait: not for an index being written by someone else, nor for one that is far behind."""

from __future__ import annotations

import time

import apsw
import pytest

from memoryfs import MemoryStore, store
from memoryfs.index import schema


@pytest.fixture
def opened(tmp_path) -> MemoryStore:
    made = MemoryStore.init(tmp_path / ".memory")
    made.remember("The printer is called Zebedee.", topic="notes/printers")
    return made


def test_while_another_process_writes_the_index(opened):
    opened.index()
    other = apsw.Connection(str(schema.path_of(opened.root)))
    other.execute("BEGIN IMMEDIATE")
    begun = time.perf_counter()
    change = opened.remember("The printer called Zebedee stands in the hall.")
    assert time.perf_counter() - begun < 5  # the index's own patience is 10 s a statement
    other.execute("ROLLBACK")
    assert change.topic == "notes/printers.md" and "hall" in opened.read(f"^{change.id}").text


def test_with_an_index_that_is_far_behind(opened, monkeypatch):
    monkeypatch.setattr(store, "PLACE_SECONDS", 0.0)
    change = opened.remember("The scanner is called Florence.", actor="agent")
    assert change.topic == "notes/general.md" and "Florence" in opened.brief() + opened.read(change.topic).text
    assert opened.recall("scanner Florence", vectors=False).memories[0].memory.id == change.id
