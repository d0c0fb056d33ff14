"""In: the gists of topics. Out: the lines that a briefing may hold, by section and best first; no limit is applied here.

Worth, within a section: importance (0 to 1, default 0.5), plus up to 0.5 for recency (half of it is gone in 90 days before the
newest date in the store, so that the same store gives the same order on every day), plus 0.3 for what a person stated, plus or
minus what its judgements add (`memoryfs.usage`), less 0.2 for what is stale (`memoryfs.staleness`), instructions excepted. What was judged wrong comes last.
Superseded, withdrawn and archived memories never stand in a briefing; an instruction only if a person said it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from memoryfs.briefing.gist import MAX_RECENT, Gist, Said, day_of
from memoryfs.briefing.phrase import clip, escape, one_line, pointer
from memoryfs.files import NOTES, is_episode
from memoryfs.model import CURRENT, EMPTY
from memoryfs.staleness import SOURCE, reason

INSTRUCTIONS, PROJECTS, TASKS, RECENT = "Instructions", "Projects", "Open tasks", "Recent"
CONTACTS, INFRASTRUCTURE, TOPICS, REVIEW = "Contacts", "Infrastructure", "Topics", "Needs review"
# Section: (entries that come before the next section's second round, bytes of text a line).
SECTIONS: Mapping[str, tuple[int, int]] = {
    INSTRUCTIONS: (12, 300), PROJECTS: (8, 200), TASKS: (6, 200), RECENT: (6, 200), CONTACTS: (4, 200),
    INFRASTRUCTURE: (4, 200), TOPICS: (4, 160), REVIEW: (4, 240),
}
_STALE = (" (source changed)", " (check again)")
STALE = 0.2  # what it takes from the worth of a memory that it is to be checked again
_OWN_SECTION = {"projects": PROJECTS, "contacts": CONTACTS, "infrastructure": INFRASTRUCTURE}


@dataclass(frozen=True, slots=True)
class Line:
    """One candidate line, `text` without its line end; `id` is the memory's or the review's, empty for a topic."""

    section: str
    text: str
    path: str
    id: str = ""
    worth: float = 0.0
    date: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Lines by section, best first; `topics` and `episodes` are the paths that must be linked or counted."""

    lines: Mapping[str, tuple[Line, ...]]
    topics: tuple[str, ...]
    episodes: tuple[str, ...]
    reviews: int


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


class _Scale:
    """Worth relative to the newest date in the store (dates to come count as today)."""

    def __init__(self, days: Iterable[date | None], today: date) -> None:
        self.newest = max((min(day, today) for day in days if day), default=today)

    def worth(self, importance: float, day: date | None, person: bool = False) -> float:
        age = max(0, (self.newest - day).days) if day else 3650
        return round(importance + 0.5 * 0.5 ** (age / 90) + (0.3 if person else 0.0), 6)


def _line(section: str, text: str, path: str, *, lead: str = "", tail: str = "", **more: Any) -> Line:
    said = clip(escape(one_line(text)), SECTIONS[section][1])
    return Line(section, f"- {lead}{said}{tail}{pointer(path)}", path, **more)


def _doubt(said: Said, today: date) -> str:
    if said.conflicted:
        return " (needs review)"
    stale = reason(said.date, said.changed, said.recheck, today)
    return _STALE[not stale.startswith(SOURCE)] if stale else ""


def _topic_line(section: str, gist: Gist, scale: _Scale) -> Line:
    return _line(
        section, f"{gist.title}: {gist.about}" if gist.about else gist.title, gist.path,
        tail=" (needs review)" if gist.reviews else "", worth=scale.worth(gist.importance, _day(gist.day)), date=gist.day,
    )


def review_words(text: str) -> str:
    """A review's text with its pointers taken out: `[[#^m-1]] says 7 days` becomes `7 days`; links to topics keep their path."""
    words = re.sub(r"\[\[[^\]]*#\^m-[^\]]*\]\](?:\s+(?:says|says:|says that))?\s*", "", text)
    words = re.sub(r"\[\[([^\[\]|#]+)\]\]", r"\1", words)
    return words if words.strip() else text


def _episode_day(gist: Gist) -> str:
    return gist.created or day_of(gist.path.rpartition("/")[2]) or gist.day


def candidates(gists: Iterable[Gist], today: date, moved: Mapping[str, float] = EMPTY) -> Candidates:
    """Everything a briefing could say about `gists`. Of a memory that stands in two files the first counts; `moved` is what
    the judgements of a memory (useful, wrong) add to its worth, by id."""
    ordered = sorted(gists, key=lambda gist: gist.path)
    scale = _Scale((_day(_episode_day(g) if is_episode(g.path) else g.day) for g in ordered), today)
    found: dict[str, list[Line]] = {section: [] for section in SECTIONS}
    recent: list[tuple[tuple[Any, ...], Line]] = []
    seen: set[str] = set()
    for gist in ordered:
        if gist.status not in CURRENT:
            continue
        if is_episode(gist.path):
            recent.append(_episode(gist))
            continue
        if gist.path != NOTES:
            section = _OWN_SECTION.get(gist.path.partition("/")[0], TOPICS) if "/" in gist.path else TOPICS
            found[section].append(_topic_line(section, gist, scale))
        for said in gist.memories:
            if said.id not in seen:
                seen.add(said.id)
                _add_memory(said, gist.path, scale, found, recent, moved.get(said.id, 0.0), _doubt(said, today))
        found[REVIEW] += [_line(REVIEW, review_words(text), gist.path, id=id) for id, text in gist.reviews]
    for section, lines in found.items():
        if section != REVIEW:
            lines.sort(key=lambda line: (-line.worth, line.path, line.id, line.text))
    recent.sort(key=lambda pair: pair[0])
    found[RECENT] = [line for _, line in recent[:MAX_RECENT]]
    return Candidates(
        {section: tuple(lines) for section, lines in found.items()},
        tuple(g.path for g in ordered if not is_episode(g.path)),
        tuple(g.path for g in ordered if is_episode(g.path)),
        len(found[REVIEW]),
    )


def _add_memory(
    said: Said, path: str, scale: _Scale, found: dict[str, list[Line]], recent: list[tuple[tuple[Any, ...], Line]],
    moved: float, doubt: str,
) -> None:
    day = _day(said.date)
    worth = scale.worth(said.importance, day, said.person) + moved - (STALE if doubt in _STALE and said.kind != "instruction" else 0.0)
    more = {"id": said.id, "worth": round(worth, 6), "date": said.date}
    if said.kind == "instruction":
        if said.person:
            found[INSTRUCTIONS].append(_line(INSTRUCTIONS, said.summary, path, tail=doubt, **more))
    elif said.kind == "task":
        text = re.sub(r"\A\[[ xX]\]\s+", "", said.summary)
        found[TASKS].append(_line(TASKS, text, path, lead="[ ] ", tail=doubt, **more))
    elif day:
        line = _line(RECENT, said.summary, path, lead=f"{day} ", tail=doubt, **more)
        recent.append(((moved < 0, -day.toordinal(), 0 if said.told else 2, path, -said.line), line))


def _episode(gist: Gist) -> tuple[tuple[Any, ...], Line]:
    day = _episode_day(gist)
    title = gist.title.removeprefix(day).strip(" -:") or gist.title
    text = f"{title}: {gist.about}" if gist.about and gist.about != title else title
    line = _line(RECENT, text, gist.path, lead=f"{day} " if day else "", date=day)
    return (False, -(date.fromisoformat(day).toordinal() if day else 0), 1, gist.path, 0), line
