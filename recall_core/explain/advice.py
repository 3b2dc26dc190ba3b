"""Advice from judged queries: how sure a gain is, how many queries would make it sure, which weight to recommend."""

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
"""Sums of floats that should be equal may differ by this much."""


class Band(NamedTuple):
    """A low and a high end, of weights or of a metric."""

    low: float
    high: float


class Draws(NamedTuple):
    """Random draws for the tests below. The same number of queries always gets the same draws."""

    counts: Floats
    """(RESAMPLES, queries): how often each query is drawn (Efron 1979)."""
    signs: Floats
    """(flips, queries) of 1 and -1: every combination if there are few, else random ones. The first flips nothing."""


def draws(queries: int, *, seed: int = SEED) -> Draws:
    """Return the resamples and sign flips for this number of queries."""
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
    """Return the band that contains 95 % of the values."""
    return Band(*np.quantile(values, [0.025, 0.975], method="inverted_cdf").tolist())


def statistics(differences: Floats) -> Floats:
    """Return the sum of each column over the root of its sum of squares, shape (cells,); 0 where nothing differs.

    Flipping signs does not change the divisor. So a distant weight with erratic gains does not hide a near weight
    with sure gains (Westfall and Young 1993).
    """
    found: Floats = (differences / _spread(differences)).sum(axis=0)
    return found


def largest_by_chance(curves: Sequence[StepCurve], current: Floats, signs: Floats) -> Floats:
    """Return the largest of the `statistics` of all cells for each sign flip, ascending, shape (flips,)."""
    largest = np.full(len(signs), -np.inf)
    for curve in curves:
        for _, block in blocks(curve):
            differences = block - current[:, None]
            largest = np.maximum(largest, (signs @ (differences / _spread(differences))).max(axis=1))
    return np.sort(np.round(largest, _DIGITS))


def chance(largest: Floats, statistic: float) -> float:
    """Return the one-sided p of this statistic, corrected for all cells behind `largest`."""
    return float((largest >= statistic - ROUNDING).mean())


def _spread(differences: Floats) -> Floats:
    """Return the root of the sum of squares over the queries; 1 where nothing differs."""
    found = np.sqrt((differences**2).sum(axis=0))
    return np.where(found > 0, found, 1.0)


SIGNIFICANT = 0.05
"""A gain is sure if chance reaches it in at most this share of cases."""
POWER = 0.8
"""The share of cases in which the test finds a detectable gain."""
MOST_QUERIES = 1_000_000
"""More queries than anyone judges."""

_SEEN: Final = NormalDist().inv_cdf(1 - SIGNIFICANT / 2) + NormalDist().inv_cdf(POWER)  # 2.80 (Bloom 1995)
_DIGITS = 9  # the last bits of an error function depend on the machine, those of a matrix product on its shape
_REACH, _GRAIN = 10, 20  # standard errors on either side of the statistic, and steps in each, of the integral
_HALVINGS = 60  # halvings of the interval that contains the maximum of a likelihood
_HUNDREDTHS = np.arange(1, 100) / 100


class PowerOfTest(NamedTuple):
    """The effects that a paired, two-sided test at 5 % can detect with this number of queries."""

    deviation: float | None
    """Standard deviation of the per-query differences; None for one query."""
    detectable: float | None
    """The smallest gain found in 80 % of cases; None where all queries gain the same."""
    more_queries: int | None
    """Queries to add to find the observed gain in 80 % of cases; None without a gain, or past MOST_QUERIES."""
    more_queries_expected: int | None
    """The same for the expected gain."""


class SureChange(NamedTuple):
    """The smallest change whose gain is sure."""

    curve: int
    """The index of the curve."""
    weight: float
    gains: tuple[float, ...]
    """The gain of each query."""
    gain: float
    gain_ci: Band
    expected_gain: float
    p: float
    """One-sided, corrected for every weight of every curve."""


def expected_gain(gain: float, honest_gain: float, *, statistic: float, critical: float | None) -> float:
    """Return the gain of the best cell, less the part that comes from selecting it.

    Two corrections apply, and the lower result counts. The honest gain corrects for picking the best of many cells:
    it is measured on queries that had no part in the choice. `worth` corrects for passing a threshold, which prefers
    lucky changes. critical: that threshold; None if there was none.
    """
    if critical is None:
        return honest_gain
    return min(honest_gain, worth(gain, statistic=statistic, critical=critical))


def worth(gain: float, *, statistic: float, critical: float) -> float:
    """Return a gain that passed this threshold, less the part that comes from passing it: see `shrunk`."""
    return round(gain * shrunk(statistic, critical) / statistic, _DIGITS)


def critical_value(largest: Floats) -> float:
    """Return the threshold for a sure statistic: by chance the largest of all cells exceeds it in 5 % of cases."""
    return float(np.quantile(largest, 1 - SIGNIFICANT, method="inverted_cdf"))


def shrunk(statistic: float, critical: float) -> float:
    """Return the mean that a normal statistic with deviation 1 suggests if only values above `critical` are seen.

    This is the midpoint between the likeliest value and the mean of the likelihood, both conditional on being further
    than `critical` from 0 (Ghosh, Zou and Wright 2008, their third estimator). It lies between 0 and the statistic.
    The statistic must be above `critical`.
    """
    low, high = 0.0, statistic
    for _ in range(_HALVINGS):  # the likelihood has a single maximum
        middle = (low + high) / 2
        bias = (_density(middle - critical) - _density(middle + critical)) / _tail(middle, critical)
        low, high = (middle, high) if statistic - middle > bias else (low, middle)
    means = [statistic + step / _GRAIN for step in range(-_REACH * _GRAIN, _REACH * _GRAIN + 1)]
    likelihood = [_density(statistic - mean) / _tail(mean, critical) for mean in means]
    average = sum(mean * each for mean, each in zip(means, likelihood, strict=True)) / sum(likelihood)
    return (low + average) / 2


def _density(x: float) -> float:
    return exp(-x * x / 2)


def _tail(mean: float, critical: float) -> float:
    """Return the chance that a statistic with this mean is further than `critical` from 0, scaled as `_density`."""
    return sqrt(pi / 2) * (erfc((critical - mean) / sqrt(2)) + erfc((critical + mean) / sqrt(2)))


def power(gains: Floats, expected: float) -> PowerOfTest:
    """Return what a paired test can detect with these differences. gains: of each query, by the same change."""
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
    """Return how many queries to add to detect this gain: ((z + z) * deviation / gain) ** 2 in all."""
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
    """Return the smallest change whose gain is sure, or None.

    Smallest means: fewest settings changed (the weight is one of them), then the weight nearest to the current one,
    then the surest. Candidates are the weights in hundredths, and other settings at the current weight; break points
    are skipped. Sure means p is at most SIGNIFICANT. p is corrected for all cells of all curves, so picking one of
    the sure changes needs no further correction.
    curves: of the same queries.
    changed: how many other settings each curve changes; 0 for one curve.
    largest: `largest_by_chance` of these curves.
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
    """Settings changed, distance that the weight moves, the negated statistic, the curve, the weight."""
    gains: Floats


def _try_weights(
    curve: StepCurve, current: Floats, now: Fraction, *, stays: bool
) -> Iterator[tuple[float, Fraction, float, Floats]]:
    """Yield weights inside a cell with their distance from now, statistic and gains. stays: also try the current
    weight.
    """
    wanted = np.append(_HUNDREDTHS, float(now)) if stays else _HUNDREDTHS
    weights = wanted[(wanted > 0) & (wanted < 1) & ~np.isin(wanted, curve.places)]
    gains = columns(curve, np.searchsorted(curve.places, weights, side="right") - 1) - current[:, None]
    for at, statistic, column in zip(weights.tolist(), statistics(gains).tolist(), gains.T, strict=True):
        yield at, Fraction(0) if at == float(now) else abs(exact(at) - now), statistic, column


Mask: TypeAlias = NDArray[np.bool_]
LEAST_QUERIES = 10
"""With fewer queries, no weight is recommended."""


class Advice(NamedTuple):
    """One metric over all weights, compared with the current settings. Gains are best minus current."""

    current: float
    best: float
    """The highest mean of any cell."""
    best_weights: tuple[Band, ...]
    """All cells with that mean. Bands here and below are open and in ascending order."""
    plateau: tuple[Band, ...]
    """The weights whose paired difference to the widest best cell is within one standard error of 0."""
    best_weight_ci: Band
    """Contains the best weight of 95 % of bootstrap samples of the queries."""
    gain: float
    gain_ci: Band
    """Of the best weight, not corrected for picking it."""
    p: float
    """Two-sided sign-flip test of the best weight against the current one, not corrected for picking it."""
    p_picked: float
    """The same, one-sided, against the largest of all cells of all curves: corrected for picking."""
    honest_gain: float
    """The mean over queries of a query's gain at the weight that is best for the other queries."""
    expected_gain: float
    """The gain to expect on other queries: the gain less the part that comes from selection."""
    power: PowerOfTest
    """What a test could detect, from the differences at the best weight."""
    gains: tuple[float, ...]
    """Each query's gain at the best weight."""
    winners: tuple[int, ...]
    """Queries that gain, largest gain first."""
    losers: tuple[int, ...]
    """Queries that lose, largest loss first."""
    recommended: float | None
    """The middle of the widest part of the plateau."""
    refusal: str | None
    """Why no weight is recommended: few_queries, not_significant, no_honest_gain or plateau_not_better."""
    largest: tuple[float, ...]
    """`largest_by_chance` of this curve and its rivals."""


def advise(curve: StepCurve, weight: Weight, *, seed: int = SEED) -> Advice:
    """Return what the judgements say about moving away from this weight. The same input gives the same bits.

    The curve needs at least one query. Ties between cells go to the wider cell, then to the lower weight.
    """
    return advise_among(curve, values_at(curve, weight), (), seed=seed)


def advise_among(curve: StepCurve, current: Floats, rivals: Sequence[StepCurve], *, seed: int = SEED) -> Advice:
    """Return what the judgements say about moving to this curve's settings, picked from those of the rivals.

    current: each query's value under the settings to move away from.
    rivals: curves of the same queries, none with a higher mean than this one's highest.
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
    """Return the cells within one standard error of the best, each query compared with itself."""
    reference = columns(curve, slice(best, best + 1))
    queries = len(reference)
    near = []
    for _, block in blocks(curve):
        behind = reference - block
        error = behind.std(axis=0, ddof=1) / np.sqrt(queries) if queries > 1 else np.zeros(behind.shape[1])
        near.append(behind.sum(axis=0) / queries <= error)
    return np.concatenate(near)


def _best_cells(curve: StepCurve, counts: Floats) -> tuple[Integers, Floats]:
    """Return the best cell of each sample and the sum of its values, shape (samples,).

    counts[sample, q]: how often query q counts.
    """
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
    """Return the chosen cells, with neighbours joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int64), [0]])))
    return tuple(Band(*curve.places[pair].tolist()) for pair in edges.reshape(-1, 2))


def _middle(band: Band) -> float:
    """Return the middle, with as few decimals as stay inside the band."""
    low, high = exact(band.low), exact(band.high)
    middle = (low + high) / 2
    tried = (round(middle, digits) for digits in (3, 4, 5, 6))
    return next((float(each) for each in tried if low < each < high), float(middle))


def _mean(values: Floats) -> float:
    return float(values.sum() / len(values))
