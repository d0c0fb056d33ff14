"""Content hashes: of the bytes, not of the name; remembered, but never wrongly."""

import hashlib
import os

import pytest

from memoryfs.errors import ModelUnavailableError
from memoryfs.models import weights
from memoryfs.models.local import NanoEmbedder


def test_hash_is_of_the_bytes(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"weights")
    assert weights.content_hash(file) == hashlib.sha256(b"weights").hexdigest()


def test_vec_02_renamed_file_keeps_its_fingerprint(tmp_path):
    file = tmp_path / "one.bin"
    file.write_bytes(b"weights")
    before = NanoEmbedder(file).fingerprint
    file.rename(tmp_path / "two.bin")
    assert NanoEmbedder(tmp_path / "two.bin").fingerprint == before
    (tmp_path / "two.bin").write_bytes(b"other weights")
    assert NanoEmbedder(tmp_path / "two.bin").fingerprint != before


def test_hash_is_remembered_until_the_file_changes(tmp_path, monkeypatch):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"weights")
    first = weights.content_hash(file)
    read = []
    real = weights.sha256_file
    monkeypatch.setattr(weights, "sha256_file", lambda path: read.append(path) or real(path))
    assert weights.content_hash(file) == first and not read
    file.write_bytes(b"other  ")
    os.utime(file, ns=(1, 1))
    assert weights.content_hash(file) != first and read == [file]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"x": 1}'])
def test_damaged_hash_cache_costs_only_time(tmp_path, cache, damage):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"weights")
    cache.mkdir(parents=True)
    (cache / "hashes.json").write_bytes(damage)
    assert weights.content_hash(file) == hashlib.sha256(b"weights").hexdigest()


def test_cache_that_cannot_be_written_costs_only_time(tmp_path, cache):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"weights")
    cache.parent.mkdir()
    cache.write_bytes(b"a file where the folder should be")
    assert weights.content_hash(file) == hashlib.sha256(b"weights").hexdigest()


def test_missing_weights(tmp_path):
    with pytest.raises(ModelUnavailableError):
        weights.content_hash(tmp_path / "gone.gguf")


def test_join_that_finds_no_room_says_how_much(tmp_path):
    part = tmp_path / "part0"
    part.write_bytes(b"x")
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    with pytest.raises(ModelUnavailableError, match="cannot put model") as caught:
        weights.join_parts([part], blocked / "model.gguf", hashlib.sha256(b"x").hexdigest())
    assert "XDG_CACHE_HOME" in caught.value.remedy
