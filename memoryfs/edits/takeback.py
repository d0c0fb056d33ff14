"""In: a resolved review's id, or a judged memory's. Out: the files as they stood before that choice, the ledger told.

`resolve` records, with its entry in the ledger, the lines it changed. Undoing puts the old lines back where the new ones stand
now; what a person wrote elsewhere in the file meanwhile stays. Where the changed lines themselves were changed again,
nothing is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from memoryfs import ledger
from memoryfs.config import Config
from memoryfs.edits.echoes import entry_of
from memoryfs.edits.plan import Change
from memoryfs.edits.renew import renew
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.errors import NotFoundError, UnwritableFileError, UsageError
from memoryfs.ledger import Entry
from memoryfs.topic import Topic, parse, split_lines

KEY = "undo"  # of a resolve entry's extra: a list of {topic, hunks}
VERDICTS = ledger.JUDGEMENTS
_REMEDY = "Mend it by hand: `memoryfs audit` tells every change."


def hunks(before: str, after: str) -> list[dict[str, Any]]:
    """What to put back, last first: at line `at` of `after` (from 0) the lines `new` stand for `old`; `around` is the line before
    and the line after them, empty at an end of the file."""
    old, new = split_lines(before), split_lines(after)
    out = []
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            around = [new[j1 - 1] if j1 else "", new[j2] if j2 < len(new) else ""]
            out.append({"at": j1, "old": list(old[i1:i2]), "new": list(new[j1:j2]), "around": around})
    return out[::-1]


def put_back(text: str, parts: Iterable[Mapping[str, Any]]) -> str | None:
    """`text` with `hunks` reversed; None if one of them cannot be found any more."""
    lines = list(split_lines(text))
    for part in parts:
        new, (above, below) = part["new"], part["around"]
        at = _find(lines, new, above, below, int(part["at"]))
        if at is None:
            return None
        lines[at : at + len(new)] = part["old"]
    return "".join(lines)


def _find(lines: Sequence[str], new: list[str], above: str, below: str, at: int) -> int | None:
    """Where `new` stands, nearest to `at`; of nothing at all, the place between its old neighbours, or beside one of them."""
    def near(places: Iterable[int]) -> int | None:
        return min(places, key=lambda place: (abs(place - at), place), default=None)

    spots = range(len(lines) - len(new) + 1)
    if new:
        return near(place for place in spots if list(lines[place : place + len(new)]) == new)

    def fits(place: int, up: bool, down: bool) -> bool:
        return (not up or (lines[place - 1] if place else "") == above) and (
            not down or (lines[place] if place < len(lines) else "") == below)

    for up, down in ((True, True), (bool(above.strip()), False), (False, bool(below.strip()))):
        if up or down:
            found = near(place for place in spots if fits(place, up, down))
            if found is not None:
                return found
    return None


def undo(root: Path, config: Config, review_id: str, *, actor: str, now: datetime) -> Change:
    """Opens the review `r-…` again as it stood before it was resolved by command.

    Raises NotFoundError if it was not, UnwritableFileError if its lines were changed since, ReadOnlyError.
    """
    entries = ledger.read(root)[0]
    number = next((n for n in range(len(entries) - 1, -1, -1) if entries[n].id == review_id
                   and entries[n].action in ("resolve", "conflict", "propose")), None)
    last = entries[number] if number is not None else None
    if number is None or last is None or last.action != "resolve":
        raise NotFoundError(f"a choice about ^{review_id} to undo", remedy="`memoryfs review` lists what is open.")
    if not isinstance(last.extra.get(KEY), list):
        raise NotFoundError(f"the lines that settled ^{review_id}", remedy="It was settled in the file; settle it there.")
    before = ledger.state(entries[:number])
    kept = ledger.reviews(entries[:number]).get(review_id)
    told: list[Entry] = []
    stamp = now.isoformat(timespec="seconds")
    parts = {str(part["topic"]): part["hunks"] for part in last.extra[KEY]}
    for path, listed in parts.items():  # all of them can be put back, or none is
        restored(read_topic(root, path, config)[0], listed)
    opened = None
    for path, listed in sorted(parts.items(), key=lambda item: (item[0] == last.topic, item[0])):
        was, now_is = read_topic(root, path, config)[0], None

        def edit(topic: Topic, listed: Any = listed) -> Topic:
            return restored(topic, listed)

        now_is = edit_topic(root, path, edit, config=config)
        opened = opened or next((r for r in now_is.reviews if r.id == review_id), None)
        for memory in now_is.memories:
            known = before.get(memory.id)
            old = next((m for m in was.memories if m.id == memory.id), None)
            if known and (old is None or (old.status, old.summary) != (memory.status, memory.summary)) \
                    and memory.id in (last.extra.get("memories") or ()):
                told.append(Entry(stamp, actor, "restore", memory.id, path, known.text or memory.summary, memory.kind,
                                  why=f"the choice about ^{review_id} was undone",
                                  extra={"stated_by": known.stated_by} | ({"done": True} if memory.done else {})))
        meta = {key: now_is.meta.get(key) or "" for key in ("summary", "query_hints")
                if now_is.meta.get(key) != was.meta.get(key)}
        told += [entry_of(path, meta, stamp)] if meta else []
    text = opened.text if opened else kept.text if kept else ""
    told.append(Entry(stamp, actor, "conflict", review_id, last.topic, text, why="the choice was undone",
                      extra={"memories": list(last.extra.get("memories") or ())}))
    ledger.append(root, told)
    return Change("restore", review_id, last.topic, "open again")


def restored(topic: Topic, listed: Any) -> Topic:
    """The topic with the hunks `listed` put back. Raises UnwritableFileError."""
    text = put_back(topic.text, listed)
    if text is None:
        raise UnwritableFileError(topic.path, "the lines of this choice were changed since", remedy=_REMEDY)
    return parse(text.encode("utf-8", "surrogateescape"), topic.path)


def judge(root: Path, config: Config, id: str, verdict: str, *, actor: str, now: datetime, undone: bool = False) -> Change:
    """Records that the memory `id` was `useful` or `wrong`, or, with `undone`, that its last judgement was not meant.

    Who finds it useful confirms it: marks that call it stale go from its footnote (`memoryfs.edits.renew`); no other file changes.
    Raises UsageError, NotFoundError, ReadOnlyError.
    """
    if verdict not in VERDICTS:
        raise UsageError(f"{verdict!r} is not a judgement", remedy=f"Judgements: {', '.join(VERDICTS)}.")
    entries = ledger.read(root)[0]
    known = ledger.state(entries).get(id)
    if known is None or known.status == "withdrawn":
        raise NotFoundError(f"memory ^{id}")
    told = Entry(now.isoformat(timespec="seconds"), actor, verdict, id, known.topic, extra={"undone": True} if undone else {})
    ledger.append(root, (told, *(renew(root, config, known.topic, id, now=now) if verdict == "useful" and not undone else ())))
    return Change(verdict, id, known.topic, "taken back" if undone else known.text)


def unjudge(root: Path, config: Config, id: str, *, actor: str, now: datetime) -> Change:
    """Takes the last judgement of the memory `id` back. Raises NotFoundError if there is none."""
    given = ledger.judgements(ledger.read(root)[0]).get(id)
    if not given:
        raise NotFoundError(f"a judgement of ^{id} to undo", remedy="`memoryfs audit ^m-…` tells every change.")
    return judge(root, config, id, given[-1], actor=actor, now=now, undone=True)
