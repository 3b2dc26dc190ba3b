"""Chunks on their way into the tables, with their full text and vectors: many of them in one go.

A statement for each would cost more than the row it puts in; and every statement in between would make FTS5 write out
what it has.
"""

from __future__ import annotations

from typing import Any

from recall_core.store.sqlite import blocks
from recall_core.store.sqlite.blocks import Execute, ExecuteMany
from recall_core.store.sqlite.schema import own_hash, vector_checksum
from recall_core.text import chunk_id
from recall_core.types import NewChunk, Vector

_WAITING_ROWS = 1_000  # a bound on the texts that wait in memory

_CHUNK = """
INSERT INTO chunk(rowid, id, doc, offset, end_offset, line_start, line_end, tokens, heading, title, text,
  search_text, text_hash, hash, place)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_USED = "DELETE FROM vec_cache WHERE text_hash = ?"
_FULL_TEXT = "INSERT INTO chunk_fts(rowid, title, body) VALUES(?, ?, ?)"


class Inserts:
    """The chunks that wait. Whoever reads their tables, or takes from them, has what waits put in first."""

    def __init__(self, execute: Execute, execute_many: ExecuteMany) -> None:
        self._execute = execute
        self._execute_many = execute_many
        self._chunks: list[tuple[Any, ...]] = []
        self._vectors: list[blocks.NewVector] = []
        self._texts: list[tuple[int, str, str]] = []
        self._made: dict[bytes, tuple[Vector, int]] = {}

    def add(
        self, chunk: NewChunk, vector: Vector, windows: int, *, rowid: int, doc: int, doc_id: str, title: str
    ) -> None:
        """A chunk of the document with this rowid and id. title: with CJK characters apart, "" for none above it."""
        span = chunk.span
        self._chunks.append(
            (
                rowid,
                chunk_id(doc_id, span.offset),
                doc,
                span.offset,
                span.end,
                chunk.line_start,
                chunk.line_end,
                span.tokens,
                span.heading,
                title,
                chunk.text,
                chunk.search_text,
                chunk.text_hash,
                own_hash(chunk.text),
                chunk.place,
            )
        )
        self._texts.append((rowid, title, chunk.text if chunk.search_text is None else chunk.search_text))
        if vector:
            self._vectors.append((rowid, vector, windows, vector_checksum(vector, windows)))
            self._made[chunk.text_hash] = vector, windows
        if len(self._chunks) >= _WAITING_ROWS:
            self.put()

    def vector_of(self, text_hash: bytes) -> tuple[Vector, int] | None:
        """The vector, with its windows, of a text among those that wait."""
        return self._made.get(text_hash)

    def put(self) -> None:
        """Everything that waits into the tables."""
        if not self._chunks:
            return
        self._execute_many(_CHUNK, self._chunks)
        if self._vectors:
            blocks.put(self._execute, self._execute_many, self._vectors)
            self._execute_many(_USED, [(text_hash,) for text_hash in self._made])
        self._execute_many(_FULL_TEXT, self._texts)
        self._chunks, self._vectors, self._texts, self._made = [], [], [], {}
