"""Vectors (VEC reports): fingerprints, filters, limits, crashes, a missing extension."""

from __future__ import annotations

import apsw
import pytest

from index.stores import NOW, fact_file, thread, topic
from memoryfs.index import dense, schema
from memoryfs.index.core import MISMATCH, Index
from memoryfs.recall import recall

np = pytest.importorskip("numpy")
T1, T2 = "2026-11-20-aaaaaa", "2026-11-21-bbbbbb"


class Axes:
    """A stand-in embedder: each known word is an axis, so that similarity is word overlap of its own making."""

    def __init__(self, *words: str, dim: int = 8, name: str = "axes"):
        self.words, self.dim, self.fingerprint = words, dim, f"{name}:{dim}"
        self.calls = 0

    def _one(self, text):
        vector = np.full(self.dim, 0.05, dtype=np.float32)
        for number, word in enumerate(self.words):
            if word in text.lower():
                vector[number] += 1.0
        return vector / np.linalg.norm(vector)

    def embed_passages(self, texts):
        self.calls += len(texts)
        return np.stack([self._one(text) for text in texts])

    def embed_query(self, text):
        return self._one(text.replace("Feline", "cat"))


@pytest.fixture
def store(tmp_path):
    thread(tmp_path, T1, ["The cat sat down.", "A dog barked.", {"text": "cat cat cat", "role": "tool", "kind": "tool_result"}])
    topic(tmp_path, "projects/a.md", fact_file("My cat is grey.", "My dog is brown."))
    return tmp_path


def opened(root, **over) -> Index:
    found = Index(root, **over)
    found.sync(now=NOW)
    return found


def test_words_and_vectors_together(store):
    with opened(store) as ix:
        embedder = Axes("cat", "dog")
        assert ix.embed_pending(embedder, 60)[0] == 4  # two memories, two messages; tool output is not embedded
        answer = recall(ix, "Feline", embedder=embedder, level="2", now=NOW)
        assert answer.memories[0].memory.summary == "My cat is grey."
        assert answer.evidence[0].text == "The cat sat down."
        assert "vector" in answer.memories[0].why and "dense" in answer.evidence[0].why
        assert recall(ix, "Feline", level="2", now=NOW).evidence == ()


def test_vec_01_another_dimension(store):
    with opened(store) as ix:
        ix.embed_pending(Axes("cat", dim=8), 60)
        other = Axes("cat", dim=16, name="other")
        answer = recall(ix, "cat", embedder=other, level="2", now=NOW)
        assert answer.evidence[0].text == "The cat sat down."
        assert answer.notices == (MISMATCH,)
        assert ix.embed_pending(other, 60)[0] == 0
        assert ix.status()["vectors"] == 4
        assert ix.embed_pending(other, 60, reembed=True)[0] == 4
        assert recall(ix, "Feline", embedder=other, level="2", now=NOW).evidence


def test_vec_02_same_dimension_another_model(store):
    with opened(store) as ix:
        ix.embed_pending(Axes("cat", "dog", name="a"), 60)
        topic(store, "projects/b.md", fact_file("A cat again."))
        ix.sync(now=NOW)
        assert ix.embed_pending(Axes("dog", "cat", name="b"), 60)[0] == 0
        assert MISMATCH in recall(ix, "cat", embedder=Axes("dog", "cat", name="b"), now=NOW).notices
        assert ix.embed_pending(Axes("cat", "dog", name="a"), 60)[0] == 1  # equal fingerprint: only what is new


def test_vec_04_filters_work_inside_the_search(tmp_path):
    near = [{"text": f"cat {n}", "time": "2026-11-25T00:00:00Z"} for n in range(600)]
    thread(tmp_path, T2, near)
    thread(tmp_path, T1, [{"text": f"bird {n} with a cat and a dog", "time": "2026-11-20T00:00:00Z"} for n in range(5)])
    with opened(tmp_path) as ix:
        embedder = Axes("cat", "dog", "bird")
        ix.embed_pending(embedder, 600)
        answer = recall(ix, "Feline", embedder=embedder, as_of="2026-11-21", k=5, level="2", now=NOW)
        assert [e.thread for e in answer.evidence] == [T1] * 5
        some = [key >> dense.PIECE for (key,) in ix.db.execute("SELECT rowid FROM vectors ORDER BY rowid LIMIT 3")]
        assert set(dense.search(ix.db, embedder.embed_query("cat"), dense.EVENTS, 0, only=some)) == set(some)


@pytest.mark.parametrize("k", [0, 1, 5000, -1, 999999999, "10"])
def test_vec_05_limits_of_k(store, k):
    with opened(store) as ix:
        embedder = Axes("cat")
        ix.embed_pending(embedder, 60)
        assert recall(ix, "cat", k=k, embedder=embedder, level="2", now=NOW).evidence
        assert isinstance(dense.search(ix.db, embedder.embed_query("cat"), dense.EVENTS, int(k)), dict)


def test_vec_06_a_crash_between_vector_and_bookkeeping(store, monkeypatch):
    with opened(store) as ix:
        embedder = Axes("cat", "dog")
        monkeypatch.setattr(dense, "_mean", lambda db: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ix.embed_pending(embedder, 60)
        monkeypatch.undo()
        assert ix.status()["vectors"] == 0
        assert ix.embed_pending(embedder, 60) == (4, 0)
        for number in range(3):
            topic(store, "projects/a.md", fact_file("My cat is grey.", f"My dog is brown, {number}."))
            ix.sync(now=NOW)
            ix.embed_pending(embedder, 60)
        assert ix.status()["vectors"] == 4


def test_vec_06_the_budget_ends_a_run_and_the_next_goes_on(store):
    with opened(store) as ix:
        assert ix.embed_pending(Axes("cat"), 0.0)[0] == 0
        assert ix.embed_pending(Axes("cat"), 60)[0] == 4
        assert ix.embed_pending(Axes("cat"), 60)[0] == 0


def test_vec_07_reembedding_does_not_grow_the_file_without_bound(tmp_path):
    thread(tmp_path, T1, [f"cat number {n}" for n in range(300)])
    with opened(tmp_path) as ix:
        sizes = []
        for turn in range(6):
            ix.embed_pending(Axes("cat", name=str(turn), dim=64), 60, reembed=True)
            ix.db.pragma("wal_checkpoint", "truncate")
            sizes.append(ix.path.stat().st_size)
        assert sizes[-1] <= 3 * sizes[0]
        assert ix.status()["sqlite_vec"]


def test_vec_08_the_extension_cannot_be_loaded(store):
    with opened(store) as ix:
        ix.embed_pending(Axes("cat"), 60)
    why = "sqlite-vec cannot be loaded (vec0.so: no such file)"
    with opened(store, extension=lambda db: why) as ix:
        for _ in range(3):
            answer = recall(ix, "cat", embedder=Axes("cat"), level="2", now=NOW)
            assert answer.evidence[0].text == "The cat sat down."
            assert len(answer.notices) == 1 and why in answer.notices[0]
        topic(store, "projects/a.md", fact_file("My cat is black."))
        report = ix.sync(now=NOW)
        assert report.changed == 1
        assert recall(ix, "black cat", now=NOW, level="2").memories[0].memory.summary == "My cat is black."
        assert ix.embed_pending(Axes("cat"), 60)[0] == 0
        assert ix.status()["vectors_off"] == why
    with opened(store) as ix:  # the library is back: what is missing is filled in
        assert ix.embed_pending(Axes("cat"), 60)[0] == 1
        answer = recall(ix, "Feline", embedder=Axes("cat"), now=NOW, level="2")
        assert [m.memory.summary for m in answer.memories] == ["My cat is black."]


def test_no_transaction_is_open_while_the_model_works(store):
    with opened(store) as ix:
        class Probing(Axes):
            def embed_passages(self, texts):
                other = apsw.Connection(str(schema.path_of(store)))
                other.set_busy_timeout(10)
                other.execute("BEGIN IMMEDIATE")
                other.execute("ROLLBACK")
                return super().embed_passages(texts)

        assert ix.embed_pending(Probing("cat"), 60)[0] == 4


def test_an_older_index_with_vectors_is_made_anew_without_the_extension(store):
    with opened(store) as ix:
        ix.embed_pending(Axes("cat"), 60)
        ix.db.pragma("user_version", 1)
    with opened(store) as ix:
        assert not ix.has_vectors()
        assert ix.embed_pending(Axes("cat"), 60)[0] == 4


def test_every_thread_gets_its_turn_before_one_is_finished(tmp_path):
    for name in (T1, T2):
        thread(tmp_path, name, [f"cat number {n}" for n in range(40)])
    with opened(tmp_path) as ix:
        ticks = iter(range(100))
        embedder = Axes("cat")
        assert not ix.vectors_ready()
        dense.reset(ix.db, embedder)
        list(dense.embedding(ix, embedder, 4, clock=lambda: next(ticks)))
        assert [done for done, in ix.db.execute("SELECT embedded FROM threads ORDER BY name")] == [16, 16]


def test_a_message_without_a_vector_yet_does_not_lose_to_one_with(tmp_path):
    words = "the gateway listens on the reserved address"
    thread(tmp_path, T1, [f"{words} and more"] + ["cat"] * 12)
    thread(tmp_path, T2, ["a gateway", *["a dog barked"] * 12])
    with opened(tmp_path) as ix:
        embedder = Axes("gateway", "dog")
        assert not ix.vectors_ready()
        dense.reset(ix.db, embedder)
        number = ix.thread_number(T2)
        dense._embed_batch(ix, embedder, ix.thread(number), 0)
        answer = recall(ix, "which address does the gateway listen on", embedder=embedder, level="2", now=NOW)
    assert answer.evidence[0].thread == T1
