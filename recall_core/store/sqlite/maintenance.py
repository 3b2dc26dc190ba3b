"""The care of a store, in SQL: what is computed again, what leaves no trace, and vectors of another embedder.

Those are kept beside the ones in use until all of them take over at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import recall_core
from recall_core import store
from recall_core.errors import StoreCorrupt, StoreError
from recall_core.store import sqlite
from recall_core.store.sqlite import blocks, census, copies
from recall_core.store.sqlite.catalog import SqliteCatalog
from recall_core.store.sqlite.connect import MEMORY, making_sense
from recall_core.store.sqlite.records import text_of
from recall_core.store.sqlite.schema import PURGED, TOLD_SKIPS, vector_checksum
from recall_core.text import embedded_text
from recall_core.types import Vector

if TYPE_CHECKING:
    from recall_core.store.values import Finding, NearPairs, ReembedTarget, RerankVector, Signing, StoreCheck

_EMBED_BATCH = 256

_COPIES = 2  # VACUUM writes the file once to a temporary file and once to the log

_WITHOUT_VECTOR = """
SELECT c.rowid, d.path, iif(c.title = '', '', d.title), c.text FROM chunk c JOIN doc d ON d.rowid = c.doc
WHERE c.deleted = 0 AND c.rowid > ? AND c.rowid NOT IN (SELECT chunk FROM vec) ORDER BY c.rowid LIMIT ?
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

_KEYS = ("next_embedder", "next_dimension", "next_command")


class SqliteMaintenance(SqliteCatalog):
    """See store.care.Maintenance."""

    _has_purged = False

    def check(self, code: StoreCheck) -> Finding:
        """One check."""
        return sqlite.check.CHECKS[code](self)

    def back_up(self) -> str | None:
        """A copy of the store's file beside it, byte for byte; its path, or None for a store in memory."""
        if self.path == MEMORY:
            return None
        if not self.writable:
            raise StoreError("read_only", f"{self.path} cannot be written.", hint=f"ls -l {self.path}")

        folder = Path(self.path).absolute().parent
        sqlite.copying.expect_room(self.path, folder, copies=sqlite.copying.MENDING_COPIES, doing="Mending")
        path = f"{self.path}.bak-{self._name_of_now()}"
        self.fold()
        with self.without_writers():
            sqlite.copying.copy_whole(self.path, path)
        return path

    def _name_of_now(self) -> str:
        try:
            return str(self.generation())
        except (StoreCorrupt, ValueError, IndexError):
            return "damaged"

    def copy(self, target: str) -> Iterator[tuple[int, int]]:
        """Copy the store of one moment into a new file, beside readers and writers; (pages done, of all)."""
        return sqlite.copying.copy_of_now(self, target)

    def without_vector(self) -> Iterator[list[tuple[int, str]]]:
        """(chunk rowid, embedded text) of every live chunk that has no vector, in lists of bounded length."""
        last = 0
        while rows := self.execute(_WITHOUT_VECTOR, (last, _EMBED_BATCH)):
            last = rows[-1][0]
            yield [(rowid, embedded_text(*parts)) for rowid, *parts in rows]

    def reindex(self) -> bool:
        """Rebuild every index, the full text and the counts in place. Return True if the store is whole then."""
        return sqlite.rebuild.reindex(self)

    def put_vectors(self, *, embedder: str, made: Mapping[int, tuple[Vector, int]]) -> None:
        """Put vectors of chunks that have none, in one transaction that is one step of the generation.

        made: chunk rowid to (vector, windows) by the embedder of that identity; left out where the store has another
        embedder now.
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
        """Drop tombstones and the vectors kept for them, refresh the planner's statistics, write the file anew."""
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
        """The skips that were told, each as `ingest.skips.key` has it."""
        found = self.execute("SELECT value FROM meta WHERE key = ?", (TOLD_SKIPS,))
        with making_sense(self.path):
            return frozenset(text_of(found[0][0]).split()) if found else frozenset()

    def signing(self) -> Signing | None:
        """What signatures of vectors are kept, or None."""
        return sqlite.lsh.made_with(self.execute)

    def is_signed(self, signing: Signing) -> bool:
        """Whether every vector has a signature that is made so."""
        return sqlite.lsh.is_whole(self.execute, signing)

    def sign(self, wanted: Signing | None) -> bool:
        """Make a signature of every vector, from now on of each that comes; or keep none. False where it is so."""
        if self.signing() is wanted is None:
            return False
        with self.transaction():
            return sqlite.lsh.switch(self.execute, wanted)

    def wrong_signatures(self) -> int:
        """How many signatures are missing, or not those of their vectors, of a store that keeps some."""
        return sqlite.lsh.wrong(self.execute)

    def pending_purge(self) -> tuple[str, ...] | None:
        """The paths of the documents whose purge has begun and not ended; None where there is none."""
        found = self.execute("SELECT value FROM meta WHERE key = 'purge'")
        with making_sense(self.path):
            return tuple(json.loads(text_of(found[0][0]))) if found else None

    def purge(self) -> bool:
        """Drop tombstones and leave no byte of their text in the file or its log; False if a reader prevents it.

        The mark of a purge goes last, once the log is known to be empty, and leaves no byte of the paths in it.
        """
        self._has_purged = True
        self._drop_tombstones()
        if not self._rewritten():
            return False
        self._remove_parts(is_thorough=True)
        if self.pending_purge() is not None:
            with self.transaction():
                self.execute("PRAGMA secure_delete = ON")
                self.execute("DELETE FROM meta WHERE key = 'purge'")
        return True

    def _rewritten(self) -> bool:
        with self.unlock():
            self.execute("VACUUM")
            busy, _, _ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)")[0]
        return bool(busy == 0)

    def end_unfinished(self) -> None:
        """Remove what killed processes left of copies, and go on with a purge that was begun.

        A purge is tried once, because a reader may hold it up, and no writer should wait twice.
        """
        if self.writable:
            self._remove_parts()
            if not self._has_purged and self.pending_purge() is not None:
                self.purge()

    def _remove_parts(self, *, is_thorough: bool = False) -> None:
        if (home := recall_core.files.home_of(self.path)) is not None:
            recall_core.files.remove(home, is_thorough=is_thorough)

    def last_purge(self) -> frozenset[str]:
        """Return hashes of the names that the last purge was asked for."""
        found = self.execute("SELECT value FROM meta WHERE key = ?", (PURGED,))
        with making_sense(self.path):
            return frozenset(text_of(found[0][0]).split()) if found else frozenset()

    def _drop_tombstones(self) -> int:
        """Delete what rm and edits left behind, and the vectors kept for their texts; returns how many documents."""
        with self.transaction():
            sqlite.write.keep_rowids(self.execute)
            gone = len(self.execute("DELETE FROM doc WHERE deleted = 1 RETURNING rowid"))
            self.execute("DELETE FROM vec_cache")
            self.execute(
                "DELETE FROM vec_next WHERE text_hash NOT IN (SELECT text_hash FROM chunk WHERE deleted = 0)"
            )
            sqlite.reranked.let_go(self.execute, of_questions=self.pending_purge() is not None)
            self.execute("INSERT INTO chunk_fts(chunk_fts) VALUES('optimize')")
            self.execute("UPDATE meta SET value = '0' WHERE key = 'tombstones'")
        return gone

    def in_order(self) -> Sequence[int]:
        """The rowids of all live chunks in natural order."""
        return sqlite.neighbours.in_order(self)

    def bests(self, asked: Mapping[int, Vector]) -> dict[int, tuple[float, float]]:
        """chunk rowid to the cosine of the vector asked with the chunk's own, and its highest with any live chunk."""
        return sqlite.neighbours.bests(self, asked)

    def near_pairs(self, *, least: float, shown: int) -> NearPairs:
        """The pairs of live chunks in documents of different content whose cosine is at least `least`."""
        return sqlite.neighbours.near_pairs(self, least=least, shown=shown)

    def keep_reranked(
        self, maker: str, made: Sequence[RerankVector], *, most_bytes: int, may_wait: bool = False
    ) -> bool:
        """Keep vectors that a reranker made; False where that would have to wait, or cannot be."""
        return sqlite.reranked.keep(self, maker, made, most_bytes=most_bytes, may_wait=may_wait)

    def reranked_bytes(self) -> int:
        """What those that are kept take."""
        return sqlite.reranked.total_bytes(self.execute)

    def texts_reranked(self, maker: str) -> int:
        """How many distinct texts of live chunks have one of this maker."""
        return sqlite.reranked.texts_made(self.execute, maker)

    def texts_to_rerank(self, maker: str, *, after: bytes, limit: int) -> dict[bytes, str]:
        """text_hash to text of live chunks that have none, by text_hash from behind `after`."""
        return sqlite.reranked.texts_left(self.execute, maker, after=after, limit=limit)

    def reembed_target(self) -> ReembedTarget | None:
        """The reembed that was begun and did not end, or None."""
        found = dict(self.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
        if len(found) < len(_KEYS):
            return None
        return store.values.ReembedTarget(found["next_embedder"], int(found["next_dimension"]), found["next_command"])

    def begin_reembed(self, target: ReembedTarget) -> None:
        """Make room for the target's vectors; those that an earlier run for it has made stay, any others go."""
        with self.writing():
            if not self._is_next(target):
                self.execute("DELETE FROM vec_next")
            for key, value in zip(_KEYS, target, strict=True):
                self.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, str(value)))

    def drop_reembed(self) -> None:
        """Drop what an unfinished reembed has made."""
        with self.transaction():
            self._clear()

    def has_copies(self) -> bool:
        """Whether any text stands in more than one live chunk."""
        return copies.are_any(self.execute)

    def texts(self) -> int:
        """How many distinct texts the live chunks have."""
        return int(self.execute("SELECT count(DISTINCT text_hash) FROM chunk WHERE deleted = 0")[0][0])

    def reembedded(self) -> int:
        """How many of them have a vector of the target, or are known to have none."""
        return int(self.execute(_DONE)[0][0])

    def texts_to_reembed(self, *, after: bytes, limit: int) -> dict[bytes, str]:
        """text_hash to text of live chunks that wait for a vector, by text_hash from behind `after`."""
        rows = self.execute(_LEFT, (after, limit))
        return {bytes(text_hash): embedded_text(*parts) for text_hash, *parts in rows}

    def save_reembedded(self, target: ReembedTarget, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
        """Keep vectors with their windows, by text_hash; False when the target is another by now."""
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

    def finish_reembed(self, target: ReembedTarget) -> bool:
        """Put the target's vectors in place of those in use, in one transaction that is one step of the generation.

        False, and nothing is changed, while a live chunk's text still waits, or when the target is another by now.
        """
        with self.transaction():
            if not self._is_next(target) or self.execute(_IS_LEFT):
                return False
            blocks.clear(self.execute)
            last = 0
            while rows := self.execute(_NEXT, (last,)):
                last = rows[-1][0]
                blocks.put(self.execute, self.execute_many, rows)
            self.execute("DELETE FROM vec_cache")
            self._clear()
            self.execute("UPDATE meta SET value = ? WHERE key = 'embedder'", (target.embedder,))
            self.execute("UPDATE meta SET value = ? WHERE key = 'dimension'", (str(target.dimension),))
            census.advance(self.execute)
        return True

    def _is_next(self, target: ReembedTarget) -> bool:
        """Whether the vectors that come in are the target's."""
        found = self.reembed_target()
        return found is not None and (found.embedder, found.dimension) == (target.embedder, target.dimension)

    def _clear(self) -> None:
        self.execute("DELETE FROM vec_next")
        self.execute("DELETE FROM meta WHERE key IN (?, ?, ?)", _KEYS)
