"""In: a working directory. Out: the memories that three or more projects hold alike, each with the store they could share.

Nothing is moved: a proposal names the commands that would. The projects are those below a store's folder; for the user's
own store, those that `--scope all` sees.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs import config as settings
from memoryfs import ledger, scope, scoped
from memoryfs.edits import load_topics
from memoryfs.model import CURRENT, Memory

PROJECTS = 3  # that must hold the same words


@dataclass(frozen=True)
class Proposal:
    """`memory`, as it stands in the first of `places` (store, id), belongs in the store `target`."""

    memory: Memory
    target: Path
    places: tuple[tuple[Path, str], ...]

    def commands(self) -> tuple[str, ...]:
        """What to run, one line a project."""
        import shlex

        to = shlex.quote(str(self.target))
        return tuple(f"memoryfs --store {shlex.quote(str(root))} move ^{id} --to {to}" for root, id in self.places)

    def to_dict(self) -> dict[str, Any]:
        return {
            "summary": self.memory.summary, "kind": self.memory.kind, "target": str(self.target),
            "places": [{"store": str(root), "id": id} for root, id in self.places], "commands": list(self.commands()),
        }


def proposals(cwd: Path, environ: Mapping[str, str] = os.environ) -> tuple[Proposal, ...]:
    """Proposals for the stores that apply in `cwd`, those for the nearest store first. Reads every project's topics."""
    found: dict[str, Proposal] = {}
    read: dict[Path, dict[str, Memory]] = {}
    for target, projects in _families(cwd, environ):
        if len(projects) < PROJECTS:
            continue
        held: dict[str, list[tuple[Path, Memory]]] = {}
        for root in projects:
            if root not in read:
                read[root] = _memories(root)
            for key, memory in read[root].items():
                held.setdefault(key, []).append((root, memory))
        there = _memories(target)
        for key, places in held.items():
            if len(places) >= PROJECTS and key not in there and key not in found:
                found[key] = Proposal(places[0][1], target, tuple((root, memory.id) for root, memory in places))
    return tuple(found.values())


def _families(cwd: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, list[Path]]]:
    """Each store that applies, with the stores of the projects below it."""
    own = scope.home(environ)
    for place in scope.cascade(cwd, environ):
        if own is not None and os.path.realpath(place.root) == os.path.realpath(own):
            others = [s.root for s in scoped.stores_for("all", cwd, environ)]
        elif place.root.name == scope.FOLDER:
            others = list(scoped.stores_below(place.root.parent))
        else:
            continue  # a profile has no folder of projects
        distinct = {os.path.realpath(root): root for root in others if root.name == scope.FOLDER}
        distinct.pop(os.path.realpath(place.root), None)
        yield place.root, sorted(distinct.values())


def _memories(root: Path) -> dict[str, Memory]:
    """The current memories of a store by their words, without tasks and what happened, which are a project's own."""
    config, _ = settings.load(root)
    return {
        ledger.text_key(m.summary): m
        for _, topic in sorted(load_topics(root, config).items()) for m in topic.memories
        if m.status in CURRENT and m.kind in ("fact", "instruction") and m.metadata.get("adopted", True)
    }
