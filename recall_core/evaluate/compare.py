"""How sure a figure is: bootstrap intervals of means, and paired randomisation tests of differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recall_core.evaluate.measures import DIGITS, EPSILON

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 2_000
FLIPS = 10_000
SEED = 20_090_719  # any number would do; a fixed one gives the same interval every time
SIGNIFICANT = 0.05
_EXACT = 13  # queries up to which all 2^n assignments of signs are tried, in place of 10,000 drawn ones
_ROWS = 1_000  # assignments of signs at a time


class Paired(NamedTuple):
    """One measure's differences, query by query: their mean with a 95 % interval, and how they fall."""

    difference: float
    low: float
    high: float
    p: float
    wins: int
    losses: int
    ties: int

    @property
    def verdict(self) -> str:
        """In words."""
        if self.p >= SIGNIFICANT or self.difference == 0:
            return "no significant difference"
        return "better" if self.difference > 0 else "worse"


def intervals(columns: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """The 95 % percentile interval of each column's mean, by 2,000 resamples of its rows (Efron 1979).

    Every column has one value a query, and the same resamples serve all. Deterministic.
    """
    values = np.asarray(columns, dtype=np.float64).T
    queries = len(values)
    counts = np.random.default_rng(SEED).multinomial(queries, np.full(queries, 1 / queries), size=RESAMPLES)
    means = counts @ values / queries
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return [(_rounded(left), _rounded(right)) for left, right in zip(low, high, strict=True)]


def paired(after: Sequence[Sequence[float]], before: Sequence[Sequence[float]]) -> list[Paired]:
    """Each column of `after` against the same one of `before`; a column has one value a query, queries in order."""
    differences = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    differences[np.abs(differences) <= EPSILON] = 0.0
    bounds = intervals(differences.tolist())
    chances = sign_flip(differences.T)
    found = []
    for column, (low, high), p in zip(differences, bounds, chances, strict=True):
        wins, losses = int((column > 0).sum()), int((column < 0).sum())
        ties = len(column) - wins - losses
        found.append(Paired(_rounded(column.mean()), low, high, p, wins, losses, ties))
    return found


def sign_flip(differences: Floats) -> list[float]:
    """Two-sided p of each column: how often signs given at random make a mean as far from 0 (Fisher 1935).

    differences: (queries, columns). All assignments are tried up to 13 queries; above, 10,000 drawn ones stand for
    them and the observed one counts among them, so that p is never 0. Deterministic.
    """
    observed = np.abs(differences.sum(axis=0)) - EPSILON
    exceeding = np.zeros(differences.shape[1], dtype=np.int64)
    tried = 0
    for signs in _signs(len(differences)):
        exceeding += (np.abs(signs @ differences) >= observed).sum(axis=0)
        tried += len(signs)
    extra = 0 if len(differences) <= _EXACT else 1
    return [_rounded(p) for p in (exceeding + extra) / (tried + extra)]


def _signs(queries: int) -> Iterator[Floats]:
    """Rows of -1 and 1, one sign a query, some at a time."""
    if queries <= _EXACT:
        numbers = np.arange(2**queries)[:, None] >> np.arange(queries)
        yield np.where(numbers & 1, -1.0, 1.0)
        return
    draw = np.random.default_rng(SEED + 1)
    for _ in range(FLIPS // _ROWS):
        yield np.where(draw.integers(0, 2, size=(_ROWS, queries)), -1.0, 1.0)


def _rounded(value: float) -> float:
    """To as many decimals as any value has; 0 has no sign."""
    return round(float(value), DIGITS) + 0.0
