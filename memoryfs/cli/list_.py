"""In: filters, or a statement. Out: the memories that match, or a verdict on whether it is remembered already."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from memoryfs.cli.context import emit_json, notice, open_store, report_problems, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_NOTHING, UsageError
from memoryfs.model import MEMORY_KINDS, STATUSES, Memory
from memoryfs.render import Paper, one_line, paper, safe, wrap


@click.command("list")
@click.option("--topic", metavar="T", help="One topic file, or a folder of them.")
@click.option("--kind", type=click.Choice(MEMORY_KINDS))
@click.option("--status", type=click.Choice([*STATUSES, "inbox", "all"]), default="active", show_default=True,
              help="`inbox`: what waits in inbox.md for a person or a second sighting.")
@click.option("--stale", is_flag=True, help="Only what should be checked again: its source changed, or its day has passed.")
@click.option("--threads", is_flag=True, help="List threads instead of memories.")
@click.option("--proposals", is_flag=True, help="Memories that three or more projects hold alike, and the store to share them in.")
@click.option("-0", "nul", is_flag=True, help="Only topic paths, each once, separated by NUL.")
@click.pass_context
def list_command(
    ctx: click.Context, topic: str | None, kind: str | None, status: str, stale: bool, threads: bool, proposals: bool, nul: bool
) -> None:
    """List topics and memories."""
    from memoryfs.staleness import all_marked
    from memoryfs.store import select

    if proposals:
        _proposals(ctx)

    store = open_store(ctx)
    if threads:
        from memoryfs import thread

        names = thread.list_threads(store.root)
        if wants_json(ctx):
            emit_json({"threads": names})
        else:
            click.echo("\n".join(names))
        ctx.exit(EXIT_DONE if names else EXIT_NOTHING)
    topics = store.topics()
    report_problems(ctx, [p for t in topics.values() for p in t.problems])
    found = _waiting(store.root, kind) if status == "inbox" else select(topics, topic=topic, kind=kind, status=status)
    today = store.clock().date()
    found = [m for m in all_marked(found, today) if m.metadata.get("stale") or not stale]
    if nul:
        click.echo("".join(f"./{path}\0" for path in dict.fromkeys(m.topic for m in found)), nl=False)
        return
    if wants_json(ctx):
        emit_json({"memories": [m.to_dict() | {"stated_by": m.stated_by, "said_by": m.said_by, "date": m.date} for m in found]})
        ctx.exit(EXIT_DONE if found else EXIT_NOTHING)
    if found:
        click.echo(page(found, paper(sys.stdout), store.root))
    if not found:
        click.echo("Nothing found.", err=True)
        ctx.exit(EXIT_NOTHING)


def _waiting(root: Path, kind: str | None) -> list[Memory]:
    """What stands in inbox.md, as it reads now."""
    from memoryfs import inbox

    return [
        Memory(line.id, line.text, line.kind or "fact", "inbox", inbox.INBOX, line.number + 1, line.ranges, date=line.date or None)
        for line in inbox.lines(inbox.read(root)[0]) if kind in (None, line.kind or "fact")
    ]


def _proposals(ctx: click.Context) -> None:
    from memoryfs.shared import PROJECTS, proposals

    if ctx.obj.store or ctx.obj.profile:
        raise UsageError("--proposals looks around the working directory; it does not go with --store or --profile")
    found = proposals(Path.cwd())
    if wants_json(ctx):
        emit_json({"proposals": [p.to_dict() for p in found]})
    for proposal in () if wants_json(ctx) else found:
        click.echo(f"{proposal.memory.kind}  {one_line(proposal.memory.summary, 90)}")
        click.echo(f"  in {len(proposal.places)} projects; to share it in {safe(str(proposal.target))}:")
        click.echo("\n".join(f"    {safe(line)}" for line in proposal.commands()))
    if not found:
        notice(ctx, f"no memory is held by {PROJECTS} projects alike")
    ctx.exit(EXIT_DONE if found else EXIT_NOTHING)


def page(found: Sequence[Memory], on: Paper, root: Path) -> str:
    """Memories under their topics, in columns; on a terminal wrapped, elsewhere one line a memory."""
    kinds = [m.kind + ("" if m.status == "active" else f" [{m.status}]") for m in found]
    wide = max(map(len, kinds))
    lines: list[str] = []
    last = None
    for memory, kind in zip(found, kinds, strict=True):
        if memory.topic != last:
            lines.append(on.bold(on.link(safe(memory.topic), root / memory.topic)))
            last = memory.topic
        head = f"  ^{memory.id}  {kind.ljust(wide)}  "
        rows = wrap(memory.summary, on.width if on.terminal else 0, " " * len(head), head)
        stale = memory.metadata.get("stale")
        if stale and on.terminal:
            rows += [on.warn(row) for row in wrap(stale, on.width, " " * len(head))]
        elif stale:
            rows[-1] += safe(f"  [{stale}]")
        lines += [on.dim(head) + rows[0][len(head):], *rows[1:]]
    return "\n".join(lines)


@click.command("dedupe", context_settings={"ignore_unknown_options": True})
@click.argument("text", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def dedupe_command(ctx: click.Context, text: tuple[str, ...]) -> None:
    """Say whether TEXT is remembered already: exact, possible, new or unknown."""
    verdict = open_store(ctx).dedupe(" ".join(text))
    if wants_json(ctx):
        emit_json(verdict)
        return
    click.echo(verdict["verdict"])
    for match in verdict["matches"]:
        click.echo(f"  ^{match['id']}  {one_line(match['summary'], 90)}")
