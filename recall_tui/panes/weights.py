"""Pane 4: the weight of the signals, and what every other weight would make of the first ranks."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click

from recall_core.config import Config
from recall_tui.chart import DEPTH, Chart, Gauge, flips, gauge_at, top_at, tops_over
from recall_tui.session import Session, is_stale, listed
from recall_tui.weighing import current, drawn, share, why_no_lines, why_not
from recall_tui.widgets.canvas import DOWN, Canvas
from recall_tui.widgets.draw import Glyphs, fit, folded
from recall_tui.widgets.lines import LineView
from recall_tui.widgets.slider import Slider

if TYPE_CHECKING:
    from recall_core.explain.intervals import Interval

LABEL_CELLS = 2  # the rank before its line
LEAST_DOTS = 2  # from one rank to the next: with fewer the lines run into each other


class Board(LineView, can_focus=False):
    """What stands under the slider; it is drawn for its height as well as for its width."""

    def __init__(self) -> None:
        super().__init__(id="board")


class WeightsPane(Vertical):
    """The slider above its settings, its stability and the rank lines."""

    def __init__(self) -> None:
        super().__init__(id="weights")
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """The slider above everything it changes."""
        yield Slider()
        yield Board()

    def show(self, session: Session) -> None:
        """Show the settings of this session, and its chart when it has one."""
        config, answer = current(session), session.answer
        moved = ", ".join(session.tweaks)
        self.border_title = "4 Weights (changed)" if moved else "4 Weights"
        self.border_subtitle = "S saves, r resets" if moved else "as saved" if session.saved else ""
        self.set_class(is_stale(session), "-stale")
        chart = drawn(session)
        shown = (config, answer, chart, session.selected, session.saved, session.fixed, tuple(session.tweaks))
        if shown == self._shown:
            return
        self._shown = shown
        self.query_one(Slider).show(share(config), "Nothing to weigh." if why_not(answer) else "")
        board = self.query_one(Board)
        board.show(lambda width: board_lines(session, width, board.size.height, board.glyphs))

    def on_click(self, event: Click) -> None:
        """A click anywhere in the pane goes to its slider."""
        event.stop()
        self.screen.set_focus(self.query_one(Slider))


def board_lines(session: Session, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """Everything under the slider, in this many cells; the chart takes the height that is left."""
    answer, config, chart = session.answer, current(session), drawn(session)
    if wrong := why_not(answer):
        reason = [Text(line, Style(dim=True)) for line in folded(wrong, width)]
        return [*reason, *_settings(session, config, width, glyphs)] if answer and answer.pool else reason
    assert answer is not None  # noqa: S101 - there is something to weigh
    lines = _settings(session, config, width, glyphs)
    if wrong := why_no_lines(answer):
        return [*lines, *(Text(line, Style(dim=True)) for line in folded(wrong, width))]
    if chart is None:
        return [*lines, Text(fit("Looking at every weight.", width, glyphs), Style(dim=True))]
    weight = exact_share(config)
    gauge = gauge_at(chart, weight)
    lines += [Text(line, Style(bold=gauge.fragile)) for line in folded(verdict(chart, gauge, glyphs), width)]
    rows = min(DEPTH, height - len(lines) - 2)
    if rows > 0:
        lines += rank_lines(chart, weight, _selected(session), (width, rows), glyphs)
    return [*lines, *_scale(chart, gauge, weight, width, glyphs)]


def exact_share(config: Config) -> Fraction:
    """The semantic share as the decimals say it; two weights of 0 count as equal ones."""
    words, meaning = Fraction(str(config.bm25_weight)), Fraction(str(config.vector_weight))
    return meaning / (words + meaning) if words + meaning else Fraction(1, 2)


def verdict(chart: Chart, gauge: Gauge, glyphs: Glyphs) -> str:
    """The weights that keep the first ranks, and whether that is a narrow stretch: in a sign and in words."""
    depth = len(chart.orders[0])
    mark, word = (glyphs.no, "fragile") if gauge.fragile else (glyphs.yes, "steady")
    where = f"order holds {_span(gauge.order)}, set {_span(gauge.members)}"
    far = "at every weight" if gauge.distance is None else f"by {gauge.distance:.3f}"
    return f"{mark} {word} {far}{glyphs.dot}top {depth} {where}"


def rank_lines(
    chart: Chart, weight: Fraction, selected: int | None, size: tuple[int, int], glyphs: Glyphs
) -> list[Text]:
    """The ranks of the first candidates over all weights; the selected one's line is thicker.

    size: cells across and down. The upright is the weight as it is.
    """
    width, height = size
    canvas = Canvas(max(1, width - LABEL_CELLS), height)
    ranks = min(len(chart.orders[0]), canvas.rows // LEAST_DOTS)
    tops = [top[:ranks] for top in tops_over(chart, canvas.columns)]
    for candidate in top_at(chart, weight)[:ranks]:
        _draw(canvas, tops, candidate, ranks, thickness=2 if candidate == selected else 1)
    labels = {_row(canvas, rank, ranks) // DOWN: str(rank + 1) for rank in reversed(range(ranks))}
    here = LABEL_CELLS + _cell(weight, canvas.width)
    lines = []
    for row, drawn_row in enumerate(canvas.lines(glyphs)):
        line = f"{labels.get(row, ' '):<{LABEL_CELLS}}{drawn_row}"
        lines.append(Text(f"{line[:here]}{glyphs.upright}{line[here + 1 :]}"))
    return lines


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


def _cell(weight: Fraction, width: int) -> int:
    return min(width - 1, int(weight * width))


def _scale(chart: Chart, gauge: Gauge, weight: Fraction, width: int, glyphs: Glyphs) -> list[Text]:
    """Under the lines: where they change, then how far the order and the set of the first ranks hold."""
    cells = max(1, width - LABEL_CELLS)
    ticks = {_cell(each, cells) for each in flips(chart)}
    ticked = "".join(glyphs.tick if cell in ticks else " " for cell in range(cells))
    band = "".join(_band(cell, cells, gauge, glyphs) for cell in range(cells))
    here = _cell(weight, cells)
    return [
        Text(" " * LABEL_CELLS + ticked),
        Text(f"{' ' * LABEL_CELLS}{band[:here]}{glyphs.here}{band[here + 1 :]}"),
    ]


def _band(cell: int, cells: int, gauge: Gauge, glyphs: Glyphs) -> str:
    low, high = Fraction(cell, cells), Fraction(cell + 1, cells)
    if gauge.order.low < high and low < gauge.order.high:
        return glyphs.series[0]
    return glyphs.series[2] if gauge.members.low < high and low < gauge.members.high else glyphs.line


def _span(where: Interval) -> str:
    low, high = (f"{float(end):.2f}" for end in where[:2])
    return low if low == high else f"{low}-{high}"


def _settings(session: Session, config: Config, width: int, glyphs: Glyphs) -> list[Text]:
    """The settings with the keys that move them; a mark on those that differ from the saved ones."""
    shown = {
        "fusion": f"f fusion {config.fusion}",
        "normalize": f"n scale {config.normalize}",
        "min_score": f"<> least score {config.min_score:.2f}",
        "sparse_recall": f"s sparse {'on' if config.sparse_recall else 'off'}",
    }
    marked = [f"{text}*" if key in session.tweaks else text for key, text in shown.items()]
    if why_not(session.answer):
        del marked[0]  # one signal is not fused
    halves = [glyphs.dot.join(marked[:-2]), glyphs.dot.join(marked[-2:])]
    whole = glyphs.dot.join(marked)
    lines = (
        folded(whole, width)
        if cell_len(whole) <= width
        else [line for half in halves for line in folded(half, width)]
    )
    if session.fixed:
        lines += folded(f"OPTION decides {', '.join(session.fixed)}", width)
    return [Text(line) for line in lines]


def _selected(session: Session) -> int | None:
    """The position in the pool of the selected row."""
    answer = session.answer
    if answer is None or answer.ranked is None:
        return None
    at = listed(answer)[0] + session.selected
    return answer.ranked.order[at] if at < len(answer.ranked.order) else None
