"""Where one candidate stands at every weight: its rank as a step function, and the weights that let it win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from recall_core.deadline import check
from recall_core.explain.intervals import Interval, runs_of_array
from recall_core.explain.lines import Integers, Lines, Weight, groups, integers, order_at
from recall_core.rank.fuse import Same

Truths: TypeAlias = NDArray[np.bool_]


class RankLine(NamedTuple):
    """One candidate's rank, from 1, over all weights, in ascending order; neighbours differ."""

    candidate: int
    steps: tuple[tuple[Interval, int], ...]


class Winning(NamedTuple):
    """For which weights a candidate is in the top k: all of them, exactly; none when it never is."""

    intervals: tuple[Interval, ...]
    best_rank: int
    """The best it reaches at any weight, from 1."""
    best_at: tuple[Interval, ...]
    always_ahead: tuple[int, ...]
    """Who leads it at every weight, both signals being at least as good. With k of them it can never win; it may
    never win with fewer, when different ones lead it at different weights."""


def rank_line(lines: Lines, x: int) -> RankLine:
    """The rank of candidate x among all, ties by natural order, at every weight. O(n log n)."""
    weights, ahead, _ = _ahead(lines, x)
    return RankLine(x, tuple((where, int(count) + 1) for where, count in runs_of_array(weights, ahead)))


def rank_lines(lines: Lines, weight: Weight, m: int) -> tuple[RankLine, ...]:
    """The rank lines of the m candidates that are best at this weight, best first: what a bump chart draws."""
    return tuple(rank_line(lines, x) for x in order_at(lines, weight)[:m])


def ranked_where(lines: Lines, x: int, wanted: Callable[[Integers], Truths]) -> tuple[Interval, ...]:
    """The weights at which x has a wanted rank (from 1), in ascending order. wanted: which of these ranks are."""
    weights, ahead, _ = _ahead(lines, x)
    return _where(weights, wanted(ahead + 1))


def _where(weights: Sequence[Fraction], holds: Truths) -> tuple[Interval, ...]:
    return tuple(where for where, yes in runs_of_array(weights, holds) if yes)


def winning_weights(lines: Lines, x: int, k: int) -> Winning:
    """Every weight that puts x in the top k (He and Lo's why-not question for two lists), in O(n log n).

    Ends are open or closed as the natural order decides ties; single weights are possible.
    """
    weights, ahead, always = _ahead(lines, x)
    best = int(ahead.min())
    return Winning(_where(weights, ahead < k), best + 1, _where(weights, ahead == best), always)


class _BreakPoints(Sequence[Fraction]):
    """Weights, ascending from 0 to 1, both included; few of thousands are looked at, and made then."""

    def __init__(self, numerators: list[int], denominators: list[int]) -> None:
        starts_late = not numerators or numerators[0] != 0
        ends_early = not numerators or numerators[-1] != denominators[-1]
        self.first_met = int(starts_late)
        self._numerators = [0] * starts_late + numerators + [1] * ends_early
        self._denominators = [1] * starts_late + denominators + [1] * ends_early

    def __len__(self) -> int:
        return len(self._numerators)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> list[Fraction]: ...
    def __getitem__(self, index: int | slice) -> Fraction | list[Fraction]:
        if isinstance(index, slice):
            return list(map(Fraction, self._numerators[index], self._denominators[index]))
        return Fraction(self._numerators[index], self._denominators[index])


def _ahead(lines: Lines, x: int) -> tuple[Sequence[Fraction], Integers, tuple[int, ...]]:
    """As `_counted`; kept, because several questions are asked about one candidate."""
    return _counted(Same(lines), x)


@lru_cache(maxsize=1)
def _counted(held: Same[Lines], x: int) -> tuple[Sequence[Fraction], Integers, tuple[int, ...]]:
    """The break points of the rank of x, how many lead x at and between them, and who leads it everywhere.

    Another candidate whose line meets that of x leads on one side of the meeting point, and there too if it stands
    before x in natural order.
    """
    check()
    lines = held.value
    a, b = integers(lines.a), integers(lines.b)
    da, db = a - a[x], b - b[x]
    before = np.arange(len(a)) < x
    at_start, at_end = (da > 0) | (da == 0) & before, (db > 0) | (db == 0) & before
    meets = ((da <= 0) & (db >= 0) | (da >= 0) & (db <= 0)) & (da != db)
    falling, early = (da > db)[meets], before[meets]
    numerators = abs(da[meets])
    by, starts = groups(numerators, numerators + abs(db[meets]))
    firsts = [by[at] for at in starts]
    weights = _BreakPoints(da[meets][firsts].tolist(), (da - db)[meets][firsts].tolist())
    point = np.zeros(len(by), dtype=np.int64)
    point[by] = np.searchsorted(starts, np.arange(len(by)), side="right") - 1 + weights.first_met
    changes = np.zeros(2 * len(weights), dtype=np.int64)
    changes[0] = np.count_nonzero(at_start & ~meets) + np.count_nonzero(falling)
    np.add.at(changes, 2 * point + (falling == early), np.where(falling, -1, 1))
    return weights, np.cumsum(changes)[:-1], tuple(np.flatnonzero(at_start & at_end).tolist())
