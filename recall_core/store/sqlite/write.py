"""The write path: one batch in an open transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recall_core.config import EDITED
from recall_core.errors import EmbedError
from recall_core.marks import dump
from recall_core.store.digest import DocumentState, canonical, digest_sum, document_digest
from recall_core.store.sqlite import blocks
from recall_core.store.sqlite.blocks import ExecuteMany
from recall_core.store.sqlite.census import Tally
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.judgements import SqliteJudgementWriter
from recall_core.store.sqlite.records import IS_GIVEN, Execute, digest_of, stored_analyzer, text_of
from recall_core.store.sqlite.schema import (
    PURGED,
    RETENTION_DAY,
    TOLD_SKIPS,
    own_hash,
    reading_hash,
    set_words,
    vector_checksum,
)
from recall_core.text import chunk_id, document_id, embedded_hash, utc
from recall_core.types import NewChunk, NewDocument, NewFile, Root, Stamp, Vector
from recall_core.words.analyzer import Analyzer
from recall_core.words.versions import analyzer_named, words_of

_INSERT_DOC = """
INSERT INTO doc(rowid, id, path, file, mtime, size, hash, title, source, meta, digest)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_PLACE = "UPDATE chunk SET place = ? WHERE doc = ? AND offset = ? AND deleted = 0 AND place IS NOT ?"

_MARKS_OF = "SELECT marks FROM doc_reading WHERE doc = ?"

_PUT_READING = "INSERT OR REPLACE INTO doc_reading(doc, read_by, marks, hash) VALUES(?, ?, ?, ?)"

_INSERT_TAG = "INSERT INTO doc_tag(doc, tag) VALUES(?, ?)"

_UPSERT_FILE = """
INSERT INTO file(path, os_path, size, mtime_ns, hash, settings, root, ctime_ns, inode)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(path) DO UPDATE SET os_path = excluded.os_path, size = excluded.size, mtime_ns = excluded.mtime_ns,
  hash = excluded.hash, settings = excluded.settings, root = coalesce(excluded.root, file.root),
  ctime_ns = excluded.ctime_ns, inode = excluded.inode
RETURNING rowid
"""

_SETTLE = "UPDATE file SET ctime_ns = ?, inode = ? WHERE path = ? AND hash = ? AND size = ? AND mtime_ns = ?"

_READ_AGAIN = "UPDATE file SET settings = settings || ?1 WHERE path = ?2 AND NOT settings LIKE '%' || ?1"

_ACTIVATE = "UPDATE root SET active = 1 WHERE rowid = ? AND NOT active RETURNING 1"

_FILES_OF = "SELECT DISTINCT file FROM doc WHERE rowid IN (SELECT value FROM json_each(?))"
_DELETE_FILES = """
DELETE FROM file WHERE (path = ? OR rowid IN (SELECT value FROM json_each(?)))
  AND NOT EXISTS (SELECT 1 FROM doc WHERE doc.file = file.rowid) RETURNING rowid
"""

_TOMBSTONE_CHUNKS = """
UPDATE chunk SET deleted = 1 WHERE doc = ? AND deleted = 0 AND rowid NOT IN (SELECT value FROM json_each(?))
"""

_CHUNKS_OF = """
SELECT c.offset, c.end_offset, c.tokens, c.heading, c.line_start, c.line_end, c.place, c.text_hash, c.hash, c.title,
  c.rowid, v.windows
FROM doc d JOIN chunk c ON c.doc = d.rowid LEFT JOIN vec_place v ON v.chunk = c.rowid
WHERE d.rowid = ? AND d.id <> ? AND c.deleted = 0
"""

_KEEP_VECTOR = "INSERT OR IGNORE INTO vec_cache(text_hash, embedding, windows, checksum) VALUES(?, ?, ?, ?)"

_FORGET_GIVEN = f"DELETE FROM vec_cache WHERE {IS_GIVEN}"

_OF_GIVEN = f"""
SELECT d.rowid, d.path, d.hash, c.rowid, c.offset, iif(c.title = '', '', d.title), c.text
FROM chunk c JOIN doc d ON d.rowid = c.doc WHERE c.{IS_GIVEN} AND c.deleted = 0 ORDER BY c.rowid
"""

_LAST_ROWID = """
SELECT max(coalesce((SELECT max(rowid) FROM {}), 0), coalesce((SELECT value + 0 FROM meta WHERE key = ?), 0))
"""

_FIND_VECTOR = """
SELECT v.embedding, v.windows FROM chunk c JOIN vec v ON v.chunk = c.rowid WHERE c.text_hash = ?1
UNION ALL SELECT embedding, windows FROM vec_cache WHERE text_hash = ?1 LIMIT 1
"""


class SqliteWriter:
    """Changes inside an open transaction. `finish` records the new generation, digest and counts if anything changed.

    The sum behind the digest is updated as documents come and go.
    """

    def __init__(self, execute: Execute, execute_many: ExecuteMany, path: str) -> None:
        self._execute = execute
        self._execute_many = execute_many
        self._path = path
        self._sum = self._meta("digest_sum")
        self._changed = False

        with making_sense(path):
            self._analyzer = stored_analyzer(execute)
            self._inserts = Inserts(execute, execute_many, self._analyzer)
            self._tally = Tally(execute)
        self.judgements = SqliteJudgementWriter(execute)
        self._last_doc = last_rowid(execute, "doc")
        self._last_chunk = last_rowid(execute, "chunk")

    def use_language(self, language: str) -> bool:
        """Use the words of this language; see `store.port.Writer`."""
        if self._execute("SELECT 1 FROM doc WHERE deleted = 0 LIMIT 1"):
            return False
        analyzer = analyzer_named(words_of(language))
        if analyzer.language != self._analyzer.language:
            set_words(self._execute, analyzer)
            self._analyzer = analyzer
            self._inserts = Inserts(self._execute, self._execute_many, analyzer)
        return True

    def put(self, file: NewFile) -> None:
        """Replace everything stored for this file's path with these documents."""
        self._changed = True
        before = self._execute("SELECT rowid, settings FROM file WHERE path = ?", (file.path,))
        rechunked = bool(before) and before[0][1].removesuffix(EDITED) != file.settings
        root = self._root(file.root) if file.root else None
        status = file.size, file.mtime_ns
        row = (file.path, file.os_path, *status, file.hash, file.settings, root, file.ctime_ns, file.inode)
        file_rowid = self._execute(_UPSERT_FILE, row)[0][0]
        live = self._execute("SELECT id, rowid FROM doc WHERE file = ? AND deleted = 0", (file_rowid,))
        old: dict[str, int] = dict(live)
        for document in file.documents:
            self._put_document(document, file_rowid, file, old, rechunked=rechunked)
        self._tombstone_rows(old.values())

    def refresh(self, path: str, *, size: int, mtime_ns: int) -> None:
        """Record that a file has a new size or mtime but the same bytes."""
        self._changed = True
        self._execute("UPDATE file SET size = ?, mtime_ns = ? WHERE path = ?", (size, mtime_ns, path))
        for rowid in self._documents_of(path):
            self._execute("UPDATE doc SET mtime = ? WHERE rowid = ?", (utc(mtime_ns), rowid))
            self._redigest(rowid)

    def settle(self, path: str, digest: str, stamp: Stamp) -> None:
        """Record ctime and inode of a file whose size, mtime and bytes (by sha256) have not changed."""
        self._execute(_SETTLE, (stamp.ctime_ns, stamp.inode, path, digest, stamp.size, stamp.mtime_ns))

    def relabel(
        self, path: str, *, tags: tuple[str, ...] | None, source: str | None, meta: Mapping[str, Any] | None
    ) -> bool:
        """Replace labels of a file's documents; None keeps a label. Return True if anything changed.

        meta: these keys are set; others stay, because a record's own fields are among them.
        """
        changed = False
        for rowid in self._documents_of(path):
            old_source, old_meta = self._execute("SELECT source, meta FROM doc WHERE rowid = ?", (rowid,))[0]
            new_source = old_source if source is None else source
            new_meta = old_meta if meta is None else canonical({**json.loads(old_meta), **meta})
            new_tags = self._tags(rowid) if tags is None else tuple(sorted(set(tags)))
            if (new_source, new_meta, new_tags) == (old_source, old_meta, self._tags(rowid)):
                continue
            changed = True
            self._execute("UPDATE doc SET source = ?, meta = ? WHERE rowid = ?", (new_source, new_meta, rowid))
            self._set_tags(rowid, new_tags)
            self._redigest(rowid)
        self._changed |= changed
        return changed

    def tombstone(self, paths: Iterable[str]) -> int:
        """Remove these files' documents, or single records, from every index. Return the number of documents.

        A file without documents is forgotten, so it is read again when it is added again.
        """
        gone = 0
        for path in paths:
            rowids = self._documents_of(path) or self._documents_at(path)
            files = self._execute(_FILES_OF, (json.dumps(rowids),))
            gone += self._tombstone_rows(rowids)
            with making_sense(self._path):
                held = json.dumps([file for (file,) in files])
            if self._execute(_DELETE_FILES, (path, held)):
                self._changed = True
        return gone

    def put_root(self, root: Root, *, is_active: bool = True) -> None:
        """Remember a root, once. is_active: False keeps a new root inactive until it is put again with True."""
        rowid = self._root(root, is_active=is_active)
        if is_active and self._execute(_ACTIVATE, (rowid,)):
            self._changed = True

    def leave_out(self, root: Root, paths: Iterable[str]) -> None:
        """Record that these files or records of a root are not read again."""
        rowid = self._root(root)
        for path in paths:
            self._execute("INSERT OR IGNORE INTO left_out(root, path) VALUES(?, ?)", (rowid, path))

    def take_back(self, paths: Iterable[str]) -> None:
        """Allow these files and records to be read again, under every root."""
        for path in paths:
            self._execute("DELETE FROM left_out WHERE path = ?", (path,))

    def begin_purge(self, paths: Iterable[str], *, asked: Iterable[str] = (), day: int | None = None) -> None:
        """Record that a purge must leave nothing of these documents. asked: hashes of the purge's target names."""
        if day is None:
            self._set_meta(PURGED, " ".join(sorted(asked)))
        else:
            self._set_meta(RETENTION_DAY, str(day))
        rows = self._execute("SELECT value FROM meta WHERE key = 'purge'")
        pending = json.loads(rows[0][0]) if rows else []
        self._set_meta("purge", json.dumps(sorted({*pending, *paths}), ensure_ascii=False))

    def renew_root(self, root: Root) -> None:
        """Make a remembered root the newest. Its files stay with it."""
        before = self._root(root)
        if (before,) == self._execute("SELECT max(rowid) FROM root")[0]:
            return
        self._execute("UPDATE root SET spec = '' WHERE rowid = ?", (before,))
        after = self._root(root)
        self._execute("UPDATE file SET root = ? WHERE root = ?", (after, before))
        self._execute("UPDATE left_out SET root = ? WHERE root = ?", (after, before))
        self._execute("DELETE FROM root WHERE rowid = ?", (before,))

    def edit_root(self, before: Root, after: Root, paths: Iterable[str]) -> None:
        """Replace a remembered root, in the same position. Mark these files as `is_edited`."""
        self._changed = True
        self._execute("UPDATE root SET spec = ? WHERE rowid = ?", (_spec(after), self._root(before)))
        self._execute_many(_READ_AGAIN, [(EDITED, path) for path in paths])

    def keep_told(self, skips: Iterable[str]) -> None:
        """Store the skips that were reported. No answer changes, nor the generation."""
        self._set_meta(TOLD_SKIPS, " ".join(sorted(skips)))

    def cut_by(self, *, chunker: str, counter: str) -> None:
        """Record the chunker and the token counter in use from now on."""
        for key, value in (("chunker", chunker), ("counter", counter)):
            if self._meta(key) != value:
                self._changed = True
                self._set_meta(key, value)

    def keep_vectors(self, vectors: Mapping[bytes, tuple[Vector, int]]) -> None:
        """Store text_hash to (vector, windows) for later chunks. No answer changes, nor the generation.

        A text without a feature is not stored. Compacting deletes unused vectors.
        """
        rows = [
            (text, vector, windows, vector_checksum(vector, windows))
            for text, (vector, windows) in vectors.items()
            if vector
        ]
        self._execute_many(_KEEP_VECTOR, rows)

    def disown_vectors(self) -> None:
        """Make the documents with given vectors ordinary ones: an embedder makes their vectors from now on."""
        for rowid, path, digest, chunk, offset, title, text in self._execute(_OF_GIVEN):
            doc_id = document_id(path, digest)
            self._execute("DELETE FROM doc WHERE id = ?", (doc_id,))  # an older version without a given vector
            self._execute("DELETE FROM doc_reading WHERE doc = ?", (rowid,))
            self._execute("UPDATE doc SET id = ? WHERE rowid = ?", (doc_id, rowid))
            own = chunk_id(doc_id, offset), embedded_hash(path, title, text), chunk
            self._execute("UPDATE chunk SET id = ?, text_hash = ? WHERE rowid = ?", own)
            self._redigest(rowid)
            self._changed = True

    def forget_roots(self, folders: Iterable[str]) -> None:
        """Stop syncing these folders."""
        for folder in folders:
            rows = self._execute("SELECT rowid FROM root WHERE json_extract(spec, '$.folder') = ?", (folder,))
            for (rowid,) in rows:
                self._forget(rowid)

    def forget_root(self, root: Root) -> None:
        """Delete one root, even if its folder has others."""
        self._forget(self._root(root))

    def _forget(self, rowid: int) -> None:
        self._execute("UPDATE file SET root = NULL WHERE root = ?", (rowid,))
        self._execute("DELETE FROM root WHERE rowid = ?", (rowid,))
        self._changed = True

    def finish(self) -> None:
        """Record what the batch changed. If nothing changed, write nothing."""
        self._inserts.put()
        if not self._changed:
            return
        generation = int(self._meta("generation")) + 1
        self._set_meta("generation", str(generation))
        self._set_meta("digest_sum", self._sum)
        for name, counted in self._tally.rows(generation).items():
            self._set_meta(name, counted)

    def _put_document(
        self, document: NewDocument, file_rowid: int, file: NewFile, old: dict[str, int], *, rechunked: bool
    ) -> None:
        doc_id = document.id
        kept = old.pop(doc_id, None)
        if kept is not None and not rechunked and self._is_read_so(kept, document):
            self._execute(
                "UPDATE doc SET mtime = ?, title = ?, source = ?, meta = ? WHERE rowid = ?",
                (utc(file.mtime_ns), document.title, document.source, canonical(document.meta), kept),
            )
            self._set_tags(kept, document.tags)
            self._redigest(kept)
            places = [(each.place, kept, each.span.offset, each.place) for each in document.chunks if each.place]
            self._execute_many(_PLACE, places)
            self._put_reading(kept, document)
            return
        # A path has one live document. Tombstone any other one of another file or cut.
        before = self._documents_at(document.path)
        spans = [(chunk.span.offset, chunk.span.end) for chunk in document.chunks]
        names = self._analyzer.titles(document.title, document.marks, spans)
        titles = ["" if chunk.is_title else name for chunk, name in zip(document.chunks, names, strict=True)]
        same = self._unchanged_chunks(before, document, doc_id, titles)
        self._tombstone_rows(before, except_chunks=[chunk for chunk, _ in same.values()])
        self._tally.drop_tombstones(len(self._execute("DELETE FROM doc WHERE id = ? RETURNING 1", (doc_id,))))
        self._insert(document, doc_id, file_rowid, utc(file.mtime_ns), titles, same=same)

    def _unchanged_chunks(
        self, rowids: Sequence[int], document: NewDocument, doc_id: str, titles: Sequence[str]
    ) -> dict[int, tuple[int, int | None]]:
        """Return the stored chunks of an earlier version that the new one has too: offset to rowid and windows.

        Most files grow at their end. Their earlier chunks keep their rows, and get the ids of the new version.
        """
        self._inserts.put()
        rows = [row for rowid in rowids for row in self._execute(_CHUNKS_OF, (rowid, doc_id))]
        stored = {tuple(row[:-2]): (row[-2], row[-1]) for row in rows}
        same: dict[int, tuple[int, int | None]] = {}
        for chunk, title in zip(document.chunks, titles, strict=True):
            lines = chunk.line_start, chunk.line_end, chunk.place
            found = stored.get((*chunk.span, *lines, chunk.text_hash, own_hash(chunk.text), title))
            if found is not None and (chunk.vector is None or (not chunk.vector and found[1] is None)):
                same[chunk.span.offset] = found
        return same

    def _insert(
        self,
        document: NewDocument,
        doc_id: str,
        file_rowid: int,
        mtime: str,
        titles: Sequence[str],
        *,
        same: Mapping[int, tuple[int, int | None]],
    ) -> None:
        self._last_doc += 1
        rowid = self._last_doc
        meta, tags = canonical(document.meta), sorted(set(document.tags))
        spans = sorted((chunk.span.offset, chunk.span.end, chunk.span.tokens) for chunk in document.chunks)
        state = DocumentState(doc_id, document.source, mtime, meta, document.title, spans, tags)
        own = document_digest(state)
        labels = document.title, document.source, meta, own
        self._execute(
            _INSERT_DOC, (rowid, doc_id, document.path, file_rowid, mtime, document.size, document.hash, *labels)
        )
        self._execute_many(_INSERT_TAG, [(rowid, tag) for tag in tags])
        self._put_reading(rowid, document)
        with making_sense(self._path):
            self._sum = digest_sum((own,), before=self._sum)
        self._tally.add_document([chunk.span.tokens for chunk in document.chunks])
        self._execute_many(
            "UPDATE chunk SET id = ?, doc = ? WHERE rowid = ?",
            [(chunk_id(doc_id, offset), rowid, chunk) for offset, (chunk, _) in same.items()],
        )
        for windows in (windows for _, windows in same.values() if windows is not None):
            self._tally.add_vector(windows)
        for chunk, title in zip(document.chunks, titles, strict=True):
            if chunk.span.offset not in same:
                self._insert_chunk(chunk, doc_id, rowid, title)

    def _is_read_so(self, rowid: int, document: NewDocument) -> bool:
        """Return True if a stored document has the same marks, which decide cuts and names, or if there are none."""
        if not (document.read_by or document.marks):
            return True

        return self._execute(_MARKS_OF, (rowid,)) == [(dump(document.marks),)]

    def _put_reading(self, rowid: int, document: NewDocument) -> None:
        if document.read_by or document.marks:
            spelled = dump(document.marks)
            hashed = reading_hash(document.read_by, spelled)
            self._execute(_PUT_READING, (rowid, document.read_by, spelled, hashed))

    def _insert_chunk(self, chunk: NewChunk, doc_id: str, doc_rowid: int, title: str) -> None:
        self._last_chunk += 1
        vector, windows = chunk.vector, chunk.windows
        if vector is None:
            if waiting := self._inserts.made.get(chunk.text_hash):
                vector, windows = waiting
            elif rows := self._execute(_FIND_VECTOR, (chunk.text_hash,)):
                vector, windows = bytes(rows[0][0]), int(rows[0][1])
            else:
                raise EmbedError("vector_missing", "A chunk has no vector and none is stored for its text.")
        if vector:
            self._tally.add_vector(windows)
        self._inserts.add(chunk, vector, windows, rowid=self._last_chunk, doc=doc_rowid, doc_id=doc_id, title=title)

    def _tombstone_rows(self, rowids: Iterable[int], *, except_chunks: Sequence[int] = ()) -> int:
        gone, kept = 0, json.dumps(except_chunks)
        for rowid in list(rowids):
            digest = self._execute("SELECT digest FROM doc WHERE rowid = ? AND deleted = 0", (rowid,))
            if not digest:
                continue
            self._inserts.put()  # write waiting rows first: the document may be among them
            self._tally.remove_document(rowid)
            with making_sense(self._path):
                self._sum = digest_sum((), gone=(digest[0][0],), before=self._sum)
            self._execute("UPDATE doc SET deleted = 1, file = NULL WHERE rowid = ?", (rowid,))
            self._execute(_TOMBSTONE_CHUNKS, (rowid, kept))
            self._execute("DELETE FROM doc_reading WHERE doc = ?", (rowid,))
            gone += 1
        if gone:
            self._changed = True
            self._execute(_FORGET_GIVEN)
        return gone

    def _redigest(self, rowid: int) -> None:
        """Replace a live document's part of the digest with one of its current state."""
        old = self._execute("SELECT digest FROM doc WHERE rowid = ?", (rowid,))[0][0]
        new = digest_of(self._execute, rowid)
        with making_sense(self._path):
            self._sum = digest_sum((new,), gone=(old or "0",), before=self._sum)
        self._execute("UPDATE doc SET digest = ? WHERE rowid = ?", (new, rowid))

    def _documents_of(self, path: str) -> list[int]:
        rows = self._execute(
            "SELECT d.rowid FROM doc d JOIN file f ON f.rowid = d.file WHERE f.path = ? AND d.deleted = 0", (path,)
        )
        return [row[0] for row in rows]

    def _documents_at(self, path: str) -> list[int]:
        return [row[0] for row in self._execute("SELECT rowid FROM doc WHERE path = ? AND deleted = 0", (path,))]

    def _tags(self, rowid: int) -> tuple[str, ...]:
        return tuple(row[0] for row in self._execute("SELECT tag FROM doc_tag WHERE doc = ? ORDER BY tag", (rowid,)))

    def _set_tags(self, rowid: int, tags: Iterable[str]) -> None:
        self._execute("DELETE FROM doc_tag WHERE doc = ?", (rowid,))
        self._execute_many(_INSERT_TAG, [(rowid, tag) for tag in sorted(set(tags))])

    def _root(self, root: Root, *, is_active: bool = True) -> int:
        spec = _spec(root)
        rows = self._execute("SELECT rowid FROM root WHERE spec = ?", (spec,))
        if not rows:
            self._changed = True
            rows = self._execute("INSERT INTO root(spec, active) VALUES(?, ?) RETURNING rowid", (spec, is_active))
        return int(rows[0][0])

    def _meta(self, key: str) -> str:
        rows = self._execute("SELECT value FROM meta WHERE key = ?", (key,))
        with making_sense(self._path):
            return text_of(rows[0][0])

    def _set_meta(self, key: str, value: str) -> None:
        self._execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, value))


def _spec(root: Root) -> str:
    return canonical(root._asdict())


def last_rowid(execute: Execute, table: str) -> int:
    """Return the highest rowid that a row of doc or chunk ever had.

    Later rows get higher rowids, so an old rowid of a purged row never leads to another text.
    """
    return int(execute(_LAST_ROWID.format(table), (_last_key(table),))[0][0])


def keep_rowids(execute: Execute) -> None:
    """Record the highest rowids, before rows are deleted."""
    for table in ("doc", "chunk"):
        last = last_rowid(execute, table)
        execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_last_key(table), str(last)))


def _last_key(table: str) -> str:
    return f"last_{table}"


_WAITING_ROWS = 1_000  # bounds the texts that wait in memory

_CHUNK = """
INSERT INTO chunk(rowid, id, doc, offset, end_offset, line_start, line_end, tokens, heading, title, text,
  search_text, text_hash, hash, place)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_USED = "DELETE FROM vec_cache WHERE text_hash = ?"
_FULL_TEXT = "INSERT INTO chunk_fts(rowid, title, body) VALUES(?, ?, ?)"


class Inserts:
    """Chunks that wait to be written. Call `put` before reading their tables or deleting from them."""

    def __init__(self, execute: Execute, execute_many: ExecuteMany, analyzer: Analyzer) -> None:
        self._execute = execute
        self._execute_many = execute_many
        self._analyzer = analyzer
        self._chunks: list[tuple[Any, ...]] = []
        self._vectors: list[blocks.NewVector] = []
        self._texts: list[tuple[int, str, str]] = []
        self.made: dict[bytes, tuple[Vector, int]] = {}
        """Waiting vectors with their windows, by text_hash."""

    def add(
        self, chunk: NewChunk, vector: Vector, windows: int, *, rowid: int, doc: int, doc_id: str, title: str
    ) -> None:
        """Add a chunk of this document. title: its indexed form, "" for none."""
        span, form = chunk.span, self._analyzer.form(chunk.text)
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
                None if form == chunk.text else form,
                chunk.text_hash,
                own_hash(chunk.text),
                chunk.place,
            )
        )
        self._texts.append((rowid, title, form))
        if vector:
            self._vectors.append((rowid, vector, windows, vector_checksum(vector, windows)))
            self.made[chunk.text_hash] = vector, windows
        if len(self._chunks) >= _WAITING_ROWS:
            self.put()

    def put(self) -> None:
        """Write all waiting chunks into the tables."""
        if not self._chunks:
            return
        self._execute_many(_CHUNK, self._chunks)
        if self._vectors:
            blocks.put(self._execute, self._execute_many, self._vectors)
            self._execute_many(_USED, [(text_hash,) for text_hash in self.made])
        self._execute_many(_FULL_TEXT, self._texts)
        self._chunks, self._vectors, self._texts, self.made = [], [], [], {}
