"""A gain on judged queries, and what it is worth: elsewhere, with more judgements, and by a smaller change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, erfc, exp, pi, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from recall_core.explain.curve import Floats, StepCurve, columns
from recall_core.explain.lines import Weight, exact
from recall_core.explain.resampling import ROUNDING, SEED, Band, chance, draws, interval, statistics

SIGNIFICANT = 0.05
"""A gain is sure where chance does as well in no larger share of all cases."""
POWER = 0.8
"""The share of cases in which a gain that can be seen is seen."""
MOST_QUERIES = 1_000_000
"""Past so many, nobody judges."""

_SEEN: Final = NormalDist().inv_cdf(1 - SIGNIFICANT / 2) + NormalDist().inv_cdf(POWER)  # 2.80 (Bloom 1995)
_DIGITS = 9  # the error function may differ in its last bits from one machine to another
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
    """What is left of the gain of the best cell once what it owes to having been selected is taken off.

    It was the best of many, which the honest gain, measured on queries that had no part in the choice, corrects. And
    where it is told as a sure one it passed a threshold, which of two equal changes lets through the one that had
    luck: `worth` corrects that. The lower of the two holds. critical: None where it passed no threshold.
    """
    if critical is None:
        return honest_gain
    return min(honest_gain, worth(gain, statistic=statistic, critical=critical))


def worth(gain: float, *, statistic: float, critical: float) -> float:
    """The gain whose statistic passed this threshold, less what it owes to having passed: see `shrunk`."""
    return round(gain * shrunk(statistic, critical) / statistic, _DIGITS)


def critical_value(largest: Floats) -> float:
    """What a statistic has to be above to be sure: so is the largest of all cells in 5 % of all cases by chance."""
    return float(np.quantile(largest, 1 - SIGNIFICANT, method="inverted_cdf"))


def shrunk(statistic: float, critical: float) -> float:
    """What a normal statistic with deviation 1 says of its mean, where one that is not above `critical` is not told.

    The middle of the likeliest value and of the mean of the likelihood, both conditional on being further than
    `critical` from 0 (Ghosh, Zou and Wright 2008, their third estimator). It lies between 0 and the statistic, which
    is above `critical`.
    """
    low, high = 0.0, statistic
    for _ in range(_HALVINGS):  # the likelihood rises to its one top and falls
        middle = (low + high) / 2
        told = (_density(middle - critical) - _density(middle + critical)) / _told(middle, critical)
        low, high = (middle, high) if statistic - middle > told else (low, middle)
    means = [statistic + step / _GRAIN for step in range(-_REACH * _GRAIN, _REACH * _GRAIN + 1)]
    likelihood = [_density(statistic - mean) / _told(mean, critical) for mean in means]
    average = sum(mean * each for mean, each in zip(means, likelihood, strict=True)) / sum(likelihood)
    return (low + average) / 2


def _density(x: float) -> float:
    return exp(-x * x / 2)


def _told(mean: float, critical: float) -> float:
    """How likely a statistic with this mean is further than `critical` from 0, on the scale of `_density`."""
    return sqrt(pi / 2) * (erfc((critical - mean) / sqrt(2)) + erfc((critical + mean) / sqrt(2)))


def power(gains: Floats, expected: float) -> PowerOfTest:
    """What differences such as these let a paired test see. gains: of each query, by the same change."""
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
    """How many more than these it takes to see such a gain: ((z + z) * deviation / gain) ** 2 in all."""
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
    """The smallest of all changes whose gain is sure, None where none is: the fewest settings changed, of which the
    weight is one; then the weight nearest to the present one; then the surest.

    Tried are the weights in hundredths, and other settings at the present weight too; those that are a break point
    are not. Sure: p, corrected for all cells of all curves, is at most SIGNIFICANT, so that picking one of those that
    are sure needs no further correction. curves: of the same queries. changed: how many other settings each curve
    differs in from the present ones; 0 for one of them. largest: `largest_by_chance` of these curves.
    """
    by_chance, now = np.array(largest), exact(weight)
    sure = (
        _GainCandidate((others + (far > 0), far, -statistic, place, at), gains)
        for place, (curve, others) in enumerate(zip(curves, changed, strict=True))
        for at, far, statistic, gains in _tried(curve, current, now, stays=others > 0)
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


def _tried(
    curve: StepCurve, current: Floats, now: Fraction, *, stays: bool
) -> Iterator[tuple[float, Fraction, float, Floats]]:
    """Weights inside a cell, how far each is from now, and what it gains. stays: with the weight that is set now."""
    wanted = np.append(_HUNDREDTHS, float(now)) if stays else _HUNDREDTHS
    weights = wanted[(wanted > 0) & (wanted < 1) & ~np.isin(wanted, curve.places)]
    gains = columns(curve, np.searchsorted(curve.places, weights, side="right") - 1) - current[:, None]
    for at, statistic, column in zip(weights.tolist(), statistics(gains).tolist(), gains.T, strict=True):
        yield at, Fraction(0) if at == float(now) else abs(exact(at) - now), statistic, column
