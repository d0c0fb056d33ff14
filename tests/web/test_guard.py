"""Who may ask, and with what: every door by itself."""

from __future__ import annotations

import socket

import pytest
from web_kit import PORT

OURS = f"http://127.0.0.1:{PORT}"
FOREIGN = ["http://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1:9999", "null", "http://localhost", f"{OURS}.evil.example"]


def test_without_the_token_nothing_is_shown(stranger):
    client, _ = stranger
    for url in ("/", "/search?q=port", "/topics/projects/gateway.md", "/static/style.css", "/?token=", "/?token=wrong", "/?token=%ff", "/?" + "a=1&" * 50, "/nothing"):
        answer = client.get(url)
        assert answer.status_code == 403, url
        assert "7443" not in answer.text and "set-cookie" not in answer.headers


def test_the_token_opens_once_and_leaves_the_address(stranger):
    client, keys = stranger
    answer = client.get(f"/?token={keys.token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and keys.token not in cookie
    assert client.get("/").status_code == 200


def test_token_and_cookie_of_another_run_do_not_open(stranger, store):
    from memoryfs.web.guard import Keys

    client, keys = stranger
    other = Keys(PORT)
    assert other.token != keys.token and other.session != keys.session
    assert client.get(f"/?token={other.token}").status_code == 403
    client.cookies.set(keys.cookie, other.session)
    assert client.get("/").status_code == 403


def test_token_in_another_path_does_not_open(stranger):
    client, keys = stranger
    assert client.get(f"/topics?token={keys.token}").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "localhost:9999", "127.0.0.1:8123.evil.example", ""])
def test_a_name_that_dns_points_here_is_refused(site, host):
    for url in ("/", f"/?token={site.keys.token}"):
        answer = site.get(url, headers={"host": host})
        assert answer.status_code == 421 and "set-cookie" not in answer.headers


def test_localhost_is_ours_too(site):
    assert site.get("/", headers={"host": f"localhost:{PORT}"}).status_code == 200


@pytest.mark.parametrize("origin", FOREIGN)
def test_another_origin_is_refused(site, origin):
    before = site.file("projects/cookies.md").read_bytes()
    assert site.get("/search?q=port", headers={"origin": origin}).status_code == 403
    answer = site.post("/review/r-ccc111", {"origin": origin}, choice="accept")
    assert answer.status_code == 403
    assert site.file("projects/cookies.md").read_bytes() == before


@pytest.mark.parametrize("where", ["cross-site", "same-site", "none", None])
def test_a_form_that_does_not_say_it_is_ours_is_refused(site, where):
    headers = {"sec-fetch-site": where} if where else {}
    assert site.post("/review/r-ccc111", headers, choice="accept").status_code == 403


def test_a_page_on_another_port_cannot_load_ours(site):
    headers = {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}
    assert site.get("/static/memoryfs.js", headers=headers).status_code == 403
    assert site.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "é", "0" * 64])
def test_a_form_needs_its_own_token(site, token):
    answer = site.post("/review/r-ccc111", csrf=token, choice="accept")
    assert answer.status_code == 403
    assert "r-ccc111" in site.file("projects/cookies.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(site, method):
    assert site.client.request(method, "/").status_code == 405


def test_nothing_is_changed_by_looking(site):
    before = {p: p.read_bytes() for p in site.store.root.rglob("*.md")} | {p: p.read_bytes() for p in site.store.root.glob("ledger.jsonl")}
    for url in ("/review/r-ccc111", "/memory/m-aaa111/forget", "/check"):
        assert site.get(url).status_code == 405 or site.get(url).status_code == 404, url
    for url in ("/", "/search?q=port", "/topics", "/topics/projects/gateway.md", "/edit/projects/gateway.md", "/graph", "/review"):
        assert site.get(url).status_code == 200
    assert {p: p.read_bytes() for p in before} == before


def test_every_answer_is_locked_down(site, stranger):
    answers = [site.get(url) for url in ("/", "/topics/projects/nasty.md", "/static/style.css", "/nothing")]
    answers += [stranger[0].get("/"), site.get("/", headers={"host": "evil.example"})]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_a_huge_form_is_refused(site):
    from memoryfs.web.guard import MAX_BODY

    assert site.post("/edit/projects/gateway.md", text="x" * (MAX_BODY + 1), digest="").status_code == 413


def test_a_form_of_another_kind_has_no_fields(site):
    answer = site.client.post("/review/r-ccc111", json={"csrf": site.keys.form, "choice": "accept"}, headers={"origin": OURS})
    assert answer.status_code == 403


def test_only_the_loopback_address_is_bound():
    from memoryfs.web import app

    door = app.listen()
    try:
        assert door.getsockname()[0] == "127.0.0.1" and door.family == socket.AF_INET
    finally:
        door.close()


def test_a_taken_port_is_named():
    from memoryfs.errors import MemoryfsError
    from memoryfs.web import app

    door = app.listen()
    door.listen()
    try:
        with pytest.raises(MemoryfsError, match=str(door.getsockname()[1])):
            app.listen(door.getsockname()[1])
    finally:
        door.close()


TRAVERSAL = [
    "../secret.md", "..%2fsecret.md", "%2e%2e/secret.md", "projects/../../secret.md", "projects/%2e%2e/%2e%2e/secret.md", "/etc/passwd",
    "%2fetc%2fpasswd", "..\\secret.md", "ledger.jsonl", "MEMORY.md", "threads", ".memoryfs/index.db", "projects/gateway.md%00", "projects", "",
]


@pytest.mark.parametrize("path", TRAVERSAL)
def test_no_path_leads_out_of_the_topics(site, path):
    (site.store.root.parent / "secret.md").write_text("# secret words\n", encoding="utf-8")
    for page in ("topics", "edit", "timeline"):
        answer = site.get(f"/{page}/{path}", follow_redirects=False)
        assert answer.status_code in (404, 307), (page, path)
        assert "secret words" not in answer.text
    answer = site.post(f"/edit/{path}", text="x", digest="")
    assert answer.status_code in (404, 405)
    assert site.post("/check", path=path, text="x").status_code == 404


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "%2e%2e%2fapp.py", "style.css%00", "x"])
def test_static_serves_its_three_files_only(site, name):
    answer = site.get(f"/static/{name}")
    assert answer.status_code == 404 and "import" not in answer.text


@pytest.mark.parametrize("name", ["%2e%2e", "%2e%2e%2f%2e%2e%2fledger.jsonl", "2026-03-01-zzzzzz", "x"])
def test_a_thread_is_named_not_a_path(site, name):
    assert site.get(f"/threads/{name}").status_code == 404
