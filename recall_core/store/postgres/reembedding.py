"""Vectors of another embedder, kept next to the vectors in use until one transaction replaces them all.

A reader keeps its snapshot: rows are deleted and inserted, because a rewritten table looks empty to older snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall_core.store.postgres.catalog import PostgresCatalog
from recall_core.store.postgres.compile import CHUNKS, LIVE
from recall_core.store.postgres.opened import VectorBytes
from recall_core.store.postgres.schema import storage
from recall_core.store.values import ReembedTarget, not_offered_error
from recall_core.text import embedded_text
from recall_core.types import Vector

_IS_DONE = "EXISTS (SELECT 1 FROM next_vector n WHERE n.text_hash = c.text_hash)"
_DONE = f"SELECT count(DISTINCT text_hash) FROM chunk c WHERE is_live AND {_IS_DONE}"
_IS_LEFT = f"SELECT 1 FROM chunk c WHERE is_live AND NOT {_IS_DONE} LIMIT 1"
_LEFT = f"""
SELECT DISTINCT ON (c.text_hash) c.text_hash, d.path, CASE WHEN c.is_title THEN '' ELSE d.title END, c.text
FROM {CHUNKS} WHERE {LIVE} AND c.text_hash > %s AND NOT {_IS_DONE} ORDER BY c.text_hash LIMIT %s
"""
_PUT = """
INSERT INTO next_vector(text_hash, embedding, windows) VALUES(%s, %s, %s)
ON CONFLICT(text_hash) DO UPDATE SET embedding = excluded.embedding, windows = excluded.windows
"""
_FREE_DIMENSION = """
DROP INDEX IF EXISTS embedding_hnsw;
ALTER TABLE embedding ALTER embedding TYPE vector, ALTER embedding SET STORAGE {};
ALTER TABLE vector_cache ALTER embedding TYPE vector;
"""
"""Changes no row. An approximate index has one dimension."""
_SWITCH = """
INSERT INTO embedding(doc_id, start, number, embedding, windows)
SELECT c.doc_id, c.start, c.number, n.embedding, n.windows
FROM chunk c JOIN next_vector n USING(text_hash) WHERE c.is_live AND n.embedding IS NOT NULL
"""
_RECORD = """
UPDATE store SET generation = generation + 1, embedder = next_embedder, dimension = next_dimension,
  next_embedder = NULL, next_dimension = NULL, next_command = NULL,
  vectors = (SELECT count(*) FROM embedding), windowed = (SELECT count(*) FROM embedding WHERE windows > 1)
"""


class PostgresReembed(PostgresCatalog):
    """See the part of store.care.Maintenance about reembed."""

    def reembed_target(self) -> ReembedTarget | None:
        """Return the target of an unfinished reembed, or None."""
        (row,) = self.execute("SELECT next_embedder, next_dimension, next_command FROM store")
        return None if row[0] is None else ReembedTarget._make(row)

    def begin_reembed(self, target: ReembedTarget) -> None:
        """Start a reembed. Vectors that an earlier run made for this target stay; others are deleted."""
        if self.given_vectors():
            raise not_offered_error("replacing given vectors")
        with self.writing():
            if not self._is_next(target):
                self.execute("DELETE FROM next_vector")
            if target.dimension != self.info().dimension:
                for statement in _FREE_DIMENSION.format(storage(target.dimension)).split(";")[:-1]:
                    self.execute(statement)
            self.execute("UPDATE store SET next_embedder = %s, next_dimension = %s, next_command = %s", target)

    def drop_reembed(self) -> None:
        """Delete the vectors of an unfinished reembed."""
        with self.writing():
            self.execute("DELETE FROM next_vector")
            self.execute("UPDATE store SET next_embedder = NULL, next_dimension = NULL, next_command = NULL")

    def texts(self) -> int:
        """Return the number of distinct texts of live chunks."""
        return int(self.execute("SELECT count(DISTINCT text_hash) FROM chunk WHERE is_live")[0][0])

    def reembedded(self) -> int:
        """Return the number of distinct texts that have a target vector, or are known to have none."""
        return int(self.execute(_DONE)[0][0])

    def texts_to_reembed(self, *, after: bytes, limit: int) -> dict[bytes, str]:
        """Return text_hash to text of live chunks that need a target vector, in hash order after `after`."""
        return {text_hash: embedded_text(*parts) for text_hash, *parts in self.execute(_LEFT, (after, limit))}

    def save_reembedded(self, target: ReembedTarget, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
        """Store vectors with their windows, by text_hash. Return False if the target changed."""
        with self.writing():
            if not self._is_next(target):
                return False
            for text_hash, (vector, windows) in sorted(made.items()):
                self.execute(_PUT, (text_hash, VectorBytes(vector) if vector else None, windows))
        return True

    def finish_reembed(self, target: ReembedTarget, *, may_replace_given: bool = False) -> bool:
        """Replace the vectors in use with the target's, in one transaction.

        Return False and change nothing if a live chunk has no target vector yet, or if the target changed.

        may_replace_given: not offered; raises UsageError `not_offered` if there are given vectors.
        """
        with self.writing():
            if not self._is_next(target) or self.execute(_IS_LEFT):
                return False
            if self.given_vectors():
                raise not_offered_error("replacing given vectors")
            self.execute("DELETE FROM embedding")
            self.execute(_SWITCH)
            self.execute("DELETE FROM vector_cache")
            self.execute("DELETE FROM next_vector")
            self.execute(_RECORD)
        return True

    def _is_next(self, target: ReembedTarget) -> bool:
        """Return True if the unfinished reembed has this target."""
        found = self.reembed_target()
        return found is not None and found[:2] == target[:2]
