"""Pane 4: the weight slider above the board. Where there is little room, the board shows what matters most."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click

from recall_core.config import NAMES, Config
from recall_core.errors import RecallError
from recall_tui.actions.table import table_of
from recall_tui.panes.plot import (
    axis,
    curve_rows,
    figures,
    join_pieces,
    legend,
    marks,
    name_of,
    named_lines,
    rank_lines,
    stability,
    target_band,
    target_figures,
    target_names,
)
from recall_tui.state import weighing
from recall_tui.state.records import Chart
from recall_tui.state.session import WORDS_K, Session, is_stale, result_of
from recall_tui.state.tuning import (
    DEPTH,
    Compared,
    ComparedRow,
    SavedRows,
    best_weight,
    compare_with_saved,
    curve_analysis,
    curve_of,
    describe_moves,
    pins_analysis,
    pins_of,
    saved_analysis,
    stability_at,
    target_weights,
)
from recall_tui.state.weighing import (
    K_STEPS,
    STEPS,
    chart_to_scale,
    choices_of,
    current,
    exact_share,
    is_moved,
    share,
    why_no_lines,
    why_not,
)
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Glyphs, cut, fit, fold
from recall_tui.widgets.lines import LineView, entitle
from recall_tui.widgets.slider import Slider

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView

LEAST_CELLS = 18  # least width of a column: mark, name and value
MOST_GAP = 4  # cells between two columns
NAME_CELLS = 16
VALUE_CELLS = 10
BAR_CELLS = 10
CHOSEN = Style(bold=True)
ALWAYS = ("fusion", "normalize", "rrf_k")
"""Settings shown even at their defaults, since every score depends on them."""


class SettingLine(NamedTuple):
    """One setting as shown.

    choices: all values it can have, or () for a number.
    filled: filled part of its bar, 0 to 1.
    """

    key: str
    name: str
    value: str
    filled: float
    is_moved: bool
    is_chosen: bool
    choices: tuple[str, ...] = ()


def form_lines(session: Session, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """Return one row for each setting: mark, name, and the choices or the value with a bar.

    A star marks a moved setting.
    If there are fewer rows than settings, show the moved ones and those around the chosen one. size: columns and rows
    in cells.
    """
    width, lines = size[0], []
    for each in _in_view(_rows(session), size[1] - len(_decided_lines(session, width))):
        text = f"{_mark(each, glyphs)}{each.name:<{NAME_CELLS}}{_draw_value(each, width, glyphs)}"
        lines.append(Text(fit(text, width, glyphs).rstrip(), CHOSEN if each.is_chosen else ""))
    return [*lines, *_decided_lines(session, width)]


def moved_settings(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the chosen setting and those not at their defaults, side by side, for a pane with few lines."""
    config, plain = current(session), Config()
    shown = [
        each
        for each in _rows(session)
        if each.is_chosen or each.is_moved or each.key in ALWAYS or _value(config, each) != _value(plain, each)
    ]
    return [*_in_columns(shown, width, glyphs), *_decided_lines(session, width)]


def row_at(session: Session, line: str, cell: int, glyphs: Glyphs) -> tuple[int, bool] | None:
    """Return the row of the setting at this cell of a line, and whether the cell is in its value or bar."""
    for row, each in enumerate(_setting_lines(session)):
        if each.key == weighing.WEIGHT:
            continue
        shown = _draw_value(each, len(line), glyphs).rstrip()
        for spelled, names in (
            (f"{_mark(each, glyphs)}{each.name:<{NAME_CELLS}}{shown}", len(glyphs.pointer) + NAME_CELLS),
            (_spell(each, glyphs), len(glyphs.pointer) + len(each.name) + 1),
        ):
            at = line.find(spelled)
            if 0 <= at <= cell < at + len(spelled):
                return row, cell >= at + names
    return None


def _draw_value(each: SettingLine, width: int, glyphs: Glyphs) -> str:
    """Return all choices with a mark at the current one. Numbers and narrow rows have the value and a bar."""
    value = f"{each.value}{'*' if each.is_moved else ''}"
    choices = "  ".join(
        f"{glyphs.knob} {value}" if choice == each.value else f"{glyphs.hollow} {choice}" for choice in each.choices
    )
    if choices and len(choices) <= width - len(glyphs.pointer) - NAME_CELLS:
        return choices
    if choices:
        return f"{value:<{VALUE_CELLS}}" + "".join(
            glyphs.knob if choice == each.value else glyphs.hollow for choice in each.choices
        )
    filled = round(each.filled * BAR_CELLS)
    return f"{value:<{VALUE_CELLS}}{glyphs.series[0] * filled}{glyphs.line * (BAR_CELLS - filled)}"


def _mark(each: SettingLine, glyphs: Glyphs) -> str:
    return glyphs.pointer if each.is_chosen else " " * len(glyphs.pointer)


def _spell(each: SettingLine, glyphs: Glyphs) -> str:
    return f"{_mark(each, glyphs)}{each.name} {each.value}{'*' if each.is_moved else ''}"


def _in_columns(shown: Sequence[SettingLine], width: int, glyphs: Glyphs) -> list[Text]:
    """Place settings side by side, in as many columns as fit."""
    texts = [_spell(each, glyphs) for each in shown]
    columns = min(len(texts), max(1, (width + 1) // (max(LEAST_CELLS, *map(len, texts)) + 1)))
    widest = [max(map(len, texts[at::columns])) for at in range(columns)]
    gap = min(MOST_GAP, (width - sum(widest)) // (columns - 1)) if columns > 1 else 0
    padded = [f"{text:<{widest[at % columns] + gap}}" for at, text in enumerate(texts)]
    rows = ["".join(padded[at : at + columns]) for at in range(0, len(padded), columns)]
    return [Text(fit(row.rstrip(), width, glyphs).rstrip()) for row in rows]


def _decided_lines(session: Session, width: int) -> list[Text]:
    """Return the settings that the query itself sets. No key moves these."""
    names = ", ".join(NAMES.get(key, key) for key in session.weights.fixed)
    return [Text(line) for line in fold(f"OPTION sets {names}" if names else "", width)]


def _rows(session: Session) -> list[SettingLine]:
    """Return the settings below the slider."""
    return [each for each in _setting_lines(session) if each.key != weighing.WEIGHT]


def _in_view(shown: Sequence[SettingLine], rows: int) -> Sequence[SettingLine]:
    """Return the settings that fit: the chosen one, the moved ones, and those nearest to the chosen one."""
    chosen = next((at for at, each in enumerate(shown) if each.is_chosen), 0)
    first = sorted(range(len(shown)), key=lambda at: (at != chosen, not shown[at].is_moved, abs(at - chosen)))
    return [shown[at] for at in sorted(first[: max(1, rows)])]


def _setting_lines(session: Session) -> list[SettingLine]:
    config, pointed = current(session), weighing.chosen_setting(session)
    return [_line(session, config, key, is_chosen=key == pointed) for key in weighing.setting_rows(session)]


def _line(session: Session, config: Config, key: str, *, is_chosen: bool) -> SettingLine:
    tweaks = session.weights.tweaks
    if key == weighing.WEIGHT:
        is_moved = "bm25_weight" in tweaks or "vector_weight" in tweaks
        return SettingLine(key, "semantic_weight", f"{share(config):.2f}", share(config), is_moved, is_chosen)
    answer = session.results.answer
    if key == weighing.TOP_K:
        k = session.weights.k
        if k is None:
            k = WORDS_K if answer is None else answer.plan.limit
        return SettingLine(key, "top k", str(k), _part(K_STEPS, k), session.weights.k is not None, is_chosen)
    value = getattr(config, key)
    is_idle = key == "pool" and answer is not None and answer.pool is not None and answer.pool.exact
    name = f"({key})" if is_idle else key  # every row is a candidate at any pool size
    choices = ("off", "on") if isinstance(value, bool) else choices_of(session, key)
    filled = 0.0 if choices else _part(STEPS[key], value) if key in STEPS else value
    shown = f"{value:.2f}" if isinstance(value, float) else str(value)
    if isinstance(value, bool):
        shown = choices[value]
    return SettingLine(key, name, shown, filled, key in tweaks, is_chosen, choices)


def _part(stops: Sequence[int], value: float) -> float:
    return sum(stop <= value for stop in stops) / len(stops)


def _value(config: Config, setting: SettingLine) -> object:
    """Return the setting's value, or None for the number of rows and the weight."""
    return None if setting.key in (weighing.TOP_K, weighing.WEIGHT) else getattr(config, setting.key)


DIM, BOLD = Style(dim=True), Style(bold=True)
RANK_CELLS, MOVE_CELLS = 2, 5


def beside_lines(session: Session, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """Return the moved settings, then the saved list on the left and the current one on the right."""
    width, height = size
    top = moved_settings(session, width, glyphs)
    if not is_moved(session):
        text = "No setting is changed: these are the results of the saved settings. V returns to the plot."
        return [*top, *map(Text, fold(text, width))]
    moved = [Text(line) for line in join_pieces(["changed", *describe_moves(session)], width, glyphs)]
    both = compare_with_saved(session)
    if both is None:
        analysis = saved_analysis(session)
        result = result_of(session, analysis, SavedRows) if analysis is not None else None
        text = result.message if isinstance(result, RecallError) else "Ranking with the saved settings."
        return [*top, *moved, *(Text(line, DIM) for line in fold(text, width))]
    rows = max(1, height - len(top) - len(moved) - 2)
    shown = Compared(both.saved[:rows], both.now[:rows])
    return [*top, *moved, summary(shown, width, glyphs), *_table(shown, session.results.passages, width, glyphs)]


def summary(shown: Compared, width: int, glyphs: Glyphs) -> Text:
    """Return how many of the rows stay, move, are new, or are gone."""
    saved, now = ({row.rank for row in rows} for rows in shown)
    same = sum(row.other == row.rank for row in shown.now)
    moved = sum(row.other in saved for row in shown.now) - same
    gone = sum(row.other not in now for row in shown.saved)
    counts = (f"{same} same", f"{moved} moved", f"{len(shown.now) - same - moved} new", f"{gone} gone")
    return Text(cut(f"top {len(shown.now)}: {', '.join(counts)}", width, glyphs), BOLD)


def _table(shown: Compared, passages: Mapping[str, PassageView], width: int, glyphs: Glyphs) -> list[Text]:
    between = f" {glyphs.upright} "
    left = (width - len(between)) // 2
    right = width - left - len(between)
    heads = Text(f"{'saved settings':<{left}}", DIM).append(between).append("now")
    lines = [heads]
    for at in range(max(map(len, shown))):
        then, now = (rows[at] if at < len(rows) else None for rows in shown)
        line = Text().append_text(_cell(then, passages, left, glyphs, is_now=False))
        line.append(between, DIM)
        lines.append(line.append_text(_cell(now, passages, right, glyphs, is_now=True)))
    return lines


def _cell(
    row: ComparedRow | None, passages: Mapping[str, PassageView], width: int, glyphs: Glyphs, *, is_now: bool
) -> Text:
    if row is None:
        return Text(" " * width)
    name = name_of(row.hit, passages, glyphs) if row.hit else glyphs.cut
    mark = move(row, glyphs, is_now=is_now)
    text = fit(f"{row.rank:>{RANK_CELLS}} {mark:<{MOVE_CELLS}}{name}", width, glyphs)
    return Text(text, BOLD if row.other is None else DIM if row.other == row.rank else "")


def move(row: ComparedRow, glyphs: Glyphs, *, is_now: bool) -> str:
    """Return how far the row moved between the saved list and this one."""
    if row.other is None:
        return "new" if is_now else "gone"
    steps = row.other - row.rank if is_now else row.rank - row.other
    return "=" if steps == 0 else f"{glyphs.up if steps > 0 else glyphs.down}{abs(steps)}"


KEYS = "{turn_beside} side by side, {save_weights} save, {reset_weights} reset"
SHORT = 10  # height below which settings share a line and lines have no names
LEAST_FORM_ROWS, FORM_ROWS, LEAST_RANK_ROWS = 3, 5, 3
MOST_APART = 4  # rows for each rank
LEAST_CURVE_ROWS = 2  # one for the curve, one for its marks
CURVE_ROWS = 16  # height of the curve before the ranks get more than one row each
MOST_CURVE_ROWS = 24
ROOMY = 2 * DEPTH + CURVE_ROWS  # height from which the figures need not save lines
Size = tuple[int, int]
"""Columns and rows in cells."""


def board_lines(session: Session, size: Size, glyphs: Glyphs) -> list[Text]:
    """Return the form, then the first ranks at every weight, in drawings and figures."""
    width, answer, chart = size[0], session.results.answer, chart_to_scale(session)
    if session.weights.is_beside and answer is not None and answer.pool is not None:
        return beside_lines(session, size, glyphs)
    if answer is None or why_not(answer):
        return form_lines(session, size, glyphs) if answer and answer.pool else []
    if reason := why_no_lines(answer) or ("" if chart else "Ranking at every weight."):
        reason_lines = [Text(line, Style(dim=True)) for line in fold(reason, width)]
        return [*form_lines(session, (width, size[1] - len(reason_lines)), glyphs), *reason_lines]
    assert chart is not None  # noqa: S101 - otherwise there is a reason
    return _build_lines(session, chart, size, glyphs)


def _build_lines(session: Session, chart: Chart, size: Size, glyphs: Glyphs) -> list[Text]:
    """Return the settings, the rank lines above their axis, the curve, and the figures.

    Spare rows go to the form, then to the ranks, then to the curve.
    """
    (width, height), weight = size, exact_share(current(session))
    is_short, in_full = height < SHORT, height >= ROOMY
    is_mean = session.weights.is_of_all and not in_full  # the user asked for the mean
    curve, met = curve_of(session), target_weights(session)
    best = best_weight(curve) if curve is not None and curve.steps else None
    named = () if is_mean else named_lines(session, chart, weight, glyphs)
    names = [] if is_short or not named else legend(named, width, glyphs, columns=int(in_full))
    under = axis(chart, weight, best, width, glyphs)
    bands = [target_band(met, weight, width, glyphs)] if met and met.weights and not is_short else []
    figure_lines = _lines_below_plot(session, chart, size, glyphs)

    room = height - len(under) - len(names) - len(bands) - len(figure_lines)
    rows = max(LEAST_FORM_ROWS, min(FORM_ROWS, room - LEAST_RANK_ROWS), room - DEPTH)
    rows = min(rows, len(_rows(session)) + len(_decided_lines(session, width)))  # the whole form
    settings = moved_settings(session, width, glyphs) if is_short else form_lines(session, (width, rows), glyphs)
    left = room - len(settings)
    has_curve = best is not None and left >= LEAST_CURVE_ROWS + (0 if is_mean else DEPTH)
    ranks = 0 if is_mean and has_curve else _rank_rows(left, has_curve=has_curve)
    lines = [*settings]
    lines += rank_lines(chart, weight, named, (width, ranks), glyphs) if ranks else []
    lines += [*under, *names]
    if curve is not None and has_curve:
        rows = min(MOST_CURVE_ROWS, left - ranks - 1)
        lines += [*curve_rows(curve, weight, (width, rows), glyphs), marks(curve, weight, width, glyphs)]
    lines += [*bands, *figure_lines]
    targets = target_names(session, width, glyphs)
    return [*lines, *targets] if len(lines) + len(targets) <= height else lines


def _lines_below_plot(session: Session, chart: Chart, size: Size, glyphs: Glyphs) -> list[Text]:
    """Return the measure, the stability of the first ranks, and the state of the targets. Problems are bold."""
    (width, height), at = size, stability_at(chart, exact_share(current(session)))
    in_full = height >= ROOMY
    order, members = stability(len(chart.orders[0]), at.order, at.members, glyphs, fragile=at.fragile)
    pieces = [order, *target_figures(session, glyphs)]
    lines = join_pieces(pieces, width, glyphs)
    longer = join_pieces([order, members, *pieces[1:]], width, glyphs)
    if in_full or len(longer) == len(lines):
        lines = longer
    shown = [*figures(session, width, glyphs, in_full=in_full), *map(Text, lines)]
    for line in shown:
        line.highlight_regex(rf"{re.escape(glyphs.no)} .*?(?={re.escape(glyphs.dot)}|$)", Style(bold=True))
    if len(shown) == 2 and sum(line.cell_len for line in shown) + len(glyphs.dot) <= width:
        return [shown[0].append(glyphs.dot).append_text(shown[1])]
    return shown


def _rank_rows(left: int, *, has_curve: bool) -> int:
    """Return the rows for the rank lines. Lines farther apart are easier to follow where they cross."""
    apart = min(MOST_APART, (left - (CURVE_ROWS + 1 if has_curve else 0)) // DEPTH)
    return DEPTH * apart if apart > 1 else max(0, min(DEPTH, left - (LEAST_CURVE_ROWS if has_curve else 0)))


class WeightsBody(LineView, can_focus=False):
    """The lines below the slider, drawn for its height as well as its width."""


class WeightsPane(Vertical):
    """The slider above the other settings, the rank lines, and the curve of the measure."""

    def __init__(self) -> None:
        super().__init__(id="weights")
        self._session = Session()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Yield the slider, then what it changes."""
        yield Slider()
        yield WeightsBody(id="board")

    def show(self, session: Session) -> None:
        """Show the settings of this session and the results at every weight."""
        self._session = session
        config, answer = current(session), session.results.answer
        moved = is_moved(session)
        keys = table_of(self.app).spell(KEYS) if moved else "saved settings" if session.weights.saved else ""
        marks = ["changed"] * moved + ["stale"] * is_stale(session)
        entitle(self, f"4 Weights ({', '.join(marks)})" if marks else "4 Weights", keys)
        self.set_class(is_stale(session), "-stale")
        analyses = tuple(filter(None, (curve_analysis(session), pins_analysis(session), saved_analysis(session))))
        known = (
            chart_to_scale(session),
            pins_of(session),
            session.analysing if session.analysing and session.analysing[0] in analyses else None,
            *(result_of(session, each, object) for each in analyses),
        )
        moved_by = (
            session.results.selected,
            session.results.hits,
            session.weights.saved_ranks,
            session.weights.saved,
            session.weights.fixed,
            tuple(session.weights.tweaks),
            session.weights.k,
            session.weights.is_of_all,
            session.weights.is_beside,
            session.zoomed,
            weighing.chosen_setting(session),
        )
        shown = (config, answer, known, moved_by)
        if shown == self._shown:
            return
        self._shown = shown
        is_chosen = weighing.chosen_setting(session) == weighing.WEIGHT
        self.query_one(Slider).show(share(config), why_not(answer), is_chosen=is_chosen)
        board = self.query_one(WeightsBody)
        board.show(lambda width: board_lines(session, (width, board.size.height), board.glyphs))

    def on_click(self, event: Click) -> None:
        """Focus the slider on a click. A click on a setting chooses it; a click on its value moves it."""
        event.stop()
        self.screen.set_focus(self.query_one(Slider))
        board = self.query_one(WeightsBody)
        if event.widget is not board:
            return
        row = event.y + int(board.scroll_offset.y)
        line = board.lines[row] if 0 <= row < len(board.lines) else ""
        if (place := row_at(self._session, line, event.x, board.glyphs)) is not None:
            self.post_message(Do("choose_setting_at", *place))
