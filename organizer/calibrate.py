"""In: a generator. Out: how far it can be trusted with each of the organizer's tasks, for `memoryfs models check`."""

from __future__ import annotations

from memoryfs.models.check import Calibration, calibrate, calibrate_writing
from memoryfs.models.protocols import Generator
from organizer.prompts import FULL, KEEP, WRITING_EXAMPLES, keep_examples


def calibrations(generator: Generator) -> list[Calibration]:
    """Judging lines by scoring, then extraction by writing. Raises ModelUnavailableError."""
    return [calibrate(generator, KEEP, keep_examples()), calibrate_writing(generator, FULL, WRITING_EXAMPLES)]
