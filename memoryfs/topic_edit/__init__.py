"""In: a topic and what should change. Out: a new topic whose text differs only in the lines that had to.

After every edit the new text is read again: the change must show and everything else (other memories, reviews, prose,
front matter) must read as before, or UnwritableFileError is raised and nothing is given back. A topic that is not
`writable` is never edited.
"""

from __future__ import annotations

from memoryfs.topic_edit.memories import (
    add_memory,
    bring,
    replace_summary,
    set_id,
    set_ids,
    supersede,
    withdraw,
)
from memoryfs.topic_edit.others import (
    add_review,
    leave_note,
    new_topic,
    remove_review,
    set_done,
    set_meta,
    tick_review,
)
from memoryfs.topic_edit.pointers import linked_by_hand, repoint
from memoryfs.topic_edit.sources import add_source, add_statement, set_branch, set_marks

__all__ = [
    "add_memory", "add_review", "add_source", "add_statement", "bring", "leave_note", "linked_by_hand", "new_topic", "remove_review",
    "replace_summary", "repoint", "set_branch", "set_done", "set_id", "set_ids", "set_marks", "set_meta", "supersede", "tick_review", "withdraw",
]
