"""The Anthropic memory tool over a store: its documented answers, safe paths, and who said it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryfs import MemoryStore, edits, ledger
from memoryfs.harness.memory_tool import MemoryTool, MemoryToolError, anthropic_tool

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


@pytest.fixture
def tool(store) -> MemoryTool:
    return MemoryTool(store, clock=lambda: NOW)


def refused(tool: MemoryTool, **command: object) -> str:
    with pytest.raises(MemoryToolError) as caught:
        tool.call(command)
    return str(caught.value)


def test_view_lists_two_levels_without_what_is_ours(tool, store):
    (store / "projects" / "deep" / "er").mkdir(parents=True)
    (store / "projects" / "deep" / "x.txt").write_text("x" * 1536)
    shown = tool.call({"command": "view", "path": "/memories"})
    lines = shown.splitlines()
    assert lines[0] == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    names = [line.split("\t")[1] for line in lines[1:]]
    assert names[0] == "/memories" and "/memories/projects/" in names and "/memories/projects/school-auth.md" in names
    assert "/memories/MEMORY.md" in names and "/memories/projects/deep/" in names
    assert not [n for n in names if "ledger" in n or "threads" in n or "/." in n or "x.txt" in n]
    assert "1.5K\t/memories/projects/deep/x.txt" in tool.call({"command": "view", "path": "/memories/projects/deep"})


def test_view_numbers_lines(tool, store):
    (store / "notes.txt").write_text("one\ntwo\nthree")
    head = "Here's the content of /memories/notes.txt with line numbers:\n"
    assert tool.call({"command": "view", "path": "/memories/notes.txt"}) == head + "     1\tone\n     2\ttwo\n     3\tthree"
    assert tool.call({"command": "view", "path": "/memories/notes.txt", "view_range": [2, 2]}) == head + "     2\ttwo"
    assert tool.call({"command": "view", "path": "/memories/notes.txt", "view_range": [2, -1]}).endswith("     3\tthree")
    assert "view_range" in refused(tool, command="view", path="/memories/notes.txt", view_range=["a"])
    assert "does not exist. Please provide a valid path." in refused(tool, command="view", path="/memories/nope.md")


def test_create_str_replace_insert(tool, store):
    path = "/memories/procedures/deploy.md"
    text = "# Deploy\n\n## Facts\n- Deploys happen on Tuesdays.\n"
    assert tool.call({"command": "create", "path": path, "file_text": text}) == f"File created successfully at: {path}"
    assert refused(tool, command="create", path=path, file_text="x") == f"File {path} already exists"
    answer = tool.call({"command": "str_replace", "path": path, "old_str": "Tuesdays", "new_str": "Mondays"})
    assert answer.startswith("The memory file has been edited. Here is the snippet") and "Mondays" in answer
    assert "did not appear verbatim" in refused(tool, command="str_replace", path=path, old_str="Fridays", new_str="x")
    assert tool.call({"command": "insert", "path": path, "insert_line": 4, "insert_text": "- The port is 4711.\n"}) == f"The file {path} has been edited."
    lines = (store / "procedures" / "deploy.md").read_text().splitlines()
    assert lines[3].startswith("- Deploys happen on Mondays.") and lines[4].startswith("- The port is 4711.")
    assert "It should be within the range [0, " in refused(tool, command="insert", path=path, insert_line=99, insert_text="x")
    tool.call({"command": "create", "path": "/memories/twice.txt", "file_text": "a\nb\na\n"})
    assert "in lines: 1, 3. Please ensure it is unique" in refused(
        tool, command="str_replace", path="/memories/twice.txt", old_str="a", new_str="c")


def test_org_10_what_the_model_writes_is_the_agents_not_a_persons(tool, store):
    path = "/memories/procedures/deploy.md"
    tool.call({"command": "create", "path": path, "file_text": "# D\n\n## Facts\n- Deploys happen on Tuesdays.\n"})
    person = (store / "projects" / "school-auth.md").read_text().replace(
        "## Tasks", "- A person typed this here.\n\n## Tasks")
    (store / "projects" / "school-auth.md").write_text(person)
    tool.call({"command": "str_replace", "path": "/memories/projects/school-auth.md", "old_str": "14 days", "new_str": "21 days"})
    edits.adopt(store, MemoryStore.open(store).config, now=NOW)
    by_text = {m.summary: m for m in MemoryStore.open(store).list()}
    assert by_text["Deploys happen on Tuesdays."].stated_by == "agent"
    assert by_text["A person typed this here."].stated_by == "person"
    assert by_text["The session cookie lives 21 days."].id == "m-52e9f8"
    actors = {(e.id, e.action): e.actor for e in ledger.read(store)[0]}
    assert actors[(by_text["Deploys happen on Tuesdays."].id, "add")] == "agent"
    assert actors[("m-52e9f8", "edit")] == "agent"
    found = MemoryStore.open(store).recall("deploys Tuesdays", level=0)
    assert found.memories[0].memory.summary == "Deploys happen on Tuesdays."


def test_other_bytes_of_the_file_stay(tool, store):
    path = store / "projects" / "odd.md"
    path.write_bytes(b"---\r\ntitle:   Odd   # mine\r\n---\r\n# Odd\r\n\r\nProse.\r\nno newline at end")
    tool.call({"command": "str_replace", "path": "/memories/projects/odd.md", "old_str": "Prose", "new_str": "Words"})
    assert path.read_bytes() == b"---\r\ntitle:   Odd   # mine\r\n---\r\n# Odd\r\n\r\nWords.\r\nno newline at end"
    tool.call({"command": "insert", "path": "/memories/projects/odd.md", "insert_line": 7, "insert_text": "more"})
    assert path.read_bytes().endswith(b"no newline at end\r\nmore")
    tool.call({"command": "insert", "path": "/memories/projects/odd.md", "insert_line": 0, "insert_text": "<!-- top -->"})
    assert path.read_bytes().startswith(b"<!-- top -->\r\n---\r\n")


def test_an_edit_that_would_break_the_file_is_refused(tool, store):
    before = (store / "projects" / "school-auth.md").read_bytes()
    answer = refused(tool, command="str_replace", path="/memories/projects/school-auth.md", old_str="tags: [auth]", new_str="tags: [auth")
    assert "no longer be readable" in answer
    assert (store / "projects" / "school-auth.md").read_bytes() == before


def test_delete_archives_and_rename_keeps_ids(tool, store):
    assert tool.call({"command": "rename", "old_path": "/memories/projects/school-auth.md", "new_path": "/memories/projects/auth/school.md"}) == (
        "Successfully renamed /memories/projects/school-auth.md to /memories/projects/auth/school.md")
    assert {m.topic for m in MemoryStore.open(store).list() if m.id == "m-52e9f8"} == {"projects/auth/school.md"}
    assert tool.call({"command": "delete", "path": "/memories/projects/auth"}) == "Successfully deleted /memories/projects/auth"
    assert not (store / "projects" / "auth").exists()
    assert "14 days" in (store / "archive" / "projects" / "auth" / "school.md").read_text()
    edits.adopt(store, MemoryStore.open(store).config, now=NOW)
    assert "m-52e9f8" not in {m.id for m in MemoryStore.open(store).list()}
    assert refused(tool, command="delete", path="/memories/projects/auth") == "The path /memories/projects/auth does not exist"
    assert refused(tool, command="delete", path="/memories") == "Cannot delete the /memories directory itself"
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "x"})
    tool.call({"command": "create", "path": "/memories/b.md", "file_text": "y"})
    assert refused(tool, command="rename", old_path="/memories/a.md", new_path="/memories/b.md") == "The destination /memories/b.md already exists"
    assert "does not exist" in refused(tool, command="rename", old_path="/memories/none.md", new_path="/memories/c.md")
    for _ in range(2):  # the same name twice: the archive keeps both
        tool.call({"command": "delete", "path": "/memories/a.md"})
        tool.call({"command": "create", "path": "/memories/a.md", "file_text": "again"})
    assert len(list((store / "archive").glob("a*.md"))) == 2


BAD_PATHS = [
    "/memories/../../etc/passwd", "/etc/passwd", "/memories/a/../../b", "/memories/..\\..\\x", "/memories/%2e%2e/x",
    "/memories/link/x.md", "/memories/link", "/memories/.memoryfs/index.db", "/memories/threads/x.jsonl", "/memories/ledger.jsonl",
    "/memories/memoryfs.toml", "/memories/inbox.md", "/memoriesx", "", "memories/x", "/memories/x\ny", "/memories/" + "é" * 300, "/memories/.hidden.md",
    "/memories/archive/x.md",
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_mcp_05_paths_never_leave_the_store(tool, store, path):
    outside = store.parent.parent / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("SECRET")
    (store / "link").symlink_to(outside)
    before = {p: p.read_bytes() for p in outside.rglob("*") if p.is_file()}
    commands = [
        {"command": "view", "path": path}, {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "SECRET", "new_str": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}, {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/stolen.md"},
        {"command": "rename", "old_path": "/memories/projects/school-auth.md", "new_path": path},
    ]
    for command in commands:
        assert "SECRET" not in refused(tool, **command)
    assert before == {p: p.read_bytes() for p in outside.rglob("*") if p.is_file()}
    assert (store / "projects" / "school-auth.md").exists() and not (store / "stolen.md").exists()


def test_memory_md_can_be_read_but_is_compiled(tool):
    assert "# Memory" in tool.call({"command": "view", "path": "/memories/MEMORY.md"})
    for command in ("delete", "create"):
        assert "compiled" in refused(tool, command=command, path="/memories/MEMORY.md", file_text="x")
    assert "compiled" in refused(tool, command="rename", old_path="/memories/MEMORY.md", new_path="/memories/x.md")


@pytest.mark.parametrize("command", [
    {}, {"command": "wipe"}, {"command": "view"}, {"command": "view", "path": 5}, {"command": "create", "path": "/memories/a.md"},
    {"command": "insert", "path": "/memories/projects/school-auth.md", "insert_line": "1", "insert_text": "x"},
    {"command": "create", "path": "/memories/big.md", "file_text": "x" * 3_000_000},
])
def test_wrong_commands_are_told(tool, command):
    assert refused(tool, **command)


def test_secrets_and_surrogates_never_reach_the_disk(tool, store):
    secret = "ghp_" + "A1b2C3d4" * 4 + "A1b2"
    tool.call({"command": "create", "path": "/memories/notes/k.md", "file_text": f"# K\n\n## Facts\n- The token is {secret} \ud800.\n"})
    text = (store / "notes" / "k.md").read_text(encoding="utf-8")
    assert secret not in text and "[REDACTED" in text
    assert secret not in (store / "ledger.jsonl").read_text(encoding="utf-8")


def test_a_save_meanwhile_is_not_overwritten(tool, store, monkeypatch):
    path: Path = store / "projects" / "school-auth.md"
    signed = tool._signed

    def save_meanwhile(*arguments):
        path.write_text(path.read_text() + "\nA person saved this.\n")
        return signed(*arguments)

    monkeypatch.setattr(tool, "_signed", save_meanwhile)
    assert "changed by someone else" in refused(
        tool, command="str_replace", path="/memories/projects/school-auth.md", old_str="14 days", new_str="21 days")
    assert "A person saved this." in path.read_text() and "14 days" in path.read_text()


def test_anthropic_tool_runner_interface(store):
    tools = pytest.importorskip("anthropic.lib.tools")
    made = anthropic_tool(store, clock=lambda: NOW)
    assert isinstance(made, tools.BetaAbstractMemoryTool)
    assert made.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert made.call({"command": "create", "path": "/memories/x.md", "file_text": "# X\n"}) == "File created successfully at: /memories/x.md"
    assert "# X" in made.call({"command": "view", "path": "/memories/x.md"})
    assert "school-auth.md" in made.call({"command": "view", "path": "/memories/projects"})
    with pytest.raises(tools.ToolError):
        made.call({"command": "view", "path": "/memories/../x"})


def test_the_same_answers_as_the_sdks_own_files(tmp_path, store):
    tools = pytest.importorskip("anthropic.lib.tools")
    theirs = pytest.importorskip("anthropic.tools.memory").BetaLocalFilesystemMemoryTool(base_path=str(tmp_path / "theirs"))
    ours = anthropic_tool(store, clock=lambda: NOW)
    script = [
        {"command": "create", "path": "/memories/t.txt", "file_text": "one\ntwo\nthree\n"},
        {"command": "create", "path": "/memories/t.txt", "file_text": "x"},
        {"command": "view", "path": "/memories/t.txt"},
        {"command": "view", "path": "/memories/t.txt", "view_range": [2, 3]},
        {"command": "str_replace", "path": "/memories/t.txt", "old_str": "two", "new_str": "TWO"},
        {"command": "str_replace", "path": "/memories/t.txt", "old_str": "o", "new_str": "0"},
        {"command": "str_replace", "path": "/memories/t.txt", "old_str": "zzz", "new_str": "0"},
        {"command": "str_replace", "path": "/memories/none.txt", "old_str": "zzz", "new_str": "0"},
        {"command": "insert", "path": "/memories/t.txt", "insert_line": 1, "insert_text": "one and a half"},
        {"command": "view", "path": "/memories/t.txt"},
        {"command": "rename", "old_path": "/memories/t.txt", "new_path": "/memories/sub/u.txt"},
        {"command": "view", "path": "/memories/sub/u.txt"},
        {"command": "view", "path": "/memories/t.txt"},
        {"command": "delete", "path": "/memories/sub/u.txt"},
        {"command": "delete", "path": "/memories/sub/u.txt"},
        {"command": "delete", "path": "/memories"},
        {"command": "view", "path": "/elsewhere"},
    ]

    def answer(tool, command) -> str:
        try:
            return tool.call(command)
        except tools.ToolError as error:
            return f"error: {error}"

    for command in script:
        assert answer(ours, command).strip() == answer(theirs, command).strip(), command
