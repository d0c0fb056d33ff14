"""A chain: the first that answers serves, and vectors never mix."""

import pytest

from memoryfs.errors import ModelUnavailableError
from memoryfs.models.chain import ChainEmbedder, ChainGenerator
from memoryfs.models.fakes import HashEmbedder, ScriptedGenerator
from memoryfs.models.protocols import Embedder, Generator

LABELS = (" yes", " no")


def dying(after):
    calls = iter(range(100))

    def score(item):
        if next(calls) >= after:
            raise ModelUnavailableError("gone")
        return 1.0

    return ScriptedGenerator(score, name="dying")


def test_generator_hands_over_for_good():
    chain = ChainGenerator([dying(1), ScriptedGenerator({"": 7.0}, name="second")])
    assert chain.score("p", ["a"], LABELS) == [1.0]
    assert chain.name == "dying"
    assert chain.score("p", ["a"], LABELS) == [7.0]
    assert chain.name == "second" and chain.notices == ["The model is not available: gone"]


def test_last_link_says_why():
    with pytest.raises(ModelUnavailableError, match="gone"):
        ChainGenerator([dying(0), dying(0)]).score("p", ["a"], LABELS)


class Broken(HashEmbedder):
    def embed_query(self, text):
        raise ModelUnavailableError("no library")


def test_embedder_is_chosen_once():
    pytest.importorskip("numpy")
    chain = ChainEmbedder([Broken(8), HashEmbedder(16), HashEmbedder(32)])
    assert (chain.dim, chain.fingerprint) == (16, "hash::16")
    assert chain.embed_passages(["a", "b"]).shape == (2, 16)
    assert chain.notices == ["The model is not available: no library"]
    with pytest.raises(ModelUnavailableError):
        _ = ChainEmbedder([Broken(8)]).dim


def test_everything_is_what_it_says():
    assert isinstance(ScriptedGenerator(), Generator)
    assert isinstance(HashEmbedder(), Embedder)
    assert isinstance(ChainGenerator([ScriptedGenerator()]), Generator)


def test_hash_embedder():
    numpy = pytest.importorskip("numpy")
    model = HashEmbedder(64)
    a, b, c = model.embed_passages(["the port is 5433", "port 5433 it is", "使う正規表現"])
    assert a @ b > a @ c
    rows = model.embed_passages(["", "\ud800", "x"])
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1)
    assert (HashEmbedder(64).embed_query("x") == model.embed_query("x")).all()
    assert (HashEmbedder(64, salt="other").embed_query("x") != model.embed_query("x")).any()
