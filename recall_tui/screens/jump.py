"""^o: a letter on every pane and on every row in view; the letter goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click, Key
from textual.widgets import Static

from recall_tui.screens.bench import Landmark
from recall_tui.screens.dialog import Dialog

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""The home row first: panes are named before rows."""


class Label(Static):
    """One letter at its place."""

    def __init__(self, letter: str, mark: Landmark) -> None:
        super().__init__(f" {letter} ", classes="label", markup=False)
        self.mark = mark
        self.absolute_offset = mark.place


class JumpScreen(Dialog[str | None]):
    """Gives back the action of the place that was named, or None. marks: beyond 26 they have no letter."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.leave", "Quit", show=False)]

    def __init__(self, marks: Sequence[Landmark]) -> None:
        super().__init__()
        self._marks = dict(zip(LETTERS, marks, strict=False))

    def compose(self) -> ComposeResult:
        """The letters, over what they name."""
        for letter, mark in self._marks.items():
            yield Label(letter, mark)

    def on_key(self, event: Key) -> None:
        """A letter goes there; any other key, Esc among them, goes nowhere."""
        if event.key == "ctrl+q":
            return
        event.stop()
        mark = self._marks.get(event.key)
        self.dismiss(mark.action if mark else None)

    def on_click(self, event: Click) -> None:
        """A letter can be clicked; what is beside it is nowhere."""
        self.dismiss(event.widget.mark.action if isinstance(event.widget, Label) else None)
