"""A question with one line for the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from recall_tui.screens.dialog import Dialog

Check = Callable[[str], str]
"""What is wrong with an answer, or "" when it will do."""


class PromptScreen(Dialog[str | None]):
    """Gives back the answer that was typed, or None when the person stepped out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, title: str, value: str, hint: str, check: Check) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._check = check

    def compose(self) -> ComposeResult:
        """The field above its hint."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            yield Input(self._value, select_on_focus=True, compact=True)
            yield Static(self._hint, id="hint", markup=False)

    def on_mount(self) -> None:
        """Take the next key."""
        self.set_focus(self.query_one(Input))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the answer back if it will do, else say why not."""
        wrong = self._check(event.value.strip())
        if wrong:
            self.query_one("#hint", Static).update(wrong)
        else:
            self.dismiss(event.value.strip())
