"""In: a request for the front page or the review queue, a choice. Out: the page, or the contradiction settled."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memoryfs import ledger, thread
from memoryfs.edits.verbs import CHOICES
from memoryfs.errors import UsageError
from memoryfs.files import BRIEFING
from memoryfs.web import charts, facts
from memoryfs.web.site import Site, jinja2_markup, redirect

SAID = {"accept": "The newer statement stands.", "reject": "The older statement stands.", "keep-both": "Both statements stand."}


def front(site: Site, request: Request) -> Response:
    store = site.store
    topics = store.topics()
    entries, problems = ledger.read(store.root)
    found = facts.numbers(topics, entries)
    reports = facts.runs(store.root)
    try:
        briefing = (store.root / BRIEFING).stat().st_size
    except OSError:
        briefing = 0
    return site.page(
        "front.html", numbers=found, growth=jinja2_markup(charts.growth(found["growth"], "Memories recorded")),
        threads=len(thread.list_threads(store.root)), waiting=len(facts.waiting(topics)), runs=reports,
        inbox=len(facts.inbox(reports)), latency=facts.middle(site.timings), asked=len(site.timings), briefing=briefing,
        cap=store.config.briefing.max_bytes,
        problems=[*problems, *store.config_problems, *(p for t in topics.values() for p in t.problems)],
    )


def queue(site: Site, request: Request) -> Response:
    topics = site.store.topics()
    return site.page("review.html", waiting=facts.waiting(topics), inbox=facts.inbox(facts.runs(site.store.root)))


def settle(site: Site, request: Request) -> Response:
    choice = request.scope["form"].get("choice", "")
    if choice not in CHOICES:
        raise UsageError(f"{choice!r} is not a choice")
    site.store.resolve(request.path_params["id"], choice)
    site.tell(f"Settled. {SAID[choice]}")
    return redirect("/review")


def keep(site: Site, request: Request) -> Response:
    """A statement of the inbox becomes a memory, with its source; a person said so."""
    form = request.scope["form"]
    listed = facts.inbox(facts.runs(site.store.root))
    item = next((item for item in listed if item["text"] == form.get("text")), None)
    if item is None:
        raise UsageError("the inbox has no such statement", remedy="Load the page again.")
    change = site.store.remember(item["text"], topic=item.get("topic") or None, kind=item.get("kind") or "fact",
                                 source=item.get("source") or None)
    site.tell("Kept." if change.action != "exists" else "It is remembered already.")
    return redirect("/review")
