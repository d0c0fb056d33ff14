"""Golden questions over transcripts: one store with everything imported, every evidence checked at its origin.

    python tests/benchmarks/golden.py --work /tmp/golden --transcripts DIR... -- GOLDEN.jsonl...
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import common

from memoryfs import MemoryStore, evaluate
from memoryfs.evaluate.golden import Question, language_of


def strings(value: Any) -> Iterator[str]:
    """Every string inside a JSON value; a string that is JSON itself (a tool call's arguments) is opened too."""
    if isinstance(value, str):
        yield value
        if value.startswith(("{", "[")):
            with suppress(ValueError):
                yield from strings(json.loads(value))
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


@lru_cache(maxsize=64)
def raw_lines(source: str) -> list[str]:
    return Path(source).expanduser().read_bytes().decode("utf-8", "replace").split("\n")


def stands_in_original(item: dict[str, Any], root: Path) -> bool:
    """Whether the evidence's text stands in the transcript at the line it names (in a document: anywhere in it)."""
    source = Path(item["source"]).expanduser()
    lines = raw_lines(str(source if source.is_absolute() else root / source))
    if source.suffix == ".jsonl":
        try:
            return any(item["text"] in text for text in strings(json.loads(lines[item["line"]])))
        except (ValueError, IndexError):
            return False
    whole = "\n".join(lines)
    if source.suffix == ".json":
        return any(item["text"] in text for text in strings(json.loads(whole)))
    return item["text"] in whole


def check_originals(store: MemoryStore, questions: tuple[Question, ...], options: Any) -> tuple[int, int, list[str]]:
    """Evidence found in the original, evidence in all, and the first few that were not."""
    good = total = 0
    bad: list[str] = []
    for question in questions:
        found = store.recall(question.question, k=options.k, level=2, max_tokens=options.max_tokens,
                             vectors=options.vectors).to_dict()
        for item in found["evidence"]:
            total += 1
            if stands_in_original(item, store.root):
                good += 1
            elif "[REDACTED" not in item["text"]:
                bad.append(f"{question.id}: {item['source']}:{item['line']} {item['text'][:60]!r}")
    return good, total, bad


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("golden", nargs="+", type=Path)
    parser.add_argument("--transcripts", nargs="+", type=Path, required=True)
    parser.add_argument("--details", action="store_true", help="print the ranks of every question")
    options = parser.parse_args()
    store = common.make_store(options.work, options.transcripts, options)
    for path in options.golden:
        questions, problems = evaluate.load(path)
        for problem in problems:
            print(f"{problem.path}:{problem.line}: {problem.message}")
        result = evaluate.evaluate(
            store, questions, arms=options.arms.split(","), k=options.k, max_tokens=options.max_tokens,
            tolerance=options.tolerance, vectors=options.vectors, progress=common.progress,
        )
        good, total, bad = check_originals(store, questions, options)
        common.report(str(path.name), result, options, in_original={"good": good, "n": total})
        print(f"evidence that stands in the original transcript: {good}/{total}")
        for line in bad[:5]:
            print(f"  not there: {line}")
        if options.details:
            details(result)


def details(result: evaluate.Evaluation) -> None:
    """One line a question: near ranks in every arm, and what else went wrong."""
    for position, question in enumerate(result.questions):
        outcomes = [(arm.name, arm.outcomes[position]) for arm in result.arms]
        ranks = " ".join(f"{name}={outcome.near_rank or '-'}" for name, outcome in outcomes)
        marks = ",".join((question.type, *question.tags, *(
            () if question.language == language_of("") else (question.language,))))
        _, first = outcomes[0]
        flags = "".join((
            " abstained" if first.abstained else "", " WRONG" if first.wrong else "",
            " no-exact" if first.exact is False and first.near_rank else "",
        ))
        print(f"{question.id:14s} {ranks:24s} {marks}{flags} | {question.question[:90]}")


if __name__ == "__main__":
    main()
