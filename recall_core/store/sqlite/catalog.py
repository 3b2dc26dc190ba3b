"""Content of a store, in SQL: files, documents, chunks by place, roots, counts, and completion of queries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from recall_core import rql, store
from recall_core.store import sqlite
from recall_core.store.digest import store_digest
from recall_core.store.sqlite import census, records
from recall_core.store.sqlite.compile import json_path
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.opened import OpenStore
from recall_core.store.sqlite.records import LIVE, Execute, stored_analyzer
from recall_core.store.sqlite.schema import SCHEMA_VERSION, TOLD_SKIPS, WORDS
from recall_core.text import is_storable
from recall_core.types import Document, Fingerprint, NewDocument, NewFile, Root, Row, Stamp, StoreInfo, Vector
from recall_core.words.analyzer import Analyzer
from recall_core.words.versions import analyzer_named

if TYPE_CHECKING:
    from recall_core.marks import Mark
    from recall_core.rql.ast import Field
    from recall_core.rql.complete import KnownValue
    from recall_core.store.sqlite.write import SqliteWriter
    from recall_core.store.values import FolderListing, KnownRoot, ListedDocument, Sizes, Source, Totals

_LIVE_CHUNKS = f"SELECT c.rowid FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE {LIVE}"

_NATURAL = 'ORDER BY d.path, c."offset"'

_REMOVED_ID = """
SELECT d.path FROM doc d WHERE d.id >= ?1 AND d.id < ?2 AND d.deleted = 1
UNION ALL SELECT d.path FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.id >= ?1 AND c.id < ?2 AND c.deleted = 1 LIMIT 1
"""

_SHORT = """
SELECT min(c.rowid) FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND d.deleted = 0
GROUP BY d.rowid HAVING count(*) <= ?
ORDER BY d.path
"""

_BELOW = """
SELECT d.path FROM doc d LEFT JOIN file f ON f.rowid = d.file
WHERE d.deleted = 0
  AND (iif(?1 = '', substr(d.path, 1, 1) <> '/', substr(d.path, 1, length(?1)) = ?1) OR f.path = ?2)
ORDER BY d.path
"""

_FOLDER = """
WITH placed(doc, rest, is_record) AS (
  SELECT d.rowid, substr(coalesce(f.path, d.path), length(?1) + 1), coalesce(f.path, d.path) <> d.path
  FROM doc d LEFT JOIN file f ON f.rowid = d.file
  WHERE d.deleted = 0 AND {within} AND substr(coalesce(f.path, d.path), 1, length(?1)) = ?1
), named AS (
  SELECT iif(instr(rest, '/'), substr(rest, 1, instr(rest, '/')), rest) AS name, instr(rest, '/') > 0 AS is_folder,
    is_record, (SELECT count(*) FROM chunk c WHERE c.doc = placed.doc AND c.deleted = 0) AS chunks
  FROM placed
)
SELECT name, is_folder, max(is_record), count(*), sum(chunks), count(*) OVER () FROM named
GROUP BY name, is_folder ORDER BY is_folder DESC, name LIMIT ?2
"""

_REMOVED_BELOW = """
SELECT DISTINCT path FROM doc
WHERE deleted = 1 AND (
  iif(?1 = '', substr(path, 1, 1) <> '/', substr(path, 1, length(?1)) = ?1)
  OR path = ?2 OR substr(path, 1, length(?2) + 1) = ?2 || '#')
ORDER BY path
"""

_COPIES_OF = """
WITH named(path) AS (SELECT value FROM json_each(?))
SELECT DISTINCT d.path FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE d.deleted = 0 AND d.path NOT IN (SELECT path FROM named) AND c.hash IN (
  SELECT other.hash FROM chunk other JOIN doc gone ON gone.rowid = other.doc
  WHERE gone.path IN (SELECT path FROM named)
) ORDER BY d.path
"""

_PAGES = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"

_VECTORS = ("vec", "sqlite_autoindex_vec_")

_SOURCES = """
SELECT r.spec, count(d.rowid), coalesce(max(d.mtime), '')
FROM root r LEFT JOIN file f ON f.root = r.rowid LEFT JOIN doc d ON d.file = f.rowid AND d.deleted = 0
GROUP BY r.rowid ORDER BY r.rowid
"""

_KNOWN_ROOTS = """
SELECT spec, active,
  (SELECT json_group_array(path) FROM (SELECT path FROM left_out WHERE root = r.rowid ORDER BY path))
FROM root r ORDER BY rowid
"""

_ROOTS = "SELECT rowid, spec FROM root ORDER BY rowid"
_ACTIVE_ROOTS = "SELECT spec FROM root WHERE active ORDER BY rowid"

_FINGERPRINTS = f"SELECT {records.FILE} FROM file f ORDER BY f.path"
_FILES = "SELECT rowid, path, os_path, size, mtime_ns, hash, settings, root FROM file ORDER BY path"

_DOCUMENTS = """
SELECT doc.rowid, path, doc.hash, title, size, source, meta,
  (SELECT json_group_array(tag) FROM (SELECT tag FROM doc_tag WHERE doc = doc.rowid ORDER BY tag)),
  r.read_by, r.marks, r.hash
FROM doc LEFT JOIN doc_reading r ON r.doc = doc.rowid WHERE file = ? AND deleted = 0 ORDER BY path
"""

_CHUNKS = f"""
SELECT c.offset, c.end_offset, c.tokens, c.heading, c.line_start, c.line_end, c.text, c.text_hash,
  coalesce(v.embedding, x''), coalesce(v.windows, 1), c.hash, {records.IS_TITLE}, c.place
FROM doc d JOIN chunk c ON c.doc = d.rowid LEFT JOIN vec v ON v.chunk = c.rowid
WHERE d.rowid = ? AND c.deleted = 0 ORDER BY c.offset
"""

_GIVEN = f"""
SELECT c.rowid FROM json_each(?) j JOIN chunk c ON c.rowid = j.value WHERE c.{records.IS_GIVEN} AND c.deleted = 0
ORDER BY c.rowid
"""

_CHUNKS_OF = f"""
SELECT c.rowid, {records.DOCUMENT}, {records.CHUNK}, c.hash FROM doc d JOIN chunk c ON c.doc = d.rowid
WHERE d.id = ? AND c.deleted = 0 ORDER BY c.offset
"""

_PARSERS = """
SELECT substr(settings, 1, instr(settings || ' ', ' ') - 1) AS parser, count(*) FROM file GROUP BY 1 ORDER BY 1
"""
_MARKED_DOCUMENTS = 1_000
"""Number of documents whose marks a connection keeps: 50 marks each on average, about 100 bytes long."""
_READING = "SELECT r.read_by, r.marks, r.hash FROM doc d JOIN doc_reading r ON r.doc = d.rowid WHERE d.id = ?"

_DOCUMENT_FILES = """
SELECT d.path, f.path FROM doc d LEFT JOIN file f ON f.rowid = d.file WHERE d.deleted = 0 ORDER BY d.path
"""


class SqliteCatalog(OpenStore):
    """See store.port.Catalog."""

    def __init__(self, db: apsw.Connection, path: str, *, writable: bool) -> None:
        super().__init__(db, path, writable=writable)
        self._settled: dict[str, Fingerprint] = {}
        """Path to a file with a newer status, found unchanged by reading it again."""
        self._marks: tuple[int, dict[str, tuple[Mark, ...]]] = (0, {})
        """A generation, and marks of its documents by id. A server cites the same documents again and again."""

    def info(self) -> StoreInfo:
        """Return the identity, sizes, generation and digest. In a `reading` block they are read once."""
        with self.guard.turn():
            info = self._info_read or self._read_info()
            self._info_read = info if self._is_reading else None
            return info

    def _read_info(self) -> StoreInfo:
        rows = self.execute("SELECT key, value FROM meta WHERE key <> ?", (TOLD_SKIPS,))
        with making_sense(self.path):
            meta = {key: records.text_of(value) for key, value in rows}
            windowed, newest = census.read_windowed_and_newest(self.execute, meta)
            return StoreInfo(
                path=self.path,
                schema_version=SCHEMA_VERSION,
                embedder=meta["embedder"],
                dimension=int(meta["dimension"]),
                counter=meta["counter"],
                chunker=meta["chunker"],
                tokenizer=analyzer_named(meta.get(WORDS, "")).described,
                generation=int(meta["generation"]),
                digest=store_digest(meta["embedder"], meta["digest_sum"]),
                documents=int(meta["documents"]),
                chunks=int(meta["chunks"]),
                vectors=int(meta["vectors"]),
                tombstones=int(meta["tombstones"]),
                windowed=windowed,
                snapshot=newest,
            )

    def generation(self) -> int:
        """Return the number of transactions that changed the stored content."""
        with making_sense(self.path):
            rows = self.execute("SELECT value FROM meta WHERE key = 'generation'")
            return int(records.text_of(rows[0][0]))

    def embedder(self) -> str:
        """Return the identity of the embedder that made the vectors."""
        with making_sense(self.path):
            return records.text_of(self.execute("SELECT value FROM meta WHERE key = 'embedder'")[0][0])

    @property
    def analyzer(self) -> Analyzer:
        """What a word is in this store."""
        with making_sense(self.path):
            return stored_analyzer(self.execute)

    def totals(self) -> Totals:
        """Return token and text counts of the live chunks. They are kept up to date, like `info`."""
        with making_sense(self.path):
            return census.totals(self.execute)

    def sizes(self) -> Sizes:
        """Return how the bytes of the file are used. Looks at every page; pages of small tables are not counted."""
        pages: dict[str, int] = dict(self.execute(_PAGES))
        return store.values.Sizes(
            text=pages.get("chunk", 0),
            vectors=sum(size for name, size in pages.items() if name.startswith(_VECTORS)),
            fulltext=sum(size for name, size in pages.items() if name.startswith("chunk_fts")),
        )

    def all_chunks(self) -> int:
        """Return the number of chunks, including those of removed documents."""
        return int(self.execute("SELECT count(*) FROM chunk")[0][0])

    def known(self, path: str) -> Fingerprint | None:
        """Return the file as last read, or None."""
        rows = self.execute(f"SELECT {records.FILE} FROM file f WHERE f.path = ?", (path,))
        with making_sense(self.path):
            return records.file_of(rows[0]) if rows else None

    def files(self) -> Iterator[Fingerprint]:
        """Yield every live file by path."""
        with making_sense(self.path):
            return iter(list(map(records.file_of, self.execute(_FINGERPRINTS))))

    def live_files(self) -> Iterator[NewFile]:
        """Yield every live file by path, one at a time, with its documents by path and their chunks by offset."""
        with making_sense(self.path):
            roots: dict[int | None, Root] = {rowid: records.root_of(spec) for rowid, spec in self.execute(_ROOTS)}
        for row in self.execute(_FILES):
            path, os_path, size, mtime_ns, digest, settings, root = row[1:]
            documents = tuple(self._document(found) for found in self.execute(_DOCUMENTS, (row[0],)))
            yield NewFile(path, os_path, size, mtime_ns, digest, settings, roots.get(root), documents)

    def _document(self, row: tuple[Any, ...]) -> NewDocument:
        rowid, path, digest, title, size, source, meta, tags, *reading = row
        with making_sense(self.path):
            chunks = tuple(records.new_chunk(chunk, path) for chunk in self.execute(_CHUNKS, (rowid,)))
            labels = tuple(json.loads(tags)), source, records.metadata(meta)
            read = records.reading(reading, path)
        return NewDocument(path, digest, title, size, *labels, chunks, *read)

    def sources(self, doc_ids: Sequence[str]) -> dict[str, Fingerprint]:
        """Return doc.id to the file it was read from, for live documents."""
        rows = self.execute(
            f"SELECT d.id, {records.FILE} FROM json_each(?) j "
            "JOIN doc d ON d.id = j.value JOIN file f ON f.rowid = d.file",
            (json.dumps(list(doc_ids)),),
        )
        with making_sense(self.path):
            found = {row[0]: records.file_of(row[1:]) for row in rows}
        for doc_id, file in found.items():
            settled = self._settled.get(file.path)
            if settled is not None and settled.hash == file.hash:
                found[doc_id] = settled
        return found

    def settle(self, file: Fingerprint, stamp: Stamp) -> None:
        """Remember that a file with this status still has the bytes that were read."""
        self._settled[file.path] = file._replace(**stamp._asdict())

    @contextmanager
    def writer(self) -> Iterator[SqliteWriter]:
        """Open a write transaction for files. It also stores what `settle` remembered."""
        with self.writing():
            batch = sqlite.write.SqliteWriter(self.execute, self.execute_many, self.path)
            for path, settled in self._settled.items():
                batch.settle(path, settled.hash, settled.stamp)
            yield batch
            batch.finish()

    def roots(self) -> tuple[Root, ...]:
        """Return every active root, in the order they were added."""
        with making_sense(self.path):
            return tuple(records.root_of(spec) for (spec,) in self.execute(_ACTIVE_ROOTS))

    def known_roots(self) -> tuple[KnownRoot, ...]:
        """Return every root with its state, in the same order."""
        with making_sense(self.path):
            return tuple(
                store.values.KnownRoot(records.root_of(spec), bool(active), tuple(json.loads(left_out)))
                for spec, active, left_out in self.execute(_KNOWN_ROOTS)
            )

    def root_sources(self) -> tuple[Source, ...]:
        """Return every root with its documents, in the order they were added."""
        with making_sense(self.path):
            return tuple(
                store.values.Source(records.root_of(spec), count, newest)
                for spec, count, newest in self.execute(_SOURCES)
            )

    def cached_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the known vectors of this embedder for these texts."""
        rows = self.execute(records.CACHED, (json.dumps([digest.hex() for digest in text_hashes]),))
        return {bytes.fromhex(digest): bytes(vector) for digest, vector in rows if vector is not None}

    def given_vectors(self, rowids: Sequence[int] | None = None) -> list[int]:
        """Return the rowids of the live chunks whose vector was given, of these or of all."""
        if rowids is None:
            found = self.execute(f"SELECT rowid FROM chunk WHERE {records.IS_GIVEN} AND deleted = 0 ORDER BY rowid")
        else:
            found = self.execute(_GIVEN, (json.dumps(list(rowids)),))
        return [rowid for (rowid,) in found]

    def documents(self, rowids: Sequence[int]) -> dict[int, Document]:
        """Return documents by rowid, with or without chunks."""
        sql = f"SELECT d.rowid, {records.DOCUMENT} FROM json_each(?) j JOIN doc d ON d.rowid = j.value"
        rows = self.execute(sql, (json.dumps(list(rowids)),))
        with making_sense(self.path):
            return {row[0]: records.document(row[1:10]) for row in rows}

    def document_at(self, path: str) -> str | None:
        """Return the id of the live document of that path."""
        found = self.execute("SELECT id FROM doc WHERE path = ? AND deleted = 0", (path,))
        with making_sense(self.path):
            return records.text_of(found[0][0]) if found else None

    def document_files(self) -> list[tuple[str, str | None]]:
        """Return every live document's path with the path of its file, by path. The two differ for records."""
        with making_sense(self.path):
            rows = self.execute(_DOCUMENT_FILES)
            return [(records.text_of(path), file and records.text_of(file)) for path, file in rows]

    def list_documents(
        self, prefix: str, *, glob: str | None, limit: int | None, offset: int
    ) -> tuple[int, list[ListedDocument]]:
        """Return the number of live documents with such a path, and one page of them. The last page implies the
        number."""
        scan = records.listing_of(prefix, glob)
        rows = self.execute(scan.page.sql, (*scan.page.params, -1 if limit is None else limit, offset))
        with making_sense(self.path):
            page = list(map(records.check_listed, rows))
        is_last = (limit is None or len(page) < limit) and (page or not offset)
        return offset + len(page) if is_last else self.execute(*scan.total)[0][0], page

    def parsers(self) -> dict[str, int]:
        """Return parser name to number of files it read."""
        with making_sense(self.path):
            return {records.text_of(name): int(files) for name, files in self.execute(_PARSERS)}

    def text_of(self, doc_id: str) -> str:
        """Return a document's whole text, joined from its chunks, which overlap and leave no gap."""
        with making_sense(self.path):
            return records.join_text(self.execute, doc_id, self.chunks_of(doc_id))

    def marks_of(self, doc_id: str) -> tuple[Mark, ...]:
        """Return a document's marks."""
        generation, known = self._marks
        if self._is_reading and generation != self.info().generation:
            known = {}
            self._marks = self.info().generation, known
        if self._is_reading and doc_id in known:
            return known[doc_id]
        rows = self.execute(_READING, (doc_id,))
        with making_sense(self.path):
            marks = records.reading(rows[0], doc_id)[1] if rows else ()
        if self._is_reading and len(known) < _MARKED_DOCUMENTS:
            known[doc_id] = marks
        return marks

    def resolve(self, target: str) -> list[tuple[str, str]]:
        """Return (kind, full id) pairs for a live path, an id or a unique id prefix; kind is "doc" or "chunk"."""
        if not is_storable(target):
            return []
        live = self.document_at(target)
        if live is not None or not records.is_prefix(target):
            return [] if live is None else [("doc", live)]
        below = target[:-1] + chr(ord(target[-1]) + 1)
        found = self.execute(
            "SELECT 'doc', id FROM doc WHERE id >= ?1 AND id < ?2 AND deleted = 0 "
            "UNION ALL SELECT 'chunk', id FROM chunk WHERE id >= ?1 AND id < ?2 AND deleted = 0 LIMIT 9",
            (target, below),
        )
        return [(kind, full) for kind, full in found]

    def rowid(self, kind: str, full_id: str) -> int:
        """Return the rowid of a full id."""
        with making_sense(self.path):
            return int(self.execute(f"SELECT rowid FROM {kind} WHERE id = ?", (full_id,))[0][0])

    def paths_below(self, folder: str) -> list[str]:
        """Return paths of the live documents below this folder, or of the records in this file, sorted.

        "." is the store's own folder. Documents outside of it have absolute paths and are not below it.
        """
        prefix = "" if folder == "." else folder.rstrip("/") + "/"
        rows = self.execute(_BELOW, (prefix, folder))
        with making_sense(self.path):
            return [records.text_of(path) for (path,) in rows]

    def folder(self, path: str, most: int) -> FolderListing:
        """Return the folders and files directly in a folder, at most `most`. Deeper documents count by path."""
        within = "d.path >= ?1 AND d.path < ?3" if path else "?3 = ''"
        end = path[:-1] + chr(ord("/") + 1) if path else ""
        rows = self.execute(_FOLDER.format(within=within), (path, most, end))
        entries = tuple(
            store.values.FolderEntry(
                name, "folder" if is_folder else "records" if is_record else "file", documents, chunks
            )
            for name, is_folder, is_record, documents, chunks, _ in rows
        )
        return store.values.FolderListing(entries, rows[0][-1] if rows else 0)

    def paths_with(self, words: Sequence[str], most: int) -> list[str]:
        """Return paths of live documents that contain each word, ignoring case; the shortest first, ties by path.

        Without words, the most recently changed come first.
        """
        having = "".join(" AND instr(lower(path), lower(?)) > 0" for _ in words)
        order = "length(path)" if words else "mtime DESC"
        sql = f"SELECT path FROM doc WHERE deleted = 0{having} ORDER BY {order}, path LIMIT ?"
        return [str(path) for (path,) in self.execute(sql, (*words, most))]

    def removed_path(self, target: str) -> str | None:
        """Return the path of a removed document by its path, its id or a chunk's id, or None."""
        found = self.execute("SELECT path FROM doc WHERE path = ? AND deleted = 1 LIMIT 1", (target,))
        if not found and records.is_prefix(target):
            found = self.execute(_REMOVED_ID, (target, target[:-1] + chr(ord(target[-1]) + 1)))
        return str(found[0][0]) if found else None

    def removed_below(self, folder: str) -> list[str]:
        """Return paths of removed documents whose text is still stored, at or below the folder."""
        prefix = "" if folder == "." else folder.rstrip("/") + "/"
        return [path for (path,) in self.execute(_REMOVED_BELOW, (prefix, folder))]

    def copies_of(self, paths: Sequence[str]) -> list[str]:
        """Return paths of other live documents that share a chunk's text with any version of these, sorted."""
        return [path for (path,) in self.execute(_COPIES_OF, (json.dumps(list(paths)),))]

    def short_documents(self, threshold: int) -> list[int]:
        """Return one chunk rowid of every live document with at most `threshold` chunks, by path."""
        return [rowid for (rowid,) in self.execute(_SHORT, (threshold,))]

    def chunk_counts(self, doc_rowids: Sequence[int]) -> dict[int, int]:
        """Return doc rowid to the number of its live chunks."""
        given = "doc IN (SELECT value FROM json_each(?))"
        sql = f"SELECT doc, count(*) FROM chunk WHERE deleted = 0 AND {given} GROUP BY doc"
        return dict(self.execute(sql, (json.dumps(list(doc_rowids)),)))

    def chunks_of(self, doc_id: str) -> list[Row]:
        """Return a live document's chunks by offset."""
        with making_sense(self.path):
            return [records.row_of(row) for row in self.execute(_CHUNKS_OF, (doc_id,))]

    def chunks_of_file(self, path: str, *, place: str | None = None) -> list[int]:
        """Return the rowids of the live chunks of every document in a file, in natural order. place: only those with
        it."""
        where = "AND d.file = (SELECT rowid FROM file WHERE path = ?) AND c.place IS coalesce(?, c.place)"
        return self._rowids(f"{_LIVE_CHUNKS} {where} {_NATURAL}", (path, place))

    def chunks_of_lines(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that overlap these lines, by offset."""
        where = "AND d.id = ? AND c.line_start <= ? AND c.line_end >= ?"
        return self._rowids(f"{_LIVE_CHUNKS} {where} {_NATURAL}", (doc_id, last, first))

    def chunks_near(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that overlap these code points, by offset."""
        where = 'AND d.id = ? AND c."offset" < ? AND c.end_offset > ?'
        return self._rowids(f"{_LIVE_CHUNKS} {where} {_NATURAL}", (doc_id, last, first))

    def chunks_with(self, text: str) -> list[int]:
        """Return rowids of the live chunks that contain a text verbatim, in natural order."""
        return self._rowids(f"{_LIVE_CHUNKS} AND instr(c.text, ?) > 0 {_NATURAL}", (text,))

    def vocabulary(self, most: int) -> SqliteVocabulary:
        """Return suggestions for a query that is being typed, at most `most` entries for each kind."""
        return SqliteVocabulary(self.execute, most)

    def _rowids(self, sql: str, parameters: tuple[object, ...]) -> list[int]:
        return [rowid for (rowid,) in self.execute(sql, parameters)]


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
    "title": _COLUMN.format(column="d.title", order=_FREQUENT),
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
    """A store's vocabulary, read by prefix; see store.port.Catalog.vocabulary."""

    def __init__(self, execute: Execute, most: int) -> None:
        self._execute = execute
        self._most = most

    def keys(self, prefix: str) -> Sequence[KnownValue]:
        """Return metadata keys that start with the prefix."""
        return _known_values(self._execute(_META_KEYS, (prefix, self._most)))

    def values(self, field: Field, prefix: str) -> Sequence[KnownValue]:
        """Return values that start with the prefix; none for a chunk's fields, which have too many."""
        if field.table == "chunk":
            return ()
        if field.key is not None:
            rows = self._execute(_META_VALUES, (prefix, self._most, json_path(field)))
            truths = ("true", "false")
            return _known_values((kind == "true" if kind in truths else value, n) for value, kind, n in rows)
        return _known_values(self._execute(_COLUMNS[field.name], (prefix, self._most)))


def _known_values(rows: Iterable[tuple[Any, ...]]) -> list[KnownValue]:
    return [rql.complete.KnownValue(value, count) for value, count in rows]
