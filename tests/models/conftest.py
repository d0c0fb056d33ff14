"""Shared by the tests of models: stub libraries, a private cache, no network."""

from pathlib import Path

import pytest

STUBS = Path(__file__).parent / "stubs"


@pytest.fixture
def stub(monkeypatch):
    """Puts one of the stand-ins for llama_cpp before everything else that a child process can import."""

    def use(name: str) -> None:
        monkeypatch.setenv("PYTHONPATH", str(STUBS / name))

    return use


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "memoryfs"


@pytest.fixture
def no_network(monkeypatch):
    """Every attempt to resolve or connect fails the test at once."""
    import socket

    def refuse(*args, **kwargs):
        raise AssertionError(f"network used: {args}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
