"""Lines drawn with dots: braille, eight dots a cell, or the strokes that ASCII has."""

from __future__ import annotations

from recall_tui.widgets.draw import ASCII, Glyphs

ACROSS, DOWN = 2, 4
"""Dots of a cell."""

_BRAILLE = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row and column."""


class Canvas:
    """A grid of dots, `width` by `height` cells. Dots outside of it are left out."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._dots: set[tuple[int, int]] = set()

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
            self._dots.add((x, y))

    def upright(self, x: int, y: int, to: int) -> None:
        """Set the dots of one column from one row to another."""
        for each in range(min(y, to), max(y, to) + 1):
            self.dot(x, each)

    def lines(self, glyphs: Glyphs) -> list[str]:
        """The canvas as text, a string a row of cells."""
        return [
            "".join(self._cell(column, row, glyphs) for column in range(self.width)) for row in range(self.height)
        ]

    def _cell(self, column: int, row: int, glyphs: Glyphs) -> str:
        found = [
            (x, y) for y in range(DOWN) for x in range(ACROSS) if (column * ACROSS + x, row * DOWN + y) in self._dots
        ]
        if not found:
            return " "
        if glyphs is not ASCII:
            return chr(_BRAILLE + sum(_BITS[y][x] for x, y in found))
        is_upright = any(sum(x == column for x, _ in found) > 1 for column in range(ACROSS))
        is_level = any(sum(y == row for _, y in found) > 1 for row in range(DOWN))
        return "+" if is_upright and is_level else "|" if is_upright else "-"
