"""The rank of one candidate at every weight, as a step function, and the weights at which it wins.

Candidates may be copies of one text. Then texts are ranked, each by its best copy, which may change with the weight.
Every function takes `texts`, the number of each candidate's text; None if all texts differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Literal, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from recall_core.deadline import check
from recall_core.explain.lines import Integers, Lines, contenders, groups, integers
from recall_core.explain.sweep import Interval, intersect, runs_of_array
from recall_core.rank.fuse import Same

Truths: TypeAlias = NDArray[np.bool_]
Texts: TypeAlias = Sequence[int] | None
_NOWHERE = 2**62
"""The rank of a candidate whose text another copy represents."""


class RankLine(NamedTuple):
    """The rank of one candidate or its text, from 1, over ascending weights. Neighbouring ranks differ."""

    candidate: int
    steps: tuple[tuple[Interval, int], ...]


class Winning(NamedTuple):
    """All weights at which a candidate, or its text, is in the top k, exactly; empty if there are none."""

    intervals: tuple[Interval, ...]
    best_rank: int
    """The best rank at any weight, from 1."""
    best_at: tuple[Interval, ...]
    always_ahead: tuple[int, ...]
    """Candidates that lead at every weight; of copies, the first. With k of them it can never win. It may never win
    with fewer, if different candidates lead it at different weights."""


def rank_line(lines: Lines, x: int, texts: Texts = None) -> RankLine:
    """Return the rank of candidate x at every weight, with ties in natural order. O(n log n)."""
    line = _rank_pieces(lines, x, texts)
    return RankLine(x, tuple((where, int(count) + 1) for where, count in runs_of_array(line.weights, line.ahead)))


def ranked_where(
    lines: Lines, x: int, wanted: Callable[[Integers], Truths], texts: Texts = None
) -> tuple[Interval, ...]:
    """Return the weights at which x itself has a wanted rank, in ascending order.

    wanted: returns which of these ranks (from 1) count. If another copy represents x's text, x ranks below every row.
    """
    line = _rank_pieces(lines, x, texts)
    return _where(line.weights, wanted(np.where(line.is_best, line.ahead + 1, _NOWHERE)))


def _where(weights: Sequence[Fraction], holds: Truths) -> tuple[Interval, ...]:
    return tuple(where for where, yes in runs_of_array(weights, holds) if yes)


def winning_weights(lines: Lines, x: int, k: int, texts: Texts = None) -> Winning:
    """Return every weight that puts x, or a copy of it, in the top k, in O(n log n).

    This is He and Lo's why-not question for two lists. The natural order decides ties, and so whether an end is open
    or closed. Single weights are possible.
    """
    weights, ahead, _, always = _rank_pieces(lines, x, texts)
    best = int(ahead.min())
    return Winning(_where(weights, ahead < k), best + 1, _where(weights, ahead == best), always)


class _BreakPoints(Sequence[Fraction]):
    """Weights in ascending order, 0 and 1 included. Fractions are made on access: few of thousands are read."""

    def __init__(self, numerators: list[int], denominators: list[int]) -> None:
        starts_late = not numerators or numerators[0] != 0
        ends_early = not numerators or numerators[-1] != denominators[-1]
        self.first_met = int(starts_late)
        self.numerators = [0] * starts_late + numerators + [1] * ends_early
        self.denominators = [1] * starts_late + denominators + [1] * ends_early

    def __len__(self) -> int:
        return len(self.numerators)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> list[Fraction]: ...
    def __getitem__(self, index: int | slice) -> Fraction | list[Fraction]:
        if isinstance(index, slice):
            return list(map(Fraction, self.numerators[index], self.denominators[index]))
        return Fraction(self.numerators[index], self.denominators[index])


class _RankPieces(NamedTuple):
    """The rank of a text over all weights; see `recall_core.explain.sweep` for pieces."""

    weights: Sequence[Fraction]
    """The break points."""
    ahead: Integers
    """(pieces,): how many other texts lead it."""
    is_best: Truths
    """(pieces,): True where the given candidate is the best copy."""
    always: tuple[int, ...]
    """The first candidate of each text that leads in every piece."""


def _rank_pieces(lines: Lines, x: int, texts: Texts) -> _RankPieces:
    """Return the pieces of `_join_pieces`, cached because one candidate gets several calls."""
    return _join_pieces(Same(lines), x, Same(texts))


@lru_cache(maxsize=1)
def _join_pieces(held: Same[Lines], x: int, texts: Same[Texts]) -> _RankPieces:
    """Join the pieces of each copy of x where it is the best copy."""
    lines = held.value
    if texts.value is None:
        numbers = firsts = np.arange(len(lines.a))
        own = [x]
    else:
        _, firsts, numbers = np.unique(np.array(texts.value), return_index=True, return_inverse=True)
        alike = np.flatnonzero(numbers == numbers[x]).tolist()
        own = [alike[i] for i in contenders(lines.among(alike), 1)]
    counted = [_count_ahead(lines, copy, numbers) for copy in own]
    parts = [part for part in counted if part.first < part.stop]
    parts.sort(key=lambda part: (part.weights[part.first // 2], part.first % 2))
    # Where a copy stops being the best, its line meets another copy's, so the parts have no gaps.
    points = [(part.weights, slice((part.first + 1) // 2, (part.stop + 1) // 2)) for part in parts]
    weights = _BreakPoints(
        [each for all_points, of_part in points for each in all_points.numerators[of_part]],
        [each for all_points, of_part in points for each in all_points.denominators[of_part]],
    )
    leads_in_all = np.logical_and.reduce([part.always for part in parts])
    return _RankPieces(
        weights,
        np.concatenate([part.ahead[part.first : part.stop] for part in parts]),
        np.concatenate([np.full(part.stop - part.first, part.candidate == x) for part in parts]),
        tuple(sorted(firsts[leads_in_all].tolist())),
    )


class _CopyPieces(NamedTuple):
    """The rank of one copy over all weights."""

    candidate: int
    weights: _BreakPoints
    ahead: Integers
    """(pieces,): how many other texts lead it."""
    first: int
    """The copy is the best one from this piece up to the piece before `stop`."""
    stop: int
    always: Truths
    """(texts,): True for texts that lead it in all of these pieces."""


def _count_ahead(lines: Lines, x: int, texts: Integers) -> _CopyPieces:
    """Count the texts that lead x at each break point and between them. texts: numbers from 0 without a gap.

    A candidate whose line meets x's leads on one side of the crossing, and at the crossing if it precedes x in
    natural order. So the best copies of a text lead up to one piece, and again from another piece on.
    """
    check()
    a, b = integers(lines.a), integers(lines.b)
    da, db = a - a[x], b - b[x]
    before = np.arange(len(a)) < x
    meets = ((da <= 0) & (db >= 0) | (da >= 0) & (db <= 0)) & (da != db)
    falling, early = (da > db)[meets], before[meets]
    numerators = abs(da[meets])
    by, starts = groups(numerators, numerators + abs(db[meets]))
    at = [by[start] for start in starts]
    weights = _BreakPoints(da[meets][at].tolist(), (da - db)[meets][at].tolist())
    point = np.zeros(len(by), dtype=np.int64)
    point[by] = np.searchsorted(starts, np.arange(len(by)), side="right") - 1 + weights.first_met
    edges = 2 * point + (falling == early)

    pieces = 2 * len(weights) - 1
    count = int(texts.max()) + 1
    until, since = np.zeros(count, dtype=np.int64), np.full(count, pieces)
    until[texts[~meets & ((da > 0) | (da == 0) & before)]] = pieces
    met = texts[meets]
    np.maximum.at(until, met[falling], edges[falling])
    np.minimum.at(since, met[~falling], edges[~falling])
    first, stop = int(until[texts[x]]), int(since[texts[x]])
    always = (until >= stop) | (since <= first) | (until >= since)
    until[until >= since] = pieces
    since[until == pieces] = pieces
    until[texts[x]], since[texts[x]], always[texts[x]] = 0, pieces, False
    changes = np.zeros(pieces + 1, dtype=np.int64)
    changes[0] = np.count_nonzero(until)
    np.add.at(changes, until[until > 0], -1)
    np.add.at(changes, since, 1)
    return _CopyPieces(x, weights, np.cumsum(changes)[:-1], first, stop, always)


Wish = TypeVar("Wish")
_ALL: tuple[Interval, ...] = (Interval(Fraction(0), Fraction(1)),)


def pin_weights(lines: Lines, x: int, k: int, want: Literal["in", "out"]) -> tuple[Interval, ...]:
    """Return the weights at which x is in the top k, or out of it."""
    return ranked_where(lines, x, lambda ranks: (ranks <= k) == (want == "in"))


def together(where: Mapping[Wish, tuple[Interval, ...]]) -> tuple[tuple[Interval, ...], tuple[Wish, ...]]:
    """Return the weights that every wish allows, or a minimal set of wishes that exclude each other."""
    intervals = reduce(intersect, where.values(), _ALL)
    return (intervals, ()) if intervals else ((), _conflict(where))


def _conflict(where: Mapping[Wish, tuple[Interval, ...]]) -> tuple[Wish, ...]:
    """Drop each wish, last first, that the conflict does not need."""
    kept = dict(where)
    for wish in reversed(list(where)):
        rest = {each: sets for each, sets in kept.items() if each != wish}
        if not reduce(intersect, rest.values(), _ALL):
            kept = rest
    return tuple(kept)
