"""The server as a real process, through the official client: every tool, paging, odd input, many calls at once."""

from __future__ import annotations

import json
import time

import pytest

anyio = pytest.importorskip("anyio")
pytest.importorskip("mcp")

from mcp.shared.exceptions import MCPError  # noqa: E402
from mcp_kit import session  # noqa: E402

from memoryfs import MemoryStore  # noqa: E402

TOOLS = {"recall", "read_memory", "recall_source", "remember", "forget", "list_memories", "dedupe", "review"}


async def ask(client, tool: str, **arguments):
    """(is_error, text) of one call."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    return result.is_error, content.text


async def got(client, tool: str, **arguments):
    error, text = await ask(client, tool, **arguments)
    assert not error, text
    return json.loads(text)


def in_session(work, cwd, *, env=None, option=None):
    async def main():
        async with session(cwd, env=env, option=option) as client:
            return await work(client)

    return anyio.run(main)


def test_every_tool(store):
    async def work(client):
        listed = (await client.list_tools()).tools
        assert {t.name for t in listed} == TOOLS
        hints = {t.name: t.annotations for t in listed}
        assert hints["recall"].read_only_hint and hints["forget"].destructive_hint and not hints["remember"].destructive_hint
        assert all(not h.open_world_hint for h in hints.values())

        found = await got(client, "recall", query="e-mail check regex teacher", level="2")
        regex = r"/^[a-z]+@teacher\.example\.ed\.jp$/"
        (proof,) = [e for e in found["evidence"] if regex in e["text"]]
        source = await got(client, "recall_source", thread=proof["thread"], start=proof["index"], end=proof["index"])
        assert source["events"][0]["text"][proof["start"] : proof["end"]] == proof["text"]

        new = await got(client, "remember", text="Deploys happen on Tuesdays.", topic="projects/ops", hints="deploy, release")
        assert new["action"] == "add"
        again = await got(client, "remember", text="Deploys happen on Tuesdays.", topic="projects/ops")
        assert again["action"] == "exists" and again["id"] == new["id"]
        assert (await got(client, "dedupe", text="Deploys happen on Tuesdays."))["verdict"] == "exact"
        rows = (await got(client, "list_memories", topic="projects/ops.md"))["memories"]
        assert [r["id"] for r in rows] == [new["id"]]
        error, text = await ask(client, "read_memory", ref=f"^{new['id']}")
        assert not error and "Deploys happen on Tuesdays." in text
        assert (await got(client, "forget", memory_id=f"^{new['id']}"))["action"] == "withdraw"
        assert (await got(client, "list_memories", topic="projects/ops.md"))["memories"] == []

        (open_review,) = (await got(client, "review"))["reviews"]
        assert open_review["id"] == "r-4410aa" and len(open_review["memories"]) == 2
        settled = await got(client, "review", review_id="^r-4410aa", choice="accept")
        assert settled["action"] == "resolve"
        assert (await got(client, "review"))["reviews"] == []

    in_session(work, store.parent)


def test_resources_and_prompt(store):
    async def work(client):
        listed = (await client.list_resources()).resources
        assert {r.uri for r in listed} == {"memory://briefing", "memory://topic/projects%2Fschool-auth.md"}
        for resource in listed:
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.text
        with pytest.raises(MCPError):
            await client.read_resource("memory://topic/..%2F..%2Fetc%2Fpasswd")
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "memory://topic/{name}"
        (prompt,) = (await client.list_prompts()).prompts
        message = (await client.get_prompt(prompt.name)).messages[0]
        assert "character for character" in message.content.text

    in_session(work, store.parent)


def test_mcp_06_bad_arguments_are_answered_and_the_server_stays(store):
    bad = [
        ("recall", {}), ("recall", {"query": "x", "k": "ten"}), ("recall", {"query": None}), ("recall", {"query": {"a": 1}}),
        ("recall", {"query": "x", "limit": 3}), ("recall", {"query": "x" * 5_000_000}), ("remember", {"text": ""}),
        ("remember", {"text": "x", "kind": "opinion"}), ("remember", {"text": "x", "source": "nonsense"}),
        ("forget", {"memory_id": "1"}), ("forget", {"memory_id": "^m-ffffff"}), ("list_memories", {"offset": -1}),
        ("recall_source", {"thread": "nope"}), ("no_such_tool", {}), ("review", {"review_id": "^r-000000"}),
        ("recall", {"query": "x", "as_of": "yesterdayish"}),
    ]

    async def work(client):
        for tool, arguments in bad:
            error, text = await ask(client, tool, **arguments)
            assert error and 10 < len(text) < 2000, (tool, text[:300])
        assert (await got(client, "recall", query="session \x00 cookie 🚀"))["memories"]
        error, text = await ask(client, "forget", memory_id="^m-7c01d3")
        assert error and "m-7c01d2" in text  # close ids are named, nothing is deleted
        assert len((await got(client, "list_memories", status="all"))["memories"]) == 3

    in_session(work, store.parent)


ODD_NAMES = [
    "../../etc/passwd", "/etc/passwd", "a/../../b", "..\\..\\x", "%2e%2e/x", "link.md", "projects/\0x", ".memoryfs/index.db",
    "CON", "nul.md", "x.md:ads", "x" * 300, "dot. ", "two\nlines", "threads/x", "MEMORY.md",
]


def test_mcp_05_nothing_outside_the_store(store):
    secret = store.parent.parent / "secret.md"
    secret.write_text("# TOP SECRET\n")
    (store / "link.md").symlink_to(secret)
    outside = {p for p in store.parent.parent.rglob("*") if not p.is_relative_to(store)}

    async def work(client):
        for number, name in enumerate(ODD_NAMES):
            for tool, arguments in (
                ("read_memory", {"ref": name}), ("remember", {"text": f"Written by test {number}.", "topic": name}),
                ("list_memories", {"topic": name}),
            ):
                error, text = await ask(client, tool, **arguments)
                assert "TOP SECRET" not in text and "root:" not in text and "Traceback" not in text, (tool, name, text)
                if not error and tool == "remember":
                    assert (store / json.loads(text)["topic"]).resolve().is_relative_to(store.resolve()), name

    in_session(work, store.parent)
    assert secret.read_text() == "# TOP SECRET\n"
    assert {p for p in store.parent.parent.rglob("*") if not p.is_relative_to(store)} - outside <= {store.parent / "server.log"}


def test_mcp_07_a_write_is_readable_at_once_everywhere(store):
    long = "The runbook says: " + "restart the queue worker, then the cache. " * 50

    async def work(client):
        new = await got(client, "remember", text=long, topic="procedures/runbook")
        found = await got(client, "recall", query="runbook restart queue worker", level=0)
        assert new["id"] in [m["id"] for m in found["memories"]]
        async with session(store.parent, "--store", str(store)) as other:
            assert new["id"] in [m["id"] for m in (await got(other, "list_memories"))["memories"]]
        text = (store / "procedures" / "runbook.md").read_text(encoding="utf-8")
        assert " ".join(long.split()) in text
        error, text = await ask(client, "remember", text="x" * 100_001)
        assert error and "100000" in text

    in_session(work, store.parent)


def test_con_08_fifty_parallel_calls(store):
    async def work(client):
        answers: dict[int, tuple[bool, str]] = {}

        async def one(number: int) -> None:
            if number % 5 == 0:
                answers[number] = await ask(client, "remember", text=f"Parallel fact number {number}.", topic="projects/many")
            elif number % 5 == 1:
                answers[number] = await ask(client, "list_memories")
            else:
                answers[number] = await ask(client, "recall", query=f"session cookie {number}")

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, number)
        assert len(answers) == 50 and not [a for a in answers.values() if a[0]]
        for number, (_, text) in answers.items():
            if number % 5 > 1:
                assert json.loads(text)["query"] == f"session cookie {number}"
        kept = (await got(client, "list_memories", topic="projects/many.md"))["memories"]
        assert {m["summary"] for m in kept} == {f"Parallel fact number {n}." for n in range(0, 50, 5)}

    in_session(work, store.parent)


def test_con_02_four_servers_on_one_store(store):
    async def work(client):
        async def one(number: int) -> None:
            async with session(store.parent) as other:
                for n in range(3):
                    await got(other, "remember", text=f"Server {number} says {n}.", topic="projects/shared")
                    await got(other, "recall", query=f"server {number}")

        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(one, number)
        rows = (await got(client, "list_memories", topic="projects/shared.md"))["memories"]
        assert len(rows) == 9

    in_session(work, store.parent)


def test_con_07_index_deleted_or_damaged_under_the_server(store):
    async def work(client):
        index = store / ".memoryfs" / "index.db"
        assert (await got(client, "recall", query="session cookie"))["memories"]
        index.unlink()
        assert (await got(client, "recall", query="session cookie"))["memories"]
        index.write_bytes(b"garbage" * 500)
        assert (await got(client, "recall", query="session cookie"))["memories"]

    in_session(work, store.parent)


def test_cancelled_call_leaves_the_session_usable(store):
    async def work(client):
        with anyio.move_on_after(0.001):
            await ask(client, "recall", query="session cookie")
        begun = time.monotonic()
        assert (await got(client, "recall", query="session cookie"))["memories"]
        assert time.monotonic() - begun < 20

    in_session(work, store.parent)


def test_without_a_store_every_call_says_how_to_make_one(tmp_path):
    async def work(client):
        error, text = await ask(client, "recall", query="x")
        assert error and "memoryfs init" in text
        MemoryStore.init(tmp_path / ".memory")
        assert (await got(client, "recall", query="x"))["abstained"]

    in_session(work, tmp_path, env={"MEMORYFS_HOME": str(tmp_path / "none")})


def test_mcp_04_a_three_megabyte_note(store):
    (store / "projects" / "huge.md").write_text("# Huge\n\n" + "A line of prose. " * 180_000)

    async def work(client):
        page = await got(client, "read_memory", ref="projects/huge.md")
        assert page["total"] > 3_000_000 and page["next"]
        second = await got(client, "read_memory", ref="projects/huge.md", offset=page["next"])
        assert second["offset"] == page["next"] and second["text"]

    in_session(work, store.parent)


def test_memory_tool_is_offered_on_request(store):
    async def work(client):
        assert {t.name for t in (await client.list_tools()).tools} == {*TOOLS, "memory"}
        error, text = await ask(client, "memory", command="create", path="/memories/notes/a.md", file_text="# A\n\n## Facts\n- ZZ is 4.\n")
        assert not error and text == "File created successfully at: /memories/notes/a.md"
        error, text = await ask(client, "memory", command="view", path="/memories/notes/a.md", view_range=[4, -1])
        assert not error and "ZZ is 4." in text
        error, text = await ask(client, "memory", command="view", path="/memories/../x")
        assert error and "escape" in text
        assert (await got(client, "recall", query="ZZ", level=0))["memories"][0]["summary"] == "ZZ is 4."

    in_session(work, store.parent, option="--memory-tool")
