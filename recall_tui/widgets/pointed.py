"""A list to choose from that marks its choice with a pointer, not with a colour alone."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip
from textual.widgets import OptionList

from recall_tui.widgets.draw import Glyphs, glyphs_in

MARGIN = 2  # cells before each line, for the pointer and a blank


class PointedList(OptionList, can_focus=False):
    """Lines of one row each; the keys are with a field beside it."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id, markup=False, compact=True)

    @property
    def glyphs(self) -> Glyphs:
        """What the terminal can show."""
        return glyphs_in(self.app)

    def fill(self, lines: Iterable[Text], *, chosen: int | None) -> None:
        """Show these lines and choose one, or none."""
        self.set_options(Text(" " * MARGIN, no_wrap=True, overflow="ellipsis").append_text(line) for line in lines)
        self.highlighted = chosen

    def step(self, rows: int) -> None:
        """Choose the line that many rows further, round the ends."""
        if self.option_count:
            place = self.highlighted
            self.highlighted = ((0 if rows > 0 else -1) if place is None else place + rows) % self.option_count

    def render_line(self, y: int) -> Strip:
        """A line, behind the pointer when it is the chosen one."""
        strip = super().render_line(y)
        if self.highlighted is None or y + self.scroll_offset.y != self.highlighted or not strip.cell_length:
            return strip
        style = next(iter(strip)).style or self.rich_style
        return Strip.join([Strip([Segment(self.glyphs.pointer, style)], 1), strip.crop(1)])
