"""`memoryfs web` as a process: its address on stdout, the page behind it, and a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest


def _start(root, *options):
    command = [sys.executable, "-m", "memoryfs", "--store", str(root), "web", *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONUNBUFFERED="1"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test run in the background ignores Ctrl-C
    )


def _fetch(url, opener=None):
    return (opener or urllib.request.build_opener(urllib.request.ProxyHandler({}))).open(url, timeout=20)


def _until_up(url, opener):
    import time

    for _ in range(100):
        try:
            return _fetch(url, opener)
        except urllib.error.URLError as error:
            if isinstance(error, urllib.error.HTTPError):
                raise
            time.sleep(0.1)
    raise AssertionError("no answer")


@pytest.mark.parametrize("as_json", [False, True])
def test_it_prints_an_address_that_opens_the_page_and_ends_on_interrupt(store, as_json):
    from http.cookiejar import CookieJar

    process = _start(store.root, *(["--json"] if as_json else []))
    try:
        if as_json:
            lines = ""
            while "}" not in lines:
                lines += process.stdout.readline()
            url = json.loads(lines)["url"]
        else:
            url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:") and "?token=" in url
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar()))
        page = _until_up(url, opener)
        assert page.status == 200 and "token" not in page.url
        assert b"Gateway" in _fetch(page.url + "topics", opener).read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            _fetch(page.url)
        assert refused.value.code == 403
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "Traceback" not in err
    assert url.rpartition("=")[2] not in err, "the token stands on stdout only"


def test_without_a_store_it_says_so(tmp_path):
    process = _start(tmp_path / "none")
    out, err = process.communicate(timeout=30)
    assert process.returncode == 2 and "No memory store" in err and not out
