"""In: a topic file after a session's changes. Out: the same file with its front matter brought up to date.

What a person set in the front matter stays as it is: only keys that the organizer wrote itself are refreshed. The
summary is the topic's weightiest statement, verbatim; tags and hints are words of its memories, most frequent first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memoryfs.edits.diff import plain
from memoryfs.model import CURRENT, Memory, SourceRange
from memoryfs.render import one_line
from memoryfs.text import is_stopword
from organizer.rules.candidates import is_standing
from organizer.rules.cues import cues
from organizer.subject import GENERIC, terms, written

if TYPE_CHECKING:
    from memoryfs.topic import Topic

MAX_TAGS = 6
MAX_HINTS = 20
MAX_RANGES = 40
MAX_FILES = 8
NEIGHBOURS = 12  # events between two ranges of one thread that are told as one range in the front matter
SUMMARY = 180  # characters
_ASIDE = frozenset({"oneoff", "chatter", "narration", "question", "vague"})  # cues of what says little of a topic
_PRESENTS = re.compile(r"(?:this|these) (?:is|are) (?:the|a|an|our|my) \w+", re.IGNORECASE)
_REQUEST = re.compile(
    r"^\W*(?:(?:then|now|also|and|so),? )*(?:please|pls|can you|could you|would you|let.?s|let us|set|put|add|make|create|change|move|remove|"
    r"rename|fix|update|run|open|write)\b(?! (?:always|never))|^(?:请|麻烦|帮我)",
    re.IGNORECASE,
)


def refreshed(
    topic: Topic, repo: str, files: Sequence[str], names: Sequence[str], own: Mapping[str, Any]
) -> tuple[Topic, dict[str, Any]]:
    """The topic with its front matter refreshed, and the values to record as the organizer's own.

    `names` are the words that named a new topic, `own` the values that the organizer wrote there last: a key that reads
    otherwise now is a person's, and a topic without any is wholly a person's; both stay as they are.
    """
    from memoryfs import topic_edit

    if not own:
        return topic, {}
    current = [m for m in topic.memories if m.status in CURRENT]
    tags = tags_of(current, names or topic.tags[:1], repo)
    wanted: dict[str, Any] = {
        "summary": summary_of(current),
        "tags": tags,
        "retrieve_when": asked_about(tags),
        "query_hints": hints_of(current),
        "metadata": _metadata(topic, repo, files),
        "source_range": [r.to_dict() for r in merged(r for m in topic.memories for r in m.source_range)],
        "updated_at": max([str(topic.meta.get("updated_at") or ""), *(m.date for m in topic.memories if m.date)]),
    }
    to_record: dict[str, Any] = {}
    for key, value in wanted.items():
        stands = plain(topic.meta.get(key))
        ours = plain(own[key]) == stands if key in own else key not in topic.meta
        if not value or not (ours or stands == plain(value)):
            continue
        topic = topic_edit.set_meta(topic, key, value)
        if plain(own.get(key)) != plain(value):
            to_record[key] = topic.meta.get(key)
    return topic, to_record


def _metadata(topic: Topic, repo: str, files: Sequence[str]) -> dict[str, Any] | None:
    """The repository and the files that the topic's sessions edited, the latest ones first."""
    old = topic.meta.get("metadata")
    known = old.get("files") if isinstance(old, dict) else None
    listed = list(dict.fromkeys([*files, *(map(str, known) if isinstance(known, list) else ())]))[:MAX_FILES]
    named = {"repo": repo} if repo else {}
    return {**named, "files": listed} if listed else named or None


def asked_about(tags: Sequence[str]) -> str:
    """When to come back to a topic, in words."""
    return "asked about " + ", ".join(tags) if tags else ""


def summary_of(memories: Sequence[Memory]) -> str:
    """The statement that stands for the topic: no aside, no wish for once, a person's before others', a fact before a rule, the
    one most often seen first, then the one that shares most words with the others."""
    shared = Counter(term for m in memories for term in set(terms(m.summary)))

    def worth(m: Memory) -> tuple[object, ...]:
        kinds = {"fact": 0, "instruction": 1, "event": 2, "task": 3}
        central = sum(1 for term in set(terms(m.summary)) if shared[term] > 1)
        return (
            m.kind == "task" or _says_little(m.summary), m.kind == "instruction" and not is_standing(m.summary),
            not m.from_person, kinds.get(m.kind, 4), -len(m.source_range), -min(central, 4), abs(len(m.summary) - 90), m.id,
        )

    # An order that no user gave must not reach the briefing by way of a summary.
    fit = [m for m in memories if m.kind != "instruction" or m.from_person]
    best = min(fit, key=worth, default=None)
    return one_line(best.summary, SUMMARY) if best else ", ".join(hints_of(memories)[:4])


def _says_little(text: str) -> bool:
    """Whether a statement is an aside, points elsewhere, or asks for something once."""
    shown = cues(text) & _ASIDE
    if _PRESENTS.match(text):
        shown -= {"vague"}
    return bool(_REQUEST.search(text)) or bool(shown and not is_standing(text))


def tags_of(memories: Sequence[Memory], names: Sequence[str], repo: str) -> list[str]:
    """The words that named the topic, then those that most of its memories share."""
    counts: Counter[str] = Counter()
    for memory in memories:
        counts.update(set(terms(memory.summary)))
    own = set(terms(repo))
    tags = [n.replace(" ", "-") for n in names]
    known = {t for n in names for t in terms(n)}
    common = sorted((k for k in counts if counts[k] > 1 and k not in known | own), key=lambda k: (-counts[k], k))
    shown = _spelled(memories)
    tags += [shown.get(k, k) for k in common]
    return list(dict.fromkeys(tags))[:MAX_TAGS]


def _spelled(memories: Iterable[Memory]) -> dict[str, str]:
    forms: dict[str, Counter[str]] = {}
    for memory in memories:
        for key, shown in written(memory.summary):
            forms.setdefault(key, Counter())[shown] += 1
    return {k: min(f, key=lambda s: (-f[s], len(s), s)) for k, f in forms.items()}


def hints_of(memories: Sequence[Memory]) -> list[str]:
    """The memories' own hints, those of several memories first, then in the order in which they were learned."""
    order: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for memory in memories:
        for hint in dict.fromkeys(h.strip() for h in memory.query_hints if _telling(h.strip())):
            order.setdefault(hint, len(order))
            counts[hint] += 1
    return sorted(order, key=lambda h: (-counts[h], order[h]))[:MAX_HINTS]


def _telling(hint: str) -> bool:
    folded = hint.casefold()
    return len(folded) > 2 and folded not in GENERIC and not is_stopword(folded)


def merged(ranges: Iterable[SourceRange]) -> list[SourceRange]:
    """The ranges by thread, near ones told as one; the newest threads if there are too many."""
    out: list[SourceRange] = []
    for found in sorted(set(ranges)):
        last = out[-1] if out else None
        if last and last.thread == found.thread and found.start <= last.end + NEIGHBOURS:
            out[-1] = SourceRange(last.thread, last.start, max(last.end, found.end))
        else:
            out.append(found)
    return out[-MAX_RANGES:]
