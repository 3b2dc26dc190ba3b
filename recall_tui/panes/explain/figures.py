"""Figures, names and folded lines as every tab of the explain pane writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import floor, fsum
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from rich.style import Style
from rich.text import Text

from recall_tui.widgets.draw import fold

if TYPE_CHECKING:
    from recall_core.contract.ledger import DifferenceView, LeafView

BOLD = Style(bold=True)
DIM = Style(dim=True)
VISIBLE = 0.0005  # the least that three decimals show
TEXTS = ("feature", "collision", "token", "sentence", "removal")
"""The kinds of leaves that are a piece of a text; the others are terms and arithmetic."""
LABEL = 9  # cells of the name before a line, where it is not longer


def number(value: float) -> str:
    """A figure in three decimals; where those would show nothing, on which side of zero it is."""
    if value == 0 or abs(value) >= VISIBLE:
        return f"{value + 0.0:.3f}"  # never -0.000
    return "<.001" if value > 0 else ">-.001"


def with_sign(value: float) -> str:
    """A difference in three decimals with its sign; none at all is =."""
    return "=" if value == 0 else number(value) if value < VISIBLE else f"+{number(value)}"


def round_to_total(values: Sequence[float], total: float) -> list[float]:
    """The values to three decimals, so that they add up to the total as it is shown, by largest remainder.

    total: their sum, or what that is shown as. Values that do not add up to it are rounded each by itself.

    >>> round_to_total([0.4857, 0.0257], 0.5114)
    [0.486, 0.025]
    """
    if abs(fsum(values) - total) > 2 * VISIBLE:
        return [round(value, 3) for value in values]
    exact = [value * 1_000 for value in values]
    whole = [floor(value + 1e-6) for value in exact]
    left = round(total * 1_000) - sum(whole)
    for place in sorted(range(len(values)), key=lambda place: (whole[place] - exact[place], place))[: max(0, left)]:
        whole[place] += 1
    return [value / 1_000 for value in whole]


def keep_sign(value: float, shown: float) -> float:
    """Return the rounded value, or a tiny one with the same sign where rounding leaves nothing to show.

    >>> keep_sign(0.0004, 0.0), keep_sign(0.0257, 0.025)
    (1e-06, 0.025)
    """
    return shown if shown or not value else 1e-6 if value > 0 else -1e-6


def raw_number(value: float) -> str:
    """A signal's own figure, which may be tiny and still be divided by another: in powers of ten then."""
    return f"{value:.0e}" if 0 < abs(value) < VISIBLE else f"{value:.3f}"


def one_line(text: str) -> str:
    """A text without its line breaks and other marks that are not printed."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def spelt(leaf: LeafView | DifferenceView) -> str:
    """The text of a leaf on one line; in quotes where it is a piece of a text with nothing to see in it."""
    text = one_line(leaf["text"])
    return text or repr(leaf["text"]) if leaf["kind"] in TEXTS else text


def fold_beside(name: str, said: str, width: int, style: Style | None = None) -> Iterator[Text]:
    """Yield a name with a text next to it, folded in its own column."""
    cells = max(LABEL, len(name) + 1)
    for place, line in enumerate(fold(said, width - cells)):
        yield Text().append(f"{name if place == 0 else '':<{cells}}", DIM).append(line, style)


def truncate(line: Text, width: int) -> Text:
    """The line in at most `width` cells."""
    if line.cell_len > width:
        line.truncate(width)
    return line


def wrap(text: Text, width: int) -> list[tuple[int, Text]]:
    """The text broken at blanks to at most `width` cells, with its styles; blanks at a break go.

    Each line has before it the code point of the text at which it begins.
    """
    width = max(1, width)
    if text.cell_len <= width:
        return [(0, text)]
    breaks: list[int] = []
    used = at = 0
    for word in re.findall(r"\S+\s*|\s+", text.plain):
        if used and used + cell_len(word.rstrip()) > width:
            breaks.append(at)
            used = 0
        if cell_len(word.rstrip()) > width:
            pieces = chop_cells(word, width)
            for piece in pieces[:-1]:
                at += len(piece)
                breaks.append(at)
            word = pieces[-1]  # noqa: PLW2901 - what is left of it is on the next line
        used += cell_len(word)
        at += len(word)
    lines = list(text.divide(breaks))
    for line in lines[:-1]:
        line.rstrip()
    return list(zip([0, *breaks], lines, strict=True))
