"""Lines drawn with dots: braille, eight dots a cell, or the strokes that ASCII has."""

from __future__ import annotations

from functools import cache

from recall_tui.widgets.draw import ASCII, Glyphs

ACROSS, DOWN = 2, 4
"""Dots of a cell."""

_BRAILLE = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row and column."""
_COLUMNS = tuple(sum(_BITS[y][x] for y in range(DOWN)) for x in range(ACROSS))
_ROWS = tuple(sum(row) for row in _BITS)


class Canvas:
    """A grid of dots, `width` by `height` cells. Dots outside of it are left out."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.ink = 0
        """What the next dots are drawn in; a cell has the ink of its last dot."""
        self.inks = [bytearray(width) for _ in range(height)]
        self._cells = [bytearray(width) for _ in range(height)]

    @property
    def columns(self) -> int:
        """Dots from left to right."""
        return self.width * ACROSS

    @property
    def rows(self) -> int:
        """Dots from top to bottom."""
        return self.height * DOWN

    def dot(self, x: int, y: int) -> None:
        """Set one dot."""
        if 0 <= x < self.columns and 0 <= y < self.rows:
            self._cells[y // DOWN][x // ACROSS] |= _BITS[y % DOWN][x % ACROSS]
            self.inks[y // DOWN][x // ACROSS] = self.ink

    def upright(self, x: int, y: int, to: int) -> None:
        """Set the dots of one column from one row to another."""
        for each in range(min(y, to), max(y, to) + 1):
            self.dot(x, each)

    def lines(self, glyphs: Glyphs) -> list[str]:
        """The canvas as text, a string a row of cells."""
        draw = _stroke if glyphs is ASCII else _braille
        return ["".join(map(draw, row)) for row in self._cells]


def _braille(bits: int) -> str:
    return chr(_BRAILLE + bits) if bits else " "


@cache
def _stroke(bits: int) -> str:
    """What stands for these dots: two of them above each other are upright, two beside each other level."""
    if not bits:
        return " "
    is_upright = any((bits & column).bit_count() > 1 for column in _COLUMNS)
    is_level = any((bits & row).bit_count() > 1 for row in _ROWS)
    return "+" if is_upright and is_level else "|" if is_upright else "-"
