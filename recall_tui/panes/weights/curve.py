"""The grades at every weight: the measure as a curve of steps, its best weights and their band."""

from __future__ import annotations

from fractions import Fraction

from rich.style import Style
from rich.text import Text

from recall_core.errors import RecallError
from recall_tui.panes.weights.across import (
    DIM,
    LABEL_CELLS,
    around,
    cell_of,
    crossed,
    joined,
    labelled,
    span,
    spelled,
)
from recall_tui.state.judging import UNITS
from recall_tui.state.results import result_of
from recall_tui.state.session import Session
from recall_tui.state.tuning import (
    LEAST_QUERIES,
    MEASURE,
    Curve,
    Stretch,
    best_weight,
    curve_analysis,
    heights,
    left_out,
    value_at,
)
from recall_tui.state.weighing import current, exact_share
from recall_tui.widgets.canvas import Canvas
from recall_tui.widgets.draw import Glyphs, folded

LEAST_GAIN = 0.0005  # what three places show


def figures(session: Session, width: int, glyphs: Glyphs, *, in_full: bool = False) -> list[Text]:
    """The curve in figures; how far it is, or why there is none, in a line. Without any grades there is no line.

    in_full: with the plateau, the key of the other curve and the range of this one, whatever lines they take.
    """
    analysis = curve_analysis(session)
    result = result_of(session, analysis, Curve) if analysis is not None else None
    if isinstance(result, RecallError):
        return [Text(line, Style(dim=True)) for line in folded(result.message, width)]
    if result is None:
        moved = session.analysing
        known = moved is not None and moved[0] == analysis
        said = [f"{MEASURE}: {moved[1]} of {moved[2]} judged queries"] if moved is not None and known else []
        return [Text(line, Style(dim=True)) for line in joined(said, width, glyphs)]
    if not result.steps:
        said = ["no grades for this query", _key_of_all(result)] if result.judged else []
        return [Text(line, Style(dim=True)) for line in joined(said, width, glyphs)]
    is_of_all, weight = session.weights.is_of_all, exact_share(current(session))
    missing = left_out(session)
    remark = f"without {missing}" if missing else ""
    told = f"{'mean ' * is_of_all}{measured(result, weight)}"
    pieces = [*([told] if len(told) <= width else told.split(", ")), *filter(None, [remark])]
    pieces += _of_all(result, glyphs) if is_of_all else []
    lines = joined(pieces, width, glyphs)
    for more in (
        f"{glyphs.series[1]} plateau {_widest(result.plateau)}",
        "t this query" if is_of_all else _key_of_all(result),
        f"plotted from {min(result.means):.3f} to {max(result.means):.3f}",
    ):
        longer = joined([*pieces, more], width, glyphs)
        if in_full or len(longer) == len(lines):
            pieces, lines = [*pieces, more], longer
    return [_dimmed(line, remark) for line in lines]


def measured(curve: Curve, weight: Fraction) -> str:
    """The measure at this weight, and the best one, to as many places as tell them apart."""
    now = value_at(curve, weight)
    places = _places(now, curve.best)
    here, best = f"{now:.{places}f}", f"{curve.best:.{places}f}"
    is_best = curve.best <= now or here == best
    where = "the best" if is_best else f"best {best} at {spelled(best_weight(curve))}"
    return f"{MEASURE} ({UNITS[curve.unit]}) {here}, {where}"


def curve_rows(curve: Curve, weight: Fraction, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """The curve from its lowest to its highest value. size: cells across and down."""
    cells, height = max(1, size[0] - LABEL_CELLS), size[1]
    if height == 1:
        steps = _steps(heights(curve, cells), len(glyphs.levels))
        return [Text(" " * LABEL_CELLS + "".join(glyphs.levels[step] for step in steps))]
    canvas = Canvas(cells, height)
    last: int | None = None
    for x, step in enumerate(_steps(heights(curve, canvas.columns), canvas.rows)):
        y = canvas.rows - 1 - step
        canvas.upright(x, y, y if last is None else last)
        last = y
    return [crossed(row, weight, glyphs) for row in canvas.lines(glyphs)]


def marks(curve: Curve, weight: Fraction, width: int, glyphs: Glyphs) -> Text:
    """Under the curve: its plateau, the band in which the best weight lies, the best weight, and the present one."""
    cells = max(1, width - LABEL_CELLS)
    best = cell_of(best_weight(curve), cells)
    inside = [curve.interval] if len(curve.steps) > 1 else []
    band = "".join(
        glyphs.knob
        if cell == best
        else glyphs.series[1]
        if _touches(curve.plateau, cell, cells)
        else glyphs.series[3]
        if _touches(inside, cell, cells)
        else glyphs.line
        for cell in range(cells)
    )
    return labelled("B", band, weight, glyphs)


def _key_of_all(curve: Curve) -> str:
    return "t the judged query" if curve.judged == 1 else f"t all {curve.judged} judged queries"


def _dimmed(line: str, remark: str) -> Text:
    """A line in which this remark, where it stands there, is dim."""
    text, at = Text(line), line.find(remark)
    if remark and at >= 0:
        text.stylize(DIM, at, at + len(remark))
    return text


def _of_all(curve: Curve, glyphs: Glyphs) -> list[str]:
    """How sure the mean is; the fill before the interval is that of the marks under the curve."""
    count = len(curve.steps)
    few = ", too few to recommend" if count < LEAST_QUERIES else ""
    interval = [f"{glyphs.series[3]} 95 % {around(*curve.interval)}"] if count > 1 else []
    return [*interval, f"{count} judged{few}"]


def _places(now: float, best: float) -> int:
    """Three, or as many as it takes to see that the best value is a higher one, where that is worth the while."""
    if best - now < LEAST_GAIN:
        return 3
    return next((places for places in (3, 4, 5, 6) if f"{best:.{places}f}" != f"{now:.{places}f}"), 3)


def _widest(stretches: tuple[Stretch, ...]) -> str:
    """The widest stretch, and how many narrower ones there are."""
    widest = max(stretches, key=lambda each: each[1] - each[0])
    more = f" and {len(stretches) - 1} more" if len(stretches) > 1 else ""
    return span(*widest) + more


def _steps(values: list[float], count: int) -> list[int]:
    """Each value's place between the lowest and the highest, from 0; a flat curve lies at the bottom."""
    low, high = min(values), max(values)
    return [0 if high == low else round((each - low) / (high - low) * (count - 1)) for each in values]


def _touches(stretches: tuple[Stretch, ...] | list[Stretch], cell: int, cells: int) -> bool:
    left, right = cell / cells, (cell + 1) / cells
    return any(low < right and left < high for low, high in stretches)
