"""The live content of a store as it would be put into another one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from recall_core.store.sqlite.records import metadata
from recall_core.store.sqlite.store import SqliteStore
from recall_core.types import NewChunk, NewDocument, NewFile, Root, Span

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
