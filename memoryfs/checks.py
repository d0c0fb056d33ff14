"""In: what `doctor` knows of a store. Out: findings about models, vectors, permissions and secrets, for its list of checks."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memoryfs.errors import MemoryfsError
from memoryfs.files import BRIEFING, INBOX, NOTES
from memoryfs.model import Problem

if TYPE_CHECKING:
    from memoryfs.doctor import Context
    from memoryfs.models.protocols import Embedder, Generator

_SETTING = "memoryfs.toml"
_NEAR = ("The gateway listens on port 7443.", "which port does the gateway use")
_FAR = "日曜日は休みです。"
MAX_NAMED = 20  # files named by one check; the rest are counted


def models(context: Context) -> Iterator[Problem]:
    """The models that are installed or named in the settings answer; having none is no fault."""
    if not context.with_models:
        return
    from memoryfs import models as opening

    config = context.store.config.models
    try:
        embedder = opening.open_embedder(config)
        if embedder is not None:
            yield from _embeds(embedder)
            embedder.close()
    except MemoryfsError as error:
        yield Problem(_SETTING, f"the embedder does not work: {error.message}", error.remedy)
    try:
        generator = opening.open_generator(config)
        if generator is not None:
            yield from _scores(generator)
            generator.close()
    except MemoryfsError as error:
        yield Problem(_SETTING, f"the generator does not work: {error.message}", error.remedy)


def _embeds(embedder: Embedder) -> Iterator[Problem]:
    """Two passages and a question, embedded: unit length, and the passage that answers is the nearer one."""
    rows = embedder.embed_passages([_NEAR[0], _FAR])
    asked = embedder.embed_query(_NEAR[1])
    near, far = (sum(float(a) * float(b) for a, b in zip(asked, row, strict=True)) for row in rows)
    size = math.sqrt(sum(float(a) ** 2 for a in asked))
    if not (math.isfinite(near) and math.isfinite(far)) or abs(size - 1) > 0.01 or near <= far:
        yield Problem(_SETTING, "the embedder answers, but not sensibly: what is alike is not near",
                      "Set models.embedder to another model, or to \"none\": search by words works without.")


def _scores(generator: Generator) -> Iterator[Problem]:
    scores = generator.score("", ["Sky: blue\nGrass:", "2 + 2 ="], (" green", " red"))
    if len(scores) != 2 or not all(math.isfinite(score) for score in scores):
        yield Problem(_SETTING, "the generator answers, but not with numbers",
                      "Set models.generator to another model, or to \"none\": the rules work without.")


def vectors(context: Context) -> Iterator[Problem]:
    """The vectors of the index were made by the embedder that is used now."""
    from memoryfs import index as indexes
    from memoryfs import models as opening

    if not context.with_models:
        return
    try:
        with indexes.open(context.store.root) as opened:
            if not opened.has_vectors() or opened.vectors_ready():
                return
            embedder = opening.open_embedder(context.store.config.models)
            if embedder is None:
                return
            try:
                if not opened.vectors_match(embedder):
                    yield Problem(".memoryfs/index.db", "its vectors were made by another embedding model, or with other settings",
                                  "`memoryfs index --reembed` replaces them; search by words works meanwhile.", severity="warning")
            finally:
                embedder.close()
    except MemoryfsError:
        return  # a model or an index that does not work is the finding of another check


def permissions(context: Context) -> Iterator[Problem]:
    """Its files can be written by their owner, and by nobody whom the system does not trust with it."""
    found = 0
    for path in _own_files(context.store.root):
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            continue
        name = os.path.relpath(path, context.store.root)
        shown = "this folder" if name == "." else name
        problem = None
        if mode & stat.S_IWOTH and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
            problem = Problem(name, f"everybody on this machine can change {shown}", f"chmod o-w '{path}'", severity="warning")
        elif not mode & stat.S_IWUSR or not os.access(path, os.W_OK):
            problem = Problem(name, f"{shown} cannot be written, so nothing new gets into it", f"chmod u+w '{path}'",
                              severity="warning")
        if problem:
            found += 1
            if found <= MAX_NAMED:
                yield problem
    if found > MAX_NAMED:
        yield Problem(".", f"{found - MAX_NAMED} more like these", f"chmod -R u+w,o-w '{context.store.root}'", severity="warning")


def _own_files(root: Path) -> Iterator[str]:
    """The store's folders and files, links and hidden ones of others left out."""
    waiting = [str(root)]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda e: e.name):
                    if entry.is_symlink() or (entry.name.startswith(".") and entry.name != ".memoryfs"):
                        continue
                    if entry.is_dir():
                        waiting.append(entry.path)
                    elif not entry.name.endswith(".lock"):
                        yield entry.path
        except OSError:
            continue


def secrets(context: Context) -> Iterator[Problem]:
    """No password or key stands in a file that a person writes."""
    from memoryfs.redact import redact

    texts = {path: topic.text for path, topic in context.topics.items()}
    for name in (BRIEFING, NOTES, INBOX, _SETTING):
        if name not in texts:
            try:
                texts[name] = (context.store.root / name).read_bytes().decode("utf-8", "surrogateescape")
            except OSError:
                continue
    for path, text in sorted(texts.items()):
        cleaned = redact(text)
        for (start, end), edit in zip(cleaned.spans, cleaned.edits, strict=True):
            kind = cleaned.text[start:end].removeprefix("[REDACTED:").removesuffix("]").replace("-", " ").replace("_", " ")
            yield Problem(path, f"what looks like a secret stands here ({kind})",
                          "Take it out of the file, and change it where it is used: it may have been read already.",
                          line=text.count("\n", 0, edit[0]) + 1, severity="warning")
