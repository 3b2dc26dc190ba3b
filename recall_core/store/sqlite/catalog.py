"""What asking for one certain chunk needs of the store: where a text stands, what has left, what the index holds.

What sparse-document recall's care asks of the store: short documents, and whether a path was ever there.

What takes up the room in a store's file, and what came of each remembered root.

The live content of a store as it would be put into another one.

What a store can suggest while a query is typed: its tags, sources, paths, days and metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from recall_core.rql.ast import Field
from recall_core.rql.complete import KnownValue
from recall_core.store.sqlite.compile import json_path
from recall_core.store.sqlite.records import LIVE, Execute, is_prefix, metadata, root_of
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import NewChunk, NewDocument, NewFile, Root, Span

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


_PAGES = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"

_VECTORS = ("vec", "vec_cache", "vec_next")

_SOURCES = """
SELECT r.spec, count(d.rowid), coalesce(max(d.mtime), '')
FROM root r LEFT JOIN file f ON f.root = r.rowid LEFT JOIN doc d ON d.file = f.rowid AND d.deleted = 0
GROUP BY r.rowid ORDER BY r.rowid
"""


class Sizes(NamedTuple):
    """Tokens of the live chunks; bytes of the pages with every chunk and its text, the vectors, the word index."""

    tokens: int
    text: int
    vectors: int
    fulltext: int


class Source(NamedTuple):
    """A root, the number of live documents that have their labels from it, and their newest doc.mtime, or ""."""

    root: Root
    documents: int
    newest: str


def sizes(store: SqliteStore) -> Sizes:
    """Where the bytes of the file are; every page is looked at. Pages of small tables count nowhere."""
    pages: dict[str, int] = dict(store.execute(_PAGES))
    return Sizes(
        tokens=store.execute("SELECT coalesce(sum(tokens), 0) FROM chunk WHERE deleted = 0")[0][0],
        text=pages.get("chunk", 0),
        vectors=sum(pages.get(name, 0) for name in _VECTORS),
        fulltext=sum(size for name, size in pages.items() if name.startswith("chunk_fts")),
    )


def sources(store: SqliteStore) -> tuple[Source, ...]:
    """Every remembered root, in the order they were added."""
    return tuple(Source(root_of(spec), count, newest) for spec, count, newest in store.execute(_SOURCES))


_ROOTS = "SELECT rowid FROM root ORDER BY rowid"

_FILES = "SELECT rowid, path, os_path, size, mtime_ns, hash, settings, root FROM file ORDER BY path"

_DOCUMENTS = """
SELECT rowid, path, hash, title, size, source, meta,
  (SELECT json_group_array(tag) FROM (SELECT tag FROM doc_tag WHERE doc = doc.rowid ORDER BY tag))
FROM doc WHERE file = ? AND deleted = 0 ORDER BY path
"""

_CHUNKS = """
SELECT c.offset, c.end_offset, c.tokens, c.heading, c.line_start, c.line_end, c.text, c.search_text, c.text_hash,
  coalesce(v.embedding, x''), coalesce(v.windows, 1)
FROM chunk c LEFT JOIN vec v ON v.chunk = c.rowid WHERE c.doc = ? AND c.deleted = 0 ORDER BY c.offset
"""


def live_files(store: SqliteStore) -> Iterator[NewFile]:
    """Every live file by path, with its documents by path and their chunks by offset; one file at a time."""
    roots: dict[int | None, Root] = dict(zip((row[0] for row in store.execute(_ROOTS)), store.roots(), strict=True))
    for row in store.execute(_FILES):
        path, os_path, size, mtime_ns, digest, settings, root = row[1:]
        documents = tuple(_document(store, found) for found in store.execute(_DOCUMENTS, (row[0],)))
        yield NewFile(path, os_path, size, mtime_ns, digest, settings, roots.get(root), documents)


def _document(store: SqliteStore, row: tuple[Any, ...]) -> NewDocument:
    rowid, path, digest, title, size, source, meta, tags = row
    chunks = tuple(_chunk(chunk) for chunk in store.execute(_CHUNKS, (rowid,)))
    return NewDocument(path, digest, title, size, tuple(json.loads(tags)), source, metadata(meta), chunks)


def _chunk(row: tuple[Any, ...]) -> NewChunk:
    line_start, line_end, text, search_text, text_hash, vector, windows = row[4:]
    span = Span(*row[:4])
    return NewChunk(span, line_start, line_end, text, search_text, bytes(text_hash), bytes(vector), windows)


MOST = 20

"""Suggestions a call: more than a person reads."""

_TAGS = """
SELECT t.tag, count(*) FROM doc_tag t JOIN doc d ON d.rowid = t.doc
WHERE d.deleted = 0 AND substr(t.tag, 1, length(?1)) = ?1 GROUP BY t.tag ORDER BY count(*) DESC, t.tag LIMIT ?2
"""

_COLUMN = """
SELECT {column}, count(*) FROM doc d
WHERE d.deleted = 0 AND {column} IS NOT NULL AND substr({column}, 1, length(?1)) = ?1
GROUP BY {column} ORDER BY {order} LIMIT ?2
"""

_FREQUENT = "count(*) DESC, 1"

_COLUMNS = {
    "path": _COLUMN.format(column="d.path", order="1"),
    "source": _COLUMN.format(column="d.source", order=_FREQUENT),
    "mtime": _COLUMN.format(column="substr(d.mtime, 1, 10)", order="1 DESC"),
    "id": _COLUMN.format(column="d.id", order="1"),
    "hash": _COLUMN.format(column="d.hash", order=_FREQUENT),
    "tag": _TAGS,
    "tags": _TAGS,
}

_META_KEYS = """
SELECT j.key, count(*) FROM doc d, json_each(d.meta) j
WHERE d.deleted = 0 AND j.key <> '' AND substr(j.key, 1, length(?1)) = ?1
GROUP BY j.key ORDER BY count(*) DESC, j.key LIMIT ?2
"""

_META_VALUES = """
SELECT json_extract(d.meta, ?3), json_type(d.meta, ?3) AS kind, count(*) FROM doc d
WHERE d.deleted = 0 AND kind IN ('text', 'integer', 'real', 'true', 'false')
  AND substr(CASE kind WHEN 'true' THEN kind WHEN 'false' THEN kind ELSE json_extract(d.meta, ?3) END,
             1, length(?1)) = ?1
GROUP BY 1, 2 ORDER BY count(*) DESC, 1, 2 LIMIT ?2
"""


class SqliteVocabulary:
    """A store's vocabulary, read by prefix, at most `MOST` entries a call.

    Values come the most frequent first, but paths and ids in code point order and days the newest first.
    """

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def keys(self, prefix: str) -> Sequence[KnownValue]:
        """Metadata keys that begin with the prefix."""
        return [KnownValue(key, count) for key, count in self._execute(_META_KEYS, (prefix, MOST))]

    def values(self, field: Field, prefix: str) -> Sequence[KnownValue]:
        """Values that begin with the prefix; none of a chunk's fields, which are too many to help."""
        if field.table == "chunk":
            return ()
        if field.key is not None:
            rows = self._execute(_META_VALUES, (prefix, MOST, json_path(field)))
            return [KnownValue(_typed(value, kind), count) for value, kind, count in rows]
        return [KnownValue(value, count) for value, count in self._execute(_COLUMNS[field.name], (prefix, MOST))]


def _typed(value: str | int | float, kind: str) -> str | int | float | bool:
    return kind == "true" if kind in ("true", "false") else value
