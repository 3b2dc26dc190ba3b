"""The same pool and store with arrays in place of tuples and dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recall_core.rank.columns import KeyColumns, RawColumn, Scores
from recall_core.store.sqlite.store import SqliteStore
from recall_core.store.values import Nearest
from recall_core.types import Key, Pool


def key_columns(keys: Sequence[Key]) -> KeyColumns:
    """Return the keys as columns."""
    columns = np.array([(key.rowid, key.doc_rowid, key.offset, key.tokens) for key in keys], dtype=np.int64)
    rowids, doc_rowids, offsets, tokens = columns.reshape(-1, 4).T
    paths = {key.doc_rowid: key.path for key in keys}
    return KeyColumns(rowids=rowids, doc_rowids=doc_rowids, offsets=offsets, tokens=tokens, paths=paths)


def raw_column(values: Sequence[float | None]) -> RawColumn:
    """Return a signal as a column."""
    return RawColumn(np.array([np.nan if value is None else value for value in values], dtype=np.float64))


def scores(values: Mapping[int, float], *, is_ascending: bool = True) -> Scores:
    """Return the row values of a store as arrays."""
    rows = sorted(values.items()) if is_ascending else list(values.items())
    rowids = np.array([rowid for rowid, _ in rows], dtype=np.int64)
    return Scores(rowids, np.array([value for _, value in rows], dtype=np.float64), is_ascending=is_ascending)


def in_arrays(pool: Pool) -> Pool:
    """Return the same pool in arrays."""
    lexical, semantic = (raw_column(each) if each else () for each in (pool.lexical, pool.semantic))
    return pool._replace(keys=key_columns(pool.keys), lexical=lexical, semantic=semantic)


class ArrayStore:
    """A store that answers in arrays and otherwise forwards to the store behind it."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def candidates(self, *arguments: Any, **options: Any) -> KeyColumns:
        return key_columns(self.store.candidates(*arguments, **options))

    def lexical(self, *arguments: Any, **options: Any) -> Scores:
        return scores(self.store.lexical(*arguments, **options), is_ascending=options["k"] is None)

    def lexical_scores(self, *arguments: Any, **options: Any) -> Scores:
        return scores(self.store.lexical_scores(*arguments, **options))

    def cosines(self, *arguments: Any, **options: Any) -> Scores:
        return scores(self.store.cosines(*arguments, **options))

    def nearest(self, *arguments: Any, **options: Any) -> Nearest:
        found = self.store.nearest(*arguments, **options)
        return found._replace(cosines=scores(found.cosines, is_ascending=False))
