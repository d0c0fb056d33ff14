"""LoCoMo: folders of `session_NN.jsonl` (`messages`) with a `golden.jsonl`; one store a conversation.

    python tests/benchmarks/locomo.py --work /tmp/locomo DATA/conv-26 DATA/conv-30 DATA/conv-41

LoCoMo is CC BY-NC 4.0: measure with it, learn nothing from it that is shipped.
"""

from __future__ import annotations

from pathlib import Path

import common

from memoryfs import evaluate
from memoryfs.evaluate.run import merge


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("conversations", nargs="+", type=Path)
    options = parser.parse_args()
    parts = []
    for folder in options.conversations:
        questions, problems = evaluate.load(folder / "golden.jsonl")
        for problem in problems:
            print(f"{problem.path}:{problem.line}: {problem.message}")
        store = common.make_store(options.work / folder.name, sorted(folder.glob("session_*.jsonl")), options)
        parts.append(evaluate.evaluate(
            store, questions, arms=options.arms.split(","), k=options.k, max_tokens=options.max_tokens, tolerance=0,
            vectors=options.vectors, progress=common.progress,
        ))
    names = ", ".join(folder.name for folder in options.conversations)
    common.report(f"LoCoMo {names}", merge(parts), options)


if __name__ == "__main__":
    main()
