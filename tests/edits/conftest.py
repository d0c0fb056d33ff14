"""A store whose files a test edits as a person would, with a clock that stands still."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits import AdoptReport, adopt, load_topics
from memoryfs.edits.merged import proposal_id
from memoryfs.edits.merging import propose
from memoryfs.ledger import Known
from memoryfs.model import Memory

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)

SCHOOL = """---
title: School auth
status: active
tags: [auth]
query_hints: [validateEmail]
---
# School auth

Prose that a person wrote.

## Facts
- teacher.example.ed.jp is allowed. [^3f9a21:1-2] ^m-000001
- The port is 8080. [^3f9a21:5] ^m-000002
- Cookies live 7 days. [^3f9a21:3] ^m-000003
- Cookies live 14 days. [^3f9a21:9] ^m-000004

## Tasks
- [ ] Add a test for sub-domains. [^3f9a21:6] ^m-000005

## Needs review
- [ ] [[#^m-000003]] says 7 days (2026-05-12); [[#^m-000004]] says 14 days (2026-05-14). ^r-000001

[^3f9a21:1-2]: 2026-05-12; "ok"
[^3f9a21:5]: 2026-05-12
[^3f9a21:3]: 2026-05-12
[^3f9a21:9]: 2026-05-14
[^3f9a21:6]: 2026-05-12
"""

KEEP, GO = "infrastructure/gateway.md", "infrastructure/edge.md"
ID = proposal_id(KEEP, GO)
KEPT = """---
title: Gateway
owner: kim  # ask first
ranks: {b: 2, a: '007'}
---
# Gateway

## Facts
- Listens on port 7443. [^3f9a21:1] ^m-000001

[^3f9a21:1]: 2026-05-12
"""
GOING = """---
title: Edge gateway
tags: [b]
lang: no
---
# Edge gateway

## Facts
- Restarts on Sundays. [^3f9a21:2] ^m-000002
- Holds 20 connections. [^3f9a21:3] ^m-000003
- Holds 30 connections. [^3f9a21:4] ^m-000004
- Typed by hand

## Needs review
- [ ] [[#^m-000003]] says 20; [[#^m-000004]] says 30. ^r-000001

## History
- ~~Restarts on Mondays.~~ superseded by [[#^m-000002]] on 2026-05-12 [^3f9a21:2] ^m-000005

[^3f9a21:2]: 2026-05-12; "on Sundays"
[^3f9a21:3]: 2026-05-12
[^3f9a21:4]: 2026-05-13
"""


@dataclass
class Store:
    root: Path
    config: Config

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode("utf-8", "surrogateescape"))

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8")

    def change(self, path: str, old: str, new: str) -> None:
        text = self.text(path)
        assert old in text, old
        self.write(path, text.replace(old, new))

    def adopt(self, **more) -> AdoptReport:
        return adopt(self.root, self.config, now=NOW, **more)

    def done(self, **more) -> list[tuple[str, str, str]]:
        return [(c.action, c.id, c.topic) for c in self.adopt(**more).changes]

    def state(self) -> dict[str, Known]:
        return ledger.state(ledger.read(self.root)[0])

    def entries(self, id: str) -> list[tuple[str, str]]:
        return [(e.actor, e.action) for e in ledger.read(self.root)[0] if e.id == id]

    def memory(self, id: str) -> Memory:
        (found,) = [m for t in load_topics(self.root, self.config).values() for m in t.memories if m.id == id]
        return found

    def bytes(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*.md"))}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store", Config())


@pytest.fixture
def school(store: Store) -> Store:
    """A store with one topic that the ledger knows."""
    store.write("projects/school.md", SCHOOL)
    store.adopt()
    return store


@pytest.fixture
def pair(store: Store) -> Store:
    """A store with two topics that a run proposed to merge."""
    store.write(KEEP, KEPT)
    store.write(GO, GOING)
    store.write("notes/other.md", "# Other\n\nAs in [[infrastructure/edge#^m-000002]].\n\n## Needs review\n"
                "- [ ] [[infrastructure/edge#^m-000002]] or [[infrastructure/gateway#^m-000001]]? ^r-000002\n")
    store.adopt()
    propose(store.root, store.config, KEEP, GO, "both speak of gateway", now=NOW)
    assert store.done() == []
    return store
