"""In: a question, a thread, a source label, a memory's id. Out: the page with what was found, and why it ranks there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from memoryfs import ledger, thread
from memoryfs.audit import examine
from memoryfs.errors import NotFoundError, UsageError
from memoryfs.model import CURRENT, STATUSES, Event, Evidence, SourceRange, short_thread
from memoryfs.web import facts
from memoryfs.web.markdown import memory_url, topic_url
from memoryfs.web.site import Site, Stopwatch, redirect

# What each part of a score means; the parts are those of recall (`why`).
MEANING = {
    "fts": "words in common", "vector": "meaning alike", "topic": "its topic fits", "tag": "a tag of its topic is in the question",
    "importance": "importance of its topic", "recency": "how recent", "stale": "no longer current", "scope": "store farther away",
    "unit": "words of this passage", "small": "short passage", "large": "words of the passages around", "thread": "its session fits",
    "near": "a neighbour fits", "length": "length", "speaker": "the person asked about speaks", "when": "the time asked about",
    "memory": "a memory points here", "dense": "meaning alike", "dense_near": "a neighbour means the like",
    "dense_thread": "its session means the like", "question": "it is itself a question", "timed": "it names a time",
    "counted": "it names a number", "late": "the latest", "tool": "factor for output of a tool",
    "superseded": "factor: replaced since", "file": "it concerns the file", "unchecked": "should be checked again",
    "together": "its words and its source fit", "place": "it leads to a good passage",
}
AROUND = 8  # events before and after the one asked for
LONG = 12_000  # characters of an event shown at once
THREADS = 200


def why_rows(why: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(name, meaning, value) of each part of a score, the largest first."""
    numbers = [(k, v) for k, v in why.items() if isinstance(v, (int, float)) and not isinstance(v, bool)]
    numbers.sort(key=lambda part: -abs(part[1]))
    rows = [(name, MEANING.get(name, name), f"{value:+.3f}") for name, value in numbers]
    return rows + [(name, MEANING.get(name, name), str(v)) for name, v in why.items() if not isinstance(v, (int, float))]


def evidence_url(piece: Evidence) -> str:
    """The place in its thread, the span marked."""
    return f"/threads/{quote(piece.thread)}?at={piece.index}&mark={piece.start}-{piece.end}#evidence"


def search(site: Site, request: Request) -> Response:
    query = request.query_params.get("q", "").strip()
    status = request.query_params.get("status", "")
    values: dict[str, Any] = {"query": query, "status": status, "found": None, "error": "", "statuses": STATUSES}
    if query:
        watch = Stopwatch()
        wanted = STATUSES if status == "all" else (status,) if status in STATUSES else CURRENT
        try:
            with site.recalling:
                found = site.store.recall(query[:4000], status=wanted)
        except UsageError as error:
            return site.page("search.html", code=400, **values | {"error": error.message})
        took = watch.milliseconds()
        site.timings.append(took)
        values |= {"found": found, "took": took, "why_rows": why_rows, "evidence_url": evidence_url}
    return site.page("search.html", **values)


@dataclass(frozen=True)
class Shown:
    """An event and its text in pieces: (text, whether it is marked)."""

    event: Event
    pieces: tuple[tuple[str, bool], ...]
    wanted: bool


def threads(site: Site, request: Request) -> Response:
    names = thread.list_threads(site.store.root)[::-1]
    return site.page("threads.html", threads=names[:THREADS], more=max(0, len(names) - THREADS))


def show_thread(site: Site, request: Request) -> Response:
    """A window of a thread: `at` one event (`mark` a span of it), or `from` and `to` a range."""
    full = thread.resolve(site.store.root, request.path_params["name"])
    if full is None:
        raise NotFoundError(f"the thread {request.path_params['name']}")
    asked = {key: _number(request.query_params.get(key)) for key in ("at", "from", "to")}
    start = asked["at"] if asked["at"] is not None else asked["from"]
    end = asked["to"] if asked["to"] is not None and asked["at"] is None else start
    highlighted = start is not None
    start = start or 0
    end = min(max(start, end or 0), start + 60)
    first = max(0, start - AROUND)
    events = thread.read_events(site.store.root, full, first, end + AROUND + 1)
    more = bool(events) and events[-1].index > end + AROUND
    events = [event for event in events if event.index <= end + AROUND]
    if not events:
        raise NotFoundError(f"event {start} of the thread {full}")
    span = re.fullmatch(r"(\d{1,9})-(\d{1,9})", request.query_params.get("mark", ""))
    shown = []
    for event in events:
        wanted = highlighted and start <= event.index <= end
        marked = (int(span[1]), int(span[2])) if wanted and span and asked["at"] is not None else None
        shown.append(Shown(event, _pieces(event.text, marked), wanted))
    base = f"/threads/{quote(full)}"
    return site.page(
        "thread.html", name=full, events=shown, earlier=f"{base}?at={max(0, first - AROUND - 1)}" if first else "",
        later=f"{base}?at={end + 2 * AROUND + 1}" if more else "", has_span=any(m for s in shown for _, m in s.pieces),
    )


def _pieces(text: str, marked: tuple[int, int] | None) -> tuple[tuple[str, bool], ...]:
    """The text cut at the mark; a very long one to what stands around it."""
    if marked is None or not 0 <= marked[0] < marked[1] <= len(text):
        return ((text[:LONG] + (f"… ({len(text) - LONG:,} more characters)" if len(text) > LONG else ""), False),)
    start, end = marked
    low, high = max(0, start - LONG // 2), min(len(text), end + LONG // 2)
    pieces = (("…" if low else "") + text[low:start], False), (text[start:end], True), (text[end:high] + ("…" if high < len(text) else ""), False)
    return tuple(piece for piece in pieces if piece[0])


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,9}", text) else None


def source(site: Site, request: Request) -> Response:
    """A footnote's label leads to its events."""
    label = request.path_params["label"]
    wanted = SourceRange.parse(label)
    if wanted is None:
        raise NotFoundError(f"the source {label}")
    topics = site.topics()
    topic = topics.get(request.query_params.get("topic", ""))
    near = [m.source_range for m in topic.memories] if topic else []
    full = next((r.thread for ranges in near for r in ranges if short_thread(r.thread) == short_thread(wanted.thread)), "")
    full = _resolve(site, full or wanted.thread)
    if not full:
        raise NotFoundError(f"the thread {wanted.thread}", remedy="Its file is not in threads/: import the session's transcript again.")
    return redirect(f"/threads/{quote(full)}?from={wanted.start}&to={wanted.end}#evidence")


def _resolve(site: Site, name: str) -> str:
    """The thread's full name, by its hash alone where a note's date is not the thread's; "" if it is not here."""
    return thread.resolve(site.store.root, name) or thread.resolve(site.store.root, short_thread(name)) or ""


def memory(site: Site, request: Request) -> Response:
    """Everything known of one memory: what it says, its source in context, each change with its reason."""
    id = request.path_params["id"]
    topics = site.topics()
    place = next(((path, m) for path, t in sorted(topics.items()) for m in t.memories if m.id == id), None)
    entries, _ = ledger.read(site.store.root)
    history = facts.about(entries, id)
    if place is None and not history:
        raise NotFoundError(f"the memory ^{id}")
    path, found = place or ("", None)
    sources = []
    for wanted in found.source_range if found else ():
        full = _resolve(site, wanted.thread)
        events = thread.read_events(site.store.root, full, wanted.start, min(wanted.end, wanted.start + 40)) if full else []
        quote_ = found.quote if found else ""
        holder = next((e for e in events if quote_ and quote_ in e.text), None)
        at = holder.text.find(quote_) if holder else -1
        shown = holder or (events[0] if events else None)
        pieces = _pieces(shown.text, (at, at + len(quote_)) if holder else None) if shown else ()
        url = f"/threads/{quote(full)}?from={wanted.start}&to={wanted.end}#evidence" if full else ""
        if holder and full:
            url = f"/threads/{quote(full)}?at={holder.index}&mark={at}-{at + len(quote_)}#evidence"
        sources.append({"label": wanted.label, "event": shown, "pieces": pieces, "url": url})
    believed = examine(site.store, f"^{id}", vectors=False) if found else None
    grounds = next((s for s in (*believed.current, *believed.superseded) if s.memory.id == id), None) if believed else None
    return site.page("memory.html", id=id, grounds=grounds, judged=ledger.judgements(entries).get(id, ()), memory=found, path=path, sources=sources, history=history,
                     topic_title=topics[path].title if path else "")


def judge(site: Site, request: Request) -> Response:
    """A person's word that a memory was useful or wrong, or that the last such word was not meant."""
    id, verdict = request.path_params["id"], request.scope["form"].get("verdict", "")
    if verdict == "undo":
        site.store.undo(id)
        site.tell("Taken back.")
    else:
        site.store.judge(id, verdict)
        site.tell(f"Recorded: {verdict}.")
    return redirect(memory_url(id))


def forget(site: Site, request: Request) -> Response:
    change = site.store.forget(request.path_params["id"])
    site.tell(f"Forgotten: {change.detail}. It does not come back by itself.")
    return redirect(topic_url(change.topic))
