"""In: one thread with new events, and the library. Out: the Work to write for it, and the report of what became of what.

The stages in the order of the flow: segment, extract, verify, gate, place, reconcile, plan. Nothing is written here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memoryfs import inbox
from memoryfs import thread as threads
from memoryfs.inbox import Waiting
from memoryfs.model import CURRENT, Event
from memoryfs.recall import changes
from memoryfs.textfile import read_file
from organizer import episodes, lasting, waiting
from organizer.apply import ADDING, Outcome, Plan, Planner
from organizer.dedupe import EXACT, POSSIBLE, Known
from organizer.gate import Gate
from organizer.journal import Page, Work
from organizer.judges import Judges
from organizer.nouns import Candidate, Decision
from organizer.reconcile import decide
from organizer.report import DONE, EMPTY_SESSION, Item, SessionReport
from organizer.segment import segment
from organizer.shelf import Library, files_of, not_in_base, read_session, session_facts, spoken
from organizer.subject import About
from organizer.topics import Place, place
from organizer.turns import turns

MOST_SOURCES = 8  # of one memory
MOST_FROM_ONE_SESSION = 2
FILES = 12  # that an episode page names
_NOWHERE = Place("", "")


@dataclass(frozen=True, slots=True)
class Result:
    """A session worked through: what to write, and what to report."""

    work: Work
    report: SessionReport


def organize_session(library: Library, thread: str, judges: Judges, *, now: datetime) -> Result:
    """All stages for one session. Raises what a stage raises; the library is only changed by the planner's memories."""
    begun = time.perf_counter()
    root = library.root
    size = threads.thread_path(root, thread).stat().st_size
    events = read_session(root, thread)
    done = library.done.get(thread)
    start = done.events if done else 0
    fresh = not_in_base(root, thread, [e for e in events if e.index >= start])
    facts = session_facts(events)
    about = About(
        facts["repo"], episodes.title_of(events), spoken(events), facts.get("branch", ""), files_of(events),
        files_of(events, 5, edited=True),
    )
    found = judges.extract(fresh, segment(fresh))
    verdicts = judges.verify(found, events)
    dropped = [_item("drop", v.candidate, f"{v.check}: {v.reason}") for v in verdicts if v.outcome == "drop"]
    weighed = judges.weigh([v.candidate for v in verdicts if v.outcome != "drop"])
    weighed = [_kept(c) if _replaces(library, c, about.repo) else c for c in weighed]
    dropped += [_item("drop", c, "not worth keeping") for c in weighed if c.gate == "drop"]
    weighed, faded = _lasting(library, [c for c in weighed if c.gate != "drop"], lasting.session_of(events), about.repo)
    dropped += faded
    kept, over = _within_budget(weighed, library.config.organize.memories_per_session)
    dropped += [_item("drop", c, "over the session's budget") for c in over]
    outcomes, plan, over = _decide(library, kept, about, now)
    dropped += [_item("drop", c, "nearly worth keeping, but not among the session's best") for c in over]
    page = _page(library, thread, events, facts, judges.gate)
    work = Work(thread, events[-1].index + 1 if events else 0, size, start, now.isoformat(timespec="seconds"), plan, page)
    items = tuple([_told(o, library.known) for o in outcomes] + dropped)
    return Result(work, SessionReport(
        thread, about.title, DONE if fresh else EMPTY_SESSION, len(fresh), time.perf_counter() - begun, items,
        page.path if page else "",
    ))


def _lasting(
    library: Library, weighed: Sequence[Candidate], session: lasting.Session, repo: str
) -> tuple[list[Candidate], list[Item]]:
    """Those that will last beyond their session, and the report of the others. What takes the place of a memory always stays."""
    left: list[Candidate] = []
    faded: list[Item] = []
    for candidate in weighed:
        why = lasting.passing(candidate, session)
        if why and not _supersedes(library, candidate, repo):
            faded.append(_item("drop", candidate, why))
        else:
            left.append(candidate)
    again = lasting.said_more_fully(left)
    faded += [_item("drop", left[i], f"said more fully in event {left[j].event_index} of its session") for i, j in again.items()]
    return [c for i, c in enumerate(left) if i not in again], faded


def _within_budget(found: Sequence[Candidate], most: int) -> tuple[list[Candidate], list[Candidate]]:
    """The worthiest `most` candidates, in the order in which they were said, and the others."""
    ranked = sorted(range(len(found)), key=lambda i: (found[i].gate != "keep", -found[i].score, i))
    chosen = set(ranked[:most])
    return [c for i, c in enumerate(found) if i in chosen], [c for i, c in enumerate(found) if i not in chosen]


def _decide(
    library: Library, kept: Sequence[Candidate], about: About, now: datetime
) -> tuple[list[Outcome], Plan, list[Candidate]]:
    """What became of each candidate, the plan, and those that there was no room for in the inbox."""
    config = library.config
    planner = Planner(library.known, taken=_taken(library), now=now, repo=about.repo, files=about.edited)
    fresh = _not_known(kept, library.known)
    places = place(
        [kept[i] for i in fresh], about, library.shelves, library.frequency, categories=config.categories,
        max_bytes=config.organize.topic_max_bytes,
    )
    where = dict(zip(fresh, places, strict=True))
    outcomes: list[Outcome] = []
    waits: list[int] = []  # for a person or a second sighting
    for number, candidate in enumerate(kept):
        decision, item = _decision(library, candidate, about.repo)
        if number not in where and decision.action in ADDING:
            where[number] = place([candidate], about, library.shelves, library.frequency, categories=config.categories,
                                  max_bytes=config.organize.topic_max_bytes)[0]
        outcome = planner.take(decision, where.get(number) or _NOWHERE)
        outcomes.append(outcome)
        if decision.action == "inbox":
            waits.append(number)
        elif item is not None and outcome.topic:
            planner.settled.append(inbox.went(item, inbox.LEARNED, time=_stamp(now), topic=outcome.topic, why="said again"))
    best = set(sorted(waits, key=lambda i: (-kept[i].score, i))[: config.organize.inbox_per_session])
    waiting.fill(planner, library.inbox, [(kept[i], about.repo) for i in sorted(best)], most=config.organize.inbox_items,
               time=_stamp(now))
    over = [i for i in waits if i not in best]
    return [o for i, o in enumerate(outcomes) if i not in over], planner.plan(), [kept[i] for i in over]


def _decision(library: Library, candidate: Candidate, repo: str) -> tuple[Decision, Waiting | None]:
    """The decision, and the statement of the inbox that is learned by it."""
    if _replaces(library, candidate, repo):  # something that was said earlier in this session
        candidate = _kept(candidate)
    decision = _bounded(_decided(library, candidate, repo), library.known)
    if decision.action == "inbox":
        decision, item = waiting.said_again(candidate, decision, library.inbox)
        if item is None:
            return decision, None
        return _bounded(_decided(library, waiting.promoted(candidate, item), repo), library.known), item
    item = library.inbox.find(candidate) if decision.action in (*ADDING, "reinforce") else None
    return decision, item if item and not item.settled else None


def _decided(library: Library, candidate: Candidate, repo: str) -> Decision:
    return decide(candidate, library.known, scope=repo, scope_of=library.repo_of,
                  withdrawn=lambda text, source: library.tombstones.find(text, [source]) is not None)


def _replaces(library: Library, candidate: Candidate, repo: str) -> bool:
    """Whether what the user said, or a change that the assistant says it made, takes the place of a memory, though it weighs little:
    not learned, it would leave the old one current."""
    said = candidate.stated_by == "user" or changes.stated(candidate.quote, candidate.stated_by)
    return bool(said) and candidate.gate != "keep" and _supersedes(library, candidate, repo)


def _supersedes(library: Library, candidate: Candidate, repo: str) -> bool:
    return _decided(library, _kept(candidate), repo).action == "supersede"


def _kept(candidate: Candidate) -> Candidate:
    return replace(candidate, gate="keep")


def _stamp(now: datetime) -> str:
    return now.isoformat(timespec="seconds")


def _taken(library: Library) -> set[str]:
    """Every id that was ever given out, withdrawn ones too."""
    return {m.id for m in library.known} | {e.id for e in library.entries if e.id}


def _not_known(kept: Sequence[Candidate], known: Known) -> list[int]:
    """Positions of the candidates that will need a place: known statements must not open a topic."""
    return [i for i, c in enumerate(kept) if c.gate != "inbox" and known.find(c.summary).outcome not in (EXACT, POSSIBLE)]


def _bounded(decision: Decision, known: Known) -> Decision:
    """A reinforcement only while it says something new: few sources a memory, fewer from one session."""
    memory = known.get(decision.target_id) if decision.action == "reinforce" and decision.target_id else None
    if memory is None:
        return decision
    same = sum(r.thread == decision.candidate.source.thread for r in memory.source_range)
    if same >= MOST_FROM_ONE_SESSION or len(memory.source_range) >= MOST_SOURCES:
        return replace(decision, action="ignore", why="has sources enough")
    return decision


def _page(library: Library, thread: str, events: Sequence[Event], facts: dict[str, str], gate: Gate) -> Page | None:
    """The session's page, unless a person has edited or deleted the one there was."""
    done = library.done.get(thread)
    earlier = done.page if done else ""
    expect = ""
    if earlier:
        try:
            expect = read_file(library.root / earlier).digest
        except FileNotFoundError:
            return None
        if expect != done.page_digest:
            return None
    kept = [m for m in library.known if m.status in CURRENT and any(r.thread == thread for r in m.source_range)]
    link = threads.thread_path(library.root, thread).relative_to(library.root).as_posix()
    page = episodes.build(
        thread, events, kept, repo=facts["repo"], harness=facts.get("harness", ""), path=earlier, link=link,
        files=files_of(events, FILES, edited=True), told=turns(events, gate),
    )
    if page is None or (not earlier and (library.root / page.path).exists()):
        return None
    return Page(page.path, page.text, expect)


def _told(outcome: Outcome, known: Known) -> Item:
    decision = outcome.decision
    target = known.get(decision.target_id) if decision.target_id else None
    return replace(
        _item(decision.action, decision.candidate, decision.why), id=outcome.id, topic=outcome.topic,
        target=decision.target_id or "", before=target.summary if target else "",
    )


def _item(action: str, candidate: Candidate, why: str) -> Item:
    return Item(action, candidate.summary, why, kind=candidate.kind, by=candidate.by, source=candidate.source.label)
