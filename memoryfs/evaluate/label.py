"""In: one's own threads, and a person at the keyboard (injected). Out: golden questions, appended to a file.

A person types a question, picks the events that answer it from what recall finds, and says what the answer is;
or asks for a passage first and then writes a question that should lead back to it. Nothing is labelled by itself.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memoryfs.evaluate.corpus import Corpus
from memoryfs.evaluate.golden import TYPES, language_of, load
from memoryfs.render import one_line, safe

Ask = Callable[[str], str]  # prompt → what was typed; EOFError ends
Say = Callable[[str], None]
Search = Callable[[str], Sequence[Mapping[str, Any]]]  # a query → evidence, as in the recall JSON

HELP = (
    "A question is answered by events. Pick them by number: `1 3`; `o2` marks number 2 as holding an outdated value;\n"
    "`/other words` searches again; `none` means your threads hold no answer; an empty line drops the question."
)
QUOTE = 200


def label(path: Path, corpus: Corpus, search: Search, ask: Ask, say: Say, *, seed: int = 0) -> int:
    """Append questions to `path` until the person enters an empty one; returns how many were added."""
    from memoryfs.textfile import append_lines

    path = Path(path)
    taken = {question.id for question in load(path)[0]} if path.exists() else set()
    passages = _passages(corpus, seed)
    added = 0
    say(HELP)
    try:
        while True:
            text = ask("Question (`?` for a passage to ask about, empty to end): ").strip()
            shown: Mapping[str, Any] | None = None
            if text == "?":
                shown = next(passages, None)
                if shown is None:
                    say("There are no more passages.")
                    continue
                say(f"{shown['source']}:{shown['line']} [{shown['role']}]\n{safe(shown['text'])}")
                text = ask("A question that this answers (empty for another): ").strip()
                if not text:
                    continue
            if not text:
                return added
            record = _record(text, shown, search, ask, say)
            if record is None:
                continue
            number = len(taken) + 1
            while f"own-{number:03d}" in taken:
                number += 1
            record = {"id": f"own-{number:03d}", **record}
            taken.add(record["id"])
            append_lines(path, [json.dumps(record, ensure_ascii=False)])
            added += 1
            say(f"Kept as {record['id']}.")
    except EOFError:
        return added


def label_store(store: Any, path: Path, ask: Ask, say: Say, *, vectors: bool = True) -> int:
    """`label` over a store's own threads, with its recall as the search."""

    def search(query: str) -> Sequence[Mapping[str, Any]]:
        return store.recall(query, level=2, vectors=vectors).to_dict()["evidence"]

    return label(path, Corpus.from_store(store.root), search, ask, say)


def _record(
    text: str, shown: Mapping[str, Any] | None, search: Search, ask: Ask, say: Say
) -> dict[str, Any] | None:
    current, old = ([shown], []) if shown is not None else _pick(text, search, ask, say)
    if current is None:
        return None
    language = language_of(text)
    if not current:
        return {"question": text, "answer": None, "type": "abstain", "language": language, "evidence": []}
    answer = ask("The answer, word for word where it is an exact value: ").strip() or None
    superseded = ask("The outdated value: ").strip() or None if old else None
    verbatim = answer is not None and any(answer in item["text"] for item in current)
    guess = "superseded" if superseded else "exact" if verbatim else "multi-hop" if len(current) > 1 else "single-hop"
    kind = ask(f"Type ({', '.join(TYPES)}) [{guess}]: ").strip() or guess
    record: dict[str, Any] = {
        "question": text, "answer": answer, "type": kind if kind in TYPES else guess, "language": language,
        "evidence": [_evidence(item, answer) for item in current]
        + [{**_evidence(item, superseded), "role": "old"} for item in old],
    }
    if superseded:
        record["superseded_value"] = superseded
    return record


def _pick(text: str, search: Search, ask: Ask, say: Say) -> tuple[list[Mapping[str, Any]] | None, list[Mapping[str, Any]]]:
    """Events that answer and events that are outdated; (None, []) when the question is dropped."""
    query = text
    while True:
        found = list(search(query))
        for number, item in enumerate(found, start=1):
            say(f"{number:3d}. [{item['role']}] {(item.get('time') or '')[:16]} {one_line(item['text'], 240)}")
        if not found:
            say("Nothing found.")
        typed = ask("Which answer it? ").strip()
        if not typed:
            return None, []
        if typed == "none":
            return [], []
        if typed.startswith("/"):
            query = typed[1:].strip() or text
            continue
        picks = re.findall(r"(o?)(\d+)", typed)
        chosen = [(mark, int(number)) for mark, number in picks if 1 <= int(number) <= len(found)]
        current = [found[number - 1] for mark, number in chosen if not mark]
        if current:
            return current, [found[number - 1] for mark, number in chosen if mark]
        say("Pick at least one that answers as of now.")


def _evidence(item: Mapping[str, Any], value: str | None) -> dict[str, Any]:
    """The place, with the line that holds the value (or the first one) as its quote."""
    lines = [line.strip() for line in item["text"].splitlines() if line.strip()]
    quote = next((line for line in lines if value and value in line), lines[0] if lines else "")
    return {"source": item["source"], "line": item["line"], "quote": quote[:QUOTE]}


def _passages(corpus: Corpus, seed: int) -> Iterator[Mapping[str, Any]]:
    """Messages long enough to be worth a question, in a shuffled order."""
    events = [
        event for event in corpus.events
        if event.kind == "message" and not event.metadata.get("skip") and 30 <= len(event.text) <= 2000
    ]
    random.Random(seed).shuffle(events)
    for event in events:
        yield event.to_dict()
