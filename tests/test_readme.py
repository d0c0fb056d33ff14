"""What the README shows is what the commands print, on a copy of the sample."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from memoryfs.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def sample(tmp_path):
    return Path(shutil.copytree(ROOT / "sample_memory", tmp_path / "store"))


def test_the_recall_that_the_readme_shows(sample, capsys):
    shown = re.search(r'^\$ memoryfs --store \S+ recall "(?P<query>[^"]+)" --level 2\n(?P<lines>.*?)^```', README,
                      re.MULTILINE | re.DOTALL)
    assert shown
    lines = [line for line in shown["lines"].splitlines() if line != "…"]
    assert len(lines) == 2
    with pytest.raises(SystemExit) as ended:
        main(["--store", str(sample), "recall", shown["query"], "--level", "2", "--no-vectors"])
    assert ended.value.code == 0
    assert "\n".join(lines) in capsys.readouterr().out


def test_the_python_example_runs(sample, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code
    exec(code[1].replace(".demo/store", str(sample)), {})
    assert "5433" in capsys.readouterr().out
