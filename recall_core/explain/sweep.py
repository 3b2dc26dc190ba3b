"""The exact sweep: every weight at which the top k changes, and the top k at and between these weights.

Sets of weights are unions of intervals with exact ends, each open or closed. Rows are candidates, or the best
candidate of each group: of a document, or of a text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from math import ceil, floor
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from recall_core.contract.ledger import WeightIntervalView
from recall_core.deadline import check
from recall_core.explain.lines import Integers, Sweepable, Weight, contenders, exact, groups, integers

Label = TypeVar("Label")
Each = TypeVar("Each", np.int64, np.bool_)
_DIGITS = (3, 4, 5, 6)
"""Decimals of a weight that a person types. With six, unequal scores stay further apart than float error."""


class Interval(NamedTuple):
    """Weights from low to high. An open end is excluded; low == high is a single weight, with both ends closed."""

    low: Fraction
    high: Fraction
    low_open: bool = False
    high_open: bool = False

    @property
    def width(self) -> float:
        """The length, 0 to 1."""
        return float(self.high - self.low)

    def holds(self, weight: Weight) -> bool:
        """Return True if the interval contains the weight, exactly."""
        w = exact(weight)
        return (self.low < w or (w == self.low and not self.low_open)) and (
            w < self.high or (w == self.high and not self.high_open)
        )

    def distance(self, weight: Weight) -> Fraction:
        """Return the distance from the weight to the nearer end; 0 inside."""
        w = exact(weight)
        return max(self.low - w, w - self.high, Fraction(0))


def interval_view(interval: Interval) -> WeightIntervalView:
    """Return the interval as a JSON view."""
    return WeightIntervalView(
        low=float(interval.low), high=float(interval.high), low_open=interval.low_open, high_open=interval.high_open
    )


def runs(weights: Sequence[Fraction], labels: Sequence[Label]) -> list[tuple[Interval, Label]]:
    """Return the longest stretches of equal labels, in ascending order; together they are [0, 1].

    weights: the break points, 0 and 1 included.
    labels: one for each break point and each open cell between two, in turn: 2 * len(weights) - 1.
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
    """Return the same for an array of labels, without a Python loop over every label."""
    edges: list[int] = (np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist()
    bounds = pairwise([0, *edges, len(labels)])
    found = []
    for start, stop in bounds:
        check()
        found.append((_stretch(weights, start, stop - 1), labels[start]))
    return found


def intersect(left: Sequence[Interval], right: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return the weights in both unions. Each union is ascending and its intervals do not touch."""
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
    """Return the interval closest to the weight, then the longest. Single weights come last."""
    long = [each for each in intervals if each.low < each.high]
    return min(long or intervals, key=lambda each: (each.distance(weight), each.low - each.high), default=None)


def weight_inside(interval: Interval, near: Weight) -> float | None:
    """Return a weight inside the interval: the given one, else the nearest with few decimals, else the middle.

    Return None if the interval contains no printable float, such as the single weight 1/3.
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


_BLOCK = 4_096
"""Pieces compared at a time."""


class Sweep(NamedTuple):
    """The top k of a pool over all weights, as pieces: break point, open cell, break point, ..., break point.

    Piece 2 * i is the single weight weights[i]. Piece 2 * i + 1 lies strictly between weights[i] and weights[i + 1].
    """

    weights: tuple[Fraction, ...]
    """Ascending from 0 to 1, both always included."""
    orders: Integers
    """(pieces, depth): positions in the pool, best first; depth is k, or the pool's size if smaller."""


def sweep(lines: Sweepable, k: int, groups: Sequence[int] | None = None) -> Sweep:
    """Return all weights in [0, 1] where the top k changes in order or in members, with the top k of every piece.

    Nothing changes between two break points. At a break point, ties follow the natural order. Without groups, the
    order changes at every break point. O(m^2 log m) for the m candidates that can reach the top k.
    groups: the number of each candidate's group (document or text); then a row is the best candidate of a group.
    """
    return _sweep_each(lines, k) if groups is None else _sweep_groups(lines, groups, k)


def piece_at(swept: Sweep, weight: Weight) -> int:
    """Return the index of the piece that contains this weight."""
    w = exact(weight)
    return bisect_left(swept.weights, w) + bisect_right(swept.weights, w) - 1


def top_at(swept: Sweep, weight: Weight) -> list[int]:
    """Return the top k at this weight, best first, without ranking again."""
    top: list[int] = swept.orders[piece_at(swept, weight)].tolist()
    return top


def stretches(swept: Sweep, *, members: bool = False) -> list[tuple[Interval, tuple[int, ...]]]:
    """Return the intervals over which the top k keeps its order, best first, or only its members, by position."""
    return runs(swept.weights, list(tops(swept, members=members)))


def tops(swept: Sweep, *, members: bool = False) -> Iterator[tuple[int, ...]]:
    """Yield the top k of every piece in turn, best first, or by position."""
    for start in range(0, len(swept.orders), _BLOCK):
        check()
        rows = swept.orders[start : start + _BLOCK]
        yield from map(tuple, (np.sort(rows, axis=1) if members else rows).tolist())


def _sweep_each(lines: Sweepable, k: int) -> Sweep:
    held = contenders(lines, k)
    drawn = lines.among(held).exactly()
    a, b = list(drawn.a), list(drawn.b)
    depth = min(k, len(held))
    rows = array("q", sorted(range(len(held)), key=lambda i: (-a[i], i))[:depth])
    order = array("q", sorted(range(len(held)), key=lambda i: (-a[i], -b[i], i)))
    rows.extend(order[:depth])
    weights = [Fraction(0), *_walk(a, b, order, depth, rows), Fraction(1)]
    rows.extend(sorted(range(len(held)), key=lambda i: (-b[i], i))[:depth])
    local = np.frombuffer(rows, dtype=np.int64) if rows else np.zeros(0, dtype=np.int64)
    orders = np.array(held, dtype=np.int64)[local].reshape(2 * len(weights) - 1, depth)
    return Sweep(tuple(weights), orders)


def _walk(a: list[int], b: list[int], order: array[int], depth: int, rows: array[int]) -> Iterator[Fraction]:
    """Walk the order across every crossing. Append the top at and after each crossing that touches it."""
    place = [0] * len(order)
    _put(order, place, range(len(order)), order)
    for numerator, denominator, pairs in _crossings(a, b):
        check()
        if len(pairs) == 1:
            x, y = pairs[0]
            first = min(place[x], place[y])
            places: Sequence[int] = (first, first + 1)
            at: Sequence[int] = (x, y)  # equal scores: the lower position leads
            after: Sequence[int] = (order[first + 1], order[first])
        else:
            members = sorted({each for pair in pairs for each in pair})
            score = [a[i] * (denominator - numerator) + b[i] * numerator for i in members]
            places = sorted(place[i] for i in members)
            at = [i for _, i in sorted(zip([-s for s in score], members, strict=True))]
            after = [i for _, _, i in sorted((-s, a[i] - b[i], i) for s, i in zip(score, members, strict=True))]
        if places[0] < depth:
            _put(order, place, places, at)
            rows.extend(order[:depth])
        _put(order, place, places, after)
        if places[0] < depth:
            rows.extend(order[:depth])
            yield Fraction(numerator, denominator)


def _put(order: array[int], place: list[int], places: Sequence[int], members: Sequence[int]) -> None:
    for at, i in zip(places, members, strict=True):
        order[at] = i
        place[i] = at


def _crossings(a: list[int], b: list[int]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Yield the fractions strictly inside (0, 1) where pairs swap places, ascending, with these pairs."""
    left, right = np.triu_indices(len(a), 1)
    lexical, semantic = integers(a), integers(b)
    da, db = lexical[left] - lexical[right], semantic[left] - semantic[right]
    apart = ((da > 0) & (db < 0)) | ((da < 0) & (db > 0))
    numerators = abs(da[apart])
    denominators = numerators + abs(db[apart])
    pairs = list(zip(left[apart].tolist(), right[apart].tolist(), strict=True))
    by, starts = groups(numerators, denominators)
    tops, bottoms = numerators.tolist(), denominators.tolist()
    for start, stop in pairwise([*starts, len(by)]):
        yield tops[by[start]], bottoms[by[start]], [pairs[at] for at in by[start:stop]]


def _sweep_groups(lines: Sweepable, groups: Sequence[int], k: int) -> Sweep:
    """Return the top k groups over all weights, each as the position of its best candidate.

    A group's score is the maximum of several lines. Candidates that another candidate of their group leads at both
    ends are never the best and are left out. The depth doubles until every piece shows k groups. Neighbouring pieces
    may be equal if only a hidden candidate moves.
    """
    candidates = _best_somewhere(lines, groups)
    part = lines.among(candidates)
    owners = np.array([groups[i] for i in candidates], dtype=np.int64)
    count = len(set(owners.tolist()))
    wanted, depth = min(k, count), min(2 * k, k + len(candidates) - count)
    while True:
        swept = _sweep_each(part, depth)
        rows = _firsts(swept.orders, owners, wanted)
        if rows is not None:
            return Sweep(swept.weights, np.array(candidates, dtype=np.int64)[rows])
        depth *= 2


def _best_somewhere(lines: Sweepable, groups: Sequence[int]) -> list[int]:
    """Return the candidates that may be the best of their group at some weight, in natural order."""
    if len(set(groups)) == len(groups):
        return list(range(len(groups)))
    members: dict[int, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    kept: list[int] = []
    for own in members.values():
        check()
        if len(own) == 1:
            kept += own
        else:
            kept += [own[i] for i in contenders(lines.among(own), 1)]
    return sorted(kept)


def _firsts(orders: Integers, owners: Integers, wanted: int) -> Integers | None:
    """Return the first `wanted` groups of every row, as positions; None if a row has fewer."""
    if orders.shape[1] == 0:
        return orders
    rows = owners[orders]
    repeats = np.zeros(rows.shape, dtype=np.bool_)
    for place in range(1, rows.shape[1]):
        check()
        repeats[:, place] = (rows[:, :place] == rows[:, place, None]).any(axis=1)
    if int((~repeats).sum(axis=1).min()) < wanted:
        return None
    firsts = np.argsort(repeats, axis=1, kind="stable")[:, :wanted]
    return np.take_along_axis(orders, firsts, axis=1)


ROWS = 8
"""The first rows of an answer whose order counts: as many lines as the workbench draws."""

FRAGILE = 0.02
"""An answer is fragile if moving the weight by less than this changes the order of the top k."""


class Stability(NamedTuple):
    """The weights around the current one that keep the order of the top k, and its members."""

    order: Interval
    members: Interval
    order_distance: float | None
    """To the nearest weight with another order; 0 at a break point, None if there is no other order."""
    members_distance: float | None
    fragile: bool
    """True if order_distance is below FRAGILE."""


def stability(swept: Sweep, weight: Weight) -> Stability:
    """Return the stability of a sweep's top k at this weight."""
    order, members = ([where for where, _ in stretches(swept, members=only)] for only in (False, True))
    return stability_of(order, members, weight)


def stability_of(order: Sequence[Interval], members: Sequence[Interval], weight: Weight) -> Stability:
    """Return the stability, from the ascending intervals over which the top k keeps its order, and its members."""
    same_order, same_members = _around(order, weight), _around(members, weight)
    distance = _distance(same_order, weight)
    return Stability(
        same_order,
        same_members,
        order_distance=distance,
        members_distance=_distance(same_members, weight),
        fragile=distance is not None and distance < FRAGILE,
    )


def order_distance(swept: Sweep, weight: Weight) -> float | None:
    """Return the distance from this weight to the nearest one with another order: `Stability.order_distance`."""
    return _distance(_around([where for where, _ in stretches(swept)], weight), weight)


def _around(intervals: Sequence[Interval], weight: Weight) -> Interval:
    """Return the interval that contains the weight. The intervals are ascending and cover [0, 1]."""
    at = bisect_right(intervals, exact(weight), key=lambda each: each.low) - 1
    while not intervals[at].holds(weight):  # intervals that begin after the weight, or open at it
        at -= 1
    return intervals[at]


def _distance(interval: Interval, weight: Weight) -> float | None:
    """Return the distance to the nearer end with another order behind it; a closed end at 0 or 1 has none."""
    w = exact(weight)
    ends = [w - interval.low] if interval.low > 0 or interval.low_open else []
    ends += [interval.high - w] if interval.high < 1 or interval.high_open else []
    return float(min(ends)) if ends else None
