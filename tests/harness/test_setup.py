"""Settings files of many kinds: connected, connected again, disconnected."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memoryfs.errors import ReadOnlyError, UnwritableFileError, UsageError
from memoryfs.harness import hosts, jsonc, setup
from memoryfs.harness.entries import is_ours

COMMAND = ("/opt/my tools/it's/memoryfs",)
FOREIGN = {"hooks": [{"type": "command", "command": "~/bin/notify.sh", "timeout": 5}]}
BUSY = {
    "permissions": {"allow": ["Bash(npm:*)"], "deny": []}, "model": "opus",
    "hooks": {
        event: [{"matcher": "startup", **FOREIGN}, FOREIGN, {"hooks": [{"type": "command", "command": "echo memoryfs"}]}]
        for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "PostToolUse")
    },
}

SETTINGS = {
    "none": None,
    "empty": b"",
    "blank": b"\n",
    "braces": b"{}",
    "braces-newline": b"{}\n",
    "compact": b'{"model":"opus","hooks":{"Stop":[]}}',
    "indent-2": json.dumps(BUSY, indent=2).encode() + b"\n",
    "indent-4-no-newline": json.dumps(BUSY, indent=4).encode(),
    "tabs": json.dumps(BUSY, indent="\t").encode() + b"\n",
    "one-line": json.dumps(BUSY).encode(),
    "crlf": json.dumps(BUSY, indent=2).replace("\n", "\r\n").encode() + b"\r\n",
    "bom": b"\xef\xbb\xbf" + json.dumps(BUSY, indent=2).encode(),
    "comments": b'// mine\n{\n  "model": "opus", // the best\n  /* hooks */\n  "hooks": {\n    "SessionStart": [\n      // none yet\n    ]\n  } // end\n}\n// bye\n',
    "trailing-commas": b'{\n  "hooks": {\n    "SessionStart": [\n      {"hooks": [{"type": "command", "command": "x",},],},\n    ],\n  },\n}\n',
    "odd-spacing": b'{ "a" :1 ,\n\n\n      "hooks"   :{ "SessionStart":[ ] }\n , "z":[1,\n2]}',
    "unicode": '{\n  "名前": "表🚀",\n  "path": "C:\\\\x \\u00e9"\n}\n'.encode(),
    "null-elsewhere": b'{\n  "hooks": {},\n  "mcpServers": {},\n  "x": null\n}\n',
}


def place(home: Path, data: bytes | None, name: str = ".claude/settings.json") -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is not None:
        path.write_bytes(data)
    return path


def connect(home: Path, harness: str = "claude-code", command=COMMAND, **options) -> None:
    for change in setup.plan(harness, {"HOME": str(home)}, command=command, **options):
        setup.apply(change)


def disconnect(home: Path, harness: str = "claude-code") -> None:
    for change in setup.plan(harness, {"HOME": str(home)}, command=COMMAND, remove=True):
        setup.apply(change)


def files(home: Path) -> dict[str, bytes]:
    return {str(p.relative_to(home)): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("kind", SETTINGS)
def test_hook_05_connect_twice_and_disconnect_gives_the_bytes_back(tmp_path, kind):
    original = SETTINGS[kind]
    path = place(tmp_path, original)
    before = files(tmp_path)
    connect(tmp_path)
    once = files(tmp_path)
    value = jsonc.parse(path.read_bytes().decode("utf-8-sig")).value
    for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"):
        (ours,) = [item for item in value["hooks"][event] if is_ours(item)]
        (hook,) = ours["hooks"]
        assert 5 <= hook["timeout"] <= 15 and hook["type"] == "command"  # seconds
        assert shlex.split(hook["command"])[0] == COMMAND[0]
    old = jsonc.parse(original.decode("utf-8-sig")).value if original and original.strip() else {}
    for key, was in old.items():
        if key != "hooks":
            assert value[key] == was
    for event, was in old.get("hooks", {}).items():
        assert [item for item in value["hooks"][event] if not is_ours(item)] == was
    if original and b"\r\n" in original:
        assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf") == bool(original and original.startswith(b"\xef\xbb\xbf"))
    connect(tmp_path)
    assert files(tmp_path) == once
    disconnect(tmp_path)
    assert files(tmp_path) == before
    disconnect(tmp_path)
    assert files(tmp_path) == before


@pytest.mark.parametrize("kind", [k for k, v in SETTINGS.items() if v and v.strip()])
def test_hook_05_foreign_lines_stay_byte_for_byte(tmp_path, kind):
    path = place(tmp_path, SETTINGS[kind])
    connect(tmp_path)
    new = iter(path.read_bytes())
    old = (SETTINGS[kind] or b"").split()
    text = path.read_bytes()
    position = 0
    for word in old:  # every word of the original, in its order
        position = text.index(word.rstrip(b",}]"), position)
    assert next(new, None) is not None


@pytest.mark.parametrize("kind", [k for k, v in SETTINGS.items() if v and v.strip()])
def test_disconnecting_after_someone_else_changed_the_file_keeps_their_change(tmp_path, kind):
    path = place(tmp_path, SETTINGS[kind])
    connect(tmp_path)
    text = path.read_bytes().decode("utf-8-sig")
    path.write_text(jsonc.append(text, jsonc.parse(text), {"theirs": [1]}, "added"), encoding="utf-8", newline="")
    disconnect(tmp_path)
    value = jsonc.parse(path.read_text(encoding="utf-8")).value
    assert value.pop("added") == {"theirs": [1]}
    assert value == jsonc.parse((SETTINGS[kind] or b"").decode("utf-8-sig")).value
    assert not setup.backup_of(path).exists()


def test_a_later_version_replaces_its_own_entries(tmp_path):
    path = place(tmp_path, SETTINGS["indent-2"])
    connect(tmp_path, command=("/old/memoryfs",))
    connect(tmp_path)
    text = path.read_text()
    assert "/old/" not in text and text.count("hook session-start") == 1
    disconnect(tmp_path)
    assert path.read_bytes() == SETTINGS["indent-2"]


@pytest.mark.parametrize("data", [
    b"{", b'{"hooks": ', b"[]", b'"x"', b"\xff\xfe{\x00}\x00", b'{"hooks": []}', b'{"hooks": {"SessionStart": {}}}',
    b'{"hooks": {}, "hooks": {}}', b"caf\xe9",
])
def test_hook_05_malformed_is_refused_and_left_alone(tmp_path, data):
    path = place(tmp_path, data)
    with pytest.raises(UnwritableFileError):
        connect(tmp_path)
    assert files(tmp_path) == {".claude/settings.json": data}
    assert path.read_bytes() == data


def test_hook_05_link_and_mode_stay(tmp_path):
    real = place(tmp_path, SETTINGS["indent-2"], "dotfiles/claude.json")
    real.chmod(0o600)
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to("../dotfiles/claude.json")
    connect(tmp_path)
    assert path.is_symlink() and "hook session-start" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert stat.S_IMODE(setup.backup_of(path).stat().st_mode) == 0o600
    disconnect(tmp_path)
    assert path.is_symlink() and real.read_bytes() == SETTINGS["indent-2"] and list(real.parent.iterdir()) == [real]


def test_hook_05_write_protected_is_refused(tmp_path):
    path = place(tmp_path, SETTINGS["indent-2"])
    path.chmod(0o444)
    with pytest.raises(ReadOnlyError):
        connect(tmp_path)
    assert path.read_bytes() == SETTINGS["indent-2"]


def test_link_to_nowhere_is_refused(tmp_path):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.symlink_to("gone.json")
    with pytest.raises(UnwritableFileError):
        connect(tmp_path)


TOML = {
    "none": None,
    "empty": b"",
    "comments": b'# mine\nmodel = "gpt-5" # best\n\n[mcp_servers.docs]\ncommand = "npx"   # odd   spacing\nargs = ["-y", "docs"]\n\n[tui]\ntheme="x"\n',
    "crlf": b'model = "gpt-5"\r\n[features]\r\nhooks = true\r\n',
    "no-newline": b'model = "gpt-5"',
    "inline": b'mcp_servers = { docs = { command = "npx" } }\n',
    "bom": b'\xef\xbb\xbfmodel = "gpt-5"\n',
    "dotted": b'mcp_servers.docs.command = "npx"\n[profiles.x]\nmodel = "y"\n',
    "array-of-tables-last": b'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n',
}


@pytest.mark.parametrize("kind", TOML)
def test_hook_05_codex_config(tmp_path, kind):
    original = TOML[kind]
    path = place(tmp_path, original, ".codex/config.toml")
    before = files(tmp_path)
    connect(tmp_path, "codex")
    once = files(tmp_path)
    value = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    assert value["mcp_servers"].pop("memoryfs") == {"command": COMMAND[0], "args": ["mcp"]}
    old = tomllib.loads((original or b"").decode("utf-8-sig"))
    assert value == {"mcp_servers": {}, **old}
    if original and kind != "inline":
        assert path.read_bytes().startswith(original)
    connect(tmp_path, "codex")
    assert files(tmp_path) == once
    path.write_bytes(path.read_bytes() + b"\n[extra]\na = 1\n")
    disconnect(tmp_path, "codex")
    assert tomllib.loads(path.read_text(encoding="utf-8-sig")) == {**old, "extra": {"a": 1}}
    (tmp_path / ".codex" / "config.toml").unlink()
    place(tmp_path, original, ".codex/config.toml")
    connect(tmp_path, "codex")
    disconnect(tmp_path, "codex")
    assert files(tmp_path) == before


@pytest.mark.parametrize("data", [b"[mcp_servers", b"mcp_servers = 3\n", b"a = 1\na = 2\n"])
def test_codex_malformed_is_refused(tmp_path, data):
    path = place(tmp_path, data, ".codex/config.toml")
    with pytest.raises(UnwritableFileError):
        connect(tmp_path, "codex")
    assert path.read_bytes() == data


@pytest.mark.parametrize("harness", hosts.HARNESSES)
def test_every_harness_from_nothing_and_back(tmp_path, harness):
    connect(tmp_path, harness)
    assert files(tmp_path)
    for path, data in files(tmp_path).items():
        if path.endswith(".json"):
            json.loads(data)
    disconnect(tmp_path, harness)
    assert files(tmp_path) == {}


def test_cursor_hooks_have_a_version_and_foreign_ones_stay(tmp_path):
    original = b'{\n  "version": 1,\n  "hooks": {"stop": [{"command": "./x.sh"}]}\n}\n'
    path = place(tmp_path, original, ".cursor/hooks.json")
    connect(tmp_path, "cursor")
    value = json.loads(path.read_bytes())
    assert value["version"] == 1 and value["hooks"]["stop"] == [{"command": "./x.sh"}]
    assert is_ours(value["hooks"]["sessionStart"][0])
    disconnect(tmp_path, "cursor")
    assert path.read_bytes() == original


def test_openclaw_json5(tmp_path):
    original = b"{\n  // mine\n  agents: { defaults: { workspace: '~/w', }, },\n  mcp: { servers: { docs: { command: 'npx' } } },\n}\n"
    path = place(tmp_path, original, ".openclaw/openclaw.json")
    connect(tmp_path, "openclaw")
    value = jsonc.parse(path.read_text()).value
    assert set(value["mcp"]["servers"]) == {"docs", "memoryfs"} and value["agents"] == {"defaults": {"workspace": "~/w"}}
    disconnect(tmp_path, "openclaw")
    assert path.read_bytes() == original


def test_opencode_plugin_is_javascript(tmp_path):
    connect(tmp_path, "opencode")
    plugin = tmp_path / ".config" / "opencode" / "plugins" / "memoryfs.js"
    assert json.dumps(list(COMMAND)) in plugin.read_text()
    import shutil

    node = shutil.which("node")
    if node:
        copy = tmp_path / "copy.mjs"
        copy.write_bytes(plugin.read_bytes())
        subprocess.run([node, "--check", str(copy)], check=True, timeout=30)


def test_unknown_harness_names_the_known_ones():
    with pytest.raises(UsageError) as caught:
        setup.plan("emacs", {"HOME": "/x"}, command=COMMAND)
    assert "claude-code" in caught.value.remedy


def test_auto_memory_folder(tmp_path, store):
    path = place(tmp_path, SETTINGS["indent-2"])
    connect(tmp_path, memory_folder=store)
    assert json.loads(path.read_bytes())["autoMemoryDirectory"] == str(store)
    disconnect(tmp_path)
    assert path.read_bytes() == SETTINGS["indent-2"]


@pytest.mark.parametrize("original", [
    None, b"", b"# Rules\n\nUse pnpm.\n", b"# Rules\r\n\r\nUse pnpm.\r\n", b"no newline at end", b"\xef\xbb\xbf# Rules\n", b"ends blank\n\n",
])
@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_one_line_in_a_file_of_instructions(tmp_path, store, original, harness):
    path = place(tmp_path, original, "proj/CLAUDE.md")
    options = {"instructions": (path, store)}
    connect(tmp_path, harness, **options)
    once = path.read_bytes()
    assert once.startswith(original or b"") and once.count(hosts.MARK.encode()) == 1
    assert os.path.relpath(store / "MEMORY.md", path.parent).encode() in once
    connect(tmp_path, harness, **options)
    assert path.read_bytes() == once
    path.write_bytes(once + b"added later\n")
    for change in setup.plan(harness, {"HOME": str(tmp_path)}, command=COMMAND, remove=True, **options):
        setup.apply(change)
    assert hosts.MARK.encode() not in path.read_bytes() and b"added later" in path.read_bytes()
    path.unlink()
    path = place(tmp_path, original, "proj/CLAUDE.md")
    connect(tmp_path, harness, **options)
    for change in setup.plan(harness, {"HOME": str(tmp_path)}, command=COMMAND, remove=True, **options):
        setup.apply(change)
    assert (path.read_bytes() if path.exists() else None) == original


@pytest.mark.parametrize("kind", ["indent-2", "braces", "none"])
def test_hook_before_edits_on_request(tmp_path, kind):
    path = place(tmp_path, SETTINGS[kind])
    before = files(tmp_path)
    connect(tmp_path, edits=True)
    value = json.loads(path.read_bytes())
    (ours,) = [group for group in value["hooks"]["PreToolUse"] if is_ours(group)]
    assert ours["matcher"] == hosts.EDITS
    disconnect(tmp_path)
    assert files(tmp_path) == before


def test_dry_run_shows_the_exact_diff(tmp_path):
    path = place(tmp_path, SETTINGS["comments"])
    done = subprocess.run(
        [sys.executable, "-m", "memoryfs", "setup", "claude-code", "--dry-run"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": ""},
    )
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == SETTINGS["comments"] and len(files(tmp_path)) == 1
    changes = setup.plan("claude-code", {"HOME": str(tmp_path)}, command=setup.own_command())
    assert done.stdout == "".join(c.diff() for c in changes)
    assert f"--- {path}" in done.stdout and "+++" in done.stdout


def test_hook_10_installed_line_runs_from_a_path_with_spaces_and_quotes(tmp_path, store):
    folder = tmp_path / "my tools" / "it's"
    folder.mkdir(parents=True)
    script = folder / "memoryfs"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m memoryfs "$@"\n')
    script.chmod(0o755)
    connect(tmp_path, command=(str(script),))
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_bytes())
    line = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    (store.parent / "json.py").write_text("raise SystemExit('shadowed')")  # the project's own modules are not ours
    done = subprocess.run(["sh", "-c", line], input=b"{}", capture_output=True, cwd=store.parent, env={}, timeout=20)
    assert done.returncode == 0 and b"pnpm" in done.stdout, done.stderr
