"""The commands as a person or a script calls them: results, exit codes of DESIGN §7, what goes where."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memoryfs.cli import COMMANDS

SCRIPT = [sys.executable, "-m", "memoryfs"]


def test_recall_json_is_the_documented_object(run, store):
    found = run("--store", store, "recall", "which port does the gateway listen on", "--json", "--level", "2")
    assert found.code == 0
    data = found.json
    assert {"query", "decision", "level", "abstained", "tokens", "memories", "evidence"} <= set(data)
    first = data["evidence"][0]
    assert "7443" in first["text"] and first["thread"].startswith("2026-03-01-")
    assert first["source"].endswith("talk.jsonl") and first["line"] in (0, 1)


def test_global_options_stand_before_or_after_the_command(run, store):
    one = run("--store", store, "--json", "recall", "gateway port")
    two = run("recall", "gateway port", "--store", store, "--json")
    assert one.json["evidence"] == two.json["evidence"]


def test_remember_is_readable_at_once(run, store):
    made = run("--store", store, "remember", "The staging host is stage-3.example.net", "--topic", "infrastructure/hosts", "--json")
    assert made.code == 0
    memory = made.json["id"]
    assert "stage-3.example.net" in run("--store", store, "read", f"^{memory}").out
    assert "stage-3.example.net" in run("--store", store, "list").out
    assert run("--store", store, "recall", "staging host", "--json").json["memories"][0]["id"] == memory
    assert "stage-3.example.net" in run("--store", store, "brief").out
    assert run("--store", store, "dedupe", "The staging host is stage-3.example.net").out.startswith("exact")


def test_brief_explain_says_what_is_in_and_what_was_left_out(run, store):
    run("--store", store, "remember", "The staging host is stage-3.example.net", "--topic", "infrastructure/hosts")
    shown = run("--store", store, "brief", "--explain")
    assert shown.code == 0 and re.search(r"^in  +Recent .*stage-3\.example\.net", shown.out, re.M)
    assert {e["shown"] for e in run("--store", store, "brief", "--explain", "--json").json} == {True}


def test_read_counts_lines_as_the_parser_does(run, store):
    memory = run("--store", store, "remember", "The printer is called Zebedee", "--topic", "notes/a", "--json").json["id"]
    topic = store / "notes" / "a.md"
    text = topic.read_text(encoding="utf-8").replace("# a", "# a\n\nPasted\u2028from\x0ca web page.", 1)
    topic.write_text(text + "\n## Later\nNothing yet.\n", encoding="utf-8")
    assert "Zebedee" in run("--store", store, "read", f"^{memory}").out
    assert run("--store", store, "read", "notes/a.md#Later").out == "## Later\nNothing yet.\n"


def test_forget_withdraws_and_the_memory_is_gone_from_recall(run, store):
    memory = run("--store", store, "remember", "The printer is called Zebedee", "--json").json["id"]
    assert run("--store", store, "forget", memory).code == 0
    found = run("--store", store, "recall", "printer Zebedee", "--json", "--level", "0")
    assert all(m["id"] != memory for m in found.json["memories"])
    assert run("--store", store, "forget", memory).code == 5


def test_move_keeps_the_id(run, store):
    memory = run("--store", store, "remember", "Deploys happen on Tuesdays", "--topic", "notes/a", "--json").json["id"]
    assert run("--store", store, "move", memory, "--to", "procedures/deploy.md").code == 0
    assert run("--store", store, "read", f"^{memory}", "--json").json["path"] == "procedures/deploy.md"


def test_read_a_range_a_section_and_a_topic(run, store):
    run("--store", store, "remember", "Use tabs in Makefiles", "--topic", "preferences/style", "--kind", "instruction")
    thread = run("--store", store, "list", "--threads", "--json").json["threads"][0]
    events = run("--store", store, "read", f"{thread}:0-1", "--json").json["events"]
    assert [e["index"] for e in events] == [0, 1]
    assert "Use tabs" in run("--store", store, "read", "preferences/style.md#Instructions").out
    assert "Use tabs" in run("--store", store, "read", "preferences/style").out


@pytest.mark.parametrize(("args", "code"), [
    (["recall", "gateway port"], 0),
    (["recall", "   "], 2),
    (["recall", "x", "-k", "0"], 2),
    (["recall", "x", "-k", "-1"], 2),
    (["recall", "x", "--status", "dead"], 2),
    (["read", "no/such.md"], 5),
    (["read", "../../etc/passwd"], 2),
    (["read", "/etc/passwd"], 2),
    (["forget", "1"], 2),
    (["forget", "^m-ffffff"], 5),
    (["import", "no-such-file.jsonl"], 1),
    (["nonsense"], 2),
    (["brief"], 0),
    (["index"], 0),
    (["review"], 0),
    (["list", "--kind", "task"], 5),
])
def test_cli_04_exit_codes(run, store, args, code):
    assert run("--store", store, *args).code == code


def test_no_store_is_a_clear_error(run):
    answer = run("--store", "nowhere", "recall", "x")
    assert answer.code == 2 and "memoryfs init" in answer.err and not answer.out
    answer = run("recall", "x")
    assert answer.code == 2 and "Traceback" not in answer.err


@pytest.mark.parametrize("query", [
    "multi-agent", "don't", "src/app/main.py", "status: done", "C++", "C#", "@nasa", "50%", "v1.1.6", "why?", "GB/s",
    '"unclosed', "(x", "foo)", "a*b", "^start", "{a}", "--flag", "-x", "AND", "or not", "NEAR(a b)", "retry OR",
    "title: deploy", "rank: 5",
])
def test_fts_01_fts_02_fts_12_any_text_is_a_query(run, tmp_path, query):
    root = tmp_path / "s"
    assert run("--store", root, "remember", "--topic", "notes/one", "--", f"Note about {query} here").code == 0
    run("--store", root, "remember", "Something else entirely", "--topic", "notes/two")
    found = run("--store", root, "recall", "--json", "--level", "0", "--", query)
    assert found.code == 0, found.err
    assert query in found.json["memories"][0]["summary"]


@pytest.mark.parametrize("query", ["-", "***", "🚀", "\n-\n"])
def test_fts_03_punctuation_and_emoji_never_raise(run, store, query):
    found = run("--store", store, "recall", "--json", "--", query)
    assert found.code in (0, 2, 5) and "Traceback" not in found.err


def test_k_is_clamped_never_an_sql_error(run, store):
    assert run("--store", store, "recall", "gateway", "-k", "999999999", "--json").code == 0


def test_cli_05_control_characters_are_escaped(run, store):
    run("--store", store, "remember", "Title \x1b]0;pwned\x07 with \x08 controls", "--topic", "notes/odd")
    for args in (["list"], ["recall", "controls"], ["review"]):
        out = run("--store", store, *args).out
        assert "\x1b" not in out and "\x07" not in out and "\x08" not in out


def test_cli_05_nul_separated_paths(run, store):
    run("--store", store, "remember", "A fact", "--topic", "notes/-rf")
    out = run("--store", store, "list", "-0").out
    assert out.endswith("\0") and all(p.startswith("./") for p in out.split("\0") if p)


def _script(*args, env=None, **more):
    base = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run([*SCRIPT, *map(str, args)], capture_output=True, env={**base, **(env or {})}, timeout=60, **more)


def test_cli_01_closed_pipe(store):
    done = subprocess.run(
        ["sh", "-c", 'PYTHONUNBUFFERED=1 "$0" -m memoryfs --store "$1" list --threads | true', sys.executable, str(store)],
        capture_output=True, timeout=60,
    )
    assert done.stderr == b""


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"TERM": "dumb"}])
def test_cli_02_no_escapes_off_a_terminal(store, env):
    done = _script("--store", store, "recall", "gateway", env=env)
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("env", [
    {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"LC_ALL": "en_US.ISO-8859-1"}, {"PYTHONUTF8": "0", "LC_ALL": "C"},
])
def test_cli_03_output_that_is_not_utf8(store, env):
    assert _script("--store", store, "remember", "Der Schlüssel heißt 鍵 🚀", "--topic", "notes/k", env=env).returncode == 0
    for args in (["list"], ["recall", "Schlüssel", "--json"]):
        done = _script("--store", store, *args, env=env)
        assert done.returncode == 0 and b"Traceback" not in done.stderr


def test_cli_03_a_file_name_that_is_not_utf8(store):
    try:
        Path(os.fsdecode(os.fsencode(store) + b"/bad\xff.md")).write_text("# odd name\n\nquixotic\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    done = _script("--store", store, "recall", "quixotic")
    assert b"Traceback" not in done.stderr and done.returncode in (0, 5)


def test_every_command_has_one_line_of_help_and_runs_help(run):
    for name, (_, line) in COMMANDS.items():
        assert line.endswith(".") and len(line) < 90
        answer = run(name, "--help")
        assert answer.code == 0 and "--store" in answer.out, name


def test_help_lists_every_command(run):
    out = run("--help").out
    for name in [*COMMANDS, "organize"]:
        assert re.search(rf"^  {name}\b", out, re.MULTILINE), name


def test_a_broken_setting_is_named_and_defaults_apply(run, store):
    (store / "memoryfs.toml").write_text("[briefing]\nmax_byte = 3\n", encoding="utf-8")
    answer = run("--store", store, "list", "--threads")
    assert answer.code == 0 and "briefing.max_byte" in answer.err


@pytest.mark.parametrize("command", [["recall", "gateway port"], ["index", "--rebuild"], ["brief"]])
def test_cli_01_a_reader_that_is_gone_is_no_failure(store, command):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*SCRIPT, "--store", str(store), *command], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_cli_04_output_that_cannot_be_written_is_one_line_and_code_1(store):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*SCRIPT, "--store", str(store), "brief"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr == "memoryfs: the output: No space left on device\n"


def test_remember_finds_a_topic_and_never_a_sessions_page(run, store):
    page = store / "episodes" / "2026" / "2026-03-01-gateway.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Gateway\n\n## Asked\n- Which port does the gateway listen on at night?\n")
    made = run("--store", store, "remember", "Which port does the gateway listen on at night: 7443", "--json").json
    assert made["topic"] == "notes/general.md"


def test_org_13_a_secret_in_a_hint_is_redacted(run, store):
    secret = "glpat-" + "a1B2c3D4e5F6g7H8i9J0"
    assert run("--store", store, "remember", "Deploys need a token", "--hint", secret, "--hint", "deploy token").code == 0
    assert not [p for p in store.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert "deploy token" in (store / "notes" / "general.md").read_text()


def test_remember_refuses_a_source_that_is_not_there(run, store):
    thread = next(store.glob("threads/*/*/*.jsonl")).stem
    assert run("--store", store, "remember", "The port is 7443", "--source", f"{thread}:9000-9001").code == 5
    assert run("--store", store, "remember", "The port is 7443", "--source", f"{thread}:0-1").code == 0


def test_level_3_without_a_model_is_level_2_and_says_so(run, store):
    (store / "memoryfs.toml").write_text('[models]\ngenerator = "none"\nembedder = "none"\n', encoding="utf-8")
    asked = run("--store", store, "recall", "gateway port", "--json", "--level", "3")
    assert asked.code == 0 and "7443" in asked.json["evidence"][0]["text"]
    assert any("Level 3" in line for line in asked.json["notices"])


def test_eval_keeps_its_figures_for_the_overview(run, store, tmp_path):
    from memoryfs.evaluate import history

    golden = tmp_path / "golden.jsonl"
    golden.write_text('{"id": "q1", "question": "which port does the gateway listen on", "answer": "7443", "type": "exact", '
                      '"evidence": [{"source": "talk.jsonl", "line": 0}]}\n', encoding="utf-8")
    for _ in range(2):
        assert run("--store", store, "eval", golden, "--no-vectors", "--arms", "breadcrumb", "--json").code == 0
    kept = history.read(store)
    assert [row["questions"] for row in kept] == [1, 1] and kept[0]["source_hit_near@5"] == 1.0
    (store / history.FILE).open("a").write("{torn\n")
    assert len(history.read(store)) == 2
