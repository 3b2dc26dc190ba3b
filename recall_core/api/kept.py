"""The vectors of a reranker that outlast a process: found in the store, and put into it once an answer is out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from recall_core.embed.rescore import VectorKey, VectorMaker
from recall_core.errors import StoreError
from recall_core.store.port import Store
from recall_core.store.values import RerankVector, find_flaws
from recall_core.types import Vector

MEGABYTE = 1_000_000
_MOST_WAITING = 4_096  # a few MB; what waits longer than that is made again some day


class StoredVectors:
    """Those of one maker in one store. Where it is the maker of the store's own vectors, these serve for texts."""

    def __init__(self, store: Store, maker: VectorMaker) -> None:
        self._store = store
        self._maker = maker
        self._waiting: dict[VectorKey, RerankVector] = {}
        self.made = 0
        """Texts that were embedded so far because the store has no vector of them."""

    @property
    def maker(self) -> str:
        """As the store knows it."""
        return self._maker.name

    @property
    def is_own(self) -> bool:
        """Whether it is the maker of the store's own vectors at this moment."""
        return self._maker.is_of(self._store.embedder())

    def find(self, keys: Sequence[VectorKey]) -> dict[VectorKey, Vector]:
        """Those that the store has."""
        found: dict[VectorKey, Vector] = {}
        for is_query in dict.fromkeys(key.is_query for key in keys):
            hashes = [key.text_hash for key in keys if key.is_query == is_query]
            own = self._store.cached_vectors(hashes) if self.is_own and not is_query else {}
            left = [each for each in hashes if each not in own]
            kept = self._store.reranked(self.maker, left, is_query=is_query) if left else {}
            found |= {VectorKey(each, is_query): vector for each, vector in (own | kept).items()}
        return found

    def leave(self, made: Mapping[VectorKey, Vector]) -> None:
        """Let these wait, but for those that are no vectors."""
        generation = self._store.generation()
        self.made += sum(not key.is_query for key in made)
        size = max(map(len, made.values()), default=0) // 4
        bad = find_flaws(list(made.values()), dimension=size) if size else {}
        for place, (key, vector) in enumerate(made.items()):
            if place not in bad:
                self._waiting[key] = RerankVector(*key, vector, generation)
        for key in list(self._waiting)[: max(0, len(self._waiting) - _MOST_WAITING)]:
            del self._waiting[key]

    @property
    def is_waiting(self) -> bool:
        """Whether any would be kept."""
        return bool(self._waiting)

    def keep(self, *, megabytes: int, may_wait: bool = False) -> None:
        """Put those that wait into the store; they go on waiting where somebody else writes at this moment.

        may_wait: for whoever does. Otherwise nothing is waited for, and nothing is said where the store takes none:
        an answer is out by now, and what is not kept is made again.
        """
        made = list(self._waiting.values())
        if may_wait:
            self._store.keep_reranked(self.maker, made, most_bytes=megabytes * MEGABYTE, may_wait=True)
            self._waiting.clear()
            return
        with suppress(StoreError):
            if made and self._store.keep_reranked(self.maker, made, most_bytes=megabytes * MEGABYTE):
                self._waiting.clear()
