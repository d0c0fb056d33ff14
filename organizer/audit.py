"""In: a store that was organized. Out: a random sample of what was kept and of what was dropped, and a person's verdicts on it.

What was dropped is read from the reports of the last runs (`.memoryfs/reports/`); what was kept, from the topic files. An
item that was judged before is not shown again. Neither list says to the judge what became of an item.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryfs import ledger
from memoryfs import thread as threads
from memoryfs.config import Config
from memoryfs.edits.load import load_topics
from memoryfs.errors import UsageError
from memoryfs.files import is_episode
from memoryfs.model import CURRENT, SourceRange
from memoryfs.runs import REPORTS
from memoryfs.textfile import STATE
from organizer.verdicts import Rates, Verdict, entry, rates, verdicts

DROPPED_BY_GATE = ("not worth keeping", "nearly worth keeping")  # other reasons are not the gate's, and tell it nothing


@dataclass(frozen=True, slots=True)
class Item:
    """One statement to judge; `item` is its key in the verdicts: a memory's id, or one made of text and source."""

    item: str
    text: str
    kind: str
    role: str
    source: str
    kept: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def sample(root: Path, config: Config, most: int, *, seed: int | None = None) -> list[Item]:
    """At most `most` kept and `most` dropped items that nobody has judged yet, in mixed order. The same ledger gives the
    same sample, unless `seed` says otherwise."""
    entries = ledger.read(root)[0]
    given = verdicts(entries)
    judged = {v.item for v in given} | {v.text for v in given}
    choose = random.Random(len(given) if seed is None else seed)
    picked: list[Item] = []
    for found in (_kept(root, config, entries), _dropped(root)):
        left = [i for i in found if i.item not in judged and i.text not in judged]
        picked += choose.sample(left, min(most, len(left)))
    choose.shuffle(picked)
    return picked


def _kept(root: Path, config: Config, entries: Sequence[ledger.Entry]) -> list[Item]:
    """What the organizer kept by its own judgement and still stands."""
    said = {e.id: str(e.extra.get("said_by") or "") for e in entries if e.action == "add" and e.actor == "organizer"}
    return [
        Item(m.id, m.summary, m.kind, "user" if said[m.id] == "user" else "assistant",
             m.source_range[0].label if m.source_range else "", True)
        for path, topic in sorted(load_topics(root, config).items()) if not is_episode(path)
        for m in topic.memories if m.id in said and m.stated_by == "organizer" and m.status in CURRENT
    ]


def _dropped(root: Path) -> list[Item]:
    """What the gate dropped in the runs whose reports are kept, each statement once."""
    from memoryfs.topic import memory_id

    found: dict[str, Item] = {}
    roles: dict[str, str] = {}
    for path in sorted((root / STATE / REPORTS).glob("2*.json")):
        try:
            sessions = json.loads(path.read_bytes())["sessions"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a report that a person removed or cut is only missing from the sample
        for session in sessions if isinstance(sessions, list) else ():
            for item in session.get("items", ()):
                why, text, source = (str(item.get(k) or "") for k in ("why", "text", "source"))
                if item.get("action") == "drop" and text and why.startswith(DROPPED_BY_GATE):
                    key = memory_id(text, source)
                    if source not in roles:
                        roles[source] = _role(root, source)
                    found[key] = Item(key, text, str(item.get("kind") or "fact"), roles[source], source, False)
    return list(found.values())


def _role(root: Path, source: str) -> str:
    """Who said it: the role of the last event of its source."""
    place = SourceRange.parse(source)
    thread = threads.resolve(root, place.thread) if place else None
    events = threads.read_events(root, thread, place.end, place.end) if place and thread else []
    return "user" if events and events[-1].role == "user" else "assistant"


def judge(root: Path, item: Item, worth: bool, *, now: datetime) -> None:
    """Records one answer at once, so that an audit that is broken off loses nothing."""
    verdict = Verdict(item.item, item.text, item.role, item.kept, worth, True)
    ledger.append(root, [entry(verdict, time=now.isoformat(timespec="seconds"))])


def judge_all(root: Path, config: Config, lines: Iterable[str], *, now: datetime) -> int:
    """Records answers given as JSON lines `{"item": …, "worth": true}`; returns how many. Raises UsageError for a line that
    is none or names no item, before anything is recorded."""
    items = {i.item: i for i in (*_kept(root, config, ledger.read(root)[0]), *_dropped(root))}
    given: list[tuple[Item, bool]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            item, worth = items[data["item"]], data["worth"]
        except (ValueError, KeyError, TypeError):
            item = worth = None
        if item is None or not isinstance(worth, bool):
            raise UsageError(f"line {number} is no verdict on an item of this store",
                             remedy='Write {"item": "m-…", "worth": true}, with the items that `organize --audit N --json` names.')
        given.append((item, worth))
    for item, worth in given:
        judge(root, item, worth, now=now)
    return len(given)


def standing(root: Path) -> Rates:
    """The rates over all audits of the store."""
    return rates(verdicts(ledger.read(root)[0]))


def ask(
    items: Sequence[Item], ask_one: Callable[[str, int, int], str], record: Callable[[Item, bool], None]
) -> int:
    """Shows the items one by one and records each answer; `ask_one(words, number, of)` gives `y`, `n`, `s` (skip) or `q`
    (end). Returns how many were judged."""
    done = 0
    for number, item in enumerate(items, 1):
        answer = ask_one(f"{item.text}\n    {item.kind}, said by the {item.role} ({item.source})", number, len(items))
        if answer == "q":
            break
        if answer in ("y", "n"):
            record(item, answer == "y")
            done += 1
    return done
