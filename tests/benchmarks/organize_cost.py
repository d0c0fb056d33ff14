"""What a run of the organizer costs beside the model it asks: wall time against llama.cpp alone, and what the prefix cache saves.

    python tests/benchmarks/organize_cost.py --work /tmp/cost TRANSCRIPTS...

The packaged generator is taken to have passed its check for judging lines (`keep`), whether it has or not: here only time
counts. Afterwards the very same items are given to llama.cpp again by themselves, prompt kept, one after another: "raw".
`evaluated` tokens went through the model, `reused` stood in its cache.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from memoryfs import MemoryStore
from memoryfs.models import check, open_generator
from memoryfs.models.protocols import Generator
from organizer import pipeline
from organizer.prompts import KEEP


class Listening:
    """A generator that notes what it is asked."""

    def __init__(self, inner: Generator) -> None:
        self.inner = inner
        self.asked: list[tuple[str, list[str], tuple[str, str]]] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def score(self, prefix: str, items: Sequence[str], labels: tuple[str, str]) -> list[float]:
        self.asked.append((prefix, list(items), labels))
        return self.inner.score(prefix, items, labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for the store; it is made anew")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    store = MemoryStore.init(options.work)
    generator = open_generator(store.config.models)
    if generator is None:
        raise SystemExit("no generator is installed")
    generator.score(KEEP.prefix, [" warm up\nAnswer:"], KEEP.labels)  # loading is neither's
    check.record(store.root, [check.Calibration("keep", 1.0, 0.0, True, 0, KEEP.digest, generator.fingerprint)])
    listening = Listening(generator)
    before = generator.evaluated, generator.reused
    started = time.perf_counter()
    report = pipeline.run(store.root, config=store.config, now=store.clock(), paths=options.transcripts, generator=listening)
    wall = time.perf_counter() - started
    evaluated, reused = generator.evaluated - before[0], generator.reused - before[1]
    generator.close()

    generator = open_generator(store.config.models)
    generator.score(KEEP.prefix, [" warm up\nAnswer:"], KEEP.labels)
    before = generator.evaluated
    started = time.perf_counter()
    for prefix, items, labels in listening.asked:
        generator.score(prefix, items, labels)
    raw = time.perf_counter() - started
    result = {
        "model": generator.name, "judged": sum(len(items) for _, items, _ in listening.asked),
        "evaluated": evaluated, "reused": reused, "evaluated_raw": generator.evaluated - before,
        "organize_s": round(wall, 1), "raw_s": round(raw, 1), "ratio": round(wall / raw, 2) if raw else None,
        "stages_s": {name: round(seconds, 1) for name, seconds in report.stages.items()},
    }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
