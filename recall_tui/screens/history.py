"""Ctrl+R: the queries that were answered before, and a line to find one by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList

from recall_tui.widgets.draw import figure
from recall_tui.widgets.pointed import PointedList


class HistoryScreen(ModalScreen[str | None]):
    """Gives back the query that was picked, or None. texts: newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+r", "dismiss", "Close", show=False),
        Binding("down", "step(1)", "Older", show=False, priority=True),
        Binding("up", "step(-1)", "Newer", show=False, priority=True),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts
        self._found = list(texts)

    def compose(self) -> ComposeResult:
        """The line above the list."""
        with Vertical(id="history") as box:
            box.border_title = "History"
            yield Input(placeholder="words of the query", compact=True)
            yield PointedList(id="past")

    def on_mount(self) -> None:
        """Show all of them and take the next key."""
        self.set_focus(self.query_one(Input))
        self._fill()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show those that have every word typed."""
        self._found = having(self._texts, event.value)
        self._fill()

    def on_input_submitted(self) -> None:
        """Give back the chosen one."""
        row = self.query_one(PointedList).highlighted
        if row is not None:
            self.dismiss(self._found[row])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back the one that was clicked."""
        self.dismiss(self._found[event.option_index])

    def action_step(self, rows: int) -> None:
        """Choose another."""
        self.query_one(PointedList).step(rows)

    def _fill(self) -> None:
        lines = (Text(" ".join(text.split())) for text in self._found)
        self.query_one(PointedList).fill(lines, chosen=0 if self._found else None)
        box = self.query_one("#history")
        box.border_subtitle = f"{figure(len(self._found))} of {figure(len(self._texts))}, Enter takes, Esc closes"


def having(texts: Sequence[str], words: str) -> list[str]:
    """The texts that contain every one of the words, in any case and order."""
    wanted = words.lower().split()
    return [text for text in texts if all(word in text.lower() for word in wanted)]
