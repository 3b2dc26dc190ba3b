"""The base of all screens and dialogs: sized for the terminal, and a dialog is left only once."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import ModalScreen, Screen

from recall_tui.state.session import Session

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


class Dialog(ModalScreen[Result], SizedScreen[Result]):
    """A modal screen that can be left only while it is in front.

    A key that comes with a click is on its way here before the click has closed it; Textual would then close the
    screen below too.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.leave", "Quit", show=False)]
    CSS_PATH = "dialogs.tcss"

    def show_session(self, session: Session) -> None:
        """What the dialog shows of the session, if anything."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Leave with this result, unless it has been left already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()


def is_in_front(screen: Screen[Any]) -> bool:
    """True until the screen is left or another one is put above it."""
    return screen in screen.app.screen_stack[-1:]
