"""In: a RunReport. Out: the same as a Markdown page for a person: what was learned, changed, replaced, asked, left out, and why.

Texts come from transcripts and are data: each stands on one line, with control characters written out and HTML, links and
images disarmed, so that a page shown by an editor loads and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memoryfs.render import one_line

if TYPE_CHECKING:
    from memoryfs.model import Problem
    from organizer.report import Item, RunReport, SessionReport

TEXT = 300  # characters of one statement
DROPPED = 12  # examples for each reason
_ARMED = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<!\\)\]\(|\]\[|!\[")
_ESCAPED = {"<": "&lt;", "&": "&amp;", "](": "]\\(", "][": "]\\[", "![": "!\\["}
_INVISIBLE = re.compile(r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]")


def page(report: RunReport) -> str:
    """The page. Sections without content are left out."""
    parts = [
        _head(report),
        _section("Learned", (_learned(i) for i in report.items("add"))),
        _section("Replaced", (_replaced(i) for i in report.items("supersede"))),
        _section("Said more fully", (_replaced(i) for i in report.items("merge"))),
        _section("For you to settle", (_asked(i) for i in report.items("conflict"))),
        _section("Waiting in inbox.md", (f"- {_text(i.text)} ({i.why or 'not certain enough'})" for i in report.items("inbox"))),
        _section("Seen again", (_learned(i) for i in report.items("reinforce"))),
        _section("Understood from your edits", (_adopted(a) for a in report.adopted)),
        _section("What agents remembered, checked", (_adopted(a) for a in report.remembered)),
        _section("To check again", (_stale(a) for a in report.stale)),
        _dropped(report.items("drop")),
        _section("Sessions", (_session(s) for s in report.sessions)),
        _section("Not tried", (f"- {_text(h.line())}" for h in report.held)),
        _section("Trouble", (_problem(p) for p in report.problems)),
        _section("Notices", (f"- {_text(n)}" for n in report.notices)),
        _spent(report),
    ]
    return "\n".join(part for part in parts if part)


def _text(text: str, width: int = TEXT) -> str:
    shown = _INVISIBLE.sub(lambda m: f"\\u{ord(m[0]):04x}", one_line(text))
    shown = shown if len(shown) <= width else shown[: width - 1] + "…"
    return _ARMED.sub(lambda m: _ESCAPED[m[0]], shown)


def _section(title: str, lines: Iterable[str]) -> str:
    body = list(lines)
    return f"## {title} ({len(body)})\n\n" + "\n".join(body) + "\n" if body else ""


def _head(report: RunReport) -> str:
    lines = report.summary_text().splitlines()
    title = f"# {'What a run would do' if report.dry_run else 'Run'} of {report.started}"
    return "\n".join([title, "", *(f"- {_text(line)}" for line in lines if line)]) + "\n"


def _stale(told: Mapping[str, Any]) -> str:
    return f"- {_text(told['text'])} → {_text(told['topic'])} ^{told['id']}: {'no longer: ' if told['action'] == 'lifted' else ''}{_text(told['why'])}"


def _place(item: Item) -> str:
    where = f" → {_text(item.topic)}" if item.topic else ""
    return f"{where}{f' ^{item.id}' if item.id else ''}"


def _from(item: Item) -> str:
    return f" ({item.kind}, by {item.by}, from {item.source})" if item.source else ""


def _learned(item: Item) -> str:
    why = f"; {_text(item.why)}" if item.why and item.why != "new" else ""
    return f"- {_text(item.text)}{_place(item)}{_from(item)}{why}"


def _replaced(item: Item) -> str:
    return _beside(item, "before")


def _asked(item: Item) -> str:
    return _beside(item, "the other")


def _beside(item: Item, name: str) -> str:
    other = f"{_text(item.before)} ^{item.target}".strip()
    return f"- {_text(item.text)}{_place(item)}{_from(item)}\n  - {name}: {other}\n  - why: {_text(item.why)}"


def _adopted(change: Mapping[str, Any]) -> str:
    words = [str(change[k]) for k in ("action", "topic", "detail") if change.get(k)]
    mark = f" ^{change['id']}" if change.get("id") else ""
    return f"- {_text(' '.join(words[:2]))}{mark}{''.join(f': {_text(w)}' for w in words[2:])}"


def _dropped(items: Sequence[Item]) -> str:
    """By reason, the most frequent first, with some examples of each."""
    by_reason: dict[str, list[Item]] = {}
    for item in items:
        by_reason.setdefault(item.why or "no reason given", []).append(item)
    lines = []
    for why, found in sorted(by_reason.items(), key=lambda p: (-len(p[1]), p[0])):
        lines.append(f"- {_text(why)}: {len(found)}")
        lines += [f"  - {_text(i.text, 120)} ({i.source})" for i in found[:DROPPED]]
        if len(found) > DROPPED:
            lines.append(f"  - … and {len(found) - DROPPED} more")
    return f"## Left out ({len(items)})\n\n" + "\n".join(lines) + "\n" if lines else ""


def _session(session: SessionReport) -> str:
    counts = ", ".join(
        f"{session.count(action)} {word}" for action, word in
        (("add", "learned"), ("merge", "said more fully"), ("supersede", "replaced"), ("conflict", "to settle"), ("reinforce", "seen again"), ("drop", "left out"))
        if session.count(action)
    )
    said = f": {_text(session.message)}" if session.message else ""
    return (f"- {session.thread} {_text(session.title, 80)} ({session.status}, {session.events} events, {session.seconds:.1f} s"
            f"{f'; {counts}' if counts else ''}){said}")


def _problem(problem: Problem) -> str:
    remedy = f" {_text(problem.remedy)}" if problem.remedy else ""
    return f"- {problem.severity}: {_text(problem.path)}: {_text(problem.message)}.{remedy}"


def _spent(report: RunReport) -> str:
    """Time by stage and tokens, and the part of rules and of the model."""
    shares = ", ".join(f"{who} {n}" for who, n in report.share().items()) or "nothing"
    model = f"{report.generator} judged {report.judged} lines and used {report.tokens:,} tokens" if report.generator \
        else "no generator; 0 tokens"
    lines = [
        f"- kept, by who proposed it: {shares}",
        f"- model: {_text(model)}",
        f"- embedder: {_text(report.embedder) or 'none'}",
        f"- time: {report.seconds:.1f} s" + "".join(f", {name} {spent:.1f} s" for name, spent in report.stages.items()),
    ]
    return "## Who did what, and what it took\n\n" + "\n".join(lines) + "\n"
