"""How fast hooks answer: a synthetic store of N memories, each call a process of its own, as a harness starts it.

    python tests/benchmarks/hook_latency.py --work /tmp/hooks --memories 10000

Wall time in milliseconds, p50 and p95, for SessionStart, UserPromptSubmit (a prompt that memories answer, one that none does)
and SessionEnd; then with the index missing, being rebuilt and locked. `python -c "import click"` stands beside.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from memoryfs import MemoryStore
from memoryfs.evaluate.stats import spread

WORDS = """proxy ledger invoice webhook queue cache token schema parser render socket thread cursor column widget buffer
router signal kernel module import export branch commit review deploy staging release rollback backup restore password session
cookie header payload timeout retry backoff limiter scheduler worker replica shard partition""".split()
MEMORIES_A_TOPIC = 25
PROMPTS = ("which timeout does the webhook{n} retry limiter use?", "Please write a haiku about autumn leaves")


def build(root: Path, memories: int) -> None:
    """`memories` facts in topics of 25, each with words of its own."""
    rng = random.Random(7)
    (root / "projects").mkdir(parents=True)
    for number in range(memories // MEMORIES_A_TOPIC):
        lines = []
        for i in range(MEMORIES_A_TOPIC):
            words = [f"{rng.choice(WORDS)}{rng.randrange(400) if rng.random() < .3 else ''}" for _ in range(rng.randint(8, 25))]
            lines.append(f"- {' '.join(words).capitalize()} on port {1024 + (number * 25 + i) % 60000}. ^m-{number * 25 + i:06x}")
        head = f"---\ntitle: Topic {number}\ntags: [{rng.choice(WORDS)}]\nupdated_at: 2026-{1 + number % 12:02d}-{1 + number % 28:02d}\n---\n"
        text = f"{head}# Topic {number}\n\n## Facts\n" + "\n".join(lines) + "\n"
        (root / "projects" / f"topic-{number:04d}.md").write_text(text, encoding="utf-8")
    MemoryStore.init(root).index()


def ask(root: Path, event: str, number: int, prompt: str = "") -> tuple[float, int]:
    """(wall time in ms, bytes of the answer) of one call in a session of its own."""
    data = {"session_id": f"{event}-{number}-{time.time_ns()}", "cwd": str(root.parent), "source": "startup", "prompt": prompt,
            "transcript_path": str(root / "projects" / "topic-0000.md")}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "memoryfs", "--store", str(root), "hook", event], input=json.dumps(data).encode(),
        capture_output=True, check=True,
    )
    return (time.perf_counter() - started) * 1000, len(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    root = options.work / f"store-{options.memories}"
    if not root.exists():
        build(root, options.memories)
    (root / "memoryfs.toml").write_text("[hooks]\norganize = false\n")
    time.sleep(2.1)
    ask(root, "session-start", 0)

    def show(name: str, event: str, prompt: str = "", runs: int = options.runs) -> None:
        found = [ask(root, event, n, prompt.replace("{n}", str(n * 7 % 400))) for n in range(runs)]
        times = spread([t for t, _ in found])
        print(f"{name:38}{times.p50:7.0f}{times.p95:7.0f}   answered {sum(1 for _, b in found if b)}/{runs}", flush=True)

    print(f"{options.memories} memories{'':26}   p50    p95  ms")
    clicks = []
    for _ in range(options.runs):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import click"], check=True)
        clicks.append((time.perf_counter() - started) * 1000)
    plain = spread(clicks)
    print(f"{'import click':38}{plain.p50:7.0f}{plain.p95:7.0f}")
    show("SessionStart", "session-start")
    show("UserPromptSubmit, answered", "user-prompt-submit", PROMPTS[0])
    show("UserPromptSubmit, nothing to say", "user-prompt-submit", PROMPTS[1])
    show("SessionEnd", "session-end")
    index = root / ".memoryfs" / "index.db"
    kept = index.read_bytes()
    for path in root.glob(".memoryfs/index.db*"):
        path.unlink()
    show("UserPromptSubmit, index missing", "user-prompt-submit", PROMPTS[0], 3)
    index.write_bytes(kept)
    import apsw

    lock = apsw.Connection(str(index))
    lock.execute("BEGIN EXCLUSIVE")
    os.utime(root / "projects" / "topic-0001.md")
    show("UserPromptSubmit, index locked", "user-prompt-submit", PROMPTS[0], 5)
    lock.execute("ROLLBACK")
    lock.close()


if __name__ == "__main__":
    main()
