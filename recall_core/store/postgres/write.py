"""The write path: one batch in an open transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from recall_core.config import EDITED
from recall_core.errors import EmbedError
from recall_core.marks import dump
from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest
from recall_core.store.postgres.compile import metadata_for_filters
from recall_core.store.postgres.judgements import PostgresJudgementWriter
from recall_core.store.postgres.opened import OpenCollection, VectorBytes
from recall_core.store.postgres.records import GIVEN
from recall_core.store.postgres.schema import COLUMNS, COUNTED, forget
from recall_core.store.sqlite.records import root_of
from recall_core.text import chunk_id, sha256, utc
from recall_core.types import NewChunk, NewDocument, NewFile, Root, Stamp, Vector
from recall_core.words.analyzer import tokenize
from recall_core.words.versions import analyzer_named, words_of

_COUNTS = ("documents", "chunks", "vectors", "tombstones", "tokens", "windowed", "without_text")

_UPSERT_FILE = """
INSERT INTO file(path, os_path, size, mtime_ns, hash, settings, root, ctime_ns, inode)
VALUES(%s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT(path) DO UPDATE SET os_path = excluded.os_path, size = excluded.size, mtime_ns = excluded.mtime_ns,
  hash = excluded.hash, settings = excluded.settings, root = coalesce(excluded.root, file.root),
  ctime_ns = excluded.ctime_ns, inode = excluded.inode
"""
_DOCUMENT = """
INSERT INTO document(id, number, path, file, mtime, size, hash, title, source, tags, meta, metadata, digest, read_by,
  marks)
VALUES(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_CHUNKS = """
COPY chunk(doc_id, start, number, id, stop, line_start, line_end, tokens, heading, is_title, place, text, hash,
  text_hash, title_length, body_length, title_words, body_words)
FROM STDIN
"""
_VECTORS = "COPY embedding(doc_id, start, number, embedding, windows) FROM STDIN (FORMAT BINARY)"
_VECTOR_TYPES = ("text", "int4", "int8", "vector", "int4")
_POST = f"""
WITH posted AS (
  INSERT INTO posting SELECT term, %s, {COLUMNS} FROM ({COUNTED.format(condition="number >= %s")}) counted
  GROUP BY term ORDER BY term RETURNING term, cardinality(numbers) AS df)
INSERT INTO term(term, df) SELECT term, df FROM posted ORDER BY term
ON CONFLICT(term) DO UPDATE SET df = term.df + excluded.df
"""
_COUNT_DOWN = f"""
UPDATE term SET df = df - gone FROM (
  SELECT term AS name, count(*) AS gone FROM ({COUNTED.format(condition="doc_id = %s")}) counted GROUP BY 1) removed
WHERE term = name RETURNING term
"""
_BURY = """
WITH gone AS (
  UPDATE chunk SET is_live = false WHERE doc_id = %s AND is_live RETURNING doc_id, start, tokens, text_hash),
kept AS (
  INSERT INTO vector_cache
  SELECT g.text_hash, v.embedding, v.windows FROM gone g JOIN embedding v USING(doc_id, start)
  ON CONFLICT DO NOTHING),
dropped AS (DELETE FROM embedding WHERE doc_id = %s RETURNING windows)
SELECT (SELECT count(*) FROM gone), (SELECT coalesce(sum(tokens), 0)::bigint FROM gone),
  (SELECT count(*) FROM dropped), (SELECT count(*) FROM dropped WHERE windows > 1)
"""
"""A removed document keeps no row of `embedding`, which searches read. Its vectors move to `vector_cache`, keyed by
text, so that a text that comes back is not embedded again. No search reads the cache."""
_RELABEL = """
UPDATE document SET mtime = %s, title = %s, source = %s, meta = %s, metadata = %s, tags = %s WHERE id = %s
"""
_NEW_ROOT = """
INSERT INTO root(number, spec, is_active) SELECT coalesce(max(number), 0) + 1, %s, %s FROM root RETURNING number
"""
_LEAVE_OUT = """
UPDATE root SET left_out = array(SELECT DISTINCT unnest(left_out || %s::text[]) ORDER BY 1) WHERE number = %s
"""
_READ_AGAIN = """
UPDATE file SET settings = settings || %s WHERE path = ANY(%s::text[]) AND right(settings, length(%s)) <> %s
"""
_BEGIN_PURGE = """
UPDATE store SET purged = coalesce(%s, purged), retention_day = coalesce(%s, retention_day),
  purge = array(SELECT DISTINCT unnest(coalesce(purge, '{}') || %s::text[]) ORDER BY 1)
"""
_FIND_VECTOR = """
SELECT v.embedding, v.windows FROM chunk c JOIN embedding v USING(doc_id, start) WHERE c.text_hash = %s
UNION ALL SELECT embedding, windows FROM vector_cache WHERE text_hash = %s LIMIT 1
"""
_STATE = "SELECT id, source, mtime, meta, title, tags, digest FROM document WHERE id = %s"
_KEEP_VECTORS = """
INSERT INTO vector_cache(text_hash, embedding, windows) VALUES(%s, %s, %s) ON CONFLICT DO NOTHING
"""
_DELETE_FILE = (
    "DELETE FROM file f WHERE f.path = %s AND NOT EXISTS (SELECT 1 FROM document d WHERE d.file = f.path) RETURNING 1"
)
_WAITING_CHUNKS = 1_000
"""Bounds the texts that wait in memory."""


class PostgresWriter:
    """Changes inside an open transaction; see `store.port.Writer`. `finish` writes what waits, and the counts."""

    def __init__(self, store: OpenCollection) -> None:
        self._store = store
        self._execute = store.execute
        self.judgements = PostgresJudgementWriter(store.execute)
        row = self._execute("SELECT digest_sum, words, last_document, last_chunk FROM store")[0]
        self._sum, words, self._last_document, self._last_chunk = row
        self._analyzer = analyzer_named(words)
        self._changed = False
        self._counts: Counter[str] = Counter()
        self._rarer: set[str] = set()
        """Terms of removed chunks."""
        self._chunks: list[tuple[Any, ...]] = []
        self._vectors: list[tuple[Any, ...]] = []
        self._made: dict[bytes, tuple[Vector, int]] = {}
        """Waiting vectors with their windows, by text_hash."""

    def use_language(self, language: str) -> bool:
        """Use the words of this language in a store without documents. Return False if the store has documents."""
        if self._execute("SELECT 1 FROM document WHERE is_live LIMIT 1"):
            return False
        analyzer = analyzer_named(words_of(language))
        if analyzer.language != self._analyzer.language:
            self._analyzer = analyzer
            self._execute("UPDATE store SET words = %s", (analyzer.name,))
        return True

    def put(self, file: NewFile) -> None:
        """Replace everything stored for this file's path with these documents."""
        self._changed = True
        before = self._execute("SELECT settings FROM file WHERE path = %s", (file.path,))
        rechunked = bool(before) and before[0][0].removesuffix(EDITED) != file.settings
        root = self._root(file.root) if file.root else None
        status = file.size, file.mtime_ns, file.hash, file.settings, root, file.ctime_ns, file.inode
        self._execute(_UPSERT_FILE, (file.path, file.os_path, *status))
        old = self._documents("file", file.path)
        for document in file.documents:
            doc_id = document.id
            is_marked = bool(document.read_by or document.marks)  # marks decide cuts and names
            kept = [(dump(document.marks),)] if is_marked and doc_id in old else []
            is_kept = kept == (self._execute("SELECT marks FROM document WHERE id = %s", (doc_id,)) if kept else [])
            if doc_id in old and not rechunked and is_kept:
                old.remove(doc_id)
                self._relabel(doc_id, document, utc(file.mtime_ns))
                continue
            # A path has one live document. Bury any other one of another file or cut.
            self._bury(self._documents("path", document.path))
            if self._execute("SELECT 1 FROM document WHERE id = %s", (doc_id,)):
                self._counts["tombstones"] -= forget(self._execute, doc_id)
            self._insert(document, doc_id, file.path, utc(file.mtime_ns))
            old = [each for each in old if each != doc_id]
        self._bury(old)

    def refresh(self, path: str, *, size: int, mtime_ns: int) -> None:
        """Record that a file has a new size or mtime but the same bytes."""
        self._changed = True
        self._execute("UPDATE file SET size = %s, mtime_ns = %s WHERE path = %s", (size, mtime_ns, path))
        for doc_id in self._documents("file", path):
            self._execute("UPDATE document SET mtime = %s WHERE id = %s", (utc(mtime_ns), doc_id))
            self._redigest(doc_id)

    def settle(self, path: str, digest: str, stamp: Stamp) -> None:
        """Record ctime and inode of a file whose size, mtime and bytes (by sha256) have not changed."""
        sql = (
            "UPDATE file SET ctime_ns = %s, inode = %s WHERE path = %s AND hash = %s AND size = %s AND mtime_ns = %s"
        )
        self._execute(sql, (stamp.ctime_ns, stamp.inode, path, digest, stamp.size, stamp.mtime_ns))

    def relabel(
        self, path: str, *, tags: tuple[str, ...] | None, source: str | None, meta: Mapping[str, Any] | None
    ) -> bool:
        """Replace labels of a file's documents; None keeps a label. Return True if anything changed."""
        is_changed = False
        for doc_id in self._documents("file", path):
            _, old_source, _, old_meta, _, old_tags, _ = self._execute(_STATE, (doc_id,))[0]
            new_source = old_source if source is None else source
            new_meta = old_meta if meta is None else canonical({**json.loads(old_meta), **meta})
            new_tags = old_tags if tags is None else sorted(set(tags))
            if (new_source, new_meta, new_tags) == (old_source, old_meta, old_tags):
                continue
            is_changed = True
            sql = "UPDATE document SET source = %s, meta = %s, metadata = %s, tags = %s WHERE id = %s"
            self._execute(sql, (new_source, new_meta, metadata_for_filters(new_meta), new_tags, doc_id))
            self._redigest(doc_id)
        self._changed |= is_changed
        return is_changed

    def tombstone(self, paths: Iterable[str]) -> int:
        """Remove these files' documents, or single records, from every index. Return the number of documents."""
        gone = 0
        for path in paths:
            ids = self._documents("file", path) or self._documents("path", path)
            files = {file for (file,) in self._execute("SELECT file FROM document WHERE id = ANY(%s)", (ids,))}
            gone += self._bury(ids)
            for each in sorted({path, *files} - {None}):
                self._changed |= bool(self._execute(_DELETE_FILE, (each,)))
        return gone

    def put_root(self, root: Root, *, is_active: bool = True) -> None:
        """Remember a root, once. is_active: False keeps a new root inactive until it is put again with True."""
        number = self._root(root, is_active=is_active)
        sql = "UPDATE root SET is_active = true WHERE number = %s AND NOT is_active RETURNING 1"
        if is_active and self._execute(sql, (number,)):
            self._changed = True

    def leave_out(self, root: Root, paths: Iterable[str]) -> None:
        """Record that these files or records of a root are not read again."""
        self._execute(_LEAVE_OUT, (list(paths), self._root(root)))

    def take_back(self, paths: Iterable[str]) -> None:
        """Allow these files and records to be read again, under every root."""
        for path in paths:
            sql = "UPDATE root SET left_out = array_remove(left_out, %s::text) WHERE left_out @> %s::text[]"
            self._execute(sql, (path, [path]))

    def begin_purge(self, paths: Iterable[str], *, asked: Iterable[str] = (), day: int | None = None) -> None:
        """Record that a purge must leave nothing of these documents. asked: hashes of the purge's target names."""
        names = " ".join(sorted(asked)) if day is None else None
        self._execute(_BEGIN_PURGE, (names, day, list(paths)))

    def renew_root(self, root: Root) -> None:
        """Make a remembered root the newest. Its files stay with it."""
        before = self._root(root)
        (newest,) = self._execute("SELECT max(number) FROM root")[0]
        if before != newest:
            self._changed = True
            self._execute("UPDATE root SET number = %s WHERE number = %s", (newest + 1, before))
            self._execute("UPDATE file SET root = %s WHERE root = %s", (newest + 1, before))

    def edit_root(self, before: Root, after: Root, paths: Iterable[str]) -> None:
        """Replace a remembered root, in the same position. Mark these files as `is_edited`."""
        self._changed = True
        self._execute("UPDATE root SET spec = %s WHERE number = %s", (canonical(after._asdict()), self._root(before)))
        self._execute(_READ_AGAIN, (EDITED, list(paths), EDITED, EDITED))

    def forget_roots(self, folders: Iterable[str]) -> None:
        """Stop syncing these folders."""
        wanted = frozenset(folders)
        for number, spec in self._execute("SELECT number, spec FROM root ORDER BY number"):
            if root_of(spec).folder in wanted:
                self._forget(number)

    def forget_root(self, root: Root) -> None:
        """Delete one root, even if its folder has others."""
        self._forget(self._root(root))

    def _forget(self, number: int) -> None:
        self._execute("UPDATE file SET root = NULL WHERE root = %s", (number,))
        self._execute("DELETE FROM root WHERE number = %s", (number,))
        self._changed = True

    def keep_told(self, skips: Iterable[str]) -> None:
        """Store the skips that were reported. No answer changes, nor the generation."""
        self._execute("UPDATE store SET told_skips = %s", (" ".join(sorted(skips)),))

    def cut_by(self, *, chunker: str, counter: str) -> None:
        """Record the chunker and the token counter in use from now on."""
        sql = "UPDATE store SET chunker = %s, counter = %s WHERE (chunker, counter) <> (%s, %s) RETURNING 1"
        self._changed |= bool(self._execute(sql, (chunker, counter, chunker, counter)))

    def keep_vectors(self, vectors: Mapping[bytes, tuple[Vector, int]]) -> None:
        """Store text_hash to (vector, windows) for later chunks. No answer changes, nor the generation."""
        for text_hash, (vector, windows) in sorted(vectors.items()):
            if vector:
                self._execute(_KEEP_VECTORS, (text_hash, VectorBytes(vector), windows))

    def finish(self) -> None:
        """Write what waits, and record the new generation, digest and counts if anything changed."""
        self._flush()
        if not self._changed:
            return
        self._execute("DELETE FROM term WHERE df <= 0 AND term = ANY(%s::text[])", (sorted(self._rarer),))
        counted = ", ".join(f"{name} = {name} + %s" for name in _COUNTS)
        advanced = "generation = generation + 1, digest_sum = %s, last_document = %s, last_chunk = %s"
        sql = f"UPDATE store SET {advanced}, {counted} RETURNING chunks"
        numbers = self._sum, self._last_document, self._last_chunk
        ((chunks,),) = self._execute(sql, (*numbers, *(self._counts[name] for name in _COUNTS)))
        if self._counts["chunks"] >= max(_WAITING_CHUNKS, chunks // 2):
            self._execute("ANALYZE document, chunk, embedding, term")  # plans for the new size, before autovacuum

    def _insert(self, document: NewDocument, doc_id: str, file: str, mtime: str) -> None:
        self._last_document += 1
        meta, tags = canonical(document.meta), sorted(set(document.tags))
        spans = sorted((chunk.span.offset, chunk.span.end, chunk.span.tokens) for chunk in document.chunks)
        digest = document_digest(DocumentState(doc_id, document.source, mtime, meta, document.title, spans, tags))
        self._sum = digest_sum((digest,), before=self._sum)
        labels = document.title, document.source, tags, meta, metadata_for_filters(meta)
        named = doc_id, self._last_document, document.path, file, mtime, document.size, document.hash
        self._execute(_DOCUMENT, (*named, *labels, digest, document.read_by, dump(document.marks)))
        self._counts.update(documents=1, chunks=len(spans), tokens=sum(each[2] for each in spans))
        self._counts["without_text"] += not spans
        in_order = [(chunk.span.offset, chunk.span.end) for chunk in document.chunks]
        titles = self._analyzer.titles(document.title, document.marks, in_order)
        for chunk, title in zip(document.chunks, titles, strict=True):
            self._add(chunk, doc_id, "" if chunk.is_title else title)

    def _add(self, chunk: NewChunk, doc_id: str, title: str) -> None:
        """Add a chunk to those that wait. title: its indexed form, "" for none."""
        vector, windows = chunk.vector, chunk.windows
        if vector is None:
            if waiting := self._made.get(chunk.text_hash):
                vector, windows = waiting
            elif rows := self._execute(_FIND_VECTOR, (chunk.text_hash, chunk.text_hash)):
                vector, windows = rows[0]
            else:
                raise EmbedError("vector_missing", "A chunk has no vector and none is stored for its text.")
        self._last_chunk += 1
        span = chunk.span
        words = [tokenize(self._analyzer.tokenizer, form) for form in (title, self._analyzer.form(chunk.text))]
        self._chunks.append(
            (
                doc_id,
                span.offset,
                self._last_chunk,
                chunk_id(doc_id, span.offset),
                span.end,
                chunk.line_start,
                chunk.line_end,
                span.tokens,
                span.heading,
                chunk.is_title,
                chunk.place,
                chunk.text,
                sha256(chunk.text.encode()).digest(),
                chunk.text_hash,
                *map(len, words),
                *(f" {' '.join(each)} " for each in words),
            )
        )
        if vector:
            self._made[chunk.text_hash] = vector, windows
            self._vectors.append((doc_id, span.offset, self._last_chunk, VectorBytes(vector), windows))
            self._counts.update(vectors=1, windowed=int(windows > 1))
        if len(self._chunks) >= _WAITING_CHUNKS:
            self._flush()

    def _flush(self) -> None:
        """Write the waiting chunks."""
        with self._store.guard.turn(), self._store.translated():
            for sql, types, rows in ((_CHUNKS, (), self._chunks), (_VECTORS, _VECTOR_TYPES, self._vectors)):
                if rows:
                    with self._store.db.cursor() as cursor, cursor.copy(sql) as copy:
                        copy.set_types(types)
                        for row in rows:
                            copy.write_row(row)
        if self._chunks:
            self._execute(_POST, (self._chunks[0][2],) * 2)
        if self._made:
            self._execute("DELETE FROM vector_cache WHERE text_hash = ANY(%s::bytea[])", (list(self._made),))
        self._chunks, self._vectors, self._made = [], [], {}

    def _bury(self, ids: Iterable[str]) -> int:
        gone = 0
        for doc_id in list(ids):
            self._flush()  # the document may be among the waiting ones
            sql = "UPDATE document SET is_live = false, file = NULL WHERE id = %s AND is_live RETURNING digest"
            found = self._execute(sql, (doc_id,))
            if not found:
                continue
            self._sum = digest_sum((), gone=(found[0][0],), before=self._sum)
            self._rarer.update(term for (term,) in self._execute(_COUNT_DOWN, (doc_id,)))
            chunks, tokens, vectors, windowed = self._execute(_BURY, (doc_id, doc_id))[0]
            left = {"chunks": chunks, "tokens": tokens, "vectors": vectors, "windowed": windowed}
            self._counts.subtract({**left, "documents": 1, "without_text": not chunks, "tombstones": -1})
            gone += 1
        if gone:
            self._changed = True
            self._execute(f"DELETE FROM vector_cache WHERE {GIVEN}")
        return gone

    def _relabel(self, doc_id: str, document: NewDocument, mtime: str) -> None:
        """Store the labels of a document whose text is stored already."""
        meta = canonical(document.meta)
        tags = sorted(set(document.tags))
        labels = mtime, document.title, document.source, meta, metadata_for_filters(meta), tags
        self._execute(_RELABEL, (*labels, doc_id))
        self._redigest(doc_id)
        for chunk in document.chunks:
            if chunk.place:
                sql = "UPDATE chunk SET place = %s WHERE doc_id = %s AND start = %s"
                self._execute(sql, (chunk.place, doc_id, chunk.span.offset))
        if document.read_by or document.marks:
            sql = "UPDATE document SET read_by = %s, marks = %s WHERE id = %s"
            self._execute(sql, (document.read_by, dump(document.marks), doc_id))

    def _redigest(self, doc_id: str) -> None:
        """Replace a live document's part of the digest with one of its current state."""
        self._flush()
        *fields, tags, old = self._execute(_STATE, (doc_id,))[0]
        spans = self._execute("SELECT start, stop, tokens FROM chunk WHERE doc_id = %s ORDER BY start", (doc_id,))
        new = document_digest(DocumentState._make([*fields, spans, tags]))
        self._sum = digest_sum((new,), gone=(old,), before=self._sum)
        self._execute("UPDATE document SET digest = %s WHERE id = %s", (new, doc_id))

    def _documents(self, column: str, value: str) -> list[str]:
        """Return the ids of the live documents of a file or a path."""
        sql = f"SELECT id FROM document WHERE {column} = %s AND is_live ORDER BY number"
        return [doc_id for (doc_id,) in self._execute(sql, (value,))]

    def _root(self, root: Root, *, is_active: bool = True) -> int:
        spec = canonical(root._asdict())
        rows = self._execute("SELECT number FROM root WHERE spec = %s", (spec,))
        if not rows:
            self._changed = True
            rows = self._execute(_NEW_ROOT, (spec, is_active))
        return int(rows[0][0])
