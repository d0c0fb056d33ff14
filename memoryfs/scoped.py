"""In: a question and the stores that apply where it is asked. Out: one `Recall`, each result naming its store and its distance.

`here` is the nearest store, `up` also its ancestors and the user's own, `all` also siblings and descendants. Which stores
those are is decided from the working directory alone. What stands further away loses `scope_penalty` a step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memoryfs import scope as scopes
from memoryfs.errors import MemoryfsError, NoStoreError, UsageError
from memoryfs.model import Breadcrumb, Evidence, Problem, Recall
from memoryfs.scope import FOLDER, Scope
from memoryfs.store import MemoryStore
from memoryfs.text import estimate_tokens

NAMES = ("here", "up", "all")
MAX_DEPTH = 4  # folders below the outermost project that `all` looks into
MAX_FOLDERS = 5_000
_PASSED_OVER = {"node_modules", "__pycache__", "venv", "site-packages", "target", "build", "dist"}


def stores_for(name: str, cwd: Path, environ: Mapping[str, str] = os.environ) -> tuple[Scope, ...]:
    """The stores of a scope, nearest first. Raises UsageError for an unknown name, NoStoreError if there is none."""
    if name not in NAMES:
        raise UsageError(f"scope must be one of {', '.join(NAMES)}, not {name!r}")
    scopes.must_be_there(cwd, environ)
    found = scopes.cascade(cwd, environ)
    if name == "all":
        found = _with_others(found, cwd, environ)
    if not found:
        raise NoStoreError(f"or above {cwd}")
    return found[:1] if name == "here" else found


def _with_others(found: tuple[Scope, ...], cwd: Path, environ: Mapping[str, str]) -> tuple[Scope, ...]:
    """The cascade, then siblings and descendants, all one step further away than the furthest of it."""
    own = scopes.home(environ)
    known = {os.path.realpath(s.root) for s in found}
    here = scopes.main_worktree(Path(os.path.abspath(cwd)))
    projects = [
        s.root.parent for s in found
        if (own is None or os.path.realpath(s.root) != os.path.realpath(own)) and here.is_relative_to(s.root.parent)
    ]
    tops = [projects[-1]] if len(projects) > 1 else [p.parent for p in projects[:1]]
    step = found[-1].distance + 1 if found else 0
    others: list[Scope] = []
    for top in (*tops, here):
        for root in stores_below(top):
            real = os.path.realpath(root)
            if real not in known:
                known.add(real)
                others.append(Scope(root, step))
    return (*found, *others)


def stores_below(top: Path) -> Iterator[Path]:
    """The `.memory/` folders in `top` and below, as deep as MAX_DEPTH, of at most MAX_FOLDERS folders."""
    left = MAX_FOLDERS
    waiting = [(top, 0)]
    while waiting and left > 0:
        folder, depth = waiting.pop()
        left -= 1
        try:
            with os.scandir(folder) as found:
                entries = sorted((e for e in found if e.is_dir(follow_symlinks=False)), key=lambda e: e.name)
        except OSError:
            continue
        for entry in reversed(entries):
            if entry.name == FOLDER:
                yield Path(entry.path)
            elif depth < MAX_DEPTH and not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                waiting.append((Path(entry.path), depth + 1))


def recall(stores: Sequence[tuple[MemoryStore, int]], query: str, *, answer: bool = False, **options: Any) -> Recall:
    """`MemoryStore.recall` over several stores, given with their distances, nearest first; the bounds hold for all together.

    One store that cannot be read costs only itself (a problem); the nearest one's errors are raised. An answer is written
    from the evidence of all, and a question expanded, by the nearest one's model.
    """
    nearest, distance = stores[0]
    if answer:
        if str(options.get("level", "auto")) == "auto":
            options["level"] = "2"  # an answer is written from the source
        return nearest.answered(recall(stores, query, **options), options.get("generator"))
    if nearest.config.recall.expand and "expansion" not in options:  # once for all
        from memoryfs.recall.expand import expansion

        options["expansion"] = expansion(
            nearest.root, nearest.config, query, level=options.get("level", "auto"), generator=options.get("generator")
        )
    first = nearest.recall(query, **options)
    if len(stores) == 1:
        return first if distance == 0 else _at(first, nearest, distance)
    parts = [_at(first, nearest, distance)]
    problems: list[Problem] = []
    for store, distance in stores[1:]:
        try:
            if store.config.models == nearest.config.models:
                store._embedder = nearest._embedder  # one model in memory is enough
            parts.append(_at(store.recall(query, **options), store, distance))
        except UsageError:
            raise
        except (MemoryfsError, OSError) as error:
            problems.append(Problem(str(store.root), f"this store could not be searched: {error}"))
    k = int(options.get("k", nearest.config.recall.k))
    return _merged(parts, k, int(options.get("max_tokens") or nearest.config.recall.max_tokens), tuple(problems))


def _at(found: Recall, store: MemoryStore, distance: int) -> Recall:
    name, penalty = str(store.root), store.config.recall.scope_penalty * distance
    return replace(
        found,
        memories=tuple(replace(m, score=m.score - penalty, scope=distance, store=name) for m in found.memories),
        evidence=tuple(replace(e, score=e.score - penalty, store=name) for e in found.evidence),
        problems=tuple(replace(p, path=os.path.join(name, p.path)) for p in found.problems) if distance else found.problems,
    )


def _merged(parts: Sequence[Recall], k: int, max_tokens: int, problems: tuple[Problem, ...]) -> Recall:
    """Stores that support an answer speak; only if none does is the nearest of all listed."""
    speaking = [p for p in parts if not p.abstained] or list(parts)
    crumbs: list[Breadcrumb] = []
    said: set[str] = set()
    for crumb in sorted((m for p in speaking for m in p.memories), key=lambda m: -m.score):
        words = " ".join(crumb.memory.summary.casefold().split())
        if words not in said and len(crumbs) < k:  # the same in two stores counts once, for the nearer
            said.add(words)
            crumbs.append(crumb)
    evidence: list[Evidence] = []
    events: set[tuple[str, int]] = set()
    room = max_tokens
    for proof in sorted((e for p in speaking for e in p.evidence), key=lambda e: -e.score):
        event = (proof.thread, proof.index)
        size = estimate_tokens(proof.text)
        if size <= room and (event in events or len(events) < k):
            events.add(event)
            evidence.append(proof)
            room -= size
    tokens = max_tokens - room + sum(estimate_tokens(m.memory.summary) for m in crumbs)
    notices = tuple(dict.fromkeys(n for p in speaking for n in p.notices))
    return replace(
        parts[0], level=max(p.level for p in speaking), abstained=all(p.abstained for p in parts), tokens=tokens,
        memories=tuple(crumbs), evidence=tuple(evidence), notices=notices,
        problems=(*(q for p in parts for q in p.problems), *problems),
    )
