"""Rows as the store reads them: the columns of documents, chunks and files, and the values made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from recall_core.rql.ast import Expr
from recall_core.store.sqlite.compile import compile_filter
from recall_core.types import Chunk, Document, Root, Row

DOCUMENT = """
d.id, d.path, d.hash, d.mtime, d.size, d.title, d.source,
(SELECT json_group_array(tag) FROM (SELECT tag FROM doc_tag WHERE doc = d.rowid ORDER BY tag)), d.meta
"""
CHUNK = "c.id, c.offset, c.end_offset, c.line_start, c.line_end, c.tokens, c.heading, c.text"
LIVE = "d.deleted = 0 AND c.deleted = 0"
FILE = "f.path, f.size, f.mtime_ns, f.hash, f.settings, (SELECT count(*) FROM doc WHERE file = f.rowid), f.os_path"

FETCH = f"""
SELECT c.rowid, {DOCUMENT}, {CHUNK} FROM json_each(?) j
JOIN chunk c ON c.rowid = j.value JOIN doc d ON d.rowid = c.doc ORDER BY j.key
"""

CACHED = """
SELECT j.value, coalesce(
  (SELECT v.embedding FROM chunk c JOIN vec v ON v.chunk = c.rowid WHERE c.text_hash = unhex(j.value) LIMIT 1),
  (SELECT embedding FROM vec_cache WHERE text_hash = unhex(j.value))) FROM json_each(?) j
"""


def condition_of(where: Expr | None, rowids: Sequence[int] | None) -> tuple[str, tuple[Any, ...]]:
    """WHERE for live chunks `c` of documents `d` that pass the filter and are among rowids, with its parameters."""
    condition = LIVE
    parameters: tuple[Any, ...] = ()
    if where is not None:
        compiled = compile_filter(where, table="chunk")
        condition += f" AND ({compiled.sql})"
        parameters += tuple(compiled.params)
    if rowids is not None:
        condition += " AND c.rowid IN (SELECT value FROM json_each(?))"
        parameters += (json.dumps(list(rowids)),)
    return condition, parameters


def document(row: Sequence[Any]) -> Document:
    """From the columns of DOCUMENT."""
    doc_id, path, digest, mtime, size, title, source, tags, meta = row
    return Document(doc_id, path, digest, mtime, size, title, source, tuple(json.loads(tags)), json.loads(meta))


def row_of(row: Sequence[Any]) -> Row:
    """From a row of FETCH."""
    doc = document(row[1:10])
    chunk_id, *rest = row[10:]
    return Row(row[0], doc, Chunk(chunk_id, doc.id, *rest))


def root_of(spec: str) -> Root:
    """From the JSON that the root table keeps."""
    fields = json.loads(spec)
    for name in ("globs", "ignores", "tags"):
        fields[name] = tuple(fields[name])
    fields["meta"] = tuple((key, value) for key, value in fields["meta"])
    return Root(**fields)
