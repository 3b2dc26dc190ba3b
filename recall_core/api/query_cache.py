"""Answers that a server gave before. One is given again only while the store and its files have not changed."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from recall_core.personal import Personal
from recall_core.retrieve.freshness import State, stale_documents

if TYPE_CHECKING:
    from pathlib import Path

    from recall_core.store.port import Store

Response = TypeVar("Response", bound=Mapping[str, Any])


class _CachedAnswer(NamedTuple):
    """An answer as bytes, and the state of the files behind it (None: unchanged), by document."""

    content: bytes
    states: dict[str, State | None]


class QueryCache:
    """The newest answers, limited in number and in bytes. May be shared by threads and stores.

    own: settings of the person, which have the limits.
    """

    def __init__(self, own: Personal = Personal()) -> None:  # noqa: B008 - a tuple
        self._most = own.query_cache
        self._most_bytes = own.query_cache_mb << 20
        self._bytes = 0
        self._kept: OrderedDict[str, _CachedAnswer] = OrderedDict()
        self._lock = Lock()

    def answer(
        self,
        store: Store,
        base: Path,
        asked: tuple[object, ...],
        make: Callable[[dict[str, State | None]], Response],
        *,
        started: float,
    ) -> Response:
        """Return an answer that was kept, with `stats.cached`, or make it. Call it while reading the store.

        asked: everything else that decides the answer, as values whose repr() tells them apart.
        base: the folder that paths of documents are relative to.
        make: returns the answer, and fills in the state of each file that it checked, by document.
        started: perf_counter() at the start.
        """
        key = repr((str(base), store.info(), *asked))  # equal documents may have other words, cuts or vectors
        kept = self._get(key)
        if kept is not None:
            states = stale_documents(list(kept.states), store=store, base=base)
            if {doc_id: state for doc_id, state in kept.states.items() if state} == states:
                response = cast(dict[str, Any], pickle.loads(kept.content))  # noqa: S301 - bytes of this process
                took = round((perf_counter() - started) * 1000, 3)
                response["stats"] = {**response["stats"], "took_ms": took, "timings": {}, "cached": True}
                return cast(Response, response)
        checked: dict[str, State | None] = {}
        made = make(checked)
        self._put(key, _CachedAnswer(pickle.dumps(made), checked))
        return made

    def _get(self, key: str) -> _CachedAnswer | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
            return kept

    def _put(self, key: str, kept: _CachedAnswer) -> None:
        """Keep an answer. The oldest ones make room."""
        size = len(kept.content) + len(key)
        if size > self._most_bytes or self._most < 1:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self._bytes += size
            while self._bytes > self._most_bytes or len(self._kept) > self._most:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= len(kept.content) + len(key)
