"""Pools whose cosines are estimated first: a value is settled, and a key read, on access.

A process that asks once has no NumPy loaded, and settling 20,000 cosines in plain Python would dominate the answer's
time. A scan in single precision gives every cosine within a proven bound. Then only the rows that may be on the page
are settled, and those so near to them that a rank depends on their order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, overload

from recall_core.rank.columns import KeySequence, UnsettledColumn
from recall_core.types import Key

T = TypeVar("T")


class Estimates(NamedTuple):
    """All rows that pass a filter, in natural order, with estimates of their cosines.

    A cosine, rounded as in an answer, differs from its estimate by at most floor + slope * |estimate|. slope < 1.
    """

    rowids: Sequence[int]
    cosines: Sequence[float | None]
    """None for a row without a vector."""
    floor: float
    slope: float


class EstimatedColumn(UnsettledColumn):
    """Cosines of a pool, equal to the tuple of them. Reading a value settles it; reading all settles all.

    settle: returns the cosines of rowids, in their order.
    """

    __slots__ = ("_all", "_by_estimate", "_estimates", "_floor", "_known", "_rowids", "_settle", "_slope")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, estimates: Estimates, settle: Callable[[Sequence[int]], Sequence[float]]) -> None:
        self._rowids, self._estimates, self._floor, self._slope = estimates
        self._settle = settle
        self._known: dict[int, float] = {}
        self._by_estimate: list[int] | None = None
        self._all: tuple[float | None, ...] | None = None

    def __len__(self) -> int:
        return len(self._estimates)

    @overload
    def __getitem__(self, index: int) -> float | None: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[float | None, ...]: ...
    def __getitem__(self, index: int | slice) -> float | tuple[float | None, ...] | None:
        if isinstance(index, slice):
            return self.whole[index]
        position = range(len(self))[index]
        return None if self._estimates[position] is None else self.settled([position])[0]

    def __iter__(self) -> Iterator[float | None]:
        return iter(self.whole)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.whole == tuple(other)

    def count(self, value: Any) -> int:
        """Return how often a value occurs, like tuple.count. Counting None settles nothing."""
        return len(self) - len(self.by_estimate) if value is None else self.whole.count(value)

    @property
    def whole(self) -> tuple[float | None, ...]:
        """All cosines, settled."""
        if self._all is None:
            self.settled(self.by_estimate)
            self._all = tuple(map(self._known.get, range(len(self))))
        return self._all

    @property
    def by_estimate(self) -> list[int]:
        """Positions of all rows with a vector, the greatest estimate first."""
        if self._by_estimate is None:
            estimates = [-9.0 if estimate is None else estimate for estimate in self._estimates]
            order = sorted(range(len(estimates)), key=estimates.__getitem__, reverse=True)
            self._by_estimate = order[: len(order) - self._estimates.count(None)]
        return self._by_estimate

    def has(self, position: int) -> bool:
        """Return True if the row has a vector."""
        return self._estimates[position] is not None

    def settled(self, positions: Sequence[int]) -> list[float]:
        """Return the settled cosines of these rows, each of which has a vector."""
        known = self._known
        unknown = sorted({position for position in positions if position not in known})
        if unknown:
            found = self._settle([self._rowids[position] for position in unknown])
            known.update(zip(unknown, found, strict=True))
        return [known[position] for position in positions]

    def least(self, position: int) -> float:
        """Return the lower bound of a row's cosine. It grows with the estimate."""
        estimate = self._estimates[position] or 0.0
        return estimate - self._floor - self._slope * abs(estimate)

    def most(self, position: int) -> float:
        """Return the upper bound of a row's cosine. It grows with the estimate."""
        estimate = self._estimates[position] or 0.0
        return estimate + self._floor + self._slope * abs(estimate)

    def rank(self, position: int) -> int | None:
        """Return the row's rank from 1, greatest cosine first, ties in natural order; None without a vector.

        Rows that are certainly greater come first in `by_estimate`, rows that are certainly smaller come last. Only
        the rows between are settled and counted.
        """
        if not self.has(position):
            return None
        (cosine,) = self.settled([position])
        order = self.by_estimate
        greater = bisect_left(order, -cosine, key=lambda each: -self.least(each))
        near = order[greater : bisect_right(order, -cosine, key=lambda each: -self.most(each))]
        settled = zip(near, self.settled(near), strict=True)
        return 1 + greater + sum(value > cosine or (value == cosine and each < position) for each, value in settled)

    def nearest(self, depth: int) -> list[int]:
        """Return the positions of the greatest cosines, best first; ties in natural order.

        A row whose upper bound is below the lower bound of the row at `depth` cannot be among them.
        """
        order = self.by_estimate
        if 0 < depth < len(order):
            order = order[: bisect_right(order, -self.least(order[depth - 1]), key=lambda each: -self.most(each))]
        order = sorted(order)
        cosines = dict(zip(order, self.settled(order), strict=True))
        return sorted(order, key=cosines.__getitem__, reverse=True)[:depth]


class UnreadKeys(KeySequence):
    """Keys in natural order with known rowids, equal to the tuple of the keys.

    read: returns the keys of rowids, in natural order.
    """

    __slots__ = ("_known", "_read", "rowids")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rowids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Key]]) -> None:
        self.rowids = rowids
        self._read = read
        self._known: dict[int, Key] = {}

    def __len__(self) -> int:
        return len(self.rowids)

    @overload
    def __getitem__(self, index: int) -> Key: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Key, ...]: ...
    def __getitem__(self, index: int | slice) -> Key | tuple[Key, ...]:
        if isinstance(index, slice):
            return tuple(self.made(range(len(self))[index]))
        return self.made([range(len(self))[index]])[0]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.made(range(len(self))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def made(self, positions: Sequence[int]) -> list[Key]:
        """Return the keys at these positions. Unknown keys are read together."""
        wanted = [self.rowids[position] for position in positions]
        unknown = [rowid for rowid in dict.fromkeys(wanted) if rowid not in self._known]
        if unknown:
            self._known.update((key.rowid, key) for key in self._read(unknown))
        return [self._known[rowid] for rowid in wanted]


class OnDemand(Sequence[T]):
    """A column whose entries are computed on access, or together for a range. Equal to the list of them."""

    __slots__ = ("_entry", "_prepare", "_size")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, size: int, entry: Callable[[int], T], prepare: Callable[[Sequence[int]], object]) -> None:
        self._size = size
        self._entry = entry
        self._prepare = prepare

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if not isinstance(index, slice):
            return self._entry(range(self._size)[index])
        positions = range(self._size)[index]
        self._prepare(positions)
        return [self._entry(position) for position in positions]

    def prepare(self, positions: Sequence[int]) -> None:
        """Compute these entries together. positions: ascending."""
        self._prepare(positions)

    def __iter__(self) -> Iterator[T]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
