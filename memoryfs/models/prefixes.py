"""In: an embedding model's name. Out: what it was trained to see before a query and before a passage.

Sources: the model cards of multilingual-e5, nomic-embed-text, bge and Qwen3-Embedding.
"""

from __future__ import annotations

_QWEN = "Instruct: Given a question, retrieve the passages of a work log that answer it\nQuery:"
_KNOWN: tuple[tuple[str, str, str], ...] = (
    ("qwen3-embedding", _QWEN, ""),
    ("qwen3 embedding", _QWEN, ""),
    ("nomic", "search_query: ", "search_document: "),
    ("bge-m3", "", ""),
    ("bge", "Represent this sentence for searching relevant passages: ", ""),
    ("e5", "query: ", "passage: "),
)


def prefixes(name: str) -> tuple[str, str]:
    """(query prefix, passage prefix); two empty strings for a model that is not known."""
    folded = name.casefold()
    return next(((query, passage) for key, query, passage in _KNOWN if key in folded), ("", ""))
