"""In: paths, bytes and names. Out: whole files, locks, safe names: whatever touches a store's files goes through here."""

from __future__ import annotations

from memoryfs.textfile.atomic import (
    FileText,
    append_lines,
    clean_litter,
    digest_of,
    read_file,
    write_atomic,
    write_stream,
)
from memoryfs.textfile.lock import STATE, StoreLock
from memoryfs.textfile.names import inside, slug

__all__ = [
    "STATE", "FileText", "StoreLock", "append_lines", "clean_litter", "digest_of", "inside", "read_file", "slug",
    "write_atomic", "write_stream",
]
