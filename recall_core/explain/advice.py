"""A gain on judged queries: how sure it is, what it would take to be sure, and which weight to recommend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, erfc, exp, pi, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recall_core.explain.curve import Floats, StepCurve, blocks, columns, means, values_at
from recall_core.explain.lines import Integers, Weight, exact

RESAMPLES = 2_000
SEED = 0
ROUNDING = 1e-9
"""Sums of floats that are meant to be equal may differ by less."""


class Band(NamedTuple):
    """Low and high, of weights or of a metric."""

    low: float
    high: float


class Draws(NamedTuple):
    """What chance is asked with: the same number of queries always gives the same."""

    counts: Floats
    """(RESAMPLES, queries): how often each query was drawn (Efron 1979)."""
    signs: Floats
    """(flips, queries) of 1 and -1: every combination if they are few, else random ones; the first flips nothing."""


def draws(queries: int, *, seed: int = SEED) -> Draws:
    """Return the resamples and the flips for so many queries."""
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, queries, size=(RESAMPLES, queries))
    counts = np.stack([np.bincount(row, minlength=queries) for row in drawn]).astype(np.float64)
    if 2**queries <= RESAMPLES:
        bits = np.arange(2**queries)[:, None] >> np.arange(queries) & 1
    else:
        bits = generator.integers(0, 2, size=(RESAMPLES, queries))
        bits[0] = 0
    return Draws(counts, np.where(bits == 0, 1.0, -1.0))


def interval(values: Floats) -> Band:
    """Return what holds 95 % of them."""
    return Band(*np.quantile(values, [0.025, 0.975], method="inverted_cdf").tolist())


def statistics(differences: Floats) -> Floats:
    """(cells,): the sum of each column over the root of its sum of squares; 0 where there is no difference.

    Flipping signs does not change what it is divided by, so that a far weight whose gains are wild does not drown a
    near one whose gains are sure (Westfall and Young 1993).
    """
    found: Floats = (differences / _spread(differences)).sum(axis=0)
    return found


def largest_by_chance(curves: Sequence[StepCurve], current: Floats, signs: Floats) -> Floats:
    """(flips,), ascending: the largest of the `statistics` of all cells of all curves, with the signs flipped so."""
    largest = np.full(len(signs), -np.inf)
    for curve in curves:
        for _, block in blocks(curve):
            differences = block - current[:, None]
            largest = np.maximum(largest, (signs @ (differences / _spread(differences))).max(axis=1))
    return np.sort(np.round(largest, _DIGITS))


def chance(largest: Floats, statistic: float) -> float:
    """Return one-sided p of this statistic, corrected for all cells that `largest` has looked at."""
    return float((largest >= statistic - ROUNDING).mean())


def _spread(differences: Floats) -> Floats:
    """Return the root of the sum of squares down the queries; 1 where there is no difference."""
    found = np.sqrt((differences**2).sum(axis=0))
    return np.where(found > 0, found, 1.0)


SIGNIFICANT = 0.05
"""A gain is sure where chance does as well in no larger share of all cases."""
POWER = 0.8
"""The share of cases in which a gain that can be seen is seen."""
MOST_QUERIES = 1_000_000
"""Past so many, nobody judges."""

_SEEN: Final = NormalDist().inv_cdf(1 - SIGNIFICANT / 2) + NormalDist().inv_cdf(POWER)  # 2.80 (Bloom 1995)
_DIGITS = 9  # the last bits of an error function depend on the machine, those of a matrix product on its shape
_REACH, _GRAIN = 10, 20  # standard errors either side of what was seen, and steps in each, that an integral takes
_HALVINGS = 60  # of the stretch that the top of a likelihood is looked for in
_HUNDREDTHS = np.arange(1, 100) / 100


class PowerOfTest(NamedTuple):
    """What a paired test of so many queries can see; two-sided, at 5 %."""

    deviation: float | None
    """Of the differences query by query; None for one query."""
    detectable: float | None
    """The least gain that is found in 80 % of cases; None where all queries gain the same."""
    more_queries: int | None
    """So many more, and a gain such as was seen is found in 80 % of cases; None without one, or past MOST_QUERIES."""
    more_queries_expected: int | None
    """The same for a gain such as is expected."""


class SureChange(NamedTuple):
    """The smallest change whose gain is sure."""

    curve: int
    """Which of the curves."""
    weight: float
    gains: tuple[float, ...]
    """Of each query."""
    gain: float
    gain_ci: Band
    expected_gain: float
    p: float
    """One-sided, corrected for every weight of every curve."""


def expected_gain(gain: float, honest_gain: float, *, statistic: float, critical: float | None) -> float:
    """Return what is left of the gain of the best cell once what it owes to having been selected is taken off.

    It was the best of many, which the honest gain, measured on queries that had no part in the choice, corrects. And
    where it is told as a sure one it passed a threshold, which of two equal changes lets through the one that had
    luck: `worth` corrects that. The lower of the two holds. critical: None where it passed no threshold.
    """
    if critical is None:
        return honest_gain
    return min(honest_gain, worth(gain, statistic=statistic, critical=critical))


def worth(gain: float, *, statistic: float, critical: float) -> float:
    """Return the gain whose statistic passed this threshold, less what it owes to having passed: see `shrunk`."""
    return round(gain * shrunk(statistic, critical) / statistic, _DIGITS)


def critical_value(largest: Floats) -> float:
    """Return what a statistic must exceed to be sure: by chance the largest of all cells does so in 5 % of cases."""
    return float(np.quantile(largest, 1 - SIGNIFICANT, method="inverted_cdf"))


def shrunk(statistic: float, critical: float) -> float:
    """Return the mean that a normal statistic with deviation 1 suggests, if only those above `critical` are seen.

    The middle of the likeliest value and of the mean of the likelihood, both conditional on being further than
    `critical` from 0 (Ghosh, Zou and Wright 2008, their third estimator). It lies between 0 and the statistic, which
    is above `critical`.
    """
    low, high = 0.0, statistic
    for _ in range(_HALVINGS):  # the likelihood rises to its one top and falls
        middle = (low + high) / 2
        told = (_density(middle - critical) - _density(middle + critical)) / _tail(middle, critical)
        low, high = (middle, high) if statistic - middle > told else (low, middle)
    means = [statistic + step / _GRAIN for step in range(-_REACH * _GRAIN, _REACH * _GRAIN + 1)]
    likelihood = [_density(statistic - mean) / _tail(mean, critical) for mean in means]
    average = sum(mean * each for mean, each in zip(means, likelihood, strict=True)) / sum(likelihood)
    return (low + average) / 2


def _density(x: float) -> float:
    return exp(-x * x / 2)


def _tail(mean: float, critical: float) -> float:
    """Return how likely a statistic with this mean is further than `critical` from 0, on the scale of `_density`."""
    return sqrt(pi / 2) * (erfc((critical - mean) / sqrt(2)) + erfc((critical + mean) / sqrt(2)))


def power(gains: Floats, expected: float) -> PowerOfTest:
    """Return what differences such as these let a paired test see. gains: of each query, by the same change."""
    queries = len(gains)
    if queries == 1:
        return PowerOfTest(None, None, None, None)
    deviation = float(gains.std(ddof=1))
    seen = float(gains.sum() / queries)
    return PowerOfTest(
        deviation=round(deviation, _DIGITS),
        detectable=round(_SEEN * deviation / sqrt(queries), _DIGITS) if deviation > ROUNDING else None,
        more_queries=more_queries(seen, deviation, queries),
        more_queries_expected=more_queries(expected, deviation, queries),
    )


def more_queries(gain: float, deviation: float, queries: int) -> int | None:
    """Return how many more than these it takes to see such a gain: ((z + z) * deviation / gain) ** 2 in all."""
    if gain <= ROUNDING:
        return None
    needed = max(2, ceil((_SEEN * deviation / gain) ** 2 - ROUNDING))
    return max(0, needed - queries) if needed <= MOST_QUERIES else None


def sure_change(
    curves: Sequence[StepCurve],
    current: Floats,
    weight: Weight,
    *,
    changed: Sequence[int],
    largest: Sequence[float],
    seed: int = SEED,
) -> SureChange | None:
    """Return the smallest of all changes whose gain is sure, None where none is: the fewest settings changed, of
    which the weight is one; then the weight nearest to the present one; then the surest.

    Tried are the weights in hundredths, and other settings at the present weight too; those that are a break point
    are not. Sure: p, corrected for all cells of all curves, is at most SIGNIFICANT, so that picking one of those that
    are sure needs no further correction. curves: of the same queries. changed: how many other settings each curve
    differs in from the present ones; 0 for one of them. largest: `largest_by_chance` of these curves.
    """
    by_chance, now = np.array(largest), exact(weight)
    sure = (
        _GainCandidate((others + (far > 0), far, -statistic, place, at), gains)
        for place, (curve, others) in enumerate(zip(curves, changed, strict=True))
        for at, far, statistic, gains in _try_weights(curve, current, now, stays=others > 0)
        if statistic > 0 and chance(by_chance, statistic) <= SIGNIFICANT
    )
    best = min(sure, key=lambda each: each.order, default=None)
    if best is None:
        return None
    _, _, against, place, at = best.order
    gains = best.gains
    resampled = draws(len(gains), seed=seed).counts @ gains
    gain = float(gains.sum() / len(gains))
    return SureChange(
        curve=place,
        weight=at,
        gains=tuple(gains.tolist()),
        gain=gain,
        gain_ci=interval(resampled / len(gains)),
        expected_gain=worth(gain, statistic=-against, critical=critical_value(by_chance)),
        p=chance(by_chance, -against),
    )


class _GainCandidate(NamedTuple):
    order: tuple[int, Fraction, float, int, float]
    """Settings changed, how far the weight moves, the statistic negated, which curve, the weight."""
    gains: Floats


def _try_weights(
    curve: StepCurve, current: Floats, now: Fraction, *, stays: bool
) -> Iterator[tuple[float, Fraction, float, Floats]]:
    """Weights inside a cell, how far each is from now, and what it gains. stays: with the weight that is set now."""
    wanted = np.append(_HUNDREDTHS, float(now)) if stays else _HUNDREDTHS
    weights = wanted[(wanted > 0) & (wanted < 1) & ~np.isin(wanted, curve.places)]
    gains = columns(curve, np.searchsorted(curve.places, weights, side="right") - 1) - current[:, None]
    for at, statistic, column in zip(weights.tolist(), statistics(gains).tolist(), gains.T, strict=True):
        yield at, Fraction(0) if at == float(now) else abs(exact(at) - now), statistic, column


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
    """Return what the judgements say about moving from this weight, the same to the last bit for the same input.

    The curve has at least one query. Cells that score alike are told apart by width, then by place.
    """
    return advise_among(curve, values_at(curve, weight), (), seed=seed)


def advise_among(curve: StepCurve, current: Floats, rivals: Sequence[StepCurve], *, seed: int = SEED) -> Advice:
    """Return what the judgements say about moving to this curve's settings, picked among those of the rivals.

    current: each query's value under the settings to move from. rivals: curves of the same queries, none of which
    has a higher mean anywhere than this one's highest.
    """
    mean = means(curve)
    best = int(np.where(mean == mean.max(), np.diff(curve.places), -1.0).argmax())  # the widest
    gains = columns(curve, slice(best, best + 1))[:, 0] - current
    plateau = _bands(curve, _near(curve, best))
    counts, signs = draws(len(current), seed=seed)
    middles = ((curve.places[:-1] + curve.places[1:]) / 2)[_best_cells(curve, counts)[0]]
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
    """Return which cells are within one standard error of the best, each query compared with itself."""
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
    """Return each query's value in the cell that is best for the other queries; of equal curves the first."""
    others = 1.0 - np.eye(len(curves[0].steps))
    best, values = np.full(len(others), -1.0), np.zeros(len(others))
    for curve in curves:
        cells, sums = _best_cells(curve, others)
        better = sums > best
        best, values = np.where(better, sums, best), np.where(better, _values_in(curve, cells), values)
    return values


def _values_in(curve: StepCurve, cells: Integers) -> Floats:
    """Return query q's value in cells[q]."""
    places = curve.places[cells]
    pieces = (
        2 * np.searchsorted(each.places, low, side="right") - 1 for each, low in zip(curve.steps, places, strict=True)
    )
    return np.array([each.values[piece] for each, piece in zip(curve.steps, pieces, strict=True)])


def _bands(curve: StepCurve, chosen: Mask) -> tuple[Band, ...]:
    """Return the chosen cells, neighbours joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int64), [0]])))
    return tuple(Band(*curve.places[pair].tolist()) for pair in edges.reshape(-1, 2))


def _middle(band: Band) -> float:
    """Return the middle to as few decimals as stay inside the band."""
    low, high = exact(band.low), exact(band.high)
    middle = (low + high) / 2
    tried = (round(middle, digits) for digits in (3, 4, 5, 6))
    return next((float(each) for each in tried if low < each < high), float(middle))


def _mean(values: Floats) -> float:
    return float(values.sum() / len(values))
