"""What is shown instead of the panes while there is no store to open."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from recall_core.errors import RecallError

OFFER = """\
A store is one file, recall.db, with the text and the vectors of the documents you add.

In a shell:

    recall init
    recall add DIR
    recall-tui

Or here: name a folder of text files. The store is created in {place} and the files are added to it."""


class WelcomeScreen(Screen[None]):
    """Says why there is no store, and offers to create one where none exists."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+q", "app.leave", "Quit", show=False),
        Binding("f1", "app.help", "Keys", show=False),
    ]

    class Named(Message):
        """A folder to create a store from."""

        def __init__(self, folder: str) -> None:
            super().__init__()
            self.folder = folder

    def __init__(self, error: RecallError, place: str) -> None:
        super().__init__()
        self._error = error
        self._place = place

    def compose(self) -> ComposeResult:
        """The reason, the remedy and, where a store can be created, a field for the folder."""
        hint = f"\n\nTry: {self._error.hint}" if self._error.hint else ""
        with Vertical(id="welcome") as box:
            box.border_title = "Recall"
            box.border_subtitle = "Esc quits"
            yield Static(f"{self._error.message}{'' if self.can_create else hint}", id="reason", markup=False)
            if self.can_create:
                yield Static(OFFER.format(place=self._place), id="offer", markup=False)
                yield Input(placeholder="folder to add, then Enter", id="folder", compact=True)

    @property
    def can_create(self) -> bool:
        """True when nothing stands in the way but that no store exists."""
        return self._error.code == "no_store"

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask the application to create the store."""
        self.post_message(self.Named(event.value.strip() or "."))
