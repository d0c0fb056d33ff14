"""`recall --answer`, as a person calls it, with a model behind an OpenAI-compatible address."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from servers import Quiet, serving

from memoryfs.cli.recall import page
from memoryfs.mcp_server import tools
from memoryfs.model import Answer, Evidence, Recall
from memoryfs.models import check as checks
from memoryfs.recall import answer

QUESTION = "Which port does the gateway listen on?"


@pytest.fixture
def server():
    """A model server that copies the first value which it is shown; `say` overrides it."""

    class Handler(Quiet):
        def do_GET(self):
            self.reply({"data": [{"id": "writer-4b"}]})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][0]["content"]
            state.prompts.append(prompt)
            shown = prompt[prompt.rindex("Evidence\n") :]
            number, name = re.search(r"\[(\d+)\][^\n]*\n\| [^\n]*port (\{v\d+\})", shown).groups()
            sentence = state.say or f"The gateway listens on port {name} [{number}]."
            self.reply({"choices": [{"message": {"content": json.dumps({"sentence": sentence})}}]})

        def reply(self, data):
            self.send(200, json.dumps(data).encode())

    with serving(Handler) as state:
        state.prompts, state.say = [], ""
        yield state


@pytest.fixture
def ready(store, server):
    """The store, with that server as its model, trusted."""
    (store / "memoryfs.toml").write_text(f'[models]\ngenerator = "{server.url}"\nembedder = "none"\n')
    checks.record(store, [checks.Calibration(answer.NAME, 1.0, 0.8, True, 54, answer.task().digest, "served:writer-4b")])
    return store


def test_the_sentence_comes_first_and_the_evidence_is_numbered(run, ready, server):
    shown = run("--store", ready, "recall", QUESTION, "--answer")
    first = shown.out.splitlines()[0]
    assert re.fullmatch(r"The gateway listens on port 7443 \[\d\]\.", first) and "writer-4b" in shown.out and shown.code == 0
    number = re.search(r"\[(\d)\]", first)[1]
    assert re.search(rf"(?m)^\[{number}\] \S+:\d+ \[", shown.out)
    assert "7443" not in server.prompts[0]
    told = run("--store", ready, "--json", "recall", QUESTION, "--answer").json
    assert told["answer"]["values"][0]["text"] == "7443" and told["answer"]["model"] == "writer-4b" and not told["notices"]
    assert "answer" not in run("--store", ready, "--json", "recall", QUESTION).json


def test_a_sentence_that_fails_is_a_notice_beside_the_evidence(run, ready, server):
    server.say = "The gateway listens on port 9999 [1]."
    shown = run("--store", ready, "--json", "recall", QUESTION, "--answer")
    assert "answer" not in shown.json and shown.json["evidence"] and "'9999'" in " ".join(shown.json["notices"]) and shown.code == 0
    assert "9999" in run("--store", ready, "recall", QUESTION, "--answer").err


def test_without_a_trusted_model_it_says_what_to_do(run, ready):
    (ready / ".memoryfs" / "models.json").unlink()
    shown = run("--store", ready, "recall", QUESTION, "--answer")
    assert "memoryfs models check" in shown.err and "7443" in shown.out


def test_a_value_never_commands_the_terminal():
    proof = Evidence("t", 0, 0, 3, "x", "e", "user", None, "s", 0)
    found = Recall("q", "ambiguous", 2, False, 1, evidence=(proof,))
    shown = page(replace(found, answer=Answer("Run \x1b]0;gone\x07`a\u202eb` [1].", (1,), (), "m\x1b[31m")))
    assert "\x1b" not in shown and "\u202e" not in shown and shown.startswith("Run \\x1b]0;gone")


def test_by_mcp_it_is_a_flag(ready, server):
    stores = tools.Stores(ready.parent, ready)
    assert json.loads(tools.call(stores, "recall", {"query": QUESTION, "answer": True}))["answer"]["values"][0]["text"] == "7443"
    assert "answer" not in json.loads(tools.call(stores, "recall", {"query": QUESTION}))
    with pytest.raises(Exception, match="true or false"):
        tools.call(stores, "recall", {"query": QUESTION, "answer": "perhaps"})
