"""In: a topic file's path and an edit of its parsed form. Out: the file changed, or left as someone else saved it.

The file is read, edited and replaced only if it still has the bytes that were read; if a person saved meanwhile, the edit is made
again on their text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memoryfs.config import Config
from memoryfs.errors import ChangedMeanwhileError, NotFoundError, ReadOnlyError
from memoryfs.textfile import StoreLock, inside, read_file, write_atomic
from memoryfs.topic import Topic, parse, render

_WAIT_SECONDS = 10.0  # for another of our own writers; a write takes milliseconds


def read_topic(root: Path, relpath: str, config: Config | None = None) -> tuple[Topic, str]:
    """The parsed file and its digest. Raises NotFoundError, ReadOnlyError, OutsideStoreError."""
    path = inside(root, relpath, follow_links_outside=bool(config and config.follow_links_outside))
    try:
        file = read_file(path)
    except FileNotFoundError:
        raise NotFoundError(f"the topic file {relpath}") from None
    except OSError as error:
        raise ReadOnlyError(relpath, error.strerror or str(error)) from error
    return parse(file.data, relpath), file.digest


def edit_topic(
    root: Path, relpath: str, fn: Callable[[Topic], Topic], *, retries: int = 3, config: Config | None = None,
    create: Callable[[], Topic] | None = None,
) -> Topic:
    """Applies `fn` to the topic at `relpath` and writes it, in as many as `retries` + 1 attempts; returns what stands there.

    `fn` may be called again on newer text, so it must not keep anything from an earlier call. A missing file is made
    by `create`. Nothing is written if `fn` changes nothing. Raises ChangedMeanwhileError when every attempt found
    newer text, UnwritableFileError (from `fn`), NotFoundError, ReadOnlyError, OutsideStoreError.
    """
    with StoreLock(root, "edit", wait_seconds=_WAIT_SECONDS):
        for attempt in range(retries + 1):
            try:
                topic, digest = read_topic(root, relpath, config)
            except NotFoundError:
                if create is None:
                    raise
                topic, digest = create(), ""
            changed = fn(topic)
            if changed.text == topic.text and digest:
                return changed
            path = inside(root, relpath, follow_links_outside=bool(config and config.follow_links_outside))
            try:
                write_atomic(path, render(changed), expect=digest)
                return changed
            except ChangedMeanwhileError:
                if attempt == retries:
                    raise
