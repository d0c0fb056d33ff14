"""What the user takes back in a few words: it replaces what is remembered, though by itself it weighs too little to be kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from organizer_kit import NOW, transcript

from memoryfs import MemoryStore
from memoryfs.config import Config
from organizer import pipeline

CASES = {
    "ja": ("バックアップは必ず nas.example.jp に保存すること。", "もう nas.example.jp には保存しないで。"),
    "en": ("Always publish the nightly builds to builds.example.org, please remember that.",
           "Never publish the nightly builds to builds.example.org any more."),
    "ko": ("백업은 항상 nas.example.kr 에 저장해 주세요.", "이제 nas.example.kr 에 저장하지 마세요."),
    "zh": ("我们决定：夜间备份必须始终保存到 nas.example.cn，请记住这条规则。", "以后夜间备份不要再保存到 nas.example.cn。"),
}
ASIDE = {
    "ja": "もう寝ないで頑張ります。",
    "en": "Not now, let me think about builds for a minute.",
    "ko": "이제 잠깐 쉬겠습니다.",
    "zh": "以后再说吧，先不要想。",
}


def organized(root: Path, sessions: dict[str, str]) -> MemoryStore:
    for day, text in sessions.items():
        transcript(root / "t" / f"{day}.jsonl", day, day, [("user", text), ("assistant", "OK.")])
    store = MemoryStore.init(root / "s")
    pipeline.run(store.root, paths=[root / "t"], config=Config(), now=NOW)
    return store


@pytest.mark.parametrize("language", CASES)
def test_what_is_taken_back_replaces_what_was_said(tmp_path: Path, language: str) -> None:
    old, new = CASES[language]
    store = organized(tmp_path, {"2026-05-12": old, "2026-05-14": new})
    everything = {m.summary: m for m in store.list(status="all")}
    assert everything[new].status == "active"
    assert everything[old].status == "superseded" and everything[old].superseded_by == everything[new].id


@pytest.mark.parametrize("language", CASES)
def test_what_replaces_nothing_is_not_kept_for_it(tmp_path: Path, language: str) -> None:
    old, _ = CASES[language]
    store = organized(tmp_path, {"2026-05-12": old, "2026-05-14": ASIDE[language]})
    assert [m.summary for m in store.list() if m.topic != "MEMORY.md"] == [old]
