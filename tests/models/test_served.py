"""Models behind an address, against a small server on this machine."""

import json
import threading

import pytest
from servers import Quiet, serving

from memoryfs.errors import ModelAnswerError, ModelUnavailableError, UsageError
from memoryfs.models.served import ABSENT, ServedEmbedder, ServedGenerator

numpy = pytest.importorskip("numpy")


@pytest.fixture
def server():
    """A server whose `answer(path, body)` gives (status, object); it records what it was sent."""

    class Handler(Quiet):
        def do_GET(self):
            self.reply(None)

        def do_POST(self):
            self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def reply(self, body):
            state.seen.append((self.path, body, dict(self.headers)))
            status, data = state.answer(self.path, body)
            payload = json.dumps(data).encode() if not isinstance(data, bytes) else data
            self.send(status, payload, **({"Location": "http://127.0.0.1:9/elsewhere"} if status == 302 else {}))

    with serving(Handler) as state:
        state.seen = []
        state.answer = lambda path, body: (200, {"data": [{"id": "first-model"}]})
        yield state


def chat(text, tops=None):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if tops is not None:
        choice["logprobs"] = {"content": [{"token": text, "top_logprobs": [{"token": t, "logprob": p} for t, p in tops]}]}
    return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def test_score_from_the_likeliest_tokens(server):
    server.answer = lambda path, body: (200, chat("yes", [(" Yes", -0.5), ("no", -2.0), ("maybe", -3.0)]))
    model = ServedGenerator(server.url, "m")
    assert model.score("p", [" a", " b"], (" yes", " no")) == pytest.approx([1.5, 1.5])
    sent = [body for path, body, _ in server.seen if path == "/v1/chat/completions"]
    assert [b["messages"][0]["content"] for b in sent] == ["p a", "p b"]
    assert model.evaluated == 14 and model.written == 4


def test_score_with_a_label_that_is_not_likely(server):
    server.answer = lambda path, body: (200, chat("no", [("no", -0.1)]))
    assert ServedGenerator(server.url, "m").score("p", ["a"], (" yes", " no")) == pytest.approx([ABSENT + 0.1])


def test_score_from_a_server_without_probabilities(server):
    def answer(path, body):
        return (400, {"error": "logprobs are not supported"}) if body and "logprobs" in body else (200, chat("Yes."))

    server.answer = answer
    assert ServedGenerator(server.url, "m").score("p", ["a"], (" yes", " no")) == [1.0]


def test_write_asks_for_the_schema_and_falls_back_to_plain_json(server):
    def answer(path, body):
        if body and body["response_format"]["type"] == "json_schema":
            return 422, {"error": "unknown response format"}
        return 200, chat('```json\n{"facts": ["port 5433"]}\n```')

    server.answer = answer
    model = ServedGenerator(server.url + "/v1/", "m")
    schema = {"type": "object", "required": ["facts"]}
    assert model.write("p", schema, 100) == {"facts": ["port 5433"]}
    first = server.seen[1][1]["response_format"]["json_schema"]
    assert first["schema"] == schema


def test_write_of_something_else(server):
    server.answer = lambda path, body: (200, chat("I cannot help with that."))
    with pytest.raises(ModelAnswerError, match="no JSON object"):
        ServedGenerator(server.url, "m").write("p", {}, 10)


def test_name_is_what_the_server_lists_first(server):
    assert ServedGenerator(server.url).name == "first-model"


def test_key_comes_from_the_environment_and_follows_no_redirect(server, monkeypatch):
    monkeypatch.setenv("MEMORYFS_API_KEY", "a-key")
    server.answer = lambda path, body: (302, {}) if body else (200, {"data": []})
    with pytest.raises(ModelUnavailableError, match="302"):
        ServedGenerator(server.url, "m").score("p", ["a"], (" yes", " no"))
    assert server.seen[-1][2]["Authorization"] == "Bearer a-key"


def test_embeddings_are_put_in_order_and_normalised(server):
    def answer(path, body):
        if body is None:
            return 200, {"data": []}
        rows = [{"index": i, "embedding": [float(len(t)), 0.0, 1.0]} for i, t in enumerate(body["input"])]
        return 200, {"data": rows[::-1]}

    server.answer = answer
    model = ServedEmbedder(server.url, "multilingual-e5-base")
    vectors = model.embed_passages(["a", "bbbb"])
    assert vectors.shape == (2, 3) and vectors.dtype == numpy.float32
    assert numpy.allclose(numpy.linalg.norm(vectors, axis=1), 1)
    assert vectors[0, 0] < vectors[1, 0]
    assert server.seen[-1][1]["input"] == ["passage: a", "passage: bbbb"]
    model.embed_query("x")
    assert server.seen[-1][1]["input"] == ["query: x"]
    assert model.dim == 3 and model.fingerprint == "served:multilingual-e5-base:query: /passage: :3"


@pytest.mark.parametrize(
    "data", [{"data": []}, {"data": [{"embedding": ["x"]}]}, {"error": "no"}, {"data": [{"embedding": [float("nan")]}]}, []]
)
def test_embeddings_that_are_none(server, data):
    server.answer = lambda path, body: (200, data if body else {})
    with pytest.raises(ModelUnavailableError):
        ServedEmbedder(server.url, "m").embed_passages(["a"])


@pytest.mark.parametrize("payload", [b"not json", b"[]", b'{"choices": []}', b'{"choices": "x"}'])
def test_answers_that_are_not_answers(server, payload):
    server.answer = lambda path, body: (200, payload if body else {})
    with pytest.raises(ModelUnavailableError):
        ServedGenerator(server.url, "m").score("p", ["a"], (" yes", " no"))


def test_nobody_there():
    with pytest.raises(ModelUnavailableError) as caught:
        ServedGenerator("http://127.0.0.1:9", "m").score("p", ["a"], (" yes", " no"))
    assert "--no-model" in caught.value.remedy


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "http://"])
def test_addresses_that_are_none(url):
    with pytest.raises(UsageError):
        ServedGenerator(url)


def test_a_server_that_goes_on_sending_a_little_does_not_hold_us():
    import socket
    import time

    def drip():
        while True:
            try:
                talk, _ = listening.accept()
            except OSError:
                return
            with talk:
                talk.recv(1 << 16)
                try:
                    talk.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
                    for _ in range(200):
                        talk.sendall(b" ")
                        time.sleep(0.05)
                except OSError:
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=drip, daemon=True).start()
        model = ServedGenerator(f"http://127.0.0.1:{listening.getsockname()[1]}", "m", request_seconds=0.5)
        model.server._probed = True
        began = time.monotonic()
        with pytest.raises(ModelUnavailableError, match="in time"):
            model.write("p", {"type": "object"}, 5)
        assert time.monotonic() - began < 5
