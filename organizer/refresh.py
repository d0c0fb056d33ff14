"""In: a topic file after a session's changes. Out: the same file with its front matter brought up to date.

What a person set in the front matter stays as it is: only keys that the organizer wrote itself are refreshed. The
summary is the topic's weightiest statement, verbatim; tags and hints are words of its memories, most frequent first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from memoryfs.edits.diff import plain
from memoryfs.model import CURRENT, Memory, SourceRange
from memoryfs.render import one_line
from memoryfs.text import is_stopword, normalise, stem
from organizer.rules.candidates import is_standing
from organizer.rules.cues import cues
from organizer.subject import GENERIC, is_action, spelled, terms, written

if TYPE_CHECKING:
    from memoryfs.topic import Topic

MAX_TAGS = 6
MAX_HINTS = 20
MAX_TECHNICAL = 13  # of them identifiers, files, options, while there are other words: people also ask in words
MAX_RANGES = 40
MAX_FILES = 8
NEIGHBOURS = 12  # events between two ranges of one thread that are told as one range in the front matter
SUMMARY = 180  # characters
_ASIDE = frozenset({"oneoff", "chatter", "narration", "question", "vague"})  # cues of what says little of a topic
_PRESENTS = re.compile(r"(?:this|these) (?:is|are) (?:the|a|an|our|my) \w+", re.IGNORECASE)
_REQUEST = re.compile(
    r"^\W*(?:(?:then|now|also|and|so|ok|okay|alright|finally),? )*(?:please|pls|(?:can|could|would|should|shall|do) (?:you|we|i)|let.?s|let us|i(?:'d| would) like|i want|we should|set|put|add|make|create|change|move|remove|"
    r"rename|replace|refactor|implement|delete|extract|fix|update|run|open|write)\b(?! (?:always|never))|^(?:请|麻烦|帮我)",
    re.IGNORECASE,
)


# What carries on from something said before, and so says little by itself.
_CARRIES_ON = re.compile(
    r"^\W*(?:also|alright|ok(?:ay)?|sorry|finally|basically|additionally|again|well|so|then|and|but|or|plus|anyway|actually|hmm)\b(?!-)"
    r"|^(?:あと|それと|それから|ちなみに|すみません|ごめん|では|じゃあ|あと、|そして|しかし|また|なお)|^(?:그리고|그럼|그런데|참고로|죄송|또한|그러면|하지만)|^(?:另外|还有|对了|不好意思|那么|顺便|然后|而且|但是|所以)",
    re.IGNORECASE,
)
_LY_NOUNS = frozenset({"reply", "assembly", "supply", "family", "anomaly", "apply", "multiply", "july", "monopoly", "ally", "italy"})
_TECHNICAL = re.compile(r"[\d_./\\:=<>$@#-]|\w[A-Z]|^[A-Z]{2,}|\s")  # identifiers, files, options, abbreviations, error text


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
    tags = tags_of(current, names or _named(topic), repo)
    wanted: dict[str, Any] = {
        "summary": summary_of(current),
        "tags": tags,
        "retrieve_when": asked_about(tags),
        "query_hints": hints_of(current, (topic.title, *tags)),
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
        changed = topic_edit.set_meta(topic, key, value)
        if key == "source_range" and _sources(changed) != _sources(topic):
            continue  # a footnote needs a range that is left out to know its thread's name
        topic = changed
        if plain(own.get(key)) != plain(value):
            to_record[key] = topic.meta.get(key)
    return topic, to_record


def _sources(topic: Topic) -> list[tuple[SourceRange, ...]]:
    return [m.source_range for m in topic.memories]


def _named(topic: Topic) -> list[str]:
    """The leading tags of which the title says what they are: the words that named the topic."""
    title = set(terms(topic.title))
    return list(takewhile(lambda tag: set(terms(tag)) and set(terms(tag)) <= title, topic.tags))


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
    """Whether a statement is an aside, goes on from another, points elsewhere, or asks for something, once or as a question."""
    shown = cues(text) & _ASIDE
    if _PRESENTS.match(text):
        shown -= {"vague"}
    if _REQUEST.search(text) or text.rstrip().endswith(("?", "？", "…", ":", "：")):
        return True
    return bool(shown or _CARRIES_ON.search(text)) and not is_standing(text)


def tags_of(memories: Sequence[Memory], names: Sequence[str], repo: str) -> list[str]:
    """The words that named the topic, then those that most of its memories share."""
    counts: Counter[str] = Counter()
    for memory in memories:
        counts.update(set(terms(memory.summary)))
    own = set(terms(repo))
    tags = [n.replace(" ", "-") for n in names]
    known = {t for n in names for t in terms(n)}
    forms = _forms(memories)
    common = sorted((k for k in counts if counts[k] > 1 and k not in known | own and _names_something(forms[k])), key=lambda k: (-counts[k], k))
    shown = {k: spelled(f) for k, f in forms.items()}
    tags += [shown.get(k, k) for k in common]
    return list(dict.fromkeys(tags))[:MAX_TAGS]


def _forms(memories: Iterable[Memory]) -> dict[str, Counter[str]]:
    forms: dict[str, Counter[str]] = {}
    for memory in memories:
        for key, shown in written(memory.summary):
            forms.setdefault(key, Counter())[shown] += 1
    return forms


def _names_something(forms: Counter[str]) -> bool:
    return not is_action(forms) and _telling(spelled(forms))


def hints_of(memories: Sequence[Memory], about: Iterable[str] = ()) -> list[str]:
    """The memories' own hints, each once however it is written: those of several memories first, technical ones before plain
    words, then in the order in which they were learned. A plain word of one memory alone waits until the others have a place,
    unless the topic is named by it (`about`: title and tags); technical ones take at most `MAX_TECHNICAL` places while plain ones wait."""
    own = {term for text in about for term in terms(text)}
    forms: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for memory in memories:
        for key, hint in {_key(h): h for h in map(str.strip, reversed(memory.query_hints)) if _telling(h)}.items():
            forms.setdefault(key, Counter())[hint] += 1
            counts[key] += 1
    order = {key: n for n, key in enumerate(_in_order(memories))}
    shown = {key: min(f, key=lambda h: (-f[h], len(h), h.swapcase())) for key, f in forms.items()}

    def weight(key: str) -> tuple[object, ...]:
        technical = bool(_TECHNICAL.search(shown[key]))
        alone = counts[key] == 1 and not technical and not own & set(terms(shown[key]))
        return alone, -counts[key], not technical, order[key]

    ranked = sorted(shown, key=weight)
    technical = [key for key in ranked if _TECHNICAL.search(shown[key])]
    later = set(technical[MAX_TECHNICAL:]) if len(ranked) > MAX_HINTS else set()
    ranked.sort(key=lambda key: key in later)
    return [shown[key] for key in ranked[:MAX_HINTS]]


def _in_order(memories: Sequence[Memory]) -> list[str]:
    return list(dict.fromkeys(_key(h.strip()) for m in memories for h in m.query_hints))


def _key(hint: str) -> str:
    """What two spellings of one hint share: `maps` and `map`, `Camera` and `camera`; identifiers only their case."""
    folded = normalise(hint).strip()
    return folded if _TECHNICAL.search(hint) and not hint.isalpha() else stem(folded)


def _telling(hint: str) -> bool:
    folded = hint.casefold()
    if len(folded) < (3 if folded.isascii() else 2) or folded in GENERIC or is_stopword(folded):
        return False
    return not (hint.isascii() and hint.isalpha() and folded.endswith("ly") and len(folded) > 4 and folded not in _LY_NOUNS)


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
