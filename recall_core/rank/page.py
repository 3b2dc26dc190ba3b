"""Rank the first rows of a pool with estimated cosines, equal to `weighing.plain` to the last bit.

A score grows with the cosine, in floating point too, because products, sums and quotients by a positive number round
monotonically. So the bounds of a cosine give bounds of the score. At least k rows reach the k-th greatest lower
bound;
a row whose upper bound is below it cannot be among the first k, not even by a tie. All other rows are settled and
ordered by `plain` itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import Any, overload

from recall_core.config import Config
from recall_core.rank.columns import UnsettledColumn
from recall_core.rank.estimates import EstimatedColumn, OnDemand
from recall_core.rank.weighing import Column, Ranking, SignalStage, plain

_FIRST = 24  # minimum number of rows to order: a page and what is read next to it


def ranking_of(
    column: UnsettledColumn, lexical: SignalStage | None, weights: Sequence[float], config: Config
) -> Ranking:
    """Return the ranking of a pool under weighted fusion with cosines as values, ordered as far as it is read.

    lexical: stage of the lexical signal, if the query has one.
    """
    assert isinstance(column, EstimatedColumn)  # noqa: S101 - the only implementation
    weighing = _Weighing(column, lexical, weights, config)
    order = _Order(weighing)
    kept = weighing.reaching(config.min_score) if config.min_score > 0 else len(column)
    return Ranking(order, weighing.column_of(0), weighing.columns(), kept=kept)


class _Weighing:
    """Scores and points of rows, computed on access."""

    def __init__(
        self, column: EstimatedColumn, lexical: SignalStage | None, weights: Sequence[float], config: Config
    ) -> None:
        self.column = column
        self.lexical = lexical
        self.weights = weights
        self.config = config
        self.matching = [] if lexical is None else [at for at, raw in enumerate(lexical.raw) if raw is not None]
        """Rows with a lexical value. The others depend on the cosine alone."""
        self._exact: dict[int, tuple[float, ...]] = {}
        """Position to its score and the points of each signal."""
        self._of_matching: tuple[Sequence[float], Sequence[float]] | None = None

    def columns(self) -> tuple[Column, ...]:
        """Return the columns of the ranking, one for each signal."""
        made = []
        if self.lexical is not None:
            signal, raw, values, ranks = self.lexical
            made.append(Column(signal, self.weights[0], raw, values, ranks, self.column_of(1)))
        ranks = OnDemand(len(self.column), self.column.rank, lambda _: None)
        values = OnDemand(len(self.column), self._value, self.settle)
        points = self.column_of(1 + len(made))
        return (*made, Column("semantic", self.weights[-1], self.column, values, ranks, points))

    def column_of(self, place: int) -> OnDemand[float]:
        """Return entry `place` of every row: 0 for the score, then the points of each signal."""
        return OnDemand(len(self.column), lambda position: self._weigh(position)[place], self.weigh)

    def settle(self, positions: Sequence[int]) -> None:
        """Settle the cosines of these rows together."""
        self.column.settled([position for position in positions if self.column.has(position)])

    def _value(self, position: int) -> float:
        return max(0.0, self.column[position] or 0.0)

    def _weigh(self, position: int) -> tuple[float, ...]:
        if position not in self._exact:
            self.weigh([position])
        return self._exact[position]

    def weigh(self, positions: Sequence[int]) -> list[int]:
        """Settle these rows, given in ascending order, and return their positions, best first."""
        self.settle(positions)
        order, scores, points = self._plain(positions, [self._value(position) for position in positions])
        self._exact.update(zip(positions, zip(scores, *points, strict=True), strict=True))
        return [positions[at] for at in order]

    def _plain(
        self, positions: Sequence[int], values: Sequence[float]
    ) -> tuple[Sequence[int], Sequence[float], Sequence[Sequence[float]]]:
        """Return `weighing.plain` of these rows with these semantic values."""
        stages = [] if self.lexical is None else [_stage([self.lexical.values[each] for each in positions])]
        return plain((*stages, _stage(values)), self.weights, self.config)

    def _bounds(self) -> tuple[Sequence[float], Sequence[float]]:
        """Return the lower and upper bounds of the matching rows' scores."""
        if self._of_matching is None:
            column, rows = self.column, self.matching
            least = [max(0.0, column.least(each)) if column.has(each) else 0.0 for each in rows]
            most = [max(0.0, column.most(each)) if column.has(each) else 0.0 for each in rows]
            self._of_matching = self._plain(rows, least)[1], self._plain(rows, most)[1]
        return self._of_matching

    def _alone(self, value: float) -> float:
        """Return the score of a row without a lexical value."""
        nothing = () if self.lexical is None else (_stage([0.0]),)
        return plain((*nothing, _stage([max(0.0, value)])), self.weights, self.config)[1][0]

    def _surely(self, score: float) -> int:
        """Return how many of `by_estimate` certainly reach this score by their cosine alone."""
        column = self.column
        return bisect_right(column.by_estimate, -score, key=lambda each: -self._alone(column.least(each)))

    def _maybe(self, score: float) -> int:
        """Return how many of `by_estimate` may reach this score by their cosine alone."""
        column = self.column
        return bisect_right(column.by_estimate, -score, key=lambda each: -self._alone(column.most(each)))

    def reaching(self, score: float) -> int:
        """Return how many rows reach this score, which is above 0."""
        matching, order, surely = frozenset(self.matching), self.column.by_estimate, self._surely(score)
        found = sum(position not in matching for position in order[:surely])
        doubtful = [position for position in order[surely : self._maybe(score)] if position not in matching]
        for position, least, most in zip(self.matching, *self._bounds(), strict=True):
            found += least >= score
            if least < score <= most:
                doubtful.append(position)
        self.weigh(sorted(doubtful))
        return found + sum(self._exact[position][0] >= score for position in doubtful)

    def first(self, k: int) -> list[int]:
        """Return the first k rows, best first."""
        matching, (least, most) = self.matching, self._bounds()
        known = frozenset(matching)
        alone = [position for position in self.column.by_estimate[:k] if position not in known]
        reached = nlargest(k, [*least, *(self._alone(self.column.least(position)) for position in alone)])
        if len(reached) < k or reached[-1] <= 0:
            return self.weigh(range(len(self.column)))  # rows with score 0 may be among them
        others = self.column.by_estimate[: self._maybe(reached[-1])]
        can = [position for position, score in zip(matching, most, strict=True) if score >= reached[-1]]
        return self.weigh(sorted({*others, *can}))[:k]


def _stage(values: Sequence[float]) -> SignalStage:
    return SignalStage("semantic", (), values, ())


class _Order(Sequence[int]):
    """Positions of a pool, best first, computed as far as they are read. Equal to the list of them."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, weighing: _Weighing) -> None:
        self._weighing = weighing
        self._size = len(weighing.column)
        self._known: list[int] = []

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            places = range(self._size)[index]
            known = self._upto(max(places, default=-1) + 1)
            return [known[place] for place in places]
        place = range(self._size)[index]
        return self._upto(place + 1)[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._upto(self._size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the index of a value, like list.index."""
        return self._upto(self._size).index(value, start, self._size if stop is None else stop)

    def _upto(self, k: int) -> list[int]:
        """Return at least the first k positions."""
        if k > len(self._known):
            k = max(k, 2 * len(self._known), _FIRST)
            self._known = self._weighing.first(k if 2 * k < self._size else self._size)
        return self._known
