"""The weights pane: the slider above the board, and what matters most of it where there is no room for all."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click

from recall_tui.messages import SettingPicked
from recall_tui.panes.weights.across import pin_band, pin_figures, pin_names
from recall_tui.panes.weights.curve import curve_rows, figures, marks
from recall_tui.panes.weights.ranks import rank_lines, scale, verdict
from recall_tui.panes.weights.settings import form_lines, moved_settings, row_at, settings_lines
from recall_tui.state import form
from recall_tui.state.chart import DEPTH, Chart, gauge_at, top_at
from recall_tui.state.results import result_of
from recall_tui.state.session import Session, is_stale, listed
from recall_tui.state.tuning import curve_analysis, curve_of, granted_of, pins_analysis, pins_of
from recall_tui.state.weighing import current, drawn, exact_share, is_moved, share, why_no_lines, why_not
from recall_tui.widgets.draw import Glyphs, fit, folded
from recall_tui.widgets.lines import LineView, entitle
from recall_tui.widgets.slider import Slider

LEAST_RANK_ROWS = 2

FEW_RANK_ROWS = 3  # with fewer than these the ticks give up their line

MOST_APART = 4  # rows a rank

LEAST_CURVE_ROWS = 2  # one of the curve, one of its marks

CURVE_ROWS = 16  # that it has before the ranks get more than a row each

MOST_CURVE_ROWS = 24

ROOMY = 2 * DEPTH + CURVE_ROWS  # lines from which the figures need not save any

Size = tuple[int, int]

"""Cells across and down."""


def board_lines(session: Session, size: Size, glyphs: Glyphs) -> list[Text]:
    """The settings, the verdict and the pins in figures; then the drawings, in the height that is left."""
    width, answer, chart = size[0], session.results.answer, drawn(session)
    if wrong := why_not(answer):
        reason = [Text(line, Style(dim=True)) for line in folded(wrong, width)]
        return [*reason, *settings_lines(session, width, glyphs)] if answer and answer.pool else reason
    assert answer is not None  # noqa: S101 - there is something to weigh
    if wrong := why_no_lines(answer):
        reason = [Text(line, Style(dim=True)) for line in folded(wrong, width)]
        return [*settings_lines(session, width, glyphs), *reason]
    if chart is None:
        coming = Text(fit("Looking at every weight.", width, glyphs), Style(dim=True))
        return [*settings_lines(session, width, glyphs), coming]
    return _drawn(session, chart, size, glyphs)


def _drawn(session: Session, chart: Chart, size: Size, glyphs: Glyphs) -> list[Text]:
    """The rank lines above their scale, then the curve above its own; each row of them is a weight from 0 to 1."""
    (width, height), weight = size, exact_share(current(session))
    gauge = gauge_at(chart, weight)
    said = [Text(line, Style(bold=gauge.fragile)) for line in verdict(chart, gauge, width, glyphs)]
    said += pin_figures(session, width, glyphs)
    curve, granted = curve_of(session), granted_of(session)
    under = scale(chart, weight, width, glyphs)
    bands = [pin_band(granted, weight, width, glyphs)] if granted is not None and granted.weights else []
    below = figures(session, width, glyphs, in_full=height >= ROOMY)
    wanted = len(chart.orders[0]) + (LEAST_CURVE_ROWS if curve is not None and curve.steps else 0)
    room = height - len(said) - len(bands) - len(below)
    lines = form_lines(session, width, glyphs)
    if len(lines) + len(under) + wanted > room:
        lines = settings_lines(session, width, glyphs)
    if len(lines) + len(under) + wanted > room:
        lines = moved_settings(session, width, glyphs)
    if room - len(lines) - len(under) < FEW_RANK_ROWS:
        under = scale(chart, weight, width, glyphs, joint=True)
    left = room - len(lines) - len(under)
    least = LEAST_CURVE_ROWS + (
        0 if session.weights.is_of_all else LEAST_RANK_ROWS
    )  # who turns to the mean wants to see it
    has_curve = curve is not None and bool(curve.steps) and left >= least
    ranks = _rank_rows(left, has_curve=has_curve)
    drawn_ranks = rank_lines(chart, weight, thick_line(session), (width, ranks), glyphs) if ranks else []
    lines = [*lines, *said, *drawn_ranks, *under, *bands, *below]
    if curve is not None and has_curve:
        rows = min(MOST_CURVE_ROWS, left - ranks - 1)
        lines += [*curve_rows(curve, weight, (width, rows), glyphs), marks(curve, weight, width, glyphs)]
    names = pin_names(session, width, glyphs)
    return [*lines, *names] if len(lines) + len(names) <= height else lines


def _rank_rows(left: int, *, has_curve: bool) -> int:
    """Rows for the lines of the ranks: lines that are further apart are easier to follow where they cross."""
    apart = min(MOST_APART, (left - (CURVE_ROWS + 1 if has_curve else 0)) // DEPTH)
    return DEPTH * apart if apart > 1 else max(0, min(DEPTH, left - (LEAST_CURVE_ROWS if has_curve else 0)))


def thick_line(session: Session) -> int | None:
    """The position in the pool of the selected row; None where no line is drawn for it."""
    answer, chart = session.results.answer, drawn(session)
    if answer is None or answer.ranked is None or chart is None:
        return None
    at = listed(answer)[0] + session.results.selected
    selected = answer.ranked.order[at] if at < len(answer.ranked.order) else None
    return selected if selected in top_at(chart, exact_share(current(session))) else None


class WeightsBody(LineView, can_focus=False):
    """What stands under the slider; it is drawn for its height as well as for its width."""

    def __init__(self) -> None:
        super().__init__(id="board")


class WeightsPane(Vertical):
    """The slider above its settings, its stability, the grades' curve and the rank lines."""

    def __init__(self) -> None:
        super().__init__(id="weights")
        self._session = Session()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """The slider above everything it changes."""
        yield Slider()
        yield WeightsBody()

    def show(self, session: Session) -> None:
        """Show the settings of this session, and what was found out about every weight."""
        self._session = session
        config, answer = current(session), session.results.answer
        moved = is_moved(session)
        keys = "S saves, r resets" if moved else "as saved" if session.weights.saved else ""
        marks = ["changed"] * moved + ["stale"] * is_stale(session)
        entitle(self, f"4 Weights ({', '.join(marks)})" if marks else "4 Weights", keys)
        self.set_class(is_stale(session), "-stale")
        analyses = tuple(filter(None, (curve_analysis(session), pins_analysis(session))))
        known = (
            drawn(session),
            pins_of(session),
            session.analysing if session.analysing and session.analysing[0] in analyses else None,
            *(result_of(session, each, object) for each in analyses),
        )
        told = (
            thick_line(session),
            session.weights.saved,
            session.weights.fixed,
            tuple(session.weights.tweaks),
            session.weights.k,
            session.weights.is_of_all,
            session.zoomed,
            form.chosen(session),
        )
        shown = (config, answer, known, told)
        if shown == self._shown:
            return
        self._shown = shown
        self.query_one(Slider).show(share(config), "Nothing to weigh." if why_not(answer) else "")
        board = self.query_one(WeightsBody)
        board.show(lambda width: board_lines(session, (width, board.size.height), board.glyphs))

    def on_click(self, event: Click) -> None:
        """A click anywhere in the pane goes to its slider; one on a setting chooses it, and on its value moves it."""
        event.stop()
        self.screen.set_focus(self.query_one(Slider))
        board = self.query_one(WeightsBody)
        if event.widget is not board:
            return
        row = event.y + int(board.scroll_offset.y)
        line = board.lines[row] if 0 <= row < len(board.lines) else ""
        if (place := row_at(self._session, line, event.x, board.glyphs)) is not None:
            self.post_message(SettingPicked(place[0], is_meant=place[1]))
