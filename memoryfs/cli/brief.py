"""In: a store. Out: its briefing on stdout, the text of MEMORY.md. Kept free of slow imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memoryfs.cli.context import emit_json, store_root, wants_json

if TYPE_CHECKING:
    from pathlib import Path

    from memoryfs.config import Config


@click.command("brief")
@click.option("--for", "harness", type=click.Choice(["claude-code", "codex", "openclaw"]),
              help="Apply this harness's own limits too.")
@click.option("--query", help="Add the memories that matter for TEXT.", metavar="TEXT")
@click.option("--max-bytes", type=click.IntRange(min=200), help="A lower cap for this call.")
@click.option("--explain", is_flag=True, help="Say what is in, what was left out, and why.")
@click.pass_context
def brief_command(
    ctx: click.Context, harness: str | None, query: str | None, max_bytes: int | None, explain: bool
) -> None:
    """Print the briefing that a session starts with."""
    from memoryfs import briefing_cache
    from memoryfs.config import load
    from memoryfs.errors import NoStoreError

    root = store_root(ctx)
    if not root.is_dir():
        raise NoStoreError(str(root))
    config, problems = load(root)
    if problems:
        from memoryfs.cli.context import report_problems

        report_problems(ctx, problems)
    if explain:
        return _explain(ctx, root, config)
    text = briefing_cache.read_fresh(root, config)
    if harness or max_bytes:
        from memoryfs import briefing

        text = briefing.for_harness(text, harness, max_bytes=max_bytes)
    if query:
        text += _about(root, query)
    if wants_json(ctx):
        emit_json({"briefing": text, "bytes": len(text.encode())})
    else:
        click.echo(text, nl=not text.endswith("\n"))


def _about(root: Path, query: str) -> str:
    from memoryfs.store import MemoryStore

    found = MemoryStore.open(root).recall(query, k=5, level=0)
    if found.abstained or not found.memories:
        return ""
    lines = [f"- {m.memory.summary} → {m.memory.topic}" for m in found.memories]
    return "\n## For this session\n" + "\n".join(lines) + "\n"


def _explain(ctx: click.Context, root: Path, config: Config) -> None:
    from memoryfs import briefing

    entries = briefing.explain(root, config)
    if wants_json(ctx):
        emit_json(entries)
        return
    from memoryfs.render import table

    rows = [("in" if e["shown"] else "left out", e["section"], f"{e['worth']:.2f}", e["line"]) for e in entries]
    click.echo(table([("", "section", "worth", "line"), *rows], (0, 0, 0, 100)))
