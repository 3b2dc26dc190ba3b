"""Rows that run from weight 0 on the left to weight 1 on the right, behind a label."""

from __future__ import annotations

from fractions import Fraction

from rich.style import Style
from rich.text import Text

from recall_tui.widgets.draw import Glyphs, folded

LABEL_CELLS = 2  # the rank before its line, or the key that a band answers to
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


def span(low: Fraction | float, high: Fraction | float) -> str:
    """Weights from one to another, in hundredths."""
    texts = [f"{float(end):.2f}" for end in (low, high)]
    return texts[0] if texts[0] == texts[1] else "-".join(texts)


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
