"""ORG-13 through a whole run: made-up secrets said, typed, printed and failed on, and not a byte of them on the disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from organizer_kit import NOW, talk
from test_redact import seeded

from memoryfs.config import Config
from organizer import pipeline

PLACES = ("user", "assistant", "call", "tool")


def written(root: Path) -> dict[str, bytes]:
    """Every file of the store, index and write-ahead log too, in lower case as the index keeps words; and all names."""
    found = {str(p.relative_to(root)): p.read_bytes().lower() for p in root.rglob("*") if p.is_file()}
    return {**found, "names": "\n".join(found).lower().encode()}


def traces(root: Path, secrets: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """(name of the secret, file) of every secret of which a file holds the whole or twelve characters in a row."""
    files = written(root)
    left = []
    for name, secret in secrets:
        size = min(12, len(secret))
        pieces = {secret[i : i + size].lower().encode() for i in range(0, len(secret) - size + 1, size)}
        left += [(name, file) for file, data in files.items() if any(piece in data for piece in pieces)]
    return left


def sessions(folder: Path) -> list[tuple[str, str]]:
    """One session for each place a secret can stand in, all seeded secrets in each."""
    rows = [(name, text, secret) for name, text, secret in seeded() if len(set(secret)) > 3]
    for place in PLACES:
        turns = [("user", "We decided that the gateway listens on port 7443. Always use pnpm, never npm.")]
        for _, text, _ in rows:
            if place in ("call", "tool"):
                turns += [("call", text if place == "call" else "env"), ("tool", "ok" if place == "call" else text)]
            else:
                turns.append((place, f"Remember for the deployment of this project:\n{text}\nThe setting belongs into the vault."))
        talk(folder / f"{place}.jsonl", f"session-{place}", turns)
    return [(name, secret) for name, _, secret in rows]


def test_org_13_of_sixty_kinds_of_secrets_in_four_places_not_a_byte_is_in_the_store_after_a_run(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    secrets = sessions(tmp_path / "in")
    assert len(secrets) >= 60
    assert traces(tmp_path / "in", secrets), "the search finds what is there"
    report = pipeline.run(root, paths=[tmp_path / "in"], config=Config(), now=NOW)
    assert report.imported["redactions"] >= len(secrets) and not report.problems
    assert [s.status for s in report.sessions] == ["done"] * len(PLACES)
    reader = apsw.Connection(str(root / ".memoryfs" / "index.db"))
    reader.execute("BEGIN; SELECT count(*) FROM files").fetchall()  # a reader keeps the write-ahead log on the disk
    extra = talk(tmp_path / "in" / "more.jsonl", "session-more", [("user", f"And then: {seeded()[0][1]}")])
    pipeline.run(root, paths=[extra], config=Config(), now=NOW)
    assert (root / ".memoryfs" / "index.db-wal").stat().st_size > 0
    try:
        assert traces(root, secrets) == []
    finally:
        reader.close()
    assert "7443" in "".join(p.read_text() for p in root.rglob("*.md"))


def test_org_13_a_secret_in_an_error_is_not_kept_in_reports_or_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "store"
    root.mkdir()
    name, text, secret = seeded()[1]
    path = talk(tmp_path / "in" / "a.jsonl", "session-a", [("user", "The gateway listens on port 7443.")])

    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"the server answered: 401 for {text}")

    monkeypatch.setattr(pipeline, "organize_session", fails)
    report = pipeline.run(root, paths=[path], config=Config(), now=NOW)
    assert report.sessions[0].status == "failed" and "401" in report.sessions[0].message
    assert traces(root, [(name, secret)]) == [] and secret not in json.dumps(report.to_dict())


def test_org_13_a_secret_in_the_working_directory_or_the_session_id_is_not_kept(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    name, text, secret = seeded()[1]
    path = talk(tmp_path / "in" / "a.jsonl", f"s-{text}", [("user", "We decided that the gateway listens on port 7443.")],
                cwd=f"/src/{text}")
    pipeline.run(root, paths=[path], config=Config(), now=NOW)
    assert traces(root, [(name, secret)]) == []
