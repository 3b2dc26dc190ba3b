"""Rows as the collection returns them, and the values made from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recall_core.store.sqlite.records import check_text, metadata
from recall_core.text import GIVEN_KEY
from recall_core.types import Chunk, Document, Row

DOCUMENT = "d.id, d.path, d.hash, d.mtime, d.size, d.title, d.source, d.tags, d.meta"
CHUNK = "c.id, c.start, c.stop, c.line_start, c.line_end, c.tokens, c.heading, c.text, c.is_title, c.place, c.hash"
FILE = """
f.path, f.size, f.mtime_ns, f.hash, f.settings, (SELECT count(*) FROM document WHERE file = f.path AND is_live),
f.os_path, f.ctime_ns, f.inode::text
"""
GIVEN = f"text_hash BETWEEN '\\x{GIVEN_KEY.hex()}'::bytea AND '\\x{GIVEN_KEY.hex()[:-2]}ff'::bytea"
"""True for the keys of given vectors."""


def document(row: Sequence[Any]) -> Document:
    """Build a document from the columns of DOCUMENT."""
    *fields, tags, meta = row
    return Document._make([*fields, tuple(tags), metadata(meta)])


def row_of(row: Sequence[Any]) -> Row:
    """Build a row from its number, DOCUMENT and CHUNK. Raises ValueError if the text does not match its hash."""
    doc = document(row[1:10])
    chunk_id, *rest, kept = row[10:]
    check_text(rest[6], kept, doc.path)
    return Row(row[0], doc, Chunk(chunk_id, doc.id, *rest))
