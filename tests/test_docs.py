"""The pages under docs/ say what is there: commands, settings, formats, checks; their examples run or parse."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path

import click
import pytest

from memoryfs import audit, config, doctor, errors, inbox, ledger, topic
from memoryfs.cli import cli, main
from memoryfs.config import Config
from memoryfs.evaluate.golden import question_from
from memoryfs.evaluate.table import metric_rows
from memoryfs.harness import health, hosts
from memoryfs.importers.formats import FORMATS
from memoryfs.thread import decode_event

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md")) if path.name != "design.md"}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    return [(name, text) for name, page in PAGES.items() for kind, text in BLOCK.findall(page) if kind == language]


def cells(page):
    """The first cell of each row of the page's tables, without code marks."""
    return [row.split("|")[1].strip() for row in page.splitlines() if row.startswith("| ")]


def names(page):
    return {name for cell in cells(page) for name in re.findall(r"`([^`]+)`", cell)}


def test_the_page_of_commands_is_what_the_commands_say():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import commands_page
    finally:
        sys.path.pop(0)
    assert PAGES["commands.md"] == commands_page.page(), "run `python scripts/commands_page.py`"


def commands_in(text):
    """Command lines of blocks and of running text, their options and words."""
    lines = [line for _, body in BLOCK.findall(text) for line in body.splitlines() if line.startswith("memoryfs ")]
    lines += re.findall(r"`(memoryfs [a-z][^`]*)`", BLOCK.sub("", text))
    return lines


@pytest.mark.parametrize("page", [name for name in PAGES if name != "commands.md"])
def test_every_command_line_of_the_pages_can_be_given(page):
    lines = commands_in(PAGES[page])
    assert lines or page in ("settings.md",)
    ctx = click.Context(cli)
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        command = cli.get_command(ctx, words[0])
        assert command is not None, line
        known = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}
        if isinstance(command, click.Group):
            subs = [word for word in words[1:] if not word.startswith("-")][:1]
            assert set(subs) <= set(command.list_commands(ctx)), line
            known |= {opt for sub in subs for param in command.get_command(ctx, sub).params for opt in param.opts}
        options = {word.split("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
        assert options <= known, f"{line}: {options - known}"


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "sample_memory", tmp_path / "store", ignore=shutil.ignore_patterns(".memoryfs"))
    monkeypatch.chdir(tmp_path / "store")
    ran = 0
    for name, block in blocks("sh"):
        for line in block.splitlines():
            with pytest.raises(SystemExit) as ended:
                main(["--store", str(tmp_path / "store"), *shlex.split(line)[1:]])
            out = capsys.readouterr()
            assert ended.value.code in (errors.EXIT_DONE, errors.EXIT_REVIEW), f"{name}: {line}\n{out.out}{out.err}"
            assert out.out.strip(), line
            ran += 1
    assert ran >= 7
    with pytest.raises(SystemExit):
        main(["--store", str(tmp_path / "store"), "recall", "how long does the session cookie live", "--level", "0", "--json"])
    first = json.loads(capsys.readouterr().out)["memories"][0]
    assert first["summary"] == "The session cookie lives for 10 days", "the correction is what the next answer begins with"


def _settings(value, where=""):
    for field in fields(value):
        item = getattr(value, field.name)
        if is_dataclass(item):
            yield from _settings(item, f"{field.name}.")
        else:
            yield where + field.name, list(item) if isinstance(item, tuple) else item


def test_every_setting_with_its_default():
    page = PAGES["settings.md"].split("## Environment")[0]
    told = dict(re.findall(r"^\| `([a-z_.]+)` \| `([^`]*)` \|", page, re.MULTILINE))
    expected = {name: json.dumps(value) for name, value in _settings(Config())}
    assert {name: json.dumps(json.loads(value)) for name, value in told.items()} == expected


def test_the_settings_of_the_example_are_valid(tmp_path):
    ((_, text),) = blocks("toml")
    tomllib.loads(text)
    (tmp_path / config.FILE).write_text(text)
    loaded, problems = config.load(tmp_path)
    assert not problems and loaded != Config()


def test_every_variable_of_ours_is_told():
    code = "".join(p.read_text(encoding="utf-8") for package in ("memoryfs", "organizer") for p in (ROOT / package).rglob("*.py"))
    used = set(re.findall(r"\bMEMORYFS_[A-Z_]*[A-Z]\b", code))
    told = names(PAGES["settings.md"].split("## Environment")[1])
    assert used and used == {name for name in told if name.startswith("MEMORYFS_")}


def test_the_topic_file_reads_as_the_page_says():
    ((_, text),) = blocks("markdown")
    read = topic.parse(text.encode(), "projects/school-auth.md")
    assert not read.problems and read.writable and topic.render(read) == text.encode()
    assert {m.kind for m in read.memories if m.status != "superseded"} == {"fact", "instruction", "task"}
    by_id = {m.id: m for m in read.memories}
    assert by_id["m-52e9f8"].stated_by == "person" and by_id["m-52e9f8"].status == "conflicted"
    assert by_id["m-02ddee"].superseded_by == "m-7c01d2" and by_id["m-7c01d2"].quote == "alumni must not pass any more"
    assert by_id["m-7c01d2"].source_range[0].thread == "2026-05-12-3f9a21"
    assert [r.memory_ids for r in read.reviews] == [("m-11b0c4", "m-52e9f8")]


def test_the_other_files_read_as_the_pages_say():
    (line,) = inbox.lines(blocks("inbox")[0][1])
    assert (line.id, line.kind, line.ranges[0].thread) == ("m-0000aa", "instruction", "2026-03-01-3f9a21")
    event = decode_event(blocks("jsonl")[0][1].strip())
    assert event is not None and set(event.to_dict()) == set(json.loads(blocks("jsonl")[0][1]))
    entry = ledger.decode(blocks("ledger")[0][1])
    assert entry is not None and entry.action == "supersede" and entry.extra["by"] == "m-7c01d2"
    assert question_from(json.loads(blocks("golden")[0][1])).type == "exact"


def test_every_action_of_the_ledger_is_told():
    assert set(ledger.ACTIONS) <= names(PAGES["file-format.md"])


def test_every_harness_with_the_files_it_writes():
    page = PAGES["harnesses.md"].split("## Transcripts")[0]
    rows = {row.split("`")[1]: row for row in page.splitlines() if row.startswith("| `")}
    assert set(hosts.HARNESSES) <= set(rows)
    for harness in hosts.HARNESSES:
        written = {f"~/{t.path.relative_to('/home/x')}" for t in hosts.targets(harness, {"HOME": "/home/x"}, ("memoryfs",))}
        assert written == set(re.findall(r"`(~[^`]+)`", rows[harness])), harness


def test_every_format_is_told():
    table = PAGES["harnesses.md"].split("## Transcripts")[1]
    assert {f.name for f in FORMATS} == names(table)


def test_every_metric_is_told():
    told = set(cells(PAGES["metrics.md"]))
    for label, _ in metric_rows(2):
        short = re.sub(r"@\d+", "@k", label).split(" (")[0]
        assert short in told, label


def test_every_line_of_the_doctor_is_told():
    table = PAGES["troubleshooting.md"].split("## What its lines mean")[1].split("## A memory")[0]
    shown = {check.__name__.replace("_", " ") for check in (*doctor.CHECKS, *health.CHECKS)}
    assert shown == {cell for cell in cells(table) if cell not in ("line", "---")}


def test_every_stage_of_why_not_is_told():
    table = PAGES["troubleshooting.md"].split("## A memory")[1].split("## Other")[0]
    assert set(audit.absent.STAGES) == {cell for cell in cells(table) if cell not in ("stage", "---")}


def test_every_exit_code_is_told():
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    told = PAGES["commands.md"].split("Exit codes:")[1].split("\n\n")[0]
    assert {int(n) for n in re.findall(r"\b(\d)\b", told)} == codes


def test_every_link_of_the_pages_leads_somewhere():
    for name, page in PAGES.items():
        for link in re.findall(r"\]\(([^)#:]+)\)", page):
            assert (DOCS / link).exists(), f"{name}: {link}"


def test_the_index_names_every_page():
    assert {path.name for path in DOCS.glob("*.md")} - {"README.md"} <= set(re.findall(r"\]\(([^)]+)\)", PAGES["README.md"]))
