"""Fusion: the values of all signals become one score a candidate, and the order they give."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from math import inf
from operator import add, sub
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar, overload

from recall_core.config import LEAST_WEIGHT, Config
from recall_core.rank.columns import KeyColumns, RankColumn, RawColumn, Series, UnsettledColumn
from recall_core.rank.normalize import DECIMALS, lexical_values, semantic_values
from recall_core.types import Part, Pool, Ranked, Signal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


class Same(Generic[T]):
    """Holds a value and is equal to another holder of the very same object. Hashing a tuple reads all of it."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


_MILLION = 10.0**DECIMALS  # values are whole millionths

_WHOLE = 2.0**52  # what this was added to and taken from is rounded to a whole number

_POOLS_KEPT = 2  # a weight that moves changes neither the values of a signal nor its ranks

_PLAIN_ROWS = 100  # below this, plain Python costs less than filling arrays

_PLAIN_ROWS_COLD = 100_000  # and below this, less than importing NumPy first

Fused: TypeAlias = tuple[Sequence[int], Sequence[float], Sequence[Sequence[float]]]

"""The order of the candidates, their scores, and the points that each signal gives to them."""


class SignalStage(NamedTuple):
    """One signal over the pool, as no weight changes it: raw, normalised, and its rank from 1 where present."""

    signal: Signal
    raw: Sequence[float | None]
    values: Sequence[float]
    ranks: Sequence[int | None]


class Column(NamedTuple):
    """One signal over the pool: raw, normalised, its rank from 1 where present, and its points."""

    signal: Signal
    weight: float
    raw: Sequence[float | None]
    values: Sequence[float]
    ranks: Sequence[int | None]
    points: Sequence[float]


class Ranking(Sequence[Ranked]):
    """A pool in order, best first: scores are ready, the parts of a candidate are put together when it is asked for.

    kept: how many lead the list with a score of at least min_score; the rest follow in the same order.
    """

    def __init__(
        self, order: Sequence[int], scores: Sequence[float], columns: tuple[Column, ...], *, kept: int
    ) -> None:
        self.order = order
        self.scores = scores
        self.kept = kept
        self.columns = columns

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, index: int) -> Ranked: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ranked]: ...
    def __getitem__(self, index: int | slice) -> Ranked | list[Ranked]:
        if isinstance(index, slice):
            return [self._ranked(position) for position in self.order[index]]
        return self._ranked(self.order[index])

    def __iter__(self) -> Iterator[Ranked]:
        return map(self._ranked, self.order)

    def reordered(self, order: Sequence[int], *, kept: int) -> Ranking:
        """The same scores in another order, of which the first `kept` count."""
        return Ranking(order, self.scores, self.columns, kept=kept)

    def _ranked(self, position: int) -> Ranked:
        parts = tuple(
            Part(
                signal=column.signal,
                raw=column.raw[position],
                value=column.values[position],
                weight=column.weight,
                rank=column.ranks[position],
                points=column.points[position],
            )
            for column in self.columns
            if column.signal != "rerank" or column.raw[position] is not None
        )
        return Ranked(position, self.scores[position], parts)


def rank(pool: Pool, config: Config) -> Ranking:
    """The pool under these settings: score descending, then path, offset and id.

    weighted: (sum of weight * value) / (sum of weights), over the signals that were asked for.
    rrf: sum of weight / (k + rank), divided by its maximum, sum of weight / (k + 1); a signal that a candidate is
    absent from adds 0 (Cormack, Clarke and Buettcher 2009).
    A score is the sum of its parts' points, to the last bit.
    """
    is_plainest = (config.fusion, config.normalize) == ("weighted", "bound")
    if isinstance(pool.semantic, UnsettledColumn) and pool.semantic and is_plainest:
        return _estimated(pool, pool.semantic, config)
    stages = _stages(Same(pool), config.normalize)
    weights = _weights(stages, config)
    is_small = len(pool.keys) < (_PLAIN_ROWS if "numpy" in sys.modules else _PLAIN_ROWS_COLD)
    order, scores, points = (plain if is_small else vectorised)(stages, weights, config)
    columns = tuple(
        [
            Column(stage.signal, weight, stage.raw, stage.values, stage.ranks, given)
            for stage, weight, given in zip(stages, weights, points, strict=True)
        ]
    )
    kept = _reaching(scores, config.min_score) if config.min_score > 0 else len(scores)
    return Ranking(order, scores, columns, kept=kept)


def _estimated(pool: Pool, column: UnsettledColumn, config: Config) -> Ranking:
    from recall_core.rank.page import ranking_of  # noqa: PLC0415 - it puts rows in order by `plain`

    stages = _stages(Same(pool._replace(semantic=())), config.normalize)
    semantic = SignalStage("semantic", column, (), ())
    lexical = stages[0] if stages else None
    return ranking_of(column, lexical, _weights((*stages, semantic), config), config)


def _reaching(scores: Sequence[float], least: float) -> int:
    if isinstance(scores, Series):
        return int((scores.array >= least).sum())
    return sum(score >= least for score in scores)


def plain(stages: tuple[SignalStage, ...], weights: Sequence[float], config: Config) -> Fused:
    """The stages weighed, added and put in order, a candidate after the other.

    weighted: whole numbers are multiplied, added and divided once, so that scores which are equal as decimals are
    equal. Of two signals the last gets what the first leaves of the score, and the first what that leaves: of two
    such differences one is exact, whatever was rounded before (Sterbenz 1974).
    """
    points: list[list[float]]
    if config.fusion == "rrf":
        most = sum(weight / (config.rrf_k + 1) for weight in weights)
        points = [
            [0.0 if rank is None else weight / (config.rrf_k + rank) / most for rank in stage.ranks]
            for stage, weight in zip(stages, weights, strict=True)
        ]
        scores = summed(points)
    else:
        wholes = _wholes(weights)
        total = sum(wholes) * _MILLION
        amounts = [
            [whole * (value * _MILLION + _WHOLE - _WHOLE) for value in stage.values]
            for stage, whole in zip(stages, wholes, strict=True)
        ]
        scores = [amount / total for amount in summed(amounts)]
        points = [scores] if stages else []
        for first in amounts[:-1]:  # at most one
            rest = [score - amount / total for score, amount in zip(scores, first, strict=True)]
            points = [list(map(sub, scores, rest)), rest]
    # The pool stands in natural order and Python's sort is stable: equal scores stay in that order.
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True), scores, points


def vectorised(stages: tuple[SignalStage, ...], weights: Sequence[float], config: Config) -> Fused:
    """`plain`, a column after the other. Equal operations in equal order give equal bits."""
    import numpy as np  # noqa: PLC0415 - a small pool never needs it

    if not stages:
        return [], [], []
    arrays = _arrays(Same(stages), config.fusion)
    if config.fusion == "rrf":
        most = sum(weight / (config.rrf_k + 1) for weight in weights)
        points = [weight / (config.rrf_k + ranks) / most for ranks, weight in zip(arrays, weights, strict=True)]
        scores = reduce(add, points)
    else:
        wholes = _wholes(weights)
        total = sum(wholes) * _MILLION
        *before, scores = [whole * values for values, whole in zip(arrays, wholes, strict=True)]
        for amounts in before:  # in place: memory that is new to the process costs more than the arithmetic
            scores += amounts
        scores /= total
        points = [scores]
        for amounts in before:  # at most one
            first = np.divide(amounts, total, out=amounts)
            rest = np.subtract(scores, first, out=first)
            points = [scores - rest, rest]
    return Series((-scores).argsort(kind="stable")), Series(scores), [Series(each) for each in points]


def best_of_each_document(pool: Pool, ranking: Ranking) -> Ranking:
    """Only the first chunk of every document, in the same order: a document scores what its best chunk scores."""
    if isinstance(pool.keys, KeyColumns) and isinstance(ranking.order, Series):
        return _first_of_each(ranking, pool.keys, ranking.order)
    seen: set[int] = set()
    order: list[int] = []
    kept = 0
    for place, position in enumerate(ranking.order):
        document = pool.keys[position].doc_rowid
        if document not in seen:
            seen.add(document)
            order.append(position)
            kept += place < ranking.kept
    return ranking.reordered(order, kept=kept)


def _first_of_each(ranking: Ranking, keys: KeyColumns, order: Series[int]) -> Ranking:
    import numpy as np  # noqa: PLC0415 - who has arrays has it

    _, first = np.unique(keys.doc_rowids[order.array], return_index=True)
    first.sort()
    return ranking.reordered(Series(order.array[first]), kept=int((first < ranking.kept).sum()))


def summed(points: Sequence[Sequence[float]]) -> list[float]:
    """The score of every candidate: its points, added from the first signal to the last."""
    scores = list(points[0]) if points else []
    for more in points[1:]:
        scores = list(map(add, scores, more))
    return scores


@lru_cache(maxsize=_POOLS_KEPT)
def _stages(pool: Same[Pool], normalize: str) -> tuple[SignalStage, ...]:
    """The signals that were asked for: one that was not has no column."""
    lexical, semantic = pool.value.lexical, pool.value.semantic
    stages = []
    if lexical:
        stages.append(SignalStage("lexical", lexical, lexical_values(pool.value, normalize), signal_ranks(lexical)))
    if semantic:
        stages.append(
            SignalStage("semantic", semantic, semantic_values(pool.value, normalize), signal_ranks(semantic))
        )
    return tuple(stages)


def _weights(stages: tuple[SignalStage, ...], config: Config) -> list[float]:
    """The weight of each signal. Where all are 0, equal ones."""
    weights = [config.bm25_weight if stage.signal == "lexical" else config.vector_weight for stage in stages]
    return [1.0] * len(weights) if sum(weights) < LEAST_WEIGHT else weights


def _wholes(weights: Sequence[float]) -> list[float]:
    """The weights in millionths, without a fraction where they have at most six decimals."""
    return [
        float(round(weight * _MILLION)) if round(weight, DECIMALS) == weight else weight * _MILLION
        for weight in weights
    ]


@lru_cache(maxsize=_POOLS_KEPT)
def _arrays(stages: Same[tuple[SignalStage, ...]], fusion: str) -> list[NDArray[np.float64]]:
    """What the weights meet: the values in millionths, or the ranks; what is absent ranks at infinity and gets 0."""
    import numpy as np  # noqa: PLC0415 - asked for by those who have it

    if fusion == "rrf":
        return [_rank_array(stage.ranks) for stage in stages.value]
    columns = [stage.values.array if isinstance(stage.values, Series) else stage.values for stage in stages.value]
    return [np.array(values) * _MILLION + _WHOLE - _WHOLE for values in columns]


def _rank_array(ranks: Sequence[int | None]) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - asked for by those who have it

    if isinstance(ranks, RankColumn):
        return np.where(ranks.array == 0, inf, ranks.array)
    return np.array([inf if rank is None else rank for rank in ranks])


def signal_ranks(raw: Sequence[float | None]) -> Sequence[int | None]:
    """Each candidate's rank from 1 in one signal's own total order (value, then natural order); None when absent."""
    return _signal_ranks(Same(raw))


@lru_cache(maxsize=2 * _POOLS_KEPT)
def _signal_ranks(column: Same[Sequence[float | None]]) -> Sequence[int | None]:
    raw = column.value
    if isinstance(raw, RawColumn):
        return RankColumn(raw)
    values = {position: value for position, value in enumerate(raw) if value is not None}
    ranks: list[int | None] = [None] * len(raw)
    for rank, position in enumerate(sorted(values, key=values.__getitem__, reverse=True), start=1):
        ranks[position] = rank
    return tuple(ranks)
