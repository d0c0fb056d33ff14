"""In: an index file. Out: nothing, or an error if rows are missing that were written: SQLite itself does not see that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoryfs.errors import IndexDamagedError

if TYPE_CHECKING:
    import apsw


def check_counts(db: apsw.Connection) -> None:
    """Compare what `files` says of each file with what the other tables hold. Raises IndexDamagedError if rows are missing.

    One statement, so that it sees one state of the file. The full-text table keeps its own count (FTS5's first record of
    `terms_data`), and only the small tables are counted: 1 ms for 100,000 events.
    """
    topics, units, places, memories, held, sources, counted = db.execute(_COUNTS).fetchall()[0]
    for what, want, have in (
        ("memories", topics, memories), ("threads", units, held), ("sources", places, sources),
        ("terms", memories + held, _first_number(counted)),
    ):
        if want != have:
            raise IndexDamagedError(f"of {want} rows of {what} there are {have}")


_COUNTS = """
SELECT f.topics, f.units, f.places, (SELECT count(*) FROM memories), (SELECT coalesce(sum(units), 0) FROM threads),
  (SELECT count(*) FROM sources), (SELECT block FROM terms_data WHERE id = 1)
FROM (SELECT coalesce(sum(documents) FILTER (WHERE kind = 'topic'), 0) topics,
  coalesce(sum(documents) FILTER (WHERE kind = 'thread'), 0) units, coalesce(sum(places), 0) places FROM files) f
"""


def _first_number(block: bytes | None) -> int:
    """The varint that the record begins with; 0 of an empty one, -1 where there is none."""
    if block is None:
        return -1
    value = 0
    for byte in block:
        value = value << 7 | byte & 127
        if not byte & 128:
            break
    return value
