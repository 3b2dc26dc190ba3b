"""Two chunks beside each other: leaf by leaf, who leads by how much, and the weight at which they change places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Literal, TypeAlias

from recall_core.contract.ledger import DifferenceView, LeafView, VersusView
from recall_core.explain.lines import Lines
from recall_core.explain.standing import Scored, Standing, decided_by, flips_at
from recall_core.retrieve import Answer
from recall_core.types import SIGNALS, Signal

MOST_DIFFERENCES = 30
"""Leaves that are compared one by one; the smaller ones of each signal are one difference together."""

_SIDES: tuple[Literal["points"], Literal["other_points"]] = ("points", "other_points")
_Key: TypeAlias = tuple[Signal, str, str]


def versus(found: Answer, one: Standing, other: Standing, lines: Lines | None) -> VersusView | None:
    """The first chunk against the second; None when one of them has no score. lines: see `weight_lines`."""
    left, right = one.scored, other.scored
    if left is None or right is None:
        return None
    leads = _order(one, left) <= _order(other, right)
    higher, lower = (left, right) if leads else (right, left)
    view = VersusView(
        winner=(one if leads else other).row.chunk.id,
        margin=higher.score - lower.score,
        decided_by=decided_by(found, higher.position, lower.position),
        differences=_differences(_points(left), _points(right)),
    )
    if lines is not None and view["decided_by"] != "recall":
        view["flips_at"] = flips_at(lines, left.position, right.position)
    return view


def _order(standing: Standing, scored: Scored) -> tuple[bool, int, float, int]:
    """What is in the list comes first, by place; the rest by score and in natural order."""
    return (standing.place is None, standing.place or 0, -scored.score, scored.position)


def _points(scored: Scored) -> dict[_Key, float]:
    """Every leaf's points; a part without leaves is its own. Leaves that look the same are added up."""
    points: dict[_Key, float] = {}
    for part in scored.hit.parts:
        whole = LeafView(kind="residual", text="", points=part.points)
        for leaf in scored.leaves.get(part.signal, [whole]):
            key = (part.signal, leaf["kind"], leaf["text"])
            points[key] = points.get(key, 0.0) + leaf["points"]
    return points


def _differences(left: Mapping[_Key, float], right: Mapping[_Key, float]) -> list[DifferenceView]:
    views = [_difference(key, left.get(key, 0.0), right.get(key, 0.0)) for key in {**left, **right}]
    views.sort(key=lambda view: -abs(view["delta"]))
    return [*views[:MOST_DIFFERENCES], *_others(views[MOST_DIFFERENCES:])]


def _difference(key: _Key, points: float, other_points: float) -> DifferenceView:
    signal, kind, text = key
    return DifferenceView(
        signal=signal, kind=kind, text=text, points=points, other_points=other_points, delta=points - other_points
    )


def _others(views: Sequence[DifferenceView]) -> Iterator[DifferenceView]:
    """One for each signal in place of all of its own."""
    for signal in SIGNALS:
        same = [view for view in views if view["signal"] == signal]
        if same:
            points, others = (fsum(view[side] for view in same) for side in _SIDES)
            yield _difference((signal, "other", f"{len(same)} smaller"), points, others)
