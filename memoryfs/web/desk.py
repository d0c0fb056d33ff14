"""In: a request for the front page or the review queue, a choice. Out: the page, or the contradiction settled."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memoryfs import ledger, review, runs, thread
from memoryfs.audit import OpenReview, Statement
from memoryfs.errors import UsageError
from memoryfs.evaluate import history
from memoryfs.files import BRIEFING
from memoryfs.web import charts, facts
from memoryfs.web.site import Site, jinja2_markup, redirect

SAID = {"accept": "Accepted.", "reject": "Rejected.", "keep-both": "Both statements stand.", "edit": "Settled in your words.", "undo": "Taken back."}
LISTED = 200


def front(site: Site, request: Request) -> Response:
    store = site.store
    topics = site.topics()
    entries, problems = ledger.read(store.root)
    found = facts.numbers(topics, entries)
    reports = facts.reports(store.root)
    items = review.waiting(store)
    try:
        briefing = (store.root / BRIEFING).stat().st_size
    except OSError:
        briefing = 0
    return site.page(
        "front.html", numbers=found, growth=jinja2_markup(charts.growth(found["growth"], "Memories recorded")),
        threads=len(thread.list_threads(store.root)), waiting=sum(1 for item in items if item.review), runs=reports, alarm=runs.alarm(store.root),
        inbox=sum(1 for item in items if item.statement), latency=facts.middle(site.timings), asked=len(site.timings), briefing=briefing,
        cap=store.config.briefing.max_bytes, measured=history.read(store.root),
        problems=[*problems, *store.config_problems, *(p for t in topics.values() for p in t.problems)],
    )


def queue(site: Site, request: Request) -> Response:
    items = review.waiting(site.store)
    contradictions = [(item, _by_age(item.review)) for item in items if item.review is not None]
    return site.page("review.html", contradictions=contradictions, inbox=[item for item in items if item.statement is not None][:LISTED],
                     undoable=site.undoable)


def _by_age(found: OpenReview) -> list[Statement]:
    """The sides from the oldest statement to the newest, as the choices order them."""
    order = {id: number for number, id in enumerate(found.review.memory_ids)}
    return sorted(found.sides, key=lambda s: (s.memory.date or "", order.get(s.memory.id, 0)))


def settle(site: Site, request: Request) -> Response:
    """One choice about a contradiction or a statement in the inbox; it can be taken back as long as the server runs."""
    form = request.scope["form"]
    id, choice = request.path_params["id"], form.get("choice", "")
    if choice not in SAID:
        raise UsageError(f"{choice!r} is not a choice")
    change = review.settle(site.store, id, choice, form.get("text", ""))
    site.undoable = "" if choice == "undo" else id
    site.tell(f"{SAID[choice]} {change.detail if change.action == 'inbox' else ''}".strip())
    return redirect("/review")
