"""What is drawn over all weights: rows from weight 0 on the left to weight 1 on the right, and weights in figures."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import count
from math import ceil, floor
from typing import TypeAlias

from rich.style import Style
from rich.text import Text

from recall_tui.widgets.draw import Glyphs, folded

LABEL_CELLS = 2  # before each row: the rank of a line, or the key that a band answers to

LEAST_PLACES, MOST_PLACES = 2, 6  # of a weight; more of one that no decimal is

Weights: TypeAlias = tuple[Fraction | float, Fraction | float, bool, bool]

DIM, HERE = Style(dim=True), Style(bold=True)


def cell_of(weight: Fraction | float, cells: int) -> int:
    """The cell that a weight stands in."""
    return min(cells - 1, int(weight * cells))


def labelled(label: str, band: str, weight: Fraction, glyphs: Glyphs) -> Text:
    """A band with the present weight marked on it."""
    return _marked(label, band, weight, glyphs.here)


def crossed(row: str, weight: Fraction, glyphs: Glyphs) -> Text:
    """A row of a drawing, crossed by the upright of the present weight."""
    return _marked("", row, weight, glyphs.upright)


def _marked(label: str, row: str, weight: Fraction, mark: str) -> Text:
    here = cell_of(weight, len(row))
    line = Text().append(f"{label:<{LABEL_CELLS}}", DIM).append(row[:here])
    return line.append(mark, HERE).append(row[here + 1 :])


def span(low: Fraction | float, high: Fraction | float, *, low_open: bool = False, high_open: bool = False) -> str:
    """Weights from one to another, to as few places as stay inside of them. An open end is not one of them."""
    start, end = _exact(low), _exact(high)
    if start == end:
        return spelled(round(float(low), MOST_PLACES))
    for places in count(LEAST_PLACES):
        unit = 10**places
        first, last = ceil(start * unit), floor(end * unit)
        first += low_open and first == start * unit
        last -= high_open and last == end * unit
        if first < last:
            break
    return " to ".join(f"{each // unit}.{each % unit:0{places}}" for each in (first, last))


def stability(rows: int, order: Weights, members: Weights, glyphs: Glyphs, *, fragile: bool) -> tuple[str, str]:
    """Over which weights the first rows keep their order, and are the same ones; as every pane says it.

    order, members: intervals of the semantic share: low, high, and whether each end is open.
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
    """Weights from one to another, in hundredths, and none of them left out."""
    texts = [f"{hundredths / 100:.2f}" for hundredths in (floor(_exact(low) * 100), ceil(_exact(high) * 100))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def spelled(weight: float) -> str:
    """One weight as it is, to two places at least."""
    short = f"{weight:.{LEAST_PLACES}f}"
    return short if float(short) == weight else f"{Decimal(str(weight)):f}"


def _exact(weight: Fraction | float) -> Fraction:
    """A float means the decimal that it prints as."""
    return weight if isinstance(weight, Fraction) else Fraction(str(weight))


def joined(pieces: list[str], width: int, glyphs: Glyphs) -> list[str]:
    """Pieces side by side in as few lines as hold them; only one that is too wide by itself is broken."""
    lines: list[str] = []
    for piece in pieces:
        longer = f"{lines[-1]}{glyphs.dot}{piece}" if lines else ""
        if lines and len(longer) <= width:
            lines[-1] = longer
        else:
            lines += folded(piece, width)
    return lines
