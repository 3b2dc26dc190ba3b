"""Sets of weights: unions of intervals with exact ends, each open or closed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from math import ceil, floor
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from recall_core.contract.ledger import WeightIntervalView
from recall_core.deadline import check
from recall_core.explain.lines import Weight, exact

Label = TypeVar("Label")
Each = TypeVar("Each", np.int64, np.bool_)
_DIGITS = (3, 4, 5, 6)
"""Weights that a person types. Six decimals keep unequal scores of six decimals further apart than float error."""


class Interval(NamedTuple):
    """Weights from low to high. An open end is not part of it; low == high is one weight, both ends closed."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @property
    def width(self) -> float:
        """Its length, 0 to 1."""
        return float(self.high - self.low)

    def holds(self, weight: Weight) -> bool:
        """Return True if the weight lies in it, exactly."""
        w = exact(weight)
        return (self.low < w or (w == self.low and not self.low_open)) and (
            w < self.high or (w == self.high and not self.high_open)
        )

    def distance(self, weight: Weight) -> Fraction:
        """Return how far the weight is from its nearer end; 0 between them."""
        w = exact(weight)
        return max(self.low - w, w - self.high, Fraction(0))


def interval_view(interval: Interval) -> WeightIntervalView:
    """Return the interval as the JSON contract spells it."""
    return WeightIntervalView(
        low=float(interval.low), high=float(interval.high), low_open=interval.low_open, high_open=interval.high_open
    )


def runs(weights: Sequence[Fraction], labels: Sequence[Label]) -> list[tuple[Interval, Label]]:
    """Return the longest stretches of equal labels, in ascending order; together they are [0, 1].

    weights: the break points, 0 and 1 included. labels: one for each break point and each open cell between two,
    in turn, so 2 * len(weights) - 1.
    """
    found: list[tuple[Interval, Label]] = []
    start = 0
    for label, equal in groupby(labels):
        check()
        stop = start + sum(1 for _ in equal)
        found.append((_stretch(weights, start, stop - 1), label))
        start = stop
    return found


def runs_of_array(weights: Sequence[Fraction], labels: NDArray[Each]) -> list[tuple[Interval, Each]]:
    """Return the same of labels in an array, whose stretches are found without looking at each."""
    edges: list[int] = (np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist()
    bounds = pairwise([0, *edges, len(labels)])
    found = []
    for start, stop in bounds:
        check()
        found.append((_stretch(weights, start, stop - 1), labels[start]))
    return found


def intersect(left: Sequence[Interval], right: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return the weights in both unions. Each union is in ascending order and its intervals do not touch."""
    met: list[Interval] = []
    for one in left:
        check()
        for other in right:
            low, low_open = max((one.low, one.low_open), (other.low, other.low_open))
            high, closed = min((one.high, not one.high_open), (other.high, not other.high_open))
            if low < high or (low == high and not low_open and closed):
                met.append(Interval(low, high, low_open, not closed))
    return tuple(met)


def nearest(intervals: Sequence[Interval], weight: Weight) -> Interval | None:
    """Return the interval closest to the weight, then the longer; single weights only when there is nothing else."""
    long = [each for each in intervals if each.low < each.high]
    return min(long or intervals, key=lambda each: (each.distance(weight), each.low - each.high), default=None)


def weight_inside(interval: Interval, near: Weight) -> float | None:
    """Return a weight that the interval holds: the given one, else the nearest of few decimals, else the middle.

    None when no float prints a decimal in it, as with a single weight of 1/3.
    """
    tried = [exact(near), *(_decimal(interval, exact(near), 10**digits) for digits in _DIGITS)]
    tried.append((interval.low + interval.high) / 2)
    return next((float(each) for each in tried if 0 <= each <= 1 and interval.holds(float(each))), None)


def _stretch(weights: Sequence[Fraction], first: int, last: int) -> Interval:
    return Interval(weights[first // 2], weights[(last + 1) // 2], first % 2 == 1, last % 2 == 1)


def _decimal(interval: Interval, near: Fraction, unit: int) -> Fraction:
    """Return the multiple of 1 / unit just inside the end that faces the given weight."""
    if near <= interval.low:
        low = interval.low * unit
        return Fraction(floor(low) + 1 if interval.low_open else ceil(low), unit)
    high = interval.high * unit
    return Fraction(ceil(high) - 1 if interval.high_open else floor(high), unit)
