"""Copies of the candidates for a context; see `pack.layout.Alike`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from recall_core.retrieve.answer import Answer, candidate_range, hit_at, standing_for
from recall_core.retrieve.copies import scan
from recall_core.store.port import Store
from recall_core.types import Hit

Citing: TypeAlias = Callable[[Answer, Sequence[Hit]], list[Hit]]
"""Gives each hit of an answer its passage."""


class AlikeInAnswer:
    """Copies of the rows of an answer from `packable`. seen: collects every hit that is read."""

    def __init__(
        self,
        answer: Answer,
        store: Store,
        seen: list[Hit],
        cite: Citing,
    ) -> None:
        self._answer = answer
        self._cite = cite
        self._store = store
        self._seen = seen
        self._copies = None if answer.copies is None else standing_for(answer)
        self._scanned = scan(answer.plan, store) if answer.pool is None and answer.struck else None

    def count(self, hit: Hit) -> int:
        """Return the number of other rows with the text of this hit."""
        return self._count(hit.rank)

    def others(self, hit: Hit) -> Iterator[Hit]:
        """Yield these rows in order, with the hit's rank. Each is read on demand."""
        answer = self._answer
        for each in self._behind(hit.rank):
            if answer.pool is None:
                (row,) = self._store.fetch([each])
                other = Hit(hit.rank, None, row.doc, row.chunk, ())
            else:
                other = hit_at(answer, each, rank=hit.rank, store=self._store)
            (other,) = self._cite(answer, [other])
            self._seen.append(other)
            yield other

    def total(self) -> int:
        """Return the number of rows that may be packed, including copies."""
        start, stop = candidate_range(self._answer)
        if not self._answer.struck:
            return stop - start
        if (start, stop) == (0, self._answer.total):
            return stop + self._answer.struck
        return stop - start + sum(map(self._count, range(start + 1, stop + 1)))

    def _count(self, rank: int) -> int:
        if self._copies is not None and self._answer.ranked is not None:
            return self._copies.count_behind(self._answer.ranked.order[rank - 1])
        return len(self._behind(rank))

    def _behind(self, rank: int) -> list[int]:
        """Return the positions of copies in the pool, or their rowids in a list without scores."""
        if self._scanned is not None:
            return self._scanned.behind(rank)
        if self._copies is None or self._answer.ranked is None:
            return []
        return self._copies.behind(self._answer.ranked.order[rank - 1])
