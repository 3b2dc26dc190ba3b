"""A question that is answered with yes or no."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from recall_tui.screens.dialog import Dialog
from recall_tui.widgets.draw import NOTICE_CELLS, cut, glyphs_in

READING_SECONDS = 0.5  # nobody reads a question faster


class ConfirmScreen(Dialog[bool]):
    """Gives back True for yes. Nothing but `y` is a yes: Enter may still be on its way from the prompt before.

    command: what does the same in a shell; "" where nothing does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes", show=False),
        Binding("n,escape", "dismiss(False)", "No", show=False),
        Binding("Y", "copy_command", "Copy the command", show=False),
        Binding("ctrl+q", "app.leave", "Quit", show=False),
    ]

    def __init__(self, title: str, question: str, *, command: str = "") -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._command = command

    def compose(self) -> ComposeResult:
        """The question above its keys."""
        with Vertical(id="prompt") as box:
            box.border_title = self._title
            yield Static(self._question, markup=False)
            yield Static(
                "y yes   n no" + ("   Y copies the command" if self._command else ""), id="hint", markup=False
            )

    def action_copy_command(self) -> None:
        """Put the command on the clipboard, and wait for the answer."""
        if self._command:
            self.app.copy_to_clipboard(self._command)
            glyphs = glyphs_in(self.app)
            self.notify(cut(f"Copied: {self._command}", NOTICE_CELLS, glyphs), markup=False)


class UnaskedScreen(ConfirmScreen):
    """A question that comes by itself: only what is pressed once it has been read can be an answer.

    behind: the field below, which gets the characters that were typed before that.
    """

    def __init__(self, title: str, question: str, *, behind: Widget) -> None:
        super().__init__(title, question)
        self._behind = behind
        self._shown_at = Message().time  # by the clock of the keys

    def on_key(self, event: Key) -> None:
        """Pass on what is no answer; keys know when they were pressed, and not all of them had been dealt out."""
        if event.time < self._shown_at + READING_SECONDS and event.key != "ctrl+q":
            event.stop()
            if event.is_printable:
                self._behind.post_message(Key(event.key, event.character))
