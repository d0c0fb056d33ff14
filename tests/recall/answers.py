"""Evidence and sentences for the tests of answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from memoryfs.model import Evidence
from memoryfs.recall import answer
from memoryfs.recall.answer_check import Refused, check
from memoryfs.recall.answer_sheet import sheet

NAME = "2026-05-12-aaaaaa"
QUESTION = "Which port does the gateway listen on?"
GOOD = {"sentence": "The gateway listens on port {v1} [1]."}
SENTENCES = json.loads((Path(__file__).parent / "data" / "answer_sentences.json").read_text(encoding="utf-8"))
ROWS = [json.loads(line) for line in answer.CASES.read_text(encoding="utf-8").splitlines()]


def proof(text: str, day: str = "2026-05-12", **over) -> Evidence:
    fields = {"role": "user", "superseded_by": None, **over}
    return Evidence(thread=NAME, index=0, start=0, end=len(text), text=text, event_id="e", time=f"{day}T10:00:00Z",
                    source="s", line=0, **fields)


def written(sentence: str, paper) -> str:
    """A sentence with values between angle brackets, as a model writes it: with the names that the sheet has for them."""
    cited = {int(n) for n in re.findall(r"\[(\d+)\]", sentence)}

    def name(match):
        known = (key for key, value in paper.values.items() if value.text == match[1] and value.number in cited)
        return "{" + (match[1] if re.fullmatch(r"d\d+", match[1]) else next(known, "v999")) + "}"

    return re.sub(r"<([^<>]+)>", name, sentence)


def said(sentence: str, *evidence: Evidence, question: str = QUESTION) -> str:
    """The checked text of a sentence, or `refused: …`."""
    paper = sheet(question, evidence)
    try:
        return check(written(sentence, paper), paper).text
    except Refused as error:
        return f"refused: {error}"
