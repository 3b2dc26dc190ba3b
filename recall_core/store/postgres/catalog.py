"""Content of a collection, in SQL: files, documents, chunks by place, roots, counts, and completion of queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from recall_core.marks import load
from recall_core.rql.ast import Field, Like
from recall_core.rql.complete import KnownValue
from recall_core.store import postgres
from recall_core.store.digest import DocumentState, document_digest, store_digest
from recall_core.store.postgres.compile import CHUNKS, LIVE, NATURAL, BoundSql, Compiler
from recall_core.store.postgres.judgements import PostgresJudgements
from recall_core.store.postgres.opened import Address, State
from recall_core.store.postgres.records import CHUNK, DOCUMENT, FILE, GIVEN, document, row_of
from recall_core.store.postgres.schema import Execute
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.records import check_text, is_prefix, root_of
from recall_core.store.values import FolderEntry, FolderListing, KnownRoot, ListedDocument, Sizes, Source, Totals
from recall_core.text import is_storable
from recall_core.types import (
    Document,
    Fingerprint,
    NewChunk,
    NewDocument,
    NewFile,
    Root,
    Row,
    Span,
    Stamp,
    StoreInfo,
    Vector,
)
from recall_core.words.analyzer import Analyzer
from recall_core.words.versions import analyzer_named

if TYPE_CHECKING:
    from recall_core.marks import Mark
    from recall_core.store.postgres.write import PostgresWriter

_RECORD = """
SELECT schema_version, born, embedder, dimension, counter, chunker, words, generation, digest_sum, documents, chunks,
  vectors, tombstones, windowed, (SELECT coalesce(max(mtime), '') FROM document WHERE is_live)
FROM store
"""
_SOURCES = """
SELECT r.spec, count(d.id), coalesce(max(d.mtime), '')
FROM root r LEFT JOIN file f ON f.root = r.number LEFT JOIN document d ON d.file = f.path AND d.is_live
GROUP BY r.number, r.spec ORDER BY r.number
"""
_FOLDER = """
WITH placed AS (
  SELECT d.id, substr(coalesce(f.path, d.path), length(%s) + 1) AS rest,
    coalesce(f.path, d.path) <> d.path AS is_record
  FROM document d LEFT JOIN file f ON f.path = d.file
  WHERE d.is_live AND starts_with(coalesce(f.path, d.path), %s)
), named AS (
  SELECT CASE WHEN strpos(rest, '/') > 0 THEN substr(rest, 1, strpos(rest, '/')) ELSE rest END AS name,
    strpos(rest, '/') > 0 AS is_folder, is_record,
    (SELECT count(*) FROM chunk c WHERE c.doc_id = placed.id AND c.is_live) AS chunks
  FROM placed
)
SELECT name, is_folder, bool_or(is_record), count(*), sum(chunks)::bigint, count(*) OVER () FROM named
GROUP BY name, is_folder ORDER BY is_folder DESC, name LIMIT %s
"""
_LISTED = """
SELECT d.path, d.id, d.title, d.mtime, d.source,
  (SELECT count(*) FROM chunk c WHERE c.doc_id = d.id AND c.is_live),
  (SELECT coalesce(sum(c.tokens), 0)::bigint FROM chunk c WHERE c.doc_id = d.id AND c.is_live)
FROM document d WHERE
"""
_CACHED = """
SELECT DISTINCT ON (c.text_hash) c.text_hash, v.embedding FROM chunk c JOIN embedding v USING(doc_id, start)
WHERE c.text_hash = ANY(%s::bytea[])
UNION SELECT text_hash, embedding FROM vector_cache WHERE text_hash = ANY(%s::bytea[])
"""
_DOCUMENTS = f"""
SELECT d.read_by, d.marks, {DOCUMENT} FROM document d WHERE d.file = %s AND d.is_live ORDER BY d.path
"""
_NEW_CHUNKS = f"""
SELECT {CHUNK}, c.text_hash, coalesce(v.windows, 1), v.embedding
FROM chunk c LEFT JOIN embedding v USING(doc_id, start) WHERE c.doc_id = %s AND c.is_live ORDER BY c.start
"""
_MARKED_DOCUMENTS = 1_000
"""Number of documents whose marks a connection keeps."""
_BELOW = "((%s = '' AND NOT starts_with(path, '/')) OR (%s <> '' AND starts_with(path, %s)))"
_REMOVED_BELOW = f"""
SELECT DISTINCT path FROM document
WHERE NOT is_live AND ({_BELOW} OR path = %s OR starts_with(path, %s)) ORDER BY path
"""
_COPIES_OF = """
SELECT DISTINCT d.path FROM document d JOIN chunk c ON c.doc_id = d.id
WHERE d.is_live AND d.path <> ALL(%s::text[]) AND c.hash IN (
  SELECT other.hash FROM chunk other JOIN document gone ON gone.id = other.doc_id WHERE gone.path = ANY(%s::text[]))
ORDER BY d.path
"""
_SHORT = f"""
SELECT min(c.number) FROM {CHUNKS} WHERE {LIVE} GROUP BY d.id HAVING count(*) <= %s ORDER BY min(d.path)
"""
_REMOVED_ID = """
SELECT d.path FROM document d WHERE starts_with(d.id, %s) AND NOT d.is_live
UNION ALL SELECT d.path FROM chunk c JOIN document d ON d.id = c.doc_id WHERE starts_with(c.id, %s) AND NOT c.is_live
LIMIT 1
"""
_RESOLVE = """
SELECT 'doc', id FROM document WHERE id >= %s AND id < %s AND is_live
UNION ALL SELECT 'chunk', id FROM chunk WHERE id >= %s AND id < %s AND is_live LIMIT 9
"""


class PostgresCatalog(PostgresJudgements):
    """See store.port.Catalog."""

    def __init__(self, db: psycopg.Connection, address: Address) -> None:
        super().__init__(db, address)
        self._settled: dict[str, Fingerprint] = {}
        """Path to a file with a newer status, found unchanged by reading it again."""
        self._marks: tuple[State, dict[str, tuple[Mark, ...]]] = ((0, "", 0), {})
        """A state, and marks of its documents by id. A server cites the same documents again and again."""

    def state(self) -> State:
        """Return the identity of the collection and its generation, read once in a `reading` block."""
        version, born, *_, generation, total = self._record()[:9]
        return version, born + total, generation

    def info(self) -> StoreInfo:
        """Return the identity, sizes, generation and digest. In a `reading` block they are read once."""
        version, _, embedder, dimension, counter, chunker, words, generation, total, *counts = self._record()
        analyzer = analyzer_named(words)
        documents, chunks, vectors, tombstones, windowed, newest = counts
        return StoreInfo(
            path=self.path,
            schema_version=version,
            embedder=embedder,
            dimension=dimension,
            counter=counter,
            chunker=chunker,
            tokenizer=analyzer.described,
            generation=generation,
            digest=store_digest(embedder, total),
            documents=documents,
            chunks=chunks,
            vectors=vectors,
            tombstones=tombstones,
            windowed=windowed,
            snapshot=newest,
            language=analyzer.language,
        )

    def generation(self) -> int:
        """Return the number of transactions that changed the stored content."""
        return self.state()[2]

    def embedder(self) -> str:
        """Return the identity of the embedder that made the vectors."""
        return self.info().embedder

    @property
    def analyzer(self) -> Analyzer:
        """What a word is in this collection."""
        return analyzer_named(self._record()[6])

    def _record(self) -> tuple[Any, ...]:
        if self._record_read is None or not self._is_reading:
            (self._record_read,) = self.execute(_RECORD)
        return self._record_read

    def totals(self) -> Totals:
        """Return token and text counts of the live chunks."""
        return Totals(*self.execute("SELECT tokens, without_text FROM store")[0])

    def sizes(self) -> Sizes:
        """Return what takes up the space."""
        sql = "SELECT pg_total_relation_size(%s::regclass)"
        chunk, vector, cache, term, posting = (
            int(self.execute(sql, (name,))[0][0])
            for name in ("chunk", "embedding", "vector_cache", "term", "posting")
        )
        return Sizes(text=chunk, vectors=vector + cache, fulltext=term + posting)

    def all_chunks(self) -> int:
        """Return the number of chunks, including those of removed documents."""
        return int(self.execute("SELECT count(*) FROM chunk")[0][0])

    def known(self, path: str) -> Fingerprint | None:
        """Return the file as last read, or None."""
        rows = self.execute(f"SELECT {FILE} FROM file f WHERE f.path = %s", (path,))
        return _file(rows[0]) if rows else None

    def files(self) -> Iterator[Fingerprint]:
        """Yield every live file by path."""
        return iter(list(map(_file, self.execute(f"SELECT {FILE} FROM file f ORDER BY f.path"))))

    def live_files(self) -> Iterator[NewFile]:
        """Yield every live file by path, one at a time, with its documents by path and their chunks by offset."""
        roots: dict[int | None, Root] = {
            number: root_of(spec) for number, spec in self.execute("SELECT number, spec FROM root")
        }
        sql = "SELECT path, os_path, size, mtime_ns, hash, settings, root FROM file ORDER BY path"
        for *fields, root in self.execute(sql):
            documents = []
            for read_by, marks, *row in self.execute(_DOCUMENTS, (fields[0],)):
                doc = document(row)
                with making_sense(self.path):
                    chunks = tuple(_new_chunk(chunk, doc.path) for chunk in self.execute(_NEW_CHUNKS, (doc.id,)))
                    named = doc.path, doc.hash, doc.title, doc.size, doc.tags, doc.source, doc.meta
                    documents.append(NewDocument(*named, chunks, read_by, load(marks)))
            yield NewFile._make([*fields, roots.get(root), tuple(documents), None, None])

    def sources(self, doc_ids: Sequence[str]) -> dict[str, Fingerprint]:
        """Return doc.id to the file it was read from, for live documents."""
        sql = f"SELECT d.id, {FILE} FROM document d JOIN file f ON f.path = d.file WHERE d.id = ANY(%s::text[])"
        found = {row[0]: _file(row[1:]) for row in self.execute(sql, (list(doc_ids),))}
        for doc_id, file in found.items():
            settled = self._settled.get(file.path)
            if settled is not None and settled.hash == file.hash:
                found[doc_id] = settled
        return {doc_id: found[doc_id] for doc_id in doc_ids if doc_id in found}

    def settle(self, file: Fingerprint, stamp: Stamp) -> None:
        """Remember that a file with this status still has the bytes that were read."""
        self._settled[file.path] = file._replace(**stamp._asdict())

    @contextmanager
    def writer(self) -> Iterator[PostgresWriter]:
        """Open a write transaction for files. It also stores what `settle` remembered."""
        with self.writing():
            batch = postgres.write.PostgresWriter(self)
            for path, settled in self._settled.items():
                batch.settle(path, settled.hash, settled.stamp)
            yield batch
            batch.finish()

    def roots(self) -> tuple[Root, ...]:
        """Return every active root, in the order they were added."""
        return tuple(each.root for each in self.known_roots() if each.is_active)

    def known_roots(self) -> tuple[KnownRoot, ...]:
        """Return every root with its state, in the same order."""
        rows = self.execute("SELECT spec, is_active, left_out FROM root ORDER BY number")
        return tuple(KnownRoot(root_of(spec), is_active, tuple(left_out)) for spec, is_active, left_out in rows)

    def root_sources(self) -> tuple[Source, ...]:
        """Return every root with its documents, in the order they were added."""
        return tuple(Source(root_of(spec), count, newest) for spec, count, newest in self.execute(_SOURCES))

    def cached_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the known vectors of this embedder for these texts."""
        found = dict(self.execute(_CACHED, (list(text_hashes), list(text_hashes))))
        return {each: found[each] for each in text_hashes if each in found}

    def given_vectors(self, rowids: Sequence[int] | None = None) -> list[int]:
        """Return the rowids of the live chunks whose vector was given, of these or of all."""
        among = "true" if rowids is None else "number = ANY(%s::bigint[])"
        sql = f"SELECT number FROM chunk WHERE {GIVEN} AND is_live AND {among} ORDER BY number"
        return self._column(sql, () if rowids is None else (list(rowids),))

    def documents(self, rowids: Sequence[int]) -> dict[int, Document]:
        """Return documents by rowid, with or without chunks."""
        sql = f"SELECT d.number, {DOCUMENT} FROM document d WHERE d.number = ANY(%s::bigint[])"
        found = {row[0]: document(row[1:]) for row in self.execute(sql, (list(rowids),))}
        return {rowid: found[rowid] for rowid in rowids if rowid in found}

    def document_at(self, path: str) -> str | None:
        """Return the id of the live document of that path."""
        found = self.execute("SELECT id FROM document WHERE path = %s AND is_live", (path,))
        return str(found[0][0]) if found else None

    def document_files(self) -> list[tuple[str, str | None]]:
        """Return every live document's path with the path of its file, by path. The two differ for records."""
        rows = self.execute("SELECT path, file FROM document WHERE is_live ORDER BY path")
        return [(path, file) for path, file in rows]

    def list_documents(
        self, prefix: str, *, glob: str | None, limit: int | None, offset: int
    ) -> tuple[int, list[ListedDocument]]:
        """Return the number of live documents with such a path, and one page of them."""
        passing = BoundSql("true")
        if glob is not None:
            passing = Compiler(self.execute, self.analyzer).filter(
                Like(Field("doc", "path"), "GLOB", glob), table="doc"
            )
        where, params = f"d.is_live AND starts_with(d.path, %s) AND {passing.sql}", (prefix, *passing.params)
        total = self.execute(f"SELECT count(*) FROM document d WHERE {where}", params)[0][0]
        page = self.execute(f"{_LISTED} {where} ORDER BY d.path LIMIT %s OFFSET %s", (*params, limit, offset))
        return total, page

    def parsers(self) -> dict[str, int]:
        """Return parser name to number of files it read."""
        return dict(self.execute("SELECT split_part(settings, ' ', 1), count(*) FROM file GROUP BY 1 ORDER BY 1"))

    def text_of(self, doc_id: str) -> str:
        """Return a document's whole text, joined from its chunks, which overlap and leave no gap."""
        rows = self.chunks_of(doc_id)
        with making_sense(self.path):
            for row in rows[:1]:
                spans = [(each.chunk.offset, each.chunk.end, each.chunk.tokens) for each in rows]
                sql = "SELECT meta, digest FROM document WHERE id = %s"
                doc, ((meta, kept),) = row.doc, self.execute(sql, (doc_id,))
                state = DocumentState(doc_id, doc.source, doc.mtime, meta, doc.title, spans, doc.tags)
                if document_digest(state) != kept:
                    raise ValueError(f"a part or a label of {doc.path} is missing or differs from what was stored")
        pieces: list[str] = []
        end = 0
        for row in rows:
            pieces.append(row.chunk.text[end - row.chunk.offset :])
            end = row.chunk.end
        return "".join(pieces)

    def marks_of(self, doc_id: str) -> tuple[Mark, ...]:
        """Return a document's marks."""
        return self._read_marks([doc_id]).get(doc_id, ())

    def _read_marks(self, doc_ids: Collection[str]) -> Mapping[str, tuple[Mark, ...]]:
        """Return document id to marks, at least for these documents. Read them in one statement."""
        state, kept = self._marks
        is_usable = state == self.state() and len(kept) < _MARKED_DOCUMENTS and not self._is_writing
        known = kept if is_usable else {}
        if new := sorted({*doc_ids}.difference(known)):
            if not self._is_writing:
                self._marks = self.state(), known
            with making_sense(self.path):
                rows = self.execute("SELECT id, marks FROM document WHERE id = ANY(%s::text[])", (new,))
                known.update((doc_id, load(marks)) for doc_id, marks in rows)
        return known

    def resolve(self, target: str) -> list[tuple[str, str]]:
        """Return (kind, full id) pairs for a live path, an id or a unique id prefix; kind is "doc" or "chunk"."""
        if not is_storable(target) or "\0" in target:
            return []
        live = self.document_at(target)
        if live is not None or not is_prefix(target):
            return [] if live is None else [("doc", live)]
        below = target[:-1] + chr(ord(target[-1]) + 1)
        return [(kind, full) for kind, full in self.execute(_RESOLVE, (target, below, target, below))]

    def rowid(self, kind: str, full_id: str) -> int:
        """Return the rowid of a full id."""
        table = "document" if kind == "doc" else "chunk"
        with making_sense(self.path):
            return int(self.execute(f"SELECT number FROM {table} WHERE id = %s", (full_id,))[0][0])

    def paths_below(self, folder: str) -> list[str]:
        """Return paths of the live documents below this folder, or of the records in this file, sorted."""
        prefix = "" if folder == "." else folder.rstrip("/") + "/"
        sql = f"SELECT path FROM document WHERE is_live AND ({_BELOW} OR file = %s) ORDER BY path"
        return self._column(sql, (prefix, prefix, prefix, folder))

    def folder(self, path: str, most: int) -> FolderListing:
        """Return the folders and files directly in a folder, at most `most`."""
        rows = self.execute(_FOLDER, (path, path, most))
        entries = tuple(
            FolderEntry(name, "folder" if is_folder else "records" if is_record else "file", documents, chunks)
            for name, is_folder, is_record, documents, chunks, _ in rows
        )
        return FolderListing(entries, rows[0][-1] if rows else 0)

    def paths_with(self, words: Sequence[str], most: int) -> list[str]:
        """Return paths of live documents that contain each word, ignoring case; the shortest first, ties by path."""
        having = "".join(" AND strpos(lower(path), lower(%s)) > 0" for _ in words)
        order = "length(path)" if words else "mtime DESC"
        sql = f"SELECT path FROM document WHERE is_live{having} ORDER BY {order}, path LIMIT %s"
        return self._column(sql, (*words, most))

    def removed_path(self, target: str) -> str | None:
        """Return the path of a removed document by its path, its id or a chunk's id, or None."""
        found = self._column("SELECT path FROM document WHERE path = %s AND NOT is_live LIMIT 1", (target,))
        if not found and is_prefix(target):
            found = self._column(_REMOVED_ID, (target, target))
        return found[0] if found else None

    def removed_below(self, folder: str) -> list[str]:
        """Return paths of removed documents whose text is still stored, at or below the folder."""
        prefix = "" if folder == "." else folder.rstrip("/") + "/"
        return self._column(_REMOVED_BELOW, (prefix, prefix, prefix, folder, f"{folder}#"))

    def copies_of(self, paths: Sequence[str]) -> list[str]:
        """Return paths of other live documents that share a chunk's text with any version of these, sorted."""
        return self._column(_COPIES_OF, (list(paths), list(paths)))

    def short_documents(self, threshold: int) -> list[int]:
        """Return one chunk rowid of every live document with at most `threshold` chunks, by path."""
        return self._column(_SHORT, (threshold,))

    def chunks_of(self, doc_id: str) -> list[Row]:
        """Return a live document's chunks by offset."""
        sql = f"SELECT c.number, {DOCUMENT}, {CHUNK} FROM {CHUNKS} WHERE d.id = %s AND {LIVE} ORDER BY c.start"
        with making_sense(self.path):
            return list(map(row_of, self.execute(sql, (doc_id,))))

    def chunks_of_file(self, path: str, *, place: str | None = None) -> list[int]:
        """Return the rowids of the live chunks of every document in a file, in natural order."""
        sql = "d.file = %s AND c.place IS NOT DISTINCT FROM coalesce(%s, c.place)"
        return self._chunks(sql, (path, place))

    def chunks_of_lines(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that overlap these lines, by offset."""
        return self._chunks("d.id = %s AND c.line_start <= %s AND c.line_end >= %s", (doc_id, last, first))

    def chunks_near(self, doc_id: str, first: int, last: int) -> list[int]:
        """Return rowids of a document's live chunks that overlap these code points, by offset."""
        return self._chunks("d.id = %s AND c.start < %s AND c.stop > %s", (doc_id, last, first))

    def chunks_with(self, text: str) -> list[int]:
        """Return rowids of the live chunks that contain a text verbatim, in natural order."""
        return self._chunks("strpos(c.text, %s) > 0", (text,))

    def vocabulary(self, most: int) -> PostgresVocabulary:
        """Return suggestions for a query that is being typed, at most `most` entries for each kind."""
        return PostgresVocabulary(self.execute, max(0, most))  # a negative limit is an error here

    def _chunks(self, condition: str, parameters: tuple[object, ...]) -> list[int]:
        sql = f"SELECT c.number FROM {CHUNKS} WHERE {LIVE} AND {condition} ORDER BY {NATURAL}"
        return self._column(sql, parameters)

    def _column(self, sql: str, parameters: tuple[object, ...]) -> list[Any]:
        return [value for (value,) in self.execute(sql, parameters)]


def _file(row: Sequence[Any]) -> Fingerprint:
    *fields, inode = row
    return Fingerprint._make([*fields, None if inode is None else int(inode)])


def _new_chunk(row: Sequence[Any], path: str) -> NewChunk:
    _, start, stop, line_start, line_end, tokens, heading, text, is_title, place, kept, text_hash, windows, vector = (
        row
    )
    check_text(text, kept, path)
    span = Span(start, stop, tokens, heading)
    return NewChunk(span, line_start, line_end, text, text_hash, vector or b"", windows, is_title, place)


_COLUMNS = {
    "path": "1",
    "source": "2 DESC, 1",
    "title": "2 DESC, 1",
    "mtime": "1 DESC",
    "id": "1",
    "hash": "2 DESC, 1",
}
"""Fields of a document, each with the order of its suggestions: by value (1), or by number of documents (2)."""


class PostgresVocabulary:
    """A collection's vocabulary, read by prefix; see store.port.Catalog.vocabulary."""

    def __init__(self, execute: Execute, most: int) -> None:
        self._execute = execute
        self._most = most

    def keys(self, prefix: str) -> Sequence[KnownValue]:
        """Return metadata keys that start with the prefix."""
        return _known(self._count("jsonb_object_keys(metadata - '')", "2 DESC, 1", prefix))

    def values(self, field: Field, prefix: str) -> Sequence[KnownValue]:
        """Return values that start with the prefix; none for a chunk's fields, which have too many."""
        if field.table == "chunk":
            return ()
        if field.key is not None:
            return self._of_key(field.key, prefix)
        if field.name in ("tag", "tags"):
            return _known(self._count("unnest(tags)", "2 DESC, 1", prefix))
        column = "substr(mtime, 1, 10)" if field.name == "mtime" else field.name
        return _known(self._count(column, _COLUMNS[field.name], prefix))

    def _count(self, column: str, order: str, prefix: str) -> list[tuple[Any, ...]]:
        sql = f"""
        SELECT value COLLATE "C", count(*) FROM (SELECT {column} AS value FROM document WHERE is_live) found
        WHERE value IS NOT NULL AND starts_with(value, %s) GROUP BY 1 ORDER BY {order} LIMIT %s
        """
        return self._execute(sql, (prefix, self._most))

    def _of_key(self, key: str, prefix: str) -> list[KnownValue]:
        sql = """
        SELECT value, count(*) FROM (SELECT metadata -> %s AS value FROM document WHERE is_live) found
        WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean') AND starts_with(value #>> '{}', %s)
        GROUP BY 1 ORDER BY 2 DESC, jsonb_typeof(value) = 'string', (value #>> '{}') COLLATE "C" LIMIT %s
        """
        return _known(self._execute(sql, (key, prefix, self._most)))


def _known(rows: Iterable[tuple[Any, ...]]) -> list[KnownValue]:
    return [KnownValue(value, count) for value, count in rows]
