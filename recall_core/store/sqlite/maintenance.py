"""Maintenance of a store, in SQL: repair, compaction, purge, signatures, near duplicates, reembed and reranker
vectors.

Vectors of another embedder are kept next to the vectors in use until all of them are switched at once. Reranker
vectors are a cache, see `reranked`.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import recall_core
from recall_core import store
from recall_core._lazy import np
from recall_core.errors import StoreCorrupt, StoreError
from recall_core.store import sqlite
from recall_core.store.sqlite import blocks, census, copies
from recall_core.store.sqlite.catalog import SqliteCatalog
from recall_core.store.sqlite.connect import MEMORY, making_sense
from recall_core.store.sqlite.records import IS_GIVEN, text_of
from recall_core.store.sqlite.schema import PURGED, RETENTION_DAY, TOLD_SKIPS, vector_checksum
from recall_core.store.sqlite.vectors import cosines, rows_of
from recall_core.text import embedded_text
from recall_core.types import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.values import (
        Finding,
        NearPairs,
        ReembedTarget,
        RerankVector,
        Signing,
        StoreCheck,
        VectorIndex,
    )

    Matrix = NDArray[np.float32]

_EMBED_BATCH = 256

_COPIES = 2  # VACUUM writes the file once to a temporary file and once to the log

_WITHOUT_VECTOR = f"""
SELECT c.rowid, d.path, iif(c.title = '', '', d.title), c.text FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.rowid > ? AND NOT c.{IS_GIVEN} AND c.rowid NOT IN (SELECT chunk FROM vec)
ORDER BY c.rowid LIMIT ?
"""

_MISSING = """
SELECT rowid FROM chunk
WHERE deleted = 0 AND rowid IN (SELECT value FROM json_each(?)) AND rowid NOT IN (SELECT chunk FROM vec)
ORDER BY rowid
"""

_LEFT = """
SELECT c.text_hash, d.path, iif(c.title = '', '', d.title), c.text FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.text_hash > ? AND c.text_hash NOT IN (SELECT text_hash FROM vec_next)
GROUP BY c.text_hash ORDER BY c.text_hash LIMIT ?
"""

_DONE = (
    "SELECT count(DISTINCT text_hash) FROM chunk WHERE deleted = 0 AND text_hash IN (SELECT text_hash FROM vec_next)"
)

_IS_LEFT = "SELECT 1 FROM chunk WHERE deleted = 0 AND text_hash NOT IN (SELECT text_hash FROM vec_next) LIMIT 1"

_NEXT = """
SELECT c.rowid, n.embedding, n.windows, n.checksum FROM chunk c JOIN vec_next n ON n.text_hash = c.text_hash
WHERE c.deleted = 0 AND c.rowid > ? AND length(n.embedding) > 0 ORDER BY c.rowid LIMIT 1024
"""

_PUT_NEXT = "INSERT OR REPLACE INTO vec_next(text_hash, embedding, windows, checksum) VALUES(?, ?, ?, ?)"

_IS_LIVE = "SELECT 1 FROM chunk WHERE text_hash = ? AND deleted = 0 LIMIT 1"

_RERANKED = """
SELECT count(DISTINCT c.text_hash) FROM chunk c JOIN vec_rerank r ON r.text_hash = c.text_hash
WHERE c.deleted = 0 AND r.maker = ? AND r.is_query = 0
"""

_TO_RERANK = f"""
SELECT c.text_hash, d.path, d.title, c.text FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.text_hash > ?1 AND NOT c.{IS_GIVEN}
  AND NOT EXISTS (SELECT 1 FROM vec_rerank WHERE maker = ?2 AND is_query = 0 AND text_hash = c.text_hash)
GROUP BY c.text_hash ORDER BY c.text_hash LIMIT ?3
"""

_PAIR_ROWS = 4_096  # 4,096 rows by one block of columns: 16 MiB of products at any store size
_PAIR_COLUMNS = 1_024
_HALF_UNIT = 1e-6  # more than rounding to six decimals changes a cosine
_LIVE = "FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE d.deleted = 0 AND c.deleted = 0"
_VECTORS = "SELECT v.chunk, v.embedding FROM vec v JOIN chunk c ON c.rowid = v.chunk WHERE c.deleted = 0"
_IN_ORDER = f"""
SELECT c.rowid, dense_rank() OVER (ORDER BY d.hash) {_LIVE} AND c.rowid IN (SELECT chunk FROM vec)
ORDER BY d.path, c.offset
"""
_NAMED = "SELECT v.embedding FROM json_each(?) j JOIN vec v ON v.chunk = j.value ORDER BY j.key"

_UNPAIRED = """
SELECT (SELECT count(*) FROM vec_place WHERE chunk NOT IN (SELECT chunk FROM ann_lsh WHERE signature IS NOT NULL))
  + (SELECT count(*) FROM ann_lsh WHERE chunk NOT IN (SELECT chunk FROM vec_place))
"""
_SIGNED = """
SELECT a.chunk, v.embedding, a.signature FROM ann_lsh a JOIN vec v ON v.chunk = a.chunk
WHERE a.chunk > ? AND a.signature IS NOT NULL AND v.embedding IS NOT NULL ORDER BY a.chunk LIMIT 1024
"""

_FULL_TEXTS = "SELECT name FROM sqlite_schema WHERE name IN ('chunk_fts', 'chunk_fts_next')"

_KEYS = ("next_embedder", "next_dimension", "next_command")


class SqliteMaintenance(SqliteCatalog):
    """See store.care.Maintenance."""

    _has_purged = False

    def check(self, code: StoreCheck) -> Finding:
        """Run one check."""
        return sqlite.check.CHECKS[code](self)

    def back_up(self) -> str | None:
        """Copy the store's file next to itself, byte for byte. Return the path, or None for a store in memory."""
        if self.path == MEMORY:
            return None
        if not self.writable:
            raise StoreError("read_only", f"{self.path} cannot be written.", hint=f"ls -l {self.path}")

        folder = Path(self.path).absolute().parent
        sqlite.copying.expect_room(self.path, folder, copies=sqlite.copying.MENDING_COPIES, doing="Repairing")
        try:
            name = str(self.generation())
        except (StoreCorrupt, ValueError, IndexError):
            name = "damaged"
        path = f"{self.path}.bak-{name}"
        self.fold()
        with self.without_writers():
            sqlite.copying.copy_whole(self.path, path)
        return path

    def copy(self, target: str) -> Iterator[tuple[int, int]]:
        """Copy the store at one point in time into a new file, while others read and write. Yield (pages done, all
        pages)."""
        return sqlite.copying.copy_of_now(self, target)

    def without_vector(self) -> Iterator[list[tuple[int, str]]]:
        """Yield (chunk rowid, embedded text) of every live chunk without a vector, in lists of bounded length.

        Chunks whose given vector is lost are left out.
        """
        last = 0
        while rows := self.execute(_WITHOUT_VECTOR, (last, _EMBED_BATCH)):
            last = rows[-1][0]
            yield [(rowid, embedded_text(*parts)) for rowid, *parts in rows]

    def rebuild_indexes(self) -> bool:
        """Rebuild every index, the full text and the counts in place. Return True if the store is then sound."""
        return sqlite.rebuild.rebuild_indexes(self)

    def put_vectors(self, *, embedder: str, made: Mapping[int, tuple[Vector, int]]) -> None:
        """Store vectors for chunks that have none, in one transaction and one step of the generation.

        made: chunk rowid to (vector, windows) by this embedder. Does nothing if the store now has another embedder.
        """
        with self.transaction():
            if self.embedder() != embedder:
                return
            wanted = self.execute(_MISSING, (json.dumps(list(made)),))
            rows = [(rowid, *made[rowid]) for (rowid,) in wanted if made[rowid][0]]
            checked = [(rowid, vector, windows, vector_checksum(vector, windows)) for rowid, vector, windows in rows]
            blocks.put(self.execute, self.execute_many, checked)
            census.advance(self.execute)

    def compact(self) -> int:
        """Delete tombstones and their vectors, refresh the planner's statistics, and rewrite the file."""
        if self.path != MEMORY:
            folder = Path(self.path).absolute().parent
            sqlite.copying.expect_room(self.path, folder, copies=_COPIES, doing="Compacting", code="disk_full")
        gone = self._drop_tombstones()
        with self.transaction():
            with making_sense(self.path):
                blocks.pack(self.execute, self.execute_many)
            self.execute("ANALYZE")
        self.purge()
        return gone

    def told_skips(self) -> frozenset[str]:
        """Return the reported skips, each as `ingest.skips.key` spells it."""
        found = self.execute("SELECT value FROM meta WHERE key = ?", (TOLD_SKIPS,))
        with making_sense(self.path):
            return frozenset(text_of(found[0][0]).split()) if found else frozenset()

    def signing(self) -> Signing | None:
        """Return the signing of the stored signatures, or None."""
        return sqlite.lsh.made_with(self.execute)

    def is_signed(self, index: VectorIndex) -> bool:
        """Return True if every vector has a signature of this signing."""
        return self.signing() == index and not self.execute(sqlite.lsh.IS_UNSIGNED)[0][0]

    def sign(self, wanted: VectorIndex | None) -> bool:
        """Sign every vector and each later one; None deletes signatures. Return False if nothing had to change."""
        if wanted == "hnsw":
            raise store.values.not_offered_error("'hnsw'")
        if self.signing() is wanted is None:
            return False
        with self.transaction():
            if wanted is not None and self.is_signed(wanted):
                return False
            sqlite.lsh.remake_table(self.execute, wanted)
        return True

    def wrong_signatures(self) -> int:
        """Return the number of missing or wrong signatures in a store that has signatures."""
        signing = self.signing()
        assert signing is not None  # noqa: S101 - the caller knows that the store has some
        count, last = int(self.execute(_UNPAIRED)[0][0]), -1
        while rows := self.execute(_SIGNED, (last,)):
            last = rows[-1][0]
            made = dict(sqlite.lsh.make_signatures(rows, signing))
            count += sum(made.get(chunk) != signature for chunk, _, signature in rows)
        return count

    def pending_purge(self) -> tuple[str, ...] | None:
        """Return the paths of an unfinished purge, or None."""
        found = self.execute("SELECT value FROM meta WHERE key = 'purge'")
        with making_sense(self.path):
            return tuple(json.loads(text_of(found[0][0]))) if found else None

    def purge(self) -> bool:
        """Delete tombstones and every byte of their text in file and log. Return False if a reader prevents that.

        The record of the purge is deleted last, once the log is empty. No byte of the paths stays in it.
        """
        self._has_purged = True
        self._drop_tombstones()
        with self.unlock():
            self.execute("VACUUM")
            busy, _, _ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)")[0]
        if busy:
            return False
        self._remove_parts(is_thorough=True)
        if self.pending_purge() is not None:
            with self.transaction():
                self.execute("PRAGMA secure_delete = ON")
                self.execute("DELETE FROM meta WHERE key = 'purge'")
        return True

    def end_unfinished(self) -> None:
        """Delete copies that killed processes left, and finish an interrupted purge.

        A purge is tried once per connection, because a reader may block it and no writer should wait twice.
        """
        if self.writable:
            self._remove_parts()
            if not self._has_purged and self.pending_purge() is not None:
                self.purge()

    def _remove_parts(self, *, is_thorough: bool = False) -> None:
        if (home := recall_core.files.home_of(self.path)) is not None:
            recall_core.files.remove(home, is_thorough=is_thorough)

    def last_purge(self) -> frozenset[str]:
        """Return hashes of the names given to the last purge."""
        found = self.execute("SELECT value FROM meta WHERE key = ?", (PURGED,))
        with making_sense(self.path):
            return frozenset(text_of(found[0][0]).split()) if found else frozenset()

    def retention_day(self) -> int:
        """Return the day of the last purge of old sessions; see `store.care.Maintenance`."""
        found = self.execute("SELECT value FROM meta WHERE key = ?", (RETENTION_DAY,))
        with making_sense(self.path):
            return int(text_of(found[0][0])) if found else 0

    def _drop_tombstones(self) -> int:
        """Delete removed documents and the vectors kept for their texts. Return the number of documents."""
        with self.transaction():
            sqlite.write.keep_rowids(self.execute)
            gone = len(self.execute("DELETE FROM doc WHERE deleted = 1 RETURNING rowid"))
            self.execute("DELETE FROM vec_cache")
            self.execute(
                "DELETE FROM vec_next WHERE text_hash NOT IN (SELECT text_hash FROM chunk WHERE deleted = 0)"
            )
            sqlite.reranked.drop_unused(self.execute, of_questions=self.pending_purge() is not None)
            for (table,) in self.execute(_FULL_TEXTS):
                self.execute(f"INSERT INTO {table}({table}) VALUES('optimize')")
            self.execute("UPDATE meta SET value = '0' WHERE key = 'tombstones'")
        return gone

    def in_order(self) -> array[int]:
        """Return the rowids of all live chunks in natural order."""
        found = sqlite.check.blocks(self, f"SELECT c.rowid {_LIVE} ORDER BY d.path, c.offset")
        return array("q", [rowid for rows in found for (rowid,) in rows])

    def bests(self, asked: Mapping[int, Vector]) -> dict[int, tuple[float, float]]:
        """Return chunk rowid to two cosines of the given vector: with the chunk's own, and the highest with any live
        chunk.

        Reads the stored vectors once.
        """
        dimension = self.info().dimension
        own: dict[int, float] = {}
        best = dict.fromkeys(asked, -1.0)
        for found in sqlite.check.blocks(self, _VECTORS):
            wrong = store.values.find_flaws([vector for _, vector in found], dimension=dimension)
            rows = rows_of([row for place, row in enumerate(found) if row[1] and place not in wrong])
            for rowid, vector in asked.items() if rows.rowids else ():
                near = cosines(vector, rows)
                best[rowid] = max(best[rowid], *near.values())
                if rowid in near:
                    own[rowid] = near[rowid]
        return {rowid: (cosine, best[rowid]) for rowid, cosine in own.items()}

    def near_pairs(self, *, least: float, shown: int) -> NearPairs:
        """Return the pairs of live chunks, from documents of different content, with a cosine of at least `least`.

        Float32 products decide only where rounding cannot change the result. Invalid vectors are skipped. Time grows
        with the square of the chunks, memory only with their rowids.
        """
        with self.reading():
            search = _PairSearch(self, least, shown)
            for top in range(0, len(search.rowids), _PAIR_ROWS):
                search.take(top)
        first = ((search.rowids[one], search.rowids[other], cosine) for one, other, cosine in search.first)
        return store.values.NearPairs(search.count, tuple(first))

    def keep_reranked(
        self, maker: str, made: Sequence[RerankVector], *, most_bytes: int, may_wait: bool = False
    ) -> bool:
        """Store vectors that a reranker made. Return False if that would wait or is impossible.

        Only vectors of existing texts are stored, and of queries since which nothing was written. So purged text
        never comes back, neither itself nor quoted in a query.
        """
        with self.writing_now(may_wait=may_wait) as is_begun:
            if not is_begun:
                return False
            generation, total = self.generation(), self.reranked_bytes()
            for text_hash, is_query, vector, asked_at in made:
                if asked_at == generation if is_query else self.execute(_IS_LIVE, (text_hash,)):
                    last = self.execute("SELECT max(rowid) FROM vec_rerank")[0][0] or 0
                    row = maker, is_query, text_hash, vector, vector_checksum(vector, 1)
                    put = self.execute(sqlite.reranked.PUT, row)
                    if put and put[0][0] > last:
                        total += len(vector) + sqlite.reranked.ROW_BYTES
            while total > most_bytes and (oldest := self.execute(sqlite.reranked.OLDEST)):
                for rowid, size in oldest:
                    self.execute("DELETE FROM vec_rerank WHERE rowid = ?", (rowid,))
                    total -= size
                    if total <= most_bytes:
                        break
            sqlite.reranked.note(self.execute, total)
        return True

    def reranked_bytes(self) -> int:
        """Return the bytes of the stored reranker vectors, as counted here."""
        rows = self.execute("SELECT value FROM meta WHERE key = ?", (sqlite.reranked.TOTAL,))
        return int(rows[0][0]) if rows else 0

    def texts_reranked(self, maker: str) -> int:
        """Return the number of distinct texts of live chunks that have a vector of this maker."""
        return int(self.execute(_RERANKED, (maker,))[0][0])

    def texts_to_rerank(self, maker: str, *, after: bytes, limit: int) -> dict[bytes, str]:
        """Return text_hash to text of live chunks without such a vector, in hash order after `after`."""
        rows = self.execute(_TO_RERANK, (after, maker, limit))
        return {bytes(text_hash): embedded_text(*parts) for text_hash, *parts in rows}

    def reembed_target(self) -> ReembedTarget | None:
        """Return the target of an unfinished reembed, or None."""
        found = dict(self.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
        if len(found) < len(_KEYS):
            return None
        return store.values.ReembedTarget(found["next_embedder"], int(found["next_dimension"]), found["next_command"])

    def begin_reembed(self, target: ReembedTarget) -> None:
        """Start a reembed. Vectors that an earlier run made for this target stay; others are deleted."""
        with self.writing():
            if not self._is_next(target):
                self.execute("DELETE FROM vec_next")
            for key, value in zip(_KEYS, target, strict=True):
                self.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, str(value)))

    def drop_reembed(self) -> None:
        """Delete the vectors of an unfinished reembed."""
        with self.transaction():
            self._clear()

    def has_copies(self) -> bool:
        """Return True if any text appears in more than one live chunk."""
        repeated = copies.ALL if copies.are_kept(self.execute) else copies.REPEATED
        return bool(self.execute(f"{repeated} LIMIT 1"))

    def texts(self) -> int:
        """Return the number of distinct texts of live chunks."""
        return int(self.execute("SELECT count(DISTINCT text_hash) FROM chunk WHERE deleted = 0")[0][0])

    def reembedded(self) -> int:
        """Return the number of distinct texts that have a target vector, or are known to have none."""
        return int(self.execute(_DONE)[0][0])

    def texts_to_reembed(self, *, after: bytes, limit: int) -> dict[bytes, str]:
        """Return text_hash to text of live chunks that need a target vector, in hash order after `after`."""
        rows = self.execute(_LEFT, (after, limit))
        return {bytes(text_hash): embedded_text(*parts) for text_hash, *parts in rows}

    def save_reembedded(self, target: ReembedTarget, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
        """Store vectors with their windows, by text_hash. Return False if the target changed."""
        rows = [
            (text_hash, vector, windows, vector_checksum(vector, windows))
            for text_hash, (vector, windows) in made.items()
        ]
        with self.transaction():
            if not self._is_next(target):
                return False
            for row in rows:
                self.execute(_PUT_NEXT, row)
        return True

    def finish_reembed(self, target: ReembedTarget, *, may_replace_given: bool = False) -> bool:
        """Replace the vectors in use with the target's, in one transaction.

        Return False and change nothing if a live chunk has no target vector yet, or if the target changed.
        """
        with self.transaction():
            if not self._is_next(target) or self.execute(_IS_LEFT):
                return False
            given = self.given_vectors()
            if given and not may_replace_given:
                raise store.values.given_error(len(given))
            blocks.clear(self.execute)
            last = 0
            while rows := self.execute(_NEXT, (last,)):
                last = rows[-1][0]
                blocks.put(self.execute, self.execute_many, rows)
            if given:
                writer = sqlite.write.SqliteWriter(self.execute, self.execute_many, self.path)
                writer.disown_vectors()
                writer.finish()
            self.execute("DELETE FROM vec_cache")
            self._clear()
            self.execute("UPDATE meta SET value = ? WHERE key = 'embedder'", (target.embedder,))
            self.execute("UPDATE meta SET value = ? WHERE key = 'dimension'", (str(target.dimension),))
            census.advance(self.execute)
        return True

    def _is_next(self, target: ReembedTarget) -> bool:
        """Return True if the unfinished reembed has this target."""
        found = self.reembed_target()
        return found is not None and (found.embedder, found.dimension) == (target.embedder, target.dimension)

    def _clear(self) -> None:
        self.execute("DELETE FROM vec_next")
        self.execute("DELETE FROM meta WHERE key IN (?, ?, ?)", _KEYS)


class _PairSearch:
    """One search for near pairs: the chunks in natural order, and the pairs found so far."""

    def __init__(self, store: SqliteCatalog, least: float, shown: int) -> None:
        self.store, self.least, self.shown = store, least, shown
        self.rowids, contents = _sound_chunks(store)
        self.contents = np.array(contents, dtype=np.int64)
        # Twice the rounding error of a sum of `dimension` products of unit vectors.
        self.margin = store.info().dimension * float(np.finfo(np.float32).eps) + _HALF_UNIT
        self.count = 0
        self.first: list[tuple[int, int, float]] = []
        """Like `Pair`, but with positions in natural order instead of rowids."""

    def take(self, top: int) -> None:
        """Compare the block of rows that starts at `top` with itself and all later rows."""
        rows = self._matrix(top, _PAIR_ROWS)
        for left in range(top, len(self.rowids), _PAIR_COLUMNS):
            self._compare(rows, self._matrix(left, _PAIR_COLUMNS), top, left)

    def _matrix(self, start: int, count: int) -> Matrix:
        named = json.dumps(self.rowids[start : start + count].tolist())
        found = self.store.execute(_NAMED, (named,))
        return np.frombuffer(b"".join([vector for (vector,) in found]), dtype="<f4").reshape(len(found), -1)

    def _compare(self, rows: Matrix, columns: Matrix, top: int, left: int) -> None:
        products = rows @ columns.T
        near = products >= self.least - self.margin
        near &= self.contents[top : top + len(rows), None] != self.contents[left : left + len(columns)]
        if left < top + len(rows):  # count each pair once: the row comes first
            near &= np.arange(top, top + len(rows))[:, None] < np.arange(left, left + len(columns))
        if not near.any():
            return
        sure = near & (products >= self.least + self.margin)
        settled = [
            (row, column)
            for row, column in np.argwhere(near & ~sure).tolist()
            if _cosine(rows[row], columns[column]) >= self.least
        ]
        self.count += int(np.count_nonzero(sure)) + len(settled)
        if len(self.first) < self.shown or self.first[-1][0] >= top:
            firsts = [divmod(place, len(columns)) for place in np.flatnonzero(sure)[: self.shown].tolist()]
            found = sorted([*firsts, *settled])[: self.shown]
            self.first += [(top + row, left + column, _cosine(rows[row], columns[column])) for row, column in found]
            self.first = sorted(self.first)[: self.shown]


def _sound_chunks(store: SqliteCatalog) -> tuple[array[int], array[int]]:
    """Return rowid and content number of the live chunks with a valid vector, in natural order."""
    bad = frozenset(sqlite.check.bad_vectors(store))
    rowids, contents = array("q"), array("q")
    for rows in sqlite.check.blocks(store, _IN_ORDER):
        for rowid, content in rows:
            if rowid not in bad:
                rowids.append(rowid)
                contents.append(content)
    return rowids, contents


def _cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return cosines(one.tobytes(), rows_of([(0, other.tobytes())]))[0]
