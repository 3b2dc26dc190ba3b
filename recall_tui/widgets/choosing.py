"""Lines of which some can be chosen: the chosen one stays in view, and a click chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click

from recall_tui.messages import Picked
from recall_tui.state.session import Pane
from recall_tui.widgets.lines import NONE, Build, LineView


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
