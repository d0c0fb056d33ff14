"""In: transcripts of every harness. Out: threads in the store, redacted, each turn once.

One parser a format, all in one table (`FORMATS`). A second import of the same files writes nothing.
"""

from memoryfs.importers.formats import FORMATS, Format, detect
from memoryfs.importers.run import ImportReport, find_transcripts, import_paths
from memoryfs.threadstore import ImportOutcome

__all__ = ["FORMATS", "Format", "ImportOutcome", "ImportReport", "detect", "find_transcripts", "import_paths"]
