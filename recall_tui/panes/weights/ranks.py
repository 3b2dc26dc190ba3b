"""The ranks of the first candidates at every weight: in words, as lines, and as bands under them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

from rich.text import Text

from recall_tui.panes.weights.across import LABEL_CELLS, cell_of, crossed, joined, labelled, span
from recall_tui.state.chart import Chart, Gauge, flips, gauge_at, top_at, tops_over
from recall_tui.widgets.canvas import DOWN, Canvas
from recall_tui.widgets.draw import Glyphs

if TYPE_CHECKING:
    from recall_core.explain.intervals import Interval

KEPT = 8  # drawings


def verdict(chart: Chart, gauge: Gauge, width: int, glyphs: Glyphs) -> list[str]:
    """Whether the first ranks hold, how far the next change of them is, and the weights that keep them.

    The fills before the stretches are those of the bands under the lines. No stretch is broken over two lines.
    """
    mark, word = (glyphs.no, "fragile") if gauge.fragile else (glyphs.yes, "steady")
    far = " at every weight" if gauge.distance is None else f", {gauge.distance:.3f} from a flip"
    order, members = span(*gauge.order[:2]), span(*gauge.members[:2])
    held = [f"{glyphs.series[0]} order {order}", f"{glyphs.series[2]} set {members}"]
    if len(both := glyphs.dot.join(held)) <= width:
        held = [both]
    return joined([f"{mark} top {len(chart.orders[0])} {word}{far}", *held], width, glyphs)


def rank_lines(
    chart: Chart, weight: Fraction, selected: int | None, size: tuple[int, int], glyphs: Glyphs
) -> list[Text]:
    """The lines of the first candidates over all weights, on as many ranks as have a row each.

    The selected one's is thicker. size: cells across and down. The upright is the weight as it is.
    """
    candidates = frozenset(top_at(chart, weight))
    rows = _rows(chart, candidates, selected, (max(1, size[0] - LABEL_CELLS), size[1]), glyphs)
    return [crossed(label, row, weight, glyphs) for label, row in rows]


@lru_cache(KEPT)
def _rows(
    chart: Chart, candidates: frozenset[int], selected: int | None, size: tuple[int, int], glyphs: Glyphs
) -> list[tuple[str, str]]:
    """Label and text of each row; kept, because a weight that moves changes it only where candidates change."""
    canvas = Canvas(*size)
    ranks = min(len(candidates), canvas.height)
    tops = [top[:ranks] for top in tops_over(chart, canvas.columns)]
    for candidate in candidates:
        _draw(canvas, tops, candidate, ranks, thickness=2 if candidate == selected else 1)
    labels = {_row(canvas, rank, ranks) // DOWN: str(rank + 1) for rank in range(ranks)}
    return [(labels.get(row, ""), each) for row, each in enumerate(canvas.lines(glyphs))]


def _draw(canvas: Canvas, tops: list[tuple[int, ...]], candidate: int, ranks: int, *, thickness: int) -> None:
    """One candidate's line; where it is further back than the last drawn rank there is none."""
    last: int | None = None
    for x, order in enumerate(tops):
        if candidate not in order:
            last = None
            continue
        y = _row(canvas, order.index(candidate), ranks)
        for offset in range(thickness):
            canvas.upright(x, y + offset, (y if last is None else last) + offset)
        last = y


def _row(canvas: Canvas, rank: int, ranks: int) -> int:
    """The row of dots of a rank, counted from 0, where so many are drawn."""
    return (2 * rank + 1) * canvas.rows // (2 * ranks)


def scale(chart: Chart, weight: Fraction, width: int, glyphs: Glyphs, *, joint: bool = False) -> list[Text]:
    """Under the lines: where they change, then how far the order and the set of the first ranks hold.

    joint: both in one line, for a pane that is short of lines.
    """
    cells, gauge = max(1, width - LABEL_CELLS), gauge_at(chart, weight)
    order, members = _cells(gauge.order, cells), _cells(gauge.members, cells)
    ticks = _ticked(chart, cells, glyphs)
    band = "".join(
        glyphs.series[0]
        if cell in order
        else tick
        if joint and tick != " "
        else glyphs.series[2]
        if cell in members
        else glyphs.line
        for cell, tick in enumerate(ticks)
    )
    marked = labelled("", band, weight, glyphs)
    return [marked] if joint else [Text(" " * LABEL_CELLS + ticks), marked]


@lru_cache(KEPT)
def _ticked(chart: Chart, cells: int, glyphs: Glyphs) -> str:
    """A tick where something changes."""
    ticks = {cell_of(each, cells) for each in flips(chart)}
    return "".join(glyphs.tick if cell in ticks else " " for cell in range(cells))


def _cells(stretch: Interval, cells: int) -> range:
    """The cells that a stretch of weights has a part in; none where it is a single weight between two of them."""
    return range(floor(stretch.low * cells), ceil(stretch.high * cells))
