"""In: the decisions on one session, each with its place. Out: a Plan, and the plan written: topic files, then the ledger.

A plan says everything that will be written, ids included, before anything is; so it can be kept in the journal and
carried out again after a kill: what stands in the files or the ledger already is not written twice. Each topic file
is read, edited and written once a session, on the text as it stands then (a person may have saved meanwhile).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoryfs import inbox, ledger
from memoryfs.errors import ChangedMeanwhileError, NotFoundError, UnwritableFileError
from memoryfs.files import INBOX
from memoryfs.model import Memory, Problem, SourceRange
from organizer.dedupe import Known
from organizer.nouns import Candidate, Decision
from organizer.reconcile import as_memory
from organizer.refresh import asked_about, hints_of, refreshed, summary_of, tags_of
from organizer.topics import Place

if TYPE_CHECKING:
    from memoryfs.config import Config
    from memoryfs.topic import Topic

ADDING = ("add", "merge", "supersede", "conflict")


@dataclass(frozen=True, slots=True)
class Replaced:
    """`old` is struck out in its file, pointing to `new`, which stands in the topic `new_topic`."""

    old: str
    new: str
    new_topic: str
    on: str


@dataclass(frozen=True, slots=True)
class SeenAgain:
    """Another source for a memory that is known."""

    id: str
    source: SourceRange
    date: str
    hints: tuple[str, ...] = ()
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A line under *Needs review*: two memories that cannot both hold."""

    id: str
    text: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """All that one session does to one topic file."""

    path: str
    title: str
    new: bool = False
    repo: str = ""
    files: tuple[str, ...] = ()
    created: str = ""
    terms: tuple[str, ...] = ()
    added: tuple[Memory, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    seen: tuple[SeenAgain, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one session does: topic files first, then ledger entries, then inbox.md, which loses what `settled` names
    and gains what `waiting` names (ledger lines of `memoryfs.inbox`)."""

    topics: tuple[TopicPlan, ...] = ()
    entries: tuple[ledger.Entry, ...] = ()
    settled: tuple[ledger.Entry, ...] = ()
    waiting: tuple[ledger.Entry, ...] = ()


@dataclass
class _Draft:
    place: Place
    added: list[Memory] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    seen: list[SeenAgain] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a decision became: the memory's id and the topic it stands in ("" where nothing was written)."""

    decision: Decision
    id: str = ""
    topic: str = ""


def review_id(ids: Iterable[str]) -> str:
    """`r-` and six hex digits: one question about the same memories has one id."""
    return "r-" + hashlib.sha256("\0".join(sorted(ids)).encode()).hexdigest()[:6]


class Planner:
    """Collects the decisions of one session into a plan and keeps `known` up to date as it goes."""

    def __init__(self, known: Known, *, taken: Iterable[str] = (), now: datetime, repo: str = "", files: tuple[str, ...] = ()) -> None:
        self.known = known
        self.taken = set(taken)
        self.now = now
        self.repo = repo
        self.files = files
        self.drafts: dict[str, _Draft] = {}
        self.entries: list[ledger.Entry] = []
        self.settled: list[ledger.Entry] = []
        self.waiting: list[ledger.Entry] = []

    def take(self, decision: Decision, place: Place) -> Outcome:
        """One decision more. A memory that replaces or contradicts another goes into that one's topic."""
        target = self.known.get(decision.target_id) if decision.target_id else None
        if decision.action == "reinforce" and target is not None:
            self._reinforce(decision, target)
            return Outcome(decision, target.id, target.topic)
        if decision.action not in ADDING:
            return Outcome(decision, target.id if target else "", target.topic if target else "")
        if target is not None:
            place = Place(target.topic, "")
        memory = self._new(decision.candidate, place)
        draft = self._draft(place)
        draft.added.append(memory)
        self._log("add", memory.id, memory, why=decision.why,
                  extra={"stated_by": memory.stated_by, "said_by": decision.candidate.stated_by, "by": decision.candidate.by})
        self.known.add(memory)
        if decision.action == "merge" and target is not None:
            self.merge(target, memory, why=decision.why)
        elif decision.action == "supersede" and target is not None:
            self._supersede(decision, memory, target)
        elif decision.action == "conflict" and target is not None:
            self._question(decision, memory, target)
        return Outcome(decision, memory.id, memory.topic)

    def merge(self, memory: Memory, into: Memory, *, why: str) -> None:
        """`memory` says nothing that `into` does not say: it moves to History, and `into` is given the sources it lacks."""
        for source in memory.source_range:
            if source not in into.source_range:
                date = memory.date or self._today()
                # In one file the footnote stands there already, with hints and quote.
                hints, quote = ((), "") if memory.topic == into.topic else (memory.query_hints[:4], memory.quote)
                self._draft(Place(into.topic, "")).seen.append(SeenAgain(into.id, source, date, hints, quote))
                self._record("reinforce", into.id, into.topic, why=why, source=(source.label,))
                into = replace(into, source_range=(*into.source_range, source))
        self.known.add(into)
        self._draft(Place(memory.topic, "")).replaced.append(Replaced(memory.id, into.id, into.topic, self._today()))
        self.known.add(replace(memory, status="superseded", superseded_by=into.id))
        self._record("supersede", memory.id, memory.topic, why=why, extra={"by": into.id})

    def ask(self, memory: Memory, other: Memory, *, why: str) -> str:
        """A question in the topic of `memory` whether it or `other` holds; the question's id."""
        sides = (other, memory)
        names = {m.id: f"#^{m.id}" if m.topic == memory.topic else f"{m.topic.removesuffix('.md')}#^{m.id}" for m in sides}
        text = "; ".join(f"[[{names[m.id]}]] says {_short(m.summary)}" + (f" ({m.date})" if m.date else "") for m in sides)
        question = Question(review_id(names), text, tuple(names))
        self._draft(Place(memory.topic, "")).questions.append(question)
        for m in sides:
            self.known.add(replace(m, status="conflicted"))
        self._record("conflict", question.id, memory.topic, why=why, text=text, extra={"memories": list(names)})
        return question.id

    def _record(self, action: str, id: str, topic: str, **more: Any) -> None:
        self.entries.append(ledger.Entry(self.now.isoformat(timespec="seconds"), "organizer", action, id, topic, **more))

    def plan(self) -> Plan:
        """The plan of everything taken so far, topics in the order of their paths."""
        # The files a session edited belong to the topic that most of what it said went to.
        main = min(self.drafts, key=lambda p: (-len(self.drafts[p].added), p), default="")
        topics = tuple(
            TopicPlan(
                path, d.place.title, d.place.new, self.repo, self.files if path == main else (),
                min((m.date or "" for m in d.added), default="") or self._today(), d.place.terms,
                tuple(d.added), tuple(d.replaced), tuple(d.seen), tuple(d.questions),
            )
            for path, d in sorted(self.drafts.items())
        )
        return Plan(topics, tuple(self.entries), tuple(self.settled), tuple(self.waiting))

    def _today(self) -> str:
        return self.now.date().isoformat()

    def _draft(self, place: Place) -> _Draft:
        draft = self.drafts.setdefault(place.path, _Draft(place))
        if not draft.place.title and place.title:
            draft.place = place
        return draft

    def _new(self, candidate: Candidate, place: Place) -> Memory:
        from memoryfs.topic import memory_id

        salt, number = candidate.source.label, 0
        while (found := memory_id(candidate.summary, salt)) in self.taken:
            number += 1
            salt = f"{candidate.source.label}#{number}"
        self.taken.add(found)
        return as_memory(candidate, found, place.path)

    def _log(self, action: str, id: str, memory: Memory, *, why: str = "", extra: Mapping[str, Any] | None = None) -> None:
        self.entries.append(ledger.Entry(
            time=self.now.isoformat(timespec="seconds"), actor="organizer", action=action, id=id, topic=memory.topic,
            text=memory.summary, kind=memory.kind, source=tuple(r.label for r in memory.source_range), why=why,
            extra=dict(extra or {}),
        ))

    def _reinforce(self, decision: Decision, target: Memory) -> None:
        c = decision.candidate
        date = (c.time or "")[:10] or target.date or self._today()
        self._draft(Place(target.topic, "")).seen.append(SeenAgain(target.id, c.source, date, c.query_hints[:4], c.quote))
        self.known.add(replace(target, source_range=(*target.source_range, c.source)))
        self.entries.append(ledger.Entry(
            time=self.now.isoformat(timespec="seconds"), actor="organizer", action="reinforce", id=target.id,
            topic=target.topic, source=(c.source.label,), why=decision.why,
        ))

    def _supersede(self, decision: Decision, memory: Memory, target: Memory) -> None:
        on = memory.date or self._today()
        self._draft(Place(target.topic, "")).replaced.append(Replaced(target.id, memory.id, memory.topic, on))
        self.known.add(replace(target, status="superseded", superseded_by=memory.id))
        self.entries.append(ledger.Entry(
            time=self.now.isoformat(timespec="seconds"), actor="organizer", action="supersede", id=target.id,
            topic=target.topic, why=decision.why, extra={"by": memory.id},
        ))

    def _question(self, decision: Decision, memory: Memory, target: Memory) -> None:
        ids = (target.id, memory.id)
        text = "; ".join(f"[[#^{m.id}]] says {_short(m.summary)}" + (f" ({m.date})" if m.date else "") for m in (target, memory))
        question = Question(review_id(ids), text, ids)
        self._draft(Place(target.topic, "")).questions.append(question)
        for m in (target, memory):
            self.known.add(replace(m, status="conflicted"))
        self.entries.append(ledger.Entry(
            time=self.now.isoformat(timespec="seconds"), actor="organizer", action="conflict", id=question.id,
            topic=target.topic, text=text, why=decision.why, extra={"memories": list(ids)},
        ))


def _short(summary: str, width: int = 120) -> str:
    text = summary.rstrip(".。")
    return text if len(text) <= width else text[: width - 1].rsplit(" ", 1)[0] + "…"


def carry_out(
    root: Path, config: Config, plan: Plan, *, entries: list[ledger.Entry]
) -> tuple[Problem, ...]:
    """Writes the plan; carrying it out again writes nothing. A file that must not be edited is a problem, its
    memories stay out of the ledger, and the other files are written.

    `entries` is the ledger as it stands; what is recorded is added to it.
    """
    problems: list[Problem] = []
    failed: set[str] = set()
    recorded = {e.id for e in entries if e.action == "add"}
    own = ledger.own_meta(entries)
    metas: dict[str, dict[str, Any]] = {}
    for topic_plan in plan.topics:
        # What the ledger holds was written before; if the file has lost it since, a person took it out.
        topic_plan = replace(topic_plan, added=tuple(m for m in topic_plan.added if m.id not in recorded))
        try:
            metas[topic_plan.path] = write_topic(root, config, topic_plan, own.get(topic_plan.path, {}))
        except (UnwritableFileError, ChangedMeanwhileError) as error:
            failed.add(topic_plan.path)
            problems.append(Problem(topic_plan.path, error.message, error.remedy))
    have = Counter(_identity(e) for e in entries)
    settled = [e for e in plan.settled if e.topic not in failed]
    fresh = [e for e in (*plan.entries, *settled) if e.topic not in failed and not have[_identity(e)]]
    time = plan.entries[0].time if plan.entries else ""
    ledger.append(root, fresh)
    entries.extend(fresh)
    record(root, metas, time, entries)
    problems += _write_inbox(root, settled, [e for e in plan.waiting if not have[_identity(e)]], entries)
    return tuple(problems)


def record(root: Path, metas: Mapping[str, Mapping[str, Any]], time: str, entries: list[ledger.Entry]) -> None:
    """Records front matter (by topic) as the organizer's own."""
    fresh = [ledger.Entry(time, "organizer", "edit", "", path, extra={"meta": meta}) for path, meta in sorted(metas.items()) if meta]
    ledger.append(root, fresh)
    entries.extend(fresh)


def _identity(entry: ledger.Entry) -> tuple[str, ...]:
    item = (str(entry.extra.get("item")), str(entry.extra.get("settled", ""))) if entry.action == inbox.ACTION else ()
    return (entry.action, entry.id, entry.topic, *entry.source, *item)


def _write_inbox(
    root: Path, settled: Iterable[ledger.Entry], waiting: Sequence[ledger.Entry], entries: list[ledger.Entry]
) -> list[Problem]:
    gone = {str(e.extra["item"]): str(e.extra["line"]) for e in settled}
    new = tuple(inbox.waiting(waiting).values())
    if not gone and not new:
        return []
    try:
        if not inbox.edit(root, lambda text: inbox.edited(text, added=new, removed=gone)):
            return []  # in a git conflict: named when it was read
    except ChangedMeanwhileError as error:
        return [Problem(INBOX, error.message, error.remedy, severity="warning")]
    ledger.append(root, waiting)
    entries.extend(waiting)
    return []


def write_topic(root: Path, config: Config, plan: TopicPlan, own: Mapping[str, Any]) -> dict[str, Any]:
    """Writes one topic file; returns the front matter to record as the organizer's, whether written now or by a run
    that was killed before it could record it."""
    from memoryfs.edits.diff import meta_of
    from memoryfs.edits.write import edit_topic

    unrecorded = plan.new and not own
    known = blank(plan).meta if unrecorded else own
    to_record: dict[str, Any] = {}

    def edit(topic: Topic) -> Topic:
        to_record.clear()
        done, meta = refreshed(_edited(topic, plan), plan.repo, plan.files, plan.terms, known)
        to_record.update(meta)
        return done

    # Without a statement to add there is no reason to make a file: a person deleted or renamed it meanwhile.
    create = (lambda: blank(plan)) if plan.added else None
    try:
        done = edit_topic(root, plan.path, edit, config=config, create=create)
    except NotFoundError:
        return {}
    return {**meta_of(done), **done.meta} if unrecorded else to_record


def blank(plan: TopicPlan) -> Topic:
    """A new file for the memories that the plan adds, still without them."""
    from memoryfs.topic_edit import new_topic

    memories = plan.added
    tags = tags_of(memories, plan.terms, plan.repo)
    return new_topic(
        plan.path, title=plan.title or _title_from(plan.path), summary=summary_of(memories), tags=tags,
        query_hints=hints_of(memories, (plan.title, *tags)), retrieve_when=asked_about(tags), created_at=plan.created,
    )


def _title_from(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").replace("-", " ")


def _edited(topic: Topic, plan: TopicPlan) -> Topic:
    from memoryfs import topic_edit

    present = {m.id: m for m in topic.memories}
    for memory in plan.added:
        if memory.id not in present:
            topic = topic_edit.add_memory(topic, memory)
    present = {m.id: m for m in topic.memories}
    for seen in plan.seen:
        memory = present.get(seen.id)
        if memory is not None and seen.source not in memory.source_range:
            topic = topic_edit.add_source(topic, seen.id, seen.source, date=seen.date, hints=seen.hints, quote=seen.quote)
            present = {m.id: m for m in topic.memories}
    for old in plan.replaced:
        memory = present.get(old.old)
        if memory is not None and memory.status != "superseded":
            by = old.new if old.new_topic == plan.path else f"{old.new_topic.removesuffix('.md')}#^{old.new}"
            topic = topic_edit.supersede(topic, old.old, by=by, on=old.on)
    asked = {r.id for r in topic.reviews}
    for question in plan.questions:
        if question.id not in asked:
            topic = topic_edit.add_review(topic, question.text, question.id, question.memories)
    return topic
