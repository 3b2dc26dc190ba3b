"""The signatures of a store's vectors in memory, compared word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_core._lazy import np
from recall_core.deadline import check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recall_core.store.sqlite.memory.rows import Places

_FEW = 4  # below one row in so many, the rows that are asked for are taken out first
_BLOCK = 65_536  # rows between two looks at the deadline


class Nearby:
    """Column p of `words` is the signature of the row at place p, 64 bits a row of the array."""

    def __init__(self, rows: int, bits: int) -> None:

        self._words = np.zeros((bits // 64, rows), dtype=np.uint64)
        self._has = np.zeros(rows, dtype=np.bool_)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self._words.nbytes + self._has.nbytes

    def put(self, places: Places, found: list[bytes]) -> None:
        """The signatures of the rows at these places. Raises ValueError for one of another length."""

        self._words[:, places] = np.frombuffer(b"".join(found), dtype=np.uint64).reshape(len(places), -1).T
        self._has[places] = True

    def near(self, signature: bytes, k: int, among: Places | None) -> Places:
        """The places, of these or of all, of the k nearest by Hamming distance; ties in natural order."""

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
        for start in range(0, len(found), _BLOCK):
            check()
            part = found[start : start + _BLOCK]
            for word, column in zip(own, words, strict=True):
                part += ones(column[start : start + _BLOCK] ^ word)
        return found


def ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """How many bits of each are 1."""

    if hasattr(np, "bitwise_count"):  # from NumPy 2.0 on
        counted: NDArray[np.uint8] = np.bitwise_count(words)
        return counted
    return ones_by_byte(words)


def ones_by_byte(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The same, looked up a byte at a time."""

    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
    counted: NDArray[np.uint8] = table[words.view(np.uint8).reshape(-1, 8)].sum(axis=1, dtype=np.uint8)
    return counted
