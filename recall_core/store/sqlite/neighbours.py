"""Which chunks lie near each other: a few vectors against all, and all against all, a block at a time."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recall_core._lazy import np
from recall_core.store.flaws import flaws
from recall_core.store.sqlite.catalog import SqliteCatalog
from recall_core.store.sqlite.check import bad_vectors, blocks
from recall_core.store.sqlite.vectors import cosines, rows_of
from recall_core.store.values import NearPairs, Pair
from recall_core.types import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_ROWS = 4_096  # with a block of columns 16 MiB of products, however large the store is
_COLUMNS = 1_024
_HALF_UNIT = 1e-6  # more than rounding to six decimals moves a cosine
_LIVE = "FROM doc d JOIN chunk c ON c.doc = d.rowid WHERE d.deleted = 0 AND c.deleted = 0"
_VECTORS = "SELECT v.chunk, v.embedding FROM vec v JOIN chunk c ON c.rowid = v.chunk WHERE c.deleted = 0"
_IN_ORDER = f"""
SELECT c.rowid, dense_rank() OVER (ORDER BY d.hash) {_LIVE} AND c.rowid IN (SELECT chunk FROM vec)
ORDER BY d.path, c.offset
"""
_NAMED = "SELECT v.embedding FROM json_each(?) j JOIN vec v ON v.chunk = j.value ORDER BY j.key"


def in_order(store: SqliteCatalog) -> array[int]:
    """The rowids of all live chunks in natural order."""
    found = blocks(store, f"SELECT c.rowid {_LIVE} ORDER BY d.path, c.offset")
    return array("q", [rowid for rows in found for (rowid,) in rows])


def bests(store: SqliteCatalog, asked: Mapping[int, Vector]) -> dict[int, tuple[float, float]]:
    """chunk rowid to the cosine of the vector asked with the chunk's own, and its highest with any live chunk.

    asked: chunk rowid to a vector of the store's dimension. A stored vector that cannot be one is passed over, and a
    chunk without a vector is left out. The stored vectors are gone through once.
    """
    dimension = store.info().dimension
    own: dict[int, float] = {}
    best = dict.fromkeys(asked, -1.0)
    for found in blocks(store, _VECTORS):
        wrong = flaws([vector for _, vector in found], dimension=dimension)
        rows = rows_of([row for place, row in enumerate(found) if row[1] and place not in wrong])
        for rowid, vector in asked.items() if rows.rowids else ():
            near = cosines(vector, rows)
            best[rowid] = max(best[rowid], *near.values())
            if rowid in near:
                own[rowid] = near[rowid]
    return {rowid: (cosine, best[rowid]) for rowid, cosine in own.items()}


def near_pairs(store: SqliteCatalog, *, least: float, shown: int) -> NearPairs:
    """The pairs of live chunks in documents of different content whose cosine, of six decimals, is at least `least`.

    shown: the most pairs that are named. Exact: float32 products decide only what their rounding cannot change.
    A vector that cannot be one is passed over. Time grows with the square of the chunks, memory only with their
    rowids.
    """
    with store.reading():
        search = _PairSearch(store, least, shown)
        for top in range(0, len(search.rowids), _ROWS):
            search.take(top)
    return NearPairs(search.count, search.named())


class _PairSearch:
    """One search for pairs: the chunks in natural order, and what was found so far."""

    def __init__(self, store: SqliteCatalog, least: float, shown: int) -> None:

        self.store, self.least, self.shown = store, least, shown
        self.rowids, contents = _sound_chunks(store)
        self.contents = np.array(contents, dtype=np.int64)
        # What rounding may do to a sum of so many products of unit vectors, twice over.
        self.margin = store.info().dimension * float(np.finfo(np.float32).eps) + _HALF_UNIT
        self.count = 0
        self.first: list[tuple[int, int, float]] = []
        """As `Pair`, with places in natural order instead of rowids."""

    def named(self) -> tuple[Pair, ...]:
        """The first pairs, with their rowids."""
        return tuple((self.rowids[one], self.rowids[other], cosine) for one, other, cosine in self.first)

    def take(self, top: int) -> None:
        """Hold the block of rows that begins there against itself and all that come after it."""
        rows = self._matrix(top, _ROWS)
        for left in range(top, len(self.rowids), _COLUMNS):
            self._compare(rows, self._matrix(left, _COLUMNS), top, left)

    def _matrix(self, start: int, count: int) -> Matrix:

        named = json.dumps(self.rowids[start : start + count].tolist())
        found = self.store.execute(_NAMED, (named,))
        return np.frombuffer(b"".join([vector for (vector,) in found]), dtype="<f4").reshape(len(found), -1)

    def _compare(self, rows: Matrix, columns: Matrix, top: int, left: int) -> None:

        products = rows @ columns.T
        near = products >= self.least - self.margin
        near &= self.contents[top : top + len(rows), None] != self.contents[left : left + len(columns)]
        if left < top + len(rows):  # of two chunks the row is the one that comes first
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
    """Rowid, and number of their document's content, of the live chunks whose vector can be one, in natural order."""
    bad = frozenset(bad_vectors(store))
    rowids, contents = array("q"), array("q")
    for rows in blocks(store, _IN_ORDER):
        for rowid, content in rows:
            if rowid not in bad:
                rowids.append(rowid)
                contents.append(content)
    return rowids, contents


def _cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return cosines(one.tobytes(), rows_of([(0, other.tobytes())]))[0]
