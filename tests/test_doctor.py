"""Doctor: one broken thing turns its own line red, and a healthy store is green."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from memoryfs import MemoryStore, doctor
from memoryfs.errors import ModelUnavailableError, UsageError
from memoryfs.harness import health
from memoryfs.models.fakes import HashEmbedder, ScriptedGenerator
from memoryfs.textfile import StoreLock


@pytest.fixture
def store(tmp_path):
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Port 7443.", "time": "2026-03-01T09:00:00Z"}) + "\n")
    made = MemoryStore.init(tmp_path / "store")
    made.import_transcripts([talk])
    thread = made.recall("port", level=2).evidence[0].thread
    made.remember("The gateway listens on port 7443", topic="infrastructure/gateway.md", source=f"{thread}:0-0",
                  hints=["gateway", "7443"])
    made.brief()
    return made


def red(store, **options):
    """The checks that are not green. No model is loaded, but where a test brings one of its own."""
    options = {"with_models": False, "more": health.CHECKS} | options
    return {c.name for c in doctor.examine(store, **options) if not c.ok}


def edit(store, path, old, new):
    file = store.root / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_healthy_store_is_green(store):
    assert red(store) == set()


def test_an_invalid_setting(store):
    (store.root / "memoryfs.toml").write_text("briefing = 3\n")
    assert red(MemoryStore.open(store.root)) == {"settings"}


def test_a_lock_that_is_held(store):
    with StoreLock(store.root, "organize"):
        assert red(store) == {"lock"}


def test_a_lock_file_that_a_crash_left_is_not_a_fault(store):
    (store.root / ".memoryfs" / "organize.lock").write_text("1\n")
    assert red(store) == set()


def test_fm_07_broken_front_matter_is_named_with_its_line(store):
    (store.root / "notes").mkdir()
    (store.root / "notes" / "bad.md").write_text("---\ntitle: a: b\n---\nbody\n")
    checks = {c.name: c for c in doctor.examine(store, with_models=False)}
    problem = checks["topic files"].problems[0]
    assert problem.path == "notes/bad.md" and problem.line == 2
    assert not checks["duplicate ids"].problems


def test_a_pointer_to_nothing(store):
    edit(store, "infrastructure/gateway.md", "port 7443", "port 7443 (see [[#^m-0f0f0f]])")
    assert red(store) == {"pointers"}


def test_a_source_whose_thread_is_gone(store):
    for file in (store.root / "threads").rglob("*.jsonl"):
        file.unlink()
    assert red(store) == {"sources"}


def test_a_topic_over_its_size(store):
    (store.root / "notes").mkdir()
    (store.root / "notes" / "long.md").write_text("# Long\n\n" + "word " * 20000)
    assert red(store) == {"size"}


def test_hints_that_repeat_the_title(store):
    (store.root / "notes").mkdir()
    (store.root / "notes" / "hint.md").write_text("---\ntitle: Hint\nquery_hints: [hint]\n---\n# Hint\n")
    assert red(store) == {"hints"}


def test_a_briefing_that_is_over_its_cap_or_gone(store):
    (store.root / "MEMORY.md").write_text("# Memory\n" + "x" * 9000)
    assert red(store) == {"briefing"}
    (store.root / "MEMORY.md").unlink()
    assert red(store) == {"briefing"}
    assert red(store, fix=True) == set()


def test_cap_06_a_briefing_line_whose_file_is_gone(store):
    (store.root / "infrastructure" / "gateway.md").rename(store.root / "infrastructure" / "edge.md")
    assert "briefing" in red(store)
    assert red(store, fix=True) == set()


def test_a_torn_ledger_line(store):
    with (store.root / "ledger.jsonl").open("a") as file:
        file.write('{"time": "2026-\n')
    assert red(store) == {"ledger file"}


def test_a_torn_thread_line(store):
    file = next((store.root / "threads").rglob("*.jsonl"))
    file.write_text(file.read_text() + '{"thread": "x\n')
    assert "thread files" in red(store)


def test_fts_11_rows_missing_from_the_full_text_table_are_found_and_mended(store):
    import apsw

    db = apsw.Connection(str(store.root / ".memoryfs" / "index.db"))
    db.execute("DELETE FROM terms WHERE rowid IN (SELECT rowid FROM terms LIMIT 1)")
    db.close()
    assert red(store) == {"index"}
    assert red(store, fix=True) == set()
    assert store.recall("gateway port", level=0).memories


def test_pkg_05_a_recall_that_finds_nothing(store, monkeypatch):
    from dataclasses import replace

    answer = store.recall
    monkeypatch.setattr(store, "recall", lambda *args, **more: replace(answer(*args, **more), memories=()))
    assert red(store) == {"index"}


def test_an_index_of_random_bytes_heals_itself(store):
    (store.root / ".memoryfs" / "index.db").write_bytes(b"\x13" * 9000)
    assert red(store) == set()
    assert store.recall("gateway port", level=0).memories


def test_idx_09_a_conflict_copy_is_flagged(store):
    text = (store.root / "infrastructure" / "gateway.md").read_text().replace("7443", "7444")
    (store.root / "infrastructure" / "gateway.sync-conflict-20260301-101010-ABCDEFG.md").write_text(text)
    assert red(store) == {"topic files"}


def test_stale_temporary_files_are_removed_by_fix(store):
    before = {p for p in store.root.rglob("*") if ".memoryfs" not in p.parts}
    litter = store.root / "infrastructure" / ".memoryfs-00112233445566bb.part"
    litter.write_bytes(b"half a fi")
    checks = {check.name: check for check in doctor.examine(store, fix=True, with_models=False)}
    assert checks["folder"].fixed == ("removed 1 stale temporary file",)
    assert not litter.exists() and before <= set(store.root.rglob("*"))


# -- models and vectors ---------------------------------------------------------------------------------------------


def use(monkeypatch, embedder=None, generator=None):
    """What the settings' models are: one of each, None, or an error to raise."""
    def opener(thing):
        def open_model(config):
            if isinstance(thing, Exception):
                raise thing
            return thing
        return open_model

    monkeypatch.setattr("memoryfs.models.open_embedder", opener(embedder))
    monkeypatch.setattr("memoryfs.models.open_generator", opener(generator))


def test_no_model_is_no_fault(store, monkeypatch):
    use(monkeypatch)
    assert red(store, with_models=True) == set()


def test_models_that_answer_are_green_and_are_really_asked(store, monkeypatch):
    embedder, generator = HashEmbedder(32), ScriptedGenerator(lambda item: 0.5)
    use(monkeypatch, embedder, generator)
    assert red(store, with_models=True) == set()
    assert len(generator.scored) == 2


class Broken(HashEmbedder):
    """Answers the same for every text."""

    def embed_passages(self, texts):
        return super().embed_passages(["same"] * len(texts))


@pytest.mark.parametrize("embedder", [
    ModelUnavailableError("no file /models/x.gguf"), UsageError("`x` is no embedder"), Broken(32)])
def test_an_embedder_that_does_not_work(store, monkeypatch, embedder):
    use(monkeypatch, embedder)
    assert red(store, with_models=True) == {"models"}


@pytest.mark.parametrize("generator", [
    ModelUnavailableError("the process died (SIGILL)"), ScriptedGenerator(lambda item: float("nan"))])
def test_pkg_01_a_generator_that_does_not_work(store, monkeypatch, generator):
    use(monkeypatch, None, generator)
    assert red(store, with_models=True) == {"models"}


def test_a_model_that_the_settings_name_and_that_is_not_there(store):
    (store.root / "memoryfs.toml").write_text('[models]\nembedder = "/no/such.gguf"\ngenerator = "none"\n')
    checks = {c.name: c for c in doctor.examine(MemoryStore.open(store.root))}
    assert [name for name, check in checks.items() if not check.ok] == ["models"]
    assert "/no/such.gguf" in checks["models"].problems[0].message and checks["models"].problems[0].remedy


def test_vec_02_vectors_of_another_model(store, monkeypatch):
    from memoryfs import index

    use(monkeypatch, HashEmbedder(32))
    store.index(embed_seconds=20)
    with index.open(store.root) as opened:
        assert opened.has_vectors()
    assert red(store, with_models=True) == set()
    use(monkeypatch, HashEmbedder(64))
    assert red(store, with_models=True) == {"vectors"}
    store._embedder = False
    store.index(embed_seconds=20, reembed=True)
    assert red(store, with_models=True) == set(), "the remedy mends it"


# -- permissions and secrets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "mode"), [
    ("infrastructure/gateway.md", 0o444), ("infrastructure/gateway.md", 0o666), ("ledger.jsonl", 0o400), ("infrastructure", 0o777)])
def test_permissions(store, path, mode):
    file = store.root / path
    before = file.stat().st_mode
    file.chmod(mode)
    checks = {c.name: c for c in doctor.examine(store, with_models=False)}
    assert [name for name, check in checks.items() if not check.ok] == ["permissions"]
    remedy = checks["permissions"].problems[0].remedy
    assert str(file) in remedy and os.system(remedy) == 0
    assert red(store) == set(), "the remedy mends it"
    file.chmod(before)


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("path", ["infrastructure/gateway.md", "notes.md", "MEMORY.md"])
def test_org_13_a_secret_in_a_file_of_a_person_is_flagged_and_left(store, path):
    file = store.root / path
    text = (file.read_text() if file.exists() else "") + "\n"
    text += f"## Notes\nThe token is {KEY}.\n" if path == "MEMORY.md" else f"Use {KEY} for it.\n"
    file.write_text(text)
    checks = {c.name: c for c in doctor.examine(store, with_models=False)}
    (problem,) = checks["secrets"].problems
    assert problem.path == path and problem.line == len(text.splitlines()) and KEY not in str(problem)
    assert file.read_text() == text and red(store, fix=True) == {"secrets"}


def test_org_13_look_alikes_are_no_secrets(store):
    edit(store, "infrastructure/gateway.md", "port 7443", "port 7443 since 3f9a21c0d4e5f60718293a4b5c6d7e8f90a1b2c3, with sk-learn")
    assert "secrets" not in red(store)


# -- harnesses ------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "OPENCLAW_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    return Path(os.environ["HOME"])


@pytest.mark.parametrize("harness", ["claude-code", "codex", "cursor", "openclaw", "opencode"])
def test_a_harness_that_starts_what_is_gone(store, home, harness, tmp_path):
    """What setup writes is green; the same, once the program was moved, is not, and setup again mends it."""
    from memoryfs.harness import setup

    def install(program):
        for change in setup.plan(harness, os.environ, command=(str(program), "-m", "memoryfs")):
            setup.apply(change)

    program = tmp_path / "venv with blank" / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    install(program)
    assert red(store) == set()
    program.unlink()
    checks = [c for c in doctor.examine(store, with_models=False, more=health.CHECKS) if not c.ok]
    assert [c.name for c in checks] == ["hooks and servers"]
    assert all(str(program) in p.message and f"setup {harness}" in p.remedy for p in checks[0].problems)
    install(sys.executable)
    assert red(store) == set()


def test_settings_of_a_harness_without_us_are_nobodys_business(store, home):
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/gone"}]}]}}')
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text("{ not json")
    assert red(store) == set()
    (home / ".cursor" / "mcp.json").write_text('{ "mcpServers": { "memoryfs": ')
    assert red(store) == {"hooks and servers"}


def claude_session(home, store, name, age_days):
    folder = home / ".claude" / "projects" / "-work"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.jsonl"
    row = {"type": "user", "sessionId": name, "uuid": name, "parentUuid": None, "cwd": str(store.root.parent),
           "timestamp": "2026-03-01T09:00:00Z", "message": {"role": "user", "content": "The gateway moved to port 7500."}}
    file.write_text(json.dumps(row) + "\n")
    then = store.clock().timestamp() - age_days * 86400
    os.utime(file, (then, then))
    return file


@pytest.fixture
def project(tmp_path, home):
    """A store where sessions of its directory belong to it."""
    made = MemoryStore.init(tmp_path / "project" / ".memory")
    made.brief()
    return made


@pytest.mark.parametrize(("settings", "age", "lost"), [
    (None, 25, True), (None, 20, False), ({"cleanupPeriodDays": 90}, 25, False), ({"cleanupPeriodDays": 90}, 85, True),
    ({"cleanupPeriodDays": 0}, 0, True)])
def test_sessions_that_claude_code_is_about_to_delete(project, home, settings, age, lost):
    file = claude_session(home, project, "5f0c9a1e-0000-4000-8000-00000000000a", age)
    if settings is not None:
        (home / ".claude" / "settings.json").write_text(json.dumps(settings))
    assert red(project) == ({"transcripts"} if lost else set())
    project.import_transcripts([file])
    assert red(project) == ({"transcripts"} if settings == {"cleanupPeriodDays": 0} else set())


def test_a_session_of_another_project_is_not_ours(project, home, tmp_path):
    claude_session(home, MemoryStore.init(tmp_path / "other" / ".memory"), "5f0c9a1e-0000-4000-8000-00000000000b", 29)
    assert red(project) == set()
