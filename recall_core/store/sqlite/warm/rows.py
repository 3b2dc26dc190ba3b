"""The rows of one state of a store, by their place in natural order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recall_core.store.sqlite.postings import pair
from recall_core.store.sqlite.records import LIVE
from recall_core.types import Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int32]

PIECE_ROWS = 2_000
"""Rows that are read in one piece; between two pieces others are let through."""

KEYS = f"""
SELECT c.rowid, d.rowid, d.path, c.offset, c.tokens FROM doc d JOIN chunk c ON c.doc = d.rowid
WHERE {LIVE} ORDER BY d.path, c.offset
"""

SIZES = "SELECT id, sz FROM chunk_fts_docsize"


class Rows:
    """Live chunks in natural order: the place of a row is its number in it, and every array is read by place.

    rowids, documents (their rowids), offsets, tokens: (n,) int64. title_lengths, body_lengths: (n,) float64.
    """

    def __init__(self) -> None:
        self._pieces: list[Any] = []
        self._paths: list[str] = []
        self._path_numbers: dict[str, int] = {}

    def read(self, cursor: Iterator[Sequence[Any]], sizes: Iterator[tuple[int, bytes]]) -> Iterator[None]:
        """Read KEYS and SIZES to their ends, piece by piece. Raises ValueError where the two do not name the same."""
        import numpy as np  # noqa: PLC0415 - a process that asks once needs none of this

        keys = np.empty((5, 0), dtype=np.int64)
        pieces = [keys]
        for piece in pieces_of(cursor):
            rowids, documents, paths, offsets, tokens = zip(*piece, strict=True)
            pieces.append(np.array([rowids, documents, self._numbers(paths), offsets, tokens], dtype=np.int64))
            yield
        self.rowids, self.documents, self._path_at, self.offsets, self.tokens = np.concatenate(pieces, axis=1)
        top = int(self.rowids.max(initial=-1)) + 1
        self._place_of = np.full(top + 1, -1, dtype=np.int32)
        self._place_of[self.rowids] = np.arange(len(self.rowids), dtype=np.int32)
        lengths = np.full((2, len(self.rowids)), -1.0)
        read = 0
        for sized in pieces_of(sizes):
            lengths[:, self.places([row for row, _ in sized])] = np.array([pair(size) for _, size in sized]).T
            read += len(sized)
            yield
        self.title_lengths, self.body_lengths = lengths
        if read != len(self.rowids) or bool((lengths < 0).any()):
            raise ValueError("the full-text index does not hold the live chunks")

    def _numbers(self, paths: Sequence[str]) -> list[int]:
        numbers = self._path_numbers
        for path in paths:
            if path not in numbers:
                numbers[path] = len(numbers)
                self._paths.append(path)
        return [numbers[path] for path in paths]

    def __len__(self) -> int:
        return len(self.rowids)

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take."""
        arrays = (self.rowids, self.documents, self._path_at, self.offsets, self.tokens)
        more = (self.title_lengths, self.body_lengths, self._place_of)
        return sum(array.nbytes for array in (*arrays, *more)) + sum(map(len, self._paths))

    def places(self, rowids: Any) -> Places:
        """The places of these rowids, in their order. Raises ValueError for one of no live chunk."""
        found = self.known_places(rowids)
        if len(found) != len(rowids):
            raise ValueError("a row is indexed that is no live chunk")
        return found

    def known_places(self, rowids: Any) -> Places:
        """The same, those of no live chunk passed over."""
        import numpy as np  # noqa: PLC0415 - as above

        asked = np.asarray(rowids, dtype=np.int64)
        found: Places = self._place_of[np.clip(asked, -1, len(self._place_of) - 1)]
        return found[found >= 0]

    def natural(self, rowids: Any, *, among: Places | None = None) -> Places:
        """The places of these rows, ascending, each once; those of no live chunk, or not among these, passed over."""
        import numpy as np  # noqa: PLC0415 - as above

        found: Places = np.unique(self.known_places(rowids))
        return found if among is None else np.intersect1d(found, among, assume_unique=True)

    def keys(self, places: Places | None) -> tuple[Key, ...]:
        """The keys of the rows there, or of all."""
        chosen = slice(None) if places is None else places
        columns = (self.rowids, self.documents, self._path_at, self.offsets, self.tokens)
        rowids, documents, paths, offsets, tokens = (column[chosen].tolist() for column in columns)
        named = map(self._paths.__getitem__, paths)
        return tuple(map(Key, rowids, documents, named, offsets, tokens))


def pieces_of(rows: Iterator[Any]) -> Iterator[list[Any]]:
    """What a statement gives, PIECE_ROWS at a time."""
    from itertools import islice  # noqa: PLC0415 - as above

    while piece := list(islice(rows, PIECE_ROWS)):
        yield piece
