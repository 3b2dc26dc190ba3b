"""A metric over all weights: one exact step function per query, and their union on one axis."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recall_core.deadline import check
from recall_core.explain.lines import Integers, Weight, exact
from recall_core.explain.sweep import Sweep

Floats: TypeAlias = NDArray[np.float64]
Metric: TypeAlias = Callable[[Floats, Floats, int], Floats]
"""(gains of the top k, a row per ranking; every judged gain of the query, descending; k) -> a value per row."""

BLOCK = 2_048
"""Cells per block, which limits memory."""

_GRAIN: Final = 2.0**30
"""Values are whole multiples of 2**-30, so their sums are exact in any order."""


class JudgedQuery(NamedTuple):
    """The judgements of one query's candidates."""

    gains: tuple[float, ...]
    """One per candidate of the pool, in natural order; 0 if not judged."""
    ideal: tuple[float, ...]
    """Every judged gain of the query, descending, in the pool or not."""


class Step(NamedTuple):
    """One query's metric in the pieces of a sweep, without the break points that do not change it."""

    weights: tuple[Fraction, ...]
    places: Floats
    """The same weights as floats."""
    values: Floats
    """(pieces,): at a break point, between it and the next, and so on."""


class StepCurve(NamedTuple):
    """The steps of all queries and the cells of their union.

    Cells are open: a single weight with lucky ties is not a useful choice. Break points too close to differ as floats
    are merged.
    """

    steps: tuple[Step, ...]
    places: Floats
    """Ascending from 0 to 1. Cell c lies between places[c] and places[c + 1]."""

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.places) - 1


def ndcg(gains: Floats, ideal: Floats, k: int) -> Floats:
    """Return discounted gain over the best possible (Jarvelin and Kekalainen 2002), discount 1 / log2(rank + 1)."""
    discounts = 1 / np.log2(np.arange(2, k + 2))
    best = float(ideal[:k] @ discounts[: len(ideal[:k])])
    found = (gains * discounts[: gains.shape[1]]).sum(axis=1)
    return found / best if best > 0 else np.zeros(len(gains))


def recall(gains: Floats, ideal: Floats, k: int) -> Floats:
    """Return the share of all relevant candidates (gain above 0) in the top k; 0 if there are none."""
    found: Floats = np.count_nonzero(gains > 0, axis=1) / max(1, np.count_nonzero(ideal > 0))
    return found


def precision(gains: Floats, ideal: Floats, k: int) -> Floats:
    """Return the share of the first k places with a relevant candidate."""
    found: Floats = np.count_nonzero(gains > 0, axis=1) / k
    return found


def mrr(gains: Floats, ideal: Floats, k: int) -> Floats:
    """Return 1 / rank of the first relevant candidate; 0 if the top k has none."""
    relevant = np.pad(gains > 0, ((0, 0), (0, 1)), constant_values=True)
    first = relevant.argmax(axis=1)
    return np.where(first < gains.shape[1], 1 / (first + 1), 0.0)


def average_precision(gains: Floats, ideal: Floats, k: int) -> Floats:
    """Return the mean over all relevant candidates of the precision at each one in the top k; 0 if there are none."""
    relevant = gains > 0
    at = np.cumsum(relevant, axis=1) / np.arange(1, gains.shape[1] + 1)
    found: Floats = (at * relevant).sum(axis=1) / max(1, np.count_nonzero(ideal > 0))
    return found


METRICS: Final[dict[str, Metric]] = {
    "ndcg": ndcg,
    "recall": recall,
    "precision": precision,
    "mrr": mrr,
    "map": average_precision,
}


def step(swept: Sweep, judged: JudgedQuery, metric: Metric, k: int) -> Step:
    """Return one query's metric at k over all weights, within 2**-31. k must not exceed the k of the sweep."""
    gains = np.array(judged.gains, dtype=np.float64)[swept.orders[:, :k]]
    values = np.round(metric(gains, np.array(judged.ideal, dtype=np.float64), k) * _GRAIN) / _GRAIN
    inner = values[1:-1]
    before, at, after = inner[:-1:2], inner[1::2], inner[2::2]
    kept = np.flatnonzero((before != at) | (at != after)) + 1
    pieces = np.concatenate([[0, 1], np.stack([2 * kept, 2 * kept + 1], axis=1).ravel(), [len(values) - 1]])
    weights = (swept.weights[0], *(swept.weights[each] for each in kept.tolist()), swept.weights[-1])
    return Step(weights, np.array([float(each) for each in weights]), values[pieces])


def step_curve(steps: Sequence[Step]) -> StepCurve:
    """Return the union of the steps. Neighbouring cells differ in at least one query."""
    changing = [each.places[1:-1][each.values[1:-2:2] != each.values[3::2]] for each in steps]
    return StepCurve(tuple(steps), np.unique(np.concatenate([[0.0, 1.0], *changing])))


def columns(curve: StepCurve, cells: slice | Integers) -> Floats:
    """Return each query's value in each of these cells, shape (queries, cells). cells: a slice or indexes."""
    lows = curve.places[:-1][cells]
    rows = [each.values[2 * np.searchsorted(each.places, lows, side="right") - 1] for each in curve.steps]
    return np.array(rows).reshape(len(curve.steps), len(lows))


def blocks(curve: StepCurve) -> Iterator[tuple[slice, Floats]]:
    """Yield all cells with their columns, a block at a time."""
    for start in range(0, curve.cells, BLOCK):
        check()
        cells = slice(start, min(start + BLOCK, curve.cells))
        yield cells, columns(curve, cells)


def values_at(curve: StepCurve, weight: Weight) -> Floats:
    """Return each query's value at exactly this weight; ties at a break point follow the natural order."""
    w = exact(weight)
    pieces = [bisect_left(each.weights, w) + bisect_right(each.weights, w) - 1 for each in curve.steps]
    return np.array([each.values[piece] for each, piece in zip(curve.steps, pieces, strict=True)])


def means(curve: StepCurve) -> Floats:
    """Return the mean over queries for each cell, shape (cells,). Needs at least one query."""
    return np.concatenate([block.sum(axis=0) for _, block in blocks(curve)]) / len(curve.steps)
