"""In: settings and models. Out: what finds, checks and weighs candidates in a run: the rules always, a model where trusted.

A generator is asked only for what it has passed on the known answers that ship with the program: judging lines (`keep`)
and writing candidates (`extract`). A model that stops answering is left out for the rest of the run, and the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs import ledger
from memoryfs.errors import ModelUnavailableError
from memoryfs.model import Event
from memoryfs.models import check
from organizer import gate as gates
from organizer import verdicts, verify
from organizer.dedupe import vector_similarity
from organizer.extract import extract
from organizer.nouns import Candidate, Segment, Verdict
from organizer.prompts import KEEP, keep_examples, spoken

if TYPE_CHECKING:
    from memoryfs.models.protocols import Embedder, Generator

DOUBTFUL = (0.08, 0.92)  # worth by rules between which a generator is asked: beyond, its weak voice changes nothing


@dataclass
class Judges:
    """Extraction, verification and weighing for one run. `similarity` is the cosine of two texts, None without vectors.

    `more()` says whether the budget allows another model call; `notices` collect what did not work.
    """

    gate: gates.Gate
    generator: Generator | None = None
    embedder: Embedder | None = None
    similarity: Callable[[str, str], float] | None = None
    trusted: frozenset[str] = frozenset()
    threshold: float = 0.0
    more: Callable[[], bool] = lambda: True
    judged: int = 0
    notices: list[str] = field(default_factory=list)

    def extract(self, events: Sequence[Event], segments: Sequence[Segment]) -> list[Candidate]:
        """The candidates of a thread, by rules and, where it is trusted to write, by the generator."""
        found = extract(events, segments, self.gate, generator=self.generator, trusted=self.trusted, more=self.more)
        for problem in found.problems:
            self._notice(f"extraction by {self.generator.name if self.generator else 'the model'}: {problem}")
        return list(found.candidates)

    def verify(self, found: Sequence[Candidate], events: Sequence[Event]) -> list[Verdict]:
        return verify.verify(found, events)

    def weigh(self, found: Sequence[Candidate]) -> list[Candidate]:
        """The candidates with their worth and gate; every judge that cannot serve is left out and named."""
        scores = self._scores(found)
        try:
            return gates.weigh(found, self.gate, embedder=self.embedder, scores=scores)
        except ModelUnavailableError as error:
            self._without_embedder(error)
            return gates.weigh(found, self.gate, scores=scores)

    def _scores(self, found: Sequence[Candidate]) -> dict[int, float]:
        if self.generator is None or KEEP.name not in self.trusted or not self.gate.generator or not self.more():
            return {}
        doubtful = [i for i, c in enumerate(found) if DOUBTFUL[0] <= c.score <= DOUBTFUL[1]]
        if not doubtful:
            return {}
        try:
            raw = KEEP.scores(self.generator, [spoken(found[i].role, found[i].summary) for i in doubtful])
        except ModelUnavailableError as error:
            self._notice(f"{self.generator.name} stopped answering ({error.message}); rules go on alone")
            self.generator = None
            return {}
        self.judged += len(doubtful)
        return dict(zip(doubtful, gates.by_model(raw, self.threshold), strict=True))

    def _without_embedder(self, error: ModelUnavailableError) -> None:
        self._notice(f"the embedder stopped answering ({error.message}); the run goes on without vectors")
        self.embedder = self.similarity = None

    def _notice(self, text: str) -> None:
        if text not in self.notices and len(self.notices) < 20:
            self.notices.append(text)

    def tokens(self) -> int:
        """Tokens that the generator has evaluated and written in this run, where it counts them."""
        return sum(int(getattr(self.generator, name, 0) or 0) for name in ("evaluated", "written"))


def open_judges(
    root: Path, *, generator: Generator | None, embedder: Embedder | None, more: Callable[[], bool] = lambda: True
) -> Judges:
    """The judges of a run; the gate has learned from the store's verdicts. A generator that was never checked in this store is calibrated for judging lines first."""
    similarity = vector_similarity(embedder.embed_passages) if embedder is not None else None
    judges = Judges(verdicts.learned(gates.load(), ledger.read(root)[0]), generator, embedder, similarity, more=more)
    if generator is None:
        return judges
    try:
        known = check.calibration_of(root, generator.fingerprint, KEEP)
        if known is None and judges.gate.generator and more():
            known = check.calibrate(generator, KEEP, keep_examples())
            check.record(root, [known])
        judges.trusted = check.trusted_tasks(root, generator.fingerprint)
    except ModelUnavailableError as error:
        judges.notices.append(f"the generator is not available ({error.message}); rules work alone")
        judges.generator = None
        return judges
    if known is not None:
        judges.threshold = known.threshold
    if not judges.trusted:
        judges.notices.append(f"{generator.name} passed no check; rules work alone")
    return judges
