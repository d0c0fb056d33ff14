"""What gets a vector: pieces of what was said, with who said it and what came before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.stores import NOW, thread
from memoryfs.index import dense
from memoryfs.index.core import Index
from memoryfs.index.passages import CONTEXT_CHARS, PASSAGE_CHARS, PASSAGES, passages, wanted
from memoryfs.index.units import pieces
from memoryfs.recall import recall

np = pytest.importorskip("numpy")
T1 = "2026-11-20-aaaaaa"


def texts(root) -> list[tuple[int, int, str]]:
    with Index(root) as ix:
        ix.sync(now=NOW)
        loaded = ix.thread(ix.thread_number(T1))
        return list(passages(ix.sources, loaded, [u for u in range(len(loaded)) if wanted(loaded, u)]))


def test_a_passage_carries_its_speaker_and_the_end_of_what_was_said_before(tmp_path):
    thread(tmp_path, T1, [
        {"text": "Shall we paint the fence green?", "role": "user", "metadata": {"name": "Aoi"}},
        {"text": "rake: done", "role": "tool", "kind": "tool_result"},
        {"text": "Yes, on Tuesday.", "role": "assistant", "metadata": {"name": "Ben"}},
    ])
    assert [text for _, _, text in texts(tmp_path)] == [
        "Aoi: Shall we paint the fence green?", "Aoi: Shall we paint the fence green?\nBen: Yes, on Tuesday.",
    ]


def test_a_long_message_is_cut_and_each_piece_follows_the_one_before(tmp_path):
    sentences = [f"Sentence number {n} speaks of subject {n} and of nothing else at all." for n in range(40)]
    thread(tmp_path, T1, [{"text": " ".join(sentences), "role": "assistant"}])
    found = texts(tmp_path)
    assert len(found) > 5
    for _, _, text in found:
        assert len(text) <= PASSAGE_CHARS + CONTEXT_CHARS + 1
    everything = " ".join(text.split("\n")[-1] for _, _, text in found)
    assert all(sentence in everything for sentence in sentences)


def test_only_the_first_units_of_a_message_are_embedded(tmp_path):
    thread(tmp_path, T1, [{"text": "word " * 4000, "role": "assistant"}, "The end."])
    units = {unit for unit, _, _ in texts(tmp_path)}
    assert len(units) == 4 + 1


@given(st.text(max_size=1200))
def test_pieces_cover_a_text_without_gaps(text):
    spans = list(pieces(text, 0, len(text), PASSAGE_CHARS))
    assert "".join(text[a:b] for a, b in spans) == text
    assert len(spans) <= PASSAGES and all(0 < b - a <= PASSAGE_CHARS for a, b in spans)


class Words:
    """Similarity is the share of the query's words that a text holds: what a passage says decides alone."""

    dim, fingerprint = 64, "words:64"

    def _one(self, text):
        vector = np.full(self.dim, 0.01, dtype=np.float32)
        for word in {w.strip(".,?:").lower() for w in text.split()}:
            vector[sum(map(ord, word)) % self.dim] += 1
        return vector / np.linalg.norm(vector)

    def embed_passages(self, texts):
        return np.stack([self._one(text) for text in texts])

    def embed_query(self, text):
        return self._one(text)


def test_a_document_is_as_near_as_its_nearest_passage_and_goes_as_a_whole(tmp_path):
    path = thread(tmp_path, T1, [
        {"text": "filler text here. " * 30 + "\n\nzebra crossing", "role": "assistant"}, {"text": "other", "role": "user"},
    ])
    with Index(tmp_path) as ix:
        ix.sync(now=NOW)
        ix.embed_pending(Words(), 60)
        keys = [key for (key,) in ix.db.execute("SELECT key FROM codes")]
        assert len(keys) > len({key >> dense.PIECE for key in keys}) == 2
        near = dense.search(ix.db, Words().embed_query("zebra crossing"), dense.EVENTS, 1)
        assert list(near) == [min(keys) >> dense.PIECE]
        assert recall(ix, "zebra crossing", embedder=Words(), level="2", now=NOW).evidence[0].text.endswith("zebra crossing")
        path.unlink()
        ix.sync(now=NOW)
        assert not ix.vectors_ready()
        assert ix.db.execute("SELECT count(*) FROM codes").fetchall() == [(0,)]
        assert ix.db.execute("SELECT count(*) FROM vectors").fetchall() == [(0,)]
