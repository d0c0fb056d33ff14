"""In: a session's events and the memories it gave. Out: its episode page: what was asked, done, found out, changed,
what failed, what was decided and left open.

The page is extractive: every line is a sentence of the session with the place it stands at, so that
`memoryfs read THREAD:A-B` shows it in full. Equal input gives equal bytes; the page is bounded in lines and length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoryfs.model import Event, Memory, SourceRange
from memoryfs.render import one_line
from memoryfs.text import is_stopword
from memoryfs.textfile import slug
from organizer.dates import parse_time
from organizer.subject import terms
from organizer.turns import NOTHING, Line, Turns

FOLDER = "episodes"
LINE = 200  # characters of a line's text
ASKED, DONE, FOUND, CHANGED, FAILED, DECIDED, OPEN = 20, 24, 12, 8, 8, 14, 8  # lines of each section
TITLE = 72

_FILLER = re.compile(
    r"^(?:(?:hi|hey|hello|ok(?:ay)?|please|pls|so|and|now|also|well|great|thanks?|sorry)[\s,.!:-]+)*"
    r"(?:(?:can|could|would|will) you (?:please |also |just )?|i(?:'d| would) like (?:you )?to |i want (?:you )?to |let'?s |we (?:should|need to) |"
    r"i need (?:you )?to |please )?",
    re.IGNORECASE,
)
_PLAN = re.compile(r"^#{1,3}\s*(?:plan\s*[:\u2013-]\s*)?(?P<title>\S.{3,120})$", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])|(?<=[\u3002\uff01\uff1f])|\n")
_COMMIT = re.compile(r"git commit\b[^\n]{0,80}?-a?m\s+(?:\"\$\(cat <<'?\"?EOF'?\"?\s*\n\s*(?P<heredoc>[^\n]{4,120})|(?P<q>[\"'])(?P<plain>[^\"'\n]{4,120}))")
_TRIVIAL = re.compile(r"^(?:y(?:es|ep|eah)?|no(?:pe)?|ok(?:ay)?|sure|go|thanks?|continue|done|good|great|perfect|nice|option \d+|\d+|[^\w]*)[.!\s]*$", re.I)


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the page: the words, the events they stand in (`128` or `128-131`), and the memory they became, if any."""

    text: str
    places: tuple[str, ...]
    memory: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """What a page says, before it is written down. `path` is relative to the store and never changes afterwards."""

    path: str
    title: str
    text: str


def heard(event: Event) -> bool:
    """Whether an event is something that was said in the session, by a person or the assistant."""
    return event.kind == "message" and not event.metadata.get("skip") and event.role in ("user", "assistant") and bool(event.text.strip())


def title_of(events: Sequence[Event]) -> str:
    """The first thing that was asked, shortened to a title; a title that the transcript carries comes first."""
    first = ""
    for event in events:
        session = event.metadata.get("session")
        given = session.get("title") if isinstance(session, dict) else None
        if isinstance(given, str) and given.strip():
            return _cut_at_word(given, TITLE)
        if not first and event.role == "user" and heard(event) and not _TRIVIAL.match(event.text.strip()):
            first = event.text
    title = _short_title(first) if first else ""
    if len(set(terms(title))) < 2:  # "Commit this, then let's do the other bit": the commit says more
        committed = next(iter(_commits(events)), None)
        return _cut_at_word(committed.text.removeprefix("Committed: "), TITLE) if committed else title
    return title


def _short_title(text: str) -> str:
    plan = _PLAN.search(text[:600])
    if plan:
        return one_line(_plain(plan["title"]), TITLE)
    for sentence in _SENTENCE_END.split(text.strip()):
        said = _FILLER.sub("", _plain(sentence)).strip(" ,:;-")
        if len(said) >= 8 or (said and not said.isascii()):
            if said.split()[0].isalpha():  # not an identifier or a path, whose case matters
                said = said[:1].upper() + said[1:]
            return _cut_at_word(said.rstrip(".,;:"), TITLE)
    return one_line(_plain(text), TITLE)


def _cut_at_word(text: str, width: int) -> str:
    line = one_line(text)
    if len(line) <= width:
        return line
    head = line[: width - 1]
    cut = head.rsplit(" ", 1)[0] if " " in head[width // 2 :] else head
    return cut.rstrip(" ,;:(") + "…"


def _plain(text: str) -> str:
    return re.sub(r"[*`#>]+|(?<!\w)_+|_+(?!\w)", " ", text).strip()


def page_path(thread: str, title: str, date: str | None) -> str:
    """`episodes/2026/2026-01-15-telemetry-opt-out-3f9a21.md`; sessions without a date stand under `undated/`."""
    day = date or "undated"
    year = day[:4] if date else "undated"
    short = thread.rsplit("-", 1)[-1].replace("~", "-")
    words = re.findall(r"[^\W_]+(?:['\u2019]\w+)?", title)
    telling = [w for w in words if not is_stopword(w.casefold()) and "'" not in w] or words
    name = slug(" ".join(telling[:7]) or "session", max_bytes=56)
    return f"{FOLDER}/{year}/{day}-{name}-{short}.md"


def build(
    thread: str, events: Sequence[Event], kept: Sequence[Memory], *, repo: str = "", harness: str = "", path: str = "",
    link: str = "", files: Sequence[str] = (), told: Turns = NOTHING,
) -> Episode | None:
    """The page of a session; None if nobody asked anything in it, or nothing came of it.

    `kept` are the memories that came from it, `files` the files it edited, `told` what its turns came to; `path` keeps an earlier page's place; `link` is
    the thread file's path relative to the store.
    """
    asked = [e for e in events if e.role == "user" and heard(e)]
    if not asked:
        return None
    title = title_of(events) or "Session"
    times = [e.time for e in events if e.time]
    first, last = (min(times, key=_instant), max(times, key=_instant)) if times else (None, None)
    date = first[:10] if first else None
    known = {m.summary for m in kept}
    done = [*_commits(events), *_lines(told.reports, DONE, known), *_learned(thread, kept, ("event",), DONE)]
    sections = (
        ("Asked", _asked(asked, told.answers)),
        ("Done", sorted(done[:DONE], key=_order) or _closing(events)),
        ("Found out", _lines(told.found, FOUND, known)),
        ("Changed", _lines(told.changed, CHANGED, known)),
        ("Failed", _lines(told.failed, FAILED, known)),
        ("Decided", _learned(thread, kept, ("instruction", "fact"), DECIDED)),
        ("Left open", _learned(thread, kept, ("task",), OPEN)),
    )
    if not path and len(sections[0][1]) < 3 and not files and not any(lines for name, lines in sections[1:] if name in ("Decided", "Left open")):
        return None  # a greeting, a trial, a single question
    place = path or page_path(thread, title, date)
    lines = [*_head(thread, title, date, last, events, repo, harness), "", f"# {_safe(title)}", ""]
    span = f"{first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')}" if first and last else "undated"
    up = "../" * place.count("/")
    source = f"[{thread}]({up}{link})" if link else thread
    lines.append(" · ".join(filter(None, (span, repo, harness, f"{len(events)} events", source))))
    for name, section in sections:
        if section:
            lines += ["", f"## {name}", *(_line(thread, t) for t in section)]
    if files:
        shown = ", ".join("`" + one_line(f.replace("`", "'")) + "`" for f in files)
        lines += ["", "## Files", f"- {shown}"]
    return Episode(place, title, "\n".join(lines) + "\n")


def _head(
    thread: str, title: str, date: str | None, last: str | None, events: Sequence[Event], repo: str, harness: str
) -> list[str]:
    from json import dumps

    meta = {k: v for k, v in (("harness", harness), ("repo", repo)) if v}
    head = ["---", f"title: {dumps(title, ensure_ascii=False)}", "status: active", "kind: episode"]
    head += ["source_range:", f"  - {{thread: {thread}, start: {events[0].index}, end: {events[-1].index}}}"]
    if date:
        head += [f"created_at: {date}", f"updated_at: {(last or date)[:10]}"]
    if meta:
        head.append("metadata: {" + ", ".join(f"{k}: {dumps(v, ensure_ascii=False)}" for k, v in meta.items()) + "}")
    return [*head, "---"]


def _line(thread: str, told: Told) -> str:
    link = f" → {told.memory}" if told.memory else ""
    places = " ".join(f"`{thread}:{place}`" for place in told.places)
    return f"- {_safe(told.text)} {places}{link}"


def _safe(text: str) -> str:
    """Words of a session on one line, kept from reading as this format's own links, footnotes and ids."""
    return re.sub(r"(\[\[|\[\^|(?<!\S)\^(?=[mr]-))", lambda m: "\\" + m[0], _cut_at_word(text, LINE))


def _asked(asked: Sequence[Event], answers: Mapping[int, tuple[int, ...]]) -> list[Told]:
    told: list[Told] = []
    for event in asked:
        places = tuple(str(at) for at in sorted({event.index, *answers.get(event.index, ())}))
        text = event.text.strip()
        if _TRIVIAL.match(text) or (len(text) < 60 and len(set(terms(text))) < 2 and len(asked) > 3):
            continue
        plan = _PLAN.search(text[:400])
        if plan and plan.start() < 120:
            told.append(Told(f"{text[: plan.start()].strip()} {plan['title']}".strip(), places))
            continue
        lead = next((s for s in _SENTENCE_END.split(text) if len(s.strip()) >= 8), text)
        rest = text[text.find(lead) + len(lead) :].strip()
        told.append(Told(lead.strip() + (" …" if rest and len(lead) < LINE - 2 else ""), places))
    if len(told) > ASKED:
        half = ASKED // 2
        told = [*told[:half], *told[-(ASKED - half) :]]
    return told


def _commits(events: Iterable[Event]) -> list[Told]:
    told: dict[str, Told] = {}
    for event in events:
        if event.kind == "tool_call" and "git commit" in event.text:
            match = _COMMIT.search(event.text)
            if match:
                text = (match["heredoc"] or match["plain"]).strip().rstrip("\\")
                told.setdefault(text, Told(f"Committed: {text}", (str(event.index),)))
    return list(told.values())[:8]


def _learned(thread: str, kept: Sequence[Memory], kinds: tuple[str, ...], limit: int) -> list[Told]:
    chosen = []
    for memory in kept:
        ranges = [r for r in memory.source_range if r.thread == thread]
        if memory.kind in kinds and ranges and not memory.done:
            chosen.append((not memory.from_person, ranges[0].start, ranges[0], memory))
    best = sorted(chosen, key=lambda c: (c[0], c[1], c[3].id))[:limit]
    best.sort(key=lambda c: (c[1], c[3].id))
    return [Told(m.summary, (_place(r),), f"[[{m.topic.removesuffix('.md')}#^{m.id}]]") for _, _, r, m in best]


def _lines(found: Sequence[Line], limit: int, known: Collection[str]) -> list[Told]:
    """The worthiest lines, in the order of the thread, without those that are told as memories."""
    new = [(at, line) for at, line in enumerate(found) if line.text not in known]
    best = sorted(new, key=lambda n: (-n[1].worth, n[0]))[:limit]
    return [Told(line.text, tuple(map(str, line.events))) for _, line in sorted(best, key=lambda n: n[0])]


def _order(told: Told) -> int:
    return int(told.places[-1].partition("-")[0])


def _place(found: SourceRange) -> str:
    return str(found.start) if found.start == found.end else f"{found.start}-{found.end}"


def _closing(events: Sequence[Event]) -> list[Told]:
    """How the assistant summed up, when no commit and no outcome says it: the last message's first lines."""
    for event in reversed(events):
        if event.role == "assistant" and heard(event):
            lines = [s.strip() for s in _SENTENCE_END.split(event.text) if len(s.strip()) >= 20 and not s.lstrip().startswith(("|", "```"))]
            return [Told(_plain(s).lstrip("- "), (str(event.index),)) for s in lines[:3]]
    return []


def _instant(time: str) -> tuple[float, str]:
    value = parse_time(time)
    return (value.timestamp() if value else 0.0, time)
