"""In: a question, verbatim evidence and a model. Out: the evidence, what answers first; or why the model does not serve.

Level 3. The model only judges, by scoring; every span stays as it was cut. It is asked only once it has shown in this
store that it can tell answers from mere talk (`measure`); a model that has not is left out, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.errors import ModelUnavailableError
from memoryfs.model import Evidence

if TYPE_CHECKING:
    from memoryfs.models.check import Calibration, Task
    from memoryfs.models.protocols import Generator

TASK = "answers"
CHARS = 700  # of a span that the model reads
NO_MODEL = "Level 3 needs a model; this is the answer of level 2."
NOT_TRUSTED = "The model has not shown in this store that it can judge answers; this is the answer of level 2."
_PREFIX = """Does the text answer the question? Answer yes or no.

Question: Which port does the gateway use?
Text: The gateway listens on port 8443 since March.
Answer: yes

Question: Which port does the gateway use?
Text: I will look at the gateway tomorrow.
Answer: no

"""
_PAIRS = (  # question, a text that answers it, one that only speaks of it
    ("When is the release?", "We release on 14 May.", "The release needs a checklist."),
    ("Who reviews the schema?", "Mina reviews every change of the schema.", "The schema has grown a lot."),
    ("How long do sessions last?", "Sessions expire after 7 days.", "Can you check how sessions work?"),
    ("Why did the import fail?", "The import failed because the disk was full.", "Run the import again, please."),
    ("バックアップは何時?", "バックアップは毎日3時半に動きます。", "バックアップの設定を見ます。"),
    ("配置文件在哪里?", "配置文件在 /etc/app/conf.toml。", "配置文件需要整理。"),
    ("예약은 몇 개까지?", "한 사람이 3개까지 예약할 수 있습니다.", "예약 화면을 고치겠습니다."),
    ("Which database do we use?", "We settled on PostgreSQL 16.", "The database is slow today."),
    ("What does the flag --fast skip?", "--fast skips the integration tests.", "Add --fast to the help text."),
    ("Where are logs kept?", "Logs go to /var/log/app and stay 30 days.", "The logs were long."),
)


def task() -> Task:
    """The judgement, as `memoryfs.models.check` measures it; its lines are `question — text`."""
    from memoryfs.models.check import Task

    return Task(TASK, _PREFIX, (" yes", " no"), item="{text}\nAnswer:")


def measure(root: Path, generator: Generator) -> Calibration:
    """Try the model on written examples and remember in the store whether it is trusted with the judgement."""
    from memoryfs.models import check

    examples = [
        check.Example(_line(question, text), keep)
        for question, yes, no in _PAIRS for text, keep in ((yes, True), (no, False))
    ]
    found = check.calibrate(generator, task(), examples)
    check.record(root, [found])
    return found


def _line(question: str, text: str) -> str:
    return f"Question: {question} Text: {text[:CHARS]}"


def in_order(
    root: Path, question: str, evidence: Sequence[Evidence], generator: Generator | None
) -> tuple[tuple[Evidence, ...], str]:
    """The spans that the model says answer the question first, as they stood among themselves; and "" or a notice."""
    if generator is None:
        return tuple(evidence), NO_MODEL
    from memoryfs.models import check

    judged = check.calibration_of(root, generator.fingerprint, task())
    if judged is None or not judged.trusted:
        return tuple(evidence), NOT_TRUSTED
    try:
        scores = task().scores(generator, [_line(question, item.text) for item in evidence])
    except ModelUnavailableError as error:
        return tuple(evidence), f"The model could not judge ({error.message}); this is the answer of level 2."
    places = sorted(range(len(evidence)), key=lambda place: (scores[place] < judged.threshold, place))
    return tuple(evidence[place] for place in places), ""
