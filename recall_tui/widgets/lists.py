"""Lists that mark what is chosen with a pointer, not with a colour alone, keep it in view, and take clicks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.strip import Strip
from textual.widgets import OptionList

from recall_tui.messages import Picked
from recall_tui.state.session import Pane
from recall_tui.widgets.draw import Glyphs, blanked, glyphs_in
from recall_tui.widgets.lines import NONE, Build, LineView

MARGIN = 2  # cells before each line, for the pointer and a blank


class PointedList(OptionList, can_focus=False):
    """Lines of one row each, cut where they are longer; the keys are with a field beside it."""

    DEFAULT_CSS = "PointedList { text-wrap: nowrap; text-overflow: clip; }"

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id, markup=False, compact=True)

    @property
    def glyphs(self) -> Glyphs:
        """What the terminal can show."""
        return glyphs_in(self.app)

    @property
    def room(self) -> int:
        """Cells that a line has; those of the screen as long as there is no size."""
        return (self.size.width or self.app.size.width) - self.styles.scrollbar_size_vertical - MARGIN

    def on_resize(self) -> None:
        """What changes its height leaves the chosen line in sight."""
        self.scroll_to_highlight()

    def fill(self, lines: Iterable[Text], *, chosen: int | None) -> None:
        """Show these lines and choose one, or none."""
        rows = []
        for line in lines:
            row = Text(" " * MARGIN).append_text(line)
            row.plain = blanked(row.plain)  # as long as before, so that the styles stay where they are
            rows.append(row)
        self.set_options(rows)
        self.highlighted = chosen

    def step(self, rows: int) -> None:
        """Choose the line that many rows further, round the ends."""
        if self.option_count:
            place = self.highlighted
            self.highlighted = ((0 if rows > 0 else -1) if place is None else place + rows) % self.option_count

    def render_line(self, y: int) -> Strip:
        """A line, behind the pointer when it is the chosen one, and with a mark where it goes on."""
        strip, place = super().render_line(y), y + self.scroll_offset.y
        if not strip.cell_length or place >= self.option_count:
            return strip
        prompt = self.get_option_at_index(place).prompt
        if isinstance(prompt, Text) and prompt.cell_len > strip.cell_length:
            style = list(strip)[-1].style or self.rich_style
            strip = Strip.join([strip.crop(0, strip.cell_length - 1), Strip([Segment(self.glyphs.cut, style)], 1)])
        if place != self.highlighted:
            return strip
        style = next(iter(strip)).style or self.rich_style
        return Strip.join([Strip([Segment(self.glyphs.pointer, style)], 1), strip.crop(1)])


class ChoosingView(LineView, inherit_bindings=False):
    """A LineView for the pane of its id. The keys that choose stand in the table of actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown,space", "page_down", "Further", show=False),
        Binding("pageup", "page_up", "Back", show=False),
    ]

    def __init__(self, pane: Pane) -> None:
        super().__init__(id=pane)
        self._pane: Pane = pane
        self._chosen = -1
        self.places: Sequence[int] = ()
        """The line of each row that can be chosen; `build` sets it."""

    def offer(self, build: Build, *, chosen: int) -> None:
        """Show these lines; where another row is chosen than before, it is brought into view."""

        def built(width: int) -> list[Text]:
            lines = build(width)
            self.chosen_line = self.places[chosen] if 0 <= chosen < len(self.places) else NONE
            return lines

        self.show(built, keep_place=True)
        if chosen != self._chosen:
            self._chosen = chosen
            self._bring_into_view()

    def on_click(self, event: Click) -> None:
        """A click on a row chooses it."""
        line = event.y - self.gutter.top + int(self.scroll_offset.y)
        if event.y >= self.gutter.top and line in self.places:
            self.post_message(Picked(self._pane, list(self.places).index(line)))

    def _bring_into_view(self) -> None:
        """The first row brings what stands above it."""
        if not 0 <= self._chosen < len(self.places):
            return
        line, height = self.places[self._chosen], self.scrollable_content_region.height
        top = int(self.scroll_offset.y)
        if line < top or self._chosen == 0:
            self.scroll_to(y=0 if self._chosen == 0 else line, animate=False, immediate=True)
        elif line >= top + height - 1:
            self.scroll_to(y=line - height + 2, animate=False, immediate=True)
