"""Arrays of a store's vectors, which propose rows that are settled exactly: vectors as a matrix, and signatures."""

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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.memory.rows import Places

    Floats = NDArray[np.float32]

_ROUNDING = 2.0**-24  # of one float32 operation, relative
_HALF_ROUNDING = 2.0**-11  # of a float32 kept as a float16, relative
_HALF_LEAST = 2.0**-25  # and at most this where it is next to nothing
_LENGTHS = (1 + UNIT_TOLERANCE) ** 2  # at most the product of the lengths of a question and of a stored vector
_MANY = 0.5  # share of components of a question from which on all of them are multiplied at once
_BLOCK = 4_096  # columns that are widened at a time and stay in the cache
_GATHERED = 16_384  # columns whose components are put together and multiplied at a time
_WIDENED = 131_072  # float64 components that stay in the cache while they are used
_LEAST_STEP = 256
_LEAST_BLOCK = 16  # values a block, where looking at blocks saves anything


class Matrix:
    """Column p is the vector of the row at place p, so that the few components of a hashed question are rows.

    is_wide: kept as float32, which holds the vectors themselves; else as float16, which only proposes.
    """

    def __init__(self, rows: int, dimension: int, *, is_wide: bool) -> None:
        self.is_wide = is_wide
        self._columns = np.zeros((dimension, rows), dtype=np.float32 if is_wide else np.float16)
        self._has = np.zeros(rows, dtype=np.bool_)
        self.is_full = False
        """Every row has a vector."""

    def put(self, places: Places, parts: list[bytes]) -> None:
        """Vectors of the rows at these places, one behind the other. Raises ValueError for one of another size."""
        wide = np.frombuffer(b"".join(parts), dtype="<f4").reshape(len(places), -1)
        if wide.shape[1] != len(self._columns):
            raise ValueError("a vector has another size")
        first, last = int(places[0]), int(places[-1])
        is_run = last - first + 1 == len(places) and bool((np.diff(places) == 1).all())
        self._columns[:, slice(first, last + 1) if is_run else places] = wide.T.astype(self._columns.dtype)
        self._has[places] = True
        self.is_full = bool(self._has.all())

    def present(self, among: Places | None) -> Places:
        """Return the places, of these or of all, whose row has a vector."""
        if among is None:
            return np.flatnonzero(self._has).astype(np.int32)
        return among if self.is_full else among[self._has[among]]

    def near(self, query: Vector, k: int, among: Places | None) -> Places:
        """The places, ascending, of all rows that may be among the k with the best cosines, or tie with the last."""
        if k == 0:
            return self.present(among)[:0]
        asked = self.present(among) if among is not None or not self.is_full else None
        if asked is not None and len(asked) <= k:
            return asked
        products = self._products(query, asked)
        if len(products) <= k:
            return self.present(None)
        # A cosine is clipped to 1, so that all above it tie.
        least = min(1.0, float(kth_best(products, k))) - self.doubt
        chosen = places_at_least(products, least)
        return chosen if asked is None else asked[chosen]

    def around(self, query: Vector, place: int, among: Places | None) -> tuple[int, Places]:
        """Return how many of these rows, or of all, have a higher cosine than the one at `place` for certain.

        And the places of those of which products cannot say; it is one of them, unless it is not among these.
        """
        asked = self.present(among)
        if not np.any(asked == place):
            return 0, asked[:0]
        products = np.minimum(self._products(query, asked).astype(np.float64), 1.0)
        own = products[asked == place][0]
        nearer = products - own > self.doubt
        unsure = np.abs(products - own) <= self.doubt
        return int(nearer.sum()), asked[unsure]

    @property
    def doubt(self) -> float:
        """Return how far below the k-th product that of a row may lie which is among the k best cosines.

        A dot product of d float32 is off by at most (d + 1) * 2^-24 times the lengths of both vectors, whatever the
        order of its sums (Higham 2002, section 3.1), on either side; cosines tie within a unit of the sixth decimal.
        """
        dimension = len(self._columns)
        error = (dimension + 1) * _ROUNDING * _LENGTHS
        if not self.is_wide:
            error += _HALF_ROUNDING * _LENGTHS + _HALF_LEAST * dimension**0.5 * _LENGTHS
        return 2 * error + 2 / vectors.SCALE

    def _products(self, query: Vector, among: Places | None) -> Floats:
        """Of the rows at these places, or of all."""
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
            whole: Floats = q @ self._columns
            return whole
        products = np.empty(self._columns.shape[1], dtype=np.float32)
        for start in range(0, len(products), _BLOCK):
            check()
            products[start : start + _BLOCK] = q @ self._columns[:, start : start + _BLOCK].astype(np.float32)
        return products

    def cosines(self, query: Vector, among: Places | None) -> NDArray[np.float64]:
        """Of the rows at these places, or of all, settled; only where it is wide. One without a vector has 0 here."""
        q = np.frombuffer(query, dtype="<f4")
        used = np.flatnonzero(q)  # what is multiplied by 0 adds nothing
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
    """Return the k-th highest of more than k values. What lies in blocks without a chance is never sorted."""
    if (block := len(values) // (2 * k)) >= _LEAST_BLOCK:
        best = values[: 2 * k * block].reshape(-1, block).max(axis=1)
        values = values[values >= np.partition(best, len(best) - k)[len(best) - k]]
    return float(np.partition(values, len(values) - k)[len(values) - k])


def places_at_least(values: NDArray[Any], least: float) -> Places:
    """Return where they are, ascending."""
    return np.flatnonzero(values >= least).astype(np.int32)


_FEW = 4  # below one row in so many, the rows that are asked for are taken out first
_STEP = 65_536  # rows between two looks at the deadline


class Nearby:
    """Column p of `words` is the signature of the row at place p, 64 bits a row of the array."""

    def __init__(self, rows: int, bits: int) -> None:
        self._words = np.zeros((bits // 64, rows), dtype=np.uint64)
        self._has = np.zeros(rows, dtype=np.bool_)

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        return self._words.nbytes + self._has.nbytes

    def put(self, places: Places, found: list[bytes]) -> None:
        """The signatures of the rows at these places. Raises ValueError for one of another length."""
        self._words[:, places] = np.frombuffer(b"".join(found), dtype=np.uint64).reshape(len(places), -1).T
        self._has[places] = True

    def near(self, signature: bytes, k: int, among: Places | None) -> Places:
        """Return the places, of these or of all, of the k nearest by Hamming distance; ties in natural order."""
        asked = np.flatnonzero(self._has) if among is None else among[self._has[among]]
        is_few = len(asked) * _FEW < len(self._has)
        distances = self._distances(signature, self._words[:, asked] if is_few else self._words)
        if not is_few and len(asked) < len(distances):
            distances = distances[asked]
        if k < len(distances):
            chosen = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1]) if k else asked[:0]
            asked, distances = asked[chosen], distances[chosen]
        order: Places = asked[np.argsort(distances, kind="stable")[:k]].astype(np.int32)
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
    """Return how many bits of each are 1."""
    if hasattr(np, "bitwise_count"):  # from NumPy 2.0 on
        counted: NDArray[np.uint8] = np.bitwise_count(words)
        return counted
    return ones_by_byte(words)


def ones_by_byte(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the same, looked up a byte at a time."""
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
    counted: NDArray[np.uint8] = table[words.view(np.uint8).reshape(-1, 8)].sum(axis=1, dtype=np.uint8)
    return counted
