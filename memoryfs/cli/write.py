"""In: a statement or a memory id. Out: the topic file changed, and one line that says what was done."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, open_store, wants_json
from memoryfs.errors import UsageError
from memoryfs.model import MEMORY_KINDS
from memoryfs.render import one_line


def _show(ctx: click.Context, change) -> None:
    if wants_json(ctx):
        emit_json(change.to_dict())
    else:
        click.echo(one_line(f"{change.action} ^{change.id} in {change.topic}" + (f": {change.detail}" if change.detail else "")))


@click.command("remember", context_settings={"ignore_unknown_options": True})
@click.argument("text", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--topic", metavar="T", help="The topic file, as projects/x.md.")
@click.option("--kind", type=click.Choice(MEMORY_KINDS), default="fact", show_default=True)
@click.option("--source", metavar="THREAD:A-B", help="Where it was said.")
@click.option("--hint", "hints", multiple=True, help="A word that a later search will use; may be repeated.")
@click.option("--as-agent", is_flag=True, help="Record an agent as the author instead of a person.")
@click.pass_context
def remember_command(
    ctx: click.Context, text: tuple[str, ...], topic: str | None, kind: str, source: str | None,
    hints: tuple[str, ...], as_agent: bool,
) -> None:
    """Write one memory into a topic file."""
    if not " ".join(text).strip():
        raise UsageError("there is nothing to remember: the text is empty")
    store = open_store(ctx, create=True)
    _show(ctx, store.remember(" ".join(text), topic=topic, kind=kind, source=source, hints=hints,
                              actor="agent" if as_agent else "person"))


@click.command("forget")
@click.argument("memory_id")
@click.option("--purge", is_flag=True, help="Remove its text from the ledger too; this cannot be undone.")
@click.pass_context
def forget_command(ctx: click.Context, memory_id: str, purge: bool) -> None:
    """Withdraw the memory ^m-…; it does not come back from the same source."""
    _show(ctx, open_store(ctx).forget(memory_id, purge=purge))


@click.command("move")
@click.argument("memory_id")
@click.option("--to", "to", required=True, metavar="TOPIC|STORE",
              help="The topic file, as projects/x.md, or another store: its directory, or profile:NAME.")
@click.pass_context
def move_command(ctx: click.Context, memory_id: str, to: str) -> None:
    """Move the memory ^m-… to another topic file or store; its id, sources and history stay."""
    _show(ctx, open_store(ctx).move(memory_id, to))
