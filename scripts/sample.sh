#!/usr/bin/env bash
# Makes the store in sample_memory/ anew from its transcripts: no model, and a clock that stands still, so that the
# same transcripts give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../sample_memory"
for entry in * .gitignore .memoryfs; do
  case $entry in
    README.md | memoryfs.toml | golden.jsonl | transcripts) ;;
    *) rm -rf "$entry" ;;
  esac
done
python - <<'PY'
from datetime import UTC, datetime
from pathlib import Path

from memoryfs import MemoryStore
from organizer.pipeline import run

now = datetime(2026, 5, 19, 9, 0, tzinfo=UTC)  # after the last session
store = MemoryStore.init(".", clock=lambda: now)
report = run(store.root, config=store.config, now=now, paths=[Path("transcripts").resolve()])
print(f"MEMORY.md: {len(Path('MEMORY.md').read_bytes())} bytes from {len(report.sessions)} sessions")
PY
rm -rf .memoryfs
