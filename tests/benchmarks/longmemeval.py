"""LongMemEval_S: each question has its own sessions, so its own store; a hit is a thread that holds the answer.

    python tests/benchmarks/longmemeval.py --work /tmp/lme --half first dev.jsonl.gz

Source Hit@k counts distinct threads of `evidence`; "all sources" asks for every answer session among the first k.
"""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import common

from memoryfs import evaluate
from memoryfs.evaluate.golden import Place, Question
from memoryfs.evaluate.run import Evaluation, merge


def rfc3339(date: str) -> str:
    """`2023/05/20 (Sat) 16:16` as RFC 3339, UTC."""
    day, _, clock = date.split(" ")
    return datetime.strptime(f"{day} {clock}", "%Y/%m/%d %H:%M").strftime("%Y-%m-%dT%H:%M:%SZ")


def write_sessions(item: dict[str, Any], folder: Path) -> list[Path]:
    """The haystack as `messages` files, named by session id, each turn with its session's time."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, date, turns in zip(
        item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"], strict=True
    ):
        path = folder / f"{name}.jsonl"
        rows = ({"role": turn["role"], "time": rfc3339(date), "content": turn["content"]} for turn in turns)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        paths.append(path)
    return paths


def question_of(item: dict[str, Any], dated: bool) -> Question:
    abstain = item["question_id"].endswith("_abs")
    places = () if abstain else tuple(Place(f"{name}.jsonl") for name in item["answer_session_ids"])
    return Question(
        id=item["question_id"], question=item["question"], answer=None if abstain else str(item["answer"]),
        type="abstain" if abstain else item["question_type"], language="en", evidence=places,
        as_of=rfc3339(item["question_date"])[:10] if dated else None,  # some sessions are hours later
    )


def ask(item: dict[str, Any], options: Any) -> Evaluation:
    folder = options.work / item["question_id"]
    sessions = folder / "sessions"
    paths = sorted(sessions.glob("*.jsonl")) if sessions.exists() else write_sessions(item, sessions)
    store = common.make_store(folder / "store", paths, options)
    return evaluate.evaluate(
        store, (question_of(item, not options.no_date),), arms=options.arms.split(","), k=options.k, max_tokens=options.max_tokens,
        tolerance=0, unit="thread", vectors=options.vectors,
    )


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--half", choices=("first", "second", "both"), default="both")
    parser.add_argument("--no-date", action="store_true", help="do not say when the question was asked")
    options = parser.parse_args()
    opener = gzip.open if options.file.suffix == ".gz" else open
    with opener(options.file, "rt", encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    middle = len(items) // 2
    items = {"first": items[:middle], "second": items[middle:], "both": items}[options.half]
    parts = []
    for done, item in enumerate(items, start=1):
        parts.append(ask(item, options))
        common.progress("longmemeval", done, len(items))
    common.report(f"LongMemEval_S, {options.half} half of {options.file.name}", merge(parts), options)


if __name__ == "__main__":
    main()
