"""In: a question. Out: breadcrumbs and verbatim evidence, for a person or as the JSON of DESIGN §8."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from memoryfs.cli.context import emit_json, notice, report_problems, stores_in_scope, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_NOTHING, UsageError
from memoryfs.model import Recall
from memoryfs.render import Paper, paper, safe, wrap

MAX_K = 1000


@click.command("recall", context_settings={"ignore_unknown_options": True})
@click.argument("query", nargs=-1, type=click.UNPROCESSED)
@click.option("-k", default=10, show_default=True, type=int, help="At most K memories and K events.")
@click.option("--file", "file", metavar="PATH", help="Only what concerns this file; QUERY may be left out.")
@click.option("--level", type=click.Choice(["auto", "0", "1", "2", "3"]), default="auto", show_default=True,
              help="0 memories, 1 chunk index, 2 source text, 3 model extraction.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Bound of the evidence.  [default: 1500]")
@click.option("--status", default="active,conflicted", show_default=True, help="Statuses, comma-separated, or all; inbox: what waits in inbox.md.")
@click.option("--as-of", metavar="DATE", help="Answer as of this date.")
@click.option("--scope", "scope_name", type=click.Choice(["here", "up", "all"]),
              help="The nearest store, also those above it, or also siblings and descendants.  [default: up; here with --store]")
@click.option("--no-vectors", is_flag=True, help="Words only.")
@click.option("--answer", is_flag=True, help="Also one sentence with citations, if a model is trusted to write it.")
@click.pass_context
def recall_command(
    ctx: click.Context, query: tuple[str, ...], k: int, file: str | None, level: str, max_tokens: int | None,
    status: str, as_of: str | None, scope_name: str | None, no_vectors: bool, answer: bool,
) -> None:
    """Find memories and the exact source text that answers QUERY, or all that concerns a file."""
    text = " ".join(query)
    if not text.strip() and file is None:
        raise UsageError("the query is empty", remedy="Say what to look for, in any words.")
    if k < 1:
        raise UsageError(f"-k must be 1 or more, not {k}")
    from memoryfs import scoped
    from memoryfs.model import STATUSES

    wanted = STATUSES if status == "all" else tuple(s.strip() for s in status.split(","))
    unknown = set(wanted) - {*STATUSES, "inbox"}
    if unknown:
        raise UsageError(f"unknown status {', '.join(sorted(unknown))}", remedy=f"Statuses: {', '.join(STATUSES)}.")
    stores = stores_in_scope(ctx, scope_name)
    found = scoped.recall(stores, text, k=min(k, MAX_K), level=level, max_tokens=max_tokens,
                          status=wanted, as_of=as_of, file=file, vectors=not no_vectors, answer=answer)
    for line in found.notices:
        notice(ctx, line)
    report_problems(ctx, found.problems)
    if wants_json(ctx):
        emit_json(found.to_dict())
    else:
        click.echo(page(found, paper(sys.stdout), stores[0][0].root))
    ctx.exit(EXIT_DONE if found.memories or found.evidence else EXIT_NOTHING)


def page(found: Recall, on: Paper | None = None, root: Path | None = None) -> str:
    """The answer for a person; `root` is the nearest store's folder. Evidence is never wrapped: it is verbatim."""
    on = on or Paper()
    lines: list[str] = []
    if found.answer:
        lines += [on.bold(row) for row in wrap(found.answer.text, on.width)]
        lines += [on.dim(row) for row in wrap(f"written by {found.answer.model} from the evidence below", on.width, "    ")]
        lines.append("")
    if found.file:
        gone = "" if found.file["exists"] else " (there is no such file now)"
        lines += wrap(f"About {found.file['path']}{gone}", on.width, "    ", "")
    if found.abstained:
        lines.append(on.warn("Nothing supports an answer.") + (" Nearest:" if found.memories or found.evidence else ""))
    for crumb in found.memories:
        memory = crumb.memory
        mark = "" if memory.status == "active" else f" [{memory.status}]"
        mark += f" [superseded by {memory.superseded_by}]" if ":" in (memory.superseded_by or "") else ""  # an event shows it
        mark += " [stale]" if memory.metadata.get("stale") else ""
        lines += wrap(memory.summary, on.width, "    ", f"^{memory.id}{mark}  ")
        place = memory.topic if not crumb.scope else f"{crumb.store}/{memory.topic}"
        shown = safe(f"{place}:{memory.line}")
        home = Path(crumb.store) if crumb.store else root
        shown = on.link(shown, home / memory.topic, memory.line) if home else shown
        ranges = [r.label for r in memory.source_range]
        more = f"  +{len(ranges) - 3}" if len(ranges) > 4 else ""
        lines.append("    " + on.dim(shown + "".join(f"  {label}" for label in ranges[: 3 if more else 4]) + more))
        if memory.metadata.get("stale"):
            lines += [on.warn(row) for row in wrap(memory.metadata["stale"], on.width, "    ")]
        if crumb.about:
            lines += [on.dim(row) for row in wrap(_aged(crumb.about), on.width, "    ")]
    if found.memories and found.evidence:
        lines.append("")
    for number, proof in enumerate(found.evidence, 1):
        by = proof.superseded_by or ""
        mark = f"  (superseded by {by if ':' in by else f'^{by}'})" if by else ""
        head = f"{proof.thread}:{proof.index} [{proof.start}:{proof.end}]  {proof.role}  {proof.time or ''}"
        cited = f"[{number}] " if found.answer else ""
        lines.append(on.bold(cited + safe(head.rstrip())) + on.warn(mark))
        lines.extend("    " + safe(row) for row in proof.text.splitlines())
    return "\n".join(lines) if lines else "Nothing found."


def _aged(about: Mapping[str, Any]) -> str:
    """`decision, 12 days old; the file changed since (2026-05-20)`."""
    age = about["age_days"]
    old = "of unknown age" if age is None else "of today" if age == 0 else f"{age} day{'s' * (age != 1)} old"
    changed = about["changed_since"]
    since = {True: "the file changed since", False: "the file has not changed since",
             None: "whether the file changed since is not known"}[changed]
    return f"{about['concern']}, {old}; {since}" + (f" ({about['changed_at'][:10]})" if changed else "")
