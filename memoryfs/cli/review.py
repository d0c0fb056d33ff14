"""In: a choice about an open contradiction. Out: the topic files settled, or the list of what is open."""

from __future__ import annotations

import click

from memoryfs.cli.context import emit_json, open_store, wants_json
from memoryfs.edits.verbs import CHOICES
from memoryfs.errors import EXIT_DONE, EXIT_REVIEW, UsageError
from memoryfs.render import one_line, safe


@click.command("review")
@click.argument("choice", required=False, type=click.Choice(CHOICES))
@click.argument("review_id", required=False)
@click.pass_context
def review_command(ctx: click.Context, choice: str | None, review_id: str | None) -> None:
    """Settle a contradiction: accept the newest statement, reject it, or keep-both. Without arguments: what is open."""
    store = open_store(ctx)
    if choice is None:
        return _open_reviews(ctx, store)
    if not review_id:
        raise UsageError(f"which one? `memoryfs review {choice} ^r-…`", remedy="`memoryfs review` lists what is open.")
    change = store.resolve(review_id.strip().lstrip("^"), choice)
    if wants_json(ctx):
        emit_json(change.to_dict())
    else:
        click.echo(f"{change.detail} ^{change.id} in {safe(change.topic)}")


def _open_reviews(ctx: click.Context, store) -> None:
    rows = []
    for path, topic in sorted(store.topics().items()):
        statements = {m.id: m for m in topic.memories}
        for review in topic.reviews:
            sides = [statements[i] for i in review.memory_ids if i in statements]
            rows.append((path, review, sides))
    if wants_json(ctx):
        emit_json({"reviews": [
            {"id": r.id, "topic": path, "line": r.line, "text": r.text,
             "memories": [{"id": m.id, "summary": m.summary, "date": m.date,
                           "source_range": [s.to_dict() for s in m.source_range]} for m in sides]}
            for path, r, sides in rows]})
    else:
        for path, review, sides in rows:
            click.echo(f"^{review.id}  {safe(path)}:{review.line}  {one_line(review.text, 100)}")
            for memory in sides:
                click.echo(f"    ^{memory.id}  {memory.date or ''}  {one_line(memory.summary, 90)}")
        if not rows:
            click.echo("Nothing waits for review.")
    ctx.exit(EXIT_REVIEW if rows else EXIT_DONE)
