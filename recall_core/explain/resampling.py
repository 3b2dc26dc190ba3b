"""Judged queries drawn again and with their signs flipped: how sure a mean difference is. Deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recall_core.explain.curve import Floats, StepCurve, blocks

RESAMPLES = 2_000
SEED = 0
ROUNDING = 1e-9
"""Sums of floats that are meant to be equal may differ by less."""

_DIGITS = 9  # a product of matrices may differ in its last bits with their shape


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
    """The resamples and the flips for so many queries."""
    generator = np.random.default_rng(seed)
    return Draws(_counts(generator, queries), _signs(generator, queries))


def interval(values: Floats) -> Band:
    """What holds 95 % of them."""
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
    """One-sided p of this statistic, corrected for all cells that `largest` has looked at."""
    return float((largest >= statistic - ROUNDING).mean())


def _spread(differences: Floats) -> Floats:
    """The root of the sum of squares down the queries; 1 where there is no difference."""
    found = np.sqrt((differences**2).sum(axis=0))
    return np.where(found > 0, found, 1.0)


def _signs(generator: np.random.Generator, queries: int) -> Floats:
    if 2**queries <= RESAMPLES:
        bits = np.arange(2**queries)[:, None] >> np.arange(queries) & 1
    else:
        bits = generator.integers(0, 2, size=(RESAMPLES, queries))
        bits[0] = 0
    return np.where(bits == 0, 1.0, -1.0)


def _counts(generator: np.random.Generator, queries: int) -> Floats:
    drawn = generator.integers(0, queries, size=(RESAMPLES, queries))
    return np.stack([np.bincount(row, minlength=queries) for row in drawn]).astype(np.float64)
