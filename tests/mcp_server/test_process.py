"""The server as a process: what is on its stdout, how fast it answers, when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("mcp")

from mcp_kit import Raw, command


def test_mcp_01_every_line_on_stdout_is_json_rpc(store):
    env = {"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}
    with Raw(store.parent, env) as server:
        assert server.handshake()["result"]["serverInfo"]["name"] == "memoryfs"
        server.call(1, "recall", query="session cookie")
        server.call(2, "remember", text="Printed nothing.")
        server.call(3, "recall")
        answers = {server.receive()["id"] for _ in range(3)}
        assert answers == {1, 2, 3}
        server.process.stdin.close()
        rest = server.process.stdout.read()
        for line in [*server.lines, *rest.splitlines()]:
            assert json.loads(line)["jsonrpc"] == "2.0"


def test_mcp_01_native_output_does_not_reach_the_wire(store, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import ctypes, sys\nclass Loud:\n    def find_spec(self, name, *_):\n        if name == 'apsw':\n"
        "            ctypes.CDLL(None).puts(b'native noise'); ctypes.CDLL(None).fflush(None); print('python noise', flush=True)\n"
        "sys.meta_path.insert(0, Loud())\n"
    )
    with Raw(store.parent, {"PYTHONPATH": str(site)}) as server:
        server.handshake()
        server.call(1, "recall", query="session cookie")
        assert server.receive()["id"] == 1  # receive() reads every line as JSON


def test_lone_surrogates_and_broken_lines_are_survived(store):
    with Raw(store.parent) as server:
        server.handshake()
        server.send(b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"recall","arguments":'
                    b'{"query":"\\ud800 session \\ud83d\\ude80 \\\\ud800 cookie"}}}')
        answer = server.receive()
        assert answer["id"] == 5 and json.loads(answer["result"]["content"][0]["text"])["query"].count("🚀") == 1
        server.send(b"this is not json")
        server.send(b'{"jsonrpc":"2.0","id":6,"method":"no/such"}')
        server.send(b"\xff\xfe\x00")
        server.call(7, "recall", query="session cookie")
        seen = []
        while 7 not in seen:
            seen.append(server.receive().get("id"))
        assert 6 in seen


def test_mcp_03_answers_within_the_hosts_patience(store):
    cpu_before = os.times()
    begun = time.perf_counter()
    with Raw(store.parent) as server:
        server.handshake()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert server.receive()["id"] == 1
        waited = time.perf_counter() - begun
        server.process.stdin.close()
        server.process.wait(10)
    cpu = os.times()
    used = cpu.children_user + cpu.children_system - cpu_before.children_user - cpu_before.children_system
    assert used < 2.0 and waited < 10, (used, waited)  # the machine may be busy; the processor time is ours


def test_mcp_02_end_of_input_ends_the_server(store):
    begun = time.perf_counter()
    done = subprocess.run(command(), stdin=subprocess.DEVNULL, capture_output=True, cwd=store.parent, timeout=20)
    assert done.returncode == 0 and done.stdout == b""
    with Raw(store.parent) as server:
        server.handshake()
        begun = time.perf_counter()
        server.process.stdin.close()
        assert server.process.wait(10) == 0
        assert time.perf_counter() - begun < 2


def test_mcp_02_client_killed_in_the_middle_of_a_call(store):
    code = (
        "import subprocess, sys, json, time\n"
        "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "def send(m): p.stdin.write(json.dumps(m).encode() + b'\\n'); p.stdin.flush()\n"
        "send({'jsonrpc': '2.0', 'id': 0, 'method': 'initialize', 'params': {'protocolVersion': '2025-06-18', "
        "'capabilities': {}, 'clientInfo': {'name': 't', 'version': '1'}}})\n"
        "p.stdout.readline()\n"
        "send({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': 'recall', 'arguments': {'query': 'x'}}})\n"
        "print(p.pid, flush=True)\ntime.sleep(60)\n"
    )
    client = subprocess.Popen([sys.executable, "-c", code, *command()], stdout=subprocess.PIPE, cwd=store.parent)
    server = int(client.stdout.readline())
    client.send_signal(signal.SIGKILL)
    client.wait()
    client.stdout.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(server, 0)
        except ProcessLookupError:
            break
        with open(f"/proc/{server}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] == "Z":  # ended; nobody has collected it
                break
        time.sleep(0.1)
    else:
        os.kill(server, signal.SIGKILL)
        pytest.fail("the server outlived its client")


def test_mcp_02_terminated(store):
    with Raw(store.parent) as server:
        server.handshake()
        server.call(1, "recall", query="session cookie")
        server.process.terminate()
        assert server.process.wait(5) != 0
    assert not list(store.rglob("*.part"))


def test_http_needs_the_token(store):
    import socket
    import urllib.error
    import urllib.request

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*command(), "--http", str(port), "--token", "s3cret"], cwd=store.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )

    def post(token: str) -> tuple[int, bytes]:
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, {
            "Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""

    try:
        for _ in range(100):
            try:
                assert post("wrong")[0] == 401
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        status, data = post("s3cret")
        assert status == 200 and b"memoryfs" in data
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
