#!/usr/bin/env bash
# The whole idea on the sample transcripts, in a scratch copy: organize, brief, recall. `memoryfs` must be on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
store=.demo/store
question='What is the regular expression for sign-in addresses?'
step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then step() { printf '\n$ %s\n' "$*"; }; fi

rm -rf .demo
mkdir -p .demo
memoryfs init "$store" >/dev/null
cp -R sample_memory/transcripts "$store/transcripts"

step "memoryfs --store $store organize $store/transcripts"
code=0
memoryfs --store "$store" organize "$store/transcripts" || code=$?
# 4: done, and something waits for a person. The sample holds a contradiction on purpose.
if [ "$code" -ne 0 ] && [ "$code" -ne 4 ]; then exit "$code"; fi

step "memoryfs --store $store brief"
memoryfs --store "$store" brief
printf '\nMEMORY.md: %s bytes\n' "$(wc -c <"$store/MEMORY.md" | tr -d ' ')"

step "memoryfs --store $store recall '$question' --level 2 --json"
memoryfs --store "$store" recall "$question" --level 2 --json >.demo/recall.json
python - .demo/recall.json "$store" <<'PY'
import json, pathlib, sys

answer = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
exact = r"^[A-Za-z0-9._%+-]+@(?:teacher|student)\.example\.ed\.jp$"
rank, hit = next(((i, e) for i, e in enumerate(answer["evidence"], 1) if exact in e["text"]), (0, None))
if hit is None:
    sys.exit("The regular expression was not recalled.")
original = pathlib.Path(sys.argv[2], hit["source"]).read_text(encoding="utf-8").splitlines()[hit["line"]]
if json.dumps(exact)[1:-1] not in original:
    sys.exit("The recalled text does not stand in the transcript.")
at = hit["start"] + hit["text"].index(exact)
print(f"exact regex: {exact}")
print(f"  thread {hit['thread']}, event {hit['index']}, offsets {at}-{at + len(exact)} (evidence {rank} of {len(answer['evidence'])})")
print(f"  the same bytes stand in {hit['source']}, line {hit['line']}")
PY
