"""Two topics become one by moving their memories: whatever else their front matter says stays where it stands."""

from __future__ import annotations

from memoryfs import MemoryStore

KEPT = "---\ntitle: Gateway\nowner: kim  # ask first\nranks: {b: 2, a: '007'}\n---\n# Gateway\n\n## Facts\n- Listens on port 7443\n"
GOING = "---\ntitle: Edge gateway\ntags: [b]\nlang: no\n---\n# Edge gateway\n\n## Facts\n- Restarts on Sundays\n"


def test_rt_05_merging_keeps_unknown_keys_and_comments_of_both_files(tmp_path):
    store = MemoryStore.init(tmp_path / "s")
    folder = store.root / "infrastructure"
    folder.mkdir()
    (folder / "gateway.md").write_text(KEPT, encoding="utf-8")
    (folder / "edge.md").write_text(GOING, encoding="utf-8")
    moved = next(m for m in store.list() if "Sundays" in m.summary)
    store.move(moved.id, "infrastructure/gateway.md")
    kept, going = (folder / "gateway.md").read_text(), (folder / "edge.md").read_text()
    head = KEPT.split("---\n")[1]
    assert kept.startswith(f"---\n{head}---\n") and "Restarts on Sundays" in kept
    for line in ("title: Edge gateway", "tags: [b]", "lang: no"):
        assert f"\n{line}\n" in going
    assert "Sundays" not in going
    assert {m.summary for m in store.list(topic="infrastructure/gateway.md")} == {"Listens on port 7443", "Restarts on Sundays"}
