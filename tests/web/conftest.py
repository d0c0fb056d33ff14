"""Fixtures: a small store, a client that opened its page with the token, a served page, a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("jinja2", reason="the extra `web` is not installed")

from web_kit import PORT, Running, client_for, make_store, no_browser, start_browser


@dataclass
class Site:
    store: Any
    keys: Any
    client: Any

    def get(self, url: str, **more: Any):
        return self.client.get(url, **more)

    def post(self, url: str, _headers: dict[str, str] | None = None, **fields: str):
        headers = {"origin": f"http://127.0.0.1:{PORT}"} if _headers is None else _headers
        return self.client.post(url, data={"csrf": self.keys.form, **fields}, headers=headers)

    def file(self, path: str):
        return self.store.root / path

    def digest(self, path: str) -> str:
        from memoryfs.textfile import read_file

        return read_file(self.file(path)).digest


@pytest.fixture
def store(tmp_path):
    return make_store(tmp_path)


@pytest.fixture
def stranger(store):
    """(client, keys) of a browser that never opened the token's address."""
    from memoryfs.web.guard import Keys

    keys = Keys(PORT)
    return client_for(store, keys, follow_redirects=False), keys


@pytest.fixture
def site(store) -> Site:
    from memoryfs.web.guard import Keys

    keys = Keys(PORT)
    client = client_for(store, keys)
    assert client.get(f"/?token={keys.token}").status_code == 200
    return Site(store, keys, client)


@pytest.fixture
def served(store):
    running = Running(store)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def one_browser(tmp_path_factory):
    reason = no_browser()
    if reason:
        pytest.skip(reason)
    driver = start_browser(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture
def browser(one_browser, served):
    """A browser that has opened the page."""
    one_browser.get("about:blank")
    one_browser.delete_all_cookies()
    one_browser.get(served.keys.url)
    one_browser.get_log("browser")  # what earlier pages said
    return one_browser
