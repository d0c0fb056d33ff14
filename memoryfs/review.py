"""In: a store, and a person's choice. Out: what waits for one (contradictions and topics first, then the inbox), and the choice carried out.

A contradiction is settled at once. A statement in the inbox is answered in its line there, as a person would in an editor;
the organizer's next run learns what was accepted and never again proposes what was rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memoryfs import inbox, ledger
from memoryfs.audit import OpenReview, Statement, open_reviews
from memoryfs.audit.grounds import said_in, weaknesses
from memoryfs.audit.subject import reader
from memoryfs.edits import Change
from memoryfs.edits.merged import proposed
from memoryfs.edits.takeback import VERDICTS
from memoryfs.edits.verbs import CHOICES
from memoryfs.errors import NotFoundError, UsageError
from memoryfs.files import INBOX
from memoryfs.inbox import Waiting

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore

VERBS = (*CHOICES, "edit", *VERDICTS, "undo")
_FILED = {"accept": "learned at the next run", "reject": "dropped; it is not proposed again", "edit": "learned in these words at the next run"}


@dataclass(frozen=True)
class Item:
    """What waits: a contradiction or two topics that may be one (`review`), or a statement in the inbox (`statement`, at `line`, counted from 1)."""

    id: str
    review: OpenReview | None = None
    statement: Statement | None = None
    line: int = 0

    @property
    def other(self) -> str:
        """The topic that this proposes to merge into the one where it stands; "" for what is no such proposal."""
        return proposed(self.review.review, self.review.topic) if self.review else ""

    @property
    def newest(self) -> str:
        """The words that `accept` keeps: of two statements the later one's, as `edits.resolve` chooses."""
        if self.statement is not None:
            return self.statement.memory.summary
        sides = self.review.sides if self.review else ()
        dated = [(s.memory.date or "", n) for n, s in enumerate(sides)]
        return sides[max(dated)[1]].memory.summary if dated else ""

    def to_dict(self) -> dict[str, Any]:
        if self.review is not None:
            return {"kind": "topics", **self.review.to_dict(), "other": self.other} if self.other else {
                "kind": "contradiction", **self.review.to_dict()}
        assert self.statement is not None
        memory = self.statement.memory
        return {"kind": "inbox", "id": self.id, "topic": INBOX, "line": self.line, "text": memory.summary,
                "memories": [memory.to_dict() | {"date": memory.date, "said": [s.to_dict() for s in self.statement.said]}]}


def waiting(store: MemoryStore) -> tuple[Item, ...]:
    """Everything that waits for a person, with both sources of each contradiction and the source of each statement."""
    out = [Item(found.review.id, review=found) for found in open_reviews(store)]
    events = reader(store)
    items = inbox.waiting(ledger.read(store.root)[0])
    for line in inbox.lines(inbox.read(store.root)[0]):
        item = items.get(line.id)
        if line.ticked or line.struck or item is None or item.settled:
            continue
        quote = str(item.details.get("quote") or "")
        said = tuple(said_in(r.label, r, item.date or None, quote, events, True) for r in item.ranges)
        memory = replace(item.as_memory(), summary=line.text, line=line.number + 1)
        out.append(Item(line.id, statement=Statement(memory, said, len(said), weaknesses(memory, said)), line=line.number + 1))
    return tuple(out)


def settle(store: MemoryStore, id: str, verb: str, text: str = "") -> Change:
    """Carries out one choice. `id` is a review's (`r-…`), an inbox line's or, for a judgement, a memory's (`m-…`).

    Raises UsageError, NotFoundError, UnwritableFileError, ReadOnlyError.
    """
    id = id.strip().lstrip("^")
    if verb == "edit" and not text.strip():
        raise UsageError("edit needs the new words", remedy=f'memoryfs review edit ^{id} --text "…"')
    if verb in VERDICTS:
        return store.judge(id, verb)
    if not id.startswith("m-"):
        return store.undo(id) if verb == "undo" else store.resolve(id, verb, text=text)
    item = inbox.waiting(ledger.read(store.root)[0]).get(id)
    if item is None or (item.settled and verb == "undo"):
        if verb == "undo":
            return store.undo(id)
        raise NotFoundError(f"^{id} in {INBOX}", remedy="`memoryfs review` lists what waits.")
    return _answer(store, item, verb, text)


def _answer(store: MemoryStore, item: Waiting, verb: str, text: str) -> Change:
    if verb not in (*_FILED, "undo"):
        raise UsageError(f"{verb} is for a contradiction; ^{item.id} waits in {INBOX}", remedy="Choices: accept, reject, edit.")
    from memoryfs.redact import redact

    before = inbox.read(store.root)[0]
    line = next((found for found in inbox.lines(before) if found.id == item.id), None)
    if line is None and verb != "undo":
        raise NotFoundError(f"^{item.id} in {INBOX}", remedy=f"`memoryfs review undo ^{item.id}` puts it there again.")
    words = {
        "accept": lambda row: re.sub(r"\[[ xX]\]", "[x]", row, count=1), "reject": lambda row: None,
        "edit": lambda row: inbox.written(replace(item, text=redact(" ".join(text.split())).text)).replace("[ ]", "[x]", 1),
        "undo": lambda row: inbox.written(item),
    }[verb]
    kept = inbox.edit(store.root, lambda now: _with_line(now, item, words, add=verb == "undo"))
    if not kept:
        raise UsageError(f"git's conflict markers stand in {INBOX}", remedy="Settle the conflict first.")
    return Change("inbox", item.id, INBOX, _FILED.get(verb, "waits again"))


def _with_line(text: str, item: Waiting, words: Callable[[str], str | None], *, add: bool) -> str:
    """The file's text with the statement's line put through `words` (None takes it out); with `add`, put in if it is gone."""
    line = next((found for found in inbox.lines(text) if found.id == item.id), None)
    if line is None:
        return inbox.edited(text, added=[item]) if add else text
    rows = text.split("\n")
    row = rows[line.number]
    end = "\r" if row.endswith("\r") else ""
    new = words(row.removesuffix("\r"))
    rows[line.number : line.number + 1] = [] if new is None else [new + end]
    return "\n".join(rows)
