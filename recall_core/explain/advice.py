"""Whether another weight is better, how sure that is, and which weight to take: or why none is recommended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recall_core.explain.curve import Floats, StepCurve, blocks, columns, means, values_at
from recall_core.explain.gains import SIGNIFICANT, PowerOfTest, critical_value, expected_gain, power
from recall_core.explain.lines import Integers, Weight, exact
from recall_core.explain.resampling import SEED, Band, chance, draws, interval, largest_by_chance, statistics

Mask: TypeAlias = NDArray[np.bool_]

LEAST_QUERIES = 10
"""With fewer, no weight is recommended."""


class Advice(NamedTuple):
    """One metric over all weights, against the current settings. Gains are best minus current."""

    current: float
    best: float
    """The highest mean any cell has."""
    best_weights: tuple[Band, ...]
    """All cells that have it. Bands here and below are open and in ascending order."""
    plateau: tuple[Band, ...]
    """Where the paired difference to the widest best cell is within one standard error of 0."""
    best_weight_ci: Band
    """95 % of bootstrap samples of the queries have their best weight in it."""
    gain: float
    gain_ci: Band
    """Of the best weight that was found, so that it does not know it was picked."""
    p: float
    """Sign-flip test, two-sided, of the best weight against the current one: it too ignores that it was picked."""
    p_picked: float
    """The same, one-sided, against the largest of all cells of all curves: corrected for picking."""
    honest_gain: float
    """Each query's gain at the weight that is best for the other queries, on average."""
    expected_gain: float
    """What other queries may be expected to gain: the gain less what it owes to having been selected."""
    power: PowerOfTest
    """What could have been seen, by the differences at the best weight."""
    gains: tuple[float, ...]
    """Each query's gain at the best weight."""
    winners: tuple[int, ...]
    """Queries that gain, most first."""
    losers: tuple[int, ...]
    """Queries that lose, most first."""
    recommended: float | None
    """The middle of the widest part of the plateau."""
    refusal: str | None
    """Why nothing is recommended: few_queries, not_significant, no_honest_gain or plateau_not_better."""
    largest: tuple[float, ...]
    """What chance shows at its luckiest: `largest_by_chance` of this curve and its rivals."""


def advise(curve: StepCurve, weight: Weight, *, seed: int = SEED) -> Advice:
    """What the judgements say about moving from this weight. The same input gives the same answer to the last bit.

    The curve has at least one query. Cells that score alike are told apart by width, then by place.
    """
    return advise_among(curve, values_at(curve, weight), (), seed=seed)


def advise_among(curve: StepCurve, current: Floats, rivals: Sequence[StepCurve], *, seed: int = SEED) -> Advice:
    """What the judgements say about moving to this curve's settings, which were picked among those of the rivals.

    current: each query's value under the settings to move from. rivals: curves of the same queries, none of which
    has a higher mean anywhere than this one's highest.
    """
    mean = means(curve)
    best = _widest(curve, mean == mean.max())
    gains = columns(curve, slice(best, best + 1))[:, 0] - current
    plateau = _bands(curve, _near(curve, best))
    counts, signs = draws(len(current), seed=seed)
    middles = _middles(curve)[_best_cells(curve, counts)[0]]
    largest = largest_by_chance((curve, *rivals), current, signs)
    statistic = float(statistics(gains[:, None])[0])
    p_picked = chance(largest, statistic)
    honest = _mean(_left_out((curve, *rivals)) - current)
    passed = critical_value(largest) if p_picked <= SIGNIFICANT else None
    expected = expected_gain(_mean(gains), honest, statistic=statistic, critical=passed)
    recommended = _middle(max(plateau, key=lambda band: (round(band.high - band.low, 12), -band.low)))
    refusal = _refusal(len(current), p_picked, expected, _mean(values_at(curve, recommended) - current))
    order = np.argsort(-gains, kind="stable").tolist()
    return Advice(
        current=_mean(current),
        best=float(mean[best]),
        best_weights=_bands(curve, mean == mean.max()),
        plateau=plateau,
        best_weight_ci=interval(middles),
        gain=_mean(gains),
        gain_ci=interval(counts @ gains / len(gains)),
        p=float((np.abs(signs @ gains) >= abs(gains.sum())).mean()),
        p_picked=p_picked,
        honest_gain=honest,
        expected_gain=expected,
        power=power(gains, expected),
        gains=tuple(gains.tolist()),
        winners=tuple(query for query in order if gains[query] > 0),
        losers=tuple(query for query in reversed(order) if gains[query] < 0),
        recommended=None if refusal else recommended,
        refusal=refusal,
        largest=tuple(largest.tolist()),
    )


def _refusal(queries: int, p_picked: float, expected_gain: float, gain: float) -> str | None:
    reasons = {
        "few_queries": queries < LEAST_QUERIES,
        "not_significant": p_picked > SIGNIFICANT,
        "no_honest_gain": expected_gain <= 0,
        "plateau_not_better": gain <= 0,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _near(curve: StepCurve, best: int) -> Mask:
    """Which cells are within one standard error of the best, each query compared with itself."""
    reference = columns(curve, slice(best, best + 1))
    queries = len(reference)
    near = []
    for _, block in blocks(curve):
        behind = reference - block
        error = behind.std(axis=0, ddof=1) / np.sqrt(queries) if queries > 1 else np.zeros(behind.shape[1])
        near.append(behind.sum(axis=0) / queries <= error)
    return np.concatenate(near)


def _best_cells(curve: StepCurve, counts: Floats) -> tuple[Integers, Floats]:
    """(samples,): the best cell when query q counts counts[sample, q] times, and the sum of its values."""
    best = np.full(len(counts), -1.0)
    cell = np.zeros(len(counts), dtype=np.int64)
    widths = np.diff(curve.places)
    for cells, block in blocks(curve):
        by_width = np.argsort(-widths[cells], kind="stable")  # argmax takes the first of equals
        sums = counts @ block[:, by_width]
        first = sums.argmax(axis=1)
        top, found = sums[np.arange(len(counts)), first], cells.start + by_width[first]
        better = (top > best) | (top == best) & (widths[found] > widths[cell])
        best, cell = np.where(better, top, best), np.where(better, found, cell)
    return cell, best


def _left_out(curves: Sequence[StepCurve]) -> Floats:
    """Each query's value in the cell of all curves that is best for the other queries; the first curve of equals."""
    others = 1.0 - np.eye(len(curves[0].steps))
    best, values = np.full(len(others), -1.0), np.zeros(len(others))
    for curve in curves:
        cells, sums = _best_cells(curve, others)
        better = sums > best
        best, values = np.where(better, sums, best), np.where(better, _values_in(curve, cells), values)
    return values


def _values_in(curve: StepCurve, cells: Integers) -> Floats:
    """Query q's value in cells[q]."""
    places = curve.places[cells]
    pieces = (
        2 * np.searchsorted(each.places, low, side="right") - 1 for each, low in zip(curve.steps, places, strict=True)
    )
    return np.array([each.values[piece] for each, piece in zip(curve.steps, pieces, strict=True)])


def _widest(curve: StepCurve, chosen: Mask) -> int:
    return int(np.where(chosen, np.diff(curve.places), -1.0).argmax())


def _bands(curve: StepCurve, chosen: Mask) -> tuple[Band, ...]:
    """The chosen cells, neighbours joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int64), [0]])))
    return tuple(Band(*curve.places[pair].tolist()) for pair in edges.reshape(-1, 2))


def _middles(curve: StepCurve) -> Floats:
    return (curve.places[:-1] + curve.places[1:]) / 2


def _middle(band: Band) -> float:
    """The middle to as few decimals as stay inside the band."""
    low, high = exact(band.low), exact(band.high)
    middle = (low + high) / 2
    tried = (round(middle, digits) for digits in (3, 4, 5, 6))
    return next((float(each) for each in tried if low < each < high), float(middle))


def _mean(values: Floats) -> float:
    return float(values.sum() / len(values))
