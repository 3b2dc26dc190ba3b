"""How far the weight is from changing the answer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from recall_core.explain.intervals import Interval
from recall_core.explain.lines import Weight, exact
from recall_core.explain.sweep import Sweep, stretches

ROWS = 8
"""The first rows of an answer, whose order is looked at: as many as the workbench draws lines of."""

FRAGILE = 0.02
"""A weight that may move by less than this before the top k changes its order makes a fragile answer."""


class Stability(NamedTuple):
    """The weights around the current one that keep the top k as it is, in order and in members."""

    order: Interval
    members: Interval
    order_distance: float | None
    """To the nearest weight with another order; 0 when the current one is a break point, None when there is none."""
    members_distance: float | None
    fragile: bool
    """order_distance is below FRAGILE."""


def stability(swept: Sweep, weight: Weight) -> Stability:
    """Return how stable the top k of a sweep is at this weight."""
    order, members = ([where for where, _ in stretches(swept, members=only)] for only in (False, True))
    return stability_of(order, members, weight)


def stability_of(order: Sequence[Interval], members: Sequence[Interval], weight: Weight) -> Stability:
    """Return the same from the stretches over which the top k keeps its order, and its members; both ascending."""
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
    """From this weight to the nearest one at which the top k has another order: `Stability.order_distance`."""
    return _distance(_around([where for where, _ in stretches(swept)], weight), weight)


def _around(intervals: Sequence[Interval], weight: Weight) -> Interval:
    """Return the one of these ascending intervals, which together are [0, 1], that holds the weight."""
    at = bisect_right(intervals, exact(weight), key=lambda each: each.low) - 1
    while not intervals[at].holds(weight):  # those that begin behind their low end, or at it
        at -= 1
    return intervals[at]


def _distance(interval: Interval, weight: Weight) -> float | None:
    """To the nearer end beyond which another order follows; a closed end at 0 or 1 is the end of the scale."""
    w = exact(weight)
    ends = [w - interval.low] if interval.low > 0 or interval.low_open else []
    ends += [interval.high - w] if interval.high < 1 or interval.high_open else []
    return float(min(ends)) if ends else None
