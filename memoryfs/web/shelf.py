"""In: a topic's path, a form. Out: the pages of topics: list, file, editor and its check, timeline, graph."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memoryfs import edits, ledger
from memoryfs.errors import ChangedMeanwhileError, MemoryfsError, NotFoundError
from memoryfs.files import is_episode
from memoryfs.topic import Topic
from memoryfs.web import charts, editing, facts, graph
from memoryfs.web.markdown import to_html, topic_url
from memoryfs.web.site import Site, jinja2_markup, redirect

LISTED = 500


def listing(site: Site, request: Request) -> Response:
    tag = request.query_params.get("tag", "")
    wanted = request.query_params.get("q", "").strip().casefold()
    topics = sorted(site.topics().items(), key=lambda item: (is_episode(item[0]), item[0]))
    rows = [
        (path, topic) for path, topic in topics
        if (not tag or tag in topic.tags) and (not wanted or wanted in f"{path} {topic.title} {topic.summary}".casefold())
    ]
    return site.page("topics.html", rows=rows[:LISTED], more=max(0, len(rows) - LISTED), tag=tag, wanted=request.query_params.get("q", ""))


def show(site: Site, request: Request) -> Response:
    topics = site.topics()
    path = request.path_params["path"]
    topic = site.topic(path, topics)
    near = graph.build(topics, around=path)
    picture = graph.to_svg(near, label=f"What {topic.title} is joined to", marked=frozenset([path])) if 1 < len(near.nodes) <= 60 else ""
    return site.page("topic.html", path=path, topic=topic, body=jinja2_markup(to_html(topic)), picture=jinja2_markup(picture))


def timeline(site: Site, request: Request) -> Response:
    path = request.path_params["path"]
    topic = site.topic(path, site.topics())
    entries, _ = ledger.read(site.store.root)
    rows = [(m.summary if len(m.summary) < 44 else m.summary[:43] + "…", m.date, _until(m.metadata), m.status)
            for m in sorted(topic.memories, key=lambda m: m.date or "")]
    today = site.store.clock().date().isoformat()
    chart = charts.spans(rows[:40], today, f"When each statement of {topic.title} held")
    return site.page("timeline.html", path=path, topic=topic, moments=facts.timeline(entries, path, topic), chart=jinja2_markup(chart))


def _until(metadata: Any) -> str | None:
    return metadata.get("superseded_on")


def picture(site: Site, request: Request) -> Response:
    topics = site.topics()
    episodes = request.query_params.get("episodes") == "1"
    chosen = {path: topic for path, topic in topics.items() if episodes or not is_episode(path)}
    built = graph.build(chosen)
    degree = built.degree
    rows = sorted(built.nodes, key=lambda node: (-degree[node.key], node.key))
    return site.page("graph.html", svg=jinja2_markup(graph.to_svg(built)), rows=rows[:LISTED], degree=degree, count=len(built.nodes),
                     edges=len(built.edges), episodes=episodes, more=max(0, len(rows) - LISTED))


# -- editing ------------------------------------------------------------------------------------------------------


def edit(site: Site, request: Request) -> Response:
    path = request.path_params["path"]
    topic, digest = _file(site, path)
    line = request.query_params.get("line", "")
    return _editor(site, path, topic, digest, editing.form_text(topic), line=line if line.isdecimal() else "")


def check(site: Site, request: Request) -> Response:
    """The live check: what the text of the form would mean, as JSON."""
    form = request.scope["form"]
    topic, _ = _file(site, form.get("path", ""))
    return JSONResponse(editing.check(topic.path, topic, form.get("text", "")).to_dict())


def save(site: Site, request: Request) -> Response:
    path = request.path_params["path"]
    form = request.scope["form"]
    topic, digest = _file(site, path)
    text, known = form.get("text", ""), form.get("digest", "")
    if "text" not in form:
        raise MemoryfsError("the form has no text", remedy="Load the page again.")
    checked = editing.check(path, topic, text)
    if form.get("do") == "check":
        return _editor(site, path, topic, known, text, checked=checked)
    if not checked.writable and topic.writable and form.get("anyway") != "1":
        return _editor(site, path, topic, known, text, checked=checked, status=422, refused=True)
    try:
        report = editing.save(site.store.root, site.store.config, path, text, known, now=site.store.clock())
    except ChangedMeanwhileError:
        topic, digest = _file(site, path)
        difference = editing.difference(editing.form_text(topic), text.replace("\r\n", "\n"))
        return _editor(site, path, topic, digest, text, status=409, difference=difference)
    site.store.refresh()
    site.tell(editing.told(report, path))
    for problem in report.problems:
        if problem.path == path:
            site.tell(f"{problem.message} {problem.remedy}".strip())
    return redirect(topic_url(path))


def _file(site: Site, path: str) -> tuple[Topic, str]:
    """A topic that the store lists, and its digest. Raises NotFoundError."""
    if path not in set(edits.topic_paths(site.store.root, site.store.config)):
        raise NotFoundError(f"the topic {path}")
    return edits.read_topic(site.store.root, path, site.store.config)


def _editor(
    site: Site, path: str, topic: Topic, digest: str, text: str, *, status: int = 200, checked: editing.Check | None = None,
    refused: bool = False, difference: str = "", line: str = "",
) -> Response:
    readable = "\ufffd" not in "".join(m.summary for m in topic.memories) and _clean(topic.text)
    return site.page("edit.html", code=status, path=path, topic=topic, digest=digest, text=text, checked=checked,
                     refused=refused, difference=difference, line=line, readable=readable)


def _clean(text: str) -> bool:
    """Whether a form can hold the text without loss: UTF-8, no NUL."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
