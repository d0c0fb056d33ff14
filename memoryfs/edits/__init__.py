"""In: a store's folder and an intention, a person's (in the files) or a caller's. Out: topic files changed, never clobbered, and the ledger told."""

from __future__ import annotations

from memoryfs.edits.adopt import adopt
from memoryfs.edits.lifting import lift
from memoryfs.edits.load import load_topics, read_topics
from memoryfs.edits.merging import undo
from memoryfs.edits.moved import moved_to
from memoryfs.edits.plan import AdoptReport, Change
from memoryfs.edits.regroup import follow
from memoryfs.edits.takeback import judge, unjudge
from memoryfs.edits.tombstones import Tombstones, is_tombstoned
from memoryfs.edits.unfinished import complete
from memoryfs.edits.verbs import forget, move, remember, resolve, topic_path
from memoryfs.edits.write import edit_topic, read_topic
from memoryfs.files import topic_paths

__all__ = [
    "AdoptReport", "Change", "Tombstones", "adopt", "complete", "edit_topic", "follow", "forget", "is_tombstoned", "judge", "lift", "load_topics", "move", "moved_to",
    "read_topic", "read_topics", "remember", "resolve", "topic_path", "topic_paths", "undo", "unjudge",
]
