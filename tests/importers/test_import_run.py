"""Importing: bad input costs only itself, a second import writes nothing, secrets never reach the disk."""

from __future__ import annotations

import json
import os
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest
from made_transcripts import SESSION, claude, imported, told, write_lines

from memoryfs.errors import ReadOnlyError, UsageError
from memoryfs.importers import import_paths
from memoryfs.thread import check_thread, list_threads, read_events, thread_path


def texts(root: Path, *paths: Path) -> list[str]:
    return [e.text for e in imported(root, *paths)[1]]


def state(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(p.relative_to(root)): (p.stat().st_mtime_ns, p.read_bytes())
        for p in sorted(root.rglob("*"))
        if p.is_file() and p.suffix != ".lock"
    }


def test_hook_07_torn_glued_and_foreign_lines(tmp_path: Path) -> None:
    one, two, three = (json.dumps(claude("user", t, i)) for i, t in enumerate(("one", "two", "three")))
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            one,
            "",
            two[:80],
            two + three,
            "not json",
            '"a string"',
            two[:90] + json.dumps(claude("user", "four", 4)),
            "\0\0\0\0",
            json.dumps(claude("user", "five", 5)),
        ],
    )
    report, events = imported(tmp_path / "store", path)
    assert [(e.line, e.text) for e in events] == [
        (0, "one"),
        (3, "two"),
        (3, "three"),
        (6, "four"),
        (8, "five"),
    ]
    assert [(p.line, p.severity) for p in report.problems] == [
        (3, "error"),
        (5, "error"),
        (6, "error"),
        (7, "error"),
        (8, "warning"),
    ]
    assert all(p.remedy for p in report.problems)


def test_hook_07_an_unfinished_last_line_is_picked_up_once_it_is_whole(tmp_path: Path) -> None:
    path, store = tmp_path / "s.jsonl", tmp_path / "store"
    last = json.dumps(claude("user", "two", 2))
    write_lines(path, [claude("user", "one", 1), last[:100]], end="")
    report, events = imported(store, path)
    assert [e.text for e in events] == ["one"]
    assert [(p.line, p.severity) for p in report.problems] == [(2, "warning")]
    write_lines(path, [claude("user", "one", 1), last], end="")
    report, events = imported(store, path)
    assert [e.text for e in events] == ["one", "two"] and not report.problems
    assert report.outcomes[0].status == "extended"
    write_lines(path, [claude("user", "one", 1), last])
    assert imported(store, path)[0].outcomes[0].status == "unchanged"


@pytest.mark.slow
def test_hook_07_a_line_of_thirty_megabytes(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl", [claude("user", "word " * 6_000_000, 1), claude("user", "after", 2)]
    )
    _, events = imported(tmp_path / "store", path)
    assert [len(e.text) for e in events] == [30_000_000, 5]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be-bom", "utf-32"])
def test_fm_14_encodings_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    text = "".join(
        json.dumps(claude("user", t, i), ensure_ascii=False) + "\r\n" for i, t in enumerate(("é", "日本"))
    )
    data = b"\xfe\xff" + text.encode("utf-16-be") if encoding == "utf-16-be-bom" else text.encode(encoding)
    (tmp_path / "s.jsonl").write_bytes(data)
    report, events = imported(tmp_path / "store", tmp_path / "s.jsonl")
    assert [(e.line, e.text) for e in events] == [(0, "é"), (1, "日本")] and not report.problems


def test_fm_14_bytes_that_are_not_utf_8_and_lone_surrogates_become_u_fffd(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = json.dumps(claude("user", "it_s", 1)).encode()
    lone = json.dumps(claude("user", "x\ud800y \U0001f600", 2)).encode()
    path.write_bytes(good.replace(b"it_s", b"it\x92s") + b"\n" + lone + b"\n")
    assert texts(tmp_path / "store", path) == ["it\ufffds", "x\ufffdy \U0001f600"]


@pytest.mark.parametrize(
    ("name", "data", "severity"),
    [
        ("empty.jsonl", b"", "warning"),
        ("blank.md", b" \n\n", "warning"),
        ("nul.jsonl", b"\0" * 100, "warning"),
        ("image.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "warning"),
        ("binary.md", bytes(range(256)) * 20, "warning"),
        ("package.json", b'{"name": "x", "version": "1"}', "warning"),
        ("list.json", b"[1, 2, 3]", "warning"),
        ("deep.json", b'{"info":' + b"[" * 100_000, "warning"),
        ("cut.json", b'{"info": {"id": "ses_1"}, "messages": [{"in', "error"),
        ("text.jsonl", b"hello\nworld\n", "warning"),
        ("only-snapshots.jsonl", b'{"type":"file-history-snapshot","snapshot":{}}\n', "warning"),
    ],
)
def test_bad_files_are_named_and_never_raise(tmp_path: Path, name: str, data: bytes, severity: str) -> None:
    (tmp_path / name).write_bytes(data)
    write_lines(tmp_path / "z-good.jsonl", [claude("user", "good", 1)])
    report, events = imported(tmp_path / "store", tmp_path / name, tmp_path / "z-good.jsonl")
    assert [e.text for e in events] == ["good"]
    assert [(Path(p.path).name, p.severity) for p in report.problems] == [(name, severity)]
    assert report.problems[0].remedy


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_fm_13_unreadable_file_by_permission(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [claude("user", "x", 1)])
    path.chmod(0)
    assert "Permission" in imported(tmp_path / "store", path)[0].problems[0].message


def test_fm_13_missing_folder_device_and_vanished_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoryfs.importers import run

    good = write_lines(tmp_path / "a.jsonl", [claude("user", "x", 1)])
    gone = write_lines(tmp_path / "b.jsonl", [claude("user", "y", 2)])
    os.mkfifo(tmp_path / "pipe.jsonl")
    digest = run._digest
    monkeypatch.setattr(run, "_digest", lambda p: (gone.unlink(missing_ok=True), digest(p))[1])
    report, events = imported(
        tmp_path / "store", good, gone, tmp_path / "pipe.jsonl", tmp_path / "none.jsonl"
    )
    assert [e.text for e in events] == ["x"]
    assert sorted(Path(p.path).name for p in report.problems) == ["b.jsonl", "none.jsonl", "pipe.jsonl"]


def test_cli_03_undecodable_file_name(tmp_path: Path) -> None:
    name = os.fsencode(str(tmp_path)) + b"/bad\xff.jsonl"
    with open(name, "wb") as handle:
        handle.write(json.dumps(claude("user", "x", 1)).encode() + b"\nbad\n")
    report = import_paths(tmp_path / "store", [os.fsdecode(name)])
    event = read_events(tmp_path / "store", report.outcomes[0].thread)[0]
    assert event.source.endswith("bad\\xff.jsonl")
    json.dumps(report.to_dict()).encode("utf-8")


def test_a_session_without_user_turns_is_kept(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [claude("assistant", [{"type": "text", "text": "Hello"}], 1)])
    assert texts(tmp_path / "store", path) == ["Hello"]


def test_a_record_of_an_unknown_shape_costs_only_itself(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", "one", 1),
            claude("user", 5, 2),
            claude("user", [{"type": "text"}], 3),
            {**claude("user", "x", 4), "message": None},
            {"type": "user", "sessionId": SESSION},
            claude("user", "two", 5),
        ],
    )
    report, events = imported(tmp_path / "store", path)
    assert [e.text for e in events] == ["one", "two"]
    assert [p.line for p in report.problems] == [2, 3, 4, 5]


def test_org_03_a_second_import_writes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    paths = [
        write_lines(
            tmp_path / f"{i}.jsonl", [claude("user", f"{i} {j}", j, sessionId=f"s{i}") for j in range(9)]
        )
        for i in range(3)
    ]
    first, _ = imported(store, *paths)
    before = state(store)
    assert {o.status for o in first.outcomes} == {"new"}
    again, _ = imported(store, *paths)
    assert {o.status for o in again.outcomes} == {"unchanged"} and state(store) == before
    (store / ".memoryfs" / "imports.json").unlink()
    cold, _ = imported(store, *paths)
    threads = {name: kept for name, kept in before.items() if name.startswith("threads/")}
    assert {o.status for o in cold.outcomes} == {"unchanged"}
    assert {name: kept for name, kept in state(store).items() if name.startswith("threads/")} == threads


def test_a_lost_or_cut_thread_comes_back_whatever_the_stamps_say(tmp_path: Path) -> None:
    store = tmp_path / "store"
    path = write_lines(tmp_path / "s.jsonl", [claude("user", "one", 1), claude("user", "two", 2)])
    report, _ = imported(store, path)
    file = thread_path(store, report.outcomes[0].thread)
    whole = file.read_bytes()
    for damage in (lambda: file.unlink(), lambda: file.write_bytes(whole[:-20])):
        damage()
        imported(store, path)
        assert file.read_bytes() == whole


def test_the_same_session_under_two_names_is_one_thread(tmp_path: Path) -> None:
    records = [claude("user", "one", 1), claude("user", "two", 2)]
    a, b = write_lines(tmp_path / "a.jsonl", records), write_lines(tmp_path / "b.jsonl", records)
    report, events = imported(tmp_path / "store", a, b)
    assert [o.status for o in report.outcomes] == ["new", "unchanged"] and len(events) == 2


def test_source_is_relative_in_the_store_and_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    store = tmp_path / "store"
    (store / "in").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    inside = write_lines(store / "in" / "a.jsonl", [claude("user", "a", 1, sessionId="a")])
    at_home = write_lines(home / "b.jsonl", [claude("user", "b", 1, sessionId="b")])
    _, events = imported(store, inside, at_home)
    assert {e.text: e.source for e in events} == {"a": "in/a.jsonl", "b": "~/b.jsonl"}


def test_org_13_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    key = "ghp_" + "".join(random.Random(5).choices(string.ascii_letters, k=36))
    path = write_lines(
        tmp_path / "s.jsonl",
        [
            claude("user", f"My key is {key}, keep it.", 1),
            claude(
                "assistant",
                [
                    {
                        "type": "tool_use",
                        "id": "t",
                        "name": "Write",
                        "input": {
                            "file_path": f"/w/{key}.txt",
                            "content": f"export GH_TOKEN={key}\nPORT=8081",
                        },
                    }
                ],
                2,
                gitBranch=f"branch-{key}",
            ),
            {"type": "user", "broken": key},
        ],
    )
    store = tmp_path / "store"
    report, events = imported(store, path)
    for file in store.rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes(), file
    assert key not in json.dumps(report.to_dict())
    assert report.redactions >= 3
    said, call = events
    assert said.text == "My key is [REDACTED:github-token], keep it."
    assert [said.text[a:b] for a, b in said.metadata["redacted"]] == ["[REDACTED:github-token]"]
    assert [call.text[a:b] for a, b in call.metadata["parts"]] == [
        "Write",
        "/w/[REDACTED:github-token].txt",
        "export GH_TOKEN=[REDACTED:github-token]\nPORT=8081",
    ]


def test_read_only_store_and_unknown_format(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [claude("user", "x", 1)])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReadOnlyError):
        import_paths(tmp_path / "file", [path])
    with pytest.raises(UsageError):
        import_paths(tmp_path / "store", [path], format="nonsense")


def test_format_can_be_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.txt", ["# Title", "text"])
    report, events = imported(tmp_path / "store", path, format="notes")
    assert told(events) == [("user", "# Title\ntext", None)] and not report.problems


@pytest.mark.parametrize("lines", [1200, pytest.param(4000, marks=pytest.mark.slow)])
def test_memory_stays_flat_on_a_long_transcript(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "long.jsonl"
    with open(path, "w", encoding="utf-8") as handle:
        for i in range(lines):
            handle.write(
                json.dumps(claude("user", f"{i} " + "some words of a line\n" * 250, i % 3600)) + "\n"
            )
    assert path.stat().st_size > lines * 5200
    code = (
        "import resource, sys; from memoryfs.importers import import_paths\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "report = import_paths(sys.argv[1], [sys.argv[2]])\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(report.outcomes[0].total, (after - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store"), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    total, grown = map(int, done.stdout.split())
    assert total == lines
    assert grown < 25, f"{grown} MB more for {lines} lines of 5 kB"
    assert check_thread(tmp_path / "store", list_threads(tmp_path / "store")[0]) == []


def test_the_stores_own_files_are_not_transcripts(tmp_path):
    store = tmp_path / "store"
    (store / "projects").mkdir(parents=True)
    (store / "projects" / "app.md").write_text("# App\n\n## Facts\n- The port is 8080. ^m-000001\n")
    (store / "MEMORY.md").write_text("# Memory\n- The port is 8080.\n")
    (store / "talk.jsonl").write_text('{"role": "user", "content": "hello there"}\n')
    first = import_paths(store, [store])
    assert [o.source for o in first.outcomes] == ["talk.jsonl"]
    assert {Path(p.path).name for p in first.problems} == {"MEMORY.md", "app.md"}
    again = import_paths(store, [store / "threads", store / "projects" / "app.md"])
    assert not again.outcomes and all("store itself" in p.message for p in again.problems)
