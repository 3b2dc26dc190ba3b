"""Candidates for a context that others stand for: see `pack.layout.Alike`."""

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
    """What the ranks of an answer, as `packable` gives it, stand for. seen: collects every hit that is read."""

    def __init__(
        self,
        answer: Answer,
        store: Store,
        seen: list[Hit],
        cite: Citing,
    ) -> None:
        self._found = answer
        self._cite = cite
        self._store = store
        self._seen = seen
        self._copies = None if answer.copies is None else standing_for(answer)
        self._scanned = scan(answer.plan, store) if answer.pool is None and answer.struck else None

    def count(self, hit: Hit) -> int:
        """How many others have the text of this rank."""
        return self._count(hit.rank)

    def others(self, hit: Hit) -> Iterator[Hit]:
        """They themselves, in order and with its rank, each read when it is asked for."""
        found = self._found
        for each in self._behind(hit.rank):
            if found.pool is None:
                (row,) = self._store.fetch([each])
                other = Hit(hit.rank, None, row.doc, row.chunk, ())
            else:
                other = hit_at(found, each, rank=hit.rank, store=self._store)
            (other,) = self._cite(found, [other])
            self._seen.append(other)
            yield other

    def total(self) -> int:
        """How many rows may be packed: those that stand, and those that they stand for."""
        start, stop = candidate_range(self._found)
        if not self._found.struck:
            return stop - start
        if (start, stop) == (0, self._found.total):
            return stop + self._found.struck
        return stop - start + sum(map(self._count, range(start + 1, stop + 1)))

    def _count(self, rank: int) -> int:
        if self._copies is not None and self._found.ranked is not None:
            return self._copies.count_behind(self._found.ranked.order[rank - 1])
        return len(self._behind(rank))

    def _behind(self, rank: int) -> list[int]:
        """Positions in the pool; of a list without scores, rowids."""
        if self._scanned is not None:
            return self._scanned.behind(rank)
        if self._copies is None or self._found.ranked is None:
            return []
        return self._copies.behind(self._found.ranked.order[rank - 1])
