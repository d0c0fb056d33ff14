"""In: a store and golden questions. Out: how well recall finds its sources, beside plainer ways of searching.

    from memoryfs import MemoryStore, evaluate
    questions, problems = evaluate.load("golden.jsonl")
    result = evaluate.evaluate(MemoryStore.open(".memory"), questions)
    print(evaluate.table(result)); Path("eval.html").write_text(evaluate.page(result))
"""

from __future__ import annotations

from memoryfs.evaluate.arms import ARMS
from memoryfs.evaluate.golden import Question, load
from memoryfs.evaluate.label import label, label_store
from memoryfs.evaluate.page import page
from memoryfs.evaluate.run import Evaluation, evaluate
from memoryfs.evaluate.table import table

__all__ = ["ARMS", "Evaluation", "Question", "evaluate", "label", "label_store", "load", "page", "table"]
