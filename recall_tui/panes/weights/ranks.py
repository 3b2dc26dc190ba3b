"""The ranks of the first candidates at every weight: as lines with names, and their axis."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from math import ceil, floor
from typing import NamedTuple

from rich.style import Style
from rich.text import Text

from recall_tui.panes.weights.across import DIM, HERE, LABEL_CELLS, cell_of, spelled
from recall_tui.panes.weights.names import NAMED, NamedLine
from recall_tui.state.chart import Chart, changes, stability_at, top_at, tops_over
from recall_tui.widgets.canvas import DOWN, Canvas
from recall_tui.widgets.draw import ASCII, COLOURS, Glyphs, cut, fit

KEPT = 8  # drawings
INKS = (
    DIM,
    *(Style(color=hue, bold=True) for hue in ("#f0e442", "#cc79a7", "#2fb58a")),
    HERE,
)
"""How lines are drawn: those without a name, the first three, the selected row's."""
LEGEND_CELLS = 22  # least width of a name, with its rank
MOST_PLACES = 4  # of a weight on the axis


def rank_lines(
    chart: Chart, weight: Fraction, named: tuple[NamedLine, ...], size: tuple[int, int], glyphs: Glyphs
) -> list[Text]:
    """The lines of the first candidates over all weights, on as many ranks as have a row each.

    Those with a name are thicker, and crossed by the upright of the present weight they show their rank.
    size: cells across and down.
    """
    cells, height = max(1, size[0] - LABEL_CELLS), size[1]
    candidates = frozenset(top_at(chart, weight))
    inks = tuple((each.position, _ink(place)) for place, each in enumerate(named))
    drawing = _drawing(chart, candidates, inks, (cells, height), glyphs)
    here, at_rank = cell_of(weight, cells), {each.rank: _ink(place) for place, each in enumerate(named)}
    return [_row_text(row, here, at_rank, glyphs) for row in drawing]


def legend(named: tuple[NamedLine, ...], width: int, glyphs: Glyphs, *, columns: int = 0) -> list[Text]:
    """The names of the lines behind their ranks, side by side where there is room. columns: 0 for as many as fit."""
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
    """Under the lines: ticks where the order changes, heavier where it stays as now, marks at the present weight
    and at the best; below that what the ends and the marks are.
    """
    cells, order = max(1, width - LABEL_CELLS), stability_at(chart, weight).order
    held = range(floor(order.low * cells), ceil(order.high * cells))
    here = cell_of(weight, cells)
    marks = [(here, f"{glyphs.here} now {_placed(weight)}")]
    row = [
        tick if tick != " " else glyphs.track if cell in held else glyphs.line
        for cell, tick in enumerate(_ticked(chart, cells, glyphs))
    ]
    if best is not None:
        row[cell_of(best, cells)] = glyphs.knob
        marks.append((cell_of(best, cells), f"{glyphs.knob} best {spelled(best)}"))
    row[here] = glyphs.here
    line = Text(" " * LABEL_CELLS)
    for cell, mark in enumerate(row):
        line.append(mark, HERE if cell == here or mark in (glyphs.knob, glyphs.track) else DIM)
    return [line, _keys(marks, cells)]


def _keys(marks: list[tuple[int, str]], cells: int) -> Text:
    """The ends of the axis, and between them the marks, each as near to its cell as the others let it be."""
    left, right = "lexical 0", "1 semantic"
    marks = sorted(marks)
    if len(left) + len(right) + sum(len(text) + 1 for _, text in marks) + 1 > cells:
        left, right = "lexical", "semantic"
    if len(left) + len(right) + sum(len(text) + 1 for _, text in marks) + 1 > cells:
        marks = [(cell, f"{text[0]} {text.rpartition(' ')[2]}") for cell, text in marks]  # the figures alone
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


def _placed(weight: Fraction) -> str:
    return spelled(round(float(weight), MOST_PLACES))


def _ink(place: int) -> int:
    """Of a named line: a colour each for the first three; the selected row's has none."""
    return min(place, NAMED) + 1


class DrawnRow(NamedTuple):
    """One row of the plot. rank: that it shows, 0 for none; inks: of each cell."""

    rank: int
    text: str
    inks: bytes


@lru_cache(KEPT)
def _drawing(
    chart: Chart,
    candidates: frozenset[int],
    inks: tuple[tuple[int, int], ...],
    size: tuple[int, int],
    glyphs: Glyphs,
) -> list[DrawnRow]:
    """The plot without the present weight; kept, because a weight that moves changes it only with the order."""
    canvas = Canvas(*size)
    ranks, named = min(len(candidates), canvas.height), dict(inks)
    tops = [top[:ranks] for top in tops_over(chart, canvas.columns)]
    for candidate in sorted(candidates - named.keys()):
        _draw(canvas, tops, candidate, ranks, thickness=1)
    for candidate, ink in reversed(inks):  # the first one last, above all others
        canvas.ink = ink
        _draw(canvas, tops, candidate, ranks, thickness=1 if glyphs is ASCII else 2)
    shown = {_row(canvas, rank, ranks) // DOWN: rank + 1 for rank in range(ranks)}
    return [
        DrawnRow(shown.get(row, 0), _heavy(text, ink) if glyphs is ASCII else text, bytes(ink))
        for row, (text, ink) in enumerate(zip(canvas.lines(glyphs), canvas.inks, strict=True))
    ]


def _heavy(text: str, inks: bytearray) -> str:
    """A row in ASCII, in which lines with a name have another stroke."""
    return "".join("=" if ink and mark == "-" else mark for mark, ink in zip(text, inks, strict=True))


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


@lru_cache(KEPT)
def _ticked(chart: Chart, cells: int, glyphs: Glyphs) -> str:
    """A tick where something changes."""
    ticks = {cell_of(each, cells) for each in changes(chart)}
    return "".join(glyphs.tick if cell in ticks else " " for cell in range(cells))
