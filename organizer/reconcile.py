"""In: verified candidates and what is known. Out: one Decision each: add, reinforce, merge, supersede, conflict, ignore, inbox.

A statement that is known gets another source, once per source; one that says all that is known and more takes its place. One that cannot hold together with what is known
replaces it only when a user said so later and in so many words (or the candidate is a correction); a line that a
person wrote or edited is never replaced, and everything less certain keeps both and asks a person. A statement
that returns after it was replaced (A, B, A) is a new memory that replaces B in turn.
"""

from __future__ import annotations

from collections.abc import Callable

from memoryfs.model import CURRENT, Memory, SourceRange
from memoryfs.recall import changes
from memoryfs.text import similarity_key
from organizer.compare import Contradiction, contradiction, explicit_change
from organizer.dedupe import EXACT, POSSIBLE, Known
from organizer.nouns import Candidate, Decision
from organizer.statement import Statement, analyse

COMPARED_KINDS = frozenset({"fact", "instruction"})


def decide(
    candidate: Candidate,
    known: Known,
    *,
    withdrawn: Callable[[str, SourceRange], bool] = lambda text, source: False,
    scope_of: Callable[[str], str] = lambda topic: "",
    scope: str = "",
) -> Decision:
    """The decision on one candidate.

    `withdrawn(text, source)` says that a person took this statement out before. `scope_of(topic)` and `scope` name
    the repository that a topic and the candidate belong to; statements of two repositories never contradict.
    """
    if withdrawn(candidate.summary, candidate.source):
        return Decision("ignore", candidate, None, "a person withdrew it")
    seen = _from_same_source(candidate, known)
    if seen is not None:
        return Decision("ignore", candidate, seen.id, "learned from this source before")
    match = known.find(candidate.summary)
    same = match.memory if match.outcome in (EXACT, POSSIBLE) else None
    if same is not None and _compatible(candidate, same) and _one_scope(scope_of(same.topic), scope):
        if any(_covers(r, candidate.source) for r in same.source_range):
            return Decision("ignore", candidate, same.id, "learned from this source before")
        if match.fuller and _may_replace(candidate, same):
            return Decision("merge", candidate, same.id, f"says the same and more ({match.score:.2f})")
        why = "same statement" if match.outcome == EXACT else f"same statement in other words ({match.score:.2f})"
        return Decision("reinforce", candidate, same.id, why)
    if candidate.gate == "inbox":
        return Decision("inbox", candidate, None, ", ".join(candidate.why) or "not certain enough to keep")
    rival = _rival(candidate, known, scope_of, scope)
    if rival is None:
        return Decision("add", candidate, None, match.difference and f"near {match.memory.id}, other {match.difference}"
                        if match.memory is not None else "new")
    memory, found = rival
    return _resolve(candidate, memory, found)


def _resolve(candidate: Candidate, memory: Memory, found: Contradiction) -> Decision:
    said = f"{found.how}: {found.detail}" if found.detail else found.how
    if memory.stated_by == "person":
        return Decision("conflict", candidate, memory.id, f"{said}; a person wrote the other")
    if _date(candidate) < (memory.date or ""):
        return Decision("conflict", candidate, memory.id, f"{said}; said earlier than the other")
    explicit = candidate.correction or found.how == "contrast" or explicit_change(candidate.quote or candidate.summary)
    if candidate.stated_by == "user" and explicit and found.how != "refinement":
        return Decision("supersede", candidate, memory.id, f"{said}; a later change by the user")
    if candidate.stated_by != "user" and not memory.from_person and _reported(candidate, memory):
        return Decision("supersede", candidate, memory.id, f"{said}; a change that was made, as the {candidate.stated_by} shows")
    if candidate.stated_by != "user":
        return Decision("conflict", candidate, memory.id, f"{said}; said by the {candidate.stated_by}")
    return Decision("conflict", candidate, memory.id, f"{said}; not said to be a change")


def _reported(candidate: Candidate, memory: Memory) -> bool:
    """The assistant says that it made the change (not that it will), or a commit does: "Renamed `a` to `b`"."""
    stated = changes.stated(candidate.quote or candidate.summary, candidate.stated_by)
    return any(changes.given_up(change, memory.summary) for change in stated)


def _from_same_source(candidate: Candidate, known: Known) -> Memory | None:
    """The memory, of whatever status, that this very statement of this very source became in an earlier run."""
    key = similarity_key(candidate.summary)
    for memory in known.same_key(candidate.summary):
        if similarity_key(memory.summary) == key and any(_covers(r, candidate.source) for r in memory.source_range):
            return memory
    return known.learned_from(candidate.source, candidate.quote)


def _covers(outer: SourceRange, inner: SourceRange) -> bool:
    return outer.thread == inner.thread and outer.start <= inner.end and inner.start <= outer.end


def _compatible(candidate: Candidate, memory: Memory) -> bool:
    """A task is not reinforced by the report that it was done, nor an instruction by what merely happened."""
    pair = {candidate.kind, memory.kind}
    return len(pair) == 1 or pair <= COMPARED_KINDS or pair <= {"fact", "event"}


def _may_replace(candidate: Candidate, memory: Memory) -> bool:
    """A fuller wording is taken only where it weighs as much: no less certain, of one kind, and said by a user if the other was."""
    said = candidate.stated_by == "user" or not (memory.from_person or memory.stated_by == "agent")
    return candidate.gate != "inbox" and candidate.kind == memory.kind and memory.stated_by != "person" and memory.status == "active" and said


def _one_scope(a: str, b: str) -> bool:
    return not a or not b or a == b


def _date(candidate: Candidate) -> str:
    return (candidate.when or candidate.time or "9999")[:10]


def _rival(
    candidate: Candidate, known: Known, scope_of: Callable[[str], str], scope: str
) -> tuple[Memory, Contradiction] | None:
    if candidate.kind not in COMPARED_KINDS:
        return None
    statement = analyse(candidate.summary)
    best: tuple[int, float, Memory, Contradiction] | None = None
    for memory, other in known.near(statement):
        if memory.status not in CURRENT or memory.kind not in COMPARED_KINDS:
            continue
        if not _one_scope(scope_of(memory.topic), scope):
            continue
        found = contradiction(other, statement)
        if found is None or _one_train_of_thought(memory, candidate):
            continue
        rank = (found.how != "refinement", _shared(other, statement), memory, found)
        if best is None or rank[:2] > best[:2]:
            best = rank
    return None if best is None else (best[2], best[3])


def _one_train_of_thought(memory: Memory, candidate: Candidate) -> bool:
    """Both are the assistant's, in one session: it corrects itself as it goes, and nobody needs to be asked."""
    said = memory.from_person or memory.stated_by == "agent"
    return candidate.stated_by != "user" and not said and any(r.thread == candidate.source.thread for r in memory.source_range)


def _shared(a: Statement, b: Statement) -> float:
    return len(a.content & b.content) / max(1, len(a.content | b.content))


def as_memory(candidate: Candidate, memory_id: str, topic: str, *, status: str = "active") -> Memory:
    """The memory that a candidate becomes in `topic`; its date is the day it was said.

    `candidate.metadata` may hold `ranges` (all its sources, if not just the one) and `approved` (the ISO 8601 date on
    which a person said that it holds: then it is the person's).
    """
    approved = candidate.metadata.get("approved")
    role = {"role": "user"} if candidate.stated_by == "user" and candidate.metadata.get("said_by", "user") == "user" else {}
    return Memory(
        id=memory_id,
        summary=candidate.summary,
        kind=candidate.kind,
        status=status,
        topic=topic,
        line=0,
        source_range=tuple(candidate.metadata.get("ranges", (candidate.source,))),
        stated_by="person" if approved else "organizer",
        date=(candidate.time or approved or "")[:10] or None,
        query_hints=candidate.query_hints,
        quote=candidate.quote,
        metadata=role | ({"labels": (f"person:{approved}",)} if approved else {}),
    )
