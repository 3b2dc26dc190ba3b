"""How far the weight is from changing the answer."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from recall_core.explain.intervals import Interval
from recall_core.explain.lines import Lines, Weight, crossing, exact, order_at, scores_at
from recall_core.explain.sweep import Sweep, stretches

FRAGILE = 0.02
"""A weight that may move by less than this before the top k changes its order makes a fragile answer."""


class NeighbourPair(NamedTuple):
    """Two neighbours in the ranking, with the score between them and the weight at which they change places."""

    upper: int
    lower: int
    margin: float
    flips_at: float | None
    """None when they keep their order at every weight."""


class Stability(NamedTuple):
    """The weights around the current one that keep the top k as it is, in order and in members."""

    order: Interval
    members: Interval
    order_distance: float | None
    """To the nearest weight with another order; 0 when the current one is a break point, None when there is none."""
    members_distance: float | None
    pairs: tuple[NeighbourPair, ...]
    """Ranks 1 and 2, 2 and 3, to k and k + 1."""
    fragile: bool
    """order_distance is below FRAGILE."""


def stability(lines: Lines, swept: Sweep, weight: Weight) -> Stability:
    """How the top k of a sweep over these lines stands at this weight."""
    order, members = (_around(swept, weight, members=only) for only in (False, True))
    distance = _distance(order, weight)
    return Stability(
        order,
        members,
        order_distance=distance,
        members_distance=_distance(members, weight),
        pairs=_pairs(lines, weight, swept.orders.shape[1]),
        fragile=distance is not None and distance < FRAGILE,
    )


def order_distance(swept: Sweep, weight: Weight) -> float | None:
    """From this weight to the nearest one at which the top k has another order: `Stability.order_distance`."""
    return _distance(_around(swept, weight, members=False), weight)


def _around(swept: Sweep, weight: Weight, *, members: bool) -> Interval:
    return next(where for where, _ in stretches(swept, members=members) if where.holds(weight))


def _distance(interval: Interval, weight: Weight) -> float | None:
    """To the nearer end beyond which another order follows; a closed end at 0 or 1 is the end of the scale."""
    w = exact(weight)
    ends = [w - interval.low] if interval.low > 0 or interval.low_open else []
    ends += [interval.high - w] if interval.high < 1 or interval.high_open else []
    return float(min(ends)) if ends else None


def _pairs(lines: Lines, weight: Weight, depth: int) -> tuple[NeighbourPair, ...]:
    scores, scale = scores_at(lines, weight)
    order = order_at(lines, weight)[: depth + 1]
    return tuple(
        NeighbourPair(upper, lower, float(Fraction(scores[upper] - scores[lower], scale)), _flip(lines, upper, lower))
        for upper, lower in pairwise(order)
    )


def _flip(lines: Lines, upper: int, lower: int) -> float | None:
    weight = crossing(lines, upper, lower)
    return None if weight is None else float(weight)
