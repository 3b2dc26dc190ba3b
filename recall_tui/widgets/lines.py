"""A scrolling view of prepared lines that renders only what is visible."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.content import Content
from textual.events import Resize
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from recall_tui.widgets.draw import Glyphs, glyphs_in

Build = Callable[[int], list[Text]]
"""Lines for a width in cells."""
NONE = -1
"""No line is chosen."""


class StyledView(ScrollView):
    """Finds its own style once for all lines of a frame: that takes longer than to draw a line."""

    own_style: Style = Style.null()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw these lines."""
        self.own_style = self.rich_style
        return super().render_lines(crop)


class LineView(StyledView, can_focus=True):
    """Shows lines that are built for its width, and builds them again when the width changes."""

    DEFAULT_CSS: ClassVar[str] = """
    LineView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--chosen"}

    # The scrollbar always stands there, so another number of lines moves nothing and needs no layout.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._build: Build = lambda _: []
        self._lines: list[Text] = []
        self._drawn_width = 0
        self.chosen_line = NONE
        """The line that is drawn as the chosen one, besides its pointer; `build` sets it."""

    @property
    def glyphs(self) -> Glyphs:
        """What this terminal can draw."""
        return glyphs_in(self.app)

    @property
    def lines(self) -> list[str]:
        """The text of every line, as last built."""
        return [line.plain for line in self._lines]

    def show(self, build: Build, *, keep_place: bool = False) -> None:
        """Show these lines, from the top unless the place is to be kept."""
        self._build = build
        self._rebuild()
        if not keep_place:
            self.scroll_to(y=0, animate=False, immediate=True)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by what is visible, but for one line."""
        self.scroll_relative(y=pages * max(1, self.size.height - 1), animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One visible line, in the widget's own style so that no segment is without one."""
        row = y + int(self.scroll_offset.y)
        width = self.size.width
        if row >= len(self._lines):
            return Strip.blank(width, self.own_style)
        style = self.own_style
        if row == self.chosen_line:
            style += self.get_component_rich_style("lines--chosen", partial=True)
        return strip_of(self._lines[row], width, style, self.app.console)

    def on_mount(self) -> None:
        """Lines may be built with colours of the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._rebuild())

    def on_unmount(self) -> None:
        """The signal would keep the view alive: what it calls holds on to it."""
        self.app.theme_changed_signal.unsubscribe(self)

    def on_resize(self, _event: Resize) -> None:
        """Another width folds the lines elsewhere."""
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


def entitle(widget: Widget, title: str, subtitle: str) -> None:
    """Set the title and the subtitle of a border where they change: setting either draws the whole widget again.

    Both stand there as they are: to Textual, brackets in a plain text are markup.
    """
    if widget.border_title != _as_markup(title):
        widget.border_title = Content(title)
    if widget.border_subtitle != _as_markup(subtitle):
        widget.border_subtitle = Content(subtitle)


def _as_markup(text: str) -> str:
    """How Textual tells a title; nearly none has a bracket, and all of them are compared at every change."""
    return Content(text).markup if "[" in text else text


def strip_of(line: Text, width: int, style: Style, console: Console) -> Strip:
    """A line in exactly `width` cells over a widget's style, with a style on every segment.

    Text.render leaves out the line's own style where no part of it has another, so it is applied here.
    """
    strip = Strip(line.render(console, end="")).apply_style(style + console.get_style(line.style))
    return strip.adjust_cell_length(width, style)
