"""The Store protocol over one SQLite file, and its kind: create, open, copy and discard such files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

import recall_core
from recall_core import store
from recall_core.errors import StoreCorrupt, StoreError, StoreLocked
from recall_core.paths import PRIVATE
from recall_core.rank.bm25 import idf
from recall_core.rql.ast import Expr, OrderKey
from recall_core.shell import Hint
from recall_core.store import sqlite
from recall_core.store.sqlite import blocks, census, copies, lexical, postings, records, vectors
from recall_core.store.sqlite.compile import is_native
from recall_core.store.sqlite.connect import connect, create, discard, load_vector_functions, making_sense
from recall_core.store.sqlite.judgements import SqliteJudgements
from recall_core.store.sqlite.maintenance import SqliteMaintenance
from recall_core.store.sqlite.reindexing import SqliteReindex
from recall_core.store.sqlite.schema import PAGE_SIZE, WORDS
from recall_core.types import (
    Chunk,
    Key,
    LexicalQuery,
    LiteralQuery,
    Occurrences,
    RawQuery,
    Row,
    Table,
    TermStat,
    Vector,
)
from recall_core.words.analyzer import Analyzer

if TYPE_CHECKING:
    from recall_core.rank.estimates import Estimates
    from recall_core.store.port import Instance, Store
    from recall_core.store.sqlite.memory.rows import Places
    from recall_core.store.sqlite.memory.snapshot import Snapshot
    from recall_core.store.sqlite.memory.words import WordSearch
    from recall_core.store.values import Capability, FilterCounts, Level, Lost, MadeWith, Nearest, VectorIndex

_VECTORS = "SELECT chunk, embedding FROM vec"
_VECTORS_WHERE = """
SELECT v.chunk, v.embedding FROM doc d JOIN chunk c ON c.doc = d.rowid JOIN vec v ON v.chunk = c.rowid WHERE
"""
_HAS_WORDS = """
SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH recall_phrase(?) AND rowid = (SELECT rowid FROM chunk WHERE id = ?)
"""
_FEW_ROWS = 3
_TERMS_BEGINNING = """
SELECT term, doc FROM chunk_vocab WHERE term BETWEEN ?1 AND ?1 || char(1114111) AND length(term) BETWEEN ?2 AND ?3
"""
_TERMS_ENDING = """
SELECT term FROM chunk_vocab WHERE substr(term, -length(?1)) = ?1 ORDER BY doc DESC, term LIMIT ?2
"""
_TEXTS_WITH = """
SELECT d.title || char(10) || c.text FROM (SELECT DISTINCT doc FROM chunk_instance WHERE term = ? LIMIT ?) found
JOIN chunk c ON c.rowid = found.doc JOIN doc d ON d.rowid = c.doc
"""
_TWINS = """
SELECT own.chunk, twin.rowid FROM chunk_copy own JOIN chunk twin ON twin.hash = own.hash AND twin.deleted = 0
WHERE own.chunk IN (SELECT value FROM json_each(?)) ORDER BY own.chunk, twin.rowid
"""
_TWINS_OF_CHUNKS = """
SELECT own.rowid, twin.rowid FROM chunk own JOIN chunk twin ON twin.hash = own.hash AND twin.deleted = 0
WHERE own.rowid IN (SELECT value FROM json_each(?)) ORDER BY own.rowid, twin.rowid
"""
_VECTORS_OF = f"{_VECTORS} WHERE chunk IN (SELECT value FROM json_each(?)) ORDER BY chunk"


class SqliteStore(SqliteJudgements, SqliteReindex, SqliteMaintenance):
    """A store in SQLite; see store.port.Store, and Search for the methods here. One connection; use one in each
    thread."""

    capabilities: frozenset[Capability] = frozenset({"lexical_fts", "estimates", "signatures"})

    def __init__(self, db: apsw.Connection, path: str, *, writable: bool, upgrade: str = "") -> None:
        super().__init__(db, path, writable=writable)
        self.upgrade = upgrade
        self._words: tuple[Snapshot, LiteralQuery, WordSearch | None] | None = None
        """The words of the last query."""

    is_native = staticmethod(is_native)

    def syntax_error(self, raw: RawQuery) -> str | None:
        """Return the full-text index's error for a raw expression, or None."""
        return lexical.check_syntax(self.execute, lexical.expression(raw))

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        """Return one entry for each phrase, in query order. is_searched: a search for these words follows."""
        # The index gives a word's document frequency faster than its postings can be read.
        if is_searched and (memory := self._words_in_memory(query)) is not None:
            return memory.terms
        with making_sense(self.path):
            if self._info_read is None:
                rows = int(records.text_of(self.execute("SELECT value FROM meta WHERE key = 'chunks'")[0][0]))
            else:
                rows = self._info_read.chunks
        if isinstance(query, RawQuery):
            counted = lexical.raw_frequencies(self.execute, query)
            return tuple(TermStat(text, df, idf(df, rows)) for text, df in counted)
        dfs = lexical.frequencies(self.execute, query.phrases, self._frequencies())
        return tuple(lexical.phrase_stat(self.execute, each, dfs[each.key], rows) for each in query.phrases)

    def terms_beginning(
        self, letters: Sequence[str], shortest: int, longest: int, *, also: Sequence[str], most: int
    ) -> dict[str, int]:
        """Return terms that begin with these letters; see store.port.Search."""
        memory = self.in_memory()
        known = None if memory is None else memory.vocabulary
        if known is not None:
            found = known.frequencies(also) | known.beginning(letters, shortest, longest)
        else:
            found = lexical.stem_frequencies(self.execute, also)
            for letter in letters:
                found.update(self.execute(_TERMS_BEGINNING, (letter, shortest, longest)))
        if len(found) <= most:
            return found
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:most])

    def terms_ending(self, letters: str, *, most: int) -> list[str]:
        """Return terms that end with these letters; see store.port.Search."""
        return [term for (term,) in self.execute(_TERMS_ENDING, (letters, most))]

    def texts_with(self, term: str, *, most: int) -> list[str]:
        """Return titles with texts of chunks with this term; see store.port.Search."""
        return [text for (text,) in self.execute(_TEXTS_WITH, (term, most))]

    def _frequencies(self) -> lexical.OfStems | None:
        """Return the function that counts rows of stems in memory, or None if the terms are not in memory."""
        memory = self.in_memory()
        return None if memory is None or memory.vocabulary is None else memory.vocabulary.frequencies

    def occurrences(self, query: LiteralQuery, rowids: Sequence[int] | None) -> Occurrences:
        """Return how often each phrase of a literal query occurs in these rows, or for None in every row."""
        # A few rows do not justify reading whole postings, unless phrases would be searched for twice without them.
        is_known = self._words is not None and self._words[1] == query
        reads_postings = rowids is None or len(rowids) > _FEW_ROWS or is_known or bool(query.long_phrases)
        if reads_postings and (memory := self._words_in_memory(query)) is not None:
            return memory.occurrences(rowids)
        return postings.occurrences(self.execute, query, rowids, self._frequencies())

    def phrases(self, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]) -> Occurrences:
        """Return the occurrences of each phrase of any expression in these rows. terms: `term_stats` of the same
        query."""
        is_plain = isinstance(query, LiteralQuery) and query.match == "any" and not query.long_phrases
        if is_plain and (memory := self._words_in_memory(query)) is not None:
            return memory.occurrences(rowids)._replace(phrases=tuple(terms))
        return postings.count_phrases(self.execute, query, terms, rowids)

    def instances(
        self, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
    ) -> list[tuple[Instance, ...]]:
        """Return the places of each phrase in the texts and titles of these rows. terms: `term_stats` of the same
        query."""
        return postings.instances(self.execute, query, terms, rows, self.analyzer)

    def _words_in_memory(self, query: LexicalQuery) -> WordSearch | None:
        """Return the query over the data in memory, or None if FTS5 must answer it."""
        memory = self.in_memory()
        if memory is None or isinstance(query, RawQuery) or query.is_empty or postings.is_long(query):
            return None
        if self._words is None or self._words[0] is not memory or self._words[1] != query:
            with making_sense(self.path):
                self._words = memory, query, memory.words(self.execute, query)
        return self._words[2]

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        """Return live chunks that pass the filter (and are among rowids), in natural order."""
        memory = self.in_memory()
        if memory is None:
            return self._candidates(where, rowids)
        passing = None if where is None else self._passing(where)
        places = passing if rowids is None else memory.rows.natural(rowids, among=passing)
        return memory.rows.keys if places is None else memory.rows.keys.at(places)

    def _candidates(self, where: Expr | None, rowids: Sequence[int] | None) -> tuple[Key, ...]:
        condition, parameters = records.condition_of(where, rowids)
        rows = self.execute(
            f"SELECT c.rowid, d.rowid, d.path, c.offset, c.tokens FROM doc d JOIN chunk c ON c.doc = d.rowid "
            f"WHERE {condition} ORDER BY d.path, c.offset",
            parameters,
        )
        return tuple(map(Key._make, rows))

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        """Return rowid to raw BM25 >= 0 of matching rows: the k best, ties in natural order, or all if k is None."""
        if not (isinstance(query, RawQuery) or query.is_empty or postings.is_long(query)):
            self.remember(query)
        if (memory := self._words_in_memory(query)) is not None:
            among = None if where is None else self._passing(where)
            return memory.scores(k=k, among=among, title_weight=title_weight, also=also)
        if postings.is_long(query):
            return postings.long_scores(self.execute, query, where=where, k=k, title_weight=title_weight, also=also)
        if isinstance(query, LiteralQuery) and query.is_weighed:
            return postings.weighed_scores(
                self.execute, query, where=where, k=k, title_weight=title_weight, also=also
            )
        if isinstance(query, LiteralQuery) and query.long_phrases:
            phrased = postings.Phrased(self.execute, query)
            return phrased.scores(where=where, k=k, title_weight=title_weight, also=also)
        match = lexical.expression(query)
        return lexical.scores(self.execute, match, where=where, k=k, title_weight=title_weight, also=also)

    def lexical_scores(
        self, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float
    ) -> Mapping[int, float]:
        """Return rowid to raw BM25 of the matching rows among these."""
        if (memory := self._words_in_memory(query)) is not None:
            return memory.scores_of(rowids, title_weight=title_weight)
        if postings.is_long(query):
            return postings.long_scores_of(self.execute, query, rowids, title_weight=title_weight)
        if isinstance(query, LiteralQuery) and query.is_weighed:
            return postings.weighed_scores_of(self.execute, query, rowids, title_weight=title_weight)
        if isinstance(query, LiteralQuery) and query.long_phrases:
            return postings.Phrased(self.execute, query).scores_of(rowids, title_weight=title_weight)
        return lexical.scores_of(self.execute, lexical.expression(query), rowids, title_weight=title_weight)

    def _passing(self, where: Expr) -> Places:
        memory = self.in_memory()
        assert memory is not None  # noqa: S101 - the caller has checked
        with making_sense(self.path):
            return memory.passing(where, self.execute)

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        """Return rowid to cosine, rounded half-even to 6 decimals, of every live vector that passes the filter."""
        memory = self.remember(vector)
        if memory is not None and memory.matrix is not None and memory.matrix.is_wide:
            among = None if where is None else self._passing(where)
            if rowids is not None:
                among = memory.rows.natural(rowids, among=among)
            with making_sense(self.path):
                return memory.cosines(vector, among)
        with making_sense(self.path):
            if where is None and rowids is None:
                if blocks.are_here(self.execute):
                    pieces = list(blocks.scan(self.execute))
                    return vectors.cosines(vector, vectors.Rows(*blocks.join(pieces)))
                return vectors.cosines(vector, vectors.rows_of(self.execute(_VECTORS)))
            condition, parameters = records.condition_of(where, rowids)
            return vectors.cosines(vector, vectors.rows_of(self.execute(f"{_VECTORS_WHERE} {condition}", parameters)))

    def estimates(self, vector: Vector, *, where: Expr | None) -> Estimates | None:
        """Return every live chunk that passes the filter, in natural order, with its cosine within a proven bound.

        Return None if the vectors are in memory, or if sqlite-vec is missing or cannot use one of them.
        """
        memory = self.remember(vector)
        if memory is not None and memory.matrix is not None and memory.matrix.is_wide:
            return None
        condition, parameters = records.condition_of(where, None)
        try:
            load_vector_functions(self.db)
            return vectors.estimates(
                self.execute, vector, condition, parameters, in_blocks=blocks.are_here(self.execute)
            )
        except apsw.ExtensionLoadingError:
            return None
        except StoreError as error:
            if error.code == "sqlite_vec_missing" or isinstance(error.__cause__, apsw.SQLError):
                return None  # sqlite-vec rejects a vector of another size
            raise

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        """Return the k best of `cosines`, best first, ties in natural order. Always exact.

        Float32 products, or sqlite-vec's distances, only propose rows. Every row that could tie with the k-th is
        computed exactly.
        """
        memory = self.remember(vector)
        if memory is not None and memory.matrix is not None:
            among = None if where is None else self._passing(where)
            places = memory.matrix.near(vector, k, among)
            if memory.matrix.is_wide:
                return store.values.Nearest(memory.best(vector, k, places), is_exact=True)
            near = memory.rows.keys.rowids[places].tolist()
        else:
            near = self._propose(vector, where, k)
        exact = self.cosines(vector, where=None, rowids=near)
        order = [key.rowid for key in self.candidates(None, rowids=near)]
        best = sorted(order, key=lambda rowid: -exact[rowid])[:k]
        return store.values.Nearest({rowid: exact[rowid] for rowid in best}, is_exact=True)

    def shortlist(self, vector: Vector, index: VectorIndex, *, where: Expr | None, k: int) -> Sequence[int] | None:
        """Return the k passing rows with the nearest signatures, ties in natural order; None without signatures."""
        if index == "hnsw" or not self.is_signed(index):
            return None
        own, memory = store.signatures.signature(vector, index), self.remember(vector)
        if memory is not None and memory.nearby is not None:
            among = None if where is None else self._passing(where)
            found: list[int] = memory.rows.keys.rowids[memory.nearby.near(own, k, among)].tolist()
            return found
        load_vector_functions(self.db)
        distances = {} if where is not None else sqlite.lsh.near(self.execute, own, "", (), k=k)
        order = [key.rowid for key in self.candidates(None, rowids=list(distances))]
        if where is not None or len(order) < len(distances):  # some signatures have no live chunk
            condition, parameters = records.condition_of(where, None)
            distances = sqlite.lsh.near(self.execute, own, condition, parameters, k=k)
            order = [key.rowid for key in self.candidates(None, rowids=list(distances))]
        return sorted(order, key=distances.__getitem__)[:k]

    def ahead(self, vector: Vector, rowid: int, *, where: Expr | None) -> int | None:
        """Return how many rows of the filter come before this one by `cosines`, or None if the row does not pass."""
        memory = self.remember(vector)
        if memory is not None and memory.matrix is not None:
            among = None if where is None else self._passing(where)
            place = memory.rows.natural([rowid])
            if not len(place):
                return None
            nearer, unsure = memory.matrix.around(vector, int(place[0]), among)
            level = memory.rows.keys.rowids[unsure].tolist()
        else:
            load_vector_functions(self.db)
            condition, parameters = records.condition_of(where, None)
            nearer, level = vectors.around(self.execute, vector, rowid, condition, parameters)
        if rowid not in level:
            return None
        exact = self.cosines(vector, where=None, rowids=level)
        order = [key.rowid for key in self.candidates(None, rowids=level)]
        return nearer + sorted(order, key=lambda each: -exact[each]).index(rowid)

    def _propose(self, vector: Vector, where: Expr | None, k: int) -> list[int]:
        """Return the k nearest rows by sqlite-vec's distance, and all rows that could tie with the last."""
        load_vector_functions(self.db)
        if where is None and blocks.are_here(self.execute):
            near = vectors.near_of_all(self.execute, vector, k=k)
            if near is not None and len(self.candidates(None, rowids=near)) == len(near):
                return near
        condition, parameters = records.condition_of(where, None)  # too many ties, or some rows have no live chunk
        return vectors.near(self.execute, vector, condition, parameters, k=k)

    def same_texts(self, rowids: Sequence[int]) -> dict[int, int]:
        """Return index in rowids to a number that chunks with the same text share; see `store.port`."""
        memory = self.in_memory()
        if memory is not None:
            return memory.rows.same_texts(rowids)
        found = copies.numbers(self.execute, rowids)
        return {place: found[rowid] for place, rowid in enumerate(rowids) if rowid in found} if found else {}

    def twins(self, rowids: Sequence[int]) -> dict[int, list[int]]:
        """Return chunk rowid to all live chunks with the same text, by rowid; texts that appear once are left out."""
        sql = _TWINS if copies.are_kept(self.execute) else _TWINS_OF_CHUNKS
        found: dict[int, list[int]] = {}
        for own, twin in self.execute(sql, (json.dumps(list(rowids)),)):
            found.setdefault(own, []).append(twin)
        return {own: listed for own, listed in found.items() if len(listed) > 1}

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        """Return chunks with their documents, in the given order."""
        with making_sense(self.path):
            return [records.row_of(row) for row in self.execute(records.FETCH, (json.dumps(list(rowids)),))]

    def vectors(self, rowids: Sequence[int]) -> dict[int, Vector]:
        """Return chunk rowid to vector of these chunks, by rowid; chunks without a vector are left out."""
        with making_sense(self.path):
            return {rowid: bytes(vector) for rowid, vector in self.execute(_VECTORS_OF, (json.dumps(list(rowids)),))}

    def reranked(self, maker: str, hashes: Sequence[bytes], *, is_query: bool) -> dict[bytes, Vector]:
        """Return text_hash to stored vector of this reranker; damaged vectors are left out."""
        parameters = maker, is_query, json.dumps([each.hex() for each in hashes])
        rows = self.execute(sqlite.reranked.FIND, parameters)
        is_as_kept = sqlite.reranked.is_as_kept
        return {bytes(key): bytes(vector) for key, vector, checksum in rows if is_as_kept(vector, checksum)}

    def has_words(self, text: str, chunk: Chunk) -> bool:
        """Return True if a live chunk has these words next to each other; see store.port.Search."""
        return bool(self.execute(_HAS_WORDS, (text, chunk.id)))

    def is_indexed(self, rowid: int) -> bool:
        """Return True if the full-text index contains a chunk."""
        return bool(self.execute("SELECT 1 FROM chunk_fts_docsize WHERE id = ?", (rowid,)))

    def filter_counts(self, where: Expr, *, table: Table) -> FilterCounts:
        """Return how many rows each part of a filter passes."""
        return sqlite.funnel.filter_counts(self.execute, where, table=table)

    def scan(
        self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...], limit: int | None, offset: int
    ) -> tuple[int, list[tuple[int, int | None]]]:
        """Return the number of passing rows, and one page of (doc rowid, chunk rowid or None) in the given order."""
        scan = records.scan_of(where, table=table, order=order)
        total = self.execute(scan.total.sql, scan.total.params)[0][0]
        page = self.execute(scan.page.sql, (*scan.page.params, -1 if limit is None else limit, offset))
        return total, [(row[0], row[1]) for row in page]

    def steps(self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
        """Return the lines of SQLite's query plan for `scan`."""
        page = records.scan_of(where, table=table, order=order).page
        rows = self.execute(f"EXPLAIN QUERY PLAN {page.sql}", (*page.params, -1, 0))
        return tuple(row[3] for row in rows)

    def rebuild(self, *, copy: str | None, made_with: Callable[[], MadeWith | None]) -> tuple[Lost, ...]:
        """Replace the store with a new one built from its readable data, in one step. Return the losses."""
        return sqlite.rebuild.rebuild(self, copy=copy, made_with=made_with, create=create_store)


def create_store(
    where: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = PRIVATE
) -> SqliteStore:
    """Create a new, empty store; on failure leave no file. `:memory:` keeps it off the disk."""
    settings = {
        "embedder": embedder,
        "dimension": str(dimension),
        "counter": counter,
        "chunker": chunker,
        "generation": "0",
        "digest_sum": "0" * 64,
        WORDS: Analyzer.name,
        **census.none(),
    }
    return SqliteStore(create(where, settings, mode=mode), where, writable=True)


def open_store(where: str) -> SqliteStore:
    """Open an existing store. Raises StoreError, StoreCorrupt or StoreLocked with a hint."""
    try:
        db, writable, upgrade = connect(where)
    except StoreCorrupt as error:
        if error.code == "store_corrupt" or _was_store(where):  # doctor could not open it either
            raise StoreCorrupt(error.code, error.message, hint=Hint("recover", where, "NEW")) from error
        raise
    return SqliteStore(db, where, writable=writable, upgrade=upgrade)


def _was_store(path: str) -> bool:
    """Return True if the start of the file contains the definition of a Recall table."""
    with suppress(OSError), open(path, "rb") as raw:
        return b"CREATE VIRTUAL TABLE chunk_fts" in raw.read(4 * PAGE_SIZE)
    return False


class SqliteKind:
    """Stores in SQLite files; see store.port.StoreKind. WHERE is a path, or `:memory:`."""

    name = "sqlite"
    levels: frozenset[Level] = frozenset({"search", "write", "care"})

    open = staticmethod(open_store)
    create = staticmethod(create_store)
    discard = staticmethod(discard)
    unfinished = staticmethod("{}.part".format)

    def publish(self, where: str) -> None:
        """Rename the closed file of `unfinished`. Raises StoreError `store_exists`, StoreLocked."""
        part = Path(self.unfinished(where))
        if Path(f"{part}-wal").exists():
            message = f"{part} is being written by another process."
            raise StoreLocked("store_locked", message, hint="wait for it and try again")
        try:
            recall_core.files.put_new(part, Path(where))
            part.unlink(missing_ok=True)
        except FileExistsError as error:
            hint = Hint("stats", store=where)
            raise StoreError("store_exists", f"{where} already exists.", hint=hint) from error

    @contextmanager
    def aside(self, where: str) -> Iterator[Store]:
        """Copy the store byte for byte, for the duration of the block."""
        with sqlite.copying.aside(where) as (db, writable):
            store = SqliteStore(db, where, writable=writable)
            try:
                yield store
            finally:
                store.close()

    def recover(
        self, where: str, target: str, *, made_with: Callable[[], MadeWith | None]
    ) -> tuple[Store, tuple[Lost, ...]]:
        """Build a new store at target from the readable data of the one at where. Return it with the losses."""
        return sqlite.rebuild.recover(where, target, made_with=made_with, create=create_store)


SQLITE = SqliteKind()
