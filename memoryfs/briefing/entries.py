"""In: parsed topics. Out: the lines that a briefing may hold, by section and best first; no limit is applied here.

Worth, within a section: importance (0 to 1, default 0.5), plus up to 0.5 for recency (half of it is gone in 90 days before the
newest date in the store, so that the same store gives the same order on every day), plus 0.3 for what a person stated.
Superseded, withdrawn and archived memories never stand in a briefing; an instruction only if a person said it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from memoryfs.briefing.phrase import clip, escape, one_line, pointer
from memoryfs.files import NOTES, is_episode
from memoryfs.model import Memory

if TYPE_CHECKING:
    from memoryfs.topic import Review, Topic

INSTRUCTIONS, PROJECTS, TASKS, RECENT = "Instructions", "Projects", "Open tasks", "Recent"
CONTACTS, INFRASTRUCTURE, TOPICS, REVIEW = "Contacts", "Infrastructure", "Topics", "Needs review"
# Section: (entries that come before the next section's second round, bytes of text a line).
SECTIONS: Mapping[str, tuple[int, int]] = {
    INSTRUCTIONS: (12, 300), PROJECTS: (8, 200), TASKS: (6, 200), RECENT: (6, 200), CONTACTS: (4, 200),
    INFRASTRUCTURE: (4, 200), TOPICS: (4, 160), REVIEW: (4, 240),
}
_OWN_SECTION = {"projects": PROJECTS, "contacts": CONTACTS, "infrastructure": INFRASTRUCTURE}
_MAX_RECENT = 12
_CURRENT = ("active", "conflicted")


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


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.5
    return min(1.0, max(0.0, number)) if number == number else 0.5


def _by_person(memory: Memory) -> bool:
    said = {memory.stated_by, memory.metadata.get("stated_by"), memory.metadata.get("role")}
    return bool(said & {"person", "user"})


def _topic_day(topic: Topic) -> date | None:
    days = [_day(topic.meta.get(key)) for key in ("updated_at", "created_at")]
    days += [_day(memory.date) for memory in topic.memories if memory.date]
    return max((day for day in days if day), default=None)


def _episode_day(topic: Topic) -> date | None:
    return _day(topic.meta.get("created_at")) or _day(topic.path.rpartition("/")[2]) or _topic_day(topic)


class _Scale:
    """Worth relative to the newest date in the store (dates to come count as today)."""

    def __init__(self, days: Iterable[date | None], today: date) -> None:
        self.newest = max((min(day, today) for day in days if day), default=today)

    def worth(self, importance: Any, day: date | None, person: bool = False) -> float:
        age = max(0, (self.newest - day).days) if day else 3650
        return round(_number(importance) + 0.5 * 0.5 ** (age / 90) + (0.3 if person else 0.0), 6)


def _line(section: str, text: str, path: str, *, lead: str = "", tail: str = "", **more: Any) -> Line:
    said = clip(escape(one_line(text)), SECTIONS[section][1])
    return Line(section, f"- {lead}{said}{tail}{pointer(path)}", path, **more)


def _doubt(memory: Memory) -> str:
    return " (needs review)" if memory.status == "conflicted" else ""


def _topic_line(section: str, topic: Topic, scale: _Scale) -> Line:
    title = topic.title or topic.path.rpartition("/")[2].removesuffix(".md")
    about = topic.summary or next((m.summary for m in topic.memories if m.status in _CURRENT and m.kind != "instruction"), "")
    open_reviews = any(not review.ticked for review in topic.reviews)
    return _line(
        section, f"{title}: {about}" if about else title, topic.path, tail=" (needs review)" if open_reviews else "",
        worth=scale.worth(topic.importance, _topic_day(topic)), date=str(_topic_day(topic) or ""),
    )


def review_words(review: Review) -> str:
    """A review's text with its pointers taken out: `[[#^m-1]] says 7 days` becomes `7 days`."""
    text = re.sub(r"\[\[[^\]]*#\^m-[^\]]*\]\](?:\s+(?:says|says:|says that))?\s*", "", review.text)
    return text if text.strip() else review.text


def candidates(topics: Iterable[Topic], today: date) -> Candidates:
    """Everything a briefing could say about `topics`. Of a memory that stands in two files the first counts."""
    ordered = sorted(topics, key=lambda topic: topic.path)
    scale = _Scale((_episode_day(t) if is_episode(t.path) else _topic_day(t) for t in ordered), today)
    found: dict[str, list[Line]] = {section: [] for section in SECTIONS}
    recent: list[tuple[tuple[Any, ...], Line]] = []
    seen: set[str] = set()
    reviews = 0
    for topic in ordered:
        if topic.status not in _CURRENT and topic.status:
            continue
        if is_episode(topic.path):
            _add_episode(topic, recent)
            continue
        if topic.path != NOTES:
            section = _OWN_SECTION.get(topic.path.partition("/")[0], TOPICS) if "/" in topic.path else TOPICS
            found[section].append(_topic_line(section, topic, scale))
        for memory in topic.memories:
            if memory.status in _CURRENT and memory.id not in seen:
                seen.add(memory.id)
                _add_memory(memory, topic, scale, found, recent)
        for review in topic.reviews:
            if not review.ticked:
                reviews += 1
                found[REVIEW].append(_line(REVIEW, review_words(review), topic.path, id=review.id))
    for section, lines in found.items():
        if section != REVIEW:
            lines.sort(key=lambda line: (-line.worth, line.path, line.id, line.text))
    recent.sort(key=lambda pair: pair[0])
    found[RECENT] = [line for _, line in recent[:_MAX_RECENT]]
    return Candidates(
        {section: tuple(lines) for section, lines in found.items()},
        tuple(t.path for t in ordered if not is_episode(t.path)),
        tuple(t.path for t in ordered if is_episode(t.path)),
        reviews,
    )


def _add_memory(
    memory: Memory, topic: Topic, scale: _Scale, found: dict[str, list[Line]], recent: list[tuple[tuple[Any, ...], Line]]
) -> None:
    if memory.done or not memory.summary.strip():
        return
    person = _by_person(memory)
    day = _day(memory.date) if memory.date else None
    importance = memory.metadata.get("importance", topic.importance)
    more = {"id": memory.id, "worth": scale.worth(importance, day, person), "date": str(day or "")}
    if memory.kind == "instruction":
        if person:
            found[INSTRUCTIONS].append(_line(INSTRUCTIONS, memory.summary, topic.path, tail=_doubt(memory), **more))
    elif memory.kind == "task":
        text = re.sub(r"\A\[[ xX]\]\s+", "", memory.summary)
        found[TASKS].append(_line(TASKS, text, topic.path, lead="[ ] ", tail=_doubt(memory), **more))
    elif day:
        line = _line(RECENT, memory.summary, topic.path, lead=f"{day} ", tail=_doubt(memory), **more)
        told = memory.stated_by in ("person", "agent")
        recent.append(((-day.toordinal(), 0 if told else 2, topic.path, -memory.line), line))


def _add_episode(topic: Topic, recent: list[tuple[tuple[Any, ...], Line]]) -> None:
    day = _episode_day(topic)
    title = topic.title or topic.path.rpartition("/")[2].removesuffix(".md")
    title = title.removeprefix(str(day)).strip(" -:") or title
    text = f"{title}: {topic.summary}" if topic.summary and topic.summary != title else title
    line = _line(RECENT, text, topic.path, lead=f"{day} " if day else "", date=str(day or ""))
    recent.append(((-(day.toordinal() if day else 0), 1, topic.path, 0), line))
