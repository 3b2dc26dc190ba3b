"""A question that is answered with yes or no."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static


class ConfirmScreen(ModalScreen[bool]):
    """Gives back True for yes. Nothing but `y` is a yes: Enter may still be on its way from the prompt before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes", show=False),
        Binding("n,escape", "dismiss(False)", "No", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, title: str, question: str) -> None:
        super().__init__()
        self._title = title
        self._question = question

    def compose(self) -> ComposeResult:
        """The question above its keys."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            yield Static(self._question, markup=False)
            yield Static("y yes   n no", id="hint", markup=False)
