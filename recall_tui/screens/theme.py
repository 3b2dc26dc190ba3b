"""The themes, each shown while it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList

from recall_tui.screens.dialog import Dialog
from recall_tui.widgets.pointed import PointedList


class ThemeScreen(Dialog[str | None]):
    """Gives back the chosen theme, or None; whoever asked takes the preview back then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("down,j", "step(1)", "Next", show=False),
        Binding("up,k", "step(-1)", "Previous", show=False),
        Binding("enter", "take", "Take", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, names: Sequence[str], chosen: str) -> None:
        super().__init__()
        self._names = names
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        """One list."""
        with Vertical(id="themes") as box:
            box.border_title = "Theme"
            box.border_subtitle = "Enter takes, Esc goes back"
            yield PointedList(id="names")

    def on_mount(self) -> None:
        """Begin at the one that is shown."""
        self.query_one(PointedList).fill(map(Text, self._names), chosen=self._names.index(self._chosen))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show it."""
        self.app.theme = self._names[event.option_index]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back the one that was clicked."""
        self.dismiss(self._names[event.option_index])

    def action_step(self, rows: int) -> None:
        """Choose another."""
        self.query_one(PointedList).step(rows)

    def action_take(self) -> None:
        """Give back the chosen one."""
        row = self.query_one(PointedList).highlighted
        self.dismiss(None if row is None else self._names[row])
