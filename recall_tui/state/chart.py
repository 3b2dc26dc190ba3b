"""The order of the best candidates at every weight, worked out once a question and read at any weight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from recall_core import explain

if TYPE_CHECKING:
    from recall_core.config import Config
    from recall_core.explain.intervals import Interval
    from recall_core.explain.sweep import Stability
    from recall_core.types import Pool

DEPTH = 8  # ranks that are drawn: more lines than this cannot be followed by eye


@dataclass(frozen=True, eq=False)
class Chart:
    """The first ranks at every weight; see `recall_core.explain.sweep` for what a piece is.

    One chart is not compared with another, so that what is drawn of it can be kept by it.
    """

    fusion: str
    normalize: str
    rrf_k: int
    """The scale it was drawn on: on another one it says nothing."""
    weights: tuple[Fraction, ...]
    """Break points, with 0 and 1."""
    orders: tuple[tuple[int, ...], ...]
    """Positions in the pool, best first: at each break point and between each two, in turn."""
    same_order: tuple[Interval, ...]
    """The longest stretches over which nothing changes, ascending."""
    same_members: tuple[Interval, ...]
    """The same where only the order may change."""


def chart_of(pool: Pool, config: Config, *, limit: int = DEPTH, texts: Sequence[int] | None = None) -> Chart:
    """Draw a pool with two signals under this fusion and normalisation; the weights do not matter.

    limit: how many rows are listed; at most DEPTH are drawn. texts: the number of each candidate's text, where copies
    are listed once.
    """
    swept = explain.sweep.sweep(explain.lines.sweepable(pool, config), max(1, min(limit, DEPTH)), texts)
    return Chart(
        fusion=config.fusion,
        normalize=config.normalize,
        rrf_k=config.rrf_k,
        weights=swept.weights,
        orders=tuple(map(tuple, swept.orders.tolist())),
        same_order=tuple(where for where, _ in explain.sweep.stretches(swept)),
        same_members=tuple(where for where, _ in explain.sweep.stretches(swept, members=True)),
    )


def top_at(chart: Chart, weight: Fraction) -> tuple[int, ...]:
    """Return the first candidates at this weight, best first."""
    return chart.orders[bisect_left(chart.weights, weight) + bisect_right(chart.weights, weight) - 1]


def tops_over(chart: Chart, columns: int) -> list[tuple[int, ...]]:
    """Return the first candidates in the middle of each of so many equal stretches: to draw, not to decide."""
    places = [float(weight) for weight in chart.weights]
    middles = [(2 * column + 1) / (2 * columns) for column in range(columns)]
    return [chart.orders[bisect_left(places, at) + bisect_right(places, at) - 1] for at in middles]


def stability_at(chart: Chart, weight: Fraction) -> Stability:
    """Return how far the weight is from changing the first ranks."""
    return explain.sweep.stability_of(chart.same_order, chart.same_members, weight)


def changes(chart: Chart) -> tuple[Fraction, ...]:
    """Return the weights at which something changes: where one stretch ends and the next begins."""
    return tuple(sorted({where.low for where in chart.same_order if where.low > 0 or where.low_open}))
