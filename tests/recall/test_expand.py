"""`recall.expand`: a passage of a trusted model helps to rank; it decides nothing, and no value of it is ever shown."""

from __future__ import annotations

import pytest
from index import stores

from memoryfs import MemoryStore, scoped
from memoryfs import index as indexes
from memoryfs.errors import ModelAnswerError, ModelUnavailableError
from memoryfs.models import check as checks
from memoryfs.models.fakes import HashEmbedder, ScriptedGenerator
from memoryfs.recall import answer, expand, recall
from memoryfs.recall.query import analyse

QUESTION = "When do the nightly copies run?"
PASSAGE = {"passage": "The backup job dumps the database by cron at 04:44 to /var/dump.sql."}
TEXTS = [
    "Copies of the contract are in the drawer.", "The backup job dumps the database by cron at half past three.", "Lunch was late.",
    "Two copies please.", "We run along the river.",
]


@pytest.fixture
def store(tmp_path):
    stores.thread(tmp_path, "2026-05-12-aaaaaa", TEXTS)
    (tmp_path / "memoryfs.toml").write_text("[recall]\nexpand = true\n[models]\nembedder = \"none\"\ngenerator = \"none\"\n")
    return MemoryStore.open(tmp_path, clock=lambda: stores.NOW)


def trusted(store, *answers):
    made = ScriptedGenerator(answers=answers)
    checks.record(store.root, [checks.Calibration(answer.NAME, 1.0, 0.8, True, 54, answer.task().digest, made.fingerprint)])
    return made


def test_the_passage_finds_what_was_said_in_other_words(store):
    writer = trusted(store, PASSAGE)
    plain = store.recall(QUESTION, level=2, expansion=expand.Expansion())
    wide = store.recall(QUESTION, level=2, generator=writer)
    assert writer.prompts and QUESTION in writer.prompts[0] and not wide.notices
    place = {e.text: n for n, e in enumerate(wide.evidence)}
    assert place.get(TEXTS[1], 99) < {e.text: n for n, e in enumerate(plain.evidence)}.get(TEXTS[1], 99)
    assert all(e.text in TEXTS for e in wide.evidence) and "04:44" not in str(wide.to_dict())
    assert (wide.abstained, wide.decision, wide.level) == (plain.abstained, plain.decision, plain.level)


def test_no_value_of_the_passage_is_searched_for(store):
    clean = expand.without_values("Port 9999, `rm -rf x` and\n/var/dump.sql on 2026-05-12 at ３時, said \"no\": the backup.")
    assert not any(part in clean for part in ("9999", "rm -rf", "dump", "2026", "３")) and "backup" in clean and "\n" not in clean
    wider, vector = expand.widened(analyse(QUESTION), None, "the backup " * 3 + " ".join(f"word{n}x" for n in "abcdefghijklmnopqrstuvwxyz"), None)
    new = wider.terms[len(analyse(QUESTION).terms):]
    assert vector is None and 0 < len(new) <= expand.TERMS and all(weight <= 0.25 * 1.3 for _, weight in new)


@pytest.mark.parametrize("reply", [{"passage": 7}, {}, ModelAnswerError("empty answer"), ModelUnavailableError("no answer within 20 s")])
def test_failure_is_a_notice_and_the_plain_recall(store, reply):
    plain = store.recall(QUESTION, expansion=expand.Expansion())
    found = store.recall(QUESTION, generator=trusted(store, reply))
    assert found.evidence == plain.evidence and found.memories == plain.memories
    assert len(found.notices) == len(plain.notices) + 1 and expand.PLAIN in found.notices[-1]


def test_only_where_it_is_set_trusted_and_worth_it(store):
    stranger = ScriptedGenerator(answers=[PASSAGE], name="stranger")
    assert "models check" in store.recall(QUESTION, generator=stranger).notices[-1] and not stranger.prompts
    assert "no model is" in store.recall(QUESTION).notices[-1]
    writer = trusted(store, PASSAGE)
    store.recall(QUESTION, level=0, generator=writer)
    assert not writer.prompts
    (store.root / "memoryfs.toml").write_text("[models]\nembedder = \"none\"\n")
    off = MemoryStore.open(store.root, clock=store.clock)
    assert off.recall(QUESTION, generator=writer).notices == store.recall(QUESTION, expansion=expand.Expansion()).notices
    assert not writer.prompts


def test_over_several_stores_it_is_written_once(store, tmp_path):
    stores.thread(tmp_path / "t", "2026-05-13-bbbbbb", ["The dumps are kept for a month."])
    other = MemoryStore.open(tmp_path / "t", clock=store.clock)
    writer = trusted(store, PASSAGE)
    scoped.recall([(store, 0), (other, 1)], QUESTION, generator=writer)
    assert len(writer.prompts) == 1


def test_the_vector_is_the_mean_of_both():
    numpy = pytest.importorskip("numpy")
    embedder = HashEmbedder(64)
    asked = embedder.embed_query("nightly copies")
    _, mean = expand.widened(analyse("nightly copies"), asked, "backup job", embedder)
    passage = embedder.embed_passages(["backup job"])[0]
    assert abs(float(numpy.linalg.norm(mean)) - 1) < 1e-6 and abs(float(mean @ asked) - float(mean @ passage)) < 1e-6

    class Gone(HashEmbedder):
        def embed_passages(self, texts):
            raise ModelUnavailableError("gone")

    assert expand.widened(analyse("x y"), asked, "backup", Gone(64))[1] is asked


def test_whether_the_store_answers_is_decided_by_the_question_alone(store):
    with indexes.open(store.root) as index:
        index.sync()
        found = recall(index, "How does QuantumFlux_v9 encrypt?", now=stores.NOW, expansion="The backup job dumps the database.")
        assert found.abstained and recall(index, "backup job", now=stores.NOW, expansion="unheard words only").abstained is False
