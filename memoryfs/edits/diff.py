"""In: the topic files as they are, the ledger's last known state. Out: the hand edits between them, as findings. Pure.

Rules: a bullet without id is adopted as the person's; one whose words equal a vanished or withdrawn memory is that memory. Other
words for a known id are the person's edit, another file a move, a strike-through an end. A known id that stands in no file is withdrawn, unless
it stands in a file that cannot be read now, or in archive/. A ticked review accepts the newest statement, a deleted one keeps both,
one with fewer than two statements left asks nothing more and is taken out.
An id that the ledger does not know (a clone, a lost ledger, a kill between file and ledger) is taken in as its
footnotes say, not as an edit. Of an id in two files the ledger's file counts; the other is a copy, which is reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memoryfs.edits.echoes import entry_of, has_echo, plain
from memoryfs.edits.plan import Change, Finding, Step
from memoryfs.files import is_episode
from memoryfs.ledger import Entry, Known, KnownReview, text_key
from memoryfs.model import CURRENT, Memory, Problem
from memoryfs.notation import fold
from memoryfs.topic import memory_id

if TYPE_CHECKING:
    from memoryfs.topic import Review, Topic

Place = tuple[str, Memory]


@dataclass(frozen=True)
class Before:
    """What the ledger knows. `own`: the front matter that the organizer wrote. `fresh`: it is empty, so that nothing can be told
    from a person's edit."""

    state: Mapping[str, Known]
    reviews: Mapping[str, KnownReview]
    meta: Mapping[str, Mapping[str, Any]]
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fresh: bool = False


@dataclass(frozen=True)
class After:
    """What the files say. `held`: ids in files that cannot be read or written now; `archived`: id → path in archive/."""

    topics: Mapping[str, Topic]
    held: frozenset[str] = frozenset()
    archived: Mapping[str, str] = field(default_factory=dict)


def meta_of(topic: Topic) -> dict[str, Any]:
    """The front matter that a person's edit is looked for in; a title that only a heading gives is not in it."""
    return {
        "title": str(topic.meta.get("title") or ""), "status": topic.status, "tags": list(topic.tags), "query_hints": list(topic.query_hints),
        "retrieve_when": topic.retrieve_when,
    }


@dataclass
class _Diff:
    before: Before
    after: After
    now: str
    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, list[Place]] = field(default_factory=lambda: defaultdict(list))
    bare: list[Place] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    @property
    def day(self) -> str:
        return self.now[:10]

    def entry(self, action: str, id: str, topic: str, *, actor: str = "person", **more: Any) -> Entry:
        return Entry(self.now, actor, action, id, topic, **more)

    def find(self, change: Change, *entries: Entry, steps: Mapping[str, tuple[Step, ...]] | None = None) -> None:
        self.findings.append(Finding(change, entries, steps or {}))

    def collect(self) -> None:
        for path, topic in sorted(self.after.topics.items()):
            for memory in topic.memories:
                if memory.metadata.get("adopted", True):
                    self.places[memory.id].append((path, memory))
                elif topic.writable and not is_episode(path):
                    self.bare.append((path, memory))

    def run(self) -> None:
        self.collect()
        self.taken = set(self.before.state) | set(self.places) | set(self.after.held)
        missing = self.missing()
        self.adopt_bare(missing)
        for known in missing.values():
            self.vanished(known)
        for id, places in sorted(self.places.items()):
            self.present(id, places)
        self.reviews()
        for path, topic in sorted(self.after.topics.items()):
            if topic.writable and not is_episode(path):
                self.meta(path, topic)
                self.echo(path, topic)

    # -- memories that are nowhere, bullets without id ------------------------------------------------------------

    def missing(self) -> dict[str, Known]:
        return {
            id: known for id, known in self.before.state.items()
            if known.status != "withdrawn" and id not in self.places and id not in self.after.held
            and not self._unreadable(known.topic)
        }

    def adopt_bare(self, missing: dict[str, Known]) -> None:
        lost: dict[str, list[Known]] = defaultdict(list)
        gone: dict[str, list[Known]] = defaultdict(list)
        if self.bare:
            for known in missing.values():
                lost[known.key].append(known)
            for known in self.before.state.values():
                if known.status == "withdrawn" and known.key and known.id not in self.places:
                    gone[known.key].append(known)
        for path, memory in self.bare:
            key = text_key(memory.summary)
            known = next(iter(sorted(lost.get(key, ()), key=lambda k: (k.topic != path, k.id))), None)
            if known is not None:
                lost[key].remove(known)
                del missing[known.id]
                self.reattached(path, memory, known)
            elif gone.get(key):
                self.restored(path, memory, gone[key].pop(0), bare=True)
            else:
                self.adopted(path, memory)

    def adopted(self, path: str, memory: Memory) -> None:
        id, number = memory.id, 1
        while id in self.taken:
            number += 1
            id = memory_id(memory.summary, f"{path}#{number}")
        self.taken.add(id)
        struck = memory.status == "superseded"
        entry = self.entry(
            "adopt", id, path, text=memory.summary, kind=memory.kind, why="written into the file",
            extra={"stated_by": "person"} | ({"status": "superseded"} if struck else {})
            | ({"done": True} if memory.done else {}),
        )
        steps = [Step("adopt", id, memory.summary)]
        if self.in_place_strike(memory):
            steps.append(Step("strike", id))
        self.find(Change("adopt", id, path, memory.summary), entry, steps={path: tuple(steps)})

    def reattached(self, path: str, memory: Memory, known: Known) -> None:
        steps = {path: (Step("adopt", known.id, memory.summary, by="keep"),)}
        if path == known.topic:
            entry = self.entry("edit", known.id, path, why="its id was removed and is put back")
            self.find(Change("edit", known.id, path, "id put back"), entry, steps=steps)
        else:
            entry = self.entry("move", known.id, path, why="moved without its id", extra={"from": known.topic})
            self.find(Change("move", known.id, path, f"from {known.topic}"), entry, steps=steps)
        self.compare(path, replace(memory, id=known.id), replace(known, topic=path))

    def restored(self, path: str, memory: Memory, known: Known, *, bare: bool = False) -> None:
        entry = self.entry(
            "restore", known.id, path, text=memory.summary, kind=memory.kind, why="written into the file again",
            extra={"stated_by": "person", "done": memory.done}
            | ({"status": "superseded"} if memory.status == "superseded" else {}),
        )
        steps = [Step("adopt", known.id, memory.summary) if bare else Step("person", known.id)]
        if self.in_place_strike(memory):
            steps.append(Step("strike", known.id))
        self.find(Change("restore", known.id, path, memory.summary), entry, steps={path: tuple(steps)})

    def vanished(self, known: Known) -> None:
        archived = self.after.archived.get(known.id)
        if archived:
            if known.status != "archived":
                entry = self.entry("move", known.id, archived, why="moved to archive/", extra={
                    "from": known.topic, "status": "archived"})
                self.find(Change("move", known.id, archived, f"from {known.topic}"), entry)
            return
        whole = known.topic not in self.after.topics
        why = f"{known.topic} was deleted" if whole else "deleted from the file"
        entry = self.entry(
            "withdraw", known.id, known.topic, text=known.text, kind=known.kind, source=known.sources, why=why)
        self.find(Change("withdraw", known.id, known.topic, known.text), entry)

    # -- memories that stand in a file ----------------------------------------------------------------------------

    def present(self, id: str, places: list[Place]) -> None:
        known = self.before.state.get(id)
        home = next((place for place in places if known and place[0] == known.topic), places[0])
        for path, memory in places:
            if path != home[0]:
                self.copy(id, known, home, path, memory)
        path, memory = home
        if not self.after.topics[path].writable:
            return
        if known is None:
            self.baseline(path, memory)
        elif known.status == "withdrawn":
            self.restored(path, memory, known)
        else:
            self.compare(path, memory, known)

    def copy(self, id: str, known: Known | None, home: Place, path: str, memory: Memory) -> None:
        """An interrupted move of ours is finished; a person's copy is reported and left."""
        same = fold(memory.summary) == fold(home[1].summary)
        if known and known.moved_from == path and home[0] == known.topic and same and self.after.topics[path].writable:
            self.find(Change("move", id, home[0], f"from {path}"), steps={path: (Step("withdraw", id),)})
            return
        self.problems.append(Problem(
            path, f"^{id} stands in {home[0]} too; this copy is not used",
            "Delete one of the two, or take the id off the copy: it then gets one of its own.", memory.line,
            severity="warning",
        ))

    def baseline(self, path: str, memory: Memory) -> None:
        extra: dict[str, Any] = {"stated_by": memory.stated_by}
        if memory.status == "superseded":
            extra |= {"status": "superseded"}
        if memory.done:
            extra["done"] = True
        entry = self.entry(
            "adopt", memory.id, path, actor="organizer", text=memory.summary, kind=memory.kind,
            source=tuple(r.label for r in memory.source_range), why="stands in the file", extra=extra,
        )
        steps = {path: (Step("strike", memory.id),)} if self.in_place_strike(memory) else None
        self.find(Change("adopt", memory.id, path, memory.summary), entry, steps=steps)

    @staticmethod
    def in_place_strike(memory: Memory) -> bool:
        section = str(memory.metadata.get("section", "")).strip().rstrip(":").casefold()
        return bool(memory.metadata.get("struck")) and section != "history" and not memory.metadata.get("block")

    def compare(self, path: str, memory: Memory, known: Known) -> None:
        id = memory.id
        if path != known.topic:
            entry = self.entry("move", id, path, why="moved in the files", extra={
                "from": known.topic} | ({"status": "active"} if known.status == "archived" else {}))
            self.find(Change("move", id, path, f"from {known.topic}"), entry)
        if known.text and fold(memory.summary) != fold(known.text):
            entry = self.entry("edit", id, path, text=memory.summary, why="edited in the file", extra={"old": known.text})
            self.find(Change("edit", id, path, memory.summary), entry, steps={path: (Step("person", id),)})
        if memory.kind != known.kind or memory.done != known.done:
            self.redone(path, memory, known)
        ended, was_ended = memory.status == "superseded", known.status == "superseded"
        file_says = self.after.topics[path].status == "superseded"
        if ended and not was_ended and not file_says:
            self.ended(path, memory)
        elif was_ended and not ended:
            entry = self.entry("restore", id, path, text=memory.summary, why="taken out of History", extra={
                "stated_by": "person"})
            self.find(Change("restore", id, path, memory.summary), entry, steps={path: (Step("person", id),)})

    def redone(self, path: str, memory: Memory, known: Known) -> None:
        whys = []
        if memory.done != known.done:
            whys.append("ticked" if memory.done else "unticked")
        ended = memory.status == "superseded"
        if memory.kind != known.kind and not ended:  # History does not tell the kind
            whys.append(f"now under {memory.metadata.get('section', memory.kind)}")
        if whys:
            kind = known.kind if ended else memory.kind
            entry = self.entry("edit", memory.id, path, kind=kind, why=", ".join(whys), extra={"done": memory.done})
            self.find(Change("edit", memory.id, path, ", ".join(whys)), entry)

    def ended(self, path: str, memory: Memory) -> None:
        ours = memory.superseded_by is not None and not self.in_place_strike(memory)
        entry = self.entry(
            "supersede", memory.id, path, actor="organizer" if ours else "person",
            why="stands in History" if ours else "struck out in the file", extra={"by": memory.superseded_by or ""},
        )
        steps = {path: (Step("strike", memory.id),)} if self.in_place_strike(memory) else None
        self.find(Change("supersede", memory.id, path, memory.summary), entry, steps=steps)

    # -- reviews and front matter ---------------------------------------------------------------------------------

    def reviews(self) -> None:
        found: dict[str, tuple[str, Review]] = {}
        for path, topic in sorted(self.after.topics.items()):
            for review in topic.reviews:
                found.setdefault(review.id, (path, review))
        for id, (path, review) in sorted(found.items()):
            known = self.before.reviews.get(id)
            if not self.after.topics[path].writable or len(review.memory_ids) < 2:
                continue
            if review.ticked:
                self.accepted(path, review)
            elif (why := self.settled(review)):
                entry = self.entry("resolve", id, path, why=why, extra={
                    "choice": "withdrawn", "memories": list(review.memory_ids)})
                self.find(Change("resolve", id, path, "withdrawn"), entry, steps={path: (Step("unreview", id),)})
            elif known is None or not known.open:
                entry = self.entry(
                    "conflict", id, path, actor="organizer", text=review.text, why="stands in the file",
                    extra={"memories": list(review.memory_ids)})
                self.find(Change("conflict", id, path, review.text), entry)
        for id, known in sorted(self.before.reviews.items()):
            topic = self.after.topics.get(known.topic)
            if known.open and id not in found and (topic is None or topic.writable):
                entry = self.entry("resolve", id, known.topic, why="the line was deleted", extra={
                    "choice": "keep-both", "memories": list(known.memories)})
                self.find(Change("resolve", id, known.topic, "keep-both"), entry)

    def settled(self, review: Review) -> str:
        """Why a review asks nothing any more, if at most one of its statements still stands; else ""."""
        ended = []
        for id in review.memory_ids:
            places = self.places.get(id, ())
            known = self.before.state.get(id)
            topics = [self.after.topics[path] for path, _ in places]
            if any(memory.status in CURRENT for _, memory in places) or any(
                not topic.writable or topic.status in ("superseded", "archived") for topic in topics  # the whole file
            ):
                continue
            if places:
                ended.append("struck out")
            elif known and id not in {*self.after.held, *self.after.archived} and not self._unreadable(known.topic):
                ended.append("deleted")
        return f"one statement was {ended[0]}" if ended and len(review.memory_ids) - len(ended) < 2 else ""

    def _unreadable(self, path: str) -> bool:
        topic = self.after.topics.get(path)
        return topic is not None and not topic.writable

    def accepted(self, path: str, review: Review) -> None:
        places = {id: self.places[id][0] for id in review.memory_ids if self.places.get(id)}
        entries, steps = settle(review, path, places, "accept", self.now, "person", why="ticked in the file")
        if all(self.after.topics[p].writable for p in steps):
            self.find(Change("resolve", review.id, path, "accept"), *entries, steps=steps)

    def echo(self, path: str, topic: Topic) -> None:
        """A summary of the organizer's that repeats what the topic says no longer goes too."""
        going = {step.id for finding in self.findings for step in finding.steps.get(path, ())
                 if step.kind in ("supersede", "strike", "withdraw")}
        once = (known.text for known in self.before.state.values())
        if has_echo(topic, self.before.own.get(path, {}), once, going):
            self.findings.append(Finding(
                Change("nothing", "", path), (entry_of(path, {"summary": ""}, self.now),),
                {path: (Step("unsay", "", topic.summary),)},
            ))

    def meta(self, path: str, topic: Topic) -> None:
        known = self.before.meta.get(path, {})
        now = meta_of(topic)
        changed = {key: value for key, value in now.items() if key in known and plain(known[key]) != plain(value)}
        added = {key: value for key, value in now.items() if key not in known}
        if changed:
            entry = self.entry("edit", "", path, why="front matter edited", extra={"meta": changed})
            self.find(Change("edit", "", path, "front matter: " + ", ".join(changed)), entry)
        if added:
            ours = self.before.fresh or bool(known) or any(memory.id in self.before.state for memory in topic.memories)
            entry = self.entry("adopt", "", path, actor="organizer" if ours else "person", why="front matter as found",
                               extra={"meta": added})
            self.findings.append(Finding(Change("nothing", "", path), (entry,)))


def pointer_to(id: str, home: str, path: str) -> str:
    """How a line in `path` points to the memory `id` in `home`."""
    return id if home == path else f"{home.removesuffix('.md')}#^{id}"


def settle(
    review: Review, path: str, places: Mapping[str, Place], choice: str, now: str, actor: str, why: str = ""
) -> tuple[tuple[Entry, ...], dict[str, tuple[Step, ...]]]:
    """The entries and steps that resolve a review. `accept`: the newest statement (by date, then by its order in the
    line) replaces the others; `reject`: the oldest does; `keep-both`: all stay."""
    order = {id: number for number, id in enumerate(review.memory_ids)}
    ranked = sorted(
        (id for id in places if places[id][1].status in CURRENT), key=lambda id: (places[id][1].date or "", order[id])
    )
    steps: dict[str, list[Step]] = defaultdict(list)
    entries: list[Entry] = []
    if choice != "keep-both" and len(ranked) > 1:
        winner = ranked[-1] if choice == "accept" else ranked[0]
        for id in ranked:
            if id != winner:
                home = places[id][0]
                steps[home].append(Step("supersede", id, by=pointer_to(winner, places[winner][0], home)))
                entries.append(Entry(now, actor, "supersede", id, home, why=f"review ^{review.id}: {choice}", extra={"by": winner}))
    steps[path].append(Step("unreview", review.id))
    entries.insert(0, Entry(now, actor, "resolve", review.id, path, why=why, extra={
        "choice": choice, "memories": list(review.memory_ids)}))
    return tuple(entries), {p: tuple(s) for p, s in steps.items()}


def diff(before: Before, after: After, *, now: str) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    """All hand edits; `now` is RFC 3339."""
    work = _Diff(before, after, now)
    work.run()
    return tuple(work.findings), tuple(work.problems)


def needed(findings: Iterable[Finding]) -> dict[str, tuple[Step, ...]]:
    """The steps of all findings, by file, in order."""
    out: dict[str, list[Step]] = defaultdict(list)
    for finding in findings:
        for path, steps in finding.steps.items():
            out[path].extend(steps)
    return {path: tuple(steps) for path, steps in sorted(out.items())}
