"""Rows from weight 0 on the left to weight 1 on the right, behind a label; among them the pins of the question."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import count
from math import ceil, floor

from rich.style import Style
from rich.text import Text

from recall_core.errors import RecallError
from recall_tui.state.results import result_of
from recall_tui.state.session import Session
from recall_tui.state.tuning import Granted, PinnedChunk, first_rows, granting, pins_analysis, pins_of
from recall_tui.state.weighing import current, exact_share
from recall_tui.widgets.draw import Glyphs, fit, folded

LABEL_CELLS = 2  # the rank before its line, or the key that a band answers to

LEAST_PLACES, MOST_PLACES = 2, 6  # of a weight; more of one that no decimal is

DIM, HERE = Style(dim=True), Style(bold=True)


def cell_of(weight: Fraction | float, cells: int) -> int:
    """The cell that a weight stands in."""
    return min(cells - 1, int(weight * cells))


def labelled(label: str, band: str, weight: Fraction, glyphs: Glyphs) -> Text:
    """A band with the present weight marked on it."""
    return _marked(label, band, weight, glyphs.here)


def crossed(label: str, row: str, weight: Fraction, glyphs: Glyphs) -> Text:
    """A row of a drawing, crossed by the upright of the present weight."""
    return _marked(label, row, weight, glyphs.upright)


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
    return "-".join(f"{each // unit}.{each % unit:0{places}}" for each in (first, last))


def around(low: float, high: float) -> str:
    """Weights from one to another, in hundredths, and none of them left out."""
    texts = [f"{hundredths / 100:.2f}" for hundredths in (floor(_exact(low) * 100), ceil(_exact(high) * 100))]
    return texts[0] if texts[0] == texts[1] else "-".join(texts)


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


def pin_figures(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """What is wished, and whether a weight grants it: in a sign and in words."""
    analysis, pins = pins_analysis(session), pins_of(session)
    if analysis is None:
        return []
    wanted = [sum(pin.want == want for pin in pins) for want in ("in", "out")]
    counts = [f"{count} must{no}" for count, no in zip(wanted, ("", " not"), strict=True) if count]
    pieces = [f"{', '.join(counts)} be in the top {first_rows(session)}"]
    result = result_of(session, analysis, Granted)
    if isinstance(result, RecallError):
        pieces.append(result.message)
    elif result is not None:
        pieces += _granted(session, result, pins, glyphs)
    bold = isinstance(result, Granted) and not _holds(session, result)
    return [Text(line, Style(bold=bold)) for line in joined(pieces, width, glyphs)]


def pin_band(granted: Granted, weight: Fraction, width: int, glyphs: Glyphs) -> Text:
    """The weights that grant every pin."""
    cells = max(1, width - LABEL_CELLS)
    band = "".join(glyphs.series[0] if _touches(granted, cell, cells) else glyphs.line for cell in range(cells))
    return labelled("T", band, weight, glyphs)


def pin_names(session: Session, width: int, glyphs: Glyphs) -> list[Text]:
    """The pinned chunks, a line each."""
    words = {"in": "must", "out": "must not"}
    return [Text(fit(f"  {words[pin.want]:<9}{pin.place}", width, glyphs)) for pin in pins_of(session)]


def _granted(session: Session, granted: Granted, pins: tuple[PinnedChunk, ...], glyphs: Glyphs) -> list[str]:
    if granted.conflict:
        names = " and ".join(pins[at].place for at in granted.conflict if at < len(pins))
        return [f"{glyphs.no} no weight grants {names}{' together' if len(granted.conflict) > 1 else ''}"]
    where = ", ".join(
        span(each.low, each.high, low_open=each.low_open, high_open=each.high_open) for each in granted.weights
    )
    if _holds(session, granted):
        return [f"{glyphs.yes} granted at {where}"]
    return [f"{glyphs.no} granted at {where}", f"T goes to {granting(session)}"]


def _holds(session: Session, granted: Granted) -> bool:
    weight = exact_share(current(session))
    return any(each.holds(weight) for each in granted.weights)


def _touches(granted: Granted, cell: int, cells: int) -> bool:
    low, high = Fraction(cell, cells), Fraction(cell + 1, cells)
    return any((each.low < high and low < each.high) or each.low == each.high == low for each in granted.weights)
