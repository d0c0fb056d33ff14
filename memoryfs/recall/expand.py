"""In: a question and a trusted model. Out: `Expansion`: a passage as an answer might read; and a wider query made with it.

Off unless `recall.expand` is set (HyDE: Gao et al. 2022, "Precise Zero-Shot Dense Retrieval without Relevance Labels").
The passage is invented, so it may only rank: every exact value and figure is taken out of it first, its words join the
question's at a low weight and its vector is averaged with the question's. Evidence stays verbatim text of the store,
and whether the store supports an answer at all is decided from the question alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs.errors import ModelAnswerError, ModelUnavailableError, UsageError
from memoryfs.recall.answer import trust
from memoryfs.recall.answer_sheet import literals
from memoryfs.recall.query import Query
from memoryfs.render import safe
from memoryfs.text import weighted_terms

if TYPE_CHECKING:
    from memoryfs.config import Config
    from memoryfs.models.protocols import Embedder, Generator

MAX_TOKENS = 120
MAX_CHARS = 600  # of the passage
TERMS, TERM_WEIGHT = 24, 0.25  # of the passage that join the query, and what each counts beside a word of the question
PLAIN = "The question was searched for as it is."
_SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {"passage": {"type": "string", "maxLength": MAX_CHARS}}, "required": ["passage"],
    "additionalProperties": False,
}
_PROMPT = """Somebody searches old working conversations. Write one or two sentences that could stand in such a conversation
and answer the question, in the language of the question, with the words that people use for the matter. No figures.
Answer as JSON: {"passage": "..."}

Question: When do the nightly copies of the database run?
{"passage": "The backup job dumps the database every night by cron, and the dump is uploaded to the storage bucket."}

Question: {text}
"""


@dataclass(frozen=True, slots=True)
class Expansion:
    """`text` is "" where there is none; `notice` says why, where one was wanted."""

    text: str = ""
    notice: str = ""


def expansion(
    root: Path, config: Config, question: str, *, level: str | int = "auto", generator: Generator | None = None
) -> Expansion:
    """The passage for a question, where the settings want one and the model is trusted; failure is a notice, never an error.

    Memories alone (level 0) are not worth a model. The model has `recall.expand_seconds` to load, and as many to write.
    """
    plain = " ".join(safe(question).split())
    if not config.recall.expand or str(level) == "0" or not plain:
        return Expansion()
    from memoryfs.models import lent_generator

    try:
        with lent_generator(config.models, generator, config.recall.expand_seconds) as model:
            if model is None:
                return Expansion(notice=f"`recall.expand` is set, and no model is. {PLAIN}")
            mark = model.fingerprint
            if why := trust(root, mark, model.name):
                return Expansion(notice=f"`recall.expand` is set, but {why} {PLAIN}")
            said = model.write(_PROMPT.replace("{text}", plain[:2000]), _SCHEMA, MAX_TOKENS).get("passage")
            if model.fingerprint != mark or not isinstance(said, str):
                return Expansion(notice=f"The model's expansion cannot be used. {PLAIN}")
    except (ModelUnavailableError, ModelAnswerError, UsageError) as error:
        return Expansion(notice=f"The question was not expanded ({error.message}). {PLAIN}")
    return Expansion(without_values(said[:MAX_CHARS]))


def without_values(passage: str) -> str:
    """The passage on one line, its exact values, short quotations and figures left out."""
    pieces, at = [], 0
    for start, end, _ in literals(passage):
        pieces.append(passage[at:start])
        at = end
    return " ".join(safe(" ".join([*pieces, passage[at:]])).split())


def widened(asked: Query, vector: Any, passage: str, embedder: Embedder | None) -> tuple[Query, Any]:
    """The question with the passage's words at a low weight, and its vector with the passage's, averaged."""
    return replace(asked, terms=asked.terms + _terms(asked, passage)), _averaged(vector, passage, embedder)


def _terms(asked: Query, passage: str) -> tuple[tuple[str, float], ...]:
    known = {term for term, _ in asked.terms}
    fresh = [(term, TERM_WEIGHT * weight) for term, weight in weighted_terms(passage) if term not in known]
    return tuple(fresh[:TERMS])


def _averaged(vector: Any, passage: str, embedder: Embedder | None) -> Any:
    if vector is None or embedder is None:
        return vector
    import numpy

    try:
        total = numpy.asarray(vector, dtype=numpy.float32) + embedder.embed_passages([passage])[0]
    except ModelUnavailableError:
        return vector  # what the question alone finds, as without the setting
    norm = float(numpy.linalg.norm(total))
    return total / norm if norm > 1e-6 else vector
