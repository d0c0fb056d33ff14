"""The child process: what native code does to itself stays there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memoryfs.errors import ModelAnswerError, ModelUnavailableError
from memoryfs.models.child import CRASHES, Child
from memoryfs.models.local import LlamaEmbedder, LlamaGenerator

LABELS = ("y", "n")


def generator(name="model.gguf", **options):
    return LlamaGenerator(Path(name), threads=1, **options)


@pytest.mark.parametrize(
    ("name", "says"),
    [("importerror", "undefined symbol"), ("oserror", "libgomp"), ("sigill", r"SIGILL\): ggml: about to use")],
)
def test_pkg_01_library_that_does_not_load(stub, name, says):
    stub(name)
    model = generator()
    with pytest.raises(ModelUnavailableError, match=says) as caught:
        model.score("p", ["i"], LABELS)
    assert "--no-model" in caught.value.remedy
    assert caught.value.exit_code == 1


def test_pkg_01_failed_import_is_not_tried_again(stub):
    stub("importerror")
    model = generator()
    with pytest.raises(ModelUnavailableError):
        model.score("p", ["i"], LABELS)
    stub("good")
    with pytest.raises(ModelUnavailableError, match="undefined symbol"):
        model.score("p", ["i"], LABELS)


def test_file_that_cannot_be_loaded(stub):
    stub("good")
    with pytest.raises(ModelUnavailableError, match=r"broken\.gguf: ValueError: Failed to load"):
        generator("broken.gguf").score("p", ["i"], LABELS)


def test_mcp_01_native_prints_reach_neither_the_protocol_nor_our_stdout(stub, capfd):
    stub("good")
    model = generator()
    # The stub prints a forged answer with a score of 99 on C's stdout each time.
    assert model.score("line:", [" yyy:", " n:"], LABELS) == [2.0, -2.0]
    assert model.write("port 5433", {"type": "object", "required": ["summary"]}, 100) == {"summary": "port 5433"}
    model.close()
    out, err = capfd.readouterr()
    assert out == "" and err == ""


def test_prefix_is_evaluated_once(stub):
    stub("good")
    model = generator()
    prefix = "p" * 1000
    model.score(prefix, [f" line {i}:" for i in range(40)], LABELS)
    first = model.evaluated
    assert first < 1001 + 40 * 12
    assert model.reused > 40 * 1000
    model.score(prefix, [" other:"], LABELS)
    assert model.evaluated - first <= 8  # kept between requests too


def test_scores_do_not_depend_on_what_was_cached(stub):
    stub("good")
    model = generator()
    alone = [generator().score("nyn", [item], LABELS)[0] for item in (" ny", " nyy", " n")]
    assert model.score("nyn", [" ny", " nyy", " n"], LABELS) == alone
    assert model.score("nyn", [" n", " nyy", " ny"], LABELS) == alone[::-1]


def test_cache_that_cannot_be_cut_is_evaluated_anew(stub):
    stub("good")
    model = generator("recurrent.gguf")
    assert model.score("line:", [" yyy", " n"], LABELS) == generator().score("line:", [" yyy", " n"], LABELS)
    assert model.evaluated > 2 * len("line:")


def test_org_11_item_longer_than_the_context_is_cut_and_keeps_its_end(stub):
    stub("good")
    model = generator(context=300)
    item = " x" * 1_000_000 + "y\nAnswer:"
    # The stub counts bytes: the y just before the cue must have survived, and its assertion would have aborted an overflow.
    assert model.score("p", [item], LABELS) == [0.0]  # one y, one n
    assert model.cut == 1


def test_org_11_prompt_longer_than_the_context_is_an_error_not_an_abort(stub):
    stub("good")
    model = generator(context=300)
    with pytest.raises(ModelUnavailableError, match="leave no room"):
        model.score("p" * 290, ["x"], LABELS)
    with pytest.raises(ModelUnavailableError, match="does not fit"):
        model.write("p" * 290, {}, 10)
    assert model.score("p", ["y"], LABELS) == [1.0]


def test_labels_that_cannot_be_told_apart(stub):
    stub("good")
    with pytest.raises(ModelUnavailableError, match="same token"):
        generator().score("p", ["x"], ("yes", "yo"))


def test_org_11_crash_is_reported_and_the_next_piece_is_processed(stub):
    stub("good")
    model = generator("crash.gguf")
    with pytest.raises(ModelUnavailableError, match="SIGABRT") as caught:
        model.score("p", [" boom"], LABELS)
    assert "GGML_NATIVE=OFF" in caught.value.remedy
    assert model.score("p", ["y"], LABELS) == [1.0]


def test_a_model_that_keeps_crashing_is_given_up(stub):
    stub("good")
    model = generator("crash.gguf")
    for _ in range(CRASHES):
        with pytest.raises(ModelUnavailableError):
            model.score("p", [" boom"], LABELS)
    with pytest.raises(ModelUnavailableError, match="SIGABRT"):
        model.score("p", ["y"], LABELS)
    assert not model.child.running


def test_request_that_hangs_is_ended(stub):
    stub("good")
    model = generator("hang.gguf", request_seconds=1.0)
    started = time.monotonic()
    with pytest.raises(ModelUnavailableError, match="no answer within 1 s"):
        model.score("p", [" boom"], LABELS)
    assert time.monotonic() - started < 10
    assert model.score("p", ["y"], LABELS) == [1.0]


def test_answer_cut_at_the_token_limit(stub):
    stub("good")
    with pytest.raises(ModelAnswerError, match="not valid JSON"):
        generator().write("p", {"required": ["summary"]}, 10)


def test_embedding_through_llama(stub, tmp_path):
    stub("good")
    numpy = pytest.importorskip("numpy")
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"weights")
    model = LlamaEmbedder(weights, threads=1)
    vectors = model.embed_passages(["four", "eight888"])
    assert vectors.shape == (2, 4) and vectors.dtype == numpy.float32
    assert numpy.allclose(vectors, [[0.8, 0.6, 0, 0], [0.936329, 0.351123, 0, 0]], atol=1e-5)
    assert model.embed_query("four").shape == (4,)
    assert model.embed_passages([]).shape == (0, 4)


def test_library_of_the_working_directory_is_not_run(stub, tmp_path, monkeypatch):
    stub("good")
    (tmp_path / "llama_cpp.py").write_text("raise ImportError('planted')")
    (tmp_path / "json.py").write_text("raise ImportError('planted')")
    monkeypatch.chdir(tmp_path)
    assert generator().score("p", ["y"], LABELS) == [1.0]


def _gone(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True  # dead, waiting for an init that reaps
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks into /proc")
@pytest.mark.parametrize("name", ["model.gguf", "hang.gguf"])
def test_child_ends_with_its_parent_also_in_a_native_call(stub, name):
    stub("good")
    program = (
        "import sys, threading, time\n"
        "from pathlib import Path\n"
        "from memoryfs.models.local import LlamaGenerator\n"
        f"g = LlamaGenerator(Path({name!r}), threads=1)\n"
        "g.score('p', ['y'], ('y', 'n'))\n"
        "print(g.child._process.pid, flush=True)\n"
        "g.score('p', [' boom'], ('y', 'n'))\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    pid = int(parent.stdout.readline())
    time.sleep(0.3)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert _gone(pid, 5.0)


def test_close_ends_the_process_and_the_next_request_starts_it_again(stub):
    stub("good")
    model = generator()
    model.score("p", ["y"], LABELS)
    pid = model.child._process.pid
    model.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert model.score("p", ["y"], LABELS) == [1.0]


def test_child_is_closed_when_it_is_dropped(stub):
    stub("good")
    child = Child("model", {"backend": "llama", "path": "model.gguf", "context": 100}, threads=1)
    child.open()
    process = child._process
    del child
    assert process.poll() is not None


def test_open_that_hangs_is_ended(stub, monkeypatch):
    stub("slow")
    monkeypatch.setattr("memoryfs.models.child.OPEN_SECONDS", 1.0)
    with pytest.raises(ModelUnavailableError, match="no answer within 1 s"):
        generator().score("p", ["y"], LABELS)
