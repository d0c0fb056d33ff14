"""In: a choice about what waits for a person. Out: it carried out; at a terminal one item after the other, else the list of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from memoryfs.cli.context import emit_json, open_store, wants_json
from memoryfs.errors import EXIT_DONE, EXIT_REVIEW, MemoryfsError, UsageError
from memoryfs.render import Paper, one_line, paper, safe, wrap

if TYPE_CHECKING:
    from memoryfs.edits import Change
    from memoryfs.review import Item
    from memoryfs.store import MemoryStore

KEYS = {"a": "accept", "o": "reject", "b": "keep-both", "e": "edit", "l": "later", "u": "undo", "q": "quit"}
_CONTRADICTION = "[a]ccept the newer  keep the [o]lder  keep [b]oth  [e]dit  [l]ater  [u]ndo last  [q]uit"
_TOPICS = "[a] merge them  keep them [o] apart  [l]ater  [u]ndo last  [q]uit"
_INBOX = "[a]ccept  dr[o]p  [e]dit  [l]ater  [u]ndo last  [q]uit"
_NOTE = "# One statement. Lines that start with # are left out; an empty text changes nothing.\n"


@click.command("review")
@click.argument("verb", required=False, metavar="[accept|reject|keep-both|edit|useful|wrong|undo]")
@click.argument("review_id", required=False, metavar="[ID]")
@click.option("--text", metavar="TEXT", help="The new words, for edit.")
@click.pass_context
def review_command(ctx: click.Context, verb: str | None, review_id: str | None, text: str | None) -> None:
    """Settle what waits for a person, one item at a time; with a verb and an id, that one. useful and wrong judge a memory."""
    from memoryfs import review
    from memoryfs.edits import complete

    store = open_store(ctx)
    if verb is None:
        if complete(store.root, store.config)[0]:
            store.refresh()
        items = review.waiting(store)
        if not wants_json(ctx) and items and sys.stdin.isatty() and sys.stdout.isatty():
            left = session(store, items, click.getchar, click.echo, ask_editor, paper(sys.stdout))
        else:
            left = _list(ctx, items)
        ctx.exit(EXIT_REVIEW if left else EXIT_DONE)
    if verb not in review.VERBS:
        raise UsageError(f"{verb!r} is not a choice", remedy=f"Choices: {', '.join(review.VERBS)}.")
    if not review_id:
        raise UsageError(f"which one? `memoryfs review {verb} ID`", remedy="`memoryfs review` lists what is open.")
    change = review.settle(store, review_id, verb, text or "")
    if wants_json(ctx):
        emit_json(change.to_dict())
    else:
        click.echo(told(verb, change))


def told(verb: str, change: Change) -> str:
    """What was done, in one safe line."""
    return one_line(f"{verb} ^{change.id} in {change.topic}" + (f": {change.detail}" if change.detail != verb else ""))


def _list(ctx: click.Context, items: tuple[Item, ...]) -> int:
    if wants_json(ctx):
        emit_json({"reviews": [item.to_dict() for item in items]})
        return len(items)
    on = paper(sys.stdout)
    for item in items:
        sides = item.review.sides if item.review else ()
        topic, text = (item.review.topic, item.review.review.text) if item.review else ("inbox.md", item.newest)
        line = item.review.review.line if item.review else item.line
        click.echo("\n".join(wrap(text, on.width, "    ", f"^{item.id}  {safe(topic)}:{line}  ")))
        for side in sides:
            click.echo("\n".join(wrap(side.memory.summary, on.width, "        ", f"    ^{side.memory.id}  {side.memory.date or ''}  ")))
    if not items:
        click.echo("Nothing waits for review.")
    return len(items)


def session(
    store: MemoryStore, items: tuple[Item, ...], key: Callable[[], str], show: Callable[[str], object],
    edit: Callable[[str], str | None], on: Paper,
) -> int:
    """Shows one item after the other and asks for a key; returns how many are left.

    `key` gives one character, "" at the end of input; `edit` new words for some, None if the person gave up.
    """
    from memoryfs import review

    done: list[str] = []
    left = {item.id: item for item in items}
    queue = list(items)
    number = 0
    while queue:
        item = queue.pop(0)
        number += 1
        show("\n".join(["", on.dim(f"{number} of {len(items)}"), *page(item, on, str(store.root)), ""]))
        while True:
            show(_TOPICS if item.other else _CONTRADICTION if item.review else _INBOX)
            verb = KEYS.get((key() or "q").lower(), "")
            if (verb == "keep-both" and not item.review) or (verb in ("keep-both", "edit") and item.other):
                verb = ""
            if verb in ("", "undo") and not (verb and done):
                show(on.dim("Nothing to undo yet." if verb else "One of the letters in brackets, please."))
                continue
            if verb in ("later", "quit"):
                break
            text = ""
            if verb == "edit" and not (text := edit(item.newest) or ""):
                show(on.dim("Nothing changed."))
                continue
            try:
                which = done.pop() if verb == "undo" else item.id
                show(on.good(told(verb, review.settle(store, which, verb, text))))
            except MemoryfsError as error:
                show(on.bad(safe(error.message)) + "\n" + safe(error.remedy))
                continue
            if verb == "undo":
                again = next(i for i in items if i.id == which)
                left[which] = again
                queue[:0] = [again, item]
                number -= 2
            else:
                done.append(item.id)
                left.pop(item.id, None)
            break
        if verb == "quit":
            break
    ends = f"{len(items) - len(left)} settled, {len(left)} left."
    show("\n" + ends + (f" `memoryfs review undo ^{done[-1]}` takes the last choice back." if done else ""))
    return len(left)


def page(item: Item, on: Paper, store: str) -> list[str]:
    """The item for a person: what is stated, where, by whom and when, and the source in context."""
    from memoryfs.cli.audit import claim, grounds

    if item.review is None:
        assert item.statement is not None
        return [on.warn("Not sure enough to keep"), *claim(item.statement, on, store), *grounds(item.statement, on, store)]
    if item.other:
        return [on.warn("One topic or two?") + f"  ^{item.id}  {safe(item.review.topic)}:{item.review.review.line}", "",
                *wrap(item.review.review.text, on.width, "  ", "  ")]
    lines = [on.warn("Contradiction") + f"  ^{item.id}  {safe(item.review.topic)}:{item.review.review.line}"]
    sides = sorted(item.review.sides, key=lambda s: s.memory.date or "")
    which = dict(zip((id(side) for side in (*sides[:1], *sides[-1:])), ("older: [o] keeps it", "newer: [a] keeps it"), strict=False))
    for side in sides:
        lines += ["", on.bold(which.get(id(side), "another")), *claim(side, on, store), *grounds(side, on, store)]
    return lines


def ask_editor(text: str) -> str | None:
    """`text` as a person leaves it in $VISUAL or $EDITOR, on one line; None if they did not save it."""
    saved = click.edit(f"{text}\n\n{_NOTE}", extension=".md")
    if saved is None:
        return None
    rows = [row for row in saved.splitlines() if not row.startswith("#")]
    return " ".join(" ".join(rows).split()) or None
