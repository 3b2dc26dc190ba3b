"""Drawings over the semantic weight, from 0 on the left to 1 on the right: ranks, the curve of a measure, targets."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count, groupby
from math import ceil, floor
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rich.style import Style
from rich.text import Text

from recall_core.errors import RecallError
from recall_core.types import Hit
from recall_tui.state.judging import UNITS
from recall_tui.state.records import Chart, PinnedChunk, cite_row
from recall_tui.state.session import Session, list_range, result_of
from recall_tui.state.tuning import (
    LEAST_QUERIES,
    MEASURE,
    Curve,
    Stretch,
    TargetWeights,
    best_weight,
    changes,
    curve_analysis,
    first_rows,
    heights,
    left_out,
    nearest_weight,
    pins_analysis,
    pins_of,
    stability_at,
    top_at,
    tops_over,
    value_at,
)
from recall_tui.state.weighing import current, exact_share
from recall_tui.widgets.draw import ASCII, COLOURS, DOWN, Canvas, Glyphs, cut, fit, fold

if TYPE_CHECKING:
    from recall_core.contract.ledger import PassageView

LABEL_CELLS = 2  # before each row: the rank of a line, or the key of a band
LEAST_PLACES, MOST_PLACES = 2, 6  # decimal places of a weight; the larger number if the weight is not a decimal
Weights: TypeAlias = tuple[Fraction | float, Fraction | float, bool, bool]
DIM, HERE = Style(dim=True), Style(bold=True)


def cell_of(weight: Fraction | float, cells: int) -> int:
    """Return the cell of a weight."""
    return min(cells - 1, int(weight * cells))


def mark_weight(label: str, row: str, weight: Fraction, mark: str) -> Text:
    """Return a row of a drawing after its label, with a mark at the current weight."""
    here = cell_of(weight, len(row))
    line = Text().append(f"{label:<{LABEL_CELLS}}", DIM).append(row[:here])
    return line.append(mark, HERE).append(row[here + 1 :])


def span(low: Fraction | float, high: Fraction | float, *, low_open: bool = False, high_open: bool = False) -> str:
    """Return a range of weights, with as few places as lie inside it. An open end is excluded."""
    start, end = _exact(low), _exact(high)
    if start == end:
        return write_weight(round(float(low), MOST_PLACES))
    for places in count(LEAST_PLACES):
        unit = 10**places
        first, last = ceil(start * unit), floor(end * unit)
        first += low_open and first == start * unit
        last -= high_open and last == end * unit
        if first < last:
            break
    return " to ".join(f"{each // unit}.{each % unit:0{places}}" for each in (first, last))


def stability(rows: int, order: Weights, members: Weights, glyphs: Glyphs, *, fragile: bool) -> tuple[str, str]:
    """Return the weights at which the first rows keep their order and stay the same rows, worded alike in all panes.

    order, members: intervals of the semantic weight: low, high, and whether each end is open.
    """
    mark = f"{glyphs.no} unstable: " if fragile else f"{glyphs.yes} "
    first, same = (
        (f"first {rows} rows keep their order", f"the same {rows} rows") if rows != 1 else ("first row stays",) * 2
    )
    return f"{mark}{first} {_lexical(order)}", f"{same} {_lexical(members)}"


def _lexical(weights: Weights) -> str:
    low, high, low_open, high_open = weights
    if low == 0 and high == 1 and not (low_open or high_open):
        return "at any weight"
    return f"for lexical weight {span(1 - _exact(high), 1 - _exact(low), low_open=high_open, high_open=low_open)}"


def around(low: float, high: float) -> str:
    """Return a range of weights in hundredths, rounded outwards."""
    texts = [f"{hundredths / 100:.2f}" for hundredths in (floor(_exact(low) * 100), ceil(_exact(high) * 100))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def write_weight(weight: float) -> str:
    """Return one weight exactly, with at least two places."""
    short = f"{weight:.{LEAST_PLACES}f}"
    return short if float(short) == weight else f"{Decimal(str(weight)):f}"


def _exact(weight: Fraction | float) -> Fraction:
    """Read a float as the decimal that it prints as."""
    return weight if isinstance(weight, Fraction) else Fraction(str(weight))


def join_pieces(pieces: list[str], width: int, glyphs: Glyphs) -> list[str]:
    """Join pieces into as few lines as possible. Break a piece only if it is wider than a line."""
    lines: list[str] = []
    for piece in pieces:
        longer = f"{lines[-1]}{glyphs.dot}{piece}" if lines else ""
        if lines and len(longer) <= width:
            lines[-1] = longer
        else:
            lines += fold(piece, width)
    return lines


NAMED = 3  # lines with a colour of their own; more colours would be hard to distinguish


class NamedLine(NamedTuple):
    """A candidate whose line has a name. rank: at the current weight, from 1."""

    position: int
    rank: int
    name: str


def named_lines(session: Session, chart: Chart, weight: Fraction, glyphs: Glyphs) -> tuple[NamedLine, ...]:
    """Return the first three at this weight, then the selected row if its line is drawn and not among them."""
    top, answer = top_at(chart, weight), session.results.answer
    if answer is None or answer.pool is None:
        return ()
    keys, first = answer.pool.keys, list_range(answer)[0]
    order = answer.ranked.order if answer.ranked is not None else ()
    hits = {order[first + row]: hit for row, hit in session.results.hits.items() if first + row < len(order)}
    at = first + session.results.selected
    selected = order[at : at + 1]
    wanted = [*top[:NAMED], *(each for each in top[NAMED:] if each in selected)]
    return tuple(
        NamedLine(
            position,
            top.index(position) + 1,
            name_of(hits[position], session.results.passages, glyphs)
            if position in hits
            else PurePosixPath(keys[position].path).name,
        )
        for position in wanted
    )


def name_of(hit: Hit, passages: Mapping[str, PassageView], glyphs: Glyphs) -> str:
    """Return the file name, the line of the passage and its heading."""
    line, heading = cite_row(hit, passages.get(hit.chunk.id) if hit.chunk else None)
    return f"{PurePosixPath(hit.doc.path).name}{line}{glyphs.crumb if heading else ''}{heading}"


KEPT = 8  # drawings
INKS = (DIM, *(Style(color=hue, bold=True) for hue in ("#f0e442", "#cc79a7", "#2fb58a")), HERE)
"""Styles of lines: unnamed, the first three, the selected row."""
LEGEND_CELLS = 22  # least width of a name with its rank
SHOWN_PLACES = 4  # of a weight on the axis


def rank_lines(
    chart: Chart, weight: Fraction, named: tuple[NamedLine, ...], size: tuple[int, int], glyphs: Glyphs
) -> list[Text]:
    """Return the lines of the first candidates over all weights, one row for each rank that fits.

    Named lines are thicker and show their rank at the current weight. size: columns and rows in cells.
    """
    cells, height = max(1, size[0] - LABEL_CELLS), size[1]
    candidates = frozenset(top_at(chart, weight))
    inks = tuple((each.position, _ink(place)) for place, each in enumerate(named))
    drawing = _drawing(chart, candidates, inks, (cells, height), glyphs)
    here, at_rank = cell_of(weight, cells), {each.rank: _ink(place) for place, each in enumerate(named)}
    return [_row_text(row, here, at_rank, glyphs) for row in drawing]


def legend(named: tuple[NamedLine, ...], width: int, glyphs: Glyphs, *, columns: int = 0) -> list[Text]:
    """Return the names of the lines after their ranks, side by side if they fit. columns: 0 for as many as fit."""
    columns = columns or max(1, min(len(named), width // LEGEND_CELLS))
    cells, lines = width // columns, []
    for first in range(0, len(named), columns):
        line = Text()
        for place, each in enumerate(named[first : first + columns], start=first):
            name = cut(f"{each.rank} {each.name}", cells - 1, glyphs)
            line.append(fit(name, cells, glyphs), INKS[_ink(place)])
        line.rstrip()
        lines.append(line)
    return lines


def axis(chart: Chart, weight: Fraction, best: float | None, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the axis and, below it, the labels of its ends and marks.

    The axis has ticks where the order changes, a heavy line where it stays as it is now, and marks at the current and
    the best weight.
    """
    cells, order = max(1, width - LABEL_CELLS), stability_at(chart, weight).order
    stable = range(floor(order.low * cells), ceil(order.high * cells))
    here = cell_of(weight, cells)
    marks = [(here, f"{glyphs.here} now {write_weight(round(float(weight), SHOWN_PLACES))}")]
    ticks = {cell_of(each, cells) for each in changes(chart)}
    row = [glyphs.tick if cell in ticks else glyphs.track if cell in stable else glyphs.line for cell in range(cells)]
    if best is not None:
        row[cell_of(best, cells)] = glyphs.knob
        marks.append((cell_of(best, cells), f"{glyphs.knob} best {write_weight(best)}"))
    row[here] = glyphs.here
    line = Text(" " * LABEL_CELLS)
    for cell, mark in enumerate(row):
        line.append(mark, HERE if cell == here or mark in (glyphs.knob, glyphs.track) else DIM)
    return [line, _keys(marks, cells)]


def _keys(marks: list[tuple[int, str]], cells: int) -> Text:
    """Return the labels of the ends and the marks, each label as near to its cell as possible."""
    left, right = "lexical 0", "1 semantic"
    marks = sorted(marks)
    if len(left) + len(right) + sum(len(text) + 1 for _, text in marks) + 1 > cells:
        left, right = "lexical", "semantic"
    if len(left) + len(right) + sum(len(text) + 1 for _, text in marks) + 1 > cells:
        marks = [(cell, f"{text[0]} {text.rpartition(' ')[2]}") for cell, text in marks]  # only the figures
    starts, at = [], len(left) + 1
    for cell, text in marks:
        at = max(at, cell)
        starts.append(at)
        at += len(text) + 1
    end = cells - len(right) - 1
    for place in reversed(range(len(marks))):
        starts[place] = max(0, min(starts[place], end - len(marks[place][1])))
        end = starts[place] - 1
    line = Text(" " * LABEL_CELLS).append(left, Style(color=COLOURS["lexical"]))
    for start, (_, text) in zip(starts, marks, strict=True):
        line.append(" " * max(1, LABEL_CELLS + start - len(line))).append(text, HERE)
    line.append(" " * max(1, LABEL_CELLS + cells - len(right) - len(line)))
    return line.append(right, Style(color=COLOURS["semantic"]))


def _ink(place: int) -> int:
    """Return the style of a named line. The first three have colours, the selected row has none."""
    return min(place, NAMED) + 1


class DrawnRow(NamedTuple):
    """One row of the plot. rank: the rank it shows, or 0; inks: style of each cell."""

    rank: int
    text: str
    inks: bytes


@lru_cache(KEPT)
def _drawing(
    chart: Chart, candidates: frozenset[int], inks: tuple[tuple[int, int], ...], size: tuple[int, int], glyphs: Glyphs
) -> list[DrawnRow]:
    """Return the plot without the current weight. It is cached, since it changes only with the order."""
    canvas = Canvas(*size)
    ranks, named = min(len(candidates), canvas.height), dict(inks)
    tops = [top[:ranks] for top in tops_over(chart, canvas.columns)]
    for candidate in sorted(candidates - named.keys()):
        _draw(canvas, tops, candidate, ranks, thickness=1)
    for candidate, ink in reversed(inks):  # draw the first one last, on top
        canvas.ink = ink
        _draw(canvas, tops, candidate, ranks, thickness=1 if glyphs is ASCII else 2)
    shown = {_row(canvas, rank, ranks) // DOWN: rank + 1 for rank in range(ranks)}
    rows = []
    for row, (text, row_inks) in enumerate(zip(canvas.lines(glyphs), canvas.inks, strict=True)):
        if glyphs is ASCII:  # give named lines another stroke
            pairs = zip(text, row_inks, strict=True)
            text = "".join("=" if ink and mark == "-" else mark for mark, ink in pairs)  # noqa: PLW2901
        rows.append(DrawnRow(shown.get(row, 0), text, bytes(row_inks)))
    return rows


def _row_text(row: DrawnRow, here: int, at_rank: dict[int, int], glyphs: Glyphs) -> Text:
    line = Text().append(f"{row.rank or '':<{LABEL_CELLS}}", DIM)
    for ink, cells in groupby(range(len(row.text)), key=lambda cell: -1 if cell == here else row.inks[cell]):
        if ink >= 0:
            line.append("".join(row.text[cell] for cell in cells), INKS[ink])
        elif row.rank in at_rank:
            line.append(str(row.rank), INKS[at_rank[row.rank]])
        else:
            line.append(glyphs.upright, HERE)
    return line


def _draw(canvas: Canvas, tops: list[tuple[int, ...]], candidate: int, ranks: int, *, thickness: int) -> None:
    """Draw one candidate's line, except where it ranks below the last drawn rank."""
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
    """Return the row of dots of a rank, counted from 0, of `ranks` ranks."""
    return (2 * rank + 1) * canvas.rows // (2 * ranks)


LEAST_GAIN = 0.0005  # least difference that three places show


def figures(session: Session, width: int, glyphs: Glyphs, *, in_full: bool = False) -> list[Text]:
    """Return the curve in figures, or its progress, or why there is none. Return nothing if nothing is graded.

    in_full: also add the plateau, the key of the other curve and the plotted range, even if they take more lines.
    """
    analysis = curve_analysis(session)
    result = result_of(session, analysis, Curve) if analysis is not None else None
    if isinstance(result, RecallError):
        return [Text(line, Style(dim=True)) for line in fold(result.message, width)]
    if result is None:
        moved = session.analysing
        known = moved is not None and moved[0] == analysis
        pieces_shown = [f"{MEASURE}: {moved[1]} of {moved[2]} judged queries"] if moved is not None and known else []
        return [Text(line, Style(dim=True)) for line in join_pieces(pieces_shown, width, glyphs)]
    if not result.steps:
        pieces_shown = ["no grades for this query", _key_of_all(result)] if result.judged else []
        return [Text(line, Style(dim=True)) for line in join_pieces(pieces_shown, width, glyphs)]
    is_of_all, weight = session.weights.is_of_all, exact_share(current(session))
    missing = left_out(session)
    remark = f"without {missing}" if missing else ""
    text = f"{'mean ' * is_of_all}{describe_curve(result, weight)}"
    pieces = [*([text] if len(text) <= width else text.split(", ")), *filter(None, [remark])]
    pieces += _of_all(result, glyphs) if is_of_all else []
    lines = join_pieces(pieces, width, glyphs)
    plateau = span(*max(result.plateau, key=lambda each: each[1] - each[0]))  # the widest one
    plateau += f" and {len(result.plateau) - 1} more" if len(result.plateau) > 1 else ""
    for more in (
        f"{glyphs.series[1]} plateau {plateau}",
        "t this query" if is_of_all else _key_of_all(result),
        f"plotted from {min(result.means):.3f} to {max(result.means):.3f}",
    ):
        longer = join_pieces([*pieces, more], width, glyphs)
        if in_full or len(longer) == len(lines):
            pieces, lines = [*pieces, more], longer
    shown = [Text(line) for line in lines]
    for line in shown:
        at = line.plain.find(remark)
        if remark and at >= 0:
            line.stylize(DIM, at, at + len(remark))
    return shown


def describe_curve(curve: Curve, weight: Fraction) -> str:
    """Return the measure at this weight and the best one, with enough places to tell them apart."""
    now = value_at(curve, weight)
    places = 3
    if curve.best - now >= LEAST_GAIN:
        tell_apart = (each for each in (3, 4, 5, 6) if f"{curve.best:.{each}f}" != f"{now:.{each}f}")
        places = next(tell_apart, 3)
    here, best = f"{now:.{places}f}", f"{curve.best:.{places}f}"
    is_best = curve.best <= now or here == best
    where = "the best" if is_best else f"best {best} at {write_weight(best_weight(curve))}"
    return f"{MEASURE} ({UNITS[curve.unit]}) {here}, {where}"


def curve_rows(curve: Curve, weight: Fraction, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """Return the curve from its lowest to its highest value. size: columns and rows in cells."""
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
    return [mark_weight("", row, weight, glyphs.upright) for row in canvas.lines(glyphs)]


def marks(curve: Curve, weight: Fraction, width: int, glyphs: Glyphs) -> Text:
    """Return the line below the curve: plateau, interval of the best weight, best and current weight."""
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
    return mark_weight("B", band, weight, glyphs.here)


def _key_of_all(curve: Curve) -> str:
    return "t the judged query" if curve.judged == 1 else f"t all {curve.judged} judged queries"


def _of_all(curve: Curve, glyphs: Glyphs) -> list[str]:
    """Return how certain the mean is. The fill before the interval is the one used below the curve."""
    count = len(curve.steps)
    few = ", too few to recommend" if count < LEAST_QUERIES else ""
    interval = [f"{glyphs.series[3]} 95 % {around(*curve.interval)}"] if count > 1 else []
    return [*interval, f"{count} judged{few}"]


def _steps(values: list[float], count: int) -> list[int]:
    """Return each value's place between the lowest and the highest, from 0. A flat curve is at the bottom."""
    low, high = min(values), max(values)
    return [0 if high == low else round((each - low) / (high - low) * (count - 1)) for each in values]


def _touches(stretches: tuple[Stretch, ...] | list[Stretch], cell: int, cells: int) -> bool:
    left, right = cell / cells, (cell + 1) / cells
    return any(low < right and left < high for low, high in stretches)


WORDS = {"in": "required", "out": "excluded"}


def target_figures(session: Session, glyphs: Glyphs) -> list[str]:
    """Return the number of targets and whether the current weight meets them, as a sign and in words."""
    analysis, pins = pins_analysis(session), pins_of(session)
    if analysis is None:
        return []
    wanted = [(sum(pin.want == want for pin in pins), word) for want, word in WORDS.items()]
    counts = ", ".join(f"{count} {word}" for count, word in wanted if count)
    pieces = [f"targets in the top {first_rows(session)}: {counts}"]
    result = result_of(session, analysis, TargetWeights)
    if isinstance(result, RecallError):
        pieces.append(result.message)
    elif result is not None:
        pieces += _say_met(session, result, pins, glyphs)
    return pieces


def target_band(met: TargetWeights, weight: Fraction, width: int, glyphs: Glyphs) -> Text:
    """Return the band of weights that meet every target."""
    cells = max(1, width - LABEL_CELLS)
    band = "".join(glyphs.series[0] if _is_met_in(met, cell, cells) else glyphs.line for cell in range(cells))
    return mark_weight("T", band, weight, glyphs.here)


def target_names(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """Return the chunks of the targets, one line each."""
    return [Text(fit(f"  {WORDS[pin.want]:<9}{pin.place}", width, glyphs)) for pin in pins_of(session)]


def _say_met(session: Session, met: TargetWeights, pins: tuple[PinnedChunk, ...], glyphs: Glyphs) -> list[str]:
    if met.conflict:
        names = " and ".join(pins[at].place for at in met.conflict if at < len(pins))
        return [f"{glyphs.no} no weight meets {names}{' together' if len(met.conflict) > 1 else ''}"]
    where = ", ".join(
        span(each.low, each.high, low_open=each.low_open, high_open=each.high_open) for each in met.weights
    )
    weight = exact_share(current(session))
    if any(each.holds(weight) for each in met.weights):
        return [f"{glyphs.yes} all targets met ({where})"]
    return [f"{glyphs.no} targets met at {where}", f"T goes to {nearest_weight(session)}"]


def _is_met_in(met: TargetWeights, cell: int, cells: int) -> bool:
    low, high = Fraction(cell, cells), Fraction(cell + 1, cells)
    return any((each.low < high and low < each.high) or each.low == each.high == low for each in met.weights)
