"""A ranking and its weighing: signal stages become points, points become scores, scores become an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import add, sub
from typing import NamedTuple, TypeAlias, overload

from recall_core._lazy import np
from recall_core.config import Config
from recall_core.deadline import check
from recall_core.rank.columns import RawColumn, Series, round_half_even
from recall_core.types import Part, Pool, Ranked, Signal

DECIMALS = 6


def lexical_values(pool: Pool, normalize: str) -> Sequence[float]:
    """Return one value for each candidate; 0 if no term matches.

    bound: raw / B, where B = (k1 + 1) times the sum of idf is the upper bound of any chunk. So a value does not
    depend on other candidates and adds up over terms.
    max, minmax: depend on the pool.
    """
    if normalize == "bound":
        return _shares(pool.lexical, pool.bound)
    return _scale(pool.lexical, normalize)


def semantic_values(pool: Pool, normalize: str) -> Sequence[float]:
    """Return one value for each candidate, from max(0, cosine); 0 for a chunk without a vector."""
    if normalize == "minmax":
        return _scale(pool.semantic, normalize)
    if normalize == "max":
        return _scale(_above_zero(pool.semantic), normalize)
    if isinstance(pool.semantic, RawColumn):
        return Series(np.where(pool.semantic.array > 0, pool.semantic.array, 0.0))
    return [cosine if cosine and cosine > 0 else 0.0 for cosine in pool.semantic]


def _above_zero(raw: Sequence[float | None]) -> Sequence[float | None]:
    if isinstance(raw, RawColumn):
        return RawColumn(np.where(raw.array <= 0, 0.0, raw.array))
    return [None if cosine is None else max(0.0, cosine) for cosine in raw]


def scale(pool: Pool, signal: Signal, normalize: str) -> tuple[float, float]:
    """Return the raw values that become 0 and 1. With `bound` they do not depend on the candidates."""
    if normalize == "bound":
        return 0.0, pool.bound if signal == "lexical" else 1.0
    low, high = limits(pool.lexical if signal == "lexical" else pool.semantic)
    return (low, high) if normalize == "minmax" else (0.0, max(0.0, high))


def limits(raw: Sequence[float | None]) -> tuple[float, float]:
    """Return the lowest and highest value present, (0, 0) if there are none."""
    if isinstance(raw, RawColumn):
        held = raw.array[~np.isnan(raw.array)]
        # argmin and argmax return the first of equal values, like min and max, so a zero keeps its sign.
        return (float(held[held.argmin()]), float(held[held.argmax()])) if len(held) else (0.0, 0.0)
    present = [value for value in raw if value is not None]
    return (min(present), max(present)) if present else (0.0, 0.0)


def _shares(raw: Sequence[float | None], bound: float) -> Sequence[float]:
    if isinstance(raw, RawColumn):
        return _share_column(raw, bound)
    if bound <= 0:
        return [0.0] * len(raw)
    return [0.0 if value is None else min(1.0, round(value / bound, DECIMALS)) for value in raw]


def _share_column(raw: RawColumn, bound: float) -> Series[float]:
    if bound <= 0:
        return Series(np.zeros(len(raw)))
    with np.errstate(over="ignore"):
        shares = np.where(np.isnan(raw.array), 0.0, raw.array) / bound
    return Series(np.minimum(round_half_even(shares, DECIMALS), 1.0))


def _scale(raw: Sequence[float | None], normalize: str) -> Sequence[float]:
    """Divide by the highest value (max), or stretch between lowest and highest (minmax; equal values give 1)."""
    low, high = limits(raw)
    if normalize == "max":
        low = 0.0
    width = high - low
    flat = 1.0 if normalize == "minmax" else 0.0
    if isinstance(raw, RawColumn):
        return _scaled_column(raw, low, width, flat)
    if width <= 0:
        return [0.0 if value is None else flat for value in raw]
    return [0.0 if value is None else round((value - low) / width, DECIMALS) for value in raw]


def _scaled_column(raw: RawColumn, low: float, width: float, flat: float) -> Series[float]:
    absent = np.isnan(raw.array)
    if width <= 0:
        return Series(np.where(absent, 0.0, flat))
    return Series(np.where(absent, 0.0, round_half_even((np.where(absent, low, raw.array) - low) / width, DECIMALS)))


MILLION = 10.0**DECIMALS  # values are whole millionths

WHOLE = 2.0**52  # adding and subtracting this rounds to a whole number

Fused: TypeAlias = tuple[Sequence[int], Sequence[float], Sequence[Sequence[float]]]

"""Order of the candidates, their scores, and the points of each signal."""


class SignalStage(NamedTuple):
    """One signal over the pool, independent of weights: raw, normalized, and rank from 1 if present."""

    signal: Signal
    raw: Sequence[float | None]
    values: Sequence[float]
    ranks: Sequence[int | None]


class Column(NamedTuple):
    """One signal over the pool: raw, normalized, rank from 1 if present, and points."""

    signal: Signal
    weight: float
    raw: Sequence[float | None]
    values: Sequence[float]
    ranks: Sequence[int | None]
    points: Sequence[float]


class Ranking(Sequence[Ranked]):
    """A pool in order, best first. Scores are ready; the parts of a candidate are assembled on access.

    kept: number of rows in the list. Rows excluded by min_cosine follow, then rows below min_score.
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
            return [self._row(position) for position in self.order[index]]
        return self._row(self.order[index])

    def __iter__(self) -> Iterator[Ranked]:
        return map(self._row, self.order)

    def reorder(self, order: Sequence[int], *, kept: int) -> Ranking:
        """Return the same scores in another order. Only the first `kept` count."""
        return Ranking(order, self.scores, self.columns, kept=kept)

    def _row(self, position: int) -> Ranked:
        check()
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


def plain(stages: tuple[SignalStage, ...], weights: Sequence[float], config: Config) -> Fused:
    """Weigh, add and order the stages, candidate by candidate.

    weighted: whole numbers are multiplied, added and divided once, so scores that are equal as decimals are equal.
    Of two signals, the last gets what the first leaves of the score, and the first what that leaves. One of two such
    differences is always exact, regardless of earlier rounding (Sterbenz 1974).
    """
    points: list[list[float]]
    if config.fusion == "rrf":
        most = sum(weight / (config.rrf_k + 1) for weight in weights)
        points = [
            [0.0 if rank is None else weight / (config.rrf_k + rank) / most for rank in stage.ranks]
            for stage, weight in zip(stages, weights, strict=True)
        ]
        scores = add_points(points)
    else:
        wholes = in_millionths(weights)
        total = sum(wholes) * MILLION
        amounts = [
            [whole * (value * MILLION + WHOLE - WHOLE) for value in stage.values]
            for stage, whole in zip(stages, wholes, strict=True)
        ]
        scores = [amount / total for amount in add_points(amounts)]
        points = [scores] if stages else []
        for first in amounts[:-1]:  # at most one
            rest = [score - amount / total for score, amount in zip(scores, first, strict=True)]
            points = [list(map(sub, scores, rest)), rest]
    # The pool is in natural order and Python's sort is stable, so equal scores keep that order.
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True), scores, points


def add_points(points: Sequence[Sequence[float]]) -> list[float]:
    """Return the score of every candidate: its points, added from the first signal to the last."""
    scores = list(points[0]) if points else []
    for more in points[1:]:
        scores = list(map(add, scores, more))
    return scores


def in_millionths(weights: Sequence[float]) -> list[float]:
    """Return the weights in millionths, whole numbers if they have at most six decimals."""
    return [
        float(round(weight * MILLION)) if round(weight, DECIMALS) == weight else weight * MILLION
        for weight in weights
    ]


_GRID = 2.0  # adding and subtracting 2 rounds to a multiple of 2**-51; three of them add up exactly in any order


def head(ranking: Ranking, config: Config) -> list[int]:
    """Return the positions that a reranker must score: the best rerank_rows rows, best first."""
    return list(ranking.order[: config.rerank_rows])


def rescore(ranking: Ranking, values: Mapping[int, float], config: Config) -> Ranking:
    """Return the ranking by (1 - w) * score + w * value, where w is rerank_weight; equal scores keep their order.

    Rows without a value keep (1 - w) of their score, so none overtakes from below. min_score applies to the new
    score. The points of a row's parts, the last of which is rerank, still add up to its score to the last bit.

    values: position to a value from 0 to 1, for the rows in `head`.
    """
    if not ranking.columns:
        return ranking
    weight = config.rerank_weight
    columns = tuple(_reduce(column, 1.0 - weight) for column in ranking.columns)
    columns += (_column(ranking, values, weight),)
    scores = add_points([column.points for column in columns])
    order = sorted(ranking.order, key=scores.__getitem__, reverse=True)
    kept = sum(scores[position] >= config.min_score for position in order) if config.min_score > 0 else len(order)
    return Ranking(order, scores, columns, kept=kept)


def _reduce(column: Column, share: float) -> Column:
    if share == 1.0:
        return column
    return column._replace(points=[points * share + _GRID - _GRID for points in column.points])


def _column(ranking: Ranking, values: Mapping[int, float], weight: float) -> Column:
    size = len(ranking.scores)
    raw: list[float | None] = [None] * size
    stage, points = [0.0] * size, [0.0] * size
    ranks: list[int | None] = [None] * size
    scored = [position for position in ranking.order if position in values]
    for rank, position in enumerate(sorted(scored, key=values.__getitem__, reverse=True), start=1):
        value = values[position]
        raw[position], stage[position], ranks[position] = value, value, rank
        points[position] = weight * value + _GRID - _GRID
    return Column("rerank", weight, tuple(raw), stage, ranks, points)
