"""A store for the pages, a client that has opened them, and a server for a real browser."""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path

from memoryfs import MemoryStore

PORT = 8123
TALK = [
    {"role": "user", "content": "The gateway listens on port 7443.", "time": "2026-03-01T09:00:00Z"},
    {"role": "assistant", "content": "Noted: port 7443 for the gateway.", "time": "2026-03-01T09:00:05Z"},
    {"role": "user", "content": "ログインの Cookie は 14 日にする。", "time": "2026-03-02T09:00:00Z"},
    {"role": "user", "content": "쿠키는 학교 계정에만 쓴다. <script>alert('talk')</script>", "time": "2026-03-02T09:01:00Z"},
]
GATEWAY = """---
title: Gateway
status: active
tags: [network]
created_at: 2026-03-01
---
# Gateway

A person's own words. See [[projects/cookies]].

## Facts
- The gateway listens on port 7443. [^{short}:0] ^m-aaa111

[^{short}:0]: 2026-03-01; said by the user; "The gateway listens on port 7443."
"""
COOKIES = """---
title: クッキー 쿠키
tags: [network]
created_at: 2026-03-02
---
# クッキー 쿠키

## Facts
- The cookie lives 7 days. [^person:2026-03-01] ^m-bbb111
- ログインの Cookie は 14 日にする。 [^{short}:2] ^m-bbb222

## Needs review
- [ ] [[#^m-bbb111]] says 7 days (2026-03-01); [[#^m-bbb222]] says 14 days (2026-03-02). ^r-ccc111

[^person:2026-03-01]: 2026-03-01; stated by a person
[^{short}:2]: 2026-03-02; said by the user; "ログインの Cookie は 14 日にする。"
"""
# What a note or a transcript may try; `pwned` must never be set.
NASTY = """---
title: "<img src=x onerror=\\"window.pwned=1\\">"
summary: "</p><script>window.pwned=1</script>"
tags: ["<svg/onload=window.pwned=1>", network]
---
# <script>window.pwned=1</script>

<script>window.pwned=1</script>

<svg onload="window.pwned=1"><a xlink:href="javascript:window.pwned=1"><text>svg</text></a></svg>

## Facts
- Click [here](javascript:window.pwned=1), [or](JaVa%0aScript:window.pwned=1), <javascript:window.pwned=1>, [data](data:text/html,<script>window.pwned=1</script>). ^m-ddd111
- <img src=x onerror="window.pwned=1"> ![tracked](https://example.invalid/pixel.png) <iframe src="https://example.invalid"></iframe> ^m-ddd222
- A \\" onmouseover="window.pwned=1 and </textarea><script>window.pwned=1</script> ^m-ddd333
"""


def make_store(tmp_path: Path) -> MemoryStore:
    root = tmp_path / "store"
    store = MemoryStore.init(root)
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps(row) + "\n" for row in TALK), encoding="utf-8")
    store.import_transcripts([talk])
    from memoryfs import edits, thread

    short = thread.list_threads(root)[0].rpartition("-")[2]
    for name, text in (("gateway", GATEWAY), ("cookies", COOKIES), ("nasty", NASTY)):
        path = root / "projects" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("{short}", short), encoding="utf-8")
    edits.adopt(root, store.config, now=store.clock())
    return store


def client_for(store, keys, **more):
    from starlette.testclient import TestClient

    from memoryfs.web import app

    return TestClient(app.build(store, keys), base_url=f"http://127.0.0.1:{PORT}", **more)


class Running:
    """The real server, in a thread, on a free port."""

    def __init__(self, store: MemoryStore) -> None:
        import uvicorn

        from memoryfs.web import app
        from memoryfs.web.guard import Keys

        self.store = store
        self.door = app.listen()
        self.keys = Keys(self.door.getsockname()[1])
        settings = uvicorn.Config(app.build(store, self.keys), log_level="warning", access_log=False, lifespan="off")
        self.server = uvicorn.Server(settings)
        self.server.install_signal_handlers = lambda: None
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.door]}, daemon=True)
        self.thread.start()
        until = time.monotonic() + 10
        while not self.server.started and time.monotonic() < until:
            time.sleep(0.02)
        assert self.server.started

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.keys.port}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)


def no_browser() -> str:
    """Why there is no browser to test with; "" if there is one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    for names, what in ((("chromium", "chromium-browser", "google-chrome"), "Chromium"), (("chromedriver",), "chromedriver")):
        if not any(shutil.which(name) for name in names):
            return f"{what} is not installed (Debian: apt-get install chromium chromium-driver)"
    return ""


def start_browser(folder: Path, *, dark: bool = False, width: int = 1200, height: int = 900):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n)))
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                     "--disable-dev-shm-usage", f"--window-size={width},{height}", f"--user-data-dir={folder}"):
        options.add_argument(argument)
    options.unhandled_prompt_behavior = "accept"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(30)
    if dark:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    return driver
