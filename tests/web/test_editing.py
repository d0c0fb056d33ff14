"""The editor: same bytes for the same text, no lost save, hand edits understood."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryfs import ledger
from memoryfs.web.editing import form_text, merged

TEXTS = st.lists(st.tuples(st.sampled_from(["", "a", "- b ^m-1", "日本", "x\u2028y", "\x0c", "\x85"]), st.sampled_from(["\n", "\r\n", "\r"])), max_size=8)


@given(TEXTS, st.sampled_from(["", "end"]), st.booleans())
def test_a_text_saved_unchanged_has_the_same_bytes(lines, last, mark):
    from memoryfs.topic import parse

    text = ("\ufeff" if mark else "") + "".join(line + end for line, end in lines) + last
    topic = parse(text.encode(), "x.md")
    assert merged(topic.text, form_text(topic).replace("\n", "\r\n")) == topic.text


def test_new_lines_take_the_usual_line_end():
    assert merged("a\r\nb\r\nc\n", "a\nnew\nb\nc\n") == "a\r\nnew\r\nb\r\nc\n"
    assert merged("", "a\r\nb") == "a\nb"
    assert merged("a\n", "") == ""
    assert merged("a\r\nb", "a\nb\n") == "a\r\nb\r\n"


def _form(page: str) -> tuple[str, str]:
    """(digest, text) of the editor, as a browser would read them."""
    text = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.S)[1]
    return re.search(r'name="digest" value="([^"]*)"', page)[1], html.unescape(text)


@pytest.mark.parametrize("data", [
    b"# T\r\n\r\n## Facts\r\n- one ^m-eee111\r\n", b"\xef\xbb\xbf# T\n\n- x\n", b"\n\n# leading blank lines\n", b"# no end", b"# mixed\r\nx\ny\rz\n",
    "# T\n\n&amp; <b> \" ' </textarea> 日本語 한국어\n".encode(), b"",
])
def test_a_form_saved_as_it_came_leaves_the_file(site, data):
    path = site.file("projects/same.md")
    path.write_bytes(data)
    digest, text = _form(site.get("/edit/projects/same.md").text)
    from memoryfs.textfile import digest_of
    assert digest == digest_of(data)
    answer = site.post("/edit/projects/same.md", text=text.replace("\n", "\r\n"), digest=digest, do="save")
    assert answer.status_code == 200
    # Adoption may give bullets of a person their ids; everything else stays.
    assert [line for line in path.read_bytes().splitlines(True) if line in data.splitlines(True)] == \
        [line for line in data.splitlines(True) if line in path.read_bytes().splitlines(True)]
    if b"- x" not in data:
        assert path.read_bytes() == data


def test_an_edit_is_saved_understood_and_recalled(site):
    digest, text = _form(site.get("/edit/projects/gateway.md").text)
    page = site.post("/edit/projects/gateway.md", text=text.replace("7443.", "7555.", 1), digest=digest, do="save")
    assert page.status_code == 200 and "Understood: 1 changed" in page.text
    found = site.store.recall("gateway port").memories[0].memory
    assert found.id == "m-aaa111" and "7555" in found.summary and found.stated_by == "person"
    assert any(e.action == "edit" and e.id == "m-aaa111" for e in ledger.read(site.store.root)[0])


def test_a_deleted_line_is_a_memory_withdrawn_and_a_new_one_adopted(site):
    digest, text = _form(site.get("/edit/projects/gateway.md").text)
    new = re.sub(r"- The gateway.*\n", "- The gateway speaks TLS 1.3.\n", text)
    site.post("/edit/projects/gateway.md", text=new, digest=digest, do="save")
    memories = site.store.list(topic="projects/gateway")
    assert [m.summary for m in memories] == ["The gateway speaks TLS 1.3."]
    assert memories[0].metadata.get("adopted", True)
    assert ledger.state(ledger.read(site.store.root)[0])["m-aaa111"].status == "withdrawn"


def test_a_save_over_someone_elses_is_refused_and_loses_nothing(site):
    digest, text = _form(site.get("/edit/projects/gateway.md").text)
    path = site.file("projects/gateway.md")
    theirs = path.read_bytes() + b"\nWritten meanwhile.\n"
    path.write_bytes(theirs)
    answer = site.post("/edit/projects/gateway.md", text=text + "\nMine.\n", digest=digest, do="save")
    assert answer.status_code == 409 and path.read_bytes() == theirs
    assert "Mine." in answer.text and "Written meanwhile." in answer.text
    again, mine = _form(answer.text)
    assert site.post("/edit/projects/gateway.md", text=mine, digest=again, do="save").status_code == 200
    assert b"Mine." in path.read_bytes()


def test_text_that_would_damage_the_file_is_not_saved_unless_wanted(site):
    digest, text = _form(site.get("/edit/projects/gateway.md").text)
    path, before = site.file("projects/gateway.md"), site.file("projects/gateway.md").read_bytes()
    broken = text.replace("status: active", "status: [")
    answer = site.post("/edit/projects/gateway.md", text=broken, digest=digest, do="save")
    assert answer.status_code == 422 and path.read_bytes() == before and "status: [" in answer.text
    assert site.post("/edit/projects/gateway.md", text=broken, digest=digest, do="save", anyway="1").status_code == 200
    assert b"status: [" in path.read_bytes()


def test_the_check_names_what_would_change(site):
    _, text = _form(site.get("/edit/projects/gateway.md").text)
    found = site.post("/check", path="projects/gateway.md", text=text).json()
    assert found == {"problems": [], "memories": 1, "writable": True, "summary": []}
    found = site.post("/check", path="projects/gateway.md", text=text.replace("port 7443. [", "port 1. [") + "\n## Tasks\n- [ ] test it\n").json()
    assert "^m-aaa111 now says: The gateway listens on port 1." in found["summary"]
    assert "new task: test it" in found["summary"]
    found = site.post("/check", path="projects/gateway.md", text=text.replace("tags: [", "tags: [[")).json()
    assert not found["writable"] and found["problems"][0]["line"]
    assert site.post("/check", path="projects/none.md", text="").status_code == 404


def test_the_check_works_without_script(site):
    digest, text = _form(site.get("/edit/projects/gateway.md").text)
    before = site.file("projects/gateway.md").read_bytes()
    page = site.post("/edit/projects/gateway.md", text=text.replace("- The gateway", "- Our gateway"), digest=digest, do="check").text
    assert "now says: Our gateway" in page and "Our gateway" in _form(page)[1] and _form(page)[0] == digest
    assert site.file("projects/gateway.md").read_bytes() == before


def test_a_form_without_text_empties_no_file(site):
    before = site.file("projects/gateway.md").read_bytes()
    assert site.post("/edit/projects/gateway.md", digest=site.digest("projects/gateway.md")).status_code == 500
    assert site.file("projects/gateway.md").read_bytes() == before


def test_names_of_every_kind_can_be_edited(site):
    for name in ("日本語 メモ.md", "a&b?c=d.md", "hash#x.md", "quote'\".md", "<b>.md"):
        site.file(f"projects/{name}").write_text("# T\n", encoding="utf-8")
        page = site.get("/topics").text
        from memoryfs.web.markdown import topic_url
        url = topic_url(f"projects/{name}")
        assert html.escape(url) in page
        assert site.get(url).status_code == 200, name
        digest, text = _form(site.get(url.replace("/topics/", "/edit/")).text)
        assert site.post(url.replace("/topics/", "/edit/"), text=text + "more\n", digest=digest).status_code == 200
        assert site.file(f"projects/{name}").read_text(encoding="utf-8") == "# T\nmore\n"
