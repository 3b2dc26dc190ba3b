"""The seam to a store beside its questions: the judgements that it keeps, and what it is cared for with."""

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
        Signing,
        StoreCheck,
    )


class JudgementWriter(Protocol):
    """One atomic batch of changes to judgements; what has been put is read back at once."""

    def put_query(self, query: str, text: str) -> None:
        """Keep a query by its id; one that is there stays as it is."""

    def drop_query(self, query: str) -> None:
        """Forget a query, unless it has a judgement."""

    def put(self, row: JudgementRow) -> None:
        """Keep a judgement; a span of a path that was judged for this query takes the new grade."""

    def remove(self, query: str, path: str, offset: int, end: int) -> None:
        """Forget a judgement, if it is there."""


class Judgements(Protocol):
    """Queries that were judged, and what was judged for them: kept by path and span, outside the digest."""

    def judged_queries(self) -> dict[str, str]:
        """Query id to text, by id."""

    def judgements(self) -> list[JudgementRow]:
        """Every judgement by query, path, offset and end."""

    def stray_judgements(self, queries: Collection[str] | None = None) -> list[JudgementRow]:
        """Those kept under a path that no live document has, of these queries or of all, in the same order."""

    def judgement_count(self) -> int:
        """Return how many judgements are kept."""

    def judging(self) -> AbstractContextManager[JudgementWriter]:
        """A write transaction over judgements; StoreLocked as with `Store.writer`."""


class Maintenance(Protocol):
    """The care of a store: whether it is sound, what is made anew, and what leaves no trace."""

    def check(self, code: StoreCheck) -> Finding:
        """One check. Raises StoreError where the store is too damaged to tell; UsageError for a counter that is
        missing here."""

    def back_up(self) -> str | None:
        """A copy of the store beside it as it lies there, damage and all, named by its generation; its path, or None
        where there is none to make.

        Raises StoreError `no_room` before anything is written where the disk has no room for it and a rebuilt store.
        """

    def copy(self, target: str) -> Iterator[tuple[int, int]]:
        """Copy the store of one moment into a new file of this kind, for its owner alone, beside readers and writers.

        Steps: how much is done, of how much. Stopped, or failed, it leaves no file.  Raises OSError where the file
        cannot be made, StoreError.
        """

    def without_vector(self) -> Iterator[list[tuple[int, str]]]:
        """(chunk rowid, embedded text) of every live chunk that has no vector, in lists of bounded length."""

    def reindex(self) -> bool:
        """Rebuild every index, the full text and the counts in place. Return True if the store is whole then.

        Nothing is changed if it is not, nor where a table has lost rows.
        """

    def rebuild(self, *, copy: str | None, made_with: Callable[[], MadeWith | None]) -> tuple[Lost, ...]:
        """Put a new store of what can be read of this one in its place, in one step. Return what is lost.

        No text that is not what was stored is in it, and every vector is whose check holds. copy: what `back_up` has
        just made, to look for rows that no table leads to any more. made_with: asked where the store cannot say it.
        """

    def put_vectors(self, *, embedder: str, made: Mapping[int, tuple[Vector, int]]) -> None:
        """Put vectors of chunks that have none, in one transaction that is one step of the generation.

        made: chunk rowid to (vector, windows) by the embedder of that identity; left out where the store has another
        embedder now.
        """

    def compact(self) -> int:
        """Drop tombstones and what is kept for them, and give their room back; how many documents left.

        No answer changes. Raises StoreError `disk_full` before anything is touched, StoreLocked.
        """

    def told_skips(self) -> frozenset[str]:
        """What `Writer.keep_told` kept last."""

    def signing(self) -> Signing | None:
        """What signatures of vectors are kept, or None. Without the capability `signatures` neither this nor what
        follows is ever asked of a store."""

    def is_signed(self, signing: Signing) -> bool:
        """Return True if every vector has a signature that is made so."""

    def sign(self, wanted: Signing | None) -> bool:
        """Make a signature of every vector, and from now on of each that comes, in its transaction; or keep none.

        False where it is so already. Neither digest nor generation change.
        """

    def wrong_signatures(self) -> int:
        """Return how many signatures are missing, or not those of their vectors, of a store that keeps some."""

    def pending_purge(self) -> tuple[str, ...] | None:
        """The paths of the documents whose purge has begun and not ended; None where there is none."""

    def last_purge(self) -> frozenset[str]:
        """Return what the last `Writer.begin_purge` was given as asked."""

    def purge(self) -> bool:
        """Drop tombstones and leave no byte of their text anywhere; False if a reader prevents it.

        Ends what `Writer.begin_purge` began. Until it has succeeded, the next writer tries it too.
        """

    def in_order(self) -> Sequence[int]:
        """The rowids of all live chunks in natural order."""

    def bests(self, asked: Mapping[int, Vector]) -> dict[int, tuple[float, float]]:
        """chunk rowid to the cosine of the vector asked with the chunk's own, and its highest with any live chunk.

        asked: chunk rowid to a vector of the store's dimension. A stored vector that cannot be one is passed over,
        and a chunk without a vector is left out.
        """

    def near_pairs(self, *, least: float, shown: int) -> NearPairs:
        """The pairs of live chunks in documents of different content whose cosine, of six decimals, is at least
        `least`. shown: the most pairs that are named. Exact."""

    def keep_reranked(
        self, maker: str, made: Sequence[RerankVector], *, most_bytes: int, may_wait: bool = False
    ) -> bool:
        """Keep vectors that a reranker made, so that it need not make them again; no answer depends on them.

        Left out are those of texts that no live chunk has, and of questions since which the store was changed.
        Together they take at most so many bytes: the oldest go. may_wait: False where this is to fail at once, and
        the answer is False, when somebody else writes or the store cannot be written.
        """

    def reranked_bytes(self) -> int:
        """What those that are kept take."""

    def texts_reranked(self, maker: str) -> int:
        """Return how many distinct texts of live chunks have one of this maker."""

    def texts_to_rerank(self, maker: str, *, after: bytes, limit: int) -> dict[bytes, str]:
        """text_hash to text of live chunks that have none, by text_hash from behind `after`."""

    def reembed_target(self) -> ReembedTarget | None:
        """The reembed that was begun and did not end, or None."""

    def begin_reembed(self, target: ReembedTarget) -> None:
        """Make room for the target's vectors; those that an earlier run for it has made stay, any others go."""

    def drop_reembed(self) -> None:
        """Drop what an unfinished reembed has made."""

    def has_copies(self) -> bool:
        """Return True if any text stands in more than one live chunk."""

    def texts(self) -> int:
        """Return how many distinct texts the live chunks have."""

    def reembedded(self) -> int:
        """Return how many of them have a vector of the target, or are known to have none."""

    def texts_to_reembed(self, *, after: bytes, limit: int) -> dict[bytes, str]:
        """text_hash to text of live chunks that wait for a vector, by text_hash from behind `after`."""

    def save_reembedded(self, target: ReembedTarget, made: Mapping[bytes, tuple[Vector, int]]) -> bool:
        """Keep vectors with their windows, by text_hash; False when the target is another by now."""

    def finish_reembed(self, target: ReembedTarget) -> bool:
        """Put the target's vectors in place of those in use, in one transaction that is one step of the generation.

        False, and nothing is changed, while a live chunk's text still waits, or when the target is another by now.
        """
