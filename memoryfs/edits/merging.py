"""In: a proposal to make one topic of two, and a person's answer. Out: both files as it says, the ledger told; or as they were before.

A proposal is a line under *Needs review* of the topic that would stay, with a link to the other one. Accepted, all memories of
the other go over, with its open reviews; what a person wrote beside them and its front matter stay in its file, which names the
new place under *Moved*. A file that holds nothing else any more is marked `superseded`. Nothing is merged without an answer.

An answer, and taking one back, is planned whole on the parsed topics, kept (`memoryfs.edits.unfinished`), then carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs import ledger, topic_edit
from memoryfs.config import Config
from memoryfs.edits import takeback, unfinished
from memoryfs.edits.adopt import adopt
from memoryfs.edits.merged import (
    SUCCESSOR,
    changed_keys,
    front_of,
    given,
    hand_written,
    left_behind,
    proposal_id,
    proposed,
    received,
    without_review,
)
from memoryfs.edits.plan import Change
from memoryfs.edits.unfinished import Work
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError
from memoryfs.ledger import Entry
from memoryfs.textfile import digest_of
from memoryfs.topic import Review, Topic

PROPOSE = "propose"
OTHER = "merge"  # key of the ledger's lines: the topic that would go


def propose(root: Path, config: Config, keep: str, other: str, reason: str, *, now: datetime) -> str:
    """Writes the proposal under *Needs review* of `keep`; its id. Raises NotFoundError, UnwritableFileError, ReadOnlyError."""
    id = proposal_id(keep, other)
    text = f"[[{other.removesuffix('.md')}]] seems to be about the same ({reason}): are the two to be merged, here?"

    def ask(topic: Topic) -> Topic:
        return topic if any(r.id == id for r in topic.reviews) else topic_edit.add_review(topic, text, id, ())

    edit_topic(root, keep, ask, config=config)
    ledger.append(root, [Entry(now.isoformat(timespec="seconds"), "organizer", PROPOSE, id, keep, text, extra={OTHER: other})])
    return id


def answer(root: Path, config: Config, keep: str, review: Review, choice: str, *, actor: str, now: datetime, why: str = "") -> Change:
    """`accept` merges, `reject` (or `keep-both`) leaves both as they are, and the pair is not proposed again; `why` it was chosen.

    Raises UsageError, NotFoundError, UnwritableFileError, ChangedMeanwhileError, ReadOnlyError; before anything is written, unless
    somebody saves one of the files in that instant: what is left to be done is then done by the next run.
    """
    if choice not in ("accept", "reject", "keep-both"):
        raise UsageError(f"{choice} is for a contradiction; ^{review.id} asks about two topics", remedy="Choices: accept, reject.")
    if choice == "accept":
        adopt(root, config, now=now)  # a bullet that was only just typed goes too
    with unfinished.alone(root, config):
        plan = _accepted if choice == "accept" else _rejected
        work = plan(root, config, keep, proposed(review, keep), review.id, actor, now, why)
        return _carried_out(root, config, replace(work, detail=work.detail or choice))


def _carried_out(root: Path, config: Config, work: Work) -> Change:
    unfinished.begin(root, work)
    unfinished.carry_out(root, config, work)
    return work.change


def _writable(root: Path, config: Config, path: str) -> Topic:
    topic = read_topic(root, path, config)[0]
    if not topic.writable:
        raise UnwritableFileError(path, next((p.message for p in topic.problems if p.severity == "error"), "it is damaged"))
    return topic


def _accepted(root: Path, config: Config, keep: str, other: str, id: str, actor: str, now: datetime, why: str) -> Work:
    stamp, entries = now.isoformat(timespec="seconds"), ledger.read(root)[0]
    stays, goes = _writable(root, config, keep), _writable(root, config, other)
    ids = [m.id for m in goes.memories]
    kept, words = received(stays, goes, ids, id), bool(hand_written(goes))
    gone = given(goes, kept, ids, ledger.own_meta(entries).get(other, {}), stamp[:10], words=words)
    moved = tuple(i for i in ids if i not in {m.id for m in gone.memories})
    left = left_behind(stays, goes)
    extra: dict[str, Any] = {"choice": "accept", OTHER: other, "moved": list(moved), "left": left}
    if moved or goes.meta.get(SUCCESSOR) != keep:  # else it went before, and there is nothing to take back
        extra[takeback.KEY] = [_lines(goes, gone), _lines(stays, kept) | front_of(stays)]
    known = ledger.state(entries)
    moves = (Entry(stamp, actor, "move", i, keep, why=f"merged into {keep}", extra={"from": other})
             for i in moved if i not in known or known[i].topic != keep)
    resolved = Entry(stamp, actor, "resolve", id, keep, why=why or "the topics are one", extra=extra)
    stay = f"; its {', '.join(left)} stay in {other}" if left else ""
    return Work("accept", id, keep, other, stamp, f"{len(moved)} memories of {other} stand here now{stay}", len(entries), moved,
                words, tuple(moves), (*_front(goes, gone, ("summary", "query_hints"), f"merged into {keep}", stamp), resolved))


def _rejected(root: Path, config: Config, keep: str, other: str, id: str, actor: str, now: datetime, why: str) -> Work:
    stamp, stays = now.isoformat(timespec="seconds"), _writable(root, config, keep)
    lines = [_lines(stays, without_review(stays, id))]
    resolved = Entry(stamp, actor, "resolve", id, keep, why=why or "the topics are two",
                     extra={"choice": "reject", OTHER: other, takeback.KEY: lines})
    return Work("reject", id, keep, other, stamp, "", len(ledger.read(root)[0]), last=(resolved,))


def _lines(before: Topic, after: Topic) -> dict[str, Any]:
    return {"topic": before.path, "hunks": takeback.hunks(before.text, after.text)}


def _front(before: Topic, after: Topic, keys: Iterable[str], why: str, stamp: str) -> Sequence[Entry]:
    """What the ledger must know of a changed front matter, so that it is not taken for a person's edit."""
    changed = {"status", *keys} & {*changed_keys(before, after)}
    meta = {key: after.status if key == "status" else after.meta.get(key) or "" for key in sorted(changed)}
    return [Entry(stamp, "organizer", "edit", "", after.path, why=why, extra={"meta": meta})] if meta else []


def undo(root: Path, config: Config, review_id: str, *, actor: str, now: datetime) -> Change:
    """Takes the last answer back: see `takeback.undo` for a contradiction; of two topics, both stand as before.

    Raises NotFoundError if there is none, UnwritableFileError if the lines were changed since, ReadOnlyError.
    """
    done, _ = unfinished.complete(root, config, asked=review_id)
    if done is not None and (done.verb, done.id) == ("undo", review_id):
        return done.change
    last = _last(root, review_id)
    if last is None or last.action != "resolve" or OTHER not in last.extra:
        return takeback.undo(root, config, review_id, actor=actor, now=now)
    with unfinished.alone(root, config):
        return _carried_out(root, config, _undone(root, config, review_id, actor, now))


def _last(root: Path, review_id: str) -> Entry | None:
    found = (e for e in reversed(ledger.read(root)[0]) if e.id == review_id and e.action in ("resolve", PROPOSE, "conflict"))
    return next(found, None)


def _undone(root: Path, config: Config, review_id: str, actor: str, now: datetime) -> Work:
    """All of the files can be put back, or none is."""
    entries, last = ledger.read(root)[0], _last(root, review_id)
    if last is None or last.action != "resolve" or not isinstance(last.extra.get(takeback.KEY), list):
        raise NotFoundError(f"the lines that settled ^{review_id}", remedy="It was settled in the file; settle it there.")
    stamp, keep, other = now.isoformat(timespec="seconds"), last.topic, str(last.extra[OTHER])
    own, why = ledger.own_meta(entries), "the merging was undone"
    parts, fronts = [], []
    for kept in last.extra[takeback.KEY]:
        path = str(kept["topic"])
        topic = read_topic(root, path, config)[0]
        part = {**kept, "digest": digest_of(topic.text.encode("utf-8", "surrogateescape")), "own": own.get(path, {})}
        back = unfinished.as_before(topic, part)
        fronts += _front(topic, back, own.get(path, {}) if path == keep else ("summary", "query_hints"), why, stamp)
        parts.append(part)
    moved = tuple(id for id in last.extra.get("moved") or () if isinstance(id, str))
    back_home = (Entry(stamp, actor, "move", id, other, why=f"the choice about ^{review_id} was undone", extra={"from": keep}) for id in moved)
    text = next((e.text for e in reversed(entries) if e.id == review_id and e.action == PROPOSE), "")
    opened = Entry(stamp, actor, PROPOSE, review_id, keep, text, why="the choice was undone", extra={OTHER: other})
    return Work("undo", review_id, keep, other, stamp, "open again", len(entries), moved, False, tuple(back_home), (*fronts, opened), tuple(parts))
