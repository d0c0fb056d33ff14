"""How fast recall is: a synthetic store of N events, warm (index open), warm through the store, and cold processes.

    python tests/benchmarks/recall_latency.py --work /tmp/latency --events 100000

Warm: p50 and p95 in milliseconds over 200 questions. Cold: `memoryfs recall` as a new process against
`python -c "import click"`, median wall times of 15 runs each, interleaved.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from memoryfs import MemoryStore
from memoryfs.evaluate.stats import spread

_WORDS = """
proxy ledger invoice webhook queue cache token schema parser render socket thread cursor column widget buffer router
signal kernel module import export branch commit review deploy staging release rollback backup restore password session
cookie header payload timeout retry backoff limiter scheduler worker replica shard partition
"""
WORDS = _WORDS.split()
EVENTS_A_SESSION = 100


def write_session(path: Path, number: int, rng: random.Random) -> None:
    """One session: sentences of common and rare words, with identifiers, ports and paths of its own."""
    with path.open("w", encoding="utf-8") as out:
        for i in range(EVENTS_A_SESSION):
            words = [f"{rng.choice(WORDS)}{rng.randrange(400) if rng.random() < .3 else ''}" for _ in range(rng.randint(8, 60))]
            words.insert(rng.randrange(len(words)), f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}_{number % 97}.py")
            text = " ".join(words).capitalize() + f". Port {1024 + (number * 7 + i) % 60000}."
            day = f"2026-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}T{i // 60 % 24:02d}:{i % 60:02d}:00Z"
            role = "user" if i % 2 == 0 else "assistant"
            out.write(json.dumps({"role": role, "time": day, "content": text}) + "\n")


def build(work: Path, events: int) -> tuple[MemoryStore, dict[str, float]]:
    times: dict[str, float] = {}
    sessions = work / f"sessions-{events}"
    if not sessions.exists():
        sessions.mkdir(parents=True)
        rng = random.Random(7)
        for number in range(max(1, events // EVENTS_A_SESSION)):
            write_session(sessions / f"s{number:05d}.jsonl", number, rng)
    root = work / f"store-{events}"
    fresh = not root.exists()
    store = MemoryStore.init(root)
    started = time.perf_counter()
    if fresh:
        store.import_transcripts([sessions])
        times["import_s"] = time.perf_counter() - started
    started = time.perf_counter()
    store.index()
    times["index_s" if fresh else "sync_s"] = time.perf_counter() - started
    return store, times


def queries(count: int) -> list[str]:
    rng = random.Random(11)
    return [
        f"Which port did the {rng.choice(WORDS)} {rng.choice(WORDS)}{rng.randrange(400)} in "
        f"src/{rng.choice(WORDS)}/{rng.choice(WORDS)}_{rng.randrange(97)}.py use?"
        for _ in range(count)
    ]


def warm(store: MemoryStore, asked: list[str]) -> dict[str, dict]:
    """Through one open index (sync included), and through `store.recall`, which opens it each time."""
    from memoryfs import index as indexes
    from memoryfs.recall import recall

    out: dict[str, list[float]] = {"open_index": [], "store": []}
    with indexes.open(store.root) as index:
        for i, query in enumerate([asked[0], *asked]):
            started = time.perf_counter()
            index.sync(now=store.clock())
            recall(index, query, k=10, level="2", max_tokens=1500, now=store.clock())
            if i:
                out["open_index"].append((time.perf_counter() - started) * 1000)
    for query in asked:
        started = time.perf_counter()
        store.recall(query, level=2, vectors=False)
        out["store"].append((time.perf_counter() - started) * 1000)
    return {name: spread(values).to_dict() for name, values in out.items()}


def cold(store: MemoryStore, asked: list[str], runs: int) -> dict[str, float]:
    program = [sys.executable, "-m", "memoryfs"]
    recall_ms, click_ms = [], []
    for query in asked[:runs]:
        for times, command in (
            (click_ms, [sys.executable, "-c", "import click"]),
            (recall_ms, [*program, "--store", str(store.root), "--json", "recall", "--no-vectors", query]),
        ):
            started = time.perf_counter()
            done = subprocess.run(command, capture_output=True, env={**os.environ}, check=False)
            times.append((time.perf_counter() - started) * 1000)
            if done.returncode not in (0, 5):
                raise SystemExit(done.stderr.decode())
    a, b = statistics.median(recall_ms), statistics.median(click_ms)
    return {"recall_ms": round(a, 1), "import_click_ms": round(b, 1), "ratio": round(a / b, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cold-runs", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    store, times = build(options.work, options.events)
    asked = queries(options.queries)
    result = {"events": options.events, **{name: round(value, 2) for name, value in times.items()},
              "warm_ms": warm(store, asked), "cold": cold(store, asked, options.cold_runs)}
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
