"""Columns of a pool as arrays: keys, values, ranks and scores without an object for each row.

A store that has NumPy loaded may return `Scores` instead of a dict and `KeyColumns` instead of a tuple. Results stay
in arrays until a page is cut. Each class is also a plain sequence or mapping, equal to the tuple, list or dict of its
items. Nothing here imports NumPy before there is an array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, ItemsView, Iterator, Mapping, Sequence, ValuesView
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from recall_core._lazy import np
from recall_core.types import Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

N = TypeVar("N", int, float)

_ONE_BY_ONE = 64  # ranks counted one by one; for more, one sort is cheaper


class Series(Sequence[N]):
    """An array that equals the list of its numbers. array: one-dimensional, of N's NumPy type."""

    __slots__ = ("array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> N: ...
    @overload
    def __getitem__(self, index: slice) -> list[N]: ...
    def __getitem__(self, index: int | slice) -> N | list[N]:
        found: N | list[N] = self.array[index].tolist()
        return found

    def __iter__(self) -> Iterator[N]:
        return iter(self.array.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the index of a value, like list.index."""
        found = (self.array[start:stop] == value).nonzero()[0]
        if not len(found):
            raise ValueError(f"{value!r} is not in the series")
        return start + int(found[0])


class Scores(Mapping[int, float]):
    """rowid to value, equal to the dict of its items.

    rowids: (n,) int64, distinct.
    values_array: (n,) float64 in the same order, without NaN.
    is_ascending: the rowids ascend; otherwise they have the store's order, best first.
    """

    __slots__ = ("_held", "is_ascending", "rowids", "values_array")

    def __init__(self, rowids: Integers, values_array: Floats, *, is_ascending: bool = True) -> None:
        self.rowids = rowids
        self.values_array = values_array
        self.is_ascending = is_ascending
        self._held: dict[int, float] | None = None

    def __len__(self) -> int:
        return len(self.rowids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rowids.tolist())

    def __getitem__(self, rowid: int) -> float:
        return self._dict()[rowid]

    def __contains__(self, rowid: object) -> bool:
        return rowid in self._dict()

    def items(self) -> ItemsView[int, float]:
        """Return the items, like a dict."""
        return self._dict().items()

    def values(self) -> ValuesView[float]:
        """Return the values, like a dict."""
        return self._dict().values()

    def _dict(self) -> dict[int, float]:
        if self._held is None:
            self._held = dict(zip(self.rowids.tolist(), self.values_array.tolist(), strict=True))
        return self._held

    def over(self, rowids: Integers) -> Floats:
        """Return the value of each of these rows, in their order; NaN for none."""
        if rowids is self.rowids:
            return self.values_array
        if not len(self.rowids):
            return np.full(len(rowids), np.nan)
        sorter = None if self.is_ascending else np.argsort(self.rowids)
        places = np.minimum(np.searchsorted(self.rowids, rowids, sorter=sorter), len(self.rowids) - 1)
        if sorter is not None:
            places = sorter[places]
        found: Floats = np.where(self.rowids[places] == rowids, self.values_array[places], np.nan)
        return found


def scores_of(values: Mapping[int, float]) -> Scores:
    """Return any mapping of rowids as arrays, in its own order."""
    if isinstance(values, Scores):
        return values
    rowids = np.fromiter(values.keys(), dtype=np.int64, count=len(values))
    return Scores(rowids, np.fromiter(values.values(), dtype=np.float64, count=len(values)), is_ascending=False)


class KeySequence(Sequence[Key]):
    """Keys in natural order, made on demand. rowids: of all of them."""

    __slots__ = ()

    rowids: Any

    def made(self, positions: Sequence[int]) -> list[Key]:
        """Return the keys at these positions."""
        return [self[position] for position in positions]

    def documents(self, positions: Sequence[int]) -> list[int]:
        """Return the document rowid of each of these positions."""
        return [key.doc_rowid for key in self.made(positions)]


class KeyColumns(KeySequence):
    """Keys in natural order, equal to the tuple of them. A Key object is made on access.

    Columns are (n,) int64. paths: document rowid to path, for at least these documents; equal paths may be one
    object.
    """

    __slots__ = ("doc_rowids", "offsets", "paths", "rowids", "tokens")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        *,
        rowids: Integers,
        doc_rowids: Integers,
        offsets: Integers,
        tokens: Integers,
        paths: Mapping[int, str],
    ) -> None:
        self.rowids = rowids
        self.doc_rowids = doc_rowids
        self.offsets = offsets
        self.tokens = tokens
        self.paths = paths

    def __len__(self) -> int:
        return len(self.rowids)

    @overload
    def __getitem__(self, index: int) -> Key: ...
    @overload
    def __getitem__(self, index: slice) -> KeyColumns: ...
    def __getitem__(self, index: int | slice) -> Key | KeyColumns:
        if isinstance(index, slice):
            return self.at(index)
        document = int(self.doc_rowids[index])
        path, offset = self.paths[document], int(self.offsets[index])
        return Key(int(self.rowids[index]), document, path, offset, int(self.tokens[index]))

    def __iter__(self) -> Iterator[Key]:
        documents = self.doc_rowids.tolist()
        paths = map(self.paths.__getitem__, documents)
        return map(Key, self.rowids.tolist(), documents, paths, self.offsets.tolist(), self.tokens.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def documents(self, positions: Sequence[int]) -> list[int]:
        """Return the document rowid of each of these positions."""
        places = positions.array if isinstance(positions, Series) else positions
        found: list[int] = self.doc_rowids[places].tolist() if len(places) else []
        return found

    def at(self, places: NDArray[Any] | slice) -> KeyColumns:
        """Return the keys at these places, in the given order, or those selected by a boolean array."""
        return KeyColumns(
            rowids=self.rowids[places],
            doc_rowids=self.doc_rowids[places],
            offsets=self.offsets[places],
            tokens=self.tokens[places],
            paths=self.paths,
        )


class RawColumn(Sequence["float | None"]):
    """A signal over a pool, equal to the tuple of its values. array: (n,) float64, NaN for a row without a value."""

    __slots__ = ("array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Floats) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> float | None: ...
    @overload
    def __getitem__(self, index: slice) -> RawColumn: ...
    def __getitem__(self, index: int | slice) -> float | RawColumn | None:
        if isinstance(index, slice):
            return RawColumn(self.array[index])
        value = float(self.array[index])
        return None if isnan(value) else value

    def __iter__(self) -> Iterator[float | None]:
        return (None if isnan(value) else value for value in self.array.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def count(self, value: Any) -> int:
        """Return how often a value occurs, like tuple.count."""
        return int(np.count_nonzero(np.isnan(self.array) if value is None else self.array == value))


class UnsettledColumn(Sequence["float | None"], ABC):
    """One signal over a pool whose values are settled on access; see `rank.estimates`."""

    __slots__ = ()

    @abstractmethod
    def nearest(self, depth: int) -> list[int]:
        """Return the positions of the greatest values, best first; ties in natural order."""


class RankColumn(Sequence["int | None"]):
    """Ranks of a column's rows, from 1, greatest value first; ties in natural order. None for a row without a value.

    Equal to the tuple of the ranks. A few ranks are counted on access, because a page shows ten of thousands of rows.
    """

    __slots__ = ("_asked", "_ranks", "_raw")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, raw: RawColumn) -> None:
        self._raw = raw.array
        self._ranks: Integers | None = None
        self._asked = 0

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> int | None: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int | None, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int | None, ...] | None:
        if isinstance(index, slice):
            return tuple([rank or None for rank in self.array[index].tolist()])
        self._asked += 1
        if self._ranks is None and self._asked <= _ONE_BY_ONE:
            return self._count(index if index >= 0 else len(self) + index)
        return int(self.array[index]) or None

    def __iter__(self) -> Iterator[int | None]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    @property
    def array(self) -> Integers:
        """(n,) int64, 0 for a row without a value."""
        if self._ranks is None:
            raw = self._raw
            order = (-raw).argsort(kind="stable")  # NaN sorts last
            ranks = np.empty(len(raw), dtype=np.int64)
            ranks[order] = np.arange(1, len(raw) + 1)
            ranks[np.isnan(raw)] = 0
            self._ranks = ranks
        return self._ranks

    def _count(self, position: int) -> int | None:
        value = self._raw[position]
        if isnan(value):
            return None
        return 1 + int((self._raw > value).sum()) + int((self._raw[:position] == value).sum())


def positions_of(keys: Sequence[Key], rowids: Collection[int]) -> dict[int, int]:
    """Return rowid to position among these keys, for the rows that are there, in the order of the keys."""
    if not isinstance(keys, KeyColumns):
        wanted = frozenset(rowids)
        return {key.rowid: position for position, key in enumerate(keys) if key.rowid in wanted}

    wanted_rowids = np.fromiter(rowids, dtype=np.int64, count=len(rowids))
    places = np.flatnonzero(np.isin(keys.rowids, wanted_rowids))
    return dict(zip(keys.rowids[places].tolist(), places.tolist(), strict=True))


def rowids_of(keys: Sequence[Key]) -> Sequence[int]:
    """Return the rowids of all candidates, by position."""
    if isinstance(keys, KeyColumns):
        return Series(keys.rowids)
    return keys.rowids if isinstance(keys, KeySequence) else [key.rowid for key in keys]


def keys_at(keys: Sequence[Key], positions: Sequence[int]) -> list[Key]:
    """Return the keys at these positions, made together."""
    return keys.made(positions) if isinstance(keys, KeySequence) else [keys[position] for position in positions]


def documents_of(keys: Sequence[Key], positions: Sequence[int]) -> list[int]:
    """Return the document rowid of each of these positions."""
    if isinstance(keys, KeySequence):
        return keys.documents(positions)
    return [keys[position].doc_rowid for position in positions]


def round_half_even(values: Floats, decimals: int) -> Floats:
    """Round each value like Python's round(), half-even, to the last bit.

    The product with a power of ten is off by less than a millionth of a unit of the last decimal, if it is below 2 **
    30. Values nearer than that to a half, and greater values, go through round() itself. A whole number divided by a
    power of ten is the float nearest to that decimal, like the result of round().
    """
    unit = 10.0**decimals
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values * unit
        whole = np.rint(scaled)
        doubtful = (np.abs(np.abs(scaled - whole) - 0.5) < _DOUBT) | ~(np.abs(scaled) < _SURE)
    found: Floats = whole / unit
    for place in np.flatnonzero(doubtful).tolist():
        found[place] = round(float(values[place]), decimals)
    return found


_DOUBT = 1e-6  # 2 ** 30 times the rounding error of one operation, 2 ** -53, times a margin of ten
_SURE = 2.0**30
