"""The rows of one state of a store, by their place in natural order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recall_core._lazy import np
from recall_core.config import BM25_K1
from recall_core.rank.bm25 import FTS5_B
from recall_core.rank.columns import KeyColumns, Scores, Series
from recall_core.store.sqlite.postings import pair
from recall_core.store.sqlite.records import LIVE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int32]

PIECE_ROWS = 2_000
"""LiveRows that are read in one piece; between two pieces others are let through."""

_NAME_BYTES = 150  # of a path in memory, beside its characters

KEYS = f"""
SELECT c.rowid, d.rowid, d.path, c.offset, c.tokens FROM doc d JOIN chunk c ON c.doc = d.rowid
WHERE {LIVE} ORDER BY d.path, c.offset
"""

SIZES = "SELECT id, sz FROM chunk_fts_docsize"


class LiveRows:
    """Live chunks in natural order: the place of a row is its number in it, and every array is read by place.

    keys: of all. title_lengths, body_lengths: (n,) float64, in tokens. held: what FTS5's bm25() holds against a
    frequency, by these lengths. texts: (n,) int32, a number that rows of the very same text share, 0 where a text
    stands once; None where each does.
    """

    texts: NDArray[np.int32] | None = None
    _same_texts: dict[int, int] | None = None

    def read(self, cursor: Iterator[Sequence[Any]], sizes: Iterator[tuple[int, bytes]]) -> Iterator[None]:
        """Read KEYS and SIZES to their ends, piece by piece. Raises ValueError where the two do not name the same."""

        pieces = [np.empty((4, 0), dtype=np.int64)]
        names: dict[int, str] = {}
        for piece in pieces_of(cursor):
            rowids, documents, paths, offsets, tokens = zip(*piece, strict=True)
            pieces.append(np.array([rowids, documents, offsets, tokens], dtype=np.int64))
            names.update(zip(documents, paths, strict=True))
            yield
        rowids, documents, offsets, tokens = np.concatenate(pieces, axis=1)
        self.keys = KeyColumns(rowids=rowids, doc_rowids=documents, offsets=offsets, tokens=tokens, paths=names)
        self.is_ascending = bool((np.diff(rowids) > 0).all())
        """Whether rowids ascend in natural order."""
        self._place_of = np.full(int(rowids.max(initial=-1)) + 2, -1, dtype=np.int32)
        self._place_of[rowids] = np.arange(len(rowids), dtype=np.int32)
        yield from self._read_lengths(sizes)

    def put_copies(self, numbers: Mapping[int, int]) -> None:
        """rowid to the number of a text that stands more than once. Raises ValueError for one of no live chunk."""

        if numbers:
            self.texts = np.zeros(len(self), dtype=np.int32)
            self.texts[self.places(list(numbers))] = list(numbers.values())

    def same_texts(self, rowids: Sequence[int]) -> dict[int, int]:
        """Place among these rowids to the number of a text, of those whose text stands more than once."""

        if self.texts is None:
            return {}
        if isinstance(rowids, Series) and rowids.array is self.keys.rowids:
            if self._same_texts is None:
                self._same_texts = _numbers(self.texts)
            return self._same_texts
        asked = np.asarray(rowids.array if isinstance(rowids, Series) else rowids, dtype=np.int64)
        places = self._place_of[np.clip(asked, -1, len(self._place_of) - 1)]
        return _numbers(np.where(places < 0, 0, self.texts[places]))

    def _read_lengths(self, sizes: Iterator[tuple[int, bytes]]) -> Iterator[None]:

        lengths = np.full((2, len(self)), -1.0)
        read = 0
        for sized in pieces_of(sizes):
            lengths[:, self.places([row for row, _ in sized])] = np.array([pair(size) for _, size in sized]).T
            read += len(sized)
            yield
        self.title_lengths, self.body_lengths = lengths
        self.totals = int(lengths[0].sum()), int(lengths[1].sum())
        if read != len(self) or bool((lengths < 0).any()):
            raise ValueError("the full-text index does not hold the live chunks")
        average = sum(self.totals) / max(1, len(self)) or 1.0
        self.held = BM25_K1 * (1 - FTS5_B + FTS5_B * lengths.sum(axis=0) / average)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes, about."""
        keys = self.keys
        arrays = (keys.rowids, keys.doc_rowids, keys.offsets, keys.tokens, self._place_of)
        names = sum(map(len, keys.paths.values())) + _NAME_BYTES * len(keys.paths)
        counted = (*arrays, self.title_lengths, self.body_lengths, self.held)
        texts = 0 if self.texts is None else self.texts.nbytes
        return sum(array.nbytes for array in counted) + texts + names

    def scores(self, places: Places | None, values: NDArray[np.float64], *, is_natural: bool = True) -> Scores:
        """Of the rows there, or of all. is_natural: they stand in natural order."""
        rowids = self.keys.rowids if places is None else self.keys.rowids[places]
        return Scores(rowids, values, is_ascending=self.is_ascending and is_natural)

    def places(self, rowids: Any) -> Places:
        """The places of these rowids, in their order. Raises ValueError for one of no live chunk."""
        found = self.known_places(rowids)
        if len(found) != len(rowids):
            raise ValueError("a row is indexed that is no live chunk")
        return found

    def known_places(self, rowids: Any) -> Places:
        """The same, those of no live chunk passed over."""

        asked = np.asarray(rowids, dtype=np.int64)
        found: Places = self._place_of[np.clip(asked, -1, len(self._place_of) - 1)]
        return found[found >= 0]

    def natural(self, rowids: Any, *, among: Places | None = None) -> Places:
        """The places of these rows, ascending, each once; those of no live chunk, or not among these, passed over."""

        is_asked = np.zeros(len(self), dtype=np.bool_)
        is_asked[self.known_places(rowids)] = True
        if among is None:
            return np.flatnonzero(is_asked).astype(np.int32)
        return among[is_asked[among]]


def _numbers(texts: NDArray[np.int32]) -> dict[int, int]:
    """Place to number, without those of 0."""
    (several,) = texts.nonzero()
    return dict(zip(several.tolist(), texts[several].tolist(), strict=True))


def pieces_of(rows: Iterator[Any]) -> Iterator[list[Any]]:
    """What a statement gives, PIECE_ROWS at a time."""
    from itertools import islice  # noqa: PLC0415 - as above

    while piece := list(islice(rows, PIECE_ROWS)):
        yield piece
