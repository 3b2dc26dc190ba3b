"""SqliteStore: the Store protocol over one SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import apsw

from recall_core.config import EXACT_VECTORS
from recall_core.rql.ast import Expr, OrderKey
from recall_core.store.sqlite import lexical, postings, records, vectors
from recall_core.store.sqlite.cache import Memo
from recall_core.store.sqlite.connect import connect, creating, load_vector_functions, translated
from recall_core.store.sqlite.opened import OpenStore
from recall_core.store.sqlite.schema import SCHEMA_VERSION, TOKENIZER
from recall_core.store.sqlite.write import COUNTS, public_digest
from recall_core.text import STOP_WORDS_NAME
from recall_core.types import (
    Document,
    Fingerprint,
    Key,
    LexicalQuery,
    Occurrences,
    Root,
    Row,
    StoreInfo,
    Table,
    TermStat,
    Vector,
)

_VECTORS = "SELECT chunk, embedding FROM vec"
_BELOW = """
SELECT d.path FROM doc d LEFT JOIN file f ON f.rowid = d.file
WHERE d.deleted = 0
  AND (iif(?1 = '', substr(d.path, 1, 1) <> '/', substr(d.path, 1, length(?1)) = ?1) OR f.path = ?2)
ORDER BY d.path
"""


def create_store(path: str, *, embedder: str, dimension: int, counter: str, chunker: str) -> SqliteStore:
    """A new, empty store, or no file at all; `:memory:` keeps it off the disk."""
    settings = {
        "embedder": embedder,
        "dimension": str(dimension),
        "counter": counter,
        "chunker": chunker,
        "generation": "0",
        "digest_sum": "0" * 64,
        **dict.fromkeys(COUNTS, "0"),
    }
    with creating(path) as db:
        store = SqliteStore(db, path, writable=True)
        with store.transaction():
            for key, value in settings.items():
                store.execute("INSERT INTO meta(key, value) VALUES(?, ?)", (key, value))
    return store


def open_store(path: str) -> SqliteStore:
    """An existing store. Raises StoreError, StoreCorrupt or StoreLocked with what to do about it."""
    db, writable = connect(path)
    return SqliteStore(db, path, writable=writable)


class SqliteStore(OpenStore):
    """What is asked of a store, in SQL; see ports.Store. One connection; use one in each thread."""

    def __init__(self, db: apsw.Connection, path: str, *, writable: bool) -> None:
        super().__init__(db, path, writable=writable)
        self._keys = Memo(self, lambda: records.Keys(self._candidates(None, None)))
        self._lengths = Memo(self, lambda: postings.lengths(self.execute, None))
        self._vectors = Memo(self, lambda: vectors.rows_of(self.execute(_VECTORS)))

    def info(self) -> StoreInfo:
        """Identity, sizes, generation and digest."""
        meta: dict[str, str] = dict(self.execute("SELECT key, value FROM meta"))
        newest = self.execute("SELECT max(mtime) FROM doc WHERE deleted = 0")[0][0]
        return StoreInfo(
            path=self.path,
            schema_version=SCHEMA_VERSION,
            embedder=meta["embedder"],
            dimension=int(meta["dimension"]),
            counter=meta["counter"],
            chunker=meta["chunker"],
            tokenizer=f"{TOKENIZER}; stop words {STOP_WORDS_NAME}",
            generation=int(meta["generation"]),
            digest=public_digest(meta["embedder"], meta["digest_sum"]),
            documents=int(meta["documents"]),
            chunks=int(meta["chunks"]),
            vectors=int(meta["vectors"]),
            tombstones=int(meta["tombstones"]),
            windowed=self.execute("SELECT count(*) FROM vec WHERE windows > 1")[0][0],
            snapshot=newest or "",
        )

    def generation(self) -> int:
        """How many transactions have changed what is stored."""
        return int(self.execute("SELECT value FROM meta WHERE key = 'generation'")[0][0])

    def embedder(self) -> str:
        """Identity of the embedder that made the vectors."""
        return str(self.execute("SELECT value FROM meta WHERE key = 'embedder'")[0][0])

    def known(self, path: str) -> Fingerprint | None:
        """The file as last read, or None."""
        rows = self.execute(f"SELECT {records.FILE} FROM file f WHERE f.path = ?", (path,))
        return Fingerprint(*rows[0]) if rows else None

    def files(self) -> Iterator[Fingerprint]:
        """Every live file by path."""
        return map(Fingerprint._make, self.execute(f"SELECT {records.FILE} FROM file f ORDER BY f.path"))

    def sources(self, doc_ids: Sequence[str]) -> dict[str, Fingerprint]:
        """doc.id to the file it was read from, for those that are live."""
        rows = self.execute(
            f"SELECT d.id, {records.FILE} FROM json_each(?) j "
            "JOIN doc d ON d.id = j.value JOIN file f ON f.rowid = d.file",
            (json.dumps(list(doc_ids)),),
        )
        return {row[0]: Fingerprint(*row[1:]) for row in rows}

    def roots(self) -> tuple[Root, ...]:
        """Every remembered root, in the order they were added."""
        return tuple(records.root_of(spec) for (spec,) in self.execute("SELECT spec FROM root ORDER BY rowid"))

    def cached_vectors(self, text_hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Vectors of this embedder already known for these texts."""
        rows = self.execute(records.CACHED, (json.dumps([digest.hex() for digest in text_hashes]),))
        return {bytes.fromhex(digest): bytes(vector) for digest, vector in rows if vector is not None}

    def tokens(self, text: str) -> tuple[str, ...]:
        """The text as the index folds it, before stemming."""
        with translated(self.path):
            return lexical.folded_tokens(self.db, text)

    def syntax_error(self, match: str) -> str | None:
        """What the full-text index finds wrong with a raw expression, or None."""
        return lexical.check_syntax(self.execute, match)

    def term_stats(self, query: LexicalQuery) -> tuple[TermStat, ...]:
        """One entry a phrase, in query order."""
        with translated(self.path):
            return lexical.term_stats(self.db, self.execute, query, self._live_chunks())

    def occurrences(self, query: LexicalQuery, rowids: Sequence[int] | None) -> Occurrences:
        """How often each phrase of a literal query stands in these rows, or in every row that holds one."""
        sizes = self._lengths.get() if self._is_small() else None
        with translated(self.path):
            return postings.occurrences(self.db, self.execute, query, rowids, sizes=sizes)

    def phrases(self, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]) -> Occurrences:
        """Each phrase of any expression as it counts in these rows. terms: `term_stats` of the same query."""
        with translated(self.path):
            return postings.counted(self.db, self.execute, query, terms, rowids)

    def _live_chunks(self) -> int:
        return int(self.execute("SELECT value FROM meta WHERE key = 'chunks'")[0][0])

    def _is_small(self) -> bool:
        """Whether what is asked of every chunk may be kept in memory; above, a question asks for few of them."""
        return self._live_chunks() <= EXACT_VECTORS

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> tuple[Key, ...]:
        """Live chunks that pass the filter (and are among rowids), in natural order."""
        kept = self._keys.get() if where is None and self._is_small() else None
        return kept.among(rowids) if kept else self._candidates(where, rowids)

    def _candidates(self, where: Expr | None, rowids: Sequence[int] | None) -> tuple[Key, ...]:
        condition, parameters = records.condition_of(where, rowids)
        rows = self.execute(
            f"SELECT c.rowid, d.rowid, d.path, c.offset, c.tokens FROM doc d JOIN chunk c ON c.doc = d.rowid "
            f"WHERE {condition} ORDER BY d.path, c.offset",
            parameters,
        )
        return tuple(map(Key._make, rows))

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float
    ) -> dict[int, float]:
        """rowid to raw BM25 >= 0 of matching rows; the k best, ties in natural order, or all when k is None."""
        if postings.is_long(query):
            with translated(self.path):
                return postings.long_scores(self.db, self.execute, query, where=where, k=k, title_weight=title_weight)
        return lexical.scores(self.execute, query.match, where=where, k=k, title_weight=title_weight)

    def lexical_scores(self, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float) -> dict[int, float]:
        """rowid to raw BM25 of those of these rows that match."""
        if postings.is_long(query):
            with translated(self.path):
                return postings.long_scores_of(self.db, self.execute, query, rowids, title_weight=title_weight)
        return lexical.scores_of(self.execute, query.match, rowids, title_weight=title_weight)

    def cosines(self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None) -> dict[int, float]:
        """rowid to cosine, rounded half-even to 6 decimals, of every live vector the filter lets through."""
        if where is None and rowids is None:
            kept = self._vectors.get() if self._is_small() else None
            return vectors.cosines(vector, kept or vectors.rows_of(self.execute(_VECTORS)))
        condition, parameters = records.condition_of(where, rowids)
        rows = self.execute(
            f"SELECT v.chunk, v.embedding FROM doc d JOIN chunk c ON c.doc = d.rowid "
            f"JOIN vec v ON v.chunk = c.rowid WHERE {condition}",
            parameters,
        )
        return vectors.cosines(vector, vectors.rows_of(rows))

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> dict[int, float]:
        """The k best of `cosines`, ties in natural order.

        sqlite-vec's float32 distances only propose: every row that could tie with the k-th is fetched and settled.
        """
        load_vector_functions(self.db)
        condition, parameters = records.condition_of(where, None)
        near = vectors.near(self.execute, vector, condition, parameters, k=k)
        exact = self.cosines(vector, where=None, rowids=near)
        order = [key.rowid for key in self.candidates(None, rowids=near)]
        return {rowid: exact[rowid] for rowid in sorted(order, key=lambda rowid: -exact[rowid])[:k]}

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        """Chunks with their documents, in the order asked for."""
        return [records.row_of(row) for row in self.execute(records.FETCH, (json.dumps(list(rowids)),))]

    def documents(self, rowids: Sequence[int]) -> dict[int, Document]:
        """Documents by rowid, with or without chunks."""
        rows = self.execute(
            f"SELECT d.rowid, {records.DOCUMENT} FROM json_each(?) j JOIN doc d ON d.rowid = j.value",
            (json.dumps(list(rowids)),),
        )
        return {row[0]: records.document(row[1:10]) for row in rows}

    def scan(
        self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...], limit: int | None, offset: int
    ) -> tuple[int, list[tuple[int, int | None]]]:
        """How many rows pass, and one page of (doc rowid, chunk rowid or None) in the asked order."""
        scan = records.scan_of(where, table=table, order=order)
        total = self.execute(scan.total.sql, scan.total.params)[0][0]
        page = self.execute(scan.page.sql, (*scan.page.params, -1 if limit is None else limit, offset))
        return total, [(row[0], row[1]) for row in page]

    def steps(self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
        """How SQLite carries `scan` out: the lines of its query plan."""
        page = records.scan_of(where, table=table, order=order).page
        rows = self.execute(f"EXPLAIN QUERY PLAN {page.sql}", (*page.params, -1, 0))
        return tuple(row[3] for row in rows)

    def resolve(self, target: str) -> list[tuple[str, str]]:
        """What a live path, an id or a unique prefix names: (kind, full id) pairs, kind "doc" or "chunk"."""
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

    def document_at(self, path: str) -> str | None:
        """The id of the live document of that path."""
        found = self.execute("SELECT id FROM doc WHERE path = ? AND deleted = 0", (path,))
        return str(found[0][0]) if found else None

    def chunks_of(self, doc_id: str) -> list[Row]:
        """A live document's chunks by offset."""
        rowids = self.execute(
            "SELECT c.rowid FROM chunk c JOIN doc d ON d.rowid = c.doc "
            "WHERE d.id = ? AND c.deleted = 0 ORDER BY c.offset",
            (doc_id,),
        )
        return self.fetch([row[0] for row in rowids])

    def rowid(self, kind: str, full_id: str) -> int:
        """The rowid behind a full id."""
        table = "doc" if kind == "doc" else "chunk"
        return int(self.execute(f"SELECT rowid FROM {table} WHERE id = ?", (full_id,))[0][0])

    def text_of(self, doc_id: str) -> str:
        """A document's whole text, put together from its chunks, which overlap and leave no gap."""
        pieces: list[str] = []
        end = 0
        for row in self.chunks_of(doc_id):
            pieces.append(row.chunk.text[end - row.chunk.offset :])
            end = row.chunk.end
        return "".join(pieces)

    def paths_below(self, folder: str) -> list[str]:
        """Paths of the live documents in this folder and its folders, or of the records in this file, sorted.

        "." is the store's own folder; what lies outside of it has a path from the root, and is not below.
        """
        prefix = "" if folder == "." else folder.rstrip("/") + "/"
        return [path for (path,) in self.execute(_BELOW, (prefix, folder))]

    def chunk_counts(self, doc_rowids: Sequence[int]) -> dict[int, int]:
        """doc rowid to how many live chunks the document has."""
        rows = self.execute(
            "SELECT doc, count(*) FROM chunk "
            "WHERE deleted = 0 AND doc IN (SELECT value FROM json_each(?)) GROUP BY doc",
            (json.dumps(list(doc_rowids)),),
        )
        return dict(rows)

    def judgements(self) -> int:
        """How many rows of judgements the store keeps."""
        return int(self.execute("SELECT count(*) FROM judgement")[0][0])
