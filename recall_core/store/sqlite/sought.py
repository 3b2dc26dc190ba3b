"""What asking for one certain chunk needs of the store: where a text stands, what has left, what the index holds."""

from __future__ import annotations

from collections.abc import Sequence

from recall_core.store.sqlite.records import LIVE, is_prefix
from recall_core.store.sqlite.store import SqliteStore

_LIVE_CHUNKS = f"SELECT c.rowid FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE {LIVE}"
_NATURAL = 'ORDER BY d.path, c."offset"'
_REMOVED_ID = """
SELECT d.path FROM doc d WHERE d.id >= ?1 AND d.id < ?2 AND d.deleted = 1
UNION ALL SELECT d.path FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.id >= ?1 AND c.id < ?2 AND c.deleted = 1 LIMIT 1
"""


def chunks_with(store: SqliteStore, text: str) -> list[int]:
    """Rowids of the live chunks that contain a text verbatim, in natural order."""
    return _rowids(store, f"{_LIVE_CHUNKS} AND instr(c.text, ?) > 0 {_NATURAL}", (text,))


def chunks_near(store: SqliteStore, doc_id: str, first: int, last: int) -> list[int]:
    """Rowids of a document's live chunks that reach into these code points, by offset."""
    where = 'AND d.id = ? AND c."offset" < ? AND c.end_offset > ?'
    return _rowids(store, f"{_LIVE_CHUNKS} {where} {_NATURAL}", (doc_id, last, first))


def paths_with(store: SqliteStore, words: Sequence[str], most: int) -> list[str]:
    """Paths of live documents that contain each of the words, in any case; the shortest first, ties by path."""
    having = "".join(" AND instr(lower(path), lower(?)) > 0" for _ in words)
    sql = f"SELECT path FROM doc WHERE deleted = 0{having} ORDER BY length(path), path LIMIT ?"
    return [str(path) for (path,) in store.execute(sql, (*words, most))]


def chunks_of_record_files(store: SqliteStore, path: str) -> list[int]:
    """Rowids of the live chunks of every record in a file, in natural order."""
    return _rowids(store, f"{_LIVE_CHUNKS} AND d.file = (SELECT rowid FROM file WHERE path = ?) {_NATURAL}", (path,))


def chunks_of_lines(store: SqliteStore, doc_id: str, first: int, last: int) -> list[int]:
    """Rowids of a document's live chunks that reach into these lines, by offset."""
    where = "AND d.id = ? AND c.line_start <= ? AND c.line_end >= ?"
    return _rowids(store, f"{_LIVE_CHUNKS} {where} {_NATURAL}", (doc_id, last, first))


def removed_path(store: SqliteStore, target: str) -> str | None:
    """The path of a document that has left, by its path, its id or a chunk's; None when nothing of that name has."""
    found = store.execute("SELECT path FROM doc WHERE path = ? AND deleted = 1 LIMIT 1", (target,))
    if not found and is_prefix(target):
        found = store.execute(_REMOVED_ID, (target, target[:-1] + chr(ord(target[-1]) + 1)))
    return str(found[0][0]) if found else None


def is_indexed(store: SqliteStore, rowid: int) -> bool:
    """Whether the full-text index holds a chunk."""
    return bool(store.execute("SELECT 1 FROM chunk_fts_docsize WHERE id = ?", (rowid,)))


def has_vector(store: SqliteStore, rowid: int) -> bool:
    """Whether a chunk has a vector."""
    return bool(store.execute("SELECT 1 FROM vec WHERE chunk = ?", (rowid,)))


def _rowids(store: SqliteStore, sql: str, parameters: tuple[object, ...]) -> list[int]:
    return [rowid for (rowid,) in store.execute(sql, parameters)]
