"""The packaged models themselves, where they are installed."""

import shutil
import time

import pytest

from memoryfs.config import Models
from memoryfs.models import catalog, open_embedder, open_generator
from memoryfs.models.check import check_embedder
from memoryfs.models.local import LlamaEmbedder

pytestmark = pytest.mark.model

PREFIX = (
    "For each line of a work log: is it worth remembering next month?\n"
    "Line: Thanks, that looks good.\nAnswer: no\n"
    "Line: Use pnpm, not npm, in this repository.\nAnswer: yes\n"
    "Line: Let me read the file first.\nAnswer: no\n"
    "Line: The staging database listens on port 5433.\nAnswer: yes\n"
    "Line:"
)
LABELS = (" yes", " no")


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    """One cache for the module, removed after it: a model in parts is joined once, and its 253 MB do not stay."""
    folder = tmp_path_factory.mktemp("models")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def own_cache(joined, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(joined))


def _need(name):
    if name not in [m.name for m in catalog.available(catalog.by_name(name).kind)]:
        pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("name", ["smollm2-135m", "gemma-3-270m"])
def test_scoring_keeps_the_prefix(name, own_cache):
    _need(name)
    model = open_generator(Models(generator=name, context=2048, threads=2))
    items = [f" The cache of project {i} lives in /var/cache/{i}\nAnswer:" for i in range(6)]
    scores = model.score(PREFIX, items, LABELS)
    prefix = model.count_tokens(PREFIX)
    longest = max(model.count_tokens(item) for item in items)
    assert len(scores) == 6 and len(set(scores)) > 1
    assert model.evaluated <= prefix + 6 * longest
    assert model.reused >= 6 * (prefix - 1)
    # A kept prefix changes the time, not the answer (up to the arithmetic of another batch shape).
    fresh = open_generator(Models(generator=name, context=2048, threads=2))
    assert fresh.score(PREFIX, items[5:], LABELS)[0] == pytest.approx(scores[5], abs=0.25)
    model.close()
    fresh.close()


@pytest.mark.parametrize("name", ["smollm2-135m", "gemma-3-270m"])
def test_writing_obeys_the_schema(name, own_cache):
    _need(name)
    model = open_generator(Models(generator=name, context=1024, threads=2))
    schema = {"type": "object", "properties": {"kind": {"enum": ["fact", "task"]}}, "required": ["kind"]}
    answer = model.write("Is this a fact or a task? \"The port is 5433.\"\nJSON:", schema, 40)
    assert answer["kind"] in ("fact", "task")
    model.close()


def test_org_11_long_japanese_item(own_cache):
    _need("smollm2-135m")
    model = open_generator(Models(generator="smollm2-135m", context=512, threads=2))
    assert len(model.score(PREFIX, [" " + "備品の予約は三日前まで。" * 4000 + "\nAnswer:"], LABELS)) == 1
    assert model.cut == 1
    model.close()


def test_llama_embeds(own_cache):
    _need("smollm2-135m")
    numpy = pytest.importorskip("numpy")
    path = catalog.by_name("smollm2-135m").ready()
    model = LlamaEmbedder(path, threads=2, context=256)
    rows = model.embed_passages(["the port is 5433", "x" * 20_000, ""])
    assert rows.shape == (3, model.dim)
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert model.fingerprint.startswith("b179c9523d0e6a0f")
    model.close()


def test_e5_finds_answers_in_three_languages(own_cache):
    _need("e5-small")
    model = open_embedder(Models(threads=2))
    assert check_embedder(model).trusted
    assert model.dim == 384 and ":384" in model.fingerprint
    model.close()


def test_e5_takes_any_text(own_cache):
    _need("e5-small")
    numpy = pytest.importorskip("numpy")
    model = open_embedder(Models(threads=2))
    rows = model.embed_passages(["", "\0", "a\0b", "\ud800", "語" * 3000])
    assert rows.shape == (5, 384) and numpy.isfinite(rows).all()
    assert (rows[2] == model.embed_passages(["a b"])[0]).all()
    alone = model.embed_passages(["the port is 5433"])[0]
    assert (model.embed_passages(["x" * 500, "the port is 5433"])[1] == alone).all()
    model.close()


def test_first_query_is_quick(own_cache):
    _need("e5-small")
    started = time.monotonic()
    model = open_embedder(Models(threads=2))
    model.embed_query("which port?")
    assert time.monotonic() - started < 5
    model.close()
