"""In: a store's folder. Out: every topic file parsed, by its relative path, and what could not be read and why."""

from __future__ import annotations

from pathlib import Path

from memoryfs.config import Config
from memoryfs.files import Scan, scan
from memoryfs.model import Problem
from memoryfs.textfile import read_file
from memoryfs.topic import Topic, parse


def read_topics(root: Path, config: Config) -> tuple[dict[str, Topic], Scan]:
    """Every topic file parsed, by relative path, and the scan; a file that cannot be read is one more problem there."""
    found = scan(root, config)
    topics: dict[str, Topic] = {}
    problems = list(found.problems)
    aside = list(found.aside)
    for file in found.files:
        try:
            data = read_file(root / file.path).data
        except OSError as error:
            problems.append(Problem(file.path, f"cannot be read: {error.strerror}", "Check its permissions."))
            aside.append(str(root / file.path))
            continue
        topics[file.path] = parse(data, file.path)
    return topics, Scan(found.files, tuple(problems), tuple(aside))


def load_topics(root: Path, config: Config) -> dict[str, Topic]:
    """Every topic file of the store by relative path, parsed; broken ones carry their problems."""
    return read_topics(root, config)[0]
