"""Stores with a few topics, and a hook run as a harness runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from memoryfs import MemoryStore

SCHOOL = """---
title: School auth
tags: [auth]
created_at: 2026-05-12
updated_at: 2026-05-14
---
# School auth

## Facts
- teacher.example.ed.jp is an allowed mail domain of the school app. ^m-7c01d2
- The session cookie lives 14 days. ^m-52e9f8

## Tasks
- [ ] Add a test for sub-domains of the validator. ^m-90aa17
"""
TOOLING = """---
title: Tooling
created_at: 2026-05-10
updated_at: 2026-05-10
---
# Tooling

## Instructions
- Use pnpm, not npm. ^m-a1b2c3
"""


def make_store(root: Path, **topics: str) -> Path:
    (root / "projects").mkdir(parents=True)
    (root / "preferences").mkdir()
    for name, text in (topics or {"projects/school-auth": SCHOOL, "preferences/tooling": TOOLING}).items():
        path = root / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    MemoryStore.init(root)
    return root


def hook_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "memoryfs", "hook", *arguments]


def run_hook(event: str, data: object, *, env: dict[str, str] | None = None, cwd: str | Path = "/", timeout: float = 20):
    """(exit code, stdout bytes, stderr bytes) of one hook call."""
    payload = data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")
    done = subprocess.run(
        hook_command(event), input=payload, capture_output=True, cwd=cwd, env={**os.environ, **(env or {})}, timeout=timeout,
    )
    return done.returncode, done.stdout, done.stderr


def context(stdout: bytes) -> str:
    """The text given to the session; "" if none."""
    return json.loads(stdout)["hookSpecificOutput"]["additionalContext"] if stdout else ""
