"""In: `organize --audit N` or `--verdicts FILE`. Out: items to judge, a person's answers in the ledger, and the junk rate so far."""

from __future__ import annotations

import sys
from typing import TextIO

import click

from memoryfs.cli.context import emit_json, open_store, wants_json
from memoryfs.render import one_line, safe
from memoryfs.textfile import StoreLock
from organizer import audit as audits


def audit_command(ctx: click.Context, most: int | None, given: TextIO | None) -> None:
    """Takes in `given` verdicts, then samples `most` items: asked one by one at a terminal, else listed."""
    store = open_store(ctx)
    taken = 0
    if given is not None:
        with StoreLock(store.root, "organize"):
            taken = audits.judge_all(store.root, store.config, given, now=store.clock())
    items = audits.sample(store.root, store.config, most) if most else []
    if wants_json(ctx):
        return emit_json({"items": [i.to_dict() for i in items], "recorded": taken, "rates": audits.standing(store.root).to_dict()})
    if items and sys.stdin.isatty() and sys.stdout.isatty():
        click.echo("Worth keeping? y: yes, n: no, s: skip, q: end. Each answer is kept at once; the next run learns from it.")
        taken += audits.ask(items, _ask, lambda item, worth: audits.judge(store.root, item, worth, now=store.clock()))
    else:
        for title, kept in (("kept", True), ("dropped", False)):
            click.echo(f"{title}:")
            for item in items:
                if item.kept == kept:
                    click.echo(f"  {item.item}  {item.kind}, {item.role}, {item.source}  {one_line(item.text, 160)}")
    if most and not items:
        click.echo("Nothing left to judge.")
    click.echo(f"{f'{taken} verdicts recorded; ' if taken else ''}{audits.standing(store.root).to_text()}")


def _ask(words: str, number: int, of: int) -> str:
    shown = "\n".join(safe(line) for line in words.split("\n"))
    return click.prompt(f"\n[{number}/{of}] {shown}\n", type=click.Choice(["y", "n", "s", "q"]), prompt_suffix="  ")
