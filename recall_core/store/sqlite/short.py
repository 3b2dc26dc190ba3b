"""What sparse-document recall's care asks of the store: short documents, and whether a path was ever there."""

from __future__ import annotations

from recall_core.store.sqlite.store import SqliteStore

_SHORT = """
SELECT min(c.rowid) FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND d.deleted = 0
GROUP BY d.rowid HAVING count(*) <= ?
ORDER BY d.path
"""


def short_documents(store: SqliteStore, threshold: int) -> list[int]:
    """A chunk rowid of every live document with at most so many chunks, by path."""
    return [rowid for (rowid,) in store.execute(_SHORT, (threshold,))]


def is_tombstoned(store: SqliteStore, path: str) -> bool:
    """Whether a document of that path was here and left."""
    return bool(store.execute("SELECT 1 FROM doc WHERE path = ? AND deleted = 1 LIMIT 1", (path,)))
