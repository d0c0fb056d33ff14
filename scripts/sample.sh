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
export SOURCE_DATE_EPOCH=1779148800 # 2026-05-19, after the last session
export TZ=UTC
memoryfs init .
memoryfs --store . organize --no-model transcripts
