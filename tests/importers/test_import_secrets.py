"""Secrets in what surrounds a transcript (its path, its ids, what is wrong with it), and in what was stored under older rules."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path

import pytest
from made_transcripts import claude, imported, write_lines

from memoryfs import MemoryStore, notes
from memoryfs.importers import cleaning, run
from memoryfs.thread import list_threads, thread_path


def key(seed: int) -> str:
    return "ghp_" + "".join(random.Random(seed).choices(string.ascii_letters, k=36))


def holding(root: Path, secret: str) -> list[str]:
    """The files of the store that hold a piece of the secret, in their name or their bytes."""
    files = [p for p in root.rglob("*") if p.is_file()]
    low = secret[:12].lower()
    return [str(p) for p in files if low in str(p.relative_to(root)).lower() or low.encode() in p.read_bytes().lower()]


def test_org_13_a_secret_in_the_path_of_a_transcript_is_not_kept(tmp_path: Path) -> None:
    folder, name, store = key(1), key(2), tmp_path / "store"
    path = tmp_path / f"-home-{folder}-x" / f"{name}.jsonl"
    path.parent.mkdir()
    write_lines(path, [claude("user", "one", 1, sessionId=key(3)), "torn {", claude("user", "two", 2, sessionId=key(3))])
    report, events = imported(store, path)
    assert [e.text for e in events] == ["one", "two"] and len(report.problems) == 1
    told = json.dumps(report.to_dict())
    for secret in (folder, name, key(3)):
        assert holding(store, secret) == [] and secret not in told
    assert events[0].source.startswith(str(tmp_path)) and "-home-[REDACTED:github-token]-x/" in events[0].source


def test_a_file_with_a_secret_in_its_path_is_known_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    paths = [write_lines(tmp_path / f"{key(i)}.jsonl", [claude("user", f"turn {i}", i, sessionId=f"s{i}")]) for i in (1, 2)]
    first, events = imported(store, *paths)
    assert [o.status for o in first.outcomes] == ["new", "new"]
    assert len({e.source for e in events}) == 2, "two files are told apart"
    stamps = (store / ".memoryfs" / "imports.json").read_bytes()
    assert len(json.loads(stamps)["files"]) == 2
    seen: list[Path] = []
    again = run.import_paths(store, paths, progress=lambda done, of, name: seen.append(Path(name)))
    assert [o.status for o in again.outcomes] == ["unchanged", "unchanged"] and not any(key(1) in str(name) for name in seen)
    assert (store / ".memoryfs" / "imports.json").read_bytes() == stamps and all(holding(store, key(i)) == [] for i in (1, 2))


def test_the_stamp_of_such_a_file_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / f"{key(1)}.jsonl", [claude("user", "one", 1)])
    imported(tmp_path / "store", path)
    monkeypatch.setattr(run, "_collect", lambda *_: pytest.fail("read again"))
    assert [o.status for o in run.import_paths(tmp_path / "store", [path]).outcomes] == ["unchanged"]


def test_an_ordinary_path_is_named_as_it_is(tmp_path: Path) -> None:
    name = str(tmp_path / "-home-dev-token-service-v2" / "9a0b1ef8-2ed5-4b56-a7aa-de1a1be9a6f3.jsonl")
    assert cleaning.clean_path(name) == cleaning.clean_key(name) == name


def test_org_13_no_metadata_keeps_a_secret(tmp_path: Path) -> None:
    store, call, model, kind = tmp_path / "store", key(4), key(5), key(6)
    path = write_lines(tmp_path / "s.jsonl", [
        claude("user", "go", 1),
        claude("assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}], 2),
        claude("user", [{"type": "tool_result", "tool_use_id": call, "content": "ok"}], 3),
        claude("assistant", "", 4, message={"role": "assistant", "model": model, "content": [{"type": "text", "text": "done"}]}),
        {**claude("user", "", 5), "type": "system", "subtype": kind, "content": "hello"},
    ])
    report, events = imported(store, path)
    assert len(events) >= 4 and report.redactions >= 3
    for secret in (call, model, kind):
        assert holding(store, secret) == []
    assert "[REDACTED:github-token]" in json.dumps([dict(e.metadata) for e in events])


def old_rules(monkeypatch: pytest.MonkeyPatch, text: str, becomes: str) -> None:
    """Redaction as it was before: `text` became `becomes`."""
    monkeypatch.setattr(run, "redact_draft", lambda d: (type(d)(d.role, d.kind, becomes, d.line, d.time, d.metadata), 0) if d.text == text else (d, 0))
    monkeypatch.setattr(run, "VERSION", run.VERSION - 1)


@pytest.mark.parametrize(("text", "before", "now"), [
    ("The login is joe / Kd93hXq02L (password: Kd93hXq02L).", "The login is joe / Kd93hXq02L (password: [REDACTED:password]).",
     "The login is joe / [REDACTED:password] (password: [REDACTED:password])."),
    ("パスワードは12文字以上にすると決めた。", "パスワードは[REDACTED:password]。", "パスワードは12文字以上にすると決めた。"),
], ids=["more", "less"])
def test_what_other_rules_redacted_is_brought_up_to_date_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, before: str, now: str
) -> None:
    store = tmp_path / "store"
    path = write_lines(tmp_path / "s.jsonl", [claude("user", "hello", 1), claude("user", text, 2)])
    with monkeypatch.context() as patch:
        old_rules(patch, text, before)
        assert [e.text for e in imported(store, path)[1]] == ["hello", before]
    _, events = imported(store, path)
    assert [e.text for e in events] == ["hello", now] and len(list_threads(store)) == 1


def test_a_stored_source_that_tells_a_secret_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store"
    path = write_lines(tmp_path / f"{key(7)}.jsonl", [claude("user", "one", 1)])
    with monkeypatch.context() as patch:
        patch.setattr(run, "source_name", lambda root, path: str(path))
        patch.setattr(run, "VERSION", run.VERSION - 1)
        imported(store, path)
    (store / ".memoryfs" / "imports.json").unlink()
    (name,) = list_threads(store)
    assert key(7).encode() in thread_path(store, name).read_bytes()
    imported(store, path)
    assert list_threads(store) == [name] and holding(store, key(7)) == []


def test_a_turn_that_says_something_else_is_still_a_branch(tmp_path: Path) -> None:
    store, path = tmp_path / "store", tmp_path / "s.jsonl"
    for words in ("My key is {}, keep it.", "Your key is {}, keep it."):
        imported(store, write_lines(path, [claude("user", words.format(key(8)), 1)]))
    assert len(list_threads(store)) == 2


def test_org_13_a_note_with_a_secret_in_its_path(tmp_path: Path) -> None:
    store = MemoryStore.init(tmp_path / "store")
    file = tmp_path / key(9) / "memory" / f"{key(10)}.md"
    file.parent.mkdir(parents=True)
    file.write_text("# Debugging\n\n- The port is 7443.\n")
    report = store.import_notes(list(notes.find([tmp_path / key(9)])))
    assert [i.status for i in report.imported] == ["new"]
    assert [i.status for i in store.import_notes(list(notes.find([tmp_path / key(9)]))).imported] == ["unchanged"]
    assert holding(store.root, key(9)) == [] and holding(store.root, key(10)) == []
