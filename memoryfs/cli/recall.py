"""In: a question. Out: breadcrumbs and verbatim evidence, for a person or as the JSON of DESIGN §8."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memoryfs.cli.context import emit_json, notice, report_problems, stores_in_scope, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_NOTHING, UsageError
from memoryfs.model import Recall
from memoryfs.render import one_line, safe

MAX_K = 1000


@click.command("recall", context_settings={"ignore_unknown_options": True})
@click.argument("query", nargs=-1, type=click.UNPROCESSED)
@click.option("-k", default=10, show_default=True, type=int, help="At most K memories and K events.")
@click.option("--file", "file", metavar="PATH", help="Only what concerns this file; QUERY may be left out.")
@click.option("--level", type=click.Choice(["auto", "0", "1", "2", "3"]), default="auto", show_default=True,
              help="0 memories, 1 chunk index, 2 source text, 3 model extraction.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Bound of the evidence.  [default: 1500]")
@click.option("--status", default="active,conflicted", show_default=True, help="Statuses, comma-separated, or all.")
@click.option("--as-of", metavar="DATE", help="Answer as of this date.")
@click.option("--scope", "scope_name", type=click.Choice(["here", "up", "all"]),
              help="The nearest store, also those above it, or also siblings and descendants.  [default: up; here with --store]")
@click.option("--no-vectors", is_flag=True, help="Words only.")
@click.pass_context
def recall_command(
    ctx: click.Context, query: tuple[str, ...], k: int, file: str | None, level: str, max_tokens: int | None,
    status: str, as_of: str | None, scope_name: str | None, no_vectors: bool,
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
    unknown = set(wanted) - set(STATUSES)
    if unknown:
        raise UsageError(f"unknown status {', '.join(sorted(unknown))}", remedy=f"Statuses: {', '.join(STATUSES)}.")
    found = scoped.recall(stores_in_scope(ctx, scope_name), text, k=min(k, MAX_K), level=level, max_tokens=max_tokens,
                          status=wanted, as_of=as_of, file=file, vectors=not no_vectors)
    for line in found.notices:
        notice(ctx, line)
    report_problems(ctx, found.problems)
    if wants_json(ctx):
        emit_json(found.to_dict())
    else:
        click.echo(page(found))
    ctx.exit(EXIT_DONE if found.memories or found.evidence else EXIT_NOTHING)


def page(found: Recall) -> str:
    """The answer for a person, in plain lines of about 100 columns."""
    lines: list[str] = []
    if found.file:
        lines.append(safe(f"About {found.file['path']}" + ("" if found.file["exists"] else " (there is no such file now)")))
    if found.abstained:
        lines.append("Nothing supports an answer." + (" Nearest:" if found.memories or found.evidence else ""))
    for crumb in found.memories:
        memory = crumb.memory
        mark = "" if memory.status == "active" else f" [{memory.status}]"
        lines.append(f"^{memory.id}{mark}  {one_line(memory.summary, 100)}")
        place = memory.topic if not crumb.scope else f"{crumb.store}/{memory.topic}"
        lines.append(f"    {safe(place)}:{memory.line}  " + "  ".join(r.label for r in memory.source_range))
        if crumb.about:
            lines.append(f"    {_aged(crumb.about)}")
    if found.memories and found.evidence:
        lines.append("")
    for proof in found.evidence:
        mark = f"  (superseded by ^{proof.superseded_by})" if proof.superseded_by else ""
        lines.append(f"{proof.thread}:{proof.index} [{proof.start}:{proof.end}]  {proof.role}  {proof.time or ''}{mark}")
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
