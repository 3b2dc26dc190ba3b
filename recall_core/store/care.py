"""Store interface, part two: judgements and maintenance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from recall_core.types import Vector

if TYPE_CHECKING:
    from recall_core.store.values import (
        Finding,
        JudgementRow,
        Lost,
        MadeWith,
        NearPairs,
        ReembedTarget,
        RerankVector,
        StoreCheck,
        VectorIndex,
    )


class JudgementWriter(Protocol):
    """One atomic batch of changes to judgements. Reads in the batch see its changes."""

    def put_query(self, query: str, text: str) -> None:
        """Store a query under its id. An existing query stays as it is."""

    def drop_query(self, query: str) -> None:
        """Delete a query unless it has a judgement."""

    def put(self, row: JudgementRow) -> None:
        """Store a judgement, or replace the grade of the same query, path and span."""

    def remove(self, query: str, path: str, offset: int, end: int) -> None:
        """Delete a judgement if it exists."""


class Judgements(Protocol):
    """Judged queries and their judgements, stored by path and span. They are not part of the digest."""

    def judged_queries(self) -> dict[str, str]:
        """Return query id to text, by id."""

    def judgements(self) -> list[JudgementRow]:
        """Return every judgement by query, path, offset and end."""

    def stray_judgements(self, queries: Collection[str] | None = None) -> list[JudgementRow]:
        """Return judgements whose path has no live document, for these queries or all, in the same order."""

    def judgement_count(self) -> int:
        """Return the number of judgements."""

    def judging(self) -> AbstractContextManager[JudgementWriter]:
        """Open a write transaction over judgements; StoreLocked as with `Store.writer`."""


class Maintenance(Protocol):
    """Maintenance of a store: checks, repairs, and deletion without a trace."""

    def check(self, code: StoreCheck) -> Finding:
        """Run one check. Raises StoreError if the store is too damaged for it, UsageError for a missing counter."""

    def back_up(self) -> str | None:
        """Copy the store next to itself as it is, damage included. Return the path, or None if there is nothing to
        copy.

        The name contains the generation. Raises StoreError `no_room` before writing if the disk has no room for the
        copy and a rebuilt store.
        """

    def copy(self, target: str) -> Iterator[tuple[int, int]]:
        """Copy the store at one point in time into a new file of this kind, while others read and write.

        Only the owner can access the file. Yields (done, total). Leaves no file when stopped or failing. Raises
        OSError if the file cannot be made, StoreError.
        """

    def without_vector(self) -> Iterator[list[tuple[int, str]]]:
        """Yield (chunk rowid, embedded text) of every live chunk without a vector, in lists of bounded length."""

    def rebuild_indexes(self) -> bool:
        """Rebuild every index, the full text and the counts in place. Return True if the store is sound afterwards.

        If it is not, or if a table has lost rows, nothing changes.
        """

    def rebuild(self, *, copy: str | None, made_with: Callable[[], MadeWith | None]) -> tuple[Lost, ...]:
        """Replace the store with a new one built from its readable data, in one step. Return the losses.

        The new store contains only texts and vectors that pass their checksums.

        copy: the copy that `back_up` just made, searched for rows that no table refers to.
        made_with: called if the store cannot say it.
        """

    def put_vectors(self, *, embedder: str, made: Mapping[int, tuple[Vector, int]]) -> None:
        """Store vectors for chunks that have none, in one transaction and one step of the generation.

        made: chunk rowid to (vector, windows) by this embedder. Does nothing if the store now has another embedder.
        """

    def compact(self) -> int:
        """Delete tombstones and their data, and free the space. Return the number of deleted documents.

        No answer changes. Raises StoreLocked, or StoreError `disk_full` before any change.
        """

    def told_skips(self) -> frozenset[str]:
        """Return what `Writer.keep_told` stored last."""

    def signing(self) -> VectorIndex | None:
        """Return the stored index of vectors, or None. Stores without the capability `signatures` or `hnsw` never get
        this or the next three calls.
        """

    def is_signed(self, index: VectorIndex) -> bool:
        """Return True if every vector is in this index, such as by a signature."""

    def sign(self, wanted: VectorIndex | None) -> bool:
        """Index every vector, and each later vector in its transaction; None deletes the index.

        Return False if nothing had to change. Neither digest nor generation changes.
        """

    def wrong_signatures(self) -> int:
        """Return the number of missing or wrong signatures in a store that has an index."""

    def pending_purge(self) -> tuple[str, ...] | None:
        """Return the paths of an unfinished purge, or None."""

    def last_purge(self) -> frozenset[str]:
        """Return the `asked` of the last `Writer.begin_purge`."""

    def retention_day(self) -> int:
        """Return the day on which the text of old sessions was last purged, in days since 1970; 0 for never."""

    def purge(self) -> bool:
        """Delete tombstones and every byte of their text. Return False if a reader prevents that.

        Finishes the work of `Writer.begin_purge`. Until it succeeds, each next writer tries it too.
        """

    def in_order(self) -> Sequence[int]:
        """Return the rowids of all live chunks in natural order."""

    def bests(self, asked: Mapping[int, Vector]) -> dict[int, tuple[float, float]]:
        """Return chunk rowid to two cosines of the given vector: with the chunk's own, and the highest with any live
        chunk.

        asked: chunk rowid to a vector of the store's dimension. Invalid stored vectors are skipped; chunks without a
        vector are left out.
        """

    def near_pairs(self, *, least: float, shown: int) -> NearPairs:
        """Return the pairs of live chunks, from documents of different content, with a cosine of at least `least`.
        Exact.

        least: compared after rounding to six decimals.
        shown: maximum number of pairs to return by rowid.
        """

    def keep_reranked(
        self, maker: str, made: Sequence[RerankVector], *, most_bytes: int, may_wait: bool = False
    ) -> bool:
        """Store vectors that a reranker made, as a cache; no answer depends on them.

        Skips texts that no live chunk has, and queries older than the last change of the store. Deletes the oldest
        vectors above the size limit.

        most_bytes: size limit of all stored vectors.
        may_wait: if False, return False at once when another process writes or the store is read-only.
        """

    def reranked_bytes(self) -> int:
        """Return the size of the stored reranker vectors in bytes."""

    def texts_reranked(self, maker: str) -> int:
        """Return the number of distinct texts of live chunks that have a vector of this maker."""

    def texts_to_rerank(self, maker: str, *, after: bytes, limit: int) -> dict[bytes, str]:
        """Return text_hash to text of live chunks without such a vector, in hash order after `after`."""

    def reembed_target(self) -> ReembedTarget | None:
        """Return the target of an unfinished reembed, or None."""

    def begin_reembed(self, target: ReembedTarget) -> None:
        """Start a reembed. Vectors that an earlier run made for this target stay; others are deleted."""

    def drop_reembed(self) -> None:
        """Delete the vectors of an unfinished reembed."""

    def has_copies(self) -> bool:
        """Return True if any text appears in more than one live chunk."""

    def texts(self) -> int:
        """Return the number of distinct texts of live chunks."""

    def reembedded(self) -> int:
        """Return the number of distinct texts that have a target vector, or are known to have none."""

    def texts_to_reembed(self, *, after: bytes, limit: int) -> dict[bytes, str]:
        """Return text_hash to text of live chunks that need a target vector, in hash order after `after`."""

    def save_reembedded(self, target: ReembedTarget, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
        """Store vectors with their windows, by text_hash. Return False if the target changed."""

    def finish_reembed(self, target: ReembedTarget, *, may_replace_given: bool = False) -> bool:
        """Replace the vectors in use with the target's, in one transaction.

        Return False and change nothing if a live chunk has no target vector yet, or if the target changed.

        may_replace_given: documents with given vectors become ordinary ones. Otherwise such a document raises
        StoreError `vectors_given`.
        """

    def reindex_target(self) -> str | None:
        """Return the name of the words of an unfinished reindex, or None."""

    def begin_reindex(self, name: str) -> int:
        """Start a reindex to these words, or continue the unfinished one. Return the number of chunks it has
        indexed.

        An unfinished reindex to other words is deleted.
        """

    def reindex_some(self, name: str, *, after: int) -> tuple[int, int] | None:
        """Index the next chunks by rowid after `after`. Return the last rowid and the number of indexed chunks.

        Return None if no chunk is left there, or if the target changed. Chunks that leave the store later are
        followed.
        """

    def finish_reindex(self, name: str) -> bool:
        """Replace the full-text index and the words of the store, in one transaction and one step of the generation.

        Return False and change nothing if a live chunk is not indexed yet, or if the target changed.
        """

    def drop_reindex(self) -> None:
        """Delete what an unfinished reindex has indexed."""
