"""The Store protocol over one collection in Postgres, and its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import psycopg

from recall_core.config import BUSY_TIMEOUT_MS
from recall_core.errors import SnapshotMismatch
from recall_core.paths import PRIVATE
from recall_core.rql.ast import And, Expr, OrderKey
from recall_core.store import postgres
from recall_core.store.care import Maintenance
from recall_core.store.postgres.compile import (
    CHUNKS,
    LIVE,
    NATURAL,
    WITH_TERM,
    BoundSql,
    Compiler,
    holds,
    is_native,
    text_query,
)
from recall_core.store.postgres.held import HeldState, hold
from recall_core.store.postgres.opened import (
    Address,
    State,
    VectorBytes,
    address_of,
    connect,
    drop_collection,
    make_collection,
    publish,
    unfinished,
)
from recall_core.store.postgres.records import CHUNK, DOCUMENT, GIVEN, row_of
from recall_core.store.postgres.reembedding import PostgresReembed
from recall_core.store.postgres.schema import LONGEST_TERM, index_entry
from recall_core.store.sqlite import vectors
from recall_core.store.sqlite.connect import making_sense
from recall_core.store.sqlite.funnel import count_one_by_one
from recall_core.store.sqlite.postings import literal_instances, of_matching
from recall_core.store.values import Nearest, not_offered_error
from recall_core.text import embedded_text
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

if TYPE_CHECKING:
    from recall_core.rank.estimates import Estimates
    from recall_core.store.port import Instance, Store
    from recall_core.store.sqlite.memory.rows import Places
    from recall_core.store.sqlite.memory.words import WordSearch
    from recall_core.store.values import Capability, FilterCounts, Finding, Level, StoreCheck, VectorIndex

_LOOK_SECONDS = 0.02
"""How often to look whether a replica has caught up."""
_SOURCES: dict[Table, tuple[str, str, str]] = {
    "doc": ("document d", "d.number, NULL::bigint", "d.is_live"),
    "chunk": (CHUNKS, "d.number, c.number", LIVE),
}
_DISTANCES = f"""
SELECT array_agg(number), array_agg(coalesce(nullif(embedding <=> %s, 'NaN'), {vectors.NO_DISTANCE})) FROM embedding
"""
_NEAR = """
WITH proposed AS MATERIALIZED (
  SELECT v.number, v.embedding <=> %s AS distance FROM {source})
SELECT number FROM proposed
WHERE distance <= coalesce((SELECT distance FROM proposed ORDER BY distance LIMIT 1 OFFSET %s), 2.0) + %s
"""
_WITHOUT_VECTOR = f"""
SELECT c.number, d.path, CASE WHEN c.is_title THEN '' ELSE d.title END, c.text
FROM {CHUNKS} LEFT JOIN embedding v USING(doc_id, start)
WHERE {LIVE} AND v.number IS NULL AND NOT {GIVEN} AND c.number > %s ORDER BY c.number LIMIT 256
"""
_INDEX = "embedding_hnsw"
_IS_INDEXED = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
_SCAN = """
SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),
  set_config('plan_cache_mode', 'force_custom_plan', true)
"""
_PAGE = 64
_MOST_CANDIDATES = 1_000
"""The largest `hnsw.ef_search`."""
_TEXT_RANKS = f"""
SELECT number, ts_rank_cd(%s::float4[], words, %s::tsquery, 32) FROM (
  SELECT c.number, d.path, c.start, (
    SELECT string_agg(array_position(%s::text[], term) || ':' ||
      CASE WHEN place > c.title_length THEN place + 1 || 'D' ELSE place || 'A' END, ' ')::tsvector
    FROM unnest(string_to_array(btrim(c.title_words || ltrim(c.body_words)), ' ')) WITH ORDINALITY w(term, place)
    WHERE term = ANY(%s::text[])) AS words
  FROM {CHUNKS} WHERE {{condition}} OFFSET 0) found
WHERE words @@ %s::tsquery ORDER BY path, start
"""
"""The place of a word counts from 1. One place between title and text stays free, so that no phrase crosses it."""
_RANK_DECIMALS = 6
_TWINS = """
SELECT own.number, twin.number FROM chunk own JOIN chunk twin ON twin.hash = own.hash AND twin.is_live
WHERE own.number = ANY(%s::bigint[]) ORDER BY own.number, twin.number
"""


class PostgresStore(PostgresReembed):
    """A collection in Postgres; see store.port.Store. One connection; use one in each thread.

    Raises UsageError `not_offered` for what belongs to the level `care`, and for capabilities that it lacks.
    """

    capabilities: frozenset[Capability] = frozenset({"estimates", "hnsw"})
    is_native = staticmethod(is_native)

    def __init__(self, db: psycopg.Connection, address: Address) -> None:
        super().__init__(db, address)
        self._held: HeldState | None = None
        self._words: tuple[HeldState, LiteralQuery, WordSearch] | None = None
        """The words of the last query."""
        self._asked: tuple[State, int] | None = None
        """State and `reading` block of the last question by a vector."""

    def __getattr__(self, name: str) -> Any:
        if name in vars(Maintenance) or name == "syntax_error":
            raise not_offered_error(repr(name.replace("_", " ")))
        raise AttributeError(name)

    def _hold(self) -> HeldState:
        """Return the current state in memory."""
        with self.reading(), making_sense(self.path):
            if self._is_writing:  # this connection's changes may still be rolled back
                return HeldState(self.execute, self.state(), self.memory_mb)
            self._held = hold(self.execute, self.path, self.state(), self.memory_mb)
            return self._held

    def _hold_vectors(self, *, at_once: bool) -> HeldState | None:
        """Return the current state in memory with its vectors.

        Return None if there is no room, or if this is the first question about it, unless wanted at once.
        """
        now = self.state(), self._blocks
        is_again = self._asked is not None and self._asked[0] == now[0] and self._asked[1] != now[1]
        self._asked = now
        held = self._hold()
        if not self.memory_mb or not (at_once or is_again or held.matrix is not None):
            return None
        with making_sense(self.path):
            return held if held.add_vectors(self.execute, self.info().dimension) else None

    def _find_words(self, query: LiteralQuery) -> WordSearch:
        held = self._hold()
        if self._words is None or self._words[0] is not held or self._words[1] != query:
            with making_sense(self.path):
                self._words = held, query, held.words(self.execute, query)
        return self._words[2]

    def _passing(self, held: HeldState, where: Expr | None) -> Places | None:
        if where is None:
            return None

        def read() -> list[int]:
            condition, params = self._condition(where)
            sql = f"SELECT array_agg(c.number) FROM {CHUNKS} WHERE {condition}"
            return self.execute(sql, params)[0][0] or []

        with making_sense(self.path):
            return held.keep_passing(repr(where), read)

    def candidates(self, where: Expr | None, *, rowids: Sequence[int] | None = None) -> Sequence[Key]:
        """Return live chunks that pass the filter (and are among rowids), in natural order."""
        with self.reading():
            held = self._hold()
            places = self._passing(held, where)
            if rowids is not None:
                places = held.rows.natural(rowids, among=places)
            return held.rows.keys if places is None else held.rows.keys.at(places)

    def scan(
        self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...], limit: int | None, offset: int
    ) -> tuple[int, list[tuple[int, int | None]]]:
        """Return the number of passing rows, and one page of (doc rowid, chunk rowid or None) in the given order."""
        with self.reading():
            page = self._page(where, table, order)
            rows = self.execute(f"{page.sql} LIMIT %s OFFSET %s", (*page.params, limit, offset))
            return self._count(() if where is None else (where,), table), [(row[0], row[1]) for row in rows]

    def steps(self, where: Expr | None, *, table: Table, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
        """Return the lines of Postgres's plan for `scan`."""
        page = self._page(where, table, order)
        return tuple(line for (line,) in self.execute(f"EXPLAIN (COSTS OFF) {page.sql}", page.params))

    def filter_counts(self, where: Expr, *, table: Table) -> FilterCounts:
        """Return how many rows each part of a filter passes."""
        with self.reading():
            return count_one_by_one(lambda terms: self._count(terms, table), where)

    def _page(self, where: Expr | None, table: Table, order: tuple[OrderKey, ...]) -> BoundSql:
        compiler = Compiler(self.execute, self.analyzer)
        passing = BoundSql("true") if where is None else compiler.filter(where, table=table)
        source, columns, live = _SOURCES[table]
        ordering = compiler.order(order, table)
        sql = f"SELECT {columns} FROM {source} WHERE {live} AND {passing.sql} ORDER BY {ordering.sql}"
        return BoundSql(sql, passing.params + ordering.params)

    def _count(self, terms: Sequence[Expr], table: Table) -> int:
        passing = BoundSql("true")
        if terms:
            passing = Compiler(self.execute, self.analyzer).filter(
                terms[0] if len(terms) == 1 else And(tuple(terms)), table=table
            )
        source, _, live = _SOURCES[table]
        sql = f"SELECT count(*) FROM {source} WHERE {live} AND {passing.sql}"
        return int(self.execute(sql, passing.params)[0][0])

    def term_stats(self, query: LexicalQuery, *, is_searched: bool = True) -> tuple[TermStat, ...]:
        """Return one entry for each phrase, in query order."""
        literal = _literal(query)
        with self.reading():
            return self._find_words(literal).terms if is_searched else self._hold().weigh(self.execute, literal)

    def terms_beginning(
        self, letters: Sequence[str], shortest: int, longest: int, *, also: Sequence[str], most: int
    ) -> dict[str, int]:
        """Return terms that begin with these letters; see store.port.Search."""
        with self.reading():
            held = self._hold()
            found = held.frequencies(self.execute, also) | held.beginning(self.execute, letters, shortest, longest)
        if len(found) <= most:
            return found
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:most])

    def terms_ending(self, letters: str, *, most: int) -> list[str]:
        """Return terms that end with these letters; see store.port.Search."""
        sql = "SELECT term FROM term WHERE right(term, length(%s)) = %s ORDER BY df DESC, term LIMIT %s"
        found = [term for (term,) in self.execute(sql, (letters, letters, most))]
        return [term if len(term) < LONGEST_TERM else self._whole(term) for term in found]

    def _whole(self, entry: str) -> str:
        sql = f"SELECT title_words || body_words FROM chunk WHERE is_live AND number IN ({WITH_TERM}) LIMIT 1"
        words: list[str] = self.execute(sql, ([entry],))[0][0].split()
        return next(word for word in words if index_entry(word) == entry)

    def texts_with(self, term: str, *, most: int) -> list[str]:
        """Return titles with texts of chunks with this term; see store.port.Search."""
        sql = f"SELECT d.title || chr(10) || c.text FROM {CHUNKS} WHERE {LIVE} AND c.number IN ({WITH_TERM})"
        return [text for (text,) in self.execute(f"{sql} ORDER BY c.number LIMIT %s", ([index_entry(term)], most))]

    def occurrences(self, query: LiteralQuery, rowids: Sequence[int] | None) -> Occurrences:
        """Return how often each phrase of a literal query occurs in these rows, or for None in every row."""
        with self.reading():
            return self._find_words(query).occurrences(rowids)

    def phrases(self, query: LexicalQuery, terms: Sequence[TermStat], rowids: Sequence[int]) -> Occurrences:
        """Return the occurrences of each phrase in these rows. terms: `term_stats` of the same query."""
        literal = _literal(query)
        return of_matching(self.occurrences(literal, rowids), literal)._replace(phrases=tuple(terms))

    def instances(
        self, query: LexicalQuery, terms: Sequence[TermStat], rows: Sequence[Row]
    ) -> list[tuple[Instance, ...]]:
        """Return the places of each phrase in the texts and titles of these rows."""
        literal = _literal(query)
        if literal.is_empty or not rows:
            return [() for _ in rows]
        matching = {row.rowid for row in rows}
        if literal.match == "all":
            matching = set(of_matching(self.occurrences(literal, sorted(matching)), literal).lengths)
        return literal_instances(literal, rows, matching, self.analyzer)

    def chunk_counts(self, doc_rowids: Sequence[int]) -> dict[int, int]:
        """Return doc rowid to the number of its live chunks."""
        with self.reading():
            return self._hold().rows.chunk_counts(doc_rowids)

    def lexical(
        self, query: LexicalQuery, *, where: Expr | None, k: int | None, title_weight: float, also: Sequence[int] = ()
    ) -> Mapping[int, float]:
        """Return rowid to raw BM25 >= 0 of matching rows: the k best, ties in natural order, or all if k is None."""
        if query.is_empty:
            return {}
        with self.reading():
            among = self._passing(self._hold(), where)
            words = self._find_words(_literal(query))
            return words.scores(k=k, among=among, title_weight=title_weight, also=also)

    def lexical_scores(
        self, query: LexicalQuery, rowids: Sequence[int], *, title_weight: float
    ) -> Mapping[int, float]:
        """Return rowid to raw BM25 of the matching rows among these."""
        if query.is_empty:
            return {}
        with self.reading():
            return self._find_words(_literal(query)).scores_of(rowids, title_weight=title_weight)

    def text_ranks(self, query: LiteralQuery, *, where: Expr | None, title_weight: float) -> dict[int, float]:
        """Return rowid to ts_rank_cd of matching rows, in natural order; see store.port.TextRanking.

        Normalization 32 makes a rank r into r / (r + 1), which is within [0, 1) (PostgreSQL manual, 12.3.3 "Ranking
        Search Results"). A float4 below 1 is exact to 7 decimals; 6 are kept. The title has the label A and the text
        D; the larger weight is 1, because the function takes no larger one. A tsvector counts 256 places of a word,
        and places above 16383 as 16383.
        """
        if query.is_empty:
            return {}
        most = max(1.0, title_weight)
        weights = [1 / most] * 3 + [title_weight / most]
        terms, tsquery, proposed = text_query(query)
        condition, params = self._condition(where)
        sql = _TEXT_RANKS.format(condition=f"{condition} AND {proposed.sql}")
        rows = self.execute(sql, (weights, tsquery, terms, terms, *params, *proposed.params, tsquery))
        return {number: round(rank, _RANK_DECIMALS) for number, rank in rows}

    def cosines(
        self, vector: Vector, *, where: Expr | None, rowids: Sequence[int] | None = None
    ) -> Mapping[int, float]:
        """Return rowid to cosine, rounded half-even to 6 decimals, of every live vector that passes the filter."""
        with self.reading(), making_sense(self.path):
            held = self._hold_vectors(at_once=rowids is None)
            if held is not None:
                among = self._passing(held, where)
                if rowids is not None:
                    among = held.rows.natural(rowids, among=among)
                return held.cosines(vector, among)
            condition, params = self._condition(where)
            if rowids is not None:
                condition, params = f"{condition} AND c.number = ANY(%s::bigint[])", (*params, list(rowids))
            sql = (
                f"SELECT v.number, v.embedding FROM {CHUNKS} JOIN embedding v USING(doc_id, start) WHERE {condition}"
            )
            return vectors.cosines(vector, vectors.rows_of(self.execute(f"{sql} ORDER BY {NATURAL}", params)))

    def estimates(self, vector: Vector, *, where: Expr | None) -> Estimates | None:
        """Return every live chunk that passes the filter, in natural order, with its cosine within a proven bound.

        Return None if the vectors are in memory, or if Postgres cannot compare with this vector.
        """
        with self.reading():
            if self._hold_vectors(at_once=False) is not None or len(vector) != 4 * self.info().dimension:
                return None
            held = self._hold()
            places = self._passing(held, where)
            numbers = (held.rows.keys.rowids if places is None else held.rows.keys.rowids[places]).tolist()
            sql = _DISTANCES if where is None else f"{_DISTANCES} WHERE number = ANY(%s::bigint[])"
            params = (VectorBytes(vector),) if where is None else (VectorBytes(vector), numbers)
            found = dict(zip(*(column or () for column in self.execute(sql, params)[0]), strict=True))
            return vectors.estimates_of(vector, [(number, found.get(number)) for number in numbers])

    def nearest(self, vector: Vector, *, where: Expr | None, k: int) -> Nearest:
        """Return the k best of `cosines`, best first, ties in natural order. Always exact.

        Products in memory, or Postgres's distances, only propose rows; every row that could tie is computed exactly.
        """
        with self.reading():
            held = self._hold_vectors(at_once=False)
            if held is not None and held.matrix is not None:
                places = held.matrix.near(vector, k, self._passing(held, where))
                return Nearest(held.best(vector, k, places), is_exact=True)
            source, params = self._vectors_of(where)
            sql = _NEAR.format(source=source)
            doubt = vectors.doubt(len(vector) // 4)
            near = self.execute(sql, (VectorBytes(vector), *params, k - 1, doubt)) if k else []
            exact = self.cosines(vector, where=None, rowids=[number for (number,) in near])
            order = [key.rowid for key in self.candidates(None, rowids=list(exact))]
            best = sorted(order, key=lambda rowid: -exact[rowid])[:k]
            return Nearest({rowid: exact[rowid] for rowid in best}, is_exact=True)

    def shortlist(self, vector: Vector, index: VectorIndex, *, where: Expr | None, k: int) -> Sequence[int] | None:
        """Return k passing rows that the HNSW index proposes, nearest first, or None without the index.

        The scan continues until k rows pass the filter, or until `hnsw.max_scan_tuples` rows were looked at.
        """
        with self.reading():
            if not self.is_signed(index):
                return None
            self._asked = self.state(), self._blocks  # the index makes it needless to read every vector
            self.execute(_SCAN, (str(min(max(k, 1), _MOST_CANDIDATES)),))
            source, params = self._vectors_of(where)
            indexed = f"v.embedding::vector({len(vector) // 4})"
            sql = f"SELECT v.number FROM {source} ORDER BY {indexed} <=> %s LIMIT {k}"
            rows = self.execute(sql, (*params, VectorBytes(vector)))
            return [number for (number,) in rows]

    def ahead(self, vector: Vector, rowid: int, *, where: Expr | None) -> int | None:
        """Return how many rows of the filter come before this one by `cosines`, or None if the row does not pass."""
        with self.reading():
            exact = self.cosines(vector, where=where)
            if rowid not in exact:
                return None
            order = [key.rowid for key in self.candidates(where) if key.rowid in exact]
            return sorted(order, key=lambda each: -exact[each]).index(rowid)

    def _condition(self, where: Expr | None) -> tuple[str, tuple[Any, ...]]:
        passing = (
            BoundSql("true") if where is None else Compiler(self.execute, self.analyzer).filter(where, table="chunk")
        )
        return f"{LIVE} AND {passing.sql}", passing.params

    def _vectors_of(self, where: Expr | None) -> BoundSql:
        """Return `embedding v` with the joins that a filter needs. Only live chunks have a vector."""
        if where is None:
            return BoundSql("embedding v")
        condition, params = self._condition(where)
        return BoundSql(f"{CHUNKS} JOIN embedding v USING(doc_id, start) WHERE {condition}", params)

    def vectors(self, rowids: Sequence[int]) -> dict[int, Vector]:
        """Return chunk rowid to vector of these chunks, by rowid; chunks without a vector are left out."""
        sql = "SELECT number, embedding FROM embedding WHERE number = ANY(%s::bigint[]) ORDER BY number"
        return dict(self.execute(sql, (list(rowids),)))

    def reranked(self, maker: str, hashes: Sequence[bytes], *, is_query: bool) -> dict[bytes, Vector]:
        """Return nothing: vectors of rerankers are not kept here, so they are made again."""
        return {}

    def keep_reranked(self, maker: str, made: Sequence[object], *, most_bytes: int, may_wait: bool = False) -> bool:
        """Return False: vectors of rerankers are not kept here."""
        return False

    def has_words(self, text: str, chunk: Chunk) -> bool:
        """Return True if a live chunk has these words next to each other; see store.port.Search."""
        phrase = self.analyzer.phrase(text)
        if phrase is None:
            return False
        condition = holds(phrase)
        sql = f"SELECT 1 FROM chunk c WHERE c.id = %s AND c.is_live AND {condition.sql}"
        return bool(self.execute(sql, (chunk.id, *condition.params)))

    def is_indexed(self, rowid: int) -> bool:
        """Return True if the full-text index contains a chunk."""
        return bool(self.execute("SELECT 1 FROM chunk WHERE number = %s AND is_live", (rowid,)))

    def same_texts(self, rowids: Sequence[int]) -> Mapping[int, int]:
        """Return index in rowids to a number that chunks with the same text share; see `store.port`."""
        with self.reading():
            return self._hold().rows.same_texts(rowids)

    def twins(self, rowids: Sequence[int]) -> dict[int, list[int]]:
        """Return chunk rowid to all live chunks with the same text, by rowid; texts that appear once are left out."""
        found: dict[int, list[int]] = {}
        for own, twin in self.execute(_TWINS, (list(rowids),)):
            found.setdefault(own, []).append(twin)
        return {own: listed for own, listed in found.items() if len(listed) > 1}

    def fetch(self, rowids: Sequence[int]) -> list[Row]:
        """Return chunks with their documents, in the given order."""
        sql = f"SELECT c.number, {DOCUMENT}, {CHUNK} FROM {CHUNKS} WHERE c.number = ANY(%s::bigint[])"
        with making_sense(self.path):
            found = {row[0]: row_of(row) for row in self.execute(sql, (list(rowids),))}
        if len(found) <= _PAGE:
            self._read_marks([row.doc.id for row in found.values()])  # a page shows them
        return [found[rowid] for rowid in rowids if rowid in found]

    def distribute(self) -> None:
        """Distribute an empty collection over the nodes of Citus. Raises StoreError `citus_missing`."""
        with self.writing():
            postgres.schema.distribute(self.execute, self.path)

    # What the level `write` needs of maintenance, and the checks.

    def check(self, code: StoreCheck) -> Finding:
        """Run one check. Raises UsageError `not_offered` for those that a server makes itself."""
        with self.reading():
            return postgres.schema.check(self.execute, code, analyzer=self.analyzer, dimension=self.info().dimension)

    def catch_up(self, digest: str) -> None:
        """Wait until a replica has this digest, or one that begins like this; see store.port.Catalog."""
        until = monotonic() + BUSY_TIMEOUT_MS / 1000
        while not self.writable and not (own := self.info().digest).startswith(digest):
            if monotonic() > until:
                message = f"The replica of {self.path} has the digest {own[:12]}, and not yet {digest[:12]}."
                hint = "run it again, or add target_session_attrs=read-write to the URL"
                raise SnapshotMismatch("replica_behind", message, hint=hint, details={"digest": own})
            sleep(_LOOK_SECONDS)

    def in_order(self) -> Sequence[int]:
        """Return the rowids of all live chunks in natural order."""
        return [key.rowid for key in self.candidates(None)]

    def has_copies(self) -> bool:
        """Return True if any text appears in more than one live chunk."""
        sql = "SELECT 1 FROM chunk WHERE is_live GROUP BY hash HAVING count(*) > 1 LIMIT 1"
        return bool(self.execute(sql))

    def without_vector(self) -> Iterator[list[tuple[int, str]]]:
        """Yield (chunk rowid, embedded text) of every live chunk without a vector, in lists of bounded length."""
        last = 0
        while rows := self.execute(_WITHOUT_VECTOR, (last,)):
            last = rows[-1][0]
            yield [(number, embedded_text(*parts)) for number, *parts in rows]

    def told_skips(self) -> frozenset[str]:
        """Return what `Writer.keep_told` stored last."""
        return frozenset(self.execute("SELECT told_skips FROM store")[0][0].split())

    def pending_purge(self) -> tuple[str, ...] | None:
        """Return the paths of an unfinished purge, or None."""
        (paths,) = self.execute("SELECT purge FROM store")[0]
        return None if paths is None else tuple(paths)

    def last_purge(self) -> frozenset[str]:
        """Return hashes of the names given to the last purge."""
        return frozenset(self.execute("SELECT purged FROM store")[0][0].split())

    def retention_day(self) -> int:
        """Return the day of the last purge of old sessions; see `store.care.Maintenance`."""
        return int(self.execute("SELECT retention_day FROM store")[0][0])

    reindex_target = staticmethod(lambda: None)
    """None can have begun."""

    wrong_signatures = staticmethod(lambda: 0)
    """The server keeps the index."""

    def signing(self) -> VectorIndex | None:
        """Return "hnsw" if that index exists, or None."""
        return "hnsw" if self.execute(_IS_INDEXED, (_INDEX,)) else None

    def is_signed(self, index: VectorIndex) -> bool:
        """Return True if this index exists."""
        return self.signing() == index

    def sign(self, wanted: VectorIndex | None) -> bool:
        """Build the HNSW index, or drop it for None. Return False if nothing had to change."""
        if self.signing() == wanted:
            return False
        with self.writing():
            self.execute(f"DROP INDEX IF EXISTS {_INDEX}")
            if wanted is not None:
                indexed = f"(embedding::vector({self.info().dimension})) vector_cosine_ops"  # reembed frees the type
                self.execute(f"CREATE INDEX {_INDEX} ON embedding USING hnsw({indexed})")
        return True

    def compact(self) -> int:
        """Delete tombstones and vectors that no chunk has, and merge the postings of each term.

        Return the number of deleted documents.
        """
        with self.writing():
            gone = postgres.schema.forget(self.execute)
            self.execute(postgres.schema.MERGE)
            self.execute("DELETE FROM vector_cache")
            self.execute("DELETE FROM next_vector WHERE text_hash NOT IN (SELECT text_hash FROM chunk)")
            self.execute("UPDATE store SET tombstones = 0")
        self.execute("VACUUM posting")
        return gone

    def purge(self) -> bool:
        """Delete tombstones and their text from the tables.

        The server's log, its replicas and its backups keep the text as long as they are configured to.
        """
        self.compact()
        for table in ("document", "chunk", "embedding", "vector_cache", "next_vector", "posting", "term"):
            self.execute(f"VACUUM {table}")
        with self.writing():
            self.execute("UPDATE store SET purge = NULL")
        return True


def _literal(query: LexicalQuery) -> LiteralQuery:
    if isinstance(query, RawQuery):
        raise not_offered_error("lexical_fts(…)")
    return query


def open_store(where: str) -> PostgresStore:
    """Open an existing collection. Raises StoreError with a hint."""
    address = address_of(where)
    db = connect(address)
    try:
        return PostgresStore(db, address)
    except BaseException:
        db.close()
        raise


class PostgresKind:
    """Collections in Postgres; see store.port.StoreKind. WHERE is `//HOST/DATABASE?collection=NAME`."""

    name = "postgresql"
    levels: frozenset[Level] = frozenset({"search", "write"})

    open = staticmethod(open_store)

    def create(
        self, where: str, *, embedder: str, dimension: int, counter: str, chunker: str, mode: int = PRIVATE
    ) -> Store:
        """Create a new, empty collection. mode: ignored, because the server decides who may read."""
        recorded = {"embedder": embedder, "counter": counter, "chunker": chunker}
        make_collection(address_of(where), dimension=dimension, **recorded)
        return open_store(where)

    discard = staticmethod(drop_collection)
    unfinished = staticmethod(unfinished)
    publish = staticmethod(publish)

    def __getattr__(self, name: str) -> Any:
        if name in ("aside", "recover"):
            raise not_offered_error(repr(name))
        raise AttributeError(name)


POSTGRES = PostgresKind()
