"""In: an evaluation that has just ended, or a store. Out: how recall has measured over time in that store.

Kept in the derived folder, `.memoryfs/evaluations.jsonl`: losing it loses only the past figures.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs.evaluate.run import Evaluation
from memoryfs.textfile import append_lines

FILE = Path(".memoryfs") / "evaluations.jsonl"
SHOWN = ("source_hit_near@1", "source_hit_near@5", "source_hit_near@10", "exact_value", "wrong_memory")


def keep(root: Path, evaluation: Evaluation, *, now: datetime) -> None:
    """Add the breadcrumb arm's rates, if it was run. Raises ReadOnlyError."""
    if not any(arm.name == "breadcrumb" for arm in evaluation.arms):
        return
    metrics = evaluation.arm("breadcrumb").metrics()
    row = {"time": now.isoformat(timespec="seconds"), "questions": len(evaluation.questions), "tolerance": evaluation.tolerance,
           **{name: metrics[name].value for name in SHOWN}}
    append_lines(root / FILE, [json.dumps(row)])


def read(root: Path, most: int = 12) -> list[dict[str, Any]]:
    """The last `most` evaluations, oldest first; a line that cannot be read is passed over."""
    try:
        lines = (root / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and "time" in row:
            rows.append({"questions": 0, **dict.fromkeys(SHOWN), **row})
    return rows[-most:]
