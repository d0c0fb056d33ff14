"""Options and fixtures for every test."""

from __future__ import annotations

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run tests marked slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow; run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _away_from_home(monkeypatch, tmp_path_factory):
    """No test reads or writes the stores and harness folders of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("MEMORYFS_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
