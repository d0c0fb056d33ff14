"""In: transcripts and a folder to work in. Out: stores that are made once, and reports as table, JSON and HTML."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memoryfs import MemoryStore
from memoryfs.evaluate import ARMS, page, table
from memoryfs.evaluate.run import Evaluation


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every script has."""
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--work", type=Path, required=True, help="folder for the stores; they are kept and used again")
    out.add_argument("--arms", default="breadcrumb,floor", help=f"some of {','.join(ARMS)}")
    out.add_argument("-k", type=int, default=10)
    out.add_argument("--max-tokens", type=int, default=1500)
    out.add_argument("--tolerance", type=int, default=2, help="lines, for the near metrics alone")
    out.add_argument("--vectors", action="store_true", help="embed messages, and ask with vectors")
    out.add_argument("--embed-seconds", type=float, default=600, help="budget for embedding, per store")
    out.add_argument("--organize", action="store_true", help="run the organizer first, so that there are memories")
    out.add_argument("--model", action="store_true", help="let the organizer use a model")
    out.add_argument("--json", type=Path, help="write the report here")
    out.add_argument("--html", type=Path, help="write a page here")
    return out


def make_store(work: Path, transcripts: Sequence[Path], options: argparse.Namespace) -> MemoryStore:
    """The store in `work`, with the transcripts imported, organized and embedded as the options ask.

    Each stage runs when its result is not there yet; delete the folder to start afresh.
    """
    store = MemoryStore.init(work)
    stamp = work / ".memoryfs" / "benchmark.json"
    done = json.loads(stamp.read_text()) if stamp.exists() else {}
    if not done.get("imported"):
        report = store.import_transcripts(list(transcripts))
        for problem in report.problems[:3]:
            print(f"  {problem.path}: {problem.message}", file=sys.stderr)
        done["imported"] = True
    if options.organize and not done.get("organized"):
        organize(store, options.model)
        done["organized"] = True
    store.index(embed_seconds=options.embed_seconds if options.vectors else 0)
    stamp.write_text(json.dumps(done))
    return store


def organize(store: MemoryStore, model: bool) -> None:
    """One whole run of the organizer over the threads of the store."""
    from memoryfs.models import open_generator
    from organizer.pipeline import run

    generator = open_generator(store.config.models) if model else None
    run(store.root, config=store.config, generator=generator, embedder=store.embedder() if model else None,
        now=store.clock())


def progress(name: str, done: int, total: int) -> None:
    if sys.stderr.isatty() and (done == total or done % 20 == 0):
        print(f"\r{name} {done}/{total}", end="\n" if done == total else "", file=sys.stderr)


def report(title: str, evaluation: Evaluation, options: argparse.Namespace, **extra: Any) -> None:
    """Print the tables; write JSON and HTML where asked."""
    print(f"{title} ({time.strftime('%Y-%m-%d')}, {platform.machine()})")
    print(table(evaluation))
    if options.json:
        options.json.write_text(json.dumps({"title": title, **extra, **evaluation.to_dict()}, ensure_ascii=False, indent=1))
    if options.html:
        options.html.write_text(page(evaluation, title), encoding="utf-8")
