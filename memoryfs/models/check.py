"""In: a generator, a task and known answers. Out: whether it can be trusted with that task, and from which score on.

A model judges by rank: the measure is the area under the ROC curve (the chance that a line to keep scores above a line to
skip). It is trusted when the lower end of that area's one-sided 95 % interval (Hanley and McNeil 1982) reaches MARGIN.
MARGIN stands well above chance because short lists of written examples are easier than real lines: models that judge real
lines no better than a coin have reached .72 on them. Writing is measured as the share of answers that say what the source
says and nothing that it does not.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.errors import ModelAnswerError
from memoryfs.models.protocols import Embedder, Generator
from memoryfs.textfile import write_atomic

MARGIN = 0.7
WRITING_SHARE = 0.8
Z95 = 1.645
STATE = Path(".memoryfs") / "models.json"


@dataclass(frozen=True, slots=True)
class Task:
    """A yes-or-no judgement by scoring. `item` turns a line into the text to score; `labels` are (keep, skip)."""

    name: str
    prefix: str
    labels: tuple[str, str]
    item: str = " {text}\nAnswer:"

    @property
    def digest(self) -> str:
        """Changes with the prompt: a calibration is of one prompt."""
        data = "\0".join((self.name, self.prefix, *self.labels, self.item))
        return hashlib.sha256(data.encode()).hexdigest()[:16]

    def scores(self, generator: Generator, texts: Sequence[str]) -> list[float]:
        """One score a text, higher for the first label; line breaks in a text become spaces."""
        items = [self.item.replace("{text}", " ".join(text.split())) for text in texts]
        return generator.score(self.prefix, items, self.labels)


@dataclass(frozen=True, slots=True)
class WritingTask:
    """An extraction by writing: `prompt` with `{text}` in it, the schema of the answer."""

    name: str
    prompt: str
    schema: Mapping[str, Any]
    max_tokens: int = 400

    @property
    def digest(self) -> str:
        data = self.name + "\0" + self.prompt + "\0" + json.dumps(dict(self.schema), sort_keys=True)
        return hashlib.sha256(data.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Example:
    """A line and whether it belongs to the task's first label."""

    text: str
    keep: bool


@dataclass(frozen=True, slots=True)
class WritingExample:
    """A source text; words that a right answer must hold, and words that it must not."""

    text: str
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """`auc` is 0.5 for chance (for writing: the share of right answers); from `threshold` on a score means keep."""

    task: str
    auc: float
    threshold: float
    trusted: bool
    n: int
    digest: str = ""
    model: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "task": self.task, "auc": round(self.auc, 4), "threshold": round(self.threshold, 4),
            "trusted": self.trusted, "n": self.n, "digest": self.digest, "model": self.model,
        }


def auc(scores: Sequence[float], keep: Sequence[bool]) -> float:
    """Mann-Whitney: the share of (keep, skip) pairs in the right order, ties half; 0.5 where one side is empty."""
    yes = [s for s, k in zip(scores, keep, strict=True) if k]
    no = [s for s, k in zip(scores, keep, strict=True) if not k]
    if not yes or not no:
        return 0.5
    won = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    return won / (len(yes) * len(no))


def auc_error(value: float, yes: int, no: int) -> float:
    """The standard error of an AUC by Hanley and McNeil (1982); 1.0 where one side is empty."""
    if not yes or not no:
        return 1.0
    q1, q2 = value / (2 - value), 2 * value * value / (1 + value)
    variance = (value * (1 - value) + (yes - 1) * (q1 - value**2) + (no - 1) * (q2 - value**2)) / (yes * no)
    return math.sqrt(max(variance, 0.0))


def best_threshold(scores: Sequence[float], keep: Sequence[bool]) -> float:
    """The score from which on "keep" gives the most true answers less false ones (Youden's J); the higher of equals."""
    yes, no = sum(keep), len(keep) - sum(keep)
    if not yes or not no:
        return 0.0
    best, at = -1.0, 0.0
    for cut in sorted(set(scores), reverse=True):
        right = sum(1 for s, k in zip(scores, keep, strict=True) if k and s >= cut)
        wrong = sum(1 for s, k in zip(scores, keep, strict=True) if not k and s >= cut)
        if right / yes - wrong / no > best:
            best, at = right / yes - wrong / no, cut
    return at


def calibrate(generator: Generator, task: Task, examples: Sequence[Example]) -> Calibration:
    """How well `generator` tells the examples apart. Raises ModelUnavailableError if it cannot serve."""
    scores = task.scores(generator, [e.text for e in examples])
    keep = [e.keep for e in examples]
    value = auc(scores, keep)
    low = value - Z95 * auc_error(value, sum(keep), len(keep) - sum(keep))
    return Calibration(
        task.name, value, best_threshold(scores, keep), low >= MARGIN, len(examples), task.digest, generator.fingerprint
    )


def calibrate_writing(generator: Generator, task: WritingTask, examples: Sequence[WritingExample]) -> Calibration:
    """The share of examples whose answer holds all of `must` and none of `must_not`; an unusable answer is wrong."""
    right = 0
    for example in examples:
        try:
            answer = generator.write(task.prompt.replace("{text}", example.text), task.schema, task.max_tokens)
        except ModelAnswerError:
            continue
        text = json.dumps(answer, ensure_ascii=False).casefold()
        right += all(w.casefold() in text for w in example.must) and not any(
            w.casefold() in text for w in example.must_not
        )
    share = right / len(examples) if examples else 0.0
    return Calibration(
        task.name, share, WRITING_SHARE, share >= WRITING_SHARE, len(examples), task.digest, generator.fingerprint
    )


SANITY: tuple[tuple[str, str, str], ...] = (
    # (question, the passage that answers it, one that does not)
    ("Which port does the database listen on?", "PostgreSQL runs on port 5433 in CI.", "The cookie lives for 7 days."),
    ("package manager preference", "Use pnpm, not npm, in this repository.", "Deploys happen on Friday evening."),
    ("メールアドレスの正規表現", "教員のメールは正規表現で検証する。", "備品の予約は三日前まで。"),
    ("쿠키 유효 기간", "세션 쿠키는 7일 동안 유지된다.", "포트는 5433번을 쓴다."),
    ("Who approves reservations?", "予約は担当の先生が承認する。", "The logo is blue."),
)


def check_embedder(embedder: Embedder) -> Calibration:
    """The share of SANITY questions whose answer is nearer than the other passage; trusted at four of five."""
    right = 0
    for question, good, bad in SANITY:
        passages = embedder.embed_passages([good, bad])
        near = passages @ embedder.embed_query(question)
        right += bool(near[0] > near[1])
    share = right / len(SANITY)
    return Calibration("embedding", share, 0.0, share >= 0.8, len(SANITY), "", embedder.fingerprint)


def record(root: Path, calibrations: Sequence[Calibration]) -> None:
    """Remember `calibrations` in the store's derived folder, one for each model and task; the latest counts."""
    known = _read(root)
    for calibration in calibrations:
        known.setdefault(calibration.model, {})[calibration.task] = calibration.to_dict()
    text = json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    write_atomic(root / STATE, text.encode("utf-8"))


def calibration_of(root: Path, model: str, task: Task | WritingTask) -> Calibration | None:
    """What is recorded for this model (its fingerprint) and this very prompt; None if it was never checked."""
    entry = _read(root).get(model, {}).get(task.name)
    if not isinstance(entry, dict) or entry.get("digest") != task.digest:
        return None
    try:
        return Calibration(**entry)
    except TypeError:
        return None


def trusted_tasks(root: Path, model: str) -> frozenset[str]:
    """The names of the tasks that the model with this fingerprint has passed in this store."""
    return frozenset(
        name for name, entry in _read(root).get(model, {}).items() if isinstance(entry, dict) and entry.get("trusted")
    )


def _read(root: Path) -> dict[str, dict[str, Any]]:
    """The recorded calibrations; a missing or damaged file counts as none (the folder is disposable)."""
    try:
        data = json.loads((root / STATE).read_bytes())
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in data.items() if isinstance(v, dict)} if isinstance(data, dict) else {}
