"""What the pages show, without a browser: search and its reasons, sources, reviews, timelines, the overview."""

from __future__ import annotations

import json
import re

import pytest

from memoryfs import ledger, thread
from memoryfs.web import charts, facts, markdown


def _thread(site) -> str:
    return thread.list_threads(site.store.root)[0]


def test_search_shows_memories_evidence_and_why(site):
    page = site.get("/search?q=gateway+port").text
    assert "The gateway listens on port 7443." in page
    assert "words in common" in page and "Why here" in page
    link = re.search(r'href="(/threads/[^"]+#evidence)"', page)[1].replace("&amp;", "&")
    shown = site.get(link).text
    assert re.search(r'<mark id="evidence"[^>]*>[^<]*7443', shown)


def test_the_parts_of_a_score_add_up(site):
    crumb = site.store.recall("gateway port", vectors=False).memories[0]
    from memoryfs.web.find import MEANING, why_rows

    rows = why_rows(crumb.why)
    assert sum(float(value) for _, _, value in rows) == pytest.approx(crumb.score, abs=0.01)
    assert all(name in MEANING for name, _, _ in rows)


def test_search_in_japanese_and_korean(site):
    assert "14 日にする" in site.get("/search", params={"q": "ログイン"}).text
    assert "쿠키는 학교 계정에만 쓴다." in site.get("/search", params={"q": "학교 계정"}).text


def test_search_that_finds_nothing_says_so(site):
    assert "Nothing here answers it." in site.get("/search?q=zeppelin+xylophone").text


def test_superseded_memories_are_found_when_asked_for(site):
    site.post("/review/r-ccc111", choice="accept")
    assert "m-bbb111" not in site.get("/search?q=cookie+lives+7+days").text
    assert "m-bbb111" in site.get("/search?q=cookie+lives+7+days&status=all").text


@pytest.mark.parametrize("query", ['" OR 1', "a AND (b", "*", "' --", "NEAR(", "\u0000x", "😀", "a" * 5000])
def test_odd_questions_are_questions(site, query):
    assert site.get("/search", params={"q": query}).status_code in (200, 400)


def test_a_source_label_leads_to_its_events(site):
    short = _thread(site).rpartition("-")[2]
    answer = site.get(f"/source/{short}:2?topic=projects/cookies.md")
    assert answer.status_code == 200 and "from=2&to=2" in str(answer.url)
    assert re.search(r'class="event user wanted"[^>]*id="evidence"', answer.text)
    assert site.get("/source/ffffff:1").status_code == 404
    assert site.get("/source/nonsense").status_code == 404


def test_a_long_thread_is_shown_in_windows(site, tmp_path):
    rows = [{"role": "user", "content": f"line {i}", "time": f"2026-04-01T09:{i % 60:02}:00Z"} for i in range(90)]
    talk = tmp_path / "long.jsonl"
    talk.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    site.store.import_transcripts([talk])
    name = next(n for n in thread.list_threads(site.store.root) if n.startswith("2026-04-01"))
    url, seen = f"/threads/{name}", set()
    for _ in range(20):
        page = site.get(url).text
        seen |= {int(n) for n in re.findall(r"event (\d+) ·", page)}
        later = re.search(r'href="([^"]+)" rel="next"', page)
        if not later:
            break
        url = later[1].replace("&amp;", "&")
    assert seen == set(range(90))


def test_a_mark_outside_the_text_is_no_mark(site):
    name = _thread(site)
    for mark in ("5-99999", "9-2", "x", "-1-3", ""):
        page = site.get(f"/threads/{name}?at=0&mark={mark}").text
        assert "<mark" not in page and "port 7443" in page


def test_a_memory_shows_its_source_in_context_and_its_history(site):
    page = site.get("/memory/m-aaa111").text
    assert "<mark>The gateway listens on port 7443.</mark>" in page
    assert "adopt" in page
    assert site.get("/memory/m-ffffff").status_code == 404


def test_a_memory_is_judged_and_the_judgement_taken_back(site):
    page = site.post("/memory/m-aaa111/judge", verdict="wrong").text
    assert "Recorded: wrong." in page and "Take that back" in page
    assert ledger.judgements(ledger.read(site.store.root)[0]) == {"m-aaa111": ("wrong",)}
    page = site.post("/memory/m-aaa111/judge", verdict="undo").text
    assert "wrong, taken back" in page and "Take that back" not in page
    assert not ledger.judgements(ledger.read(site.store.root)[0])
    assert site.post("/memory/m-aaa111/judge", verdict="superb").status_code == 400


def test_forgetting_takes_the_memory_out_and_recall_forgets_it(site):
    answer = site.post("/memory/m-aaa111/forget")
    assert answer.status_code == 200 and "Forgotten" in answer.text
    assert "m-aaa111" not in site.file("projects/gateway.md").read_text(encoding="utf-8")
    assert not any(c.memory.id == "m-aaa111" for c in site.store.recall("gateway port").memories)
    assert "It stands in no file any more" in site.get("/memory/m-aaa111").text


def test_a_topic_is_rendered_with_badges_and_links(site):
    page = site.get("/topics/projects/cookies.md").text
    assert '<span class="badge conflicted">conflicted</span>' in page and "クッキー 쿠키" in page
    assert 'href="/memory/m-bbb111"' in page and 'href="/review#r-ccc111"' in page
    gateway = site.get("/topics/projects/gateway.md").text
    assert 'href="/topics/projects/cookies.md"' in gateway and 'id="m-aaa111"' in gateway


@pytest.mark.parametrize(("choice", "kept", "gone"), [("accept", "m-bbb222", "m-bbb111"), ("reject", "m-bbb111", "m-bbb222")])
def test_a_contradiction_is_settled_and_taken_back(site, choice, kept, gone):
    before = site.file("projects/cookies.md").read_bytes()
    page = site.get("/review").text
    assert page.index("The cookie lives 7 days.") < page.index("ログインの Cookie は 14 日にする。")
    assert site.post("/review/r-ccc111", choice=choice).status_code == 200
    memories = {m.id: m for m in site.store.list()}
    assert memories[kept].status == "active" and memories[gone].status == "superseded"
    assert "Nothing contradicts itself." in site.get("/review").text
    site.post("/review/r-ccc111", choice="undo")
    assert site.file("projects/cookies.md").read_bytes() == before


def test_both_statements_can_stay(site):
    site.post("/review/r-ccc111", choice="keep-both")
    assert {m.status for m in site.store.list(topic="projects/cookies")} == {"active"}


@pytest.mark.parametrize("choice", ["", "delete", "accept; rm"])
def test_an_unknown_choice_changes_nothing(site, choice):
    before = site.file("projects/cookies.md").read_bytes()
    assert site.post("/review/r-ccc111", choice=choice).status_code == 400
    assert site.post("/review/r-999999", choice="accept").status_code == 404
    assert site.file("projects/cookies.md").read_bytes() == before


def test_the_timeline_goes_by_when_things_were_said(site):
    site.post("/review/r-ccc111", choice="accept")
    page = site.get("/timeline/projects/cookies.md").text
    assert page.index("2026-03-01") < page.index("2026-03-02") and "replaced by" in page
    moments = facts.timeline(ledger.read(site.store.root)[0], "projects/cookies.md",
                             site.store.topics()["projects/cookies.md"])
    assert [m.said for m in moments] == sorted(m.said for m in moments)
    assert any(m.action == "supersede" and m.replaced_by == "m-bbb222" for m in moments)


def test_the_overview_counts(site):
    page = site.get("/").text
    assert re.search(r'<dt>Topics</dt><dd><a href="/topics">3</a>', page)
    assert re.search(r'<dt>To review</dt><dd><a href="/review">1</a>', page)
    assert "not asked yet" in page
    site.get("/search?q=port")
    assert re.search(r"\d+ ms, of 1", site.get("/").text)


def test_the_overview_shows_runs_and_survives_a_broken_report(site):
    from memoryfs.runs import REPORTS

    folder = site.store.root / ".memoryfs" / REPORTS
    folder.mkdir(parents=True)
    (folder / "20260519-090000.json").write_text(json.dumps({"started": "2026-05-19T09:00:00", "seconds": 2.5, "counts": {"add": 7}}))
    (folder / "20260520-090000.json").write_text("{torn")
    page = site.get("/").text
    assert "7 add" in page and "rules only" in page


def test_a_broken_file_is_named_and_not_hidden(site):
    site.file("projects/broken.md").write_text("---\ntitle: [\n---\n# Broken\n", encoding="utf-8")
    assert "damaged" in site.get("/topics").text
    assert "projects/broken.md" in site.get("/").text
    assert site.get("/topics/projects/broken.md").status_code == 200


def test_what_an_editor_saves_is_seen_at_once(site, monkeypatch):
    import os

    path = site.file("projects/gateway.md")
    for n in range(4):
        path.write_text(f"# Gateway\n\nround {n}\n", encoding="utf-8")
        assert f"round {n}" in site.get("/topics/projects/gateway.md").text
    for file in site.store.root.rglob("*.md"):
        os.utime(file, (1, 1))
    counted = []
    parse = site.store.topics
    monkeypatch.setattr(site.store, "topics", lambda: counted.append(1) or parse())
    import memoryfs.files

    monkeypatch.setattr(memoryfs.files, "TICK_NS", 0)  # as if the files had been at rest for some seconds
    for _ in range(3):
        site.get("/topics")
    assert len(counted) == 1, "files at rest are read once"
    path.write_text("# Gateway\n\nround 9 \n", encoding="utf-8")
    assert "round 9" in site.get("/topics/projects/gateway.md").text


def test_an_empty_store_has_all_its_pages(tmp_path):
    from web_kit import client_for

    from memoryfs import MemoryStore
    from memoryfs.web.guard import Keys

    keys = Keys(8123)
    client = client_for(MemoryStore.init(tmp_path / "empty"), keys)
    client.get(f"/?token={keys.token}")
    for url in ("/", "/search?q=x", "/topics", "/review", "/graph", "/threads"):
        assert client.get(url).status_code == 200, url


PAGES = ("/topics/projects/nasty.md", "/edit/projects/nasty.md", "/timeline/projects/nasty.md", "/topics", "/search?q=pwned", "/graph", "/",
         "/memory/m-ddd111", "/memory/m-ddd333", "/review")


@pytest.mark.parametrize("url", PAGES)
def test_nothing_that_a_note_says_is_markup(site, url):
    page = site.get(url).text
    assert re.findall(r"<script\b[^>]*>", page) == ['<script src="/static/memoryfs.js" defer>']
    assert not re.search(r"<(?:img|iframe|object|embed|base|style)\b", page, re.I)
    tags = re.findall(r"<[a-zA-Z][^<>]*>", page)
    assert not [t for t in tags if re.search(r"\son\w+\s*=", re.sub(r'"[^"]*"', '""', t), re.I)]
    assert not re.search(r'(?:href|src|action)="\s*(?:javascript|data|vbscript):', page, re.I)
    assert 'style="' not in page and "example.invalid/pixel" not in "".join(re.findall(r'src="[^"]*"', page))


def test_what_a_transcript_says_is_text(site):
    page = site.get(f"/threads/{_thread(site)}").text
    assert "&lt;script&gt;alert(&#39;talk&#39;)&lt;/script&gt;" in page


def test_what_a_question_says_is_text(site):
    page = site.get("/search", params={"q": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("url", [
    "javascript:alert(1)", "JAVASCRIPT:alert(1)", "java\tscript:alert(1)", "java%0ascript:alert(1)", " javascript:alert(1)", "\x01javascript:x",
    "data:text/html,x", "vbscript:x", "file:///etc/passwd", "//evil.example", "/\\evil.example", "blob:x", "http://[bad",
])
def test_a_dangerous_link_is_no_link(url):
    assert not markdown.safe_link(url)


@pytest.mark.parametrize("url", ["https://example.org/a?b=c", "http://a.b", "mailto:a@b.c", "other.md", "../x/y.md#z", "#part", "日本語.md"])
def test_a_plain_link_stays_one(url):
    assert markdown.safe_link(url)


def test_lone_surrogates_and_bytes_that_are_not_utf8_are_shown(site):
    site.file("projects/odd.md").write_bytes(b"# Odd\n\n## Facts\n- caf\xe9 \x00 end\n")
    assert site.get("/topics/projects/odd.md").status_code == 200
    assert "would damage" in site.get("/edit/projects/odd.md").text


def test_deep_nesting_does_not_end_the_server(site):
    site.file("projects/deep.md").write_text(">" * 5000 + " x\n" + "- " * 3000 + "y\n" + "[" * 5000 + "\n" + "*" * 5000 + "\n", encoding="utf-8")
    assert site.get("/topics/projects/deep.md").status_code == 200


def test_charts_of_nothing_and_of_one_day():
    assert charts.growth({}, "x") == "" and charts.spans([], "2026-01-01", "x") == ""
    assert "3 from 2026-01-01 to 2026-01-01" in charts.growth({"2026-01-01": 3, "bad": 2}, "x")
    svg = charts.spans([("<b>", "2026-01-01", None, "active")], "2026-02-01", "a")
    assert "&lt;b&gt;" in svg and "2026-02-01" in svg


def _wait_in_inbox(site, text: str) -> str:
    """The id of a statement put into the inbox, as a run does."""
    from memoryfs import inbox
    from memoryfs.inbox import Waiting
    from memoryfs.model import SourceRange

    item = Waiting("m-fff111", text, "fact", "2026-03-01", (SourceRange(_thread(site), 0, 0),), details={"quote": "The gateway"})
    ledger.append(site.store.root, [inbox.came(item, time="2026-03-03T09:00:00+00:00", why="worth 0.4")])
    inbox.edit(site.store.root, lambda now: inbox.edited(now, added=[item]))
    return item.id


def test_the_inbox_is_shown_and_answered(site):
    id = _wait_in_inbox(site, "The gateway may move <b>soon</b>.")
    page = site.get("/review").text
    assert "The gateway may move &lt;b&gt;soon&lt;/b&gt;." in page
    assert re.search(r'<dt>Inbox</dt><dd><a href="/review#inbox">1</a>', site.get("/").text)
    file = site.store.root / "inbox.md"
    before = file.read_bytes()
    assert site.post(f"/review/{id}", choice="accept").status_code == 200
    assert "- [x] The gateway may move" in file.read_text(encoding="utf-8")
    assert "The gateway may move" not in site.get("/review").text
    site.post(f"/review/{id}", choice="undo")
    assert file.read_bytes() == before
    site.post(f"/review/{id}", choice="reject")
    assert "gateway may move" not in file.read_text(encoding="utf-8")


def test_a_contradiction_is_settled_in_other_words(site):
    assert site.post("/review/r-ccc111", choice="edit", text="The cookie lives 10 days.").status_code == 200
    assert "The cookie lives 10 days." in [m.summary for m in site.store.list(status="active")]
    assert site.post("/review/r-ccc111", choice="edit", text=" ").status_code in (400, 404)


def test_the_overview_shows_how_recall_measured_over_time(site):
    assert "Not measured yet" in site.get("/").text
    path = site.store.root / ".memoryfs" / "evaluations.jsonl"
    path.write_text('{"time": "2026-05-01T09:00:00+00:00", "questions": 40, "source_hit_near@5": 0.825}\n', encoding="utf-8")
    page = site.get("/").text
    assert "2026-05-01 09:00" in page and "0.825" in page and "<td>40</td>" in page
