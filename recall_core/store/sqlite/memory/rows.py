"""The rows of one state of a store, by their place in natural order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from recall_core._lazy import np
from recall_core.config import BM25_K1
from recall_core.rank.bm25 import FTS5_B
from recall_core.rank.columns import KeyColumns, Scores, Series
from recall_core.store.sqlite.records import LIVE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int32]

PIECE_ROWS = 2_000
"""Rows read in one piece. Other threads may run between two pieces."""

_NAME_BYTES = 150  # bytes of a path in memory besides its characters

KEYS = f"""
SELECT c.rowid, d.rowid, d.path, c.offset, c.tokens FROM doc d JOIN chunk c ON c.doc = d.rowid
WHERE {LIVE} ORDER BY d.path, c.offset
"""


class LiveRows:
    """Live chunks in natural order. A row's place is its index in this order and in every array.

    keys: of all rows.
    title_lengths, body_lengths: (n,) float64, in tokens.
    held: the part of FTS5's bm25() denominator that depends on these lengths.
    texts: (n,) int32, a number that rows with the same text share, 0 for a text that appears once; None if each does.
    """

    texts: NDArray[np.int32] | None = None
    _same_texts: dict[int, int] | None = None
    _counts: NDArray[np.int64] | None = None

    def read(self, cursor: Iterator[Sequence[Any]], sizes: Iterator[tuple[int, tuple[int, int]]]) -> Iterator[None]:
        """Read all rows of KEYS, and the tokens of each row's title and body, piece by piece.

        Raises ValueError if they have different rows.
        """
        pieces = [np.empty((4, 0), dtype=np.int64)]
        names: dict[int, str] = {}
        for piece in pieces_of(cursor):
            rowids, documents, paths, offsets, tokens = zip(*piece, strict=True)
            pieces.append(np.array([rowids, documents, offsets, tokens], dtype=np.int64))
            names.update(zip(documents, paths, strict=True))
            yield
        self._put_keys(np.concatenate(pieces, axis=1), names)
        yield from self._read_lengths(sizes)

    def put(self, columns: NDArray[np.int64], paths: Mapping[int, str]) -> None:
        """Store all rows. columns: (6, n) rowid, document, offset, tokens, tokens of title and body, in any order.

        paths: of the documents, in their order.
        """
        ranks = np.zeros(max(paths, default=0) + 1, dtype=np.int64)
        ranks[list(paths)] = np.arange(len(paths))
        columns = columns[:, np.lexsort((columns[2], ranks[columns[1]]))]
        self._put_keys(columns[:4], paths)
        self._put_lengths(columns[4:].astype(np.float64))

    def _put_keys(self, columns: NDArray[np.int64], paths: Mapping[int, str]) -> None:
        rowids, documents, offsets, tokens = columns
        self.keys = KeyColumns(rowids=rowids, doc_rowids=documents, offsets=offsets, tokens=tokens, paths=paths)
        self.is_ascending = bool((np.diff(rowids) > 0).all())
        """True if rowids ascend in natural order."""
        self._place_of = np.full(int(rowids.max(initial=-1)) + 2, -1, dtype=np.int32)
        self._place_of[rowids] = np.arange(len(rowids), dtype=np.int32)

    def put_copies(self, numbers: Mapping[int, int]) -> None:
        """Store rowid to the number of a repeated text. Raises ValueError for a rowid without a live chunk."""
        if numbers:
            self.texts = np.zeros(len(self), dtype=np.int32)
            self.texts[self.places(list(numbers))] = list(numbers.values())

    def same_texts(self, rowids: Sequence[int]) -> dict[int, int]:
        """Return index in rowids to a number that chunks with the same text share; texts that appear once are left
        out."""
        if self.texts is None:
            return {}
        if isinstance(rowids, Series) and rowids.array is self.keys.rowids:
            if self._same_texts is None:
                self._same_texts = _numbers(self.texts)
            return self._same_texts
        places = self.find(rowids.array if isinstance(rowids, Series) else rowids)
        return _numbers(np.where(places < 0, 0, self.texts[places]))

    def _read_lengths(self, sizes: Iterator[tuple[int, tuple[int, int]]]) -> Iterator[None]:
        lengths = np.full((2, len(self)), -1.0)
        read = 0
        for sized in pieces_of(sizes):
            lengths[:, self.places([row for row, _ in sized])] = np.array([size for _, size in sized]).T
            read += len(sized)
            yield
        if read != len(self) or bool((lengths < 0).any()):
            raise ValueError("the full-text index does not match the live chunks")
        self._put_lengths(lengths)

    def _put_lengths(self, lengths: NDArray[np.float64]) -> None:
        self.title_lengths, self.body_lengths = lengths
        self.totals = int(lengths[0].sum()), int(lengths[1].sum())
        average = sum(self.totals) / max(1, len(self)) or 1.0
        self.held = BM25_K1 * (1 - FTS5_B + FTS5_B * lengths.sum(axis=0) / average)

    def chunk_counts(self, documents: Sequence[int]) -> dict[int, int]:
        """Return document rowid to its number of rows, for documents that have any."""
        if self._counts is None:
            self._counts = np.bincount(self.keys.doc_rowids)
        found = (each for each in documents if each < len(self._counts) and self._counts[each])
        return {each: int(self._counts[each]) for each in found}

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        keys = self.keys
        arrays = (keys.rowids, keys.doc_rowids, keys.offsets, keys.tokens, self._place_of)
        names = sum(map(len, keys.paths.values())) + _NAME_BYTES * len(keys.paths)
        counted = (*arrays, self.title_lengths, self.body_lengths, self.held)
        texts = 0 if self.texts is None else self.texts.nbytes
        return sum(array.nbytes for array in counted) + texts + names

    def scores(self, places: Places | None, values: NDArray[np.float64], *, is_natural: bool = True) -> Scores:
        """Return scores of the rows at these places, or all. is_natural: the places are in natural order."""
        rowids = self.keys.rowids if places is None else self.keys.rowids[places]
        return Scores(rowids, values, is_ascending=self.is_ascending and is_natural)

    def places(self, rowids: Any) -> Places:
        """Return the places of these rowids, in their order. Raises ValueError for a rowid without a live chunk."""
        found = self.find(rowids)
        if bool((found < 0).any()):
            raise ValueError("an indexed row is not a live chunk")
        return found

    def find(self, rowids: Any) -> Places:
        """Return the places of these rowids, in their order; -1 for a rowid without a live chunk."""
        asked = np.asarray(rowids, dtype=np.int64)
        found: Places = self._place_of[np.clip(asked, -1, len(self._place_of) - 1)]
        return found

    def natural(self, rowids: Any, *, among: Places | None = None) -> Places:
        """Return the places of these rows, ascending, each once. Skip rows without a live chunk and rows not in
        `among`."""
        is_asked = np.zeros(len(self), dtype=np.bool_)
        found = self.find(rowids)
        is_asked[found[found >= 0]] = True
        if among is None:
            return np.flatnonzero(is_asked).astype(np.int32)
        return among[is_asked[among]]


def _numbers(texts: NDArray[np.int32]) -> dict[int, int]:
    """Return place to number, without zeros."""
    (several,) = texts.nonzero()
    return dict(zip(several.tolist(), texts[several].tolist(), strict=True))


def pieces_of(rows: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield the rows of a statement, PIECE_ROWS at a time."""
    while piece := list(islice(rows, PIECE_ROWS)):
        yield piece
