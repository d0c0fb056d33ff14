"""In: a topic, a question or a memory's id. Out: what is believed about it and why, for a person or as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memoryfs.cli.context import emit_json, stores_in_scope, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_NOTHING, NotFoundError, UsageError
from memoryfs.render import Paper, one_line, paper, safe, wrap

if TYPE_CHECKING:
    from memoryfs.audit import Audit, Said, Statement, WhyNot
    from memoryfs.ledger import Entry

_BY = {"user": "the user", "assistant": "the assistant", "tool": "a tool", "system": "the system", "person": "a person",
       "agent": "an agent", "": "nobody known"}


@click.command("audit", context_settings={"ignore_unknown_options": True})
@click.argument("subject", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--history", is_flag=True, help="Every change, with its reason.")
@click.option("--since", metavar="DATE", help="Only what was said or changed on this date or later.")
@click.option("--why-not", "question", metavar="QUERY", help="With an id: where it ranks for QUERY, or what lost it.")
@click.option("--scope", "scope_name", type=click.Choice(["here", "up", "all"]),
              help="The nearest store, also those above it, or also siblings and descendants.  [default: up; here with --store]")
@click.option("--no-vectors", is_flag=True, help="Words only.")
@click.pass_context
def audit_command(
    ctx: click.Context, subject: tuple[str, ...], history: bool, since: str | None, question: str | None,
    scope_name: str | None, no_vectors: bool,
) -> None:
    """Show what is believed about a topic, a question or ^m-…, on what grounds, and since when."""
    from memoryfs import audit
    from memoryfs.audit.subject import memory_id

    text = " ".join(subject).strip()
    if not text:
        raise UsageError("there is no subject", remedy="Name a topic, a question or ^m-….")
    day = _day(since)
    id = memory_id(text)
    if question is not None and not id:
        raise UsageError("--why-not needs a memory's id", remedy=f'Find it with `memoryfs audit "{one_line(text, 40)}"`.')
    stores = stores_in_scope(ctx, scope_name)
    found = []
    for store, _ in stores:
        made = audit.examine(store, text, history=history, since=day, vectors=not no_vectors)
        if made.found:
            found.append(made)
            if question is not None:
                absent = audit.why_not(store, id, question, vectors=not no_vectors)
                break
    if not found and id and not day:
        stores[0][0].read(f"^{id}")  # NotFoundError, with the ids that are close
    if question is not None and not found:
        raise NotFoundError(f"memory ^{id}")
    if wants_json(ctx):
        emit_json({"subject": text, "stores": [a.to_dict() for a in found]}
                  | ({"why_not": absent.to_dict()} if question is not None else {}))
    else:
        on = paper(sys.stdout)
        parts = [absent_page(absent, on)] if question is not None else []
        parts += [page(made, on, history=history, several=len(stores) > 1) for made in found]
        click.echo("\n\n".join(parts) if parts else "Nothing is believed about that.")
    ctx.exit(EXIT_DONE if found else EXIT_NOTHING)


def _day(since: str | None) -> str:
    from datetime import date

    if since is None:
        return ""
    try:
        return date.fromisoformat(since[:10]).isoformat()
    except ValueError:
        raise UsageError(f"{since!r} is not a date", remedy="Write 2026-05-14.") from None


def page(made: Audit, on: Paper, *, history: bool = False, several: bool = False) -> str:
    """The audit of one store for a person."""
    lines = [on.dim(safe(made.store)), ""] if several else []
    for review in made.conflicts:
        lines += [on.warn("Contradiction") + f"  ^{review.review.id}  {safe(review.topic)}:{review.review.line}"]
        lines += [row for side in review.sides for row in claim(side, on, made.store)]
        lines += [f"    settle it: memoryfs review accept|reject|keep-both ^{review.review.id}", ""]
    past = (
        ("Superseded", tuple(s for s in made.superseded if s.memory.status != "archived")),
        ("Archived", tuple(s for s in made.superseded if s.memory.status == "archived")),
    )
    for title, listed in (("Believed now", made.current), *past):
        if listed:
            lines.append(on.bold(f"{title} ({len(listed)})"))
            lines += [row for s in listed for row in (*claim(s, on, made.store), *grounds(s, on, made.store))]
            lines.append("")
    if made.withdrawn:
        lines.append(on.bold(f"Withdrawn ({len(made.withdrawn)})"))
        for told in made.withdrawn:
            words = next((e.text for e in reversed(told) if e.text), "(its words were purged)")
            lines += wrap(words, on.width, "    ", f"^{told[-1].id}  ")
            lines += _changes(told if history else told[-1:], on)
        lines.append("")
    return "\n".join(lines).rstrip()


def claim(made: Statement, on: Paper, store: str) -> list[str]:
    """The statement itself, and where it stands."""
    memory = made.memory
    marks = "".join(f" [{m}]" for m in (*((memory.status,) if memory.status != "active" else ()), *made.marks))
    rows = wrap(memory.summary, on.width, "    ", f"^{memory.id}  ")
    place = on.link(safe(f"{memory.topic}:{memory.line}"), Path(store, memory.topic), memory.line)
    said = f"  {memory.kind}" + ("" if not memory.done else ", done")
    return [*rows, "    " + on.dim(place + said) + on.warn(marks)]


def grounds(made: Statement, on: Paper, store: str) -> list[str]:
    """What replaced it, who said it, when and in which words, and every change."""
    lines: list[str] = []
    if made.memory.superseded_by:
        after = made.replaced_by
        day = str(made.memory.metadata.get("superseded_on") or "")
        words = f"replaced by ^{made.memory.superseded_by}" + (f" on {day}" if day else "") + (f": {after.summary}" if after else "")
        lines += wrap(words, on.width, "    ")
    times = f"said {made.confirmed} times: " if made.confirmed > 1 else ""
    for said in made.said:
        where = f"  {said.range.thread}:{said.label.partition(':')[2]}" if said.range else ""
        by = "its thread is not here" if said.missing else f"by {_BY.get(said.by, said.by)}"
        lines.append("    " + on.dim(safe(f"{times}{said.date or 'undated'}  {by}{where}")))
        times = ""
        if said.context:
            lines += _context(said, on)
        elif said.quote and said.quote != made.memory.summary:
            lines += wrap(f"“{said.quote}”", on.width, "      ")
    if not made.said:
        lines.append("    " + on.warn("nothing says where it comes from"))
    if made.judged:
        counts = [f"{verdict} {made.judged.count(verdict)}×" for verdict in dict.fromkeys(made.judged)]
        lines.append("    " + on.warn(f"judged {', '.join(counts)}"))
    return lines + _changes(made.changes, on)


def _context(said: Said, on: Paper) -> list[str]:
    """The events around a source as they stand, the cited ones marked, the quote brought out."""
    lines = []
    for event in said.context:
        cited = bool(said.range and said.range.start <= event.index <= said.range.end)
        head = f"{'>' if cited else ' '} [{event.index}] {event.role}  {event.time or ''}".rstrip()
        lines.append("      " + (safe(head) if cited else on.dim(safe(head))))
        text = event.text if cited else one_line(event.text, 160)
        rows = text.splitlines()
        for row in rows[:12]:
            shown = safe(row)
            quote = safe(said.quote)
            if cited and quote and quote in shown:
                before, _, after = shown.partition(quote)
                shown = before + on.good(quote) + after
            lines.append("          " + shown)
        if len(rows) > 12:
            lines.append("          " + on.dim(f"… {len(rows) - 12} more lines: memoryfs read {event.thread}:{event.index}"))
    return lines


def _changes(changes: tuple[Entry, ...], on: Paper) -> list[str]:
    lines = []
    for entry in changes:
        words = [entry.time[:16].replace("T", " "), entry.actor, "no longer stale:" if entry.extra.get("lifted") else entry.action]
        words += [f"({entry.extra['choice']})"] if entry.extra.get("choice") else []
        words += [f"by ^{entry.extra['by']}"] if entry.action == "supersede" and entry.extra.get("by") else []
        words += [f"was: {entry.extra['old']};"] if entry.extra.get("old") else []
        words += [entry.why] if entry.why else []
        lines += [on.dim(row) for row in wrap(" ".join(map(str, words)), on.width, "          ", "      ")]
    return lines


def absent_page(absent: WhyNot, on: Paper) -> str:
    """Why a memory did not come back, for a person."""
    paint = on.good if absent.stage == "listed" else on.warn
    lines = [paint(absent.stage) + f"  ^{absent.id} for “{one_line(absent.query, 60)}”"]
    lines += wrap(absent.reason, on.width, "    ")
    if absent.rank:
        parts = " + ".join(f"{name} {value}" for name, value in absent.why)
        lines += wrap(f"rank {absent.rank} of {absent.of}, score {absent.score:.3f} = {parts}", on.width, "    ")
    if absent.shared or absent.lacking:
        lines += wrap(f"words of the question it has: {', '.join(absent.shared) or 'none'}; it lacks: "
                      f"{', '.join(absent.lacking) or 'none'}", on.width, "    ")
    for number, crumb in enumerate(absent.above[:5], start=1):
        lines += wrap(f"{crumb.memory.summary}", on.width, "        ", f"    {number}. {crumb.score:.3f}  ^{crumb.memory.id}  ")
    if absent.remedy:
        lines += wrap(absent.remedy, on.width, "    ")
    return "\n".join(lines)
