"""A scrolling view of prepared lines that renders only the visible ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import OptionList

from recall_tui.state.session import Pane
from recall_tui.widgets import Do
from recall_tui.widgets.draw import Drawing, blank

Value = TypeVar("Value")
Build = Callable[[int], list[Text]]
"""Builds the lines for a width in cells."""
NONE = -1
"""No line is chosen."""


class StyledView(ScrollView):
    """Finds its own style once per frame, which takes longer than drawing a line."""

    own_style: Style = Style.null()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw these lines."""
        self.own_style = self.rich_style
        return super().render_lines(crop)


class LineView(StyledView, Drawing, can_focus=True):
    """A view of lines that are built again when its width changes."""

    DEFAULT_CSS: ClassVar[str] = """
    LineView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--chosen"}

    # The scrollbar is always visible, so a change in the number of lines needs no layout.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._build: Build = lambda _: []
        self._lines: list[Text] = []
        self._drawn_width = 0
        self.chosen_line = NONE
        """The line that is highlighted. `build` sets it."""

    @property
    def lines(self) -> list[str]:
        """The text of every line, as last built."""
        return [line.plain for line in self._lines]

    def show(self, build: Build, *, keep_place: bool = False) -> None:
        """Show these lines, from the top unless `keep_place`."""
        self._build = build
        self._rebuild()
        if not keep_place:
            self.scroll_to(y=0, animate=False, immediate=True)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by the visible height minus one line."""
        self.scroll_relative(y=pages * max(1, self.size.height - 1), animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """Return one visible line, with the widget's style on every segment."""
        row = y + int(self.scroll_offset.y)
        width = self.size.width
        if row >= len(self._lines):
            return Strip.blank(width, self.own_style)
        style = self.own_style
        if row == self.chosen_line:
            style += self.get_component_rich_style("lines--chosen", partial=True)
        return strip_of(self._lines[row], width, style, self.app.console)

    def on_mount(self) -> None:
        """Rebuild the lines when the theme changes, since they may use its colours."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._rebuild())

    def on_unmount(self) -> None:
        """Unsubscribe from the theme signal, which would keep the view alive."""
        self.app.theme_changed_signal.unsubscribe(self)

    def on_resize(self, _event: Resize) -> None:
        """Fold the lines to the new width."""
        self._rebuild()

    def _rebuild(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        before, self._lines = self._lines, self._build(width)
        self.virtual_size = Size(width, len(self._lines))
        self.vertical_scrollbar.window_virtual_size = len(self._lines)
        if len(before) != len(self._lines) or self._drawn_width != width:
            self._drawn_width = width
            self.refresh()
            return
        for row, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            if old != new or old.style != new.style:
                self.refresh_line(row)


def value_at(pieces: Sequence[tuple[str, Value | None]], x: int) -> Value | None:
    """Return the value of the title piece at this cell, or None."""
    at = 0
    for text, value in pieces:
        if at <= x < at + cell_len(text):
            return value
        at += cell_len(text)
    return None


def entitle(widget: Widget, title: str, subtitle: str) -> None:
    """Set the title and the subtitle of a border, if they changed: setting either redraws the whole widget.

    They are set as Content, since Textual would read brackets in a plain string as markup.
    """
    if widget.border_title != _as_markup(title):
        widget.border_title = Content(title)
    if widget.border_subtitle != _as_markup(subtitle):
        widget.border_subtitle = Content(subtitle)


def _as_markup(text: str) -> str:
    """Return the form in which Textual returns a title. Fast for titles without a bracket, which are nearly all."""
    return Content(text).markup if "[" in text else text


def strip_of(line: Text, width: int, style: Style, console: Console) -> Strip:
    """Return a line in exactly `width` cells over a widget's style, with a style on every segment.

    Text.render drops the line's own style if no part of it has another, so it is applied here.
    """
    strip = Strip(line.render(console, end="")).apply_style(style + console.get_style(line.style))
    return strip.adjust_cell_length(width, style)


MARGIN = 2  # cells before each line, for the pointer and a blank


class PointedList(OptionList, Drawing, can_focus=False):
    """A list with one line for each item, cut if too long. The field next to it has the keys."""

    DEFAULT_CSS = "PointedList { text-wrap: nowrap; text-overflow: clip; }"

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id, markup=False, compact=True)

    @property
    def room(self) -> int:
        """Cells for a line. Before the list has a size, the cells of the screen."""
        return (self.size.width or self.app.size.width) - self.styles.scrollbar_size_vertical - MARGIN

    def on_resize(self) -> None:
        """Keep the chosen line in view."""
        self.scroll_to_highlight()

    def fill(self, lines: Iterable[Text], *, chosen: int | None) -> None:
        """Show these lines and choose one, or none."""
        rows = []
        for line in lines:
            row = Text(" " * MARGIN).append_text(line)
            row.plain = blank(row.plain)  # same length, so that the styles keep their places
            rows.append(row)
        self.set_options(rows)
        self.highlighted = chosen

    def step(self, rows: int) -> None:
        """Choose the line `rows` further, wrapping around."""
        if self.option_count:
            place = self.highlighted
            self.highlighted = ((0 if rows > 0 else -1) if place is None else place + rows) % self.option_count

    def render_line(self, y: int) -> Strip:
        """Return a line, with a pointer if it is chosen and with a mark if it is cut."""
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
    """A LineView for the pane with its id. The keys that select are in the table of actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown,space", "page_down", "Further", show=False),
        Binding("pageup", "page_up", "Back", show=False),
    ]

    def __init__(self, pane: Pane) -> None:
        super().__init__(id=pane)
        self._pane: Pane = pane
        self._chosen = -1
        self.places: Sequence[int] = ()
        """The line of each row that can be chosen. `build` sets it."""

    def offer(self, build: Build, *, chosen: int) -> None:
        """Show these lines. Scroll to the chosen row if it changed."""

        def built(width: int) -> list[Text]:
            lines = build(width)
            self.chosen_line = self.places[chosen] if 0 <= chosen < len(self.places) else NONE
            return lines

        self.show(built, keep_place=True)
        if chosen != self._chosen:
            self._chosen = chosen
            self._bring_into_view()

    def on_click(self, event: Click) -> None:
        """Choose the row under the mouse."""
        line = event.y - self.gutter.top + int(self.scroll_offset.y)
        if event.y >= self.gutter.top and line in self.places:
            self.post_message(Do("choose_line", self._pane, list(self.places).index(line)))

    def _bring_into_view(self) -> None:
        """Scroll to the chosen row. The first row also shows the lines above it."""
        if not 0 <= self._chosen < len(self.places):
            return
        line, height = self.places[self._chosen], self.scrollable_content_region.height
        top = int(self.scroll_offset.y)
        if line < top or self._chosen == 0:
            self.scroll_to(y=0 if self._chosen == 0 else line, animate=False, immediate=True)
        elif line >= top + height - 1:
            self.scroll_to(y=line - height + 2, animate=False, immediate=True)
