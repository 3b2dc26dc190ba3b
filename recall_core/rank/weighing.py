"""A ranking, and how one is weighed: the stages of its signals become points, points a score, scores an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import add, sub
from typing import NamedTuple, TypeAlias, overload

from recall_core.config import Config
from recall_core.deadline import check
from recall_core.rank.normalize import DECIMALS
from recall_core.types import Part, Ranked, Signal

MILLION = 10.0**DECIMALS  # values are whole millionths

WHOLE = 2.0**52  # what this was added to and taken from is rounded to a whole number

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

    kept: how many are in the list. The others follow: first those that min_cosine drops, then those below min_score.
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
        wholes = in_millionths(weights)
        total = sum(wholes) * MILLION
        amounts = [
            [whole * (value * MILLION + WHOLE - WHOLE) for value in stage.values]
            for stage, whole in zip(stages, wholes, strict=True)
        ]
        scores = [amount / total for amount in summed(amounts)]
        points = [scores] if stages else []
        for first in amounts[:-1]:  # at most one
            rest = [score - amount / total for score, amount in zip(scores, first, strict=True)]
            points = [list(map(sub, scores, rest)), rest]
    # The pool stands in natural order and Python's sort is stable: equal scores stay in that order.
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True), scores, points


def summed(points: Sequence[Sequence[float]]) -> list[float]:
    """The score of every candidate: its points, added from the first signal to the last."""
    scores = list(points[0]) if points else []
    for more in points[1:]:
        scores = list(map(add, scores, more))
    return scores


def in_millionths(weights: Sequence[float]) -> list[float]:
    """The weights in millionths, without a fraction where they have at most six decimals."""
    return [
        float(round(weight * MILLION)) if round(weight, DECIMALS) == weight else weight * MILLION
        for weight in weights
    ]
