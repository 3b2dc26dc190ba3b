"""What every screen stands on: it takes the size that the terminal has, and no earlier one."""

from __future__ import annotations

from typing import TypeVar

from textual.events import Resize
from textual.screen import Screen

Result = TypeVar("Result")


class SizedScreen(Screen[Result]):
    """A screen that is laid out for the terminal's present size alone.

    Textual tells a screen once more of a size that it has just taken. Of two sizes on their way to it, as where a
    terminal becomes narrower by a column and wide again, each would bring the other one back, for ever, and nothing
    else would have its turn.
    """

    def on_resize(self, event: Resize) -> None:
        """Pass over a size that the terminal has no longer."""
        if event.size != self.app.size:
            event.prevent_default()
