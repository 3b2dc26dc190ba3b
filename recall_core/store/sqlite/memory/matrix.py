"""Arrays that propose rows for exact scoring: vectors as a matrix, and signatures."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from recall_core._lazy import np
from recall_core.deadline import check
from recall_core.store.sqlite import vectors
from recall_core.types import UNIT_TOLERANCE, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.memory.rows import Places

    Floats = NDArray[np.float32]

_ROUNDING = 2.0**-24  # relative error of one float32 operation
_HALF_ROUNDING = 2.0**-11  # relative error of a float32 stored as float16
_HALF_LEAST = 2.0**-25  # absolute error near zero
_LENGTHS = (1 + UNIT_TOLERANCE) ** 2  # upper bound of the product of the lengths of a query and a stored vector
_MANY = 0.5  # share of non-zero query components from which all are multiplied at once
_BLOCK = 4_096  # columns widened at a time, so that they stay in the cache
_GATHERED = 16_384  # columns gathered and multiplied at a time
_WIDENED = 131_072  # float64 components that stay in the cache while they are used
_LEAST_STEP = 256
_LEAST_BLOCK = 16  # values in a block, below which blocks save nothing


class Matrix:
    """Vectors by column: column p is the vector of the row at place p. So the few components of a hashed query are
    rows.

    is_wide: True for float32, which contains the vectors themselves; False for float16, which only proposes rows.
    """

    def __init__(self, rows: int, dimension: int, *, is_wide: bool) -> None:
        self.is_wide = is_wide
        self._columns = np.zeros((dimension, rows), dtype=np.float32 if is_wide else np.float16)
        self._has = np.zeros(rows, dtype=np.bool_)
        self.is_full = False
        """True if every row has a vector."""

    def put(self, places: Places, parts: list[bytes]) -> None:
        """Store the concatenated vectors of the rows at these places. Raises ValueError if one has another size."""
        wide = np.frombuffer(b"".join(parts), dtype="<f4").reshape(len(places), -1)
        if wide.shape[1] != len(self._columns):
            raise ValueError("a vector has another size")
        first, last = int(places[0]), int(places[-1])
        is_run = last - first + 1 == len(places) and bool((np.diff(places) == 1).all())
        self._columns[:, slice(first, last + 1) if is_run else places] = wide.T.astype(self._columns.dtype)
        self._has[places] = True
        self.is_full = bool(self._has.all())

    def present(self, among: Places | None) -> Places:
        """Return the places, among these or all, whose row has a vector."""
        if among is None:
            return np.flatnonzero(self._has).astype(np.int32)
        return among if self.is_full else among[self._has[among]]

    def near(self, query: Vector, k: int, among: Places | None) -> Places:
        """Return the places, ascending, of all rows that may be among the k best cosines, or tie with the last."""
        if k == 0:
            return self.present(among)[:0]
        candidates = self.present(among) if among is not None or not self.is_full else None
        if candidates is not None and len(candidates) <= k:
            return candidates
        products = self._products(query, candidates)
        if len(products) <= k:
            return self.present(None)
        # Cosines are clipped to 1, so all products above 1 tie.
        least = min(1.0, float(kth_best(products, k))) - self.doubt
        chosen = places_at_least(products, least)
        return chosen if candidates is None else candidates[chosen]

    def around(self, query: Vector, place: int, among: Places | None) -> tuple[int, Places]:
        """Return how many of these rows, or of all, certainly have a higher cosine than the row at `place`.

        Also return the places for which products cannot decide; they include `place`, if it is among these rows.
        """
        candidates = self.present(among)
        if not np.any(candidates == place):
            return 0, candidates[:0]
        products = np.minimum(self._products(query, candidates).astype(np.float64), 1.0)
        own = products[candidates == place][0]
        nearer = products - own > self.doubt
        unsure = np.abs(products - own) <= self.doubt
        return int(nearer.sum()), candidates[unsure]

    @property
    def doubt(self) -> float:
        """The most by which the product of a row among the k best cosines may be below the k-th product.

        A dot product of d float32 is off by at most (d + 1) * 2^-24 times the lengths of both vectors, in any order
        of summation (Higham 2002, section 3.1), in either direction. Cosines tie within a unit of the sixth decimal.
        """
        dimension = len(self._columns)
        error = (dimension + 1) * _ROUNDING * _LENGTHS
        if not self.is_wide:
            error += _HALF_ROUNDING * _LENGTHS + _HALF_LEAST * dimension**0.5 * _LENGTHS
        return 2 * error + 2 / vectors.SCALE

    def _products(self, query: Vector, among: Places | None) -> Floats:
        """Return the products of the query with the rows at these places, or all rows."""
        check()
        q = np.frombuffer(query, dtype="<f4")
        used = np.flatnonzero(q)
        if among is not None and len(among) < self._columns.shape[1] // 4:
            taken: Floats = q[used] @ self._columns[np.ix_(used, among)].astype(np.float32, copy=False)
            return taken
        products = self._by_component(q, used) if len(used) < _MANY * len(q) else self._by_matrix(q)
        return products if among is None else products[among]

    def _by_component(self, q: Floats, used: NDArray[np.intp]) -> Floats:
        products = np.empty(self._columns.shape[1], dtype=np.float32)
        for start in range(0, len(products), _GATHERED):
            check()
            some = self._columns[used, start : start + _GATHERED].astype(np.float32, copy=False)
            products[start : start + _GATHERED] = q[used] @ some
        return products

    def _by_matrix(self, q: Floats) -> Floats:
        if self.is_wide:
            products: Floats = q @ self._columns
            return products
        products = np.empty(self._columns.shape[1], dtype=np.float32)
        for start in range(0, len(products), _BLOCK):
            check()
            products[start : start + _BLOCK] = q @ self._columns[:, start : start + _BLOCK].astype(np.float32)
        return products

    def cosines(self, query: Vector, among: Places | None) -> NDArray[np.float64]:
        """Return exact cosines of the rows at these places, or all. Needs a wide matrix. A row without a vector gets
        0."""
        q = np.frombuffer(query, dtype="<f4")
        used = np.flatnonzero(q)  # zero components add nothing
        wide, columns = q[used].astype(np.float64), self._columns
        if among is not None:
            chosen = columns[np.ix_(used, among)]
        else:
            chosen = columns if len(used) == len(q) else columns[used]
        sums = np.empty(chosen.shape[1])
        step = max(_LEAST_STEP, _WIDENED // max(1, len(used)))
        for start in range(0, len(sums), step):
            check()
            sums[start : start + step] = wide @ chosen[:, start : start + step].astype(np.float64)

        def row_of(number: int) -> array[float]:
            place = number if among is None else int(among[number])
            return array("f", columns[:, place].tobytes())

        return vectors.settle_all(sums, query, row_of)


def kth_best(values: NDArray[np.floating], k: int) -> float:
    """Return the k-th highest of more than k values. Blocks that cannot contain it are not sorted."""
    if (block := len(values) // (2 * k)) >= _LEAST_BLOCK:
        best = values[: 2 * k * block].reshape(-1, block).max(axis=1)
        values = values[values >= np.partition(best, len(best) - k)[len(best) - k]]
    return float(np.partition(values, len(values) - k)[len(values) - k])


def places_at_least(values: NDArray[Any], least: float) -> Places:
    """Return the places of values of at least `least`, ascending."""
    return np.flatnonzero(values >= least).astype(np.int32)


_FEW = 4  # if fewer than one row in this many is wanted, those rows are selected first
_STEP = 65_536  # rows between two deadline checks


class Nearby:
    """Signatures by column: column p of `words` is the signature of the row at place p, 64 bits in each array row."""

    def __init__(self, rows: int, bits: int) -> None:
        self._words = np.zeros((bits // 64, rows), dtype=np.uint64)
        self._has = np.zeros(rows, dtype=np.bool_)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self._words.nbytes + self._has.nbytes

    def put(self, places: Places, signatures: list[bytes]) -> None:
        """Store the signatures of the rows at these places. Raises ValueError for a signature of another length."""
        self._words[:, places] = np.frombuffer(b"".join(signatures), dtype=np.uint64).reshape(len(places), -1).T
        self._has[places] = True

    def near(self, signature: bytes, k: int, among: Places | None) -> Places:
        """Return the places, among these or all, of the k nearest by Hamming distance; ties in natural order."""
        candidates = np.flatnonzero(self._has) if among is None else among[self._has[among]]
        is_few = len(candidates) * _FEW < len(self._has)
        distances = self._distances(signature, self._words[:, candidates] if is_few else self._words)
        if not is_few and len(candidates) < len(distances):
            distances = distances[candidates]
        if k < len(distances):
            chosen = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1]) if k else candidates[:0]
            candidates, distances = candidates[chosen], distances[chosen]
        order: Places = candidates[np.argsort(distances, kind="stable")[:k]].astype(np.int32)
        return order

    @staticmethod
    def _distances(signature: bytes, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        own = np.frombuffer(signature, dtype=np.uint64)
        found = np.zeros(words.shape[1], dtype=np.int32)
        for start in range(0, len(found), _STEP):
            check()
            part = found[start : start + _STEP]
            for word, column in zip(own, words, strict=True):
                part += ones(column[start : start + _STEP] ^ word)
        return found


def ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the number of 1 bits of each word."""
    if hasattr(np, "bitwise_count"):  # from NumPy 2.0 on
        counted: NDArray[np.uint8] = np.bitwise_count(words)
        return counted
    return ones_by_byte(words)


def ones_by_byte(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the number of 1 bits of each word, looked up a byte at a time."""
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
    counted: NDArray[np.uint8] = table[words.view(np.uint8).reshape(-1, 8)].sum(axis=1, dtype=np.uint8)
    return counted
