"""In: filters, or a statement. Out: the memories that match, or a verdict on whether it is remembered already."""

from __future__ import annotations

from pathlib import Path

import click

from memoryfs.cli.context import emit_json, open_store, report_problems, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_NOTHING
from memoryfs.model import MEMORY_KINDS, STATUSES, Memory
from memoryfs.render import one_line, safe


@click.command("list")
@click.option("--topic", metavar="T", help="One topic file, or a folder of them.")
@click.option("--kind", type=click.Choice(MEMORY_KINDS))
@click.option("--status", type=click.Choice([*STATUSES, "inbox", "all"]), default="active", show_default=True,
              help="`inbox`: what waits in inbox.md for a person or a second sighting.")
@click.option("--threads", is_flag=True, help="List threads instead of memories.")
@click.option("-0", "nul", is_flag=True, help="Only topic paths, each once, separated by NUL.")
@click.pass_context
def list_command(
    ctx: click.Context, topic: str | None, kind: str | None, status: str, threads: bool, nul: bool
) -> None:
    """List topics and memories."""
    from memoryfs.store import select

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
    if nul:
        click.echo("".join(f"./{path}\0" for path in dict.fromkeys(m.topic for m in found)), nl=False)
        return
    if wants_json(ctx):
        emit_json({"memories": [m.to_dict() | {"stated_by": m.stated_by, "date": m.date} for m in found]})
        ctx.exit(EXIT_DONE if found else EXIT_NOTHING)
    last = None
    for memory in found:
        if memory.topic != last:
            click.echo(safe(memory.topic))
            last = memory.topic
        mark = "" if memory.status == "active" else f" [{memory.status}]"
        click.echo(f"  ^{memory.id}  {memory.kind}{mark}  {one_line(memory.summary, 90)}")
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
